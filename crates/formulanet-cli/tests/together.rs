//! `formulanet train --kind reader` and `eval` from the outside.

mod common;

use std::fs;

use common::formulanet;
use formulanet_testing::Folder;
use serde_json::Value;

/// A folder with DeepMath files in `raw`, and two more in `other`, with other symbols: what shares a function with the
/// conjecture is useful.
fn place() -> Folder {
    let folder = Folder::new();
    for (name, files, prefix) in [("raw", 40, ""), ("other", 2, "o")] {
        fs::create_dir(folder.path(name)).unwrap();
        for i in 0..files {
            let (own, else_where) = (format!("{prefix}f{}", i % 9), format!("{prefix}f{}", (i + 4) % 9));
            let text = format!(
                "C fof(t{i}, axiom, ! [X] : {own}(X) = X).\n+ fof(a{i}, axiom, {prefix}p({own}({prefix}c))).\n\
                 - fof(b{i}, axiom, {prefix}p({else_where}({prefix}c))).\n"
            );
            folder.write(&format!("{name}/t{i}"), text);
        }
    }
    folder
}

#[track_caller]
fn said(place: &Folder, arguments: &str) -> String {
    run(place, arguments).output()
}

/// Runs the program; `@name` stands for a path in the folder.
fn run(place: &Folder, arguments: &str) -> common::Run {
    let path = |word: &str| word.strip_prefix('@').map_or_else(|| word.to_owned(), |name| place.text(name));
    let words: Vec<String> = arguments.split(' ').map(path).collect();
    formulanet(&words.iter().map(String::as_str).collect::<Vec<_>>(), b"")
}

const RECIPE: &str =
    "--dim 12 --rounds 2 --hidden 16 --batch 60 --min-name-count 3 --epochs 4 --rate 0.01 --log-every 2";

#[test]
fn a_model_is_trained_resumed_and_measured() {
    let place = place();
    let begun = format!("train --kind reader --data @raw --out @run --validation 8 {RECIPE}");
    let run_stopped = run(&place, &format!("{begun} --max-minutes 0"));
    assert_eq!(run_stopped.code, Some(0), "{}", run_stopped.stderr);
    assert!(run_stopped.stderr.contains("stopped after 1 batches"), "{}", run_stopped.stderr);
    let end = said(&place, "train --data @raw --resume @run --validation 8");
    assert!(end.contains("of 16 held-out pairs") && end.contains("with names hidden"), "{end}");
    said(&place, &begun.replace("@run", "@whole"));
    assert!(place.bytes("whole/model.safetensors") == place.bytes("run/model.safetensors"));

    let eval = |rest: &str| -> Value {
        let text = said(&place, &format!("eval --model @run/model.safetensors --format json {rest}"));
        serde_json::from_str(&text).unwrap()
    };
    let all = eval("--data @raw");
    assert_eq!((&all["together"], &all["examples"]), (&true.into(), &80.into()));
    assert_eq!((&all["group_size"], &all["names_hidden"]), (&Value::Null, &false.into()));
    assert_eq!(all["steps"][0], all["accuracy"]);
    for field in ["accuracy", "precision", "recall", "auc"] {
        assert!(all[field].is_f64(), "{field}");
    }
    // Data none of whose symbols the model knows.
    let other = eval("--data @other");
    assert_eq!(
        (other["examples"].as_u64(), &other["auc"]),
        (Some(4), &eval("--data @other --symbols anonymous")["auc"])
    );
    let alone = eval("--data @raw --group-size 1 --symbols anonymous");
    assert_eq!((&alone["group_size"], &alone["names_hidden"]), (&1.into(), &true.into()));

    assert_eq!(all["useful_share"], Value::Null);
    // One of two is useful in every file, and one of either kind stays.
    let half = eval("--data @raw --useful-share 0.5");
    assert_eq!((&half["useful_share"], &half["auc"]), (&0.5.into(), &all["auc"]));

    said(&place, "prepare @raw --out @data --problems --validation 8");
    assert_eq!(eval("--data @data --split all"), all);
    assert_eq!(eval("--data @data")["examples"], 16);
    let text = said(&place, "eval --model @run --data @data --group-size 1 --predictions @table.tsv");
    assert!(text.starts_with("the statements of a conjecture are read together, in groups of 1\n"), "{text}");
    let table = fs::read_to_string(place.path("table.tsv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 16);
    assert_eq!(table.lines().next(), Some("conjecture\tstatement\tuseful\tprobability"));
    assert!(table.lines().skip(1).all(|line| line.starts_with('t') && line.split('\t').count() == 4));
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = place();
    said(&place, "prepare @raw --out @plain --validation 8");
    let check = |arguments: &str, code: i32, expected: &str| {
        let run = run(&place, arguments);
        assert!(run.code == Some(code) && run.stderr.contains(expected), "{:?} {}", run.code, run.stderr);
    };
    check(
        "train --kind reader --data @plain --out @run",
        1,
        "prepare it again with --problems, or give the raw data",
    );
    check("train --kind reader --data @plain --out @run --validation 8", 2, "a prepared folder");
    check("train --data @plain --out @run --rounds 3", 2, "'--rounds' has no effect without --kind reader");
    check(
        "train --kind reader --data @raw --out @run --steps 3",
        2,
        "'--steps' has no effect with --kind reader",
    );
    check(
        "train --kind reader --data @raw --out @run --rounds 0 --validation 8",
        1,
        "rounds must be from 1 to 64",
    );
    check("train --kind reader --data @raw --out @run --rounds three", 2, "expected a whole number");
    check("train --kind reader --data @raw --out @run", 1, "hold out fewer conjectures with --validation");
    check("train --data @plain --out @run --validation 8", 2, "--validation");
    check("eval --model models/mizar --data @raw --useful-share 1", 2, "expected a number between 0 and 1");
    check(
        "eval --model mizar-premises --data @raw --symbols anonymous",
        2,
        "'--symbols' cannot be used with",
    );
    let recipe = RECIPE.replace("--epochs 4", "--epochs 1");
    said(&place, &format!("train --kind reader --data @raw --out @run --validation 8 {recipe}"));
    check("embed --model @run --premises @raw/t1", 1, "found one that reads them together");
    check(
        "rank --model @run --conjecture p --premises @raw/t1 --rerank off",
        2,
        "'--rerank' cannot be used with",
    );
    check("rank --model @run --conjecture p --premises @raw/t1 --syntax tptp", 0, "");
    check("graph --no-names p", 2, "'--no-names'");
    check("eval --model @run --data @plain", 1, "prepare it again with --problems");
}
