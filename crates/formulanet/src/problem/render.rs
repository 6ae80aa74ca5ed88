//! Problems with a selection of axioms, as text.

use crate::problem::{Item, Part};
use crate::{Hit, Problem};

impl Problem {
    /// The problem with some statements as its only axioms, by rank: declarations, statements that are kept, the hits, and the
    /// conjectures last. `considered` is the number of statements that they were selected from.
    pub fn reduced(&self, hits: &[Hit], considered: usize) -> String {
        self.reduced_with(hits, considered, |_| None)
    }

    /// Renders the problem with comments before axioms, by their rank from 0.
    pub fn reduced_with(
        &self,
        hits: &[Hit],
        considered: usize,
        comment: impl Fn(usize) -> Option<String>,
    ) -> String {
        let (count, version) = (hits.len(), env!("CARGO_PKG_VERSION"));
        let mut text = format!("% {count} of {considered} axioms, selected by formulanet {version}\n");
        let mut line = |statement: &str| {
            text.push_str(statement);
            text.push('\n');
        };
        let of = |part: Part| self.of(part).map(|item: &Item| item.text.as_str());
        of(Part::Declaration).chain(of(Part::Unreadable)).chain(of(Part::Included)).for_each(&mut line);
        for (rank, hit) in hits.iter().enumerate() {
            if let Some(comment) = comment(rank) {
                // A comment is one line, whatever is in a quoted name.
                line(&format!("% {}", comment.replace(|c: char| c.is_control(), " ")));
            }
            line(&as_axiom(hit));
        }
        of(Part::Conjecture).for_each(&mut line);
        text
    }
}

/// A statement as an axiom of a problem: the problem's own as they are written, those of a library with their names.
pub fn as_axiom(hit: &Hit) -> String {
    let statement = &hit.statement;
    match hit.local {
        Some(_) => statement.text.clone(),
        None => annotated(&statement.name, "axiom", &statement.text),
    }
}

/// A formula as a line of a problem. One that has a name and a role already gets these.
pub fn annotated(name: &str, role: &str, text: &str) -> String {
    let text = text.trim();
    let language = ["fof", "cnf", "tff", "thf"]
        .into_iter()
        .find(|&language| text.strip_prefix(language).is_some_and(|rest| rest.trim_start().starts_with('(')));
    let name = quoted(name);
    match language.and_then(|language| Some((language, after_role(text)?))) {
        Some((language, formula)) => format!("{language}({name}, {role}, {}", formula.trim_start()),
        None => format!("fof({name}, {role}, {}).", text.trim_end_matches('.')),
    }
}

/// Returns the text after name and role: after the second comma outside of quoted names.
fn after_role(text: &str) -> Option<&str> {
    let (mut is_quoted, mut is_escaped, mut commas) = (false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'\'' => is_quoted = !is_quoted,
            b',' if !is_quoted => commas += 1,
            _ => {}
        }
        if commas == 2 {
            return Some(&text[at + 1..]);
        }
    }
    None
}

/// A name as TPTP writes it: in quotes, unless it is a word or a number.
fn quoted(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_number =
        !name.is_empty() && !name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_word || is_number {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_a_name_and_a_role() {
        let check = |name: &str, text: &str, expected: &str| {
            assert_eq!(annotated(name, "axiom", text), expected, "{text}");
        };
        check("a", "p & q", "fof(a, axiom, p & q).");
        check("a", " p & q. ", "fof(a, axiom, p & q).");
        check("a", "fof(b, conjecture, p(c, d)).", "fof(a, axiom, p(c, d)).");
        check("a", "tff('b,c\\',', lemma, p(c, d), file(x, y)).", "tff(a, axiom, p(c, d), file(x, y)).");
        check("b", "fof (a , axiom , p ) .", "fof(b, axiom, p ) .");
        check("Nat.add'", "cnf(x, axiom, p).", "cnf('Nat.add\\'', axiom, p).");
        check("17", "p", "fof(17, axiom, p).");
        check("007", "p", "fof('007', axiom, p).");
        check("", "p", "fof('', axiom, p).");
        // A predicate that is called like a language is no language.
        check("a", "fof_like(x) => fof", "fof(a, axiom, fof_like(x) => fof).");
    }
}
