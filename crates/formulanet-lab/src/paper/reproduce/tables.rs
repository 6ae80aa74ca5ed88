//! Tables 1 to 3: the paper's numbers, and the runs that ours come from.

use formulanet::logic::View;
use formulanet::net::Kind;

use super::chart;
use super::markdown::{Cell, RunRow, table};
use super::walks;
use super::workshop::{Experiment, Part, Workshop, if_there};
use super::{Document, Target};
use formulanet::Error;

/// A method and what the paper says of it: without and with the conjecture, on test data.
type Quoted = (&'static str, [&'static str; 2]);

const CNN: Quoted = ("CNN", ["83", "82"]);
const CNN_LSTM: Quoted = ("CNN-LSTM", ["83", "83"]);
const DEEPWALK: Quoted = ("DeepWalk", ["61.7", "61.8"]);
const NETWORKS: [(Quoted, Kind); 2] =
    [(("FormulaNet-basic", ["89.0", "89.1"]), Kind::Basic), (("FormulaNet", ["90.0", "90.3"]), Kind::Full)];
const SETTINGS: [(&str, bool); 2] = [("unconditional", false), ("conditional", true)];

/// Views, how the paper calls them, and its accuracy in % with the original names and with others.
const VIEWS: [(View, &str, [f64; 2]); 4] = [
    (View::TreeNames, "tree-old-names", [89.7, 82.3]),
    (View::Tree, "tree-renamed", [84.7, 84.7]),
    (View::GraphNames, "graph-old-names", [89.8, 83.5]),
    (View::Graph, "our graph", [89.9, 89.9]),
];

/// The paper's accuracy in % after 0 to 4 steps.
const STEPS: [(&str, Kind, [f64; 5]); 2] = [
    ("FormulaNet-basic", Kind::Basic, [81.5, 89.3, 89.8, 89.9, 90.0]),
    ("FormulaNet", Kind::Full, [81.5, 90.4, 91.0, 91.1, 90.8]),
];

/// Steps of the models that Tables 1 and 2 are about.
const USUAL_STEPS: usize = 3;

/// The result of a run: accuracies on some parts, in their order.
fn measure(
    workshop: &Workshop<'_>,
    experiment: &Experiment,
    parts: &[Part],
    runs: &mut Vec<RunRow>,
) -> Result<Vec<Cell>, Error> {
    let Some(run) = if_there(workshop.run(experiment))? else {
        runs.push(RunRow::new(experiment.name(), None));
        return Ok(vec![Cell::Missing; parts.len()]);
    };
    let cells = parts.iter().map(|&part| Ok(Cell::of(if_there(workshop.accuracy(&run, part))?)));
    let cells: Vec<Cell> = cells.collect::<Result<_, Error>>()?;
    let is_whole = !cells.contains(&Cell::Missing);
    runs.push(if is_whole { RunRow::of(&run) } else { RunRow::new(run.name, None) });
    Ok(cells)
}

/// A link to the picture of a table.
fn shown(target: Target) -> String {
    format!("\n![{0}]({0}.svg)\n", target.name())
}

/// Accuracy of all methods.
pub(super) fn table1(workshop: &Workshop<'_>) -> Result<Document, Error> {
    let (mut rows, mut runs) = (Vec::new(), Vec::new());
    for (name, paper) in [CNN, CNN_LSTM] {
        for ((setting, _), paper) in SETTINGS.iter().zip(paper) {
            rows.push([&format!("{name} (quoted), {setting}"), paper, "", ""].map(str::to_owned).to_vec());
        }
    }
    let mut row = |name: &str, setting: &str, paper: &str, test: Cell, validation: Cell| {
        let name = format!("{name}, {setting}");
        rows.push(vec![name, paper.to_owned(), test.text(), validation.text()]);
    };
    for ((name, paper), kind) in NETWORKS {
        for ((setting, is_conditional), paper) in SETTINGS.into_iter().zip(paper) {
            let view = workshop.settings.view();
            let experiment = Experiment { kind, is_conditional, steps: USUAL_STEPS, view };
            let cells = measure(workshop, &experiment, &[Part::Test, Part::Validation], &mut runs)?;
            row(name, setting, paper, cells[0], cells[1]);
        }
    }
    let walked = if_there(walks::deepwalk(workshop))?;
    let (name, paper) = DEEPWALK;
    for (i, (setting, _)) in SETTINGS.into_iter().enumerate() {
        let walked = walked.as_ref().map(|walked| &walked[i]);
        let test = Cell::of(walked.map(|walked| walked.test));
        row(name, setting, paper[i], test, Cell::of(walked.map(|walked| walked.validation)));
        let cost = walked.map(|walked| (walked.pairs, walked.seconds));
        runs.push(RunRow::new(format!("deepwalk-{setting}"), cost));
    }
    let options = walks::options(workshop);
    let mut text = "# Table 1: accuracy of all methods\n\n\
        Share of statements, in %, that are rightly taken for useful or useless: by the statement alone \
        (unconditional), or with the conjecture (conditional). CNN and CNN-LSTM are quoted from the paper, which quotes \
        the authors of HolStep; they were not trained again. The paper's numbers are for the test conjectures of \
        HolStep; ours are for the test conjectures of the data below, and for held-out ones.\n\n"
        .to_owned();
    text += &table(&["method", "paper, test", "ours, test", "ours, validation"], &rows);
    text += &format!(
        "\nDeepWalk: {} walks of {} nodes from every node, window {}, {} negative samples, vectors of {} numbers, \
         max-pooled; a classifier with one hidden layer. Both settings share the walks",
        options.walks, options.length, options.window, options.negatives, options.dimension
    );
    text += &match &walked {
        Some([walked, _]) => {
            let [test, held_out] = [walked.test, walked.validation].map(|part| part.map_or(0, |a| a.pairs));
            format!("; accuracy is measured on {test} test and {held_out} validation statements.\n")
        }
        None => ".\n".to_owned(),
    };
    Ok(Document { text, picture: None, runs })
}

/// The effect of variable names and links between variables.
pub(super) fn table2(workshop: &Workshop<'_>) -> Result<Document, Error> {
    let (mut rows, mut runs, mut bars) = (Vec::new(), Vec::new(), Vec::new());
    for (view, paper_name, paper) in VIEWS {
        let experiment = Experiment { kind: Kind::Basic, is_conditional: true, steps: USUAL_STEPS, view };
        let parts = [Part::Validation, Part::RenamedValidation];
        let cells = measure(workshop, &experiment, &parts, &mut runs)?;
        let number = |percent: f64| format!("{percent:.1}");
        rows.push(vec![
            format!("`{}` ({paper_name})", view.name()),
            number(paper[0]),
            cells[0].text(),
            number(paper[1]),
            cells[1].text(),
        ]);
        bars.push(chart::Bars { name: view.name(), paper, ours: [cells[0].share(), cells[1].share()] });
    }
    let mut text = "# Table 2: variable names, and links between variables\n\n\
        Accuracy in % of FormulaNet-basic, conditional, with three steps, on held-out conjectures: as they are \
        (original), and with the variables of every formula renamed at random (renamed). Each row is a network that \
        was trained on another view of the formulas, with the original names. Names that it never saw are UNKNOWN to \
        it.\n\n"
        .to_owned();
    let header = ["view", "paper, original", "ours, original", "paper, renamed", "ours, renamed"];
    text += &table(&header, &rows);
    text += &shown(Target::Table2);
    Ok(Document { text, picture: Some(chart::renaming(&bars)?), runs })
}

/// The effect of more steps.
pub(super) fn table3(workshop: &Workshop<'_>) -> Result<Document, Error> {
    let mut runs = Vec::new();
    let mut rows: Vec<Vec<String>> = (0..STEPS[0].2.len()).map(|steps| vec![steps.to_string()]).collect();
    let mut curves = Vec::new();
    for (name, kind, paper) in STEPS {
        let mut ours = Vec::new();
        for (steps, paper) in paper.iter().enumerate() {
            let view = workshop.settings.view();
            let experiment = Experiment { kind, is_conditional: true, steps, view };
            let mut own_runs = Vec::new();
            let cells = measure(workshop, &experiment, &[Part::Validation], &mut own_runs)?;
            // The one without steps belongs to both.
            if steps > 0 || runs.is_empty() {
                runs.append(&mut own_runs);
            }
            rows[steps].extend([format!("{paper:.1}"), cells[0].text()]);
            ours.push(cells[0].share());
        }
        curves.push(chart::Curve { name, paper: paper.to_vec(), ours });
    }
    let mut text = "# Table 3: more steps\n\n\
        Accuracy in % of conditional networks on held-out conjectures by the number of message-passing steps. Without \
        any, FormulaNet-basic and FormulaNet are the same network, which is trained once.\n\n"
        .to_owned();
    let header = [
        "steps",
        "FormulaNet-basic, paper",
        "FormulaNet-basic, ours",
        "FormulaNet, paper",
        "FormulaNet, ours",
    ];
    text += &table(&header, &rows);
    text += &shown(Target::Table3);
    Ok(Document { text, picture: Some(chart::steps(&curves)?), runs })
}
