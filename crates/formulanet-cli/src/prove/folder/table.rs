//! The table of results: a line for each problem, and the number of proofs.

use std::fmt::Write;

use crate::input::counted;
use crate::output::shown;
use crate::prove::outcome::Outcome;
use crate::prove::szs::Status;

/// Maximum width of a column; a longer entry moves the rest of its line.
const WIDEST: usize = 60;

/// Returns the line of a problem that has ended.
pub(crate) fn line(outcome: &Outcome) -> String {
    let mut line = format!("% SZS status {} for {}", outcome.status, shown(&outcome.problem));
    if let (Some(prover), true) = (&outcome.prover, outcome.status.is_proved()) {
        let premises = match &outcome.premises {
            Some(premises) => counted(premises.len(), "premise"),
            None => "premises not reported".to_owned(),
        };
        let _ = write!(line, " : {}, {premises}, {:.1} s", shown(prover), outcome.seconds);
    }
    line
}

/// Returns the table of all problems, and the counts.
pub(crate) fn table(outcomes: &[&Outcome]) -> String {
    let head = ["problem", "status", "prover", "premises", "seconds"].map(str::to_owned);
    let rows: Vec<[String; 5]> = outcomes
        .iter()
        .map(|outcome| {
            let is_decided = outcome.prover.is_some();
            let premises = outcome.premises.as_ref().map(|premises| premises.len().to_string());
            [
                shown(&outcome.problem).into_owned(),
                outcome.status.to_string(),
                outcome.prover.as_deref().map_or("-".to_owned(), |prover| shown(prover).into_owned()),
                premises.filter(|_| is_decided).unwrap_or_else(|| "-".to_owned()),
                format!("{:.1}", outcome.seconds),
            ]
        })
        .collect();
    let width = |column: usize| {
        let cells = std::iter::once(&head).chain(&rows);
        cells.map(|row| row[column].chars().count()).max().unwrap_or(0).min(WIDEST)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(&head).chain(&rows) {
        let cell = |(column, text): (usize, &String)| match column {
            3 | 4 => format!("{text:>width$}", width = widths[column]),
            _ => format!("{text:<width$}", width = widths[column]),
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text + &counts(outcomes) + "\n"
}

/// Returns the number of problems that were proved, and the counts of other results.
pub(crate) fn counts(outcomes: &[&Outcome]) -> String {
    let proved = outcomes.iter().filter(|outcome| outcome.status.is_proved()).count();
    let mut text = format!("{proved} of {} proved", counted(outcomes.len(), "problem"));
    let of =
        |statuses: &[Status]| outcomes.iter().filter(|outcome| statuses.contains(&outcome.status)).count();
    use Status::{CounterSatisfiable, CounterTheorem, Inappropriate, InputError, NotTried, Satisfiable};
    let refuted = of(&[CounterSatisfiable, CounterTheorem, Satisfiable]);
    let (unread, unsuitable, untried) = (of(&[InputError]), of(&[Inappropriate]), of(&[NotTried]));
    let open = outcomes.len() - proved - refuted - unread - unsuitable - untried;
    for (count, what) in [
        (refuted, "refuted or without a conjecture that follows"),
        (open, "not proved"),
        (unsuitable, "in a language that no prover reads"),
        (unread, "not read"),
        (untried, "not tried"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut proved = Outcome::undecided("a.p", Status::Theorem, 0.25);
        (proved.prover, proved.premises) =
            (Some("eprover".to_owned()), Some(vec!["x".to_owned(), "y".to_owned()]));
        let mut unknown = proved.clone();
        (unknown.problem, unknown.premises) = ("odd\nname.p".to_owned(), None);
        let open = Outcome::undecided("c.p", Status::Timeout, 12.0);
        assert_eq!(
            table(&[&proved, &unknown, &open]),
            "problem       status   prover   premises  seconds\n\
             a.p           Theorem  eprover         2      0.2\n\
             odd\\nname.p   Theorem  eprover         -      0.2\n\
             c.p           Timeout  -               -     12.0\n\
             2 of 3 problems proved, 1 not proved\n"
                .replace("odd\\nname.p   ", "odd\\nname.p  ")
                .replace("problem       ", "problem      ")
                .replace("a.p           ", "a.p          ")
                .replace("c.p           ", "c.p          ")
        );
        assert_eq!(line(&proved), "% SZS status Theorem for a.p : eprover, 2 premises, 0.2 s");
        assert_eq!(line(&open), "% SZS status Timeout for c.p");
    }
}
