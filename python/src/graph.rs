//! The graph of a formula.

use formulanet::Error;
use formulanet::logic::draw::{self, SvgOptions, Theme};
use formulanet::logic::{self, GraphBuilder, Interner, Limits, NodeId, Position, View, hol};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

use crate::errors::{exception, refused};
use crate::input::{Reading, one_of};

const THEMES: [(&str, Theme); 3] = [("auto", Theme::Auto), ("light", Theme::Light), ("dark", Theme::Dark)];

/// A graph, and the names of its labels.
#[pyclass(frozen, module = "formulanet._native")]
pub(crate) struct Graph {
    graph: logic::Graph,
    names: Interner,
    text: String,
}

#[pymethods]
impl Graph {
    #[new]
    fn new(py: Python<'_>, formula: &str, view: &str, reading: Reading) -> PyResult<Self> {
        let view = one_of(py, &View::ALL, "view", view)?;
        let reader = reading.understood(py)?;
        let made = py.detach(|| -> Result<Graph, Error> {
            let (mut names, mut graph) = (Interner::new(), logic::Graph::new());
            let (options, syntax) = (hol::Options::default(), reader.syntax.unwrap_or_default());
            let formula = reader.parse(("formula", formula), syntax, options, &mut names)?;
            let built = GraphBuilder::new(view, Limits::default()).build(&formula, &names, &mut graph);
            built.map_err(|cause| {
                let position = Position { line: 1, column: 1 };
                Error::TooLarge { file: "formula".to_owned(), position, cause }
            })?;
            let text = formula.display(&names).to_string();
            Ok(Graph { graph, names, text })
        });
        made.map_err(|error| exception(py, &error))
    }

    /// The formula as it was read.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn labels(&self) -> Vec<&str> {
        self.graph.labels().iter().map(|&label| self.names.name(label)).collect()
    }

    /// The labels of the nodes.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.graph.kinds().iter().map(|&kind| kind.name()).collect()
    }

    /// Sources of all edges, and then their targets.
    fn edge_index<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let edges: Vec<(NodeId, NodeId)> = self.graph.edges().collect();
        let sources = edges.iter().map(|(source, _)| i64::from(source.0));
        let targets = edges.iter().map(|(_, target)| i64::from(target.0));
        table(2, sources.chain(targets).collect()).into_pyarray(py)
    }

    /// Lefts of all treelets, then their heads, then their rights.
    fn treelets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let treelets: Vec<(NodeId, NodeId, NodeId)> = self.graph.treelets().collect();
        let part =
            |of: fn(&(NodeId, NodeId, NodeId)) -> NodeId| treelets.iter().map(move |t| i64::from(of(t).0));
        let all = part(|t| t.0).chain(part(|t| t.1)).chain(part(|t| t.2));
        table(3, all.collect()).into_pyarray(py)
    }

    fn svg(&self, py: Python<'_>, title: Option<String>, legend: bool, theme: &str) -> PyResult<String> {
        let theme = one_of(py, &THEMES, "theme", theme)?;
        let title = title.unwrap_or_else(|| self.text.chars().take(200).collect());
        let options = SvgOptions { title: Some(title), legend, theme, ..SvgOptions::default() };
        let drawn = py.detach(|| draw::svg(&self.graph, &self.names, &options));
        drawn.map_err(|error| refused(py, error.to_string()))
    }

    fn dot(&self) -> String {
        draw::dot(&self.graph, &self.names).to_string()
    }
}

/// Numbers in this many rows.
fn table(rows: usize, numbers: Vec<i64>) -> Array2<i64> {
    let columns = numbers.len() / rows;
    Array2::from_shape_vec((rows, columns), numbers).expect("as many numbers in each row")
}
