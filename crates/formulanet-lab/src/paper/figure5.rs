//! Figure 5 of the paper: nodes whose vectors are near each other after a step, and what stands around them.
//!
//! Nodes of held-out statements are sampled (`nodes`), some of them are queries whose nearest neighbours are looked up
//! in other graphs (`choose`), labels get colours by t-SNE of their first vectors (`plane`), and each node is drawn
//! with its parents and children (`star`) in a table (`page`).

use formulanet::net::Network;

use formulanet::Error;
use formulanet::model::ModelFile;
use formulanet_train::dataset::Prepared;

mod choose;
mod nodes;
mod page;
mod plane;
mod star;
mod text;

/// The contents of the figure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FigureOptions {
    /// Rows of the figure.
    pub queries: usize,
    /// Nearest neighbours in each row.
    pub neighbours: usize,
    /// Distinct statements of held-out conjectures whose nodes are looked at; all of them if there are fewer.
    pub graphs: usize,
    /// The steps after which vectors are compared.
    pub step: usize,
    /// Decides which statements and which queries.
    pub seed: u64,
}

impl Default for FigureOptions {
    fn default() -> Self {
        FigureOptions { queries: 5, neighbours: 4, graphs: 2000, step: 1, seed: 0 }
    }
}

/// The figure, and the text that goes with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figure {
    /// A whole SVG file.
    pub svg: String,
    /// The figure in words and as a table, with the picture `figure5.svg`.
    pub markdown: String,
}

/// The file name under which the text expects the picture.
const FILE: &str = "figure5.svg";

/// Draws the nearest neighbours of some nodes of held-out statements.
///
/// `network` is `trained.model` laid out for a CPU. The same model, folder and options give the same figure.
///
/// # Errors
///
/// If the folder holds nothing out, or its graphs are not those that the model was trained on, or the model has too
/// few steps.
pub fn figure5(
    network: &Network,
    trained: &ModelFile,
    prepared: &Prepared,
    options: &FigureOptions,
) -> Result<Figure, Error> {
    let nodes = nodes::Nodes::sample(network, trained, prepared, options)?;
    let rows = choose::rows(&nodes, &trained.vocabulary, options);
    if rows.is_empty() && options.queries > 0 {
        let message = "expected a held-out statement with a node that has parents and children, found none";
        return Err(Error::input(prepared.path(), message));
    }
    let plane = plane::Plane::new(&nodes, options.seed);
    let svg = page::svg(&rows, &plane, &nodes, &trained.vocabulary, options);
    let markdown = text::markdown(&rows, &nodes, trained, prepared, options);
    Ok(Figure { svg, markdown })
}
