//! A report as a page of its own: one file, nothing loaded from anywhere.

use super::text::{figures, or_dash, steps};
use super::{Ranking, Report, RocPoint, chart};
use formulanet::logic::draw::escape;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--soft:#667085;--line:#dde1e8;--page:#f6f7f9;--card:#fff;--blue:#2c6eaa}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#98a2b3;--line:#333b47;--page:#12161c;--card:#1b2129;\
--blue:#6bb0ea}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:980px;padding:24px;background:var(--page);color:var(--ink);\
font:15px/1.45 system-ui,sans-serif}
h1{font-size:22px;margin:0 0 16px}h2{font-size:15px;margin:0 0 10px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin:0 0 16px;\
overflow-x:auto}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(88px,1fr));gap:14px 10px}
.figures b{display:block;font-size:20px;font-variant-numeric:tabular-nums}.figures span{color:var(--soft);font-size:13px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(340px,1fr));gap:0 16px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:4px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
tr:last-child>*{border-bottom:0}
th{font-weight:500;color:var(--soft)}th:first-child{text-align:left;padding-left:0}
p{margin:10px 0 0;color:var(--soft)}.about{margin:0 0 16px}.about b{color:var(--ink);font-weight:500}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:var(--soft)}
.grid{stroke:var(--line);fill:none}.diagonal{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.curve{stroke:var(--blue);stroke-width:2;fill:none;stroke-linejoin:round}circle{fill:var(--blue)}
.area,.bar{fill:var(--blue);opacity:.14}";

/// A table whose first column has the names of its rows. No cell has text of the user's.
fn table(head: &[String], rows: &[(&str, Vec<String>)]) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect()
    };
    let mut html = format!("<table><tr>{}</tr>", cells("th", head));
    for (name, row) in rows {
        html += &format!("<tr><th>{name}</th>{}</tr>", cells("td", row));
    }
    html + "</table>"
}

fn head(first: &str, rest: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rest).collect()
}

fn section(title: &str, content: &str) -> String {
    format!("<section><h2>{title}</h2>{content}</section>\n")
}

/// A report as an HTML page with tables, the ROC curve and the calibration curve. It needs no other file, and is light
/// or dark as the reader's system is. It says what the report is about. For the points, see [`roc_points`](super::roc_points); 200 of them look smooth.
pub fn report_html(title: &str, about: &[(&str, String)], report: &Report, roc: &[RocPoint]) -> String {
    let title = escape(title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title>\n<style>\n{STYLE}\n</style></head>\n<body><h1>{title}</h1>\n\
         <p class=\"about\">"
    );
    let about = about.iter().map(|(what, value)| format!("{what} <b>{}</b>", escape(value)));
    html += &about.collect::<Vec<_>>().join(" · ");
    html += "</p>\n<section class=\"figures\">";
    for (name, figure) in figures(report) {
        html += &format!("<div><b>{figure}</b><span>{name}</span></div>");
    }
    html += "</section>\n<div class=\"pair\">\n";
    let auc = or_dash(report.auc);
    html += &section(&format!("ROC curve, area {auc}"), &chart::roc(roc));
    let error = report.calibration.expected_calibration_error;
    let title = format!("Calibration, expected error {error:.4}");
    html += &section(&title, &chart::calibration(&report.calibration.bins));
    html += "</div>\n";
    html += &ranking_section(report);
    let confusion = &report.confusion;
    let counts = [
        ("useful", vec![confusion.true_positive.to_string(), confusion.false_negative.to_string()]),
        ("useless", vec![confusion.false_positive.to_string(), confusion.true_negative.to_string()]),
    ];
    let names = ["predicted useful", "predicted useless"].map(str::to_owned);
    html += &section("Predictions", &table(&head("statement", names.into_iter()), &counts));
    if !report.steps.is_empty() {
        let (names, accuracies): (Vec<String>, Vec<String>) = steps(report).into_iter().unzip();
        let table = table(&head("step", names.into_iter()), &[("accuracy", accuracies)]);
        html += &section("Classifiers of the steps", &table);
    }
    html += &calibration_section(report);
    html + "</body></html>\n"
}

fn ranking_section(report: &Report) -> String {
    let ranking = &report.ranking;
    if ranking.queries == 0 {
        return section("Ranking", "No conjecture has a useful statement.");
    }
    let figures =
        |shares: &mut dyn Iterator<Item = &f64>| shares.map(|&share| or_dash(Some(share))).collect();
    let rows = [
        ("recall", figures(&mut ranking.recall_at.values())),
        ("full recall", figures(&mut ranking.full_recall_at.values())),
    ];
    let table = table(&head("first k", ranking.recall_at.keys().map(usize::to_string)), &rows);
    let Ranking { queries, mean_reciprocal_rank: mrr, mean_average_precision: map, .. } = ranking;
    let below = format!(
        "<p>Mean reciprocal rank {mrr:.4}, mean average precision {map:.4}, over {queries} conjectures.</p>"
    );
    section("Ranking of a conjecture's statements", &(table + &below))
}

fn calibration_section(report: &Report) -> String {
    let bins = &report.calibration.bins;
    let rows = [
        ("statements", bins.iter().map(|bin| bin.count.to_string()).collect()),
        ("mean score", bins.iter().map(|bin| or_dash(bin.mean_score)).collect()),
        ("share useful", bins.iter().map(|bin| or_dash(bin.share_useful)).collect::<Vec<String>>()),
    ];
    let names = bins.iter().map(|bin| format!("{:.1}", bin.from));
    section("Scores and what came of them", &table(&head("score from", names), &rows))
}
