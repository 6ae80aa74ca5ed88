//! Which statements are worth using for a conjecture: what `formulanet rank` does.

use std::sync::Arc;

use formulanet::Error;
use formulanet::logic::Interner;
use formulanet::rank::{
    Candidates, Intake, Languages, Order, Pace, Question, Ranked, Selection, Stored, Wishes,
};
use formulanet::read::{Format, Statement, Syntax};
use pyo3::prelude::*;

use crate::errors::refused;
use crate::input::{Part, Reading, digits, maybe_one_of, one_of, open, read_all};
use crate::interrupt::{OnInterrupt, interruptible};
use crate::library::{Contents, Library};
use crate::models::{Kind, Loaded, Model};

/// Which statements are taken.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Taken {
    k: usize,
    threshold: f32,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Taken {
    pub(crate) fn selection(self) -> Selection {
        let Taken { k, threshold, include, exclude } = self;
        Selection { most: k, threshold, include, exclude }
    }
}

/// Which models rank and read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Choice {
    model: Option<Py<Model>>,
    read: Option<bool>,
    reader: Option<Py<Model>>,
}

/// The same, away from the interpreter.
pub(crate) struct Chosen {
    model: Option<Arc<Loaded>>,
    read: Option<bool>,
    reader: Option<Arc<Loaded>>,
}

/// What reads the best statements together with the conjecture.
pub(crate) enum Reader {
    Loaded(Arc<Loaded>),
    /// The one that was fitted to a library.
    Fitted(Arc<Contents>),
}

impl Choice {
    /// Whether anything was chosen.
    pub(crate) fn is_given(&self) -> bool {
        self.model.is_some() || self.read.is_some() || self.reader.is_some()
    }

    /// Refuses choices that contradict each other.
    pub(crate) fn chosen(self, py: Python<'_>) -> PyResult<Chosen> {
        let loaded = |model: Option<Py<Model>>| model.map(|model| Arc::clone(&model.get().0));
        let Choice { model, read, reader } = self;
        let chosen = Chosen { model: loaded(model), read, reader: loaded(reader) };
        let is_together = chosen.model.as_ref().is_some_and(|model| matches!(model.kind, Kind::Together(..)));
        if chosen.reader.is_some() && chosen.read == Some(false) {
            return Err(refused(py, "expected `read=False` or a `reader`, found both"));
        }
        if is_together && (chosen.read.is_some() || chosen.reader.is_some()) {
            return Err(refused(
                py,
                "a `model` that reads statements together needs neither `read` nor `reader`",
            ));
        }
        Ok(chosen)
    }
}

impl Chosen {
    /// What ranks and what then reads the best together. The given model does one of the two; a default, or the model that
    /// made a library, the other.
    pub(crate) fn selector(
        self,
        default: &str,
        library: Option<(&Library, &Arc<Contents>)>,
        reads_usually: bool,
    ) -> Result<(Arc<Loaded>, Option<Reader>), Error> {
        let usual = || match library {
            Some((library, _)) => library.model(),
            None => Loaded::named(default),
        };
        let (ranker, given) = match self.model {
            Some(model) if matches!(model.kind, Kind::Together(..)) => (usual()?, Some(model)),
            Some(model) => (model, None),
            None => (usual()?, None),
        };
        if let Some((library, _)) = library {
            library.check(ranker.ranker()?)?;
        }
        let reader = match (given.or(self.reader), library) {
            (Some(model), _) => Some(Reader::Loaded(model)),
            (None, _) if !self.read.unwrap_or(reads_usually) => None,
            (None, Some((_, contents))) if contents.reading.is_some() => {
                Some(Reader::Fitted(Arc::clone(contents)))
            }
            (None, _) => Some(Reader::Loaded(Loaded::named("reader")?)),
        };
        Ok((ranker, reader))
    }
}

impl Reader {
    pub(crate) fn reading(&self) -> Result<Option<&formulanet::rank::Reading>, Error> {
        match self {
            Reader::Loaded(model) => model.reading().map(Some),
            Reader::Fitted(contents) => Ok(contents.reading.as_ref()),
        }
    }
}

/// What is asked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    conjecture: Option<String>,
    /// A statement of the library instead of a conjecture.
    name: Option<String>,
    /// What comes with the question.
    parts: Vec<Part>,
    input_format: Option<String>,
    library: Option<Py<Library>>,
    before: Option<String>,
    modules: Vec<String>,
    keep_goal: bool,
    order: String,
    explain: bool,
    taken: Taken,
    choice: Choice,
    reading: Reading,
}

/// Name, score, statement, syntax; symbols that the model does not know, and the score without the conjecture.
pub(crate) type Row = (String, f64, String, &'static str, Option<Vec<String>>, Option<f64>);

/// What is answered.
#[derive(IntoPyObject)]
pub(crate) struct Answer {
    rows: Vec<Row>,
    /// Symbols of the conjecture that the model does not know.
    unknown: Vec<String>,
    /// Names and patterns that no statement fits.
    unmatched: Vec<String>,
}

#[pyfunction]
pub(crate) fn rank(py: Python<'_>, asked: Asked) -> PyResult<Answer> {
    let Asked { conjecture, name, parts, input_format, library, before, modules, keep_goal, .. } = asked;
    let format = maybe_one_of(py, &Format::ALL, "input_format", input_format.as_deref())?;
    let order = one_of(py, &Order::ALL, "order", &asked.order)?;
    let (reader, choice) = (asked.reading.understood(py)?, asked.choice.chosen(py)?);
    let (explain, selection) = (asked.explain, asked.taken.selection());
    let library = library.map(|library| library.get().clone());
    interruptible(py, OnInterrupt::Leave, move |stop| {
        let contents = library.as_ref().map(Library::contents).transpose()?;
        let parts = open(parts, format)?;
        let own = parts.first().map(|part| part.syntax(reader.syntax));
        let stored = contents.as_ref().map(|contents| contents.shelf.syntax);
        let languages = Languages::decide(reader.syntax, own, stored);
        let has_proofs = contents.as_ref().is_some_and(|contents| contents.shelf.learned.is_some());
        let with = library.as_ref().zip(contents.as_ref());
        let (model, together) = choice.selector(languages.model(), with, has_proofs || languages.reads())?;
        let ranker = model.ranker()?;
        let intake = Intake::new(ranker);
        let intake = if has_proofs { intake } else { intake.without_features() };
        let own = read_all(intake, parts, reader.syntax, stop)?;
        let mut question = match (&name, &contents) {
            (Some(name), Some(contents)) => Question::read(ranker, &statement_of(contents, name)?)?,
            _ => {
                let (text, mut names) = (conjecture.as_deref().unwrap_or_default(), Interner::new());
                let (place, options) = (("conjecture", text), ranker.hol_options());
                let formula = reader.parse(place, languages.conjecture, options, &mut names)?;
                Question::new(ranker, formula, names, "conjecture")?
            }
        };
        let reading = together.as_ref().map(Reader::reading).transpose()?.flatten();
        let wishes = Wishes {
            reading,
            before,
            own_name: name,
            modules,
            keeps_goal: keep_goal,
            order,
            with_usual: explain,
        };
        let stored = contents.as_ref().map(|contents| Stored::InMemory(&contents.shelf));
        let mut candidates = Candidates::new(stored, own);
        let scores = candidates.rank(ranker, &mut question, &wishes, &Pace::Free)?;
        let (taken, marks) = candidates.select(&selection, &scores, &Pace::Free)?;
        let reasons = explain.then(|| candidates.reasons(&taken, ranker, &question)).transpose()?;
        let row = |(&Ranked { statement: number, score }, place): (&Ranked, usize)| -> Result<Row, Error> {
            let Statement { name, text, syntax } = candidates.statement(number)?;
            let unknown = reasons.as_ref().map(|reasons| reasons[place].unknown.clone());
            let alone = scores.usual.as_ref().map(|usual| digits(usual[number]));
            Ok((name, digits(score), text, Syntax::name(syntax), unknown, alone))
        };
        Ok(Answer {
            rows: taken.iter().zip(0..).map(row).collect::<Result<_, Error>>()?,
            unknown: question.encoded.unknown().to_vec(),
            unmatched: marks.unmatched,
        })
    })
}

/// A statement of a library by its name.
fn statement_of(contents: &Contents, name: &str) -> Result<Statement, Error> {
    let found = contents.shelf.entries.iter().find(|entry| entry.statement.name == name);
    found.map(|entry| entry.statement.clone()).ok_or_else(|| {
        let message = format!("expected a statement `{name}`, found none");
        Error::Data { file: "library".to_owned(), message }
    })
}
