//! The text that goes with the figure.

use formulanet::net::Kind;

use super::choose::Row;
use super::nodes::{Link, Local, Nodes};
use super::{FILE, FigureOptions};
use formulanet::model::recipe::Recipe;
use formulanet::model::{ModelFile, Origin};
use formulanet_train::dataset::Prepared;

/// The contents, the model and the numbers.
pub(super) fn markdown(
    rows: &[Row],
    nodes: &Nodes<'_>,
    trained: &ModelFile,
    prepared: &Prepared,
    options: &FigureOptions,
) -> String {
    let (step, graphs, all) = (options.step, nodes.graphs.len(), nodes.len());
    let mut out = format!(
        "# Nearest neighbours of nodes (figure 5 of the paper)\n\n\
         ![Nodes and their nearest neighbours after step {step}]({FILE})\n\n\
         Each row has a query node and its nearest neighbours by the Euclidean distance of node vectors after step \
         {step}, among {all} nodes of {graphs} statements of held-out conjectures (`{}`). Each neighbour is of another \
         statement than the query and than the other neighbours, and nodes with the same label, parents and children \
         are shown once. A node is drawn with its parents above and its children below. Its colour is the place of its \
         label in a t-SNE of the vectors before the first step: the closer the colours, the nearer the labels. \
         Queries are chosen by the seed ({}) among labels of medium frequency, with a binder and a variable function, \
         not by hand.\n\n",
        prepared.meta().input,
        options.seed
    );
    model(&mut out, trained);
    let most = rows.iter().map(|row| row.neighbours.len()).max().unwrap_or(0);
    out.push_str("| query: parents → node → children | median distance of all nodes |");
    (1..=most).for_each(|place| out += &format!(" neighbour {place} |"));
    out.push_str("\n|---|---|");
    (0..most).for_each(|_| out.push_str("---|"));
    out.push('\n');
    for row in rows {
        let query = surroundings(&row.query, &trained.vocabulary);
        out += &format!("| {query} | {:.2} |", row.median);
        for neighbour in &row.neighbours {
            let label = code(&trained.vocabulary[usize::from(neighbour.local.token)]);
            out += &format!(" {label} {:.2} |", neighbour.distance);
        }
        (row.neighbours.len()..most).for_each(|_| out.push_str(" |"));
        out.push('\n');
    }
    out
}

/// Where the model comes from.
fn model(out: &mut String, trained: &ModelFile) {
    let (origin, recipe) = (&trained.origin, &trained.origin.recipe);
    let name = match recipe.model {
        Kind::Basic => "FormulaNet-basic",
        Kind::Full => "FormulaNet",
    };
    let conditional = if recipe.conditional { "conditional" } else { "unconditional" };
    let (Recipe { steps, dimension, .. }, Origin { data, pairs, .. }) = (recipe, origin);
    let view = origin.view.name();
    *out += &format!("Model: {name}, {conditional}, {steps} steps, dimension {dimension}, view `{view}`, ");
    *out += &format!("trained on `{data}` with {pairs} pairs");
    match origin.validation_accuracy {
        Some(accuracy) => {
            *out += &format!("; accuracy on held-out conjectures {:.2} %.\n\n", 100.0 * accuracy)
        }
        None => out.push_str("; its accuracy on held-out conjectures was not measured.\n\n"),
    }
}

/// A node between its parents and its children.
fn surroundings(local: &Local, vocabulary: &[String]) -> String {
    let label = |token: u16| code(&vocabulary[usize::from(token)]);
    let links = |links: &[Link]| {
        let link = |link: &Link| match link.edges {
            1 => label(link.token),
            edges => format!("{}×{edges}", label(link.token)),
        };
        links.iter().map(link).collect::<Vec<_>>().join(" ")
    };
    format!("{} → **{}** → {}", links(&local.parents), label(local.token), links(&local.children))
}

/// A label as code in a table's cell, whatever characters it has.
fn code(label: &str) -> String {
    let label: String = label.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let longest = label.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Only next to a backtick does a space belong to the fence rather than the label.
    let space = if longest > 0 { " " } else { "" };
    // A table ends its cells at a bar even within code.
    format!("{fence}{space}{}{space}{fence}", label.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_code() {
        assert_eq!(code("|-"), "`\\|-`");
        assert_eq!(code("/\\"), "`/\\`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("a\nb"), "`a\u{fffd}b`");
    }
}
