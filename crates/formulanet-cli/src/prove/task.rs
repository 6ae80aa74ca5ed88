//! A problem to prove: its statements, and the orders in which its axioms are tried.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use formulanet::logic::tptp::Language;
use formulanet::logic::{Interner, Limits};
use formulanet::read::Source;

use super::languages;
use super::languages::Languages;
use super::tokens::{is_plain_word, tokens};

/// Prefix of the tags that replace names.
const TAG: &str = "formulanet_name_";

/// The role of a statement in a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The declaration of a type or a logic.
    Declaration,
    /// A conjecture, a negated conjecture or a question.
    Goal,
    /// A hypothesis or an assumption: every attempt has it.
    Kept,
    /// A statement that is selected or left out.
    Axiom,
}

/// A statement of a problem.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) part: Part,
    pub(crate) name: String,
    pub(crate) role: String,
    /// Statement as it is written, from `fof` to the dot.
    pub(crate) text: String,
    /// File that contains it.
    pub(crate) file: Arc<str>,
    /// Name in texts for provers: unique, and a word that no prover changes.
    tag: String,
}

/// A problem to prove.
#[derive(Debug)]
pub(crate) struct Task {
    /// Number among the tasks of this process.
    number: usize,
    /// Name that the user gave it.
    pub(crate) name: String,
    statements: Vec<Statement>,
    /// Numbers of the statements that are axioms.
    axioms: Vec<usize>,
    tags: HashMap<String, usize>,
    languages: Languages,
    /// Orders of axioms, best first, by their numbers among axioms.
    pub(crate) orders: Vec<Vec<usize>>,
    /// Limits that it was read with.
    limits: Limits,
    /// Whether all axioms are present: only then a counter-model refutes the conjecture.
    pub(crate) is_complete: bool,
}

impl Task {
    /// Reads a problem with its includes. Its axioms are in the order of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, with the place.
    pub(crate) fn read(name: &str, source: Source, limits: Limits) -> Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mut task = Task {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            name: name.to_owned(),
            statements: Vec::new(),
            axioms: Vec::new(),
            tags: HashMap::new(),
            languages: Languages::default(),
            orders: Vec::new(),
            limits,
            is_complete: true,
        };
        let (mut reader, mut names) = (source.problem(limits)?, Interner::new());
        let mut files: HashSet<Arc<str>> = HashSet::new();
        while let Some(next) = reader.next(&mut names)? {
            let part = match next.annotated.role.as_str() {
                _ if next.annotated.formula.is_none() => Part::Declaration,
                "conjecture" | "negated_conjecture" | "question" => Part::Goal,
                "hypothesis" | "assumption" => Part::Kept,
                _ => Part::Axiom,
            };
            let file = files.get(next.file).map_or_else(|| Arc::from(next.file), Arc::clone);
            files.insert(Arc::clone(&file));
            let (name, role) = (next.annotated.name.clone(), next.annotated.role.clone());
            task.push(part, (name, role), next.text.to_owned(), (file, next.annotated.language));
        }
        task.orders = vec![(0..task.axioms.len()).collect()];
        Ok(task)
    }

    fn push(
        &mut self,
        part: Part,
        (name, role): (String, String),
        text: String,
        (file, language): (Arc<str>, Language),
    ) {
        let number = self.statements.len();
        let is_taken = !is_plain_word(&name) || is_made_up(&name) || self.tags.contains_key(&name);
        let mut tag = if is_taken { format!("{TAG}{number}") } else { name.clone() };
        while self.tags.contains_key(&tag) {
            tag.push('_');
        }
        self.tags.insert(tag.clone(), number);
        self.languages.add(languages::of(language, &text));
        if part == Part::Axiom {
            self.axioms.push(number);
        }
        self.statements.push(Statement { part, name, role, text, file, tag });
    }

    /// Adds an axiom from elsewhere.
    pub(crate) fn push_axiom(&mut self, name: &str, text: String, file: &Arc<str>) {
        let language = Language::ALL.into_iter().find(|(word, _)| text.starts_with(word));
        let language = language.map_or(Language::Fof, |(_, language)| language);
        self.push(Part::Axiom, (name.to_owned(), "axiom".to_owned()), text, (Arc::clone(file), language));
    }

    /// Returns its number among the tasks of this process, for names of files.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Returns the limits that it was read with.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns all statements.
    pub(crate) fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Returns the goals, in the order of the file.
    pub(crate) fn goals(&self) -> impl Iterator<Item = &Statement> {
        self.of(Part::Goal)
    }

    /// Returns the number of axioms.
    pub(crate) fn axiom_count(&self) -> usize {
        self.axioms.len()
    }

    /// Returns an axiom by its number.
    pub(crate) fn axiom(&self, number: usize) -> &Statement {
        &self.statements[self.axioms[number]]
    }

    /// Whether a statement has the role `conjecture` or `question`.
    pub(crate) fn has_conjecture(&self) -> bool {
        self.goals().any(|goal| goal.role != "negated_conjecture")
    }

    /// Returns the parts of TPTP that a prover has to read.
    pub(crate) fn languages(&self) -> Languages {
        self.languages
    }

    /// Returns the statement that a tag stands for.
    pub(crate) fn tagged(&self, tag: &str) -> Option<&Statement> {
        self.tags.get(tag).map(|&number| &self.statements[number])
    }

    /// Returns the number of the axiom that a tag stands for; `None` for other statements.
    pub(crate) fn axiom_tagged(&self, tag: &str) -> Option<usize> {
        self.axioms.binary_search(self.tags.get(tag)?).ok()
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(move |statement| statement.part == part)
    }

    /// Returns the problem with some of its axioms, for a prover: every statement under its tag, the
    /// conjecture last.
    pub(crate) fn reduced(&self, axioms: &[usize]) -> String {
        let mut text = String::new();
        let declared = self.of(Part::Declaration).chain(self.of(Part::Kept));
        let axioms = axioms.iter().map(|&number| self.axiom(number));
        for statement in declared.chain(axioms).chain(self.goals()) {
            statement.write(&mut text);
        }
        text
    }
}

impl Statement {
    /// Writes the statement with its tag as its name.
    fn write(&self, out: &mut String) {
        if self.tag == self.name {
            out.push_str(&self.text);
        } else {
            let mut is_inside = false;
            let mut is_written = false;
            for token in tokens(&self.text) {
                let is_name = is_inside && !is_written && !is_blank(token);
                is_inside |= token == "(";
                is_written |= is_name;
                out.push_str(if is_name { &self.tag } else { token });
            }
        }
        out.push('\n');
    }

    /// Whether its tag differs from its name.
    pub(crate) fn is_renamed(&self) -> bool {
        self.tag != self.name
    }
}

/// Whether a token is space or a comment.
fn is_blank(token: &str) -> bool {
    token.starts_with(char::is_whitespace) || token.starts_with(['%', '#']) || token.starts_with("/*")
}

/// Whether provers give such names to their own formulas: `c_0_12`, `f7`, `i_0_3`.
fn is_made_up(name: &str) -> bool {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = first.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_short = first.len() - digits.len() <= 2;
    name.len() > 1
        && is_short
        && (digits.is_empty() || is_number(digits))
        && parts.all(is_number)
        && name != first.trim_end_matches(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(text: &str) -> Task {
        Task::read("p", Source::text("p", text), Limits::default()).unwrap()
    }

    #[test]
    fn a_prover_sees_names_that_it_cannot_mistake() {
        let task = task(
            "fof(plain, axiom, p).\nfof('two words', axiom, q).\nfof(plain, lemma, r).\nfof( % a comment\n  17, hypothesis, s).\n\
             fof(c_0_1, axiom, t).\nfof(goal, conjecture, p).",
        );
        let text = task.reduced(&[1, 0, 2, 3]);
        assert_eq!(
            text,
            "fof( % a comment\n  formulanet_name_3, hypothesis, s).\nfof(formulanet_name_1, axiom, q).\nfof(plain, axiom, p).\n\
             fof(formulanet_name_2, lemma, r).\nfof(formulanet_name_4, axiom, t).\nfof(goal, conjecture, p).\n"
        );
        assert_eq!(task.tagged("formulanet_name_2").unwrap().name, "plain");
        assert_eq!((task.axiom_tagged("formulanet_name_2"), task.axiom_tagged("goal")), (Some(2), None));
        assert!(task.has_conjecture() && task.axiom_count() == 4);
    }

    #[test]
    fn names_of_provers_are_told() {
        for name in ["c_0_12", "f7", "i_0_3", "u12"] {
            assert!(is_made_up(name), "{name}");
        }
        for name in ["f", "t12_xboole_0", "and", "subset_definition", "axiom1", "x_y"] {
            assert!(!is_made_up(name), "{name}");
        }
    }
}
