//! Results as Markdown: tables, and how they were made.

use super::UNFINISHED;
use super::workshop::{Accuracy, Run, Workshop};
use formulanet::Error;
use formulanet::model::recipe::Recipe;
use formulanet_train::dataset::Split;

/// A number of a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Cell {
    /// A share, shown in percent.
    Share(f64),
    /// Something that the data has not.
    Absent,
    /// Not measured yet.
    Missing,
}

impl Cell {
    /// The result of a measurement: nothing if it was stopped, and nothing inside if there was nothing to measure on.
    pub(super) fn of(measured: Option<Option<Accuracy>>) -> Self {
        match measured {
            Some(Some(accuracy)) => Cell::Share(accuracy.share),
            Some(None) => Cell::Absent,
            None => Cell::Missing,
        }
    }

    pub(super) fn share(self) -> Option<f64> {
        match self {
            Cell::Share(share) => Some(share),
            _ => None,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Cell::Share(share) => format!("{:.1}", 100.0 * share),
            Cell::Absent => "none".to_owned(),
            Cell::Missing => "-".to_owned(),
        }
    }
}

/// A run as the list of runs shows it.
pub(super) struct RunRow {
    name: String,
    /// Pairs seen and seconds; nothing if it is not finished.
    cost: Option<(u64, f64)>,
}

impl RunRow {
    pub(super) fn of(run: &Run) -> Self {
        RunRow { name: run.name.clone(), cost: Some((run.pairs, run.seconds)) }
    }

    pub(super) fn new(name: String, cost: Option<(u64, f64)>) -> Self {
        RunRow { name, cost }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.cost.is_some()
    }
}

/// A table whose columns stand under each other; all but the first are numbers.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let length = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..header.len())
        .map(|i| rows.iter().map(|row| length(&row[i])).fold(length(header[i]).max(4), usize::max))
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).enumerate().map(|(i, (cell, width))| match i {
            0 => format!(" {cell:<width$} |"),
            _ => format!(" {cell:>width$} |"),
        });
        format!("|{}\n", cells.collect::<String>())
    };
    let mut text = line(&mut header.iter().copied());
    let rules = widths.iter().enumerate().map(|(i, &width)| match i {
        0 => format!(" {} |", "-".repeat(width)),
        _ => format!(" {}: |", "-".repeat(width - 1)),
    });
    text += &format!("|{}\n", rules.collect::<String>());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A time in two units at most.
pub(super) fn time(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 if seconds < 9.95 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// The last part of every result: the command, and all that the numbers depend on.
pub(super) fn how(workshop: &Workshop<'_>, command: &str, runs: &[RunRow]) -> Result<String, Error> {
    let settings = workshop.settings;
    let prepared = workshop.data(settings.view())?;
    let size = |split: Split| {
        prepared.of_split(split).fold((0, 0), |(number, pairs), c| (number + 1, pairs + c.pairs.len()))
    };
    let [(training, training_pairs), (held_out, held_out_pairs), (test, test_pairs)] = Split::ALL.map(size);
    let mut text = String::new();
    if !runs.iter().all(RunRow::is_finished) {
        text += &format!("{UNFINISHED}\n\n");
    }
    text += &format!("## How\n\n```sh\n{command}\n```\n\n");
    let (Recipe { dimension, batch, epochs, seed, .. }, preset) = (settings.recipe(), settings.preset.name());
    text += &format!("- preset `{preset}`: {dimension} numbers in a vector, {batch} pairs in a mini-batch, ");
    text += &format!("{epochs} epochs at most; seed {seed}\n");
    text += &format!("- budget: {}\n", settings.budget.in_words());
    let (name, fingerprint) = (settings.source_name(), &prepared.meta().fingerprint);
    text += &format!(
        "- data `{name}` (fingerprint {fingerprint}): {training} conjectures with {training_pairs} statements for \
         training, {held_out} with {held_out_pairs} held out for validation, "
    );
    text += &match test {
        0 => "none for testing\n\n".to_owned(),
        _ => format!("{test} with {test_pairs} for testing\n\n"),
    };
    let row = |run: &RunRow| {
        let cost = run.cost.map(|(pairs, seconds)| (pairs.to_string(), time(seconds)));
        let (pairs, seconds) = cost.unwrap_or_else(|| ("-".to_owned(), "-".to_owned()));
        vec![format!("`{}`", run.name), pairs, seconds]
    };
    text += &table(&["run", "pairs seen", "training time"], &runs.iter().map(row).collect::<Vec<_>>());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table() {
        let accuracy = Accuracy { share: 0.8994, pairs: 10 };
        let cells = [Some(Some(accuracy)), Some(None), None].map(|measured| Cell::of(measured).text());
        let rows = [
            vec!["basic".to_owned(), cells[0].clone()],
            vec!["é".to_owned(), cells[1].clone()],
            vec!["|-".replace('|', "\\|"), cells[2].clone()],
        ];
        let expected = "\
            | model | ours, in % |\n\
            | ----- | ---------: |\n\
            | basic |       89.9 |\n\
            | é     |       none |\n\
            | \\|-   |          - |\n";
        assert_eq!(table(&["model", "ours, in %"], &rows), expected);
    }

    #[test]
    fn times() {
        let check = |seconds, expected: &str| assert_eq!(time(seconds), expected);
        check(0.04, "0.0 s");
        check(9.94, "9.9 s");
        check(9.96, "10 s");
        check(59.6, "1 min 0 s");
        check(754.0, "12 min 34 s");
        check(7_260.0, "2 h 1 min");
    }
}
