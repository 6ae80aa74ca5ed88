//! Statements in the form in which Lean 4.28 prints them.

use super::*;

#[test]
fn fields_of_what_is_bound_with_a_type() {
    check_same(
        "theorem t {α : Type u} (as : List α) (b : Array α) : Eq as.length b.size",
        "theorem t {α : Type u} (as : List α) (b : Array α) : Eq (List.length as) (Array.size b)",
    );
    check_same("n : ℕ\n⊢ n.succ.pred = n", "n : Nat\n⊢ Nat.pred (Nat.succ n) = n");
    check_same(
        "∀ (p : Prod A (List B)), q p.snd.head p.1",
        "∀ (p : Prod A (List B)), q (List.head (Prod.snd p)) (Prod.fst p)",
    );
    check_same("∀ (h : a ↔ b), q (h.mp x) h.2", "∀ (h : Iff a b), q (Iff.mp h x) (Iff.mpr h)");
    check_same("∀ (h : m < n), q h.le", "∀ (h : LT.lt m n), q (LT.lt.le h)");
    check_same("∀ (h : ∃ x, p x), q h.choose", "∀ (h : ∃ x, p x), q (Exists.choose h)");
    check_same("let x : T := v; f x.a", "let x : T := v; f (T.a x)");
    // The types of functions tell what they return.
    check_same(
        "∀ (f : Nat → {i : Nat} → Array T), (f 3).size = 0",
        "∀ (f : Nat → {i : Nat} → Array T), Array.size (f 3) = 0",
    );
    // Of a type that is a variable, nothing is known.
    check(
        "∀ (α : Type) (x : α), x.size = 0",
        "(!α. (((: α) Type) ==> (!x. (((: x) α) ==> ((.size x) = 0)))))",
    );
    check("∀ x, p x.size", "(!x. (p (.size x)))");
    // What is hidden by another variable of the same name has that one's type.
    check_same("∀ (x : A), p x.f ∧ ∀ (x : B), p x.f", "∀ (x : A), p (A.f x) ∧ ∀ (x : B), p (B.f x)");
    check_same("∀ («a b» : Nat), p «a b».«c d»", "∀ («a b» : Nat), p (Nat.«c d» «a b»)");
}

#[test]
fn fields_of_other_terms() {
    check_same("∀ (m n : Nat), (m + n).succ = n", "∀ (m n : Nat), Nat.succ (m + n) = n");
    check_same("(List.map f as).length", "List.length (List.map f as)");
    check_same("(as.map f).toArray.size", "Array.size (as.map f).toArray");
    check_same("(Array.find? p as).isSome", "Option.isSome (Array.find? p as)");
    check_same("∀ (as : List (Option T)), as[0].get", "∀ (as : List (Option T)), Option.get (as[0])");
    check_same("(ite c (List.cons a b) d).length", "List.length (ite c (List.cons a b) d)");
    check_same("\"a\".length", "String.length \"a\"");
    check_same("(2 * Nat.pred n).succ", "Nat.succ (2 * Nat.pred n)");
    check("(f x).length", "(.length (f x))");
    check("(f x).toThing.length", "(.length (.toThing (f x)))");
}

#[test]
fn proofs_that_are_left_out_and_coercions() {
    check("Eq (Fin.mk i ⋯) j", "(((Fin.mk i) _) = j)");
    check_same("Eq (xs.get ⟨i, ⋯⟩) ((f ⋯).1 ⋯)", "Eq (xs.get ⟨i, _⟩) ((f _).1 _)");
    check("have h := ⋯; p", "((\\h. p) _)");
    check("f ↑x y", "(((f) (↑ x)) y)".replace("((f) ", "(f ").as_str());
    check_same("HAdd.hAdd (↑b) 1", "↑b + 1");
    check_same("↑x.val + ↑↑y", "↑(x.val) + ↑(↑y)");
    check("⇑f x", "((⇑ f) x)");
}

#[test]
fn binders_without_types() {
    check_same("fun {x} y => f x y", "fun x y => f x y");
    check_same("fun ⦃x⦄ => g x", "fun x => g x");
    check_same("∀ {x y}, p x y", "∀ x y, p x y");
    check("fun [C α] x => x", "(\\_. ((fun (C α)) (\\x. x)))");
    check_same("f fun {β} x => x.run", "f (fun {β} (x) => x.run)");
    check_same("∀ ⦃x : T⦄ {y}, p x y", "∀ (x : T) y, p x y");
}

#[test]
fn braces() {
    check("{ lower := m, upper := n + 1 }", "(({lower,upper} m) ((HAdd.hAdd n) 1))");
    check_same("m...n + 1", "{ lower := m, upper := n } + 1");
    check_same("f *...=n x...*", "f { upper := n } { lower := x }");
    check_same("{ num, den }", "{ num := num, den := den }");
    check("{ x with a := b }", "(({..,a} x) b)");
    check("f { } {}", "((f {}) {})");
    check_same("{ x // p x }", "Subtype fun x => p x");
    check_same("f { x : T // p x }", "f (Subtype fun (x : T) => p x)");
    check_same("{x | p x}", "setOf fun x => p x");
    check_same("{a, b}", "Insert.insert a (Singleton.singleton b)");
    check_same("{f a}", "Singleton.singleton (f a)");
}

#[test]
fn matches() {
    check(
        "match xs with\n  | [] => 0\n  | x :: ys => f x ys",
        "(((match xs) ((=> List.nil) 0)) (\\x. (\\ys. ((=> ((List.cons x) ys)) ((f x) ys)))))",
    );
    check_same(
        "match n, h : m with | n.succ, none => g n | _, some m => m",
        "match n, m with | n.succ, none => g n | _, some m => m",
    );
    check_same("(match n with | 0 => a | n => b) = c", "Eq (match n with | 0 => a | n => b) c");
    check("match x with", "(match x)");
    check_same("match (motive := Nat → T) x with | y => f y", "match x with | y => f y");
}

#[test]
fn more_notation() {
    check_same("xs[i]? = some xs[j]", "GetElem?.getElem? xs i = some (GetElem.getElem xs j _)");
    check_same("f xs[i]! (g x)[0]'h", "f (GetElem?.getElem! xs i) (GetElem.getElem (g x) 0 _)");
    check_same("#[a, b]", "List.toArray [a, b]");
    check_same("x &&& y ||| z <<< 1", "HOr.hOr (HAnd.hAnd x y) (HShiftLeft.hShiftLeft z 1)");
    check_same("-0#w = 0#w", "Neg.neg (BitVec.ofNat w 0) = BitVec.ofNat w 0");
    check_same("bif b then x else y", "cond b x y");
    check_same("a <+: b ∧ c ~ d", "List.IsPrefix a b ∧ List.Perm c d");
    check_same("if h : p then f h else g h", "dite p (fun h => f h) fun h => g h");
    check_same("(x : A) × B x", "Sigma fun (x : A) => B x");
    check_same("∑ x ∈ s, f x", "Finset.sum fun x => fun (_ : x ∈ s) => f x");
    // An operator of some other library is one, whatever it means.
    check("f a ⊗ g b = c", "(((⊗ (f a)) (g b)) = c)");
    check("a ⟶ b", "((⟶ a) b)");
}
