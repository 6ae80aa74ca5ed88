//! A page that shows a formula and what is close to it side by side.

use anyhow::Result;
use formulanet::logic::draw::{self, SvgOptions, Theme};
use formulanet::logic::{Formula, Graph, GraphBuilder, Interner};
use formulanet::retrieve::VectorRetriever;

use super::Neighbour;

/// Beyond the colours of the drawings.
const STYLE: &str = "\
:root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--line:#d6dae1;--text:#1d232c;--soft:#535d6d;--accent:#2f5f9e}
@media (prefers-color-scheme:dark){:root{--page:#14171b;--card:#1b1f26;--line:#353c48;--text:#e4e8ee;--soft:#a9b3c1;--accent:#8db8ef}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.25rem;max-width:110rem;background:var(--page);color:var(--text);font:16px/1.5 system-ui,\"DejaVu Sans\",sans-serif}
h1{margin:0 0 .5rem;font-size:1.4rem}
h2{margin:0;font:600 .9375rem/1.4 ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;overflow-wrap:anywhere}
ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;margin:0 0 1rem;padding:0;font-size:.875rem;color:var(--soft)}
li{display:flex;align-items:center;gap:.4rem}
main{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))}
figure{margin:0;padding:.9rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;display:flex;flex-direction:column;gap:.6rem}
figure.query{border:2px solid var(--accent)}
figcaption p{margin:.15rem 0 0;color:var(--soft);font-size:.875rem}
code{font:.875rem/1.45 ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;white-space:pre-wrap;overflow-wrap:anywhere}
figure svg{display:block;margin:0 auto;max-width:100%;max-height:36rem}
.formulanet .p{fill:none}
.formulanet .r{stroke:var(--card)}
";

/// The query's graph and those of its neighbours, with one legend.
pub(super) fn page(
    query: &Formula,
    neighbours: &[Neighbour],
    retriever: &VectorRetriever,
    names: &Interner,
) -> Result<String> {
    let mut builder = GraphBuilder::new(retriever.model().origin.view, retriever.limits());
    let mut graph = Graph::new();
    let mut figure = |class: &str, name: &str, remark: &str, formula: &Formula| -> Result<String> {
        builder.build(formula, names, &mut graph)?;
        let options =
            SvgOptions { title: Some(name.to_owned()), legend: false, style: false, ..SvgOptions::default() };
        // One formula that is too large to draw leaves the others their pictures.
        let picture = match draw::svg(&graph, names, &options) {
            Ok(picture) => picture,
            Err(error) => format!("<p>{}</p>\n", draw::escape(&error.to_string())),
        };
        let formula = draw::escape(&formula.pretty(names).to_string());
        let name = draw::escape(name);
        Ok(format!(
            "<figure{class}>\n<figcaption><h2>{name}</h2><p>{remark}</p><code>{formula}</code></figcaption>\n\
             {picture}</figure>\n"
        ))
    };
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Neighbours of a formula</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
         <h1>Neighbours of a formula</h1>\n<ul aria-label=\"Legend\">\n",
        draw::style_sheet(Theme::Auto),
    );
    for (picture, meaning) in draw::legend() {
        text += &format!("<li>{picture} {meaning}</li>\n");
    }
    text += "</ul>\n<main>\n";
    text += &figure(" class=\"query\"", "query", "what the others are compared with", query)?;
    for Neighbour { name, similarity, formula } in neighbours {
        text += &figure("", name, &format!("similarity {similarity:.4}"), formula)?;
    }
    Ok(text + "</main>\n</body>\n</html>\n")
}
