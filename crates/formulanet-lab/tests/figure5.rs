//! Figure 5 of a small prepared folder and a network that was never trained.

use std::fs;
use std::path::Path;

use formulanet::logic::View;
use formulanet::model::memory::proofs::TrainingProofs;
use formulanet::model::memory::statements::StatementMemory;
use formulanet::model::recipe::Recipe;
use formulanet::model::{ModelFile, Origin};
use formulanet::net::{Compute, Model, Network, NormKind, Precision};
use formulanet_lab::paper::{Figure, FigureOptions as Options, figure5};
use formulanet_train::dataset::{self, HoldOut, Prepared, prepare};
use formulanet_train::{Error, Silent};

/// The pairs of a conjecture, all about the same few functions and one of its own. `<` is a name that SVG
/// must not take for its own.
fn pairs(own: &str) -> String {
    let statements = [
        format!("!x y. f x + g y = {own} x"),
        format!("!x. ?y. {own} y + x = y + g x"),
        format!("!p x. p ({own} x) ==> p (f (g x))"),
        format!("!p x. f x < {own} x ==> p x /\\\\ p (g x)"),
        format!("!q x. q x x ==> (?z. q z ({own} x) /\\\\ f z < g z)"),
        format!("{own} x + f x = ({own} x + f x) + f (g x)"),
    ];
    let pair = |(i, statement): (usize, &String)| {
        let useful = i % 2 == 0;
        format!(r#"{{"conjecture": "!x. {own} x = x", "statement": "{statement}", "useful": {useful}}}"#)
            + "\n"
    };
    statements.iter().enumerate().map(pair).collect()
}

/// A prepared directory of four conjectures, of which this many are held out.
fn folder(directory: &Path, held_out: usize) -> Prepared {
    let input = directory.join("pairs.jsonl");
    fs::write(&input, ["SUC", "h", "SIN", "COS"].map(pairs).concat()).unwrap();
    let options = dataset::Options {
        view: View::Dag,
        validation: HoldOut::Number(held_out),
        ..dataset::Options::default()
    };
    let output = directory.join(format!("prepared-{held_out}"));
    prepare(&input, &output, None, &options, 1, &Silent).unwrap();
    Prepared::open(&output).unwrap()
}

fn model(prepared: &Prepared, norm: NormKind) -> ModelFile {
    let recipe = Recipe { dimension: 16, norm, ..Recipe::default_preset() };
    let origin = Origin {
        memory_of: None,
        view: View::Dag,
        data: prepared.meta().input.clone(),
        fingerprint: prepared.meta().fingerprint.clone(),
        pairs: 12_345,
        validation_accuracy: Some(0.8765),
        prior: None,
        program: "0".into(),
        recipe,
    };
    let model = Model::new(origin.recipe.config(prepared.vocabulary().len()), 7);
    ModelFile {
        model: model.into(),
        origin,
        vocabulary: prepared.vocabulary().to_vec(),
        proofs: TrainingProofs::default(),
        seen: StatementMemory::default(),
        typical: Vec::new(),
        stamp: None,
    }
}

fn draw(
    trained: &ModelFile,
    prepared: &Prepared,
    options: &Options,
    threads: usize,
) -> Result<Figure, Error> {
    let network = Network::new(trained.model.clone(), Compute::new(Precision::F32, threads));
    figure5(&network, trained, prepared, options)
}

/// Whether every element of an XML text ends, in the right order; good enough for what the figure writes.
fn is_well_formed(xml: &str) -> bool {
    let mut open = Vec::new();
    for tag in xml.split('<').skip(1) {
        let Some((tag, text)) = tag.split_once('>') else { return false };
        let is_escaped = |text: &str| text.split('&').skip(1).all(|rest| rest.contains(';'));
        if text.contains('>') || !is_escaped(text) {
            return false;
        }
        match tag.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            Some(_) => {}
            None if tag.ends_with('/') => {}
            None => open.push(tag.split_whitespace().next().unwrap_or_default()),
        }
    }
    open.is_empty()
}

#[test]
fn rows_and_columns() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = folder(directory.path(), 2);
    let options = Options { queries: 4, neighbours: 3, ..Options::default() };
    for norm in [NormKind::Batch, NormKind::Graph, NormKind::Layer] {
        let trained = model(&prepared, norm);
        let figure = draw(&trained, &prepared, &options, 1).unwrap();
        let Figure { svg, markdown } = &figure;
        assert!(svg.starts_with("<svg xmlns=") && is_well_formed(svg), "{svg}");
        assert_eq!(
            svg.matches("class=\"n q\"").count(),
            4 * (1 + 3),
            "a thick line for each node in the middle"
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !markdown.contains("NaN"));
        assert!(svg.contains("neighbour 3") && !svg.contains("neighbour 4"));
        assert!(svg.contains("&lt;</text>"), "labels are escaped");
        let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
        assert_eq!(rows.len(), 4, "{markdown}");
        let mut queries: Vec<&str> = rows.iter().map(|row| row.split("**").nth(1).unwrap()).collect();
        assert!(queries.contains(&"`VARFUNC`"), "{queries:?}");
        assert!(["`!`", "`?`"].iter().any(|binder| queries.contains(binder)), "{queries:?}");
        queries.sort_unstable();
        queries.dedup();
        assert_eq!(queries.len(), 4, "queries have different labels");
        for part in ["figure5.svg", "12345 pairs", "87.65 %", "dimension 16", "view `dag`"] {
            assert!(markdown.contains(part), "{part} in {markdown}");
        }
        assert_eq!(draw(&trained, &prepared, &options, 3).unwrap(), figure, "threads change nothing");
    }
}

#[test]
fn neighbours_come_in_order_and_the_seed_decides() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = folder(directory.path(), 2);
    let trained = model(&prepared, NormKind::Batch);
    let figure = |seed| {
        let options = Options { queries: 2, seed, step: 2, ..Options::default() };
        draw(&trained, &prepared, &options, 1).unwrap()
    };
    for row in figure(0).markdown.lines().filter(|line| line.contains("**")) {
        let distances: Vec<f32> = row
            .split(" | ")
            .skip(2)
            .map(|cell| cell.trim_end_matches(" |").rsplit(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(distances.len() == 4 && distances.is_sorted(), "{row}");
    }
    assert!((1..6).any(|seed| figure(seed).svg != figure(0).svg));
}

#[test]
fn more_than_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = folder(directory.path(), 1);
    let trained = model(&prepared, NormKind::Batch);
    let check = |options: Options| {
        let figure = draw(&trained, &prepared, &options, 2).unwrap();
        assert!(is_well_formed(&figure.svg) && !figure.svg.contains("NaN"));
    };
    check(Options { queries: 1000, neighbours: 1000, ..Options::default() });
    check(Options { queries: 0, neighbours: 0, ..Options::default() });
    check(Options { graphs: 1, step: 0, ..Options::default() });
    check(Options { graphs: 0, ..Options::default() });
}

#[test]
fn what_does_not_fit_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = folder(directory.path(), 1);
    let check = |trained: &ModelFile, prepared: &Prepared, options: &Options, expected: &str| {
        let message = draw(trained, prepared, options, 1).unwrap_err().to_string();
        assert!(message.contains(expected), "found {message}");
    };
    let trained = model(&prepared, NormKind::Batch);
    let options = Options::default();
    check(&trained, &folder(directory.path(), 0), &options, "expected conjectures with statements held out");
    check(&trained, &prepared, &Options { step: 3, ..options.clone() }, "expected more than 3 steps");
    let mut other = trained.clone();
    other.origin.view = View::Graph;
    check(&other, &prepared, &options, "expected graphs of the model's view `graph`, found `dag`");
    let strange = |(i, label): (usize, &String)| if i < 3 { label.clone() } else { format!("other {i}") };
    let vocabulary = trained.vocabulary.iter().enumerate().map(strange).collect();
    check(&ModelFile { vocabulary, ..trained }, &prepared, &options, "expected a model for this data");
}
