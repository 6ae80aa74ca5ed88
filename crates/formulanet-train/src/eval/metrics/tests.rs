//! Values are worked out by hand, in the comments or as the fractions they are.

use super::*;

/// Predictions of one conjecture.
fn predictions(scored: &[(f32, bool)]) -> Vec<Prediction> {
    scored.iter().map(|&(score, is_useful)| Prediction { conjecture: 0, score, is_useful }).collect()
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "found {found}, expected {expected}");
}

const MIXED: [(f32, bool); 6] =
    [(0.8, true), (0.5, true), (0.5, true), (0.5, false), (0.3, false), (0.9, false)];

#[test]
fn counts_and_what_follows_from_them() {
    let report = evaluate(&predictions(&MIXED), &[]).unwrap();
    let expected = Confusion { true_positive: 1, false_positive: 1, true_negative: 2, false_negative: 2 };
    assert_eq!(report.confusion, expected);
    assert_eq!(report.examples, 6);
    close(report.accuracy, 1.0 / 2.0);
    close(report.precision, 1.0 / 2.0);
    close(report.recall, 1.0 / 3.0);
    close(report.f1, 2.0 / 5.0);
    assert_eq!((report.steps, report.vote), (vec![], None));
    let logarithms = [0.8f64, 0.5, 0.5, 0.5, 0.7, 0.1].map(f64::ln);
    close(report.log_loss, -logarithms.iter().sum::<f64>() / 6.0);
}

#[test]
fn area_under_the_curve() {
    let check = |scored: &[(f32, bool)], expected| assert_eq!(roc::auc(&predictions(scored)), expected);
    // 0.8 wins against 0.5 and 0.3; each 0.5 wins against 0.3 and ties once: 2 + 2 * 1.5 of 9.
    check(&MIXED, Some(5.0 / 9.0));
    check(&[(0.5, true), (0.5, false), (0.5, false)], Some(0.5));
    check(&[(0.9, true), (0.1, false)], Some(1.0));
    check(&[(0.1, true), (0.9, false)], Some(0.0));
    check(&[(0.0, true), (-0.0, false)], Some(0.5));
    check(&[(0.9, true), (0.1, true)], None);
    check(&[(0.9, false)], None);
    check(&[], None);
}

#[test]
fn points_of_the_curve() {
    let shown = |points: Vec<RocPoint>| -> Vec<(f64, f64)> {
        points.into_iter().map(|p| (p.false_positive_rate, p.true_positive_rate)).collect()
    };
    let (third, two) = (1.0 / 3.0, 2.0 / 3.0);
    let curve = shown(roc_points(&predictions(&MIXED), 100).unwrap());
    assert_eq!(curve, [(0.0, 0.0), (third, 0.0), (third, third), (two, 1.0), (1.0, 1.0)]);
    assert_eq!(roc_points(&predictions(&[(0.3, true)]), 100).unwrap(), []);
    // As many useful as useless ones with rising scores: the diagonal in small steps.
    let many: Vec<(f32, bool)> = (0..2000).map(|i| (i as f32 / 2000.0, i % 2 == 0)).collect();
    for max_points in [0, 2, 3, 10, 101] {
        let curve = shown(roc_points(&predictions(&many), max_points).unwrap());
        assert_eq!(curve.len(), max_points.max(2));
        assert_eq!((curve[0], curve[curve.len() - 1]), ((0.0, 0.0), (1.0, 1.0)));
        let gap = 1.0 / (curve.len() - 1) as f64;
        for (place, (x, y)) in curve.into_iter().enumerate() {
            assert!((x - place as f64 * gap).abs() < 2e-3 && (x - y).abs() < 2e-3, "{x} {y}");
        }
    }
}

#[test]
fn one_class_alone() {
    let report = evaluate(&predictions(&[(0.2, false), (0.4, false)]), &[]).unwrap();
    assert_eq!((report.accuracy, report.precision, report.recall, report.f1), (1.0, 0.0, 0.0, 0.0));
    assert_eq!((report.auc, report.ranking.queries), (None, 0));
    assert_eq!(report.ranking.mean_average_precision, 0.0);
    assert!(report.to_string().contains("AUC                       -"), "{report}");
    assert!(report.to_string().contains("nothing relevant"), "{report}");
    let page = report_html("useless", &[], &report, &[]);
    assert!(page.contains("No conjecture has a useful statement."));
    let report = evaluate(&predictions(&[(1.0, true), (0.0, true)]), &[]).unwrap();
    assert_eq!((report.accuracy, report.precision, report.recall), (0.5, 1.0, 0.5));
    // A certain mistake is dear, not infinitely dear.
    close(report.log_loss, (-(1e-7f64.ln()) - (1.0 - 1e-7f64).ln()) / 2.0);
}

#[test]
fn classifiers_of_the_steps_and_their_vote() {
    let predictions = predictions(&[(0.5, true), (0.5, false), (0.5, true)]);
    #[rustfmt::skip]
    let steps = [
        0.9, 0.4, 0.3, // mean 0.533: useful
        0.4, 0.4, 0.9, // mean 0.567: useful
        0.9, 0.6, 0.1, // mean 0.533: useful
    ];
    let report = evaluate(&predictions, &steps).unwrap();
    assert_eq!(report.steps, [1.0, 2.0 / 3.0, 0.0]);
    assert_eq!(report.vote, Some(2.0 / 3.0));
}

#[track_caller]
fn check_error<T: std::fmt::Debug>(result: Result<T, Error>, expected: &str) {
    assert_eq!(result.unwrap_err().to_string(), expected);
}

#[test]
fn what_cannot_be_measured() {
    check_error(evaluate(&[], &[]), "predictions: expected at least one prediction, found none");
    check_error(roc_points(&[], 10), "predictions: expected at least one prediction, found none");
    for (score, shown) in [(f32::NAN, "NaN"), (1.5, "1.5"), (-0.25, "-0.25"), (f32::INFINITY, "inf")] {
        let bad = predictions(&[(0.5, true), (score, false)]);
        let message =
            format!("predictions: expected a probability as the score of prediction 2, found {shown}");
        check_error(evaluate(&bad, &[]), &message);
        check_error(roc_points(&bad, 10), &message);
        check_error(evaluate(&bad[..1], &[0.5, score]), &message.replace("prediction 2", "prediction 1"));
    }
    check_error(
        evaluate(&predictions(&MIXED), &[0.5; 7]),
        "predictions: expected equally many steps of each of the 6 predictions, found 7 probabilities of steps",
    );
    check_error(
        RankedList::from_scores(&[0.0, f32::NAN], &[true, false], 1),
        "ranking: expected a number as the score of candidate 2, found NaN",
    );
    check_error(
        RankedList::from_scores(&[0.0], &[true, false], 1),
        "ranking: expected 2 scores, one of each candidate, found 1",
    );
}

#[test]
fn bins_of_scores() {
    let scored = [(0.05, false), (0.15, true), (0.15, false), (1.0, true)];
    let calibration = Calibration::of(&predictions(&scored));
    let counts: Vec<usize> = calibration.bins.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
    close(calibration.bins[1].mean_score.unwrap(), 0.15);
    assert_eq!(calibration.bins[1].share_useful, Some(0.5));
    assert_eq!((calibration.bins[2].mean_score, calibration.bins[2].share_useful), (None, None));
    // (1 * 0.05 + 2 * 0.35 + 1 * 0) / 4
    close(calibration.expected_calibration_error, 0.1875);
    // (0.05² + 0.85² + 0.15² + 0²) / 4
    close(calibration.brier_score, 0.186_875);
    for (place, edge) in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].into_iter().enumerate() {
        let calibration = Calibration::of(&predictions(&[(edge, true)]));
        assert_eq!(calibration.bins[place].count, 1, "{edge}");
    }
}

#[test]
fn ranked_lists() {
    let first = RankedList::from_list([false, true, true, false, true], 4);
    let second = RankedList::from_list([true], 1);
    let without = RankedList::from_list([false, false], 0);
    let found = ranking(&[first, second, without]);
    assert_eq!(found.queries, 2);
    close(found.mean_reciprocal_rank, (1.0 / 2.0 + 1.0) / 2.0);
    close(found.mean_average_precision, ((1.0 / 2.0 + 2.0 / 3.0 + 3.0 / 5.0) / 4.0 + 1.0) / 2.0);
    let recall = [(0.0, 1.0), (0.25, 1.0), (0.5, 1.0), (0.75, 1.0), (0.75, 1.0)];
    for (at, (of_first, of_second)) in CUTOFFS.into_iter().zip(recall) {
        close(found.recall_at[&at], (of_first + of_second) / 2.0);
    }
    // One of the first query's is not in its list at all.
    assert_eq!(found.full_recall_at[&64], 0.5);
    let late = RankedList::from_list((1..=70).map(|rank| rank == 1 || rank == 65), 2);
    assert_eq!(ranking(std::slice::from_ref(&late)).full_recall_at[&64], 0.0);
    assert_eq!(ranking(&[late]).recall_at[&64], 0.5);
    assert_eq!(ranking(&[]).queries, 0);
    // Nothing found of what there is.
    let missed = ranking(&[RankedList::from_list([false], 3)]);
    assert_eq!((missed.queries, missed.mean_reciprocal_rank, missed.recall_at[&64]), (1, 0.0, 0.0));
}

#[test]
fn equal_scores_are_ranked_without_regard_to_their_order() {
    let useful_first: Vec<bool> = (0..1000).map(|place| place < 500).collect();
    let query = RankedList::from_scores(&[0.5; 1000], &useful_first, 500).unwrap();
    assert_eq!(query, RankedList::from_scores(&[0.5; 1000], &useful_first, 500).unwrap());
    let by_chance = ranking(&[query]).mean_average_precision;
    assert!((by_chance - 0.5).abs() < 0.06, "{by_chance}");
}

#[test]
fn conjectures_are_ranked_apart_in_whatever_order_they_come() {
    let prediction = |conjecture, score, is_useful| Prediction { conjecture, score, is_useful };
    let mixed = [
        prediction(7, 0.9, false),
        prediction(3, 0.2, true),
        prediction(7, 0.8, true),
        prediction(5, 0.99, false),
        prediction(3, 0.1, false),
    ];
    let ranking = evaluate(&mixed, &[]).unwrap().ranking;
    assert_eq!((ranking.queries, ranking.mean_reciprocal_rank), (2, 0.75));
    assert_eq!((ranking.recall_at[&1], ranking.full_recall_at[&2]), (0.5, 1.0));
}

#[test]
fn reports_go_through_json_and_show_their_figures() {
    let predictions = predictions(&MIXED);
    let steps = [0.6, 0.4].repeat(6);
    let report = evaluate(&predictions, &steps).unwrap();
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    for name in ["examples", "accuracy", "precision", "recall", "f1", "auc", "steps", "vote"] {
        assert!(!value[name].is_null(), "{name}");
    }
    assert!(value["ranking"]["recall_at"]["16"].is_number());
    let text = report.to_string();
    for line in [
        "accuracy             0.5000",
        "AUC                  0.5556",
        "predicted            useful  useless",
        "  useful                  1        2",
        "step                      0        1     vote",
        "  MRR 0.5000, MAP ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let about = [("data", "a<b".to_owned()), ("date", "2026-11-17".to_owned())];
    let page = report_html("<b> & c", &about, &report, &roc_points(&predictions, 50).unwrap());
    assert!(page.contains("data <b>a&lt;b</b> · date <b>2026-11-17</b>"));
    assert!(page.contains("<h1>&lt;b&gt; &amp; c</h1>") && page.contains("area 0.5556"));
    assert_eq!(page.matches("<svg").count(), 2);
    assert!(!page.contains("http") && !page.contains("NaN"));
}
