//! The operators of Lean that are read although the full form has none, with the heads that the full form has.

use crate::symbol::Symbol;

/// An operator between two terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Infix {
    /// How tightly it binds.
    pub(super) power: u8,
    /// How tightly what stands on its right has to bind.
    pub(super) right: u8,
    pub(super) meaning: Meaning,
}

/// The meaning of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// `a → b`
    Arrow,
    /// The head, applied to both.
    Head(&'static str),
    /// The head, applied to the right one first.
    Turned(&'static str),
    /// That it does not hold.
    Not(&'static str),
    /// The operator applied to the right operand first.
    NotTurned(&'static str),
    /// `f <| x`
    Apply,
    /// `x |> f`
    Pipe,
    /// The interval between both.
    Range,
    /// An operator that is not known here, by itself.
    Unknown(Symbol),
}

/// The operator that a symbol is between two terms.
pub(super) fn infix(symbol: &str) -> Option<Infix> {
    use Meaning::{Apply, Arrow, Head, Not, NotTurned, Pipe, Turned};
    let left = |power: u8, meaning| (power, power + 1, meaning);
    let right = |power: u8, meaning| (power, power, meaning);
    let (power, right, meaning) = match symbol {
        "→" | "->" => right(25, Arrow),
        "↔" | "<->" => left(20, Head("Iff")),
        "∧" | "/\\" => right(35, Head("And")),
        "∨" | "\\/" => right(30, Head("Or")),
        "=" => left(50, Head("Eq")),
        "≠" => left(50, Head("Ne")),
        "≤" | "<=" => left(50, Head("LE.le")),
        "<" => left(50, Head("LT.lt")),
        "≥" | ">=" => left(50, Turned("LE.le")),
        ">" => left(50, Turned("LT.lt")),
        "∈" => left(50, Turned("Membership.mem")),
        "∉" => left(50, NotTurned("Membership.mem")),
        "⊆" => left(50, Head("HasSubset.Subset")),
        "⊂" => left(50, Head("HasSSubset.SSubset")),
        "∣" => left(50, Head("Dvd.dvd")),
        "∤" => left(50, Not("Dvd.dvd")),
        "≈" => left(50, Head("HasEquiv.Equiv")),
        "≍" => left(50, Head("HEq")),
        "~" => left(50, Head("List.Perm")),
        "<+" => left(50, Head("List.Sublist")),
        "<+:" => left(50, Head("List.IsPrefix")),
        "<:+" => left(50, Head("List.IsSuffix")),
        "<:+:" => left(50, Head("List.IsInfix")),
        "==" => left(50, Head("BEq.beq")),
        "!=" => left(50, Head("bne")),
        "&&" => left(35, Head("and")),
        "||" => left(30, Head("or")),
        "^^" => left(33, Head("xor")),
        "|||" => left(55, Head("HOr.hOr")),
        "^^^" => left(58, Head("HXor.hXor")),
        "&&&" => left(60, Head("HAnd.hAnd")),
        "<<<" => left(75, Head("HShiftLeft.hShiftLeft")),
        ">>>" => left(75, Head("HShiftRight.hShiftRight")),
        "<$>" => right(100, Head("Functor.map")),
        "<*>" => left(60, Head("Seq.seq")),
        "<*" => left(60, Head("SeqLeft.seqLeft")),
        "*>" => left(60, Head("SeqRight.seqRight")),
        ">>=" => left(55, Head("Bind.bind")),
        "<|>" => right(20, Head("HOrElse.hOrElse")),
        "▸" => right(75, Head("▸")),
        "×" => right(35, Head("Prod")),
        "×'" => right(35, Head("PProd")),
        "⊕" => right(30, Head("Sum")),
        "≃" => left(25, Head("Equiv")),
        "+" => left(65, Head("HAdd.hAdd")),
        "-" => left(65, Head("HSub.hSub")),
        "++" => left(65, Head("HAppend.hAppend")),
        "∪" => left(65, Head("Union.union")),
        "::" => right(67, Head("List.cons")),
        "⊔" => left(68, Head("Max.max")),
        "⊓" => left(69, Head("Min.min")),
        "*" => left(70, Head("HMul.hMul")),
        "/" => left(70, Head("HDiv.hDiv")),
        "%" => left(70, Head("HMod.hMod")),
        "∩" => left(70, Head("Inter.inter")),
        "\\" => left(70, Head("SDiff.sdiff")),
        "•" => right(73, Head("HSMul.hSMul")),
        "^" => right(75, Head("HPow.hPow")),
        "∘" => right(90, Head("Function.comp")),
        "<|" | "$" => right(10, Apply),
        "|>" => left(10, Pipe),
        _ => return None,
    };
    Some(Infix { power, right, meaning })
}

/// The end of a range that has none: `*...n`.
pub(super) const UNBOUNDED: &str = "*";

/// Operators that bind so tightly that they take no arguments: `f ↑x y` has two.
pub(super) const TIGHTEST: u8 = 200;

/// An operator that binds tighter than application.
pub(super) fn tight(symbol: &str) -> Option<Infix> {
    let meaning = match symbol {
        "..." | "...=" | "<..." | "<...=" => Meaning::Range,
        "#" => Meaning::Turned("BitVec.ofNat"),
        "#'" => Meaning::Head("BitVec.ofNatLT"),
        _ => return None,
    };
    Some(Infix { power: TIGHTEST, right: TIGHTEST, meaning })
}

/// The head of a symbol before a term, and how tightly the term has to bind.
pub(super) fn prefix(symbol: &str) -> Option<(&'static str, u8)> {
    Some(match symbol {
        "¬" => ("Not", 40),
        "!" => ("not", 40),
        "-" => ("Neg.neg", 75),
        "~~~" => ("Complement.complement", 100),
        "↑" => ("↑", TIGHTEST),
        "⇑" => ("⇑", TIGHTEST),
        "↥" => ("↥", TIGHTEST),
        _ => return None,
    })
}

/// The constant that a symbol is by itself.
pub(super) fn constant(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "∅" => "EmptyCollection.emptyCollection",
        "⊤" => "Top.top",
        "⊥" => "Bot.bot",
        "·" | "⋯" => "_",
        "*" => UNBOUNDED,
        _ => return None,
    })
}

/// The head of a symbol that binds variables as `∀` does, such as the one of a sum, applied to a function.
pub(super) fn binding(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "Σ" => "Sigma",
        "Σ'" => "PSigma",
        "∑" => "Finset.sum",
        "∏" => "Finset.prod",
        "⋃" => "Set.iUnion",
        "⋂" => "Set.iInter",
        "⨆" => "iSup",
        "⨅" => "iInf",
        _ => return None,
    })
}

/// Whether a symbol that is not known here may be an operator: it is neither punctuation nor a bracket.
pub(super) fn may_be_infix(symbol: &str) -> bool {
    const OTHERS: &str = "λ∀∃ΠΣ∑∏⋃⋂⨆⨅⟨⟩⟪⟫⦃⦄⟦⟧⌊⌋⌈⌉‖¬↑⇑↥⋯·∅⊤⊥⊢‹›↦";
    symbol == "~" || symbol.chars().all(|c| !c.is_ascii() && !OTHERS.contains(c))
}

/// The full name of a type that has a letter of its own.
pub(super) fn full_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "ℕ" => "Nat",
        "ℤ" => "Int",
        "ℚ" => "Rat",
        "ℝ" => "Real",
        "ℂ" => "Complex",
        _ => return None,
    })
}

/// The number of a constant's arguments that the full form without `@` omits.
pub(super) fn hidden_arguments(name: &str) -> usize {
    match name {
        "Eq" | "Ne" | "Exists" | "ExistsUnique" => 1,
        "LE.le" | "LT.lt" | "GE.ge" | "GT.gt" | "Neg.neg" | "Inv.inv" | "Dvd.dvd" => 2,
        "Membership.mem" => 3,
        "HAdd.hAdd" | "HSub.hSub" | "HMul.hMul" | "HDiv.hDiv" | "HMod.hMod" | "HPow.hPow" => 4,
        _ => 0,
    }
}

/// Whether a constant of the library surely makes propositions.
pub(super) fn is_predicate(name: &str) -> bool {
    matches!(name, "LE.le" | "LT.lt" | "Membership.mem" | "HasSubset.Subset" | "Dvd.dvd" | "HEq")
}
