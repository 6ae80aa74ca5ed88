//! Baselines on folders small enough to work out by hand.

use std::fs;
use std::path::Path;

use formulanet_lab::baselines::{Baseline, BaselineOptions as Options, LibraryBaseline};
use formulanet_train::Silent;
use formulanet_train::dataset::{self, HoldOut, Layout, Prepared, Split, prepare};
use formulanet_train::eval::{Prediction, evaluate};
use tempfile::TempDir;

/// A conjecture with its statements: `+` or `-`, a formula, and a name if the statement is a premise.
struct Problem {
    conjecture: &'static str,
    statements: &'static [(&'static str, &'static str, Option<&'static str>)],
}

/// Sets and arithmetic: `SUC` is useful, `IN` is not. The last two conjectures are for validation.
const PROBLEMS: [Problem; 5] = [
    Problem {
        conjecture: "!n. SUC n + 0 = SUC n",
        statements: &[
            ("+", "!n. n + 0 = n", Some("ADD_0")),
            ("+", "!m n. SUC m = SUC n <=> m = n", Some("SUC_INJ")),
            ("-", "!x s. x IN s ==> x IN s", None),
            ("-", "!x s t. x IN (s UNION t) <=> x IN s \\/ x IN t", None),
        ],
    },
    Problem {
        conjecture: "!m n. SUC m + n = SUC (m + n)",
        statements: &[
            ("+", "!n. n + 0 = n", Some("ADD_0")),
            ("+", "!m n. m + SUC n = SUC (m + n)", Some("ADD_SUC")),
            ("-", "!x s. x IN s ==> x IN s", None),
        ],
    },
    Problem {
        conjecture: "!s t. s UNION t = t UNION s",
        statements: &[
            ("+", "!s t. (!x. x IN s <=> x IN t) ==> s = t", Some("EXTENSION")),
            ("-", "!n. n + 0 = n", None),
        ],
    },
    Problem {
        conjecture: "!m n. m + SUC n = SUC n + m",
        statements: &[
            ("+", "!n. n + 0 = n", Some("ADD_0")),
            ("+", "!m n k. SUC m + n = k", Some("ODD_ONE")),
            ("-", "!x s. x IN s ==> x IN s", None),
            ("-", "!x s t. x IN t /\\ x IN s ==> x IN t", None),
        ],
    },
    Problem {
        conjecture: "!s t u. s UNION (t UNION u) = (s UNION t) UNION u",
        statements: &[("+", "!s t. (!x. x IN s <=> x IN t) ==> s = t", Some("EXTENSION"))],
    },
];

/// A folder of problems, with some of them held out.
fn folder(directory: &Path, problems: &[Problem], held_out: &[usize]) -> Prepared {
    let mut text = String::new();
    for problem in problems {
        for (sign, statement, name) in problem.statements {
            let mut line = serde_json::json!({
                "conjecture": problem.conjecture, "statement": statement, "useful": *sign == "+",
            });
            if let Some(name) = name {
                line["name"] = (*name).into();
            }
            text += &format!("{line}\n");
        }
    }
    let (input, output) = (directory.join("pairs.jsonl"), directory.join("prepared"));
    fs::write(&input, text).unwrap();
    let names = held_out.iter().map(|&number| problems[number].conjecture.to_owned()).collect();
    let options = dataset::Options { validation: HoldOut::Names(names), ..dataset::Options::default() };
    prepare(&input, &output, Some(Layout::Jsonl), &options, 1, &Silent).unwrap();
    Prepared::open(&output).unwrap()
}

fn usual() -> (TempDir, Prepared) {
    let directory = tempfile::tempdir().unwrap();
    let prepared = folder(directory.path(), &PROBLEMS, &[3, 4]);
    (directory, prepared)
}

fn predict(baseline: Baseline, prepared: &Prepared, options: &Options) -> Vec<Prediction> {
    let predictions = baseline.predict(prepared, Split::Validation, options).unwrap();
    let labels: Vec<(u32, bool)> = predictions.iter().map(|p| (p.conjecture, p.is_useful)).collect();
    assert_eq!(labels, [(3, true), (3, true), (3, false), (3, false), (4, true)]);
    assert_eq!(baseline.predict(prepared, Split::Validation, options).unwrap(), predictions);
    predictions
}

fn scores(predictions: &[Prediction]) -> Vec<f32> {
    predictions.iter().map(|prediction| prediction.score).collect()
}

#[test]
fn majority() {
    let (_directory, prepared) = usual();
    // Five of the nine statements of training are useful.
    assert_eq!(scores(&predict(Baseline::Majority, &prepared, &Options::default())), [5.0 / 9.0; 5]);
}

#[test]
fn seen() {
    let (_directory, prepared) = usual();
    let prior = 5.0 / 9.0;
    // Two of three; unseen; none of two; unseen; one of one.
    let expected = [(2.0 + prior) / 4.0, prior, prior / 3.0, prior, (1.0 + prior) / 2.0];
    assert_eq!(scores(&predict(Baseline::Seen, &prepared, &Options::default())), expected);
}

#[test]
fn nearest() {
    let (_directory, prepared) = usual();
    let one = Options { nearest: 1, ..Options::default() };
    let found = scores(&predict(Baseline::Nearest, &prepared, &one));
    let prior = 5.0 / 9.0;
    // The same statement was useful two times of three, never of two, and once: similarity 1.
    let equal = [(0, (2.0 + prior) / 4.0), (2, prior / 3.0), (4, (1.0 + prior) / 2.0)];
    for (place, expected) in equal {
        assert!((found[place] - expected).abs() < 1e-6, "{place}: {} {expected}", found[place]);
    }
    // Others are like a useful one with `SUC`, and like a useless one with `IN`.
    assert!(found[1] > 0.6 && found[3] < 0.5, "{found:?}");
    let none = Options { nearest: 0, ..Options::default() };
    assert_eq!(scores(&predict(Baseline::Nearest, &prepared, &none)), [prior; 5]);
    let nothing_kept = Options { nearest_pairs: 0, ..Options::default() };
    assert_eq!(scores(&predict(Baseline::Nearest, &prepared, &nothing_kept)), [prior; 5]);
}

#[test]
fn tokens() {
    let (_directory, prepared) = usual();
    for is_conditional in [false, true] {
        let options = Options { is_conditional, learning_rate: 0.5, ..Options::default() };
        let predictions = predict(Baseline::Tokens, &prepared, &options);
        // All of the arithmetic above all of the sets, among the statements of the conjecture about arithmetic.
        let report = evaluate(&predictions[..4], &[]).unwrap();
        assert_eq!(report.auc, Some(1.0), "{predictions:?}");
        let other = Options { seed: 1, ..options };
        assert_ne!(predictions, predict(Baseline::Tokens, &prepared, &other));
    }
    // Nothing learnt, nothing known.
    let nothing = Options { regression_pairs: 0, ..Options::default() };
    assert_eq!(scores(&predict(Baseline::Tokens, &prepared, &nothing)), [0.5; 5]);
}

#[test]
fn fewer_statements_are_those_of_whole_conjectures() {
    let (_directory, prepared) = usual();
    let mut sizes = Vec::new();
    for seed in 0..20 {
        let options = Options { evaluated_pairs: 1, seed, ..Options::default() };
        let predictions = Baseline::Majority.predict(&prepared, Split::Validation, &options).unwrap();
        sizes.push((predictions[0].conjecture, predictions.len()));
    }
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [(3, 4), (4, 1)]);
}

#[test]
fn premises_of_the_library() {
    let (_directory, prepared) = usual();
    let names: Vec<&str> =
        (0..prepared.meta().counts.premises).map(|number| prepared.premise(number).name).collect();
    assert_eq!(names, ["ADD_0", "SUC_INJ", "ADD_SUC", "EXTENSION", "ODD_ONE"]);
    // Popularity: ADD_0 two times, SUC_INJ, ADD_SUC and EXTENSION once, ODD_ONE never. So the first conjecture finds
    // its premises at ranks 1 and 5, the second at one of 2 to 4.
    let popularity =
        LibraryBaseline::Popularity.rank(&prepared, Split::Validation, &Options::default()).unwrap();
    assert_eq!((popularity.queries, popularity.recall_at[&1]), (2, 0.25));
    assert_eq!((popularity.recall_at[&4], popularity.recall_at[&8]), (0.75, 1.0));
    assert_eq!((popularity.full_recall_at[&4], popularity.full_recall_at[&8]), (0.5, 1.0));
    // Neighbours: both theorems of arithmetic use ADD_0, and less popular ones beside it; that of sets uses EXTENSION.
    let one = Options { neighbours: 1, ..Options::default() };
    let neighbours = LibraryBaseline::Neighbours.rank(&prepared, Split::Validation, &one).unwrap();
    assert_eq!((neighbours.mean_reciprocal_rank, neighbours.recall_at[&1]), (1.0, 0.75));
    // Without neighbours, popularity is left.
    let none = Options { neighbours: 0, ..Options::default() };
    assert_eq!(LibraryBaseline::Neighbours.rank(&prepared, Split::Validation, &none).unwrap(), popularity);
}

#[test]
fn theorems_are_premises_of_others_but_not_of_themselves() {
    // A conjecture of JSON Lines is named by its text, so a premise with that name is the conjecture.
    const NEAR: &str = "!n. SUC n + 0 = SUC n";
    const ASKED: &str = "!n. 0 + SUC n = SUC n";
    const BASE: (&str, &str, Option<&str>) = ("+", "!n. n + 0 = n", Some("ADD_0"));
    const OF_ASKED: (&str, &str, Option<&str>) = ("+", ASKED, Some(ASKED));
    const OF_NEAR: (&str, &str, Option<&str>) = ("+", NEAR, Some(NEAR));
    let problem = |conjecture, statements| Problem { conjecture, statements };
    let check = |asked: &'static [_], baseline: LibraryBaseline| {
        let problems = [
            problem(NEAR, &[OF_ASKED]),
            problem("!s t. s UNION t = t UNION s", &[OF_ASKED, BASE, ("+", "T", Some("TRUTH"))]),
            problem("!s t. s INTER t = t INTER s", &[OF_ASKED, BASE, OF_NEAR]),
            problem(ASKED, asked),
        ];
        let directory = tempfile::tempdir().unwrap();
        let prepared = folder(directory.path(), &problems, &[3]);
        let options = Options { neighbours: 1, ..Options::default() };
        baseline.rank(&prepared, Split::Validation, &options).unwrap().mean_reciprocal_rank
    };
    // Three proofs use the conjecture itself and two ADD_0, which still is the first.
    assert_eq!(check(&[BASE], LibraryBaseline::Popularity), 1.0);
    // The nearest theorem comes before the popular premise, although one proof alone uses it.
    assert_eq!(check(&[OF_NEAR], LibraryBaseline::Neighbours), 1.0);
    assert_eq!(check(&[BASE], LibraryBaseline::Neighbours), 0.5);
}

#[test]
fn empty_splits() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = folder(directory.path(), &PROBLEMS, &[]);
    let options = Options::default();
    let expected = "pairs.jsonl: expected labelled statements in the validation split of the prepared folder, \
                    found none; hold out some conjectures when preparing it";
    for baseline in Baseline::ALL {
        let error = baseline.predict(&prepared, Split::Validation, &options).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(baseline.predict(&prepared, Split::Train, &options).is_ok());
    }
    for baseline in LibraryBaseline::ALL {
        let error = baseline.rank(&prepared, Split::Validation, &options).unwrap_err().to_string();
        assert!(
            error.contains("conjectures that depend on named premises in the validation split"),
            "{error}"
        );
        assert!(baseline.rank(&prepared, Split::Train, &options).is_ok());
    }
    let directory = tempfile::tempdir().unwrap();
    let all_held_out = folder(directory.path(), &PROBLEMS, &[0, 1, 2, 3, 4]);
    let error = Baseline::Seen.predict(&all_held_out, Split::Validation, &options).unwrap_err().to_string();
    assert!(error.contains("in the training split"), "{error}");
    assert!(error.ends_with("hold out fewer conjectures when preparing it"), "{error}");
}
