//! Statements as people read them on a terminal.

use console::{Term, measure_text_width, truncate_str};
use formulanet::logic::hol::{self, Overload};
use formulanet::logic::{Interner, Names};
use formulanet::{Language, Statement};

use crate::output::shown;

/// A statement in one line. What a program printed with all brackets is shown in infix; what people wrote stays.
pub(crate) fn statement(statement: &Statement, names: &Names) -> String {
    let text = statement.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_printed = statement.language != Language::Tptp && text.contains("((");
    is_printed.then(|| in_infix(&text, names)).flatten().unwrap_or(text)
}

fn in_infix(text: &str, names: &Names) -> Option<String> {
    let options =
        hol::Options { names: names.clone(), overload: Overload::Resolved, ..hol::Options::default() };
    let mut interner = Interner::new();
    let formula = hol::parse(text, &options, &mut interner).ok()?;
    let printed = formula.display(&interner).to_string();
    let is_printed = printed == text || printed.strip_prefix("|- ") == Some(text);
    is_printed.then(|| formula.pretty(&interner).to_string())
}

/// A line for people: control characters are shown as such, and it is cut to the width of the terminal, if that is where it
/// goes.
pub(crate) fn cut(line: &str) -> String {
    let line = &shown(line);
    let terminal = Term::stdout();
    match terminal.is_term().then(|| terminal.size_checked()).flatten() {
        Some((_, width)) if measure_text_width(line) > usize::from(width) => {
            truncate_str(line, usize::from(width), "…").into_owned()
        }
        _ => line.clone().into_owned(),
    }
}

/// How wide a column of names is that are aligned.
pub(crate) fn column<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(measure_text_width).max().unwrap_or(0).min(40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_print_is_shown_in_infix() {
        let check = |text: &str, syntax: Language, expected: &str| {
            let given = Statement { name: "a".to_owned(), text: text.to_owned(), language: syntax };
            assert_eq!(statement(&given, &Names::default()), expected);
        };
        check(
            "|- (!x. (((real_add (real_neg x)) x) = (real_of_num (NUMERAL _0))))",
            Language::Hol,
            "!x. --x + x = &0",
        );
        check("!m n.  m + n\n = n + m", Language::Hol, "!m n. m + n = n + m");
        // Brackets of people stay, and so does what cannot be read.
        check("((m + n)) = 0", Language::Hol, "((m + n)) = 0");
        check("((", Language::Hol, "((");
        check("fof(a, axiom, ((p))).", Language::Tptp, "fof(a, axiom, ((p))).");
    }
}
