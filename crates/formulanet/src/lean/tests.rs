use super::*;
use crate::net::{Compute, Precision};

/// Goals, and the declarations of `fixtures/lean/library.jsonl` that they need.
const GOALS: [(&str, &[&str]); 24] = [
    ("a b : Nat\n⊢ Eq (HAdd.hAdd a b) (HAdd.hAdd b a)", &["Nat.add_comm"]),
    (
        "a b c : Nat\n⊢ Eq (HAdd.hAdd a (HAdd.hAdd b c)) (HAdd.hAdd b (HAdd.hAdd a c))",
        &["Nat.add_comm", "Nat.add_assoc"],
    ),
    (
        "x y : Nat\n⊢ Eq (HMul.hMul (HAdd.hAdd x y) 2) (HAdd.hAdd (HMul.hMul 2 x) (HMul.hMul 2 y))",
        &["Nat.mul_comm", "Nat.left_distrib"],
    ),
    ("n : Nat\n⊢ Eq (HPow.hPow n (HAdd.hAdd 0 1)) n", &["Nat.pow_succ", "Nat.pow_zero"]),
    ("n m : Nat\nh : Eq (Nat.succ n) (Nat.succ (Nat.succ m))\n⊢ Eq n (Nat.succ m)", &["Nat.succ.inj"]),
    ("a b c : Nat\nh₁ : LE.le a b\nh₂ : LE.le b c\n⊢ LE.le a c", &["Nat.le_trans"]),
    ("a b : Nat\nh₁ : LE.le a b\nh₂ : LE.le b a\n⊢ Eq b a", &["Nat.le_antisymm"]),
    ("a : Nat\nh : LT.lt a a\n⊢ False", &["Nat.lt_irrefl"]),
    (
        "k m n : Nat\nh : LE.le m n\n⊢ LE.le (HMul.hMul k m) (HAdd.hAdd (HMul.hMul k n) k)",
        &["Nat.mul_le_mul_left", "Nat.le_trans", "Nat.le_add_right"],
    ),
    (
        "p a b : Nat\nhp : Nat.Prime p\nh : Dvd.dvd p (HMul.hMul a b)\nha : Not (Dvd.dvd p a)\n⊢ Dvd.dvd p b",
        &["Nat.Prime.dvd_mul"],
    ),
    ("p : Nat\nhp : Nat.Prime p\n⊢ LT.lt 1 p", &["Nat.Prime.two_le"]),
    (
        "a b c d : Nat\nh₁ : Dvd.dvd a b\nh₂ : Dvd.dvd b c\n⊢ Dvd.dvd a (HMul.hMul c d)",
        &["Nat.dvd_trans", "Nat.dvd_mul_right"],
    ),
    ("⊢ Exists fun p => And (LE.le 100 p) (Nat.Prime p)", &["Nat.exists_infinite_primes"]),
    (
        "α : Type u_1\nl m : List α\n⊢ Eq (List.length (List.reverse (HAppend.hAppend l m))) (HAdd.hAdd (List.length m) (List.length l))",
        &["List.length_reverse", "List.length_append", "Nat.add_comm"],
    ),
    (
        "α : Type u_1\nl m : List α\n⊢ Eq (List.reverse (List.reverse (HAppend.hAppend l m))) (HAppend.hAppend l m)",
        &["List.reverse_reverse"],
    ),
    (
        "α β : Type u_1\nf : α → β\nl m : List α\n⊢ Eq (List.length (List.map f (HAppend.hAppend l m))) (List.length (HAppend.hAppend l m))",
        &["List.length_map"],
    ),
    (
        "α : Type u_1\nx : α\ns t : List α\nh : Membership.mem s x\n⊢ Membership.mem (HAppend.hAppend t s) x",
        &["List.mem_append"],
    ),
    (
        "G : Type u_1\ninst✝ : Group G\na b : G\n⊢ Eq (Inv.inv (HMul.hMul a (Inv.inv b))) (HMul.hMul b (Inv.inv a))",
        &["mul_inv_rev", "inv_inv"],
    ),
    (
        "G : Type u_1\ninst✝ : Group G\na b : G\nh : Eq (HMul.hMul a b) 1\n⊢ Eq a (Inv.inv b)",
        &["eq_inv_of_mul_eq_one_left"],
    ),
    (
        "G : Type u_1\ninst✝ : Group G\na b c : G\nh : Eq (HMul.hMul a b) (HMul.hMul a c)\n⊢ Eq c b",
        &["mul_left_cancel"],
    ),
    (
        "α : Type u_1\nx : α\ns t : Set α\nh : Membership.mem (Inter.inter s t) x\n⊢ Membership.mem (Union.union t s) x",
        &["Set.mem_inter_iff", "Set.mem_union"],
    ),
    (
        "α : Type u_1\nr s t : Set α\nh : HasSubset.Subset r s\n⊢ HasSubset.Subset (Inter.inter r t) s",
        &["Set.Subset.trans", "Set.inter_subset_left"],
    ),
    ("p q : Prop\nh : And p q\n⊢ And q p", &["and_comm"]),
    ("p : Nat → Prop\nh : Not (∀ (n : Nat), p n)\n⊢ Exists fun n => Not (p n)", &["Classical.not_forall"]),
];

fn limits() -> Limits {
    Limits { bytes: 64 << 10, depth: 1_000, nodes: 4_096, treelets: 50_000 }
}

fn selector() -> LeanSelector {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/lean/library.jsonl");
    LeanSelector::new(LeanIndex::read(file, limits()).unwrap(), limits(), 1 << 20)
}

/// Which place each needed declaration has, the best being 1.
fn ranks(selector: &LeanSelector, reranker: Option<&JointReranker>) -> Vec<Vec<usize>> {
    let modules: Vec<usize> = (0..selector.index().modules().len()).collect();
    let of_goal = |(state, needed): &(&str, &[&str])| {
        let question = LeanQuery { state, modules: &modules, local: &[], new: &[] };
        let best = selector.best(reranker, &question, usize::MAX, &Cancel::never()).unwrap();
        assert_eq!(best.len(), selector.index().len(), "{state}");
        assert!(best.is_sorted_by(|a, b| a.score >= b.score));
        let place = |name: &&str| best.iter().position(|ranked| ranked.name == *name).unwrap() + 1;
        needed.iter().map(place).collect::<Vec<usize>>()
    };
    GOALS.iter().map(of_goal).collect()
}

fn found(ranks: &[Vec<usize>], within: usize) -> (usize, usize) {
    let all = ranks.iter().flatten();
    (all.clone().filter(|&&rank| rank <= within).count(), all.count())
}

#[test]
#[cfg(feature = "model-blend")]
fn what_goals_need_comes_first() {
    let selector = selector();
    let reranker = JointReranker::built_in(Compute::new(Precision::F32, 1)).unwrap();
    let check = |reranker: Option<&JointReranker>, expected: [usize; 3]| {
        let ranks = ranks(&selector, reranker);
        let found = [1, 3, 10].map(|within| found(&ranks, within).0);
        assert!(
            found.iter().zip(expected).all(|(&found, expected)| found >= expected),
            "{found:?} {ranks:?}"
        );
    };
    // Of 35, among the first one, three and ten.
    check(None, [15, 27, 34]);
    check(Some(&reranker), [17, 27, 34]);
}

#[test]
fn of_many_declarations_those_that_may_help_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.jsonl");
    let line = |i: usize| {
        let decl = format!("theorem t{i} (x : T{}) : Eq (f{i} (g{} x)) x", i % 10, i % 100);
        serde_json::json!({"module": format!("M{}", i % 3), "name": format!("t{i}"), "decl": decl})
            .to_string()
            + "\n"
    };
    std::fs::write(&file, (0..3 * FOUND).map(line).collect::<String>()).unwrap();
    let index = LeanIndex::read(&file.to_string_lossy(), limits()).unwrap();
    assert_eq!((index.len(), index.modules().len(), index.skipped()), (3 * FOUND, 3, (0, None)));
    let selector = LeanSelector::new(index, limits(), 1 << 16);
    let best = |modules: &[usize], local: &[usize]| {
        let state = "x : T3\n⊢ Eq (f4003 (g3 (f4004 x))) x";
        let question = LeanQuery { state, modules, local, new: &[("mine", "axiom mine : Eq (f4003 0) 0")] };
        let best = selector.best(None, &question, 32, &Cancel::never()).unwrap();
        best.into_iter().map(|ranked| ranked.name).collect::<Vec<_>>()
    };
    // `t4003` is of the module 1, `t4004` of the module 2.
    assert!(["t4003", "mine"].iter().all(|name| best(&[0, 1], &[]).contains(&(*name).to_owned())));
    assert!(!best(&[0, 1], &[]).contains(&"t4004".to_owned()));
    assert!(best(&[0, 1], &[4004, 9999]).contains(&"t4004".to_owned()));
    assert_eq!(best(&[], &[]), ["mine"]);
}

#[test]
fn a_goal_that_cannot_be_read_is_an_error_with_its_place() {
    let question = LeanQuery { state: "a : Nat\n⊢ (a", modules: &[], local: &[], new: &[] };
    let error = selector().best(None, &question, 4, &Cancel::never()).unwrap_err();
    assert!(error.to_string().starts_with("state:2:5: expected an operator or `)`"), "{error}");
}
