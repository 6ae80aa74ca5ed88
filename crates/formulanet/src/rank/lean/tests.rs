use super::*;
use crate::net::{Compute, Precision};

/// Goals, and the declarations of `fixtures/lean.jsonl` that they need.
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
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/lean.jsonl");
    LeanSelector::new(LeanIndex::read(file, limits()).unwrap(), limits(), 1 << 20)
}

/// Which place each needed declaration has, the best being 1.
fn ranks(selector: &LeanSelector, reading: Option<&Reading>) -> Vec<Vec<usize>> {
    let modules: Vec<usize> = (0..selector.index().modules().len()).collect();
    let of_goal = |(state, needed): &(&str, &[&str])| {
        let question = LeanQuestion { state, modules: &modules, local: &[], new: &[] };
        let best = selector.best(reading, &question, usize::MAX, &Pace::Free).unwrap();
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
#[cfg(feature = "shipped")]
fn experiment() {
    let selector = selector();
    let reading = Reading::shipped(Compute::new(Precision::F32, 1)).unwrap();
    let modules: Vec<usize> = (0..selector.index().modules().len()).collect();
    for weight in [0.0f32, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 1000.0] {
        let mut ranks = Vec::new();
        for (state, needed) in GOALS {
            let question = LeanQuestion { state, modules: &modules, local: &[], new: &[] };
            let plain = selector.best(None, &question, usize::MAX, &Pace::Free).unwrap();
            let read = selector.best(Some(&reading), &question, usize::MAX, &Pace::Free).unwrap();
            let odds = |p: f32| { let p = p.clamp(1e-6, 1.0 - 1e-6); (p / (1.0 - p)).ln() };
            let mut all: Vec<(f32, &str)> = plain.iter().map(|one| {
                let other = read.iter().find(|other| other.name == one.name).unwrap();
                (odds(one.score) + weight * odds(other.score), one.name.as_str())
            }).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            ranks.push(needed.iter().map(|n| all.iter().position(|a| a.1 == *n).unwrap() + 1).collect::<Vec<_>>());
        }
        let mrr: f32 = ranks.iter().map(|r| 1.0 / *r.iter().min().unwrap() as f32).sum::<f32>() / ranks.len() as f32;
        eprintln!("weight {weight}: {:?} {:?} {:?} {:?} mrr {mrr:.3}", found(&ranks, 1), found(&ranks, 2), found(&ranks, 3), found(&ranks, 5));
    }
}
