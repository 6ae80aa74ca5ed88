//! How early methods put what proofs used, fact by fact in the order of a library.

use std::collections::BTreeMap;
use std::time::Instant;

use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::corpus::VectorColumn;
use formulanet::logic::{Interner, hol};
use formulanet::proofs::{Features, Method, ProofIndex};
use formulanet::read::{JsonLines, ProofCorpusFile, ProofWarnings};
use formulanet::util::vector::share;
use formulanet::{Corpus, Engine, Goal, Policy, Query};
use serde::Serialize;

use crate::{Error, Progress, Stage};

/// After how many facts recall is measured.
pub const THEORY_CUTOFFS: [usize; 4] = [16, 32, 64, 256];
/// The number of facts of a ranking that are evaluated.
const LOOKED_AT: usize = 1024;
/// Facts that are embedded between two signs of progress.
const EMBEDDED_TOGETHER: usize = 1024;

/// A library of which some proofs are asked for.
pub struct TheoryTest {
    file: ProofCorpusFile,
    features: Vec<Features>,
    /// Facts and what their proofs used, in the order of the library.
    tests: Vec<(usize, Vec<u32>)>,
    /// Whether proofs are known only of facts before the one that is asked for.
    is_growing: bool,
    /// Strange names in the file of tests.
    warnings: ProofWarnings,
}

/// How facts are ranked.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TheoryOptions {
    /// How the engine ranks, for [`Method::Auto`].
    pub policy: Policy,
    /// Whether no proof is known.
    pub without_proofs: bool,
}

impl TheoryTest {
    /// Reads a facts file, to query its last facts with proofs, each as if the library ended before it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has no proof.
    pub fn last(file: &str, number: usize, is_strict: bool) -> Result<Self, Error> {
        let mut test = Self::read(file, is_strict)?;
        let proved = (0..test.file.facts.len()).filter_map(|fact| {
            let used = test.file.facts[fact].proof.as_ref().filter(|used| !used.is_empty());
            used.map(|used| (fact, used.clone()))
        });
        let mut tests: Vec<_> = proved.collect();
        tests.drain(..tests.len().saturating_sub(number));
        if tests.is_empty() {
            return Err(Error::input(file, "expected facts with proofs that use others, found none"));
        }
        test.tests = tests;
        Ok(test)
    }

    /// Reads a theory file, all proofs of which will be known, and a file of the proofs that will be asked for: `name: name
    /// name` on every line. A fact's own proof is never known when it is asked for.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or names a fact to ask for that is not there.
    pub fn given(file: &str, tests: &str, is_strict: bool) -> Result<Self, Error> {
        let mut test = Self::read(file, is_strict)?;
        test.is_growing = false;
        let mut lines = JsonLines::open(tests)?;
        let mut asked: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        while let Some((number, line)) = lines.next_line()? {
            let place = format!("{tests}:{number}");
            let Some((name, used)) = line.split_once(':') else {
                return Err(Error::input(place, "expected `name: name name ...`, found a line without `:`"));
            };
            let name = name.trim();
            let Some(fact) = test.file.number(name) else {
                return Err(Error::input(
                    place,
                    format!("expected a fact of {file}, found `{name}`, which is not there"),
                ));
            };
            let used =
                test.file.resolve(&place, fact, used.split_whitespace(), is_strict, &mut test.warnings)?;
            if asked.insert(fact, used).is_some() {
                return Err(Error::input(place, format!("expected each name once, found `{name}` again")));
            }
        }
        test.tests = asked.into_iter().filter(|(_, used)| !used.is_empty()).collect();
        if test.tests.is_empty() {
            return Err(Error::input(tests, "expected facts with proofs that use others, found none"));
        }
        Ok(test)
    }

    fn read(file: &str, is_strict: bool) -> Result<Self, Error> {
        let mut features = Vec::new();
        let file = ProofCorpusFile::read(
            file,
            &hol::Options::default(),
            is_strict,
            &mut Interner::new(),
            &mut |_, formula, names| features.push(Features::of(formula, names)),
        )?;
        let (tests, warnings) = (Vec::new(), ProofWarnings::default());
        Ok(TheoryTest { file, features, tests, is_growing: true, warnings })
    }

    /// Warnings about references of proofs, for the user.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        [&self.file.warnings, &self.warnings].into_iter().filter_map(ProofWarnings::report)
    }

    /// Asks each method for every fact that is tested. [`Method::Auto`] is the engine's own ranking.
    ///
    /// # Errors
    ///
    /// If a statement cannot be read, or `progress` stops it.
    pub fn run(
        &self,
        engine: &Engine,
        methods: &[Method],
        options: TheoryOptions,
        progress: &dyn Progress,
    ) -> Result<Vec<TheoryOutcome>, Error> {
        let mut outcomes: Vec<TheoryOutcome> =
            methods.iter().map(|&method| TheoryOutcome::new(method, self.file.facts.len())).collect();
        let is_ranked_by_engine = methods.contains(&Method::Auto);
        let mut library =
            if is_ranked_by_engine { Some(Growing::new(self, engine, progress)?) } else { None };
        progress.begin(Stage { name: "asking", done: 0, of: self.tests.len() as u64, unit: "facts" });
        let mut theory = ProofIndex::default();
        let mut grown = 0;
        let end = self.features.len();
        for (fact, used) in &self.tests {
            if progress.is_stopped() {
                return Err(Error::Interrupted);
            }
            let until = if self.is_growing { *fact + 1 } else { end };
            for number in grown..until {
                theory.add_fact(&self.features[number]);
                library.iter_mut().for_each(|library| library.add(number));
            }
            for number in grown.saturating_sub(1)..until {
                let is_known = !(options.without_proofs || self.is_growing && number == *fact);
                let proof = self.file.facts[number].proof.as_ref().filter(|_| is_known);
                if let Some(used) = proof.filter(|_| !theory.is_proved(number)) {
                    theory.add_proof(number, &numbers(used));
                    library.iter_mut().for_each(|library| library.add_proof(number, used));
                }
            }
            grown = until;
            let own = theory.take_proofs(*fact);
            for outcome in &mut outcomes {
                let start = Instant::now();
                let best = match (outcome.method, &library) {
                    (Method::Auto, Some(library)) => library.rank(*fact, options.policy)?,
                    (method, _) => {
                        let goal = theory.goal(&self.features[*fact]);
                        let ranked = theory.rank(&goal, *fact, method, LOOKED_AT);
                        ranked.into_iter().map(|(fact, _)| fact as u32).collect()
                    }
                };
                outcome.add(best, used, start.elapsed().as_secs_f64());
            }
            own.iter().for_each(|used| theory.add_proof(*fact, used));
            progress.advance(1);
        }
        Ok(outcomes)
    }

    /// The rankings of an outcome as lines `name:premise premise ...`, the best 256.
    pub fn rankings(&self, outcome: &TheoryOutcome) -> String {
        let mut text = String::new();
        for ((fact, _), ranking) in self.tests.iter().zip(&outcome.rankings) {
            let names: Vec<&str> =
                ranking.iter().map(|&fact| self.file.facts[fact as usize].name.as_str()).collect();
            text += &format!("{}:{}\n", self.file.facts[*fact].name, names.join(" "));
        }
        text
    }
}

/// A library in memory that grows as the facts file does, and is ranked by the engine.
struct Growing<'a> {
    test: &'a TheoryTest,
    engine: &'a Engine,
    premises: Vec<AnalyzedStatement>,
    rows: VectorColumn,
    corpus: Corpus,
}

impl<'a> Growing<'a> {
    fn new(test: &'a TheoryTest, engine: &'a Engine, progress: &dyn Progress) -> Result<Self, Error> {
        let facts = &test.file.facts;
        let language = facts.first().map_or_else(Default::default, |fact| fact.language);
        let model = engine.model_for(language)?;
        progress.begin(Stage { name: "embedding", done: 0, of: facts.len() as u64, unit: "facts" });
        let (mut analyzer, mut premises) = (Analyzer::new(&model.retriever), Vec::with_capacity(facts.len()));
        let mut rows = VectorColumn::new(model.retriever.width());
        for part in facts.chunks(EMBEDDED_TOGETHER) {
            if progress.is_stopped() {
                return Err(Error::Interrupted);
            }
            let read = part.iter().map(|fact| analyzer.analyze(&fact.name, &fact.text, fact.language));
            let read = read.collect::<Result<Vec<AnalyzedStatement>, _>>()?;
            rows.append(
                &model.retriever.rows(&read.iter().map(AnalyzedStatement::named).collect::<Vec<_>>()),
            );
            premises.extend(read);
            progress.advance(part.len() as u64);
        }
        let corpus = Corpus::growing(model, language);
        Ok(Growing { test, engine, premises, rows, corpus })
    }

    fn add(&mut self, fact: usize) {
        let is_added = self.corpus.push(&self.premises[fact], self.rows.get(fact));
        debug_assert!(is_added, "nothing else holds this corpus");
    }

    fn add_proof(&mut self, fact: usize, used: &[u32]) {
        let name = |fact: usize| self.test.file.facts[fact].name.clone();
        let used: Vec<String> = used.iter().map(|&used| name(used as usize)).collect();
        let is_added = self.corpus.push_proof(&name(fact), &used);
        debug_assert!(is_added, "nothing else holds this corpus");
    }

    fn rank(&self, fact: usize, policy: Policy) -> Result<Vec<u32>, Error> {
        let goal = Goal::Stored(self.test.file.facts[fact].name.clone());
        let query = Query::new(goal).policy(policy).k(LOOKED_AT);
        let ranking = self.engine.rank(&self.corpus, &query)?;
        Ok(ranking.hits.iter().map(|hit| hit.id.index() as u32).collect())
    }
}

fn numbers(used: &[u32]) -> Vec<usize> {
    used.iter().map(|&fact| fact as usize).collect()
}

/// The ranking of a method, and its evaluation.
pub struct TheoryOutcome {
    method: Method,
    facts: usize,
    rankings: Vec<Vec<u32>>,
    figures: Vec<Figures>,
    seconds: f64,
}

/// Figures of one ranking.
#[derive(Clone, Copy)]
struct Figures {
    recall: [f64; THEORY_CUTOFFS.len()],
    reciprocal: f64,
    precision: f64,
}

/// A mean and its standard error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// How far the mean of as many other facts would typically be.
    pub error: f64,
}

/// How early a method puts what proofs used.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TheoryReport {
    /// The number of the library's facts.
    pub facts: usize,
    /// The number of queried facts.
    pub tests: usize,
    /// The method's name.
    pub method: &'static str,
    /// Share of what a proof used that is among the first k.
    pub recall: BTreeMap<usize, f64>,
    /// Share of facts all of whose proof is among the first k.
    pub full: BTreeMap<usize, f64>,
    /// Mean of 1 / rank of the first fact that was used.
    pub mrr: f64,
    /// Mean of average precision; what is not among the first 1,024 counts as not found.
    pub map: f64,
    /// Time of a question, features of the goal known.
    pub seconds_per_query: f64,
}

impl TheoryOutcome {
    fn new(method: Method, facts: usize) -> Self {
        TheoryOutcome { method, facts, rankings: Vec::new(), figures: Vec::new(), seconds: 0.0 }
    }

    fn add(&mut self, mut ranking: Vec<u32>, used: &[u32], seconds: f64) {
        let ranked = ranking.iter().zip(1usize..);
        let hits: Vec<usize> =
            ranked.filter(|(fact, _)| used.binary_search(fact).is_ok()).map(|(_, rank)| rank).collect();
        let precisions = hits.iter().zip(1usize..).map(|(&rank, found)| found as f64 / rank as f64);
        self.figures.push(Figures {
            recall: THEORY_CUTOFFS.map(|at| share(hits.partition_point(|&rank| rank <= at), used.len())),
            reciprocal: hits.first().map_or(0.0, |&rank| 1.0 / rank as f64),
            precision: precisions.sum::<f64>() / used.len() as f64,
        });
        self.seconds += seconds;
        ranking.truncate(THEORY_CUTOFFS[3]);
        self.rankings.push(ranking);
    }

    /// Recall in the first 16, 32, 64 and 256, MRR and MAP, each with its standard error.
    pub fn measured(&self) -> [Measured; 6] {
        let of = |figure: &dyn Fn(&Figures) -> f64| {
            let number = self.figures.len().max(1) as f64;
            let mean = self.figures.iter().map(figure).sum::<f64>() / number;
            let squares = self.figures.iter().map(|figures| (figure(figures) - mean).powi(2)).sum::<f64>();
            Measured { mean, error: (squares / (number - 1.0).max(1.0) / number).sqrt() }
        };
        let recall = |at: usize| of(&move |figures: &Figures| figures.recall[at]);
        [
            recall(0),
            recall(1),
            recall(2),
            recall(3),
            of(&|figures| figures.reciprocal),
            of(&|figures| figures.precision),
        ]
    }

    /// All figures.
    pub fn report(&self) -> TheoryReport {
        let measured = self.measured();
        let full = |at: usize| self.figures.iter().filter(|figures| figures.recall[at] >= 1.0).count();
        let by_cutoff = |figure: &dyn Fn(usize) -> f64| {
            THEORY_CUTOFFS.iter().enumerate().map(|(at, &cutoff)| (cutoff, figure(at))).collect()
        };
        TheoryReport {
            facts: self.facts,
            tests: self.figures.len(),
            method: self.method.name(),
            recall: by_cutoff(&|at| measured[at].mean),
            full: by_cutoff(&|at| share(full(at), self.figures.len())),
            mrr: measured[4].mean,
            map: measured[5].mean,
            seconds_per_query: self.seconds / self.figures.len().max(1) as f64,
        }
    }
}

/// Figures of several methods side by side.
pub fn theory_table(outcomes: &[TheoryOutcome]) -> String {
    let headings = ["recall@16", "@32", "@64", "@256", "MRR", "MAP"];
    let mut text = format!("{:<11}", "method");
    headings.iter().for_each(|heading| text += &format!("  {heading:<13}"));
    text += "  ms\n";
    for outcome in outcomes {
        text += &format!("{:<11}", outcome.method.name());
        for Measured { mean, error } in outcome.measured() {
            text += &format!("  {mean:.3} ± {error:.3}");
        }
        text += &format!("  {:.1}\n", 1000.0 * outcome.report().seconds_per_query);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    const THEORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/theory.jsonl");
    const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/theory.tests");

    fn engine() -> Engine {
        Engine::new().unwrap()
    }

    #[test]
    fn figures_are_those_of_the_ranking() {
        let mut outcome = TheoryOutcome::new(Method::Popularity, 100);
        // Found at 1 and 20 of two, then at 2 of two, one of which is not there.
        outcome.add((10..60).collect(), &[10, 29], 0.5);
        outcome.add((10..60).collect(), &[2, 11], 0.1);
        let report = outcome.report();
        let by = |figures: [f64; 4]| THEORY_CUTOFFS.into_iter().zip(figures).collect::<BTreeMap<_, _>>();
        assert_eq!(report.recall, by([0.5, 0.75, 0.75, 0.75]));
        assert_eq!(report.full, by([0.0, 0.5, 0.5, 0.5]));
        assert_eq!((report.facts, report.tests, report.method), (100, 2, "popularity"));
        assert_eq!((report.mrr, report.map), (0.75, ((1.0 + 0.1) / 2.0 + 0.25) / 2.0));
        assert!((report.seconds_per_query - 0.3).abs() < 1e-9);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["recall"]["64"], 0.75);
        // Two values that are 0.25 from their mean: a deviation of 0.354, divided by the root of 2.
        let Measured { mean, error } = outcome.measured()[4];
        assert!((mean, (error - 0.25).abs() < 1e-9) == (0.75, true));
    }

    #[test]
    fn a_growing_library_knows_what_came_before() {
        let test = TheoryTest::last(THEORY, 3, true).unwrap();
        assert_eq!(test.tests.iter().map(|(fact, _)| *fact).collect::<Vec<_>>(), [33, 34, 35]);
        let outcomes = test
            .run(&engine(), &[Method::Knn, Method::Popularity], TheoryOptions::default(), &Silent)
            .unwrap();
        for (outcome, method) in outcomes.iter().zip(["knn", "popularity"]) {
            let report = outcome.report();
            assert_eq!((report.tests, report.facts, report.method), (3, 36, method));
            assert!(report.recall[&32] > 0.6 && report.mrr > 0.1, "{report:?}");
        }
        // There are fewer candidates than the first 64, and popularity ranks them all.
        assert_eq!(outcomes[1].report().full[&64], 1.0);
        let rankings = test.rankings(&outcomes[0]);
        let lines: Vec<&str> = rankings.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("length_append_comm:") && !lines[0].contains("append_cancel"),
            "{}",
            lines[0]
        );
    }

    #[test]
    fn a_given_fact_does_not_know_its_own_proof() {
        let test = TheoryTest::given(THEORY, TESTS, true).unwrap();
        assert_eq!(test.tests.iter().map(|(fact, _)| *fact).collect::<Vec<_>>(), [32, 33]);
        let first = test.run(&engine(), &[Method::NaiveBayes], TheoryOptions::default(), &Silent).unwrap();
        // If its own proof counted, what it used would come first.
        assert!(first[0].report().map < 0.999, "{:?}", first[0].report());
        assert_eq!(test.warnings().count(), 0);
    }

    #[test]
    fn bad_tests_have_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tests");
        let shown = path.display().to_string();
        let check = |text: &str, is_strict: bool, expected: &str| {
            std::fs::write(&path, text).unwrap();
            let error = TheoryTest::given(THEORY, &shown, is_strict).err().unwrap().to_string();
            let error = error.replace(&shown, "TESTS");
            assert!(error.starts_with(expected), "expected {expected}\nfound {error}");
        };
        check("rev_rev rev_nil\n", false, "TESTS:1: expected `name: name name ...`");
        check("\nnobody: rev_nil\n", false, "TESTS:2: expected a fact of ");
        check("rev_rev: rev_nil\nrev_rev: rev_cons\n", false, "TESTS:2: expected each name once");
        check("rev_rev:\n", false, "TESTS: expected facts with proofs that use others");
        check("rev_nil: rev_rev\n", true, "TESTS:1: expected earlier facts, but the proof of `rev_nil`");
        std::fs::write(&path, "rev_rev: rev_nil rev_rev append_cancel other\n").unwrap();
        let test = TheoryTest::given(THEORY, &shown, false).unwrap();
        assert_eq!((test.warnings.unknown, test.warnings.circular, test.warnings.later), (1, 1, 1));
        assert_eq!(test.tests[0].1.len(), 1);
    }
}
