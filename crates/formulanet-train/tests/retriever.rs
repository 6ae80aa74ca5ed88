//! Learning to rank named premises, and remembering statements.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use formulanet::logic::View;
use formulanet::model::ModelFile;
use formulanet::model::recipe::Recipe;
use formulanet::net::{Compute, Meeting, Network, Precision, Storage};
use formulanet::retrieve::VectorRetriever;
use formulanet::{Engine, Policy, Query, Rerank, Statement};
use formulanet_testing::{Folder, Stopper};
use formulanet_train::Silent;
use formulanet_train::dataset::{HoldOut, Options, Prepared, Split, prepare};
use formulanet_train::eval::{TokenMap, pairs_of, predict, rank_premises};
use formulanet_train::train::{Run, RunEnd, RunOptions, train};

const TOPICS: usize = 12;

/// Conjectures of twelve topics; the useful statements are those of the same topic.
fn pairs() -> String {
    let mut text = String::new();
    for i in 0..180 {
        let topic = i % TOPICS;
        let depth = i / TOPICS % 4 + 1;
        let nested = format!("{}x{}", format!("FF{topic} (").repeat(depth), ")".repeat(depth));
        let conjecture = format!("!x. {nested} = RR{} x", i % 7);
        for other in [topic, (topic + 1 + i % 5) % TOPICS, (topic + 6) % TOPICS] {
            for kind in ["AA", "BB"] {
                let line = serde_json::json!({
                    "conjecture": conjecture,
                    "name": format!("{kind}{other}"),
                    "statement": format!("!y. {kind} y ==> GG{other} (FF{other} y) = y"),
                    "useful": other == topic,
                });
                writeln!(text, "{line}").unwrap();
            }
        }
    }
    text
}

/// A folder with the pairs, prepared.
fn place() -> Folder {
    let folder = Folder::new();
    let raw = folder.write("pairs.jsonl", pairs());
    let options = Options { validation: HoldOut::Number(24), view: View::Dag, ..Options::default() };
    prepare(raw.as_ref(), &folder.path("data"), None, &options, 1, &Silent).unwrap();
    folder
}

fn data(place: &Folder) -> Prepared {
    Prepared::open(&place.path("data")).unwrap()
}

fn model(place: &Folder, run: &str) -> Vec<u8> {
    place.bytes(&format!("{run}/model.safetensors"))
}

fn run(
    place: &Folder,
    recipe: &Recipe,
    name: &str,
    stop_after: u64,
    resumes: bool,
    threads: usize,
) -> RunEnd {
    let options =
        RunOptions { threads, resumes, checkpoint_every: Duration::from_secs(3600), ..RunOptions::default() };
    let (prepared, folder) = (data(place), place.path(name));
    let run = Run { prepared: &prepared, recipe, folder: &folder, first_weights: None, options };
    train(&run, &Stopper::after(stop_after), &mut |_| ()).unwrap()
}

fn towers() -> Recipe {
    Recipe {
        dimension: 16,
        steps: 1,
        batch: 24,
        rate: 1e-2,
        epochs: 40,
        micro_batch: 16,
        useful: 2,
        random: 8,
        validate_every: 100_000,
        average: 0.9,
        dropout: 0.0,
        storage: Storage::F32,
        ..Recipe::premises()
    }
}

#[test]
fn premises_of_the_topic_come_first() {
    let place = place();
    for (name, proofs) in [("with", 0.5), ("without", 0.0)] {
        let recipe = Recipe { proofs, ..towers() };
        let RunEnd::Finished(Some(validation)) = run(&place, &recipe, name, u64::MAX, false, 2) else {
            panic!("not finished");
        };
        let ranking = validation.ranking.unwrap();
        assert!(ranking.recall_at[&2] > 0.9 && ranking.mean_reciprocal_rank > 0.9, "{name} {ranking:?}");
        let trained = ModelFile::from_bytes(&model(&place, name), name).unwrap();
        assert!(trained.ranks() && trained.proofs.is_empty() == (proofs == 0.0));
        let data = data(&place);
        let map = TokenMap::new(data.vocabulary(), &trained.vocabulary, name).unwrap();
        let network = Network::new(trained.model.clone(), Compute::new(Precision::F32, 1));
        let again =
            rank_premises(&network, &trained.prior_knowledge(), &data, &map, &[Split::Validation], &Silent)
                .unwrap();
        assert_eq!(again, ranking);
        let file = place.path(name).join("model.safetensors");
        let engine = Engine::builder().model(file.to_string_lossy()).precision(Precision::F32).threads(1);
        let engine = engine.build().unwrap();
        let conjecture = Statement::hol("goal", "!z. FF3 (FF3 z) = RR1 z");
        let statements: Vec<Statement> = (0..TOPICS)
            .map(|k| Statement::hol(format!("AA{k}"), format!("!n. AA n ==> GG{k} (FF{k} n) = n")))
            .collect();
        let corpus = engine.corpus().statements(statements).build().unwrap();
        let query = Query::new(conjecture).policy(Policy::default().rerank(Rerank::Off));
        let hits = engine.rank(&corpus, &query).unwrap().hits;
        assert_eq!(hits[0].statement.name, "AA3");
        assert!(hits[0].score > 3.0 * hits[1].score, "{hits:?}");
    }
}

#[test]
fn a_ranker_is_resumed_to_the_same_bytes() {
    let place = place();
    let recipe = Recipe { epochs: 4, ..towers() };
    run(&place, &recipe, "whole", u64::MAX, false, 1);
    assert!(matches!(run(&place, &recipe, "parts", 5, false, 2), RunEnd::Stopped(5)));
    assert!(matches!(run(&place, &recipe, "parts", 9, true, 1), RunEnd::Stopped(14)));
    run(&place, &recipe, "parts", u64::MAX, true, 2);
    assert!(model(&place, "whole") == model(&place, "parts"));
}

/// A model with a memory says the same from its file as it did in training, and knows what it saw; also one that marks
/// what statements and conjectures have in common, which cannot make a vector of a statement alone.
#[test]
fn statements_are_remembered() {
    let place = place();
    for (name, marks) in [("seen", false), ("marked", true)] {
        let recipe = Recipe {
            meeting: Meeting::Concat,
            proofs: 0.0,
            memory: 1,
            forget: 0.2,
            marks,
            batch: 32,
            epochs: 10,
            validation_pairs: 0,
            ..towers()
        };
        let RunEnd::Finished(Some(validation)) = run(&place, &recipe, name, u64::MAX, false, 1) else {
            panic!("not finished");
        };
        let trained = ModelFile::from_bytes(&model(&place, name), name).unwrap();
        assert_eq!(trained.seen.len(), 24);
        let data = data(&place);
        let map = TokenMap::new(data.vocabulary(), &trained.vocabulary, name).unwrap();
        let network = Network::new(trained.model.clone(), Compute::new(Precision::F32, 2));
        let pairs = pairs_of(&data, Split::Validation, None, 0);
        let with = predict(&network, &trained.seen, &data, &map, &pairs, &Silent).unwrap();
        assert_eq!(with.accuracies(), validation.steps);
        let alone = predict(&network, &trained.seen, &data, &map, &pairs[7..8], &Silent).unwrap();
        assert_eq!(alone.last, with.last[7..8]);
        let without = predict(&network, &Default::default(), &data, &map, &pairs, &Silent).unwrap();
        assert_ne!(with.last, without.last);
        let parts = format!("{name}-parts");
        let stopped = run(&place, &recipe, &parts, 7, false, 2);
        assert!(matches!(stopped, RunEnd::Stopped(7)));
        run(&place, &recipe, &parts, u64::MAX, true, 1);
        assert!(model(&place, name) == model(&place, &parts));
        assert_eq!(VectorRetriever::new(trained, Compute::new(Precision::F32, 1)).is_err(), marks);
    }
}

/// Rare labels become kinds of unknown symbols, and a model that knows them reads new symbols as such.
#[test]
fn rare_labels_are_unknown_by_kind() {
    let place = place();
    let validation = HoldOut::Number(24);
    let options = Options { min_count: 3, view: View::Dag, validation, ..Options::default() };
    let out: &Path = &place.path("rare");
    prepare(&place.path("pairs.jsonl"), out, None, &options, 2, &Silent).unwrap();
    let rare = Prepared::open(out).unwrap();
    rare.verify().unwrap();
    let vocabulary = rare.vocabulary();
    assert_eq!(vocabulary[2..5], ["UNKNOWN", "UNKNOWN/p0", "UNKNOWN/p1"].map(str::to_owned));
    let data = data(&place);
    assert!(vocabulary.len() < data.vocabulary().len());
    // From the data with all labels to the vocabulary of the other: the same graphs come out.
    let map = TokenMap::new(data.vocabulary(), vocabulary, "model");
    assert!(map.is_ok());
}
