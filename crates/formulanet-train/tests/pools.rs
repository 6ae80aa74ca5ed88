//! Pools of a retriever: how they are made and kept, training on them, and reading with what was trained.

use std::collections::HashSet;
use std::fmt::Write;

use formulanet::logic::{Interner, Limits, hol, tptp};
use formulanet::model::JointModelFile;
use formulanet::model::joint::JointRecipe;
use formulanet::net::together::Loss;
use formulanet::net::{Compute, Precision};
use formulanet::policy::{Fuse, RerankerSource, Stage2};
use formulanet::rerank::{JointReranker, ToldFeatures};
use formulanet::{Language, Statement};
use formulanet_testing::{Folder, Stopper};
use formulanet_train::dataset::{HoldOut, ProblemOptions, Problems, Split};
use formulanet_train::eval::{Company, Reader, pool_ranking, predict_together, retriever_ranking};
use formulanet_train::train::{
    PoolOptions, PoolSource, RunEnd, RunOptions, TogetherRun, make_pools, train_together,
};
use formulanet_train::{Error, Silent};

const FACTS: usize = 90;

/// A library whose theorems follow from the definitions of their functions.
fn theory() -> String {
    let mut text = String::new();
    for number in 0..FACTS {
        let (f, g) = (number % 9, (number / 9) % 6);
        if number < 18 {
            let statement = format!("! [X] : f{f}(X) = k{number}(X)");
            writeln!(text, "{{\"name\":\"d{number}\",\"syntax\":\"tptp\",\"statement\":\"{statement}\"}}")
                .unwrap();
            continue;
        }
        let statement = format!("! [X] : f{f}(h{g}(X)) = c{}", number % 4);
        let proof = format!("[\"d{f}\",\"d{}\"]", 9 + f);
        let fields = format!("\"name\":\"t{number}\",\"syntax\":\"tptp\",\"statement\":\"{statement}\"");
        writeln!(text, "{{{fields},\"proof\":{proof}}}").unwrap();
    }
    text
}

fn options(threads: usize) -> PoolOptions {
    PoolOptions {
        size: 16,
        validation: HoldOut::Number(12),
        seed: 0,
        without_proofs: 0.2,
        only_held_out: false,
        limits: Limits::default(),
        threads,
    }
}

fn sources(place: &Folder, is_ordered: bool) -> Vec<PoolSource> {
    place.write("theory.jsonl", theory());
    vec![PoolSource { file: place.path("theory.jsonl").display().to_string(), is_ordered }]
}

fn pools(place: &Folder, is_ordered: bool, threads: usize) -> Problems {
    make_pools(&sources(place, is_ordered), &options(threads), &Silent).unwrap()
}

/// Everything that pools say.
fn shown(problems: &Problems) -> Vec<String> {
    (0..problems.len())
        .map(|number| {
            let problem = problems.problem(number);
            let features = |place| problem.features(place).map(f32::to_bits).collect::<Vec<_>>();
            let candidates: Vec<_> = (0..problem.candidates.len())
                .map(|place| (problem.candidates[place], features(place)))
                .collect();
            format!("{} {:?} {} {candidates:?}", problem.name, problem.split, problem.relevant)
        })
        .collect()
}

fn open(place: &Folder, name: &str) -> Result<Problems, Error> {
    let options = ProblemOptions { validation: HoldOut::Number(0), seed: 0, keep_going: false, threads: 1 };
    Problems::open(&place.path(name), &options, &Silent)
}

#[test]
fn pools_are_the_same_on_any_number_of_threads_and_come_back_from_a_folder() {
    let place = Folder::new();
    for is_ordered in [true, false] {
        let one = pools(&place, is_ordered, 1);
        assert_eq!(shown(&pools(&place, is_ordered, 3)), shown(&one));
        assert_eq!(one.features().len(), ToldFeatures::FEATURES.len());
        assert_eq!((one.len(), one.of_split(Split::Validation).count()), (FACTS - 18, 12));
        let name = format!("pools-{is_ordered}");
        one.write_pools(&place.path(&name)).unwrap();
        assert_eq!(shown(&open(&place, &name).unwrap()), shown(&one));
        let again = one.write_pools(&place.path(&name)).unwrap_err();
        assert!(again.to_string().contains("new or empty folder"), "{again}");
    }
    assert!(matches!(
        make_pools(&sources(&place, true), &options(1), &Stopper::after(5)),
        Err(Error::Interrupted)
    ));
}

#[test]
fn damaged_pools_are_refused() {
    let place = Folder::new();
    pools(&place, true, 1).write_pools(&place.path("pools")).unwrap();
    let bytes = std::fs::read(place.path("pools/pools.safetensors")).unwrap();
    for length in [0, 100, bytes.len() / 2, bytes.len() - 1] {
        place.write("pools/pools.safetensors", &bytes[..length]);
        let error = open(&place, "pools").err().expect("refused").to_string();
        assert!(error.contains("pools.safetensors: expected the file that was written"), "{error}");
    }
    place.write("pools/pools.safetensors", &bytes);
    for name in ["pools/pools.safetensors", "pools/symbols.txt", "pools/pools.json"] {
        let whole = place.bytes(name);
        for at in (0..whole.len()).step_by(whole.len() / 20 + 1) {
            let mut other = whole.clone();
            other[at] ^= 1;
            place.write(name, &other);
            assert!(open(&place, "pools").is_err(), "byte {at} of {name}");
        }
        place.write(name, &whole);
    }
    assert!(open(&place, "pools").is_ok());
}

#[test]
fn candidates_come_before_the_goal_or_are_all_others() {
    let place = Folder::new();
    let check = |is_ordered: bool| {
        let pools = pools(&place, is_ordered, 1);
        for number in 0..pools.len() {
            let problem = pools.problem(number);
            let own = problem.conjecture;
            assert!(
                problem.candidates.iter().all(|candidate| candidate.statement != own),
                "{}",
                problem.name
            );
            let is_before = problem.candidates.iter().all(|candidate| candidate.statement < own);
            assert!(is_before || !is_ordered, "{}", problem.name);
            let useful = problem.candidates.iter().filter(|candidate| candidate.is_useful).count();
            assert!(useful <= problem.relevant && problem.relevant == 2);
        }
    };
    check(true);
    check(false);
}

#[test]
fn sets_of_pools_are_put_together() {
    let place = Folder::new();
    let (mut both, other) = (pools(&place, true, 1), pools(&place, false, 1));
    let (first, second) = (shown(&both), other.len());
    both.append(other).unwrap();
    assert_eq!(both.len(), first.len() + second);
    let names: HashSet<&str> = (0..both.len()).map(|number| both.problem(number).name).collect();
    assert_eq!(names.len(), first.len(), "the same facts twice");
    let plain = place.path("plain");
    std::fs::create_dir(&plain).unwrap();
    place.write("plain/t1", "C fof(t1, axiom, p).\n+ fof(a, axiom, q).\n");
    assert!(both.append(open(&place, "plain").unwrap()).is_err());
}

fn compute() -> Compute {
    Compute::new(Precision::F32, 1)
}

/// A network that was trained on pools of the library.
fn trained(place: &Folder) -> (Problems, JointModelFile) {
    let problems = pools(place, false, 1);
    let recipe = JointRecipe {
        dimension: 8,
        rounds: 2,
        hidden: 16,
        feature_hidden: 16,
        loss: Loss::Pool,
        min_count: 0,
        hide_names: 0.0,
        hide_each: 0.0,
        batch: 600,
        epochs: 6,
        precision: Precision::F32,
        ..JointRecipe::default()
    };
    let run = TogetherRun {
        problems: &problems,
        recipe: &recipe,
        folder: &place.path("run"),
        options: RunOptions::default(),
    };
    let RunEnd::Finished(Some(validation)) = train_together(&run, &Silent, &mut |_| {}).unwrap() else {
        panic!("expected a validation");
    };
    assert_eq!(validation.ranking.unwrap().queries, 12);
    (problems, JointModelFile::named(&place.path("run").display().to_string()).unwrap())
}

#[test]
fn pools_can_have_another_share_of_useful_candidates() {
    let place = Folder::new();
    let all = pools(&place, false, 1);
    let known = |problems: &Problems, number: usize| -> Vec<(u32, bool, Vec<u32>)> {
        let problem = problems.problem(number);
        let features = |place| problem.features(place).map(f32::to_bits).collect();
        let candidates = problem.candidates.iter().enumerate();
        candidates.map(|(place, one)| (one.statement, one.is_useful, features(place))).collect()
    };
    let useful = |candidates: &[(u32, bool, Vec<u32>)]| candidates.iter().filter(|one| one.1).count();
    let before: Vec<_> =
        (0..all.len()).map(|number| (known(&all, number), all.problem(number).relevant)).collect();
    let half = all.with_useful_share(0.5);
    let mut changed = 0;
    for (number, (before, relevant)) in before.iter().enumerate() {
        let after = known(&half, number);
        // What stays keeps its order and what is known of it; what is useful and no candidate is still missed.
        let mut rest = before.iter();
        assert!(after.iter().all(|one| rest.any(|other| other == one)));
        let missing = relevant - useful(before);
        assert_eq!(half.problem(number).relevant, missing + useful(&after));
        if !after.is_empty() {
            assert!(2 * useful(&after) == after.len());
        }
        changed += usize::from(after.len() < before.len() && !after.is_empty());
    }
    assert!(changed > 0, "nothing was left out");
}

#[test]
fn reading_ranks_better_than_the_retriever_and_looks_at_no_name() {
    let place = Folder::new();
    let (problems, file) = trained(&place);
    let mut reader = Reader::new(&file, &problems, true, compute()).unwrap();
    let mut measure = |present: Option<usize>| {
        let company = Company { splits: &[Split::Validation], present, ..Company::default() };
        let predictions = predict_together(&mut reader, &problems, &company, &Silent).unwrap();
        pool_ranking(&problems, &predictions).unwrap()
    };
    let retrieved = retriever_ranking(&problems, &[Split::Validation]).unwrap();
    let read = measure(None);
    assert!(read.mean_average_precision >= retrieved.mean_average_precision, "{read:?} {retrieved:?}");
    // What is not read keeps the retriever's order.
    assert_eq!(measure(Some(1)), retrieved);

    let reading = JointReranker::new(file, compute()).unwrap();
    let read = |prefix: &str| {
        let text = |statement: &str| {
            statement.replace("f", &format!("{prefix}f")).replace("c", &format!("{prefix}c"))
        };
        let statement =
            |statement: &str| Statement { name: "s".into(), text: text(statement), language: Language::Tptp };
        let candidates: Vec<Statement> =
            ["! [X] : f1(X) = c", "f2(c) = c", "this is ( no formula", "! [X] : f1(f1(X)) = X"]
                .map(statement)
                .to_vec();
        let mut names = Interner::new();
        let goal = text("! [X] : f1(f2(X)) = c");
        let goal = tptp::parse_formula(&goal, tptp::Language::Fof, Limits::default(), &mut names).unwrap();
        let mut scores = vec![0.9, 0.5, 0.4, 0.3];
        let statement = |number: usize| Ok(candidates[number].clone());
        let stage = Stage2 { depth: 1024, fuse: Fuse::Replace, reranker: RerankerSource::Given };
        reading
            .rescore((&mut scores, stage), statement, &goal, &hol::Options::default(), &mut names)
            .unwrap();
        scores
    };
    let scores = read("");
    assert_eq!(scores, read("zebra_"));
    // What cannot be read is behind what can.
    assert!([0, 1, 3].iter().all(|&number| scores[number] > scores[2]), "{scores:?}");
}
