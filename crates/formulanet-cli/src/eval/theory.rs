//! `formulanet eval --theory`: how well facts of a library are found by its own proofs.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use formulanet::proofs::Method;
use formulanet::{Order, Policy, Symbols};
use formulanet_train::eval::{TheoryOptions, TheoryTest, theory_table};

use super::Arguments;
use crate::input::{RerankArguments, at_least_one, one_of};
use crate::output::Output;
use crate::processes::speaks;
use crate::progress::Bar;
use crate::usage::{refuse_given, wrong};

/// Queries to a library.
#[derive(Args)]
#[command(next_help_heading = "Theories")]
pub(super) struct TheoryArguments {
    /// Facts file: JSON Lines in dependency order with name, statement, syntax (hol or tptp) and proof (names)
    #[arg(long, value_name = "FILE")]
    theory: Option<String>,
    /// Query the last N facts that have a proof, each as if the library ended before it
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "theory", conflicts_with = "test")]
    test_last: Option<usize>,
    /// Query the facts of a file with lines `name: name name`; all proofs are known except their own
    #[arg(long, value_name = "FILE", requires = "theory")]
    test: Option<String>,
    /// Ranking method [default: auto for JSON, all methods for text]
    #[arg(long, value_name = "auto|knn|nbayes|mesh|mepo|popularity", value_parser = method, requires = "theory")]
    method: Option<Method>,
    /// Write the best 256 facts of each query: `name:premise premise ...`
    #[arg(long, value_name = "FILE", requires = "theory")]
    rankings: Option<PathBuf>,
    /// Treat circular and forward references in proofs as errors
    #[arg(long, requires = "theory")]
    strict: bool,
    /// Ignore all proofs, as in a library without them
    #[arg(long, requires = "theory")]
    without_proofs: bool,
    /// Sort by probability, or by lift, which downweights facts that most proofs use (--method auto)
    #[arg(long, value_name = "ORDER", value_parser = one_of(&Order::ALL))]
    order: Option<Order>,
    #[command(flatten)]
    reranking: RerankArguments,
}

impl TheoryArguments {
    pub(super) fn is_given(&self) -> bool {
        self.theory.is_some()
    }
}

fn method(text: &str) -> Result<Method, String> {
    let found = Method::ALL.iter().find(|(name, _)| *name == text).map(|(_, method)| *method);
    found.ok_or_else(|| format!("expected one of {}", Method::ALL.map(|(name, _)| name).join(", ")))
}

/// Measures ways to rank.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let asked = &arguments.theory;
    let flags = [
        ("--model", arguments.model.is_some()),
        ("--data", arguments.data.is_some()),
        ("--split", arguments.split.is_some()),
        ("--limit-pairs", arguments.limit_pairs.is_some()),
        ("--report", arguments.report.is_some()),
        ("--predictions", arguments.predictions.is_some()),
        ("--group-size", arguments.group_size.is_some()),
        ("--useful-share", arguments.useful_share.is_some()),
        ("--symbols", arguments.symbols != Symbols::Named),
        ("--keep-going", arguments.keep_going),
    ];
    refuse_given(&flags, "--theory")?;
    // One process is enough.
    if !speaks() {
        return Ok(());
    }
    let file = asked.theory.as_deref().unwrap_or_default();
    let test = match (asked.test_last, &asked.test) {
        (Some(number), _) => TheoryTest::last(file, number, asked.strict)?,
        (None, Some(tests)) => TheoryTest::given(file, tests, asked.strict)?,
        (None, None) => return Err(wrong("--theory needs --test-last or --test, which say what to ask for")),
    };
    test.warnings().for_each(|oddity| tell!("warning: {oddity}"));
    let methods = match (asked.method, arguments.format, &asked.rankings) {
        (Some(method), ..) => vec![method],
        (None, Output::Text, None) => Method::ALL.map(|(_, method)| method).to_vec(),
        _ => vec![Method::Auto],
    };
    let mut engine = arguments.compute.engine();
    if let Some(reranker) = asked.reranking.reranker()? {
        engine = engine.reranker(reranker);
    }
    let mut policy = Policy::default().rerank(asked.reranking.rerank());
    if let Some(order) = asked.order {
        policy = policy.order(order);
    }
    let options = TheoryOptions { policy, without_proofs: asked.without_proofs };
    let outcomes = test.run(&engine.build()?, &methods, options, &Bar::new())?;
    let Some(first) = outcomes.first() else { return Ok(()) };
    if let Some(path) = &asked.rankings {
        let shown = || format!("cannot write `{}`", path.display());
        fs::write(path, test.rankings(first)).with_context(shown)?;
    }
    let report = first.report();
    let heading = format!("{} facts, {} asked for\n\n", report.facts, report.tests);
    arguments.format.print(heading + &theory_table(&outcomes), &report)
}
