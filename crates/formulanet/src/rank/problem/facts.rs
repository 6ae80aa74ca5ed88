//! A problem with the facts of a library among its axioms.

use super::super::candidates::{Candidates, Scores, Stored};
use super::super::intake::{Intake, Premise};
use super::super::pace::Pace;
use super::super::question::{Question, Wishes};
use super::super::ranker::Ranker;
use super::super::selection::Selection;
use super::{Item, MOST_CONJECTURES, Part, Problem};
use crate::Error;
use crate::model::encode::Encoded;
use crate::read::{Statement, Syntax};

/// What came of adding facts.
pub struct WithFacts {
    /// Scores of all axioms, those of the problem first.
    pub scores: Vec<f32>,
    /// Patterns of the selection that neither a fact nor an axiom fits.
    pub unmatched: Vec<String>,
}

impl Problem {
    /// Scores all axioms, and makes the best facts of a library axioms, too, if there is one. Where there are several
    /// conjectures, each axiom has the best of its scores. A fact that is called like an axiom is left out.
    ///
    /// # Errors
    ///
    /// If the library is not in TPTP's language or cannot be read, more must be in than may be, or the time is over.
    pub fn rank_axioms(
        &mut self,
        library: Option<(Stored<'_>, Syntax)>,
        ranker: &Ranker,
        wishes: &Wishes<'_>,
        selection: &Selection,
        pace: &Pace<'_>,
    ) -> Result<WithFacts, Error> {
        if library.as_ref().is_some_and(|(_, syntax)| *syntax != Syntax::Tptp) {
            let message = "expected one in TPTP's language, found one in HOL Light's: no prover reads both";
            return Err(Error::data("library", message));
        }
        let mut intake = Intake::new(ranker);
        let own: Result<Vec<Premise>, Error> = self
            .axioms
            .iter()
            .map(|&i| intake.take(&self.items[i].name, &self.items[i].text, Syntax::Tptp))
            .collect();
        let own = own?;
        let own_count = own.len();
        let mut candidates = Candidates::new(library.map(|(stored, _)| stored), own);
        let mut best: Option<Scores> = None;
        for conjecture in self.of(Part::Conjecture).take(MOST_CONJECTURES) {
            let mut question = Question::read(ranker, &conjecture.statement())?;
            let scores = candidates.rank(ranker, &mut question, wishes, pace)?;
            match &mut best {
                None => best = Some(scores),
                Some(best) => best.join(&scores),
            }
        }
        let Some(best) = best else { return Err(Error::NoStatements) };
        let (taken, marks) = candidates.select(selection, &best, pace)?;
        self.considered = best.scores.len();
        let first_own = best.scores.len() - own_count;
        let mut scores: Vec<f32> = best.scores[first_own..].iter().map(|score| score.max(0.0)).collect();
        for ranked in taken.iter().filter(|ranked| ranked.statement < first_own) {
            let Statement { name, text, syntax } = candidates.statement(ranked.statement)?;
            if syntax != Syntax::Tptp || self.axioms.iter().any(|&i| self.items[i].name == name) {
                continue;
            }
            let encoded = ranker.encode(&Statement { name: name.clone(), text: text.clone(), syntax });
            self.axioms.push(self.items.len());
            self.items.push(Item {
                part: Part::Axiom,
                role: "axiom".to_owned(),
                text: annotated(&name, "axiom", &text),
                name,
                encoded: encoded.unwrap_or_else(|_| Encoded::default()),
            });
            scores.push(ranked.score);
        }
        Ok(WithFacts { scores, unmatched: marks.unmatched })
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

/// What comes behind name and role: after the second comma that is not in a quoted name.
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
