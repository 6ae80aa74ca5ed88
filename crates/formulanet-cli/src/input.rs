//! Flags that several commands share, and what they mean.

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use formulanet::analyze::{AnalyzedStatement, Analyzer, GoalAnalysis};
use formulanet::logic::hol::{self, Overload};
use formulanet::logic::{Formula, Interner, Limits, View, lean, tptp};
use formulanet::model::registry;
use formulanet::net::{Compute, Precision};
use formulanet::read::{Format, SkippedStatements, Source, is_goal, read_text};
use formulanet::retrieve::VectorRetriever;
use formulanet::{Engine, EngineBuilder, Goal, GoalFormula, Language, Library, Rerank, Take};
use formulanet_train::processes;

use crate::excerpt::remember;
use crate::output::shown;
use crate::processes::{group, speaks};
use crate::usage::{refuse, refuse_given, wrong};

/// Bounds on the size of input.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Read at most N bytes of a formula or line
    #[arg(long, value_name = "N", default_value_t = Limits::default().bytes)]
    max_bytes: usize,
    /// Read at most N nested brackets and binders
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: usize,
    /// Accept at most N nodes in a formula
    #[arg(long, value_name = "N", default_value_t = Limits::default().nodes)]
    max_nodes: usize,
    /// Accept at most N treelets in a graph
    #[arg(long, value_name = "N", default_value_t = Limits::default().treelets)]
    max_treelets: u64,
}

impl LimitArguments {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            bytes: self.max_bytes,
            depth: self.max_depth,
            nodes: self.max_nodes,
            treelets: self.max_treelets,
        }
    }
}

/// Language and names of a formula on the command line.
#[derive(Args)]
#[command(next_help_heading = "Reading the formula")]
pub(crate) struct FormulaArguments {
    /// Language of the formula [default: that of the statements, or hol]
    #[arg(long, value_name = "SYNTAX", value_parser = one_of(&Language::ALL))]
    pub(crate) syntax: Option<Language>,
    /// Type of overloaded operators such as `+` that operands do not determine [default: num]
    #[arg(long, value_name = "TYPE", value_parser = one_of(&Overload::ALL))]
    overload: Option<Overload>,
    /// Read these names as constants, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    constants: Vec<String>,
    /// Read these names as variables, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    variables: Vec<String>,
}

impl FormulaArguments {
    /// Reads a formula: the text itself, `@FILE`, or `-` for standard input.
    pub(crate) fn parse(&self, argument: &str, limits: Limits, names: &mut Interner) -> Result<Formula> {
        let options = hol::Options { limits, ..hol::Options::default() };
        self.parse_as(argument, self.syntax.unwrap_or_default(), options, names)
    }

    /// Reads a formula in a language, given the known names.
    pub(crate) fn parse_as(
        &self,
        argument: &str,
        syntax: Language,
        known: hol::Options,
        names: &mut Interner,
    ) -> Result<Formula> {
        let limits = known.limits;
        let problem = if syntax == Language::Tptp { problem_of(argument)? } else { None };
        let (source, text) = written(argument, problem, limits)?;
        remember(&source, &text);
        let formula = match syntax {
            Language::Hol | Language::HolWith(_) => {
                let names_known = known.names.with_constants(&self.constants).with_variables(&self.variables);
                let overload = self.overload.unwrap_or_default();
                let options = hol::Options { names: names_known, overload, limits };
                hol::parse(&text, &options, names)
            }
            Language::Tptp => {
                refuse_given(&self.given(), "a formula of TPTP")?;
                tptp::parse_formula(&text, tptp::Language::Fof, limits, names)
            }
            Language::Lean => {
                refuse_given(&self.given(), "a formula of Lean")?;
                lean::parse(&text, limits, names)
            }
        };
        formula.map_err(|cause| formulanet::Error::Parse { file: source, cause }.into())
    }

    /// A formula of TPTP as it is written: the text itself, that of a file, or the conjecture of a problem.
    pub(crate) fn text(&self, argument: &str, limits: Limits) -> Result<String> {
        refuse_given(&self.given(), "a formula of TPTP")?;
        match (argument.strip_prefix('@'), problem_of(argument)?) {
            (_, Some(problem)) => Ok(conjecture_of(problem, limits)?),
            (Some(file), None) => Ok(read_text(file, limits.bytes)?),
            (None, None) if argument == "-" => Ok(read_text("-", limits.bytes)?),
            (None, None) => Ok(argument.to_owned()),
        }
    }

    /// A formula as a goal: the text itself, `@FILE`, `-` for standard input, or the conjecture of a problem.
    pub(crate) fn goal(&self, argument: &str, language: Language, limits: Limits) -> Result<Goal> {
        let problem = if language == Language::Tptp { problem_of(argument)? } else { None };
        let (source, text) = written(argument, problem, limits)?;
        remember(&source, &text);
        match language {
            Language::Tptp => refuse_given(&self.given(), "a formula of TPTP")?,
            Language::Lean => refuse_given(&self.given(), "a formula of Lean")?,
            Language::Hol | Language::HolWith(_) => {}
        }
        let language = match (language, self.overload) {
            (Language::Tptp | Language::Lean, _) => language,
            (_, overload) => Language::HolWith(overload.unwrap_or_default()),
        };
        let (constants, variables) = (self.constants.clone(), self.variables.clone());
        Ok(GoalFormula { text, language: Some(language), constants, variables, source }.into())
    }

    /// Reads a formula as a model does.
    pub(crate) fn question(
        &self,
        argument: &str,
        syntax: Language,
        retriever: &VectorRetriever,
    ) -> Result<GoalAnalysis> {
        let mut names = Interner::new();
        let formula = self.parse_as(argument, syntax, retriever.hol_options(), &mut names)?;
        Ok(GoalAnalysis::new(retriever, formula, names, "formula")?)
    }

    /// Flags that only HOL Light's syntax has a use for, and whether they were given.
    fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--overload", self.overload.is_some()),
            ("--constants", !self.constants.is_empty()),
            ("--variables", !self.variables.is_empty()),
        ]
    }

    /// Refuses all of these flags where there is no formula on the command line.
    pub(crate) fn refuse(&self, with: &str) -> Result<()> {
        refuse_given(&[("--syntax", self.syntax.is_some())], with)?;
        refuse_given(&self.given(), with)
    }
}

/// The place and the text of a formula argument.
fn written(argument: &str, problem: Option<Source>, limits: Limits) -> Result<(String, String)> {
    Ok(match (argument.strip_prefix('@'), problem) {
        (Some(file), Some(problem)) => (file.to_owned(), conjecture_of(problem, limits)?),
        (Some(file), None) => (file.to_owned(), read_text(file, limits.bytes)?),
        (None, _) if argument == "-" => ("-".to_owned(), read_text("-", limits.bytes)?),
        (None, _) => ("formula".to_owned(), argument.to_owned()),
    })
}

/// The language of statements: what comes first says it, unless the user does.
pub(crate) fn language_of(asked: Option<Language>, statements: Option<Language>) -> (Language, Language) {
    let statements = statements.or(asked).unwrap_or_default();
    (statements, asked.unwrap_or(statements))
}

/// The built-in model for a language.
pub(crate) fn model_for(language: Language) -> &'static str {
    registry::for_language(language)
}

/// Reads a statement that a library has.
pub(crate) fn parse_statement(
    text: &str,
    syntax: Language,
    options: &hol::Options,
    names: &mut Interner,
) -> Result<Formula> {
    let formula = formulanet::statement::parse(text, syntax, options, names);
    formula.map_err(|cause| formulanet::Error::Parse { file: "library".to_owned(), cause }.into())
}

/// The file of a conjecture `@FILE`, if it is a TPTP problem rather than a formula.
pub(crate) fn problem_of(conjecture: &str) -> Result<Option<Source>> {
    let file = conjecture.strip_prefix('@').filter(|file| *file != "-");
    let Some(file) = file else { return Ok(None) };
    Ok(Some(Source::open(file)?).filter(|source| source.format() == Format::Tptp))
}

/// The conjecture of a problem, as it is written. A file with a single formula has no other.
fn conjecture_of(problem: Source, limits: Limits) -> Result<String> {
    let file = problem.name().to_owned();
    let (mut reader, mut names) = (problem.problem(limits)?, Interner::new());
    let (mut goals, mut first, mut count) = (Vec::new(), None, 0);
    while let Some(statement) = reader.next(&mut names)? {
        if is_goal(&statement.annotated.role) {
            goals.push(statement.text.to_owned());
        }
        if statement.annotated.formula.is_some() {
            first.get_or_insert_with(|| statement.text.to_owned());
            count += 1;
        }
    }
    match (goals.len(), count, goals.pop().or(first)) {
        (1, _, Some(text)) | (0, 1, Some(text)) => Ok(text),
        (0, ..) => Err(formulanet::Error::NoConjecture { file }.into()),
        _ => bail!("{file}: expected one conjecture, found several; give one as --conjecture FORMULA"),
    }
}

/// Filters on ranked statements.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectionArguments {
    /// Drop statements that score lower than this
    #[arg(long, value_name = "SCORE", default_value_t = 0.0)]
    min_score: f32,
    /// Always take this statement, or those that match a pattern (`ADD_*`); they count towards K
    #[arg(long, value_name = "NAME")]
    include: Vec<String>,
    /// Never take this statement, or those that match a pattern
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
}

impl SelectionArguments {
    /// The filters, with at most `k` statements.
    pub(crate) fn take(&self, k: usize) -> Take {
        Take::new(k, self.min_score, self.include.clone(), self.exclude.clone())
    }

    /// Whether some statements must be taken.
    pub(crate) fn forces(&self) -> bool {
        !self.include.is_empty()
    }
}

/// Warns about patterns that match nothing.
pub(crate) fn warn_unmatched(unmatched: &[String]) {
    for pattern in unmatched {
        tell!("warning: no statement is called `{pattern}`");
    }
}

/// `--model`, with a built-in default.
#[derive(Args)]
pub(crate) struct ModelArgument {
    /// Model file, or name of a built-in model [default: chosen by the statements' language]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

impl ModelArgument {
    /// The given model, or a default.
    pub(crate) fn name<'a>(&'a self, default: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(default)
    }

    /// The given model, or a default, at work.
    pub(crate) fn retriever(
        &self,
        default: &str,
        compute: &ComputeArguments,
        limits: Limits,
    ) -> Result<VectorRetriever> {
        Ok(VectorRetriever::named(self.name(default), compute.compute())?.with_limits(limits))
    }

    /// The model that made a library: the given one, or the one that the library names.
    pub(crate) fn retriever_of(
        &self,
        library: &Library,
        compute: &ComputeArguments,
        limits: Limits,
    ) -> Result<VectorRetriever> {
        let retriever = self.retriever(&library.info()?.model, compute, limits)?;
        library.check(&retriever)?;
        Ok(retriever)
    }

    /// The engine that the flags choose: a given model retrieves or re-ranks, whichever it was trained for.
    pub(crate) fn engine(
        &self,
        reranking: &RerankArguments,
        compute: &ComputeArguments,
        limits: Limits,
    ) -> Result<Engine> {
        let mut builder = Engine::builder().precision(compute.precision).threads(compute.threads());
        builder = builder.group(group()).limits(limits);
        if let Some(model) = &self.model {
            builder = builder.model(model);
        }
        let engine = builder.build()?;
        if engine.has_reranker() {
            reranking.refuse("a model that re-ranks")?;
        }
        Ok(match reranking.reranker()? {
            Some(reranker) => engine.with_reranker_named(reranker)?,
            None => engine,
        })
    }
}

/// Whether the best candidates are scored a second time, and by which model.
#[derive(Args)]
pub(crate) struct RerankArguments {
    /// Re-rank the best 256 candidates, jointly with the conjecture; auto: where this was measured to help
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = one_of(&Rerank::ALL))]
    rerank: Rerank,
    /// Re-rank with this model instead of the library's own or the built-in one
    #[arg(long, value_name = "MODEL")]
    reranker: Option<String>,
}

impl RerankArguments {
    /// Whether the best candidates are re-ranked.
    pub(crate) fn rerank(&self) -> Rerank {
        self.rerank
    }

    /// The model to re-rank with, if one was given.
    pub(crate) fn reranker(&self) -> Result<Option<&str>> {
        if self.rerank == Rerank::Off && self.reranker.is_some() {
            return Err(refuse("--reranker", "--rerank off"));
        }
        Ok(self.reranker.as_deref())
    }

    /// Refuses these flags where they have no effect.
    pub(crate) fn refuse(&self, with: &str) -> Result<()> {
        let flags = [("--rerank", self.rerank != Rerank::Auto), ("--reranker", self.reranker.is_some())];
        refuse_given(&flags, with)
    }
}

/// Resources of a network.
#[derive(Args)]
#[command(next_help_heading = "Computing")]
pub(crate) struct ComputeArguments {
    /// Precision of matrix products; auto uses bf16 if the CPU supports it
    #[arg(long, value_name = "auto|f32|bf16", default_value = "auto", value_parser = super::train::parse_word::<Precision>)]
    pub(crate) precision: Precision,
    /// Use N threads [default: all cores, shared with other processes of the same job]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl ComputeArguments {
    /// An engine that computes as these flags say.
    pub(crate) fn engine(&self) -> EngineBuilder {
        Engine::builder().precision(self.precision).threads(self.threads())
    }

    pub(crate) fn compute(&self) -> Compute {
        Compute::among(group(), self.precision, self.threads())
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| processes::threads(group())).max(1)
    }
}

/// `--input-format`
#[derive(Args)]
pub(crate) struct FormatArgument {
    /// Format of the files of statements [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Format::ALL))]
    input_format: Option<Format>,
}

impl FormatArgument {
    /// Opens files of statements, each once; `-` is standard input.
    pub(crate) fn open(&self, files: &[String]) -> Result<Vec<Source>> {
        files.iter().map(|file| Ok(Source::open(file)?.in_format(self.input_format))).collect()
    }
}

/// Refuses to read standard input twice.
pub(crate) fn refuse_stdin_twice<'a>(inputs: impl IntoIterator<Item = &'a str>) -> Result<()> {
    if inputs.into_iter().filter(|input| *input == "-").count() > 1 {
        return Err(wrong("standard input can be read only once: give the others as files"));
    }
    Ok(())
}

/// `--keep-going`
#[derive(Args)]
pub(crate) struct KeepGoingArgument {
    /// Skip and report statements that cannot be read or are too large
    #[arg(long)]
    pub(crate) keep_going: bool,
}

impl KeepGoingArgument {
    /// All statements of some sources, as an analyzer reads them.
    pub(crate) fn read_all(
        &self,
        analyzer: Analyzer<'_>,
        sources: Vec<Source>,
    ) -> Result<Vec<AnalyzedStatement>> {
        let (mut premises, mut analyzer) = (Vec::new(), self.analyzer(analyzer));
        for source in sources {
            for premise in analyzer.read(source)? {
                premises.push(premise?);
            }
        }
        report_skipped(&analyzer.skipped());
        Ok(premises)
    }

    /// Applies the flag to an analyzer.
    pub(crate) fn analyzer<'a>(&self, analyzer: Analyzer<'a>) -> Analyzer<'a> {
        if self.keep_going { analyzer.keep_going() } else { analyzer }
    }
}

/// Reports skipped statements: all of a few, the first of many.
pub(crate) fn report_skipped(skipped: &SkippedStatements) {
    if speaks() && skipped.count > 0 {
        skipped.first.iter().for_each(|message| tell!("skipped: {}", shown(message)));
        tell!("skipped {}", counted(skipped.count, "statement"));
    }
}

/// `--view`
#[derive(Args)]
pub(crate) struct ViewArgument {
    /// View: how a formula becomes a graph
    #[arg(long, default_value = "graph", value_parser = one_of(&View::ALL))]
    pub(crate) view: View,
}

/// Reads one of some names as the value that it stands for.
pub(crate) fn one_of<T: Copy + Send + Sync>(
    values: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|(name, _)| *name)).map(move |name: String| {
        let found = values.iter().find(|(known, _)| *known == name);
        found.expect("the argument parser accepts only these names").1
    })
}

/// A number from 1.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a number from 1".to_owned())
}

/// Adds what was being written to an error of the output.
pub(crate) fn writing<T>(result: std::io::Result<T>) -> Result<T> {
    result.context("cannot write the result")
}

/// `1 statement`, `2 statements`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
