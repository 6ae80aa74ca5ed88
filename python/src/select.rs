//! A TPTP problem with the best axioms alone: what `formulanet select` does.

use formulanet::Error;
use formulanet::model::shipped;
use formulanet::rank::{Pace, Problem, Ranked, Selection, Stored, Wishes};
use formulanet::read::{Source, Syntax};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::input::digits;
use crate::interrupt::{OnInterrupt, interruptible};
use crate::library::Library;
use crate::rank::{Choice, Reader, Taken};

/// What is asked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    /// The problem's file, or what messages call its text.
    file: String,
    /// The problem, if it is not in a file.
    text: Option<String>,
    library: Option<Py<Library>>,
    /// Roles that are kept; `None` for the usual ones.
    keep: Option<Vec<String>>,
    no_names: bool,
    explain: bool,
    taken: Taken,
    choice: Choice,
}

/// Name, score, statement; symbols in common with the conjecture, and symbols that the model does not know.
type Row = (String, f64, String, Option<Vec<String>>, Option<Vec<String>>);

/// What is answered.
#[derive(IntoPyObject)]
pub(crate) struct Answer {
    text: String,
    conjectures: Vec<String>,
    rows: Vec<Row>,
    warnings: Vec<String>,
    /// Names and patterns that no axiom fits.
    unmatched: Vec<String>,
}

#[pyfunction]
pub(crate) fn select(py: Python<'_>, asked: Asked) -> PyResult<Answer> {
    let Asked { file, text, library, keep, no_names, explain, taken, choice } = asked;
    if no_names && (library.is_some() || choice.is_given()) {
        return Err(refused(
            py,
            "`no_names` looks at statements alone: leave `library`, `model` and `read` out",
        ));
    }
    let choice = choice.chosen(py)?;
    let library = library.map(|library| library.get().clone());
    let selection = taken.selection();
    interruptible(py, OnInterrupt::Leave, move |_| {
        let contents = library.as_ref().map(Library::contents).transpose()?;
        let with = library.as_ref().zip(contents.as_ref());
        let reads = no_names || shipped::reads(Syntax::Tptp);
        let (model, together) = choice.selector(shipped::for_syntax(Syntax::Tptp), with, reads)?;
        let ranker = model.ranker()?;
        let source = match text {
            Some(text) => Source::text(&file, text),
            None => Source::open(&file)?,
        };
        let usual = ["hypothesis", "assumption"].map(str::to_owned);
        let mut problem = Problem::read(source, ranker, keep.as_deref().unwrap_or(&usual))?;
        let mut warnings = Vec::new();
        for role in keep.iter().flatten().filter(|role| !problem.has_role(role)) {
            warnings.push(format!("no statement has the role `{role}`"));
        }
        let known = problem.knowledge(ranker);
        if known.is_little() && !no_names && library.is_none() {
            let (known, of) = (known.known, known.of);
            warnings.push(format!(
                "the model knows {known} of the {of} symbols of `{file}`; try `no_names=True`, or a library with proofs"
            ));
        }
        let reading = together.as_ref().map(Reader::reading).transpose()?.flatten();
        let mut unmatched = None;
        let mut scores = match &contents {
            Some(contents) => {
                let wishes = Wishes { reading, ..Wishes::default() };
                let from = (Stored::InMemory(&contents.shelf), contents.shelf.syntax);
                let found = problem.rank_axioms(Some(from), ranker, &wishes, &selection, &Pace::Free)?;
                unmatched = Some(found.unmatched);
                found.scores
            }
            None if no_names => problem.nameless_scores(ranker, reading, &Pace::Free)?,
            None => problem.scores(ranker),
        };
        if let (Some(reading), None, false) = (reading, &contents, no_names) {
            problem.rescore(reading, ranker, &mut scores)?;
        }
        answer(&problem, &scores, &selection, explain.then_some(ranker)).map(|found| Answer {
            unmatched: unmatched.unwrap_or(found.unmatched),
            warnings,
            ..found
        })
    })
}

fn answer(
    problem: &Problem,
    scores: &[f32],
    selection: &Selection,
    explains: Option<&formulanet::Ranker>,
) -> Result<Answer, Error> {
    let name = |i: usize| problem.axiom_name(i);
    let marks = selection.marks(scores.len(), name, &Pace::Free)?;
    let taken = selection.pick_marked(scores, name, &marks)?;
    let reasons = explains.map(|ranker| problem.reasons(&taken, ranker));
    let row = |(rank, &Ranked { statement, score }): (usize, &Ranked)| {
        let reasons = reasons.as_ref().map(|reasons| &reasons[rank]);
        let shared = reasons.map(|reasons| reasons.shared.clone());
        let unknown = reasons.map(|reasons| reasons.unknown.clone());
        (name(statement).to_owned(), digits(score), problem.axiom_text(statement).to_owned(), shared, unknown)
    };
    Ok(Answer {
        text: problem.reduced(&taken),
        conjectures: problem.conjecture_names().into_iter().map(str::to_owned).collect(),
        rows: taken.iter().enumerate().map(row).collect(),
        warnings: Vec::new(),
        unmatched: marks.unmatched,
    })
}
