//! `formulanet predict`: a drop-in replacement for the premise selectors of CoqHammer and Isabelle.

mod log;

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use formulanet::hammer::{HammerFiles, Mode, Predictor, VendorMethod, parse_goal_features};
use formulanet::read::read_text;

use crate::advice::advice;
use crate::input::writing;
use crate::usage::wrong;
use log::Log;

/// Drop-in premise selector for CoqHammer and Sledgehammer
///
/// Reads the three files that these hammers write (features, dependencies and order of a library) and, from standard input,
/// queries, each a line of features: `"Coq.Init.Nat.add", "Coq.Init.Nat.add-X"`. Prints a line of names for each, the best first.
///
/// A link named `predict` to the program does the same. Links named `nbayes` and `knn` take the arguments in Isabelle's order:
/// `nbayes FEA DEP N SEQ`, `knn 0 FEA DEP N SEQ`. So does `formulanet predict nbayes FEA DEP N SEQ`.
///
/// Hammers hide error messages, so they are also in a log: $FORMULANET_LOG, or else formulanet/predict.log in $XDG_STATE_HOME or
/// ~/.local/state. The analysis of the files is cached in $XDG_CACHE_HOME/formulanet or ~/.cache/formulanet.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    formulanet predict lib.fea lib.dep lib.seq -n 8 -p knn < goal.fea\n  \
    formulanet predict lib.fea lib.dep lib.seq -n 8 -p nbayes --exact < goal.fea\n  \
    formulanet predict lib.fea lib.dep lib.seq -n 16 -e names.txt\n\n\
    In a Coq file, with CoqHammer:\n\n  \
    Set Hammer PredictPath \"/path/to/link/named/predict\".")]
pub(crate) struct Arguments {
    /// Features, one fact per line: `name:"f", "g"`
    #[arg(value_name = "FEA")]
    features: String,
    /// Dependencies, one fact per line: `name:name name`
    #[arg(value_name = "DEP")]
    dependencies: String,
    /// Order of the facts, one name per line
    #[arg(value_name = "SEQ")]
    order: String,
    /// Number of names to print for a query
    #[arg(short, long, value_name = "N", default_value_t = 1000)]
    number: usize,
    /// Method that the hammer requests. Without --exact, formulanet's own ranking is used, in which knn and nbayes have half of
    /// the weight
    #[arg(short = 'p', long, value_name = "METHOD", default_value = "knn")]
    method: String,
    /// Rank exactly as CoqHammer's own program does, by knn, nbayes or mepo
    #[arg(long)]
    exact: bool,
    /// Query the facts that this file names, one per line, each as if the library ended before it. Prints `name:name name`
    #[arg(short, long, value_name = "FILE")]
    evaluate: Option<PathBuf>,
}

/// Bytes of a question, at most.
const LONGEST: u64 = 1 << 26;

/// The arguments of a call by a link, as `formulanet predict` takes them. Others are returned as they are.
pub(crate) fn called(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    // `formulanet predict nbayes ...` is the link `nbayes` without a link.
    let is_method = |word: &OsString| word == "nbayes" || word == "knn";
    if arguments.get(1).is_some_and(|first| first == "predict") && arguments.get(2).is_some_and(is_method) {
        arguments.drain(..2);
    }
    let name =
        arguments.first().and_then(|first| Path::new(first).file_stem()).and_then(|name| name.to_str());
    let order: &[usize] = match (name, arguments.len()) {
        (Some("predict"), _) => {
            arguments.insert(1, "predict".into());
            return arguments;
        }
        // Where features, dependencies, order and number are.
        (Some("nbayes"), 5) => &[1, 2, 4, 3],
        (Some("knn"), 6) => &[2, 3, 5, 4],
        (Some("nbayes" | "knn"), _) => &[],
        _ => return arguments,
    };
    let method = name.unwrap_or_default().to_owned();
    let mut lowered: Vec<OsString> = vec!["formulanet".into(), "predict".into()];
    match order {
        [files @ .., number] => {
            lowered.extend(files.iter().map(|&place| arguments[place].clone()));
            lowered.extend(["-n".into(), arguments[*number].clone(), "-p".into(), method.into()]);
        }
        // Whatever this is, the usage says what would have been right.
        [] => lowered.extend(arguments.drain(1..)),
    }
    lowered
}

/// Writes wrong usage into the log, where the user of a hammer can find it.
pub(crate) fn log_usage(arguments: &[OsString], error: &clap::Error) {
    if error.use_stderr() && arguments.get(1).is_some_and(|first| first == "predict") {
        let text = error.to_string();
        Log::open().write(text.lines().next().unwrap_or_default());
    }
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let log = Log::open();
    let result = answer(&arguments, &log);
    if let Err(error) = &result {
        let way_out = advice(error).map_or(String::new(), |advice| format!("; {advice}"));
        log.write(&format!("error: {error:#}{way_out}"));
    }
    result
}

fn answer(arguments: &Arguments, log: &Log) -> Result<()> {
    let start = Instant::now();
    let choice = arguments.choice()?;
    let files = HammerFiles::open(&arguments.features, &arguments.dependencies, &arguments.order)?;
    let predictor = Predictor::new(&files, cache_folder().as_deref())?;
    drop(files);
    for warning in predictor.warnings() {
        log.write(&format!("warning: {warning}"));
        tell!("warning: {warning}");
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let answers = match &arguments.evaluate {
        Some(path) => evaluate(&predictor, path, choice, arguments.number, &mut out, log)?,
        None => ask(&predictor, choice, arguments.number, &mut out)?,
    };
    writing(out.flush())?;
    let from = if predictor.is_cached() { "cache" } else { "files" };
    log.write(&format!(
        "answered {answers} with {} names each, {}; {} facts, from {from}; {:.3} s",
        arguments.number,
        arguments.way(),
        predictor.len(),
        start.elapsed().as_secs_f64()
    ));
    Ok(())
}

impl Arguments {
    fn choice(&self) -> Result<Mode> {
        if self.number == 0 {
            return Err(wrong("the argument '--number' is a number from 1"));
        }
        let stock = match self.method.as_str() {
            "knn" => Some(VendorMethod::Knn),
            "nbayes" => Some(VendorMethod::NaiveBayes),
            "mepo" => Some(VendorMethod::MePo),
            _ => None,
        };
        match (self.exact, stock) {
            // What `mepo` says is worth little beside our own ranking.
            (false, stock) => Ok(Mode::Ours(stock.filter(|&stock| stock != VendorMethod::MePo))),
            (true, Some(stock)) => Ok(Mode::Exact(stock)),
            (true, None) => Err(wrong(format!("--exact has knn, nbayes and mepo, not `{}`", self.method))),
        }
    }

    fn way(&self) -> String {
        let Arguments { method, exact, .. } = self;
        if *exact { format!("exactly {method}") } else { format!("our own ranking for {method}") }
    }
}

/// Answers the queries of standard input and returns their number.
fn ask(predictor: &Predictor, choice: Mode, number: usize, out: &mut impl Write) -> Result<usize> {
    let learned = predictor.learn(choice);
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    for asked in 0.. {
        line.clear();
        let read = input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line);
        if read.context("cannot read standard input")? == 0 {
            return Ok(asked);
        }
        if line.len() as u64 > LONGEST {
            bail!("standard input:{}: expected at most {LONGEST} bytes in a line, found more", asked + 1);
        }
        let text = std::str::from_utf8(&line)
            .with_context(|| format!("standard input:{}: expected UTF-8 text", asked + 1))?;
        let features = parse_goal_features("standard input", asked + 1, text.trim_end())?;
        writing(writeln!(out, "{}", learned.predict(&features, number).join(" ")))?;
        // Whoever asks one after the other waits for each answer.
        writing(out.flush())?;
    }
    Ok(0)
}

/// Bytes of a file of names, at most.
const MOST_NAMES: usize = 1 << 28;

/// Queries the facts that a file names and returns their number.
fn evaluate(
    predictor: &Predictor,
    path: &Path,
    choice: Mode,
    number: usize,
    out: &mut impl Write,
    log: &Log,
) -> Result<usize> {
    let text = read_text(&path.to_string_lossy(), MOST_NAMES)?;
    let names: Vec<&str> = text.lines().map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut answers = 0;
    let unknown = predictor.evaluate(&names, choice, number, |name, best| {
        answers += 1;
        writing(writeln!(out, "{name}:{}", best.join(" ")))
    })?;
    if let Some(first) = unknown.first() {
        let warning = format!(
            "{}: {} names are not in the order, and are ignored; the first is `{first}`",
            path.display(),
            unknown.len()
        );
        log.write(&format!("warning: {warning}"));
        tell!("warning: {warning}");
    }
    Ok(answers)
}

/// The directory of the cache.
fn cache_folder() -> Option<PathBuf> {
    home_folder("XDG_CACHE_HOME", ".cache").map(|folder| folder.join("formulanet"))
}

/// A directory of the user: from a variable, or else in the home directory.
fn home_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set(variable).or_else(|| set("HOME").map(|home| home.join(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_the_command() {
        let check = |given: &str, expected: &str| {
            let found = called(given.split(' ').map(OsString::from));
            assert_eq!(found, expected.split(' ').map(OsString::from).collect::<Vec<_>>(), "{given}");
        };
        check("formulanet predict a b c -n 3", "formulanet predict a b c -n 3");
        check("/usr/bin/formulanet graph x", "/usr/bin/formulanet graph x");
        check("/tmp/predict a b c -n 3 -p knn", "/tmp/predict predict a b c -n 3 -p knn");
        check("bin/nbayes syms deps 1024 seq", "formulanet predict syms deps seq -n 1024 -p nbayes");
        check("knn 0 syms deps 1024 seq", "formulanet predict syms deps seq -n 1024 -p knn");
        check("knn --help", "formulanet predict --help");
        check("nbayes syms", "formulanet predict syms");
    }
}
