//! Tiny theories, and properties of random ones.

use std::collections::HashSet;

use formulanet_logic::{Interner, hol};
use proptest::prelude::*;

use crate::proofs::index::OWN;
use crate::proofs::{Features, Method, ProofIndex, SignalTable};

/// Returns the features of a statement of HOL Light.
fn features(text: &str) -> Features {
    let mut names = Interner::new();
    let formula = hol::parse(text, &hol::Options::default(), &mut names).unwrap();
    Features::of(&formula, &names)
}

/// Makes an index of facts with the dependencies of their proofs.
fn index(facts: &[(&str, &[usize])]) -> ProofIndex {
    let mut index = ProofIndex::default();
    for (text, used) in facts {
        let fact = index.add_fact(&features(text));
        if !used.is_empty() {
            index.add_proof(fact, used);
        }
    }
    index
}

/// Returns the numbers of a ranking.
fn ranked(index: &ProofIndex, goal: &str, method: Method, number: usize) -> Vec<usize> {
    let best = index.rank(&index.goal(&features(goal)), index.len(), method, number);
    best.into_iter().map(|(fact, _)| fact).collect()
}

const LISTS: [(&str, &[usize]); 7] = [
    ("!l. append nil l = l", &[]),
    ("!h t l. append (cons h t) l = cons h (append t l)", &[]),
    ("!m. plus zero m = m", &[]),
    ("!m n. plus (suc m) n = suc (plus m n)", &[]),
    ("!m. plus m zero = m", &[2, 3]),
    ("!l. append l nil = l", &[0, 1]),
    ("!l m n. append (append l m) n = append l (append m n)", &[0, 1]),
];

#[test]
fn what_speaks_of_nothing_new_is_familiar() {
    let facts = [
        "lattice top",
        "!x. lattice x ==> poset x",
        "!x. poset x ==> graph x",
        "poset bottom",
        "!x. tree x ==> graph x",
    ];
    let index = index(&facts.map(|text| (text, &[][..])));
    let check = |found: &[usize], expected: &[usize]| {
        assert_eq!(
            index.by_familiar_symbols(&index.goal(&features("lattice top")), found, 9),
            expected,
            "{found:?}"
        );
    };
    // The goal's own symbols first; without others, nothing leads from classes to what they are part of.
    check(&[], &[0, 1]);
    // Found facts lend their symbols, the first more than the next.
    check(&[1], &[0, 1, 3, 2]);
    check(&[1, 2], &[0, 1, 2, 4, 3]);
    // Of two that are equally familiar, the later.
    check(&[4], &[0, 4, 2, 1]);
    assert_eq!(index.by_familiar_symbols(&index.goal(&features("lattice top")), &[1], 2), [0, 1]);
    assert_eq!(index.by_familiar_symbols(&index.goal(&features("unheard of")), &[], 9), [0usize; 0]);
}

#[test]
fn features_know_no_variables() {
    let check = |one: &str, other: &str, is_same: bool| {
        assert_eq!(features(one) == features(other), is_same, "{one} and {other}");
    };
    check("!x y. plus x y = plus y x", "!a b. plus a b = plus b a", true);
    check("!x. plus x zero = x", "!x. plus zero x = x", false);
    check("!x. even x ==> odd (suc x)", "!x. odd (suc x) ==> even x", false);
    let counts = |text: &str| {
        let features = features(text);
        (features.symbols.len(), features.pairs.len(), features.size)
    };
    assert_eq!(counts("!x. plus x zero = x"), (2, 2, 6));
    assert_eq!(counts("!x. x = x"), (0, 0, 4));
}

#[test]
fn methods_find_what_is_to_be_found() {
    let known = index(&LISTS);
    let check = |goal: &str, method: Method, expected: &[usize]| {
        let mut found = ranked(&known, goal, method, expected.len());
        found.sort_unstable();
        assert_eq!(found, expected, "{goal} by {}", method.name());
    };
    // The proofs of both theorems about `append` use its two equations.
    check("!k l. rev (append k l) = append (rev l) (rev k)", Method::NaiveBayes, &[0, 1, 5, 6]);
    check("!l. append l (append nil nil) = l", Method::Knn, &[0, 1, 5, 6]);
    check("!l. append nil (append l l) = append l l", Method::Mesh, &[0, 1, 5, 6]);
    check("!l. append (cons h t) nil = cons h t", Method::MePo, &[0, 1, 5, 6]);
    check("!x. x = x", Method::Popularity, &[0, 1]);
    check("!m n. plus m n = plus n m", Method::Auto, &[2, 3, 4]);
}

#[test]
fn nothing_known_is_no_error() {
    let empty = ProofIndex::default();
    for (_, method) in Method::ALL {
        assert!(ranked(&empty, "!x. x = x", method, 5).is_empty(), "{}", method.name());
        // Facts without proofs, and a goal that shares nothing with them.
        let plain = index(&[("T", &[]), ("!m. plus m zero = m", &[])]);
        assert!(ranked(&plain, "foo bar", method, 5).len() <= 2);
        assert_eq!(plain.rank(&plain.goal(&features("T")), 0, method, 5), []);
    }
    let mut one = index(&[("T", &[])]);
    one.add_proof(0, &[0, 7]);
    one.add_proof(9, &[0]);
    assert_eq!((one.proof_count(), one.take_proofs(0), one.take_proofs(9)), (1, vec![vec![]], vec![]));
}

#[test]
fn only_earlier_facts_are_candidates() {
    let known = index(&LISTS);
    let goal = known.goal(&features("!l. append l nil = l"));
    for (name, method) in Method::ALL {
        let best = known.rank(&goal, 5, method, 10);
        assert!(best.iter().all(|&(fact, _)| fact < 5), "{name}: {best:?}");
        assert!(best.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{name}: {best:?}");
    }
}

/// An equation `s (t x) = u y` by the numbers of its symbols.
type Equation = (u8, u8, u8);

/// A fact's equations, and the earlier facts that its proof uses.
type Line = (Vec<Equation>, Vec<prop::sample::Index>);

fn library() -> impl Strategy<Value = Vec<Line>> {
    let equation = (0..8u8, 0..8u8, 0..8u8);
    let line =
        (prop::collection::vec(equation, 1..4), prop::collection::vec(any::<prop::sample::Index>(), 0..5));
    prop::collection::vec(line, 2..30)
}

/// Returns statements whose symbols have names of a style, and the numbers of their dependencies.
fn written(library: &[Line], style: &str) -> Vec<(String, Vec<usize>)> {
    let name = |symbol: u8| match style {
        "reversed" => format!("zz{}", 9 - symbol),
        _ => format!("aa{symbol}"),
    };
    let text = |equations: &[Equation]| {
        let one = |&(s, t, u): &Equation| format!("{} ({} x) = {} y", name(s), name(t), name(u));
        equations.iter().map(one).collect::<Vec<_>>().join(" /\\ ")
    };
    let line = |(fact, (equations, used)): (usize, &Line)| {
        let used: HashSet<usize> =
            if fact == 0 { HashSet::new() } else { used.iter().map(|used| used.index(fact)).collect() };
        let mut used: Vec<usize> = used.into_iter().collect();
        used.sort_unstable();
        (text(equations), used)
    };
    library.iter().enumerate().map(line).collect()
}

fn made(lines: &[(String, Vec<usize>)]) -> ProofIndex {
    let lines: Vec<(&str, &[usize])> =
        lines.iter().map(|(text, used)| (text.as_str(), used.as_slice())).collect();
    index(&lines)
}

/// Rankings by all methods, and signals.
type Answers = (Vec<Vec<(usize, f32)>>, Vec<Vec<f32>>);

/// Returns all that an index can answer.
fn answers(index: &ProofIndex, goal: &str) -> Answers {
    let goal = index.goal(&features(goal));
    let rankings = Method::ALL.map(|(_, method)| index.rank(&goal, index.len(), method, 40)).to_vec();
    let signals: SignalTable = index.signals(&goal, index.len());
    (rankings, signals.rows().map(<[f32]>::to_vec).collect())
}

/// Nearest neighbours as `interop` has them, fact by fact.
fn slow_neighbours(lines: &[(String, Vec<usize>)], goal: &str) -> Vec<f32> {
    let near = |text: &str| {
        let features = features(text);
        features.symbols.into_iter().chain(features.pairs).collect::<HashSet<u64>>()
    };
    let (facts, goal): (Vec<_>, _) = (lines.iter().map(|(text, _)| near(text)).collect(), near(goal));
    let weight = |feature: &u64| {
        let having = facts.iter().filter(|fact: &&HashSet<u64>| fact.contains(feature)).count();
        ((facts.len() as f32).ln() - (having as f32).ln()).powi(6)
    };
    let mut scores = vec![0.0; lines.len()];
    for (fact, (_, used)) in lines.iter().enumerate() {
        let nearness: f32 = facts[fact].intersection(&goal).map(weight).sum();
        scores[fact] += nearness;
        used.iter().for_each(|&used_fact| scores[used_fact] += 2.7 * nearness / used.len() as f32);
    }
    scores
}

/// Naive Bayes, feature by feature.
fn slow_bayes(lines: &[(String, Vec<usize>)], goal: &str, fact: usize) -> f32 {
    let near = |text: &str| {
        let features = features(text);
        features.symbols.into_iter().chain(features.pairs).collect::<HashSet<u64>>()
    };
    let facts: Vec<_> = lines.iter().map(|(text, _)| near(text)).collect();
    let having = |feature: &u64| facts.iter().filter(|fact| fact.contains(feature)).count();
    let weight = |feature: &u64| (facts.len() as f32).ln() - (having(feature) as f32).ln();
    let users: Vec<usize> = (0..lines.len()).filter(|&user| lines[user].1.contains(&fact)).collect();
    let own = |feature: &u64| if facts[fact].contains(feature) { OWN as usize } else { 0 };
    let count = |feature: &u64| {
        (own(feature) + users.iter().filter(|&&user| facts[user].contains(feature)).count()) as f32
    };
    let total = OWN as f32 + users.len() as f32;
    let goal: HashSet<u64> = near(goal).into_iter().filter(|feature| having(feature) > 0).collect();
    let known: HashSet<u64> =
        facts.iter().flatten().copied().filter(|feature| count(feature) > 0.0).collect();
    let common: f32 = goal.intersection(&known).map(|f| weight(f) * (5.0 * count(f) / total).ln()).sum();
    let of_goal: f32 = goal.difference(&known).map(weight).sum();
    let alone = known.difference(&goal);
    let of_fact: f32 = alone.map(|f| weight(f) * (1.0 - (count(f) - 1.0) / total).ln()).sum();
    30.0 * total.ln() + common - 18.0 * of_goal + 0.2 * of_fact
}

fn close(one: f32, other: f32) -> bool {
    (one - other).abs() <= 1e-3 * (1.0 + one.abs())
}

const GOAL: [&str; 2] =
    ["aa0 (aa1 x) = aa2 y /\\ aa3 (aa0 y) = aa0 x", "zz9 (zz8 x) = zz7 y /\\ zz6 (zz9 y) = zz9 x"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn renaming_symbols_changes_nothing(library in library()) {
        let [plain, renamed] = ["plain", "reversed"].map(|style| made(&written(&library, style)));
        prop_assert_eq!(answers(&plain, GOAL[0]), answers(&renamed, GOAL[1]));
    }

    #[test]
    fn the_order_of_adding_does_not_matter(library in library(), taken in any::<prop::sample::Index>()) {
        let lines = written(&library, "plain");
        let one_by_one = made(&lines);
        let mut from_bulk = ProofIndex::default();
        for (text, _) in &lines {
            from_bulk.add_fact(&features(text));
        }
        for (fact, (_, used)) in lines.iter().enumerate().rev().filter(|(_, (_, used))| !used.is_empty()) {
            from_bulk.add_proof(fact, used);
        }
        let expected = answers(&one_by_one, GOAL[0]);
        prop_assert_eq!(&answers(&from_bulk, GOAL[0]), &expected);
        // Proofs that are removed and added again leave no trace.
        let fact = taken.index(lines.len());
        let proofs = from_bulk.take_proofs(fact);
        prop_assert_eq!(from_bulk.proof_count(), one_by_one.proof_count() - proofs.len());
        proofs.iter().for_each(|used| from_bulk.add_proof(fact, used));
        prop_assert_eq!(&answers(&from_bulk, GOAL[0]), &expected);
    }

    #[test]
    fn quick_and_slow_formulas_agree(library in library()) {
        let lines = written(&library, "plain");
        let index = made(&lines);
        let goal = index.goal(&features(GOAL[0]));
        let slow = slow_neighbours(&lines, GOAL[0]);
        let quick = index.rank(&goal, index.len(), Method::Knn, 1000);
        prop_assert_eq!(quick.len(), slow.iter().filter(|score| **score > 0.0).count());
        for (fact, score) in quick {
            prop_assert!(close(slow[fact], score), "{} is {} and {}", fact, slow[fact], score);
        }
        for (fact, score) in index.rank(&goal, index.len(), Method::NaiveBayes, 1000) {
            let slow = slow_bayes(&lines, GOAL[0], fact);
            prop_assert!(close(slow, score), "{} is {} and {}", fact, slow, score);
        }
    }

    #[test]
    fn signals_are_numbers(library in library()) {
        let (_, rows) = answers(&made(&written(&library, "plain")), GOAL[0]);
        prop_assert!(rows.iter().flatten().all(|signal| signal.is_finite()), "{:?}", rows);
    }
}
