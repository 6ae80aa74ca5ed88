//! The stages of a ranking over one corpus.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

use formulanet_logic::problem::StatementBuilder;

use crate::Evidence;
#[cfg(feature = "sqlite")]
use crate::Library;
use crate::analyze::{AnalyzedStatement, Analyzer, GoalAnalysis};
use crate::corpus::{Inner, LibraryEntry, Stored, VectorColumn};
use crate::explain::{MOST_USERS, SymbolReader, counts, shared, symbols};
use crate::model::encode::Encoded;
use crate::policy::{Stage2, TUNING};
use crate::proofs::{Context, Features, GoalPosition, Method, ModelScores, SignalBlend, SignalTable};
use crate::ranking::apply_order;
use crate::rerank::JointReranker;
use crate::retrieve::proofs::{RerankStage, blended, next_to_model, put_first};
use crate::retrieve::{
    ProofRetriever, ScoredStatement, SymbolRetriever, VectorRetriever, VectorScan, best_first,
};
use crate::statement::parse;
use crate::util::glob::matches;
use crate::{Cancel, Duplicates, Error, Hit, Id, Order, Scope, Statement};

/// Rows that are scored between two checks.
const ROWS: usize = 8192;

/// A ranking in the making.
pub(crate) struct Run<'a> {
    pub(crate) corpus: &'a Inner,
    /// The library, if it is streamed from its file.
    #[cfg(feature = "sqlite")]
    pub(crate) library: Option<&'a Library>,
    pub(crate) cancel: &'a Cancel,
    /// Statements of a streamed library without their texts, known once they are scored.
    known: Vec<LibraryEntry>,
}

/// One goal, and which statements may be used for it.
pub(crate) struct GoalTask {
    pub(crate) goal: GoalAnalysis,
    /// The name of the goal among the library's statements, if it is one of them.
    pub(crate) stored: Option<String>,
}

/// Scores for one or more goals.
pub(crate) struct Scores {
    pub(crate) scores: Vec<f32>,
    /// Scores before the order, where they estimate a probability.
    pub(crate) probabilities: Option<Vec<f32>>,
    /// Scores without a goal, where the model or the library's proofs have them.
    pub(crate) base_rates: Option<Vec<f32>>,
}

impl<'a> Run<'a> {
    #[cfg(feature = "sqlite")]
    pub(crate) fn new(corpus: &'a Inner, library: Option<&'a Library>, cancel: &'a Cancel) -> Self {
        Run { corpus, library, cancel, known: Vec::new() }
    }

    #[cfg(not(feature = "sqlite"))]
    pub(crate) fn new(corpus: &'a Inner, cancel: &'a Cancel) -> Self {
        Run { corpus, cancel, known: Vec::new() }
    }

    fn retriever(&self) -> &'a VectorRetriever {
        &self.corpus.model.retriever
    }

    fn local(&self) -> &'a [AnalyzedStatement] {
        &self.corpus.local
    }

    /// The model's scores, and its scores without a goal if they are wanted and it has them.
    pub(crate) fn by_model(&mut self, goal: &Encoded, with_base: bool) -> Result<Scores, Error> {
        self.cancel.check()?;
        self.known.clear();
        let retriever = self.retriever();
        let query = retriever.goal_vector(goal);
        let base_query = if with_base { retriever.typical_goal_vector() } else { None };
        let mut scoring = retriever.scan(&query);
        let mut base = base_query.as_ref().map(|query| retriever.scan(query));
        let cancel = self.cancel;
        let mut add = |rows: &VectorColumn| -> Result<(), Error> {
            for start in (0..rows.len()).step_by(ROWS) {
                cancel.check()?;
                let range = start..(start + ROWS).min(rows.len());
                scoring.add_range(rows, range.clone());
                base.iter_mut().for_each(|base| base.add_range(rows, range.clone()));
            }
            Ok(())
        };
        match &self.corpus.stored {
            Some(Stored::Held(snapshot)) => add(&snapshot.rows)?,
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => {
                let known = &mut self.known;
                self.library.ok_or(Error::NoStatements)?.scan(|mut entries, rows| {
                    entries.iter_mut().for_each(|entry| entry.statement.text = String::new());
                    known.extend(entries);
                    add(rows)
                })?;
            }
            None => {}
        }
        add(self.corpus.local_rows(cancel)?)?;
        let (scores, base_rates) = (scoring.finish(), base.map(VectorScan::finish));
        cancel.check()?;
        if scores.is_empty() {
            Err(Error::NoStatements)
        } else {
            Ok(Scores { scores, probabilities: None, base_rates })
        }
    }

    /// Scores by the learned ranker, which weighs what the statements say, what the library's recorded proofs used and what the
    /// model says; re-ranked.
    pub(crate) fn by_learned(
        &mut self,
        task: &mut GoalTask,
        scope: &Scope,
        stage: Option<(&JointReranker, Stage2)>,
        order: Order,
        ineligible: &mut Vec<bool>,
    ) -> Result<Scores, Error> {
        let Scores { mut scores, base_rates, .. } = self.by_model(&task.goal.encoded, true)?;
        let end = self.place(scope, task)?;
        *ineligible = self.ineligible(task, scope, end);
        let mut index = self.index()?;
        if task.stored.is_some() && index.index().is_proved(end) {
            let mut without = index.into_owned();
            without.take_proofs(end);
            index = Cow::Owned(without);
        }
        let has_place = task.stored.is_some() || scope.before.is_some();
        let position = match index.is_ordered() {
            false => GoalPosition::Unordered,
            true if has_place => GoalPosition::End,
            true => GoalPosition::NearestFact,
        };
        let model = ModelScores {
            scores: &scores,
            base_rates: base_rates.as_deref(),
            known: 1.0 - task.goal.encoded.unknown_share(),
        };
        let has_model = self.retriever().model().is_some();
        let context = Context { position, model: has_model.then_some(model) };
        let before = if has_place && self.local().is_empty() { end } else { index.index().len() };
        let features = Features::of(&task.goal.formula, &task.goal.names);
        let has_proofs = index.index().proof_count() > 0;
        let found = if has_proofs && index.index().len() < TUNING.learned_from {
            let goal = index.index().goal(&features);
            let found = index.index().rank(&goal, before, Method::Mesh, before);
            let weight = TUNING.model_weight * (1.0 - task.goal.encoded.unknown_share());
            next_to_model(found.into_iter().filter(|(fact, _)| !ineligible[*fact]), &scores, weight)
        } else {
            let signals = index.signals(&features, before, context, |number| !ineligible[number]);
            self.cancel.check()?;
            self.blended(&signals, &mut task.goal, stage.filter(|_| has_proofs))?
        };
        let base_rates = if has_proofs { Some(index.index().use_shares()) } else { base_rates };
        put_first(&mut scores, &found);
        if let Some(stage) = stage.filter(|_| !has_proofs) {
            self.rerank(&mut task.goal, ineligible, stage, &mut scores)?;
        }
        self.cancel.check()?;
        let probabilities = Some(scores.clone());
        apply_order(order, &mut scores, base_rates.as_deref());
        Ok(Scores { scores, probabilities, base_rates })
    }

    /// The candidates with their log-odds, re-ranked next to recorded proofs.
    fn blended(
        &self,
        signals: &SignalTable,
        goal: &mut GoalAnalysis,
        stage: Option<(&JointReranker, Stage2)>,
    ) -> Result<Vec<(usize, f32)>, Error> {
        let options = self.retriever().hol_options();
        let GoalAnalysis { formula, names, .. } = goal;
        let mut builder = StatementBuilder::new(options.limits);
        let reranker = stage.map(|(reranker, _)| reranker);
        let goal = reranker.and_then(|_| builder.build(formula).ok());
        let names = RefCell::new(names);
        let graph = |number: usize| {
            let Statement { text, language, .. } = self.statement(number).ok()?;
            let formula = parse(&text, language, &options, &mut names.borrow_mut()).ok()?;
            builder.build(&formula).ok().map(Cow::Owned)
        };
        let stage = reranker.zip(goal.as_ref()).map(|(reranker, goal)| RerankStage { reranker, goal });
        let name = |symbol: u32| reranker.map_or(0, |reranker| reranker.name(symbol, &names.borrow()));
        blended(signals, SignalBlend::built_in(), stage, graph, name)
    }

    /// Scores by the symbols that goal and statements share, whatever their names; re-ranked, with familiar statements after
    /// the best few.
    pub(crate) fn by_symbols(
        &self,
        goal: &mut GoalAnalysis,
        features: &[Features],
        ineligible: &[bool],
        stage: Option<(&JointReranker, Stage2)>,
    ) -> Result<Vec<f32>, Error> {
        self.cancel.check()?;
        let mut found = SymbolRetriever::new(&Features::of(&goal.formula, &goal.names), features);
        self.cancel.check()?;
        let Some(stage) = stage else { return Ok(found.scores) };
        self.rerank(goal, ineligible, stage, &mut found.scores)?;
        Ok(found.with_familiar())
    }

    /// Scores the best once more, above all others.
    pub(crate) fn rerank(
        &self,
        goal: &mut GoalAnalysis,
        ineligible: &[bool],
        (reranker, stage): (&JointReranker, Stage2),
        scores: &mut [f32],
    ) -> Result<(), Error> {
        for number in (0..scores.len()).filter(|&number| ineligible[number]) {
            scores[number] = -1.0;
        }
        let GoalAnalysis { formula, names, .. } = goal;
        let statement = |number| self.statement(number);
        reranker.rescore((scores, stage), statement, formula, &self.retriever().hol_options(), names)?;
        self.cancel.check()
    }

    /// The features of the statements, independent of names.
    pub(crate) fn features(&mut self) -> Result<Vec<Features>, Error> {
        if self.known.is_empty() {
            self.load_known()?;
        }
        let mut analyzer = Analyzer::new(self.retriever());
        let mut features = Vec::with_capacity(self.len());
        for number in 0..self.stored_count() {
            self.cancel.check()?;
            let Statement { name, text, language } = self.statement(number)?;
            features.push(analyzer.analyze(&name, &text, language)?.features);
        }
        for premise in self.local() {
            if features.len() % 64 == 0 {
                self.cancel.check()?;
            }
            features.push(match premise.features == Features::default() {
                true => analyzer.analyze(&premise.name, &premise.text, premise.language)?.features,
                false => premise.features.clone(),
            });
        }
        if features.is_empty() { Err(Error::NoStatements) } else { Ok(features) }
    }

    fn load_known(&mut self) -> Result<(), Error> {
        #[cfg(feature = "sqlite")]
        if let Some(library) = self.library {
            library.scan(|mut entries, _| {
                entries.iter_mut().for_each(|entry| entry.statement.text = String::new());
                self.known.extend(entries);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The number of statements of the library that come before the goal.
    pub(crate) fn place(&self, scope: &Scope, task: &GoalTask) -> Result<usize, Error> {
        let Some(name) = task.stored.as_ref().or(scope.before.as_ref()) else {
            return Ok(self.stored_count());
        };
        let place = self.entries().iter().position(|entry| entry.statement.name == *name);
        place.ok_or_else(|| Error::NoSuchStatement { library: "library".to_owned(), name: name.clone() })
    }

    /// Statements that may not be used: those that come too late or are in other modules, those that say what the goal says,
    /// and those of the library whose name a local one has.
    pub(crate) fn ineligible(&self, task: &GoalTask, scope: &Scope, end: usize) -> Vec<bool> {
        let graph = task.goal.encoded.fingerprint();
        // What a statement of the library says may have been said before it.
        let drops = scope.duplicates == Duplicates::Drop && task.stored.is_none();
        let is_goal = |other: u64| drops && other == graph;
        let fits = |module: &str| {
            scope.modules.is_empty() || scope.modules.iter().any(|pattern| matches(pattern, module))
        };
        let local: HashSet<&str> = self.local().iter().map(|premise| premise.name.as_str()).collect();
        let stored = self.entries().iter().enumerate().map(|(number, entry)| {
            number >= end
                || is_goal(entry.graph)
                || !fits(&entry.module)
                || local.contains(entry.statement.name.as_str())
        });
        let is_kept = self.corpus.is_problem;
        let own = self.local().iter().map(|premise| !is_kept && is_goal(premise.encoded.fingerprint()));
        stored.chain(own).collect()
    }

    /// The graph of each statement that is not a problem's own axiom, with its number.
    pub(crate) fn graphs(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let own: &[AnalyzedStatement] = if self.corpus.is_problem { &[] } else { self.local() };
        let stored = self.entries().iter().map(|entry| entry.graph);
        stored.chain(own.iter().map(|statement| statement.encoded.fingerprint())).enumerate()
    }

    /// The features of the statements, and the library's recorded proofs.
    pub(crate) fn index(&self) -> Result<Cow<'a, ProofRetriever>, Error> {
        if let Some(index) = self.corpus.index.get() {
            return Ok(Cow::Borrowed(index));
        }
        let stored = match &self.corpus.stored {
            Some(Stored::Held(snapshot)) => snapshot.learned.as_ref().map(Cow::Borrowed),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => match self.library {
                Some(library) => library.learned()?.map(Cow::Owned),
                None => None,
            },
            None => None,
        };
        if self.local().is_empty() {
            return Ok(stored.unwrap_or_default());
        }
        let mut index = stored.unwrap_or_default().into_owned();
        for premise in self.local() {
            index.add_fact(premise.name.clone(), &premise.features);
        }
        // A file is read again by the next query, which may find it changed.
        match &self.corpus.stored {
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => Ok(Cow::Owned(index)),
            _ => Ok(Cow::Borrowed(self.corpus.index.get_or_init(|| index))),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.stored_count() + self.local().len()
    }

    pub(crate) fn name(&self, number: usize) -> &str {
        match number.checked_sub(self.stored_count()) {
            None => &self.entries()[number].statement.name,
            Some(own) => &self.local()[own].name,
        }
    }

    /// A statement by its number.
    ///
    /// # Errors
    ///
    /// Returns an error if it was removed from a streamed library meanwhile.
    pub(crate) fn statement(&self, number: usize) -> Result<Statement, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            let AnalyzedStatement { name, text, language, .. } = &self.local()[own];
            return Ok(Statement { name: name.clone(), text: text.clone(), language: *language });
        }
        match &self.corpus.stored {
            Some(Stored::Held(snapshot)) => Ok(snapshot.entries[number].statement.clone()),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => {
                let library = self.library.ok_or(Error::NoStatements)?;
                library.statement(&self.known[number].statement.name)
            }
            None => Err(Error::NoStatements),
        }
    }

    /// The statements whose vectors are closest to a formula's.
    #[cfg_attr(not(feature = "sqlite"), allow(unused_mut, reason = "libraries are files of SQLite"))]
    pub(crate) fn closest(mut self, formula: &Encoded, k: usize) -> Result<Vec<Hit>, Error> {
        let (retriever, mut cosines) = (self.retriever(), Vec::new());
        retriever.network()?;
        match &self.corpus.stored {
            Some(Stored::Held(snapshot)) => cosines = retriever.similarities(formula, &snapshot.rows),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => {
                let known = &mut self.known;
                self.library.ok_or(Error::NoStatements)?.scan(|entries, rows| {
                    cosines.extend(retriever.similarities(formula, rows));
                    known.extend(entries);
                    Ok(())
                })?;
            }
            None => {}
        }
        cosines.extend(retriever.similarities(formula, self.corpus.local_rows(self.cancel)?));
        self.cancel.check()?;
        let mut closest = best_first(&cosines);
        closest.truncate(k);
        let hit = |ranked: ScoredStatement| {
            let number = ranked.statement;
            Ok(Hit {
                id: Id(number as u32),
                local: number.checked_sub(self.stored_count()),
                statement: self.statement(number)?,
                score: ranked.score,
                probability: None,
                base_rate: None,
                evidence: None,
            })
        };
        closest.into_iter().map(hit).collect()
    }

    /// Why statements were taken.
    pub(crate) fn evidence(&self, taken: &[usize], task: &[GoalTask]) -> Result<Vec<Evidence>, Error> {
        let (mut reader, learned) = (SymbolReader::new(self.retriever()), self.index()?);
        let learned = Some(learned).filter(|index| index.index().proof_count() > 0);
        let goal = task.iter().flat_map(|task| symbols(&task.goal.formula, &task.goal.names));
        let goal = goal.collect();
        let features = learned.as_ref().zip(task.first());
        let features = features.map(|(_, task)| Features::of(&task.goal.formula, &task.goal.names));
        let indexed = learned.as_ref().zip(features.as_ref());
        let indexed = indexed.map(|(learned, features)| (learned.index(), learned.index().goal(features)));
        let statements = taken.iter().map(|&number| self.statement(number));
        let statements = statements.collect::<Result<Vec<Statement>, Error>>()?;
        let own: Vec<_> =
            statements.iter().map(|statement| reader.of(&statement.text, statement.language)).collect();
        let counts = counts(own.iter());
        let mut evidence = Vec::with_capacity(taken.len());
        for (&number, own) in taken.iter().zip(&own) {
            let users = indexed.as_ref().filter(|_| number < self.stored_count());
            let (uses, users) =
                users.map_or((0, Vec::new()), |(index, goal)| index.users(number, goal, MOST_USERS));
            evidence.push(Evidence {
                shared_symbols: shared(own, &goal, &counts),
                unknown_symbols: self.unknown(number)?,
                uses,
                used_by: users.into_iter().map(|user| self.name(user).to_owned()).collect(),
            });
        }
        Ok(evidence)
    }

    /// Symbols of a statement that the model does not know.
    fn unknown(&self, number: usize) -> Result<Vec<String>, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            return Ok(self.local()[own].encoded.unknown().to_vec());
        }
        let Statement { name, text, language } = self.statement(number)?;
        Ok(Analyzer::new(self.retriever()).analyze(&name, &text, language)?.encoded.unknown().to_vec())
    }

    pub(crate) fn stored_count(&self) -> usize {
        self.entries().len()
    }

    fn entries(&self) -> &[LibraryEntry] {
        match &self.corpus.stored {
            Some(Stored::Held(snapshot)) => &snapshot.entries,
            _ => &self.known,
        }
    }
}

impl Inner {
    /// Vectors of the local statements.
    fn local_rows(&self, cancel: &Cancel) -> Result<&VectorColumn, Error> {
        if let Some(rows) = self.local_rows.get() {
            return Ok(rows);
        }
        let retriever = &self.model.retriever;
        let mut rows = VectorColumn::new(retriever.width());
        for batch in cancel.batches(&self.local, |premise| &premise.encoded) {
            cancel.check()?;
            let named: Vec<_> = batch.iter().map(AnalyzedStatement::named).collect();
            match self.is_problem {
                // Problems that are read one after the other share most of their axioms.
                true => self.model.cached_rows(&named, &mut rows),
                false => rows.append(&retriever.rows(&named)),
            }
        }
        Ok(self.local_rows.get_or_init(|| rows))
    }
}

/// Gives each statement the better of two scores.
pub(crate) fn join(best: &mut [f32], other: &[f32]) {
    best.iter_mut().zip(other).for_each(|(best, other)| *best = best.max(*other));
}

/// Scores by the ranks that statements have in a named and in an anonymous order. The model knows what was useful elsewhere,
/// the other order what the symbols of the best mean: more of what a proof needs is among the first of both than of either.
pub(crate) fn fuse_by_rank(named: &[f32], anonymous: &[f32]) -> Vec<f32> {
    let mut fused = vec![0.0; named.len()];
    for (scores, weight) in [(named, 1.0), (anonymous, TUNING.anonymous_weight)] {
        for (rank, number) in ranks(scores).into_iter().enumerate() {
            fused[number] += weight / (TUNING.fusion_k + rank as f32);
        }
    }
    fused
}

/// Numbers of statements from the highest score to the lowest, of equal ones the earlier first.
fn ranks(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_count() {
        let scores = |order: &[usize]| -> Vec<f32> {
            let mut scores = vec![0.0; order.len()];
            order.iter().enumerate().for_each(|(rank, &number)| scores[number] = 1.0 / (1.0 + rank as f32));
            scores
        };
        let check = |named: &[usize], anonymous: &[usize], expected: &[usize]| {
            assert_eq!(ranks(&fuse_by_rank(&scores(named), &scores(anonymous))), expected);
        };
        check(&[2, 0, 1], &[2, 0, 1], &[2, 0, 1]);
        // Of two neighbors by the first, the second decides; but not of those that are far apart.
        check(&[0, 1, 2, 3], &[3, 2, 1, 0], &[0, 1, 2, 3]);
        check(&[0, 1, 2, 3], &[1, 2, 3, 0], &[1, 0, 2, 3]);
        check(&[], &[], &[]);
    }
}
