//! Lean 4: declarations and goals, as the clients of premise selectors print them.
//!
//! A declaration is `theorem Nat.add_comm (n m : Nat) : Eq (HAdd.hAdd n m) (HAdd.hAdd m n)`. Text that may precede it (a comment,
//! attributes, modifiers) or follow it (a proof, fields, constructors) is skipped. A goal is hypotheses and a conclusion, `n :
//! Nat`, `h : LT.lt 0 n`, `⊢ Ne n 0`, one per line; of several goals the first counts.
//!
//! The full form has prefix applications, `fun x => b`, `∀ x, b`, `a → b` and binders alone. The usual operators are
//! read, too, with Lean's precedences, and are the same terms: `a + b` is `HAdd.hAdd a b`. So are `@Eq T a b` and `Eq a
//! b`, `GT.gt a b` and `LT.lt b a`, `OfNat.ofNat 2` and `2`.
//!
//! Everything ends in the one syntax tree of this crate, under the names that HOL Light has for the connectives: `Eq`
//! and `Iff` are `=`, `And`, `Or`, `Not` are `/\`, `\/`, `~`, `Ne` is a negated equation, `Exists fun x => p` is `?x. p`.
//! Types are terms like any other:
//!
//! - `∀ (x : T), b` is `!x. (x : T) ==> b`, where `:` is a constant with two arguments; `∃ (x : T), b` is `?x. (x : T)
//!   /\ b`. Where `T` is plainly a proposition, such as `LT.lt 0 n`, it is itself what is supposed.
//! - A variable that does not occur in what it is bound in is none: `∀ (h : p), q` and `[h : p] → q` are `p → q`, and
//!   that is `p ==> q`, whether `p` is a proposition or not.
//! - A definition says that its name, applied to what stands in round brackets, has its type, and what it is equal to
//!   if that is written: `def double (n : Nat) : Nat := n + n`.
//! - `fun (x : T) => b` is `\x. fun T b`, and `let x := v; b` is `(\x. b) v`.
//! - Field notation is the function that it stands for: `as.length` is `List.length as` where `as : List α`. Of other terms
//!   the head tells (`List.map f as` most likely is a list); where it does not, `.length` is a symbol by itself.
//! - `{ a := x, b := y }` is `{a,b} x y`: its fields name it. `⋯`, a proof that the printer leaves out, is a hole, `_`.
//! - `match a with | p => b` is the constant `match`, applied to `a` and to a function of the variables of each pattern.
//! - `↑x` is `↑` applied to `x`, whatever it is coerced to; a symbol of notation that is not known is an operator.
//!
//! Universe levels are dropped. Not read: `do`, tactics, patterns in binders.
//!
//! ```
//! use formulanet_logic::{Interner, Limits, lean};
//! let mut names = Interner::new();
//! let text = "theorem lt_irrefl {n : Nat} (h : LT.lt n n) : False";
//! let lean::Declaration { name, formula } = lean::parse_declaration(text, Limits::default(), &mut names)?;
//! assert_eq!(name, "lt_irrefl");
//! let state = "n : ℕ\nh : n < n\n⊢ False";
//! assert_eq!(lean::parse_goal(state, Limits::default(), &mut names)?, formula);
//! # Ok::<(), formulanet_logic::ParseError>(())
//! ```

use crate::error::ParseError;
use crate::formula::Formula;
use crate::limits::Limits;
use crate::symbol::{Interner, Symbol};

use lex::{Kind, Tokens};
use lower::Lowering;
use preterm::{Binding, Term, Terms, Written};
use term::Machine;

mod lex;
mod lower;
mod operators;
mod preterm;
mod term;
#[cfg(test)]
mod tests;

/// A declaration that was read.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name; empty for an instance without a name.
    pub name: String,
    /// Its formula.
    pub formula: Formula,
}

/// Words that declare a proposition.
const STATEMENTS: [&str; 3] = ["theorem", "lemma", "axiom"];
/// Words that declare something else.
const OTHERS: [&str; 7] = ["def", "abbrev", "opaque", "instance", "structure", "class", "inductive"];
/// Words that may stand before these.
const MODIFIERS: [&str; 10] = [
    "private",
    "protected",
    "public",
    "noncomputable",
    "unsafe",
    "partial",
    "nonrec",
    "scoped",
    "local",
    "meta",
];

/// Reads a declaration.
///
/// # Errors
///
/// If it is none, with the place, or is above a limit.
pub fn parse_declaration(
    text: &str,
    limits: Limits,
    names: &mut Interner,
) -> Result<Declaration, ParseError> {
    declaration(&Tokens::new(text, limits)?, limits, names)
}

/// Reads a goal with its hypotheses.
///
/// # Errors
///
/// If it is none, with the place, or is above a limit.
pub fn parse_goal(text: &str, limits: Limits, names: &mut Interner) -> Result<Formula, ParseError> {
    goal(&Tokens::new(text, limits)?, false, limits, names)
}

/// Parses a goal and keeps only the names of unreadable hypotheses: the conclusion may still be clear.
///
/// # Errors
///
/// If the conclusion cannot be read, or all is above a limit.
pub fn parse_goal_leniently(text: &str, limits: Limits, names: &mut Interner) -> Result<Formula, ParseError> {
    goal(&Tokens::new(text, limits)?, true, limits, names)
}

/// Reads a declaration, a goal with `⊢`, or a proposition by itself. A hypothesis that cannot be read is left out.
///
/// # Errors
///
/// If it is none of them, with the place, or is above a limit.
pub fn parse(text: &str, limits: Limits, names: &mut Interner) -> Result<Formula, ParseError> {
    let tokens = Tokens::new(text, limits)?;
    let (first, second) = (tokens.word(tokens.get(0)), tokens.word(tokens.get(1)));
    let declares =
        |word: &str| STATEMENTS.contains(&word) || OTHERS.contains(&word) || MODIFIERS.contains(&word);
    if declares(first) || first == "@" && second == "[" {
        return Ok(declaration(&tokens, limits, names)?.formula);
    }
    if (0..tokens.len()).any(|number| tokens.word(tokens.get(number)) == "⊢") {
        return goal(&tokens, true, limits, names);
    }
    let mut terms = Terms::default();
    let mut machine = Machine::new(&tokens, (0, tokens.len()), limits, names, &mut terms);
    let term = machine.term()?;
    if machine.token().kind != Kind::End {
        return machine.unexpected("an operator or the end of the term");
    }
    Lowering::new(&mut terms, names, limits).run(term, &tokens)
}

fn declaration(tokens: &Tokens<'_>, limits: Limits, names: &mut Interner) -> Result<Declaration, ParseError> {
    let mut terms = Terms::default();
    let mut machine = Machine::new(tokens, (0, tokens.len()), limits, names, &mut terms);
    loop {
        match machine.word() {
            "@" => {
                machine.at += 1;
                if machine.word() != "[" {
                    return machine.unexpected("`[` after `@`");
                }
                machine.skip_group()?;
            }
            word if MODIFIERS.contains(&word) => machine.at += 1,
            _ => break,
        }
    }
    let word = machine.word();
    let is_statement = STATEMENTS.contains(&word);
    if !is_statement && !OTHERS.contains(&word) {
        return machine.unexpected(
            "`theorem`, `def`, `axiom`, `instance`, `class`, `structure`, `inductive` or `opaque`",
        );
    }
    machine.at += 1;
    if word == "class" && ["inductive", "abbrev"].contains(&machine.word()) {
        machine.at += 1;
    }
    let name = match machine.token().kind {
        Kind::Name => machine.word(),
        _ if word == "instance" => "",
        _ => return machine.unexpected(format!("a name after `{word}`")),
    };
    machine.at += usize::from(!name.is_empty());
    machine.signature()?;
    let bindings = std::mem::take(&mut machine.bindings);
    let typed = if machine.word() == ":" {
        machine.at += 1;
        Some(machine.term()?)
    } else {
        None
    };
    let is_defined = ["def", "abbrev"].contains(&word);
    let begins_term = |word: &str| !["by", "match", "do", "show"].contains(&word);
    let next = tokens.get(machine.at + 1);
    let value = if machine.word() == ":=" && is_defined && begins_term(tokens.word(next)) {
        machine.at += 1;
        Some(machine.term()?)
    } else {
        None
    };
    let ends = [":=", "|", "where", "extends", "deriving", "termination_by", "decreasing_by", "by"];
    if machine.token().kind != Kind::End && !ends.contains(&machine.word()) {
        return machine.unexpected("an operator, `:=`, `where` or the end of the declaration");
    }
    let said = match typed {
        Some(typed) if is_statement => typed,
        None if is_statement => return machine.unexpected("`:` and what the theorem says"),
        // What has no name is known by its type alone.
        Some(typed) if name.is_empty() => typed,
        _ => about(name, &bindings, (typed, value), machine.names, machine.terms),
    };
    let whole = terms.bind(preterm::Kind::Pi, &bindings, said);
    let formula = Lowering::new(&mut terms, names, limits).run(whole, tokens)?;
    Ok(Declaration { name: name.to_owned(), formula })
}

/// The formula of a definition: the type of its name, and what it equals.
fn about(
    name: &str,
    bindings: &[Binding],
    (typed, value): (Option<Written>, Option<Written>),
    names: &mut Interner,
    terms: &mut Terms,
) -> Written {
    let name = names.intern(name);
    let mut defined = terms.constant(name);
    for name in bindings.iter().filter(|binding| binding.is_explicit).filter_map(|binding| binding.name) {
        let argument = terms.add(Term::Name { name, is_explicit: false });
        defined = terms.apply(defined, argument);
    }
    let is_of = typed.map(|typed| terms.binary(names.intern(":"), defined, typed));
    let is_equal = value.map(|value| terms.binary(Symbol::EQUAL, defined, value));
    match (is_of, is_equal) {
        (Some(is_of), Some(is_equal)) => terms.binary(Symbol::AND, is_of, is_equal),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => defined,
    }
}

fn goal(
    tokens: &Tokens<'_>,
    is_lenient: bool,
    limits: Limits,
    names: &mut Interner,
) -> Result<Formula, ParseError> {
    let mut terms = Terms::default();
    let mut bindings = Vec::new();
    let mut at = 0;
    let whole = loop {
        // A hypothesis goes on in lines that are indented.
        let end =
            (at + 1..tokens.len()).find(|&number| tokens.get(number).begins_line).unwrap_or(tokens.len());
        let mut machine = Machine::new(tokens, (at, end), limits, names, &mut terms);
        match machine.word() {
            "" => return machine.unexpected("a hypothesis, or `⊢` and the goal"),
            "case" => {}
            "⊢" => {
                machine.at += 1;
                let said = machine.term()?;
                if machine.token().kind != Kind::End {
                    return machine.unexpected("an operator or the end of the goal");
                }
                break terms.bind(preterm::Kind::Pi, &bindings, said);
            }
            _ => match hypothesis(&mut machine, &mut bindings) {
                Err(error) if !is_lenient || error.limit.is_some() => return Err(error),
                _ => {}
            },
        }
        at = end;
    };
    Lowering::new(&mut terms, names, limits).run(whole, tokens)
}

/// Reads `x y : T` or `x : T := v`.
fn hypothesis(machine: &mut Machine<'_, '_>, bindings: &mut Vec<Binding>) -> Result<(), ParseError> {
    let first = bindings.len();
    while machine.token().kind == Kind::Name {
        let name = Some(machine.names.intern(machine.word()));
        bindings.push(Binding { name, typed: None, is_explicit: true });
        machine.at += 1;
    }
    if bindings.len() == first {
        return machine.unexpected("the name of a hypothesis, or `⊢` and the goal");
    }
    machine.expect(":", "`:` after the name of a hypothesis")?;
    let typed = machine.term()?;
    bindings[first..].iter_mut().for_each(|binding| binding.typed = Some(typed));
    if machine.word() == ":=" {
        machine.at += 1;
        let value = machine.term()?;
        if let Some(name) = bindings[first].name {
            let defined = machine.terms.add(Term::Name { name, is_explicit: false });
            let equation = machine.terms.binary(Symbol::EQUAL, defined, value);
            bindings.push(Binding { name: None, typed: Some(equation), is_explicit: true });
        }
    }
    match machine.token().kind {
        Kind::End => Ok(()),
        _ => machine.unexpected("an operator or the end of the hypothesis"),
    }
}
