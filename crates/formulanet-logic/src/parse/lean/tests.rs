use super::*;

mod hostile;
mod printed;
mod random;

/// The formula of a text in HOL Light's syntax, without the quotes that Lean's names have there.
fn shown(text: &str) -> String {
    let mut names = Interner::new();
    match parse(text, Limits::default(), &mut names) {
        Ok(formula) => formula.display(&names).to_string().replace("|- ", "").replace('\'', ""),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text}");
}

/// Two texts say the same.
#[track_caller]
fn check_same(one: &str, other: &str) {
    assert_eq!(shown(one), shown(other), "{one}\n{other}");
    assert!(parse(one, Limits::default(), &mut Interner::new()).is_ok(), "{}", shown(one));
}

#[test]
fn statements() {
    check("theorem t : True", "T");
    check("axiom a : Or False (Not p)", "(F \\/ (~ p))");
    check(
        "theorem Nat.le_of_lt {n m : Nat} (h : LT.lt n m) : LE.le n m",
        "(!n. (((: n) Nat) ==> (!m. (((: m) Nat) ==> (((LT.lt n) m) ==> ((LE.le n) m))))))",
    );
    check("axiom Classical.em (p : Prop) : Or p (Not p)", "(!p. (((: p) Prop) ==> (p \\/ (~ p))))");
    let plain = "theorem inv_self.{u} {α : Type u} [inst : Group α] (a : α) : Eq (HMul.hMul a (Inv.inv a)) 1";
    check_same(
        plain,
        &format!(
            "/-- The inverse /- twice -/ -/\n@[simp, to_additive (attr := simp)] private {plain} := by\n  simp"
        ),
    );
    check_same(plain, "lemma x {α : Type*} [Group.{u} α] (a : α) : a * a⁻¹ = 1");
    check_same(plain, "∀ {α : Type u} [inst : Group α] (a : α), Eq (HMul.hMul a (Inv.inv a)) 1");
    check_same("theorem t (a b : Nat) : p a b", "theorem t (a : Nat) (b : Nat) : p a b");
    check_same(
        "theorem t (a : Nat := 3) (h : p a := by simp [foo]) : q a",
        "theorem t (a : Nat) (h : p a) : q a",
    );
}

#[test]
fn definitions() {
    check(
        "def double (n : Nat) : Nat := HAdd.hAdd n n",
        "(!n. (((: n) Nat) ==> (((: (double n)) Nat) /\\ ((double n) = ((HAdd.hAdd n) n)))))",
    );
    check("opaque secret : Nat", "((: secret) Nat)");
    check("def two := 2", "(two = 2)");
    check("def two : Nat := by exact 2", "((: two) Nat)");
    check("def f : Nat → Nat\n  | 0 => 1\n  | n + 1 => f n", "((: f) (Nat ==> Nat))");
    check("structure Point where\n  x : Nat", "Point");
    check(
        "structure Prod (α : Type u) (β : Type v) : Type (max u v) where\n  fst : α",
        "(!α. (((: α) Type) ==> (!β. (((: β) Type) ==> ((: ((Prod α) β)) Type)))))",
    );
    check("class Monoid (α : Type u) extends Mul α where", "(!α. (((: α) Type) ==> (Monoid α)))");
    check("instance instAddNat : Add Nat := ⟨Nat.add⟩", "((: instAddNat) (Add Nat))");
    check("instance [h : Field K] : Ring K", "((Field K) ==> (Ring K))");
    // What is hidden is no argument of the name.
    check("def g {n : Nat} (k : Nat) : Nat", "(Nat ==> (!k. (((: k) Nat) ==> ((: (g k)) Nat))))");
}

#[test]
fn goals() {
    check_same("a b : Nat\nh : LT.lt a b\n⊢ Ne b 0", "theorem t (a b : Nat) (h : LT.lt a b) : Not (Eq b 0)");
    check_same(
        "case inl.h\nn✝ : ℕ\nh✝¹ :\n  0 <\n  n✝\n⊢ n✝ ≠\n  0\n\ncase inr\n⊢ False",
        "n✝ : Nat\nh : 0 < n✝\n⊢ ¬n✝ = 0",
    );
    check("x : Nat := 5\n⊢ p x", "(!x. (((: x) Nat) ==> ((x = 5) ==> (p x))))");
    check("⊢ p", "p");
    check("inst✝ : Group G\n⊢ p G", "((Group G) ==> (p G))");
}

#[test]
fn what_cannot_be_read_of_a_hypothesis_is_left_out_where_that_is_wanted() {
    let check = |text: &str, expected: &str| {
        let mut names = Interner::new();
        assert!(parse_goal(text, Limits::default(), &mut names).is_err(), "{text}");
        let read = |text: &str, names: &mut Interner| parse_goal_leniently(text, Limits::default(), names);
        assert_eq!(read(text, &mut names).unwrap(), read(expected, &mut names).unwrap(), "{text}");
    };
    check("n : Nat\nh : do\n  p\n⊢ q n", "n : Nat\n⊢ ∀ h, q n");
    check("x y : {z ∣∣ p}\n⊢ q x y", "⊢ ∀ x y, q x y");
    check(": p\n  q\n⊢ r", "⊢ r");
    let deep = format!("h : {}p\n⊢ q", "(".repeat(30_000));
    assert!(parse_goal_leniently(&deep, Limits::default(), &mut Interner::new()).is_err());
    assert!(parse_goal_leniently("h : p\n⊢ do x", Limits::default(), &mut Interner::new()).is_err());
}

#[test]
fn binders() {
    check("∀ x, p x", "(!x. (p x))");
    check("∀ x y : T, p x y", "(!x. (((: x) T) ==> (!y. (((: y) T) ==> ((p x) y)))))");
    check("∀ (h : And p q), r h.left h.2", "(!h. ((p /\\ q) ==> ((r (And.left h)) (And.right h))))");
    check("p → q → r", "(p ==> (q ==> r))");
    check_same("∀ (h : p), q", "p → q");
    check_same("[inst : C a] → {x : T} → q x", "∀ [C a] ⦃x : T⦄, q x");
    check_same("(x y : T) → q x y", "∀ (x : T) (y : T), q x y");
    check_same("forall x, exists y, p x y", "∀ x, ∃ y, p x y");
    check("∃ (x : T), p x", "(?x. (((: x) T) /\\ (p x)))");
    check_same("Exists fun (x : T) => p x", "∃ x : T, p x");
    check_same("@Exists T fun x => p x", "∃ x, p x");
    check("Exists p", "((?) p)");
    check("∃! x, p x", "(?!x. (p x))");
    check_same("∀ x ∈ s, p x", "∀ x, x ∈ s → p x");
    check_same("∃ y < n, p y", "∃ y, y < n ∧ p y");
    check("fun x (y : T) => f y x", "(\\x. (\\y. ((fun T) ((f y) x))))");
    check("fun _ => a", "(\\_. a)");
    check_same("fun z => f z", "λ z ↦ f z");
    check("let x : T := v; f x", "((\\x. ((fun T) (f x))) v)");
    check_same("have h := v; f h", "(fun h => f h) v");
    check("(∀ x, p x) ∧ q x", "((!x. (p x)) /\\ (q x))");
    check("∀ x, (∀ x, p x) ∧ q x", "(!x. ((!x. (p x)) /\\ (q x)))");
}

#[test]
fn applications() {
    check("f (g a) b", "((f (g a)) b)");
    check_same("(f a) b", "f a b");
    check("f (a).1 (g b).2.fst", "((f (.1 a)) (.fst (.2 (g b))))");
    check("f ⟨a, b⟩ () (a, b, c)", "(((f ((⟨⟩ a) b)) Unit.unit) ((Prod.mk a) ((Prod.mk b) c)))");
    check("f [] [1, 2]", "((f List.nil) ((List.cons 1) ((List.cons 2) List.nil)))");
    check("f (x := 3) _ ?m.12 ?_", "((((f 3) _) _) _)");
    check("f Type Prop (Type u) (Sort _) x", "(((((f Type) Prop) Type) Sort) x)");
    check("f fun x => g x", "(f (\\x. (g x)))");
    check("f \"a \\\" b\" 'c'", "((f \"a \\\\\" b\") \\c\\)");
    check("(f x : T)", "(f x)");
    check("(f (x) : T)", "(f x)");
    check("if h : c then a else b", "(((dite c) (\\h. a)) (\\h. b))");
    check_same("f <| g a", "f (g a)");
    check_same("a |> f", "f a");
    check("«a b».c x✝¹ x₁ x._@.Init._hyg.12", "(((«a b».c x✝¹) x₁) x._@.Init._hyg.12)");
    check("List.{u} α", "(List α)");
}

#[test]
fn notation() {
    check_same(
        "a + b * c ^ d ^ e - f",
        "HSub.hSub (HAdd.hAdd a (HMul.hMul b (HPow.hPow c (HPow.hPow d e)))) f",
    );
    check_same("a - b - c", "(a - b) - c");
    check_same("¬a = b ∧ c ∨ d → e ↔ f", "Iff (Or (And (Not (Eq a b)) c) d → e) f");
    check_same("a ∧ b ∧ c", "And a (And b c)");
    check_same("a ≥ b", "GE.ge a b");
    check_same("a > b", "LT.lt b a");
    check_same("@GT.gt Nat inst a b", "b < a");
    check_same("x ∈ s", "Membership.mem s x");
    check_same("x ∉ s", "¬x ∈ s");
    check_same("-a + b", "HAdd.hAdd (Neg.neg a) b");
    check_same("f a + -b", "HAdd.hAdd (f a) (Neg.neg b)");
    check_same("a ≠ ∅", "Not (Eq a EmptyCollection.emptyCollection)");
    check_same("α × β → γ", "Prod α β → γ");
    check_same("@HAdd.hAdd Nat Nat Nat inst 2 (@OfNat.ofNat Nat 3 inst)", "2 + OfNat.ofNat 3");
    check_same("x :: xs ++ ys", "HAppend.hAppend (List.cons x xs) ys");
    check_same("a <-> b /\\ c", "a ↔ b ∧ c");
    check_same("∀ x, x = a → p x ∧ q", "∀ x, ((x = a) → (p x ∧ q))");
    check_same("f ¬a", "f (¬a)");
}

#[test]
fn equality_of_propositions_is_marked() {
    use crate::problem::{NodeLabel, StatementBuilder};
    let labels = |text: &str| {
        let formula = parse(text, Limits::default(), &mut Interner::new()).unwrap();
        StatementBuilder::default().build(&formula).unwrap().view().labels().to_vec()
    };
    assert!(labels("Iff a b").contains(&(NodeLabel::Equivalence as u8)));
    assert!(labels("Eq a b").contains(&(NodeLabel::Equality as u8)));
}

#[test]
fn names_of_declarations() {
    let name = |text: &str| parse_declaration(text, Limits::default(), &mut Interner::new()).unwrap().name;
    assert_eq!(name("theorem Nat.«a b».c : p"), "Nat.«a b».c");
    assert_eq!(name("theorem foo.{u} : p"), "foo");
    assert_eq!(name("instance : Add Nat"), "");
}
