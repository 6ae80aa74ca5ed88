//! `POST /v1/graph`: what the network sees of a formula, and a picture of it.

use formulanet::logic::draw::{self, SvgOptions};
use formulanet::logic::{Graph, GraphBuilder, Interner, Position, View, hol, lean, tptp};
use formulanet::{Error, Language};
use serde::{Deserialize, Serialize};

use crate::body::Arithmetic;
use crate::catalog::shown;
use crate::pool::Deadline;
use crate::problem::Problem;
use crate::router::App;

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    formula: String,
    #[serde(default)]
    syntax: Language,
    overload: Option<Arithmetic>,
    view: Option<String>,
    /// Names that this model knows are constants.
    model: Option<String>,
}

/// The response.
#[derive(Serialize)]
pub(crate) struct Answer {
    nodes: Vec<String>,
    edges: Vec<[u32; 2]>,
    treelets: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
    /// Why there is no picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The most nodes that are drawn.
const MOST_NODES: usize = 400;
const MOST_EDGES: usize = 1_200;
/// Characters of the picture's accessible name.
const LONGEST_TITLE: usize = 200;

/// Reads a formula, builds its graph and draws it.
pub(crate) fn answer(app: &App, request: Request, deadline: &Deadline) -> Result<Answer, Problem> {
    let App { catalog, settings, .. } = app;
    let view = view(request.view.as_deref())?;
    let limits = settings.limits;
    let options = match &request.model {
        Some(name) => catalog.model(name)?.retriever.hol_options(),
        None => hol::Options { limits, ..hol::Options::default() },
    };
    let overload = request.overload.map_or(options.overload, |Arithmetic(overload)| overload);
    let options = hol::Options { overload, ..options };
    let mut names = Interner::new();
    let formula = match request.syntax {
        Language::Hol => hol::parse(&request.formula, &options, &mut names),
        Language::HolWith(overload) => {
            hol::parse(&request.formula, &hol::Options { overload, ..options }, &mut names)
        }
        Language::Tptp => tptp::parse_formula(&request.formula, tptp::Language::Fof, limits, &mut names),
        Language::Lean => lean::parse(&request.formula, limits, &mut names),
    };
    let file = || "formula".to_owned();
    let formula = formula.map_err(|cause| Problem::of(Error::Parse { file: file(), cause }, "formula"))?;
    let mut graph = Graph::new();
    GraphBuilder::new(view, limits).build(&formula, &names, &mut graph).map_err(|cause| {
        let position = Position { line: 1, column: 1 };
        Problem::of(Error::TooLarge { file: file(), position, cause }, "formula")
    })?;
    deadline.check()?;
    let title = formula.display(&names).to_string().chars().take(LONGEST_TITLE).collect();
    let (title, max_nodes, max_edges) = (Some(title), MOST_NODES, MOST_EDGES);
    let options = SvgOptions { title, legend: false, max_nodes, max_edges, ..SvgOptions::default() };
    let (svg, note) = match draw::svg(&graph, &names, &options) {
        Ok(svg) => (Some(svg), None),
        Err(large) => {
            let note = format!("no picture: {} {} are more than {}", large.found, large.what, large.limit);
            (None, Some(note))
        }
    };
    Ok(Answer {
        nodes: graph.labels().iter().map(|&label| names.name(label).to_owned()).collect(),
        edges: graph.edges().map(|(source, target)| [source.0, target.0]).collect(),
        treelets: graph.treelet_count(),
        svg,
        note,
    })
}

fn view(name: Option<&str>) -> Result<View, Problem> {
    let Some(name) = name else { return Ok(View::Graph) };
    View::ALL.iter().find(|(known, _)| *known == name).map(|(_, view)| *view).ok_or_else(|| {
        let known = View::ALL.map(|(name, _)| name).join(", ");
        Problem::senseless("view", format!("expected one of {known}, found `{}`", shown(name)))
    })
}
