//! How long a run trains: a number of pairs, or a time that a short probe turns into one.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use formulanet::Error;
use formulanet::util::files::write_whole;

/// How long every run trains.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Budget {
    /// As long as the preset says.
    Full,
    /// At most this many pairs.
    Pairs(u64),
    /// As many pairs as this many minutes are enough for on this machine.
    Minutes(f64),
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected `full`, a number of pairs such as 100000, or a time such as 20m or 2h, found `{text}`"
            )
        };
        let minutes = |number: &str, factor: f64| match number.parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(Budget::Minutes(number * factor)),
            _ => Err(wrong()),
        };
        match text {
            "full" => Ok(Budget::Full),
            _ if text.ends_with('m') => minutes(&text[..text.len() - 1], 1.0),
            _ if text.ends_with('h') => minutes(&text[..text.len() - 1], 60.0),
            _ => match text.parse() {
                Ok(pairs) if pairs > 0 => Ok(Budget::Pairs(pairs)),
                _ => Err(wrong()),
            },
        }
    }
}

/// As it is written on the command line.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Full => f.write_str("full"),
            Budget::Pairs(pairs) => write!(f, "{pairs}"),
            Budget::Minutes(minutes) => write!(f, "{minutes}m"),
        }
    }
}

impl Budget {
    /// As it is part of a folder's name.
    pub(super) fn folder_name(&self) -> String {
        match self {
            Budget::Pairs(pairs) => format!("{pairs}-pairs"),
            _ => self.to_string(),
        }
    }

    /// As it is written in a result.
    pub(super) fn in_words(&self) -> String {
        match self {
            Budget::Full => "as many pairs as the preset says".to_owned(),
            Budget::Pairs(pairs) => format!("at most {pairs} pairs a run"),
            Budget::Minutes(minutes) => {
                format!("{minutes} minutes a run, turned into a number of pairs by a short trial before it")
            }
        }
    }
}

/// The result of a probe, kept in the directory of a run so that it stays the same when the run continues.
#[derive(Serialize, Deserialize)]
struct Measured {
    minutes: f64,
    pairs_per_second: f64,
    pairs: u64,
}

/// The most pairs of a run: none for no limit. `probe` measures pairs per second in about the given time.
pub(super) fn pairs(
    budget: Budget,
    folder: &Path,
    probe: impl FnOnce(Duration) -> Result<f64, Error>,
) -> Result<Option<u64>, Error> {
    let minutes = match budget {
        Budget::Full => return Ok(None),
        Budget::Pairs(pairs) => return Ok(Some(pairs)),
        Budget::Minutes(minutes) => minutes,
    };
    let path = folder.join("budget.json");
    if let Ok(text) = fs::read_to_string(&path) {
        let measured: Measured = serde_json::from_str(&text).map_err(|error| {
            let message = format!("expected the budget of a run, found {error}; remove the run's folder");
            Error::input(&path, message)
        })?;
        return Ok(Some(measured.pairs));
    }
    let seconds = 60.0 * minutes;
    let pairs_per_second = probe(Duration::from_secs_f64((seconds / 20.0).clamp(0.2, 15.0)))?;
    let pairs = ((pairs_per_second * seconds) as u64).max(1);
    let measured = Measured { minutes, pairs_per_second, pairs };
    fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    write_whole(&path, &serde_json::to_vec(&measured).expect("a budget is plain data"))?;
    Ok(Some(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_written() {
        let check = |text: &str, budget: Budget, written: &str| {
            assert_eq!(text.parse(), Ok(budget));
            assert_eq!(budget.to_string(), written);
            assert_eq!(written.parse(), Ok(budget));
        };
        check("full", Budget::Full, "full");
        check("300", Budget::Pairs(300), "300");
        check("20m", Budget::Minutes(20.0), "20m");
        check("0.5m", Budget::Minutes(0.5), "0.5m");
        check("2h", Budget::Minutes(120.0), "120m");
        for wrong in ["", "m", "0", "0m", "-3", "-3m", "infm", "nanh", "20 minutes", "1e9"] {
            let message = wrong.parse::<Budget>().unwrap_err();
            assert!(message.ends_with(&format!("found `{wrong}`")), "{message}");
        }
    }

    #[test]
    fn a_time_is_measured_once() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let budget = Budget::Minutes(2.0);
        assert_eq!(pairs(budget, &run, |_| Ok(10.0)).unwrap(), Some(1200));
        assert_eq!(pairs(budget, &run, |_| panic!("it was measured")).unwrap(), Some(1200));
        assert_eq!(pairs(Budget::Full, &run, |_| panic!("nothing to measure")).unwrap(), None);
        fs::write(run.join("budget.json"), "{").unwrap();
        let error = pairs(budget, &run, |_| Ok(10.0)).unwrap_err().to_string();
        assert!(error.contains("expected the budget of a run"), "{error}");
    }
}
