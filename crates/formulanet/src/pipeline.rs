//! The stages of a ranking over one corpus.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

use formulanet_logic::problem::StatementBuilder;

#[cfg(feature = "sqlite")]
use crate::Library;
use crate::corpus::{Inner, Stored};
use crate::model::encode::Encoded;
use crate::policy::{Order, Stage2, TUNING};
use crate::query::{Duplicates, Scope};
use crate::rank::learned::{Learned, Together};
use crate::rank::reasons::{MOST_USERS, Reasons, Symbols, counts, shared, symbols};
use crate::rank::{
    Entry, Features, Intake, Nameless, Premise, Question, Ranked, Reading, Rows, Scoring, matches, order,
};
use crate::ranking::{Hit, Id, apply_order};
use crate::read::{Statement, parse};
use crate::{Cancel, Error, Ranker};

/// Weight of the model's log-odds next to the library's proofs, as far as it knows the goal's symbols: chosen on held-out
/// conjectures of HolStep and Mizar.
const MODEL_WEIGHT: f32 = 0.5;

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
    known: Vec<Entry>,
}

/// One goal, and which statements may be used for it.
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// The name of the goal among the library's statements, if it is one of them.
    pub(crate) stored: Option<String>,
}

/// Scores for one or more goals.
pub(crate) struct Scores {
    pub(crate) scores: Vec<f32>,
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

    fn ranker(&self) -> &'a Ranker {
        &self.corpus.model.ranker
    }

    fn local(&self) -> &'a [Premise] {
        &self.corpus.local
    }

    /// The model's scores, and its scores without a goal if they are wanted and it has them.
    pub(crate) fn by_model(&mut self, goal: &Encoded, with_base: bool) -> Result<Scores, Error> {
        self.cancel.check()?;
        self.known.clear();
        let ranker = self.ranker();
        let query = ranker.query(goal);
        let base_query = if with_base { ranker.usual_query() } else { None };
        let mut scoring = ranker.scoring(&query);
        let mut base = base_query.as_ref().map(|query| ranker.scoring(query));
        let cancel = self.cancel;
        let mut add = |rows: &Rows| -> Result<(), Error> {
            for start in (0..rows.len()).step_by(ROWS) {
                cancel.check()?;
                let range = start..(start + ROWS).min(rows.len());
                scoring.add_range(rows, range.clone());
                base.iter_mut().for_each(|base| base.add_range(rows, range.clone()));
            }
            Ok(())
        };
        match &self.corpus.stored {
            Some(Stored::Held(shelf)) => add(&shelf.rows)?,
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
        let (scores, base_rates) = (scoring.finish(), base.map(Scoring::finish));
        cancel.check()?;
        if scores.is_empty() { Err(Error::NoStatements) } else { Ok(Scores { scores, base_rates }) }
    }

    /// Scores by the library's recorded proofs and the model, re-ranked.
    pub(crate) fn by_proofs(
        &mut self,
        asked: &mut Asked,
        scope: &Scope,
        rerank: Option<&Reading>,
        order: Order,
        barred: &mut Vec<bool>,
    ) -> Result<Scores, Error> {
        let Scores { mut scores, .. } = self.by_model(&asked.question.encoded, false)?;
        let end = self.place(scope, asked)?;
        *barred = self.barred(&asked.question, scope, end);
        let mut learned = self.learned()?.ok_or(Error::NoStatements)?;
        let is_stored = asked.stored.is_some();
        if is_stored || !self.local().is_empty() {
            let mut changed = learned.into_owned();
            if is_stored {
                changed.take_proofs(end);
            }
            for premise in self.local() {
                changed.add_fact(premise.name.clone(), &premise.features);
            }
            learned = Cow::Owned(changed);
        }
        let shares = learned.theory().use_shares();
        let before = if self.local().is_empty() { end } else { learned.theory().len() };
        let is_barred = |number: usize| barred[number];
        self.weigh(&learned, &mut asked.question, (&mut scores, before), is_barred, rerank)?;
        self.cancel.check()?;
        apply_order(order, &mut scores, Some(&shares));
        Ok(Scores { scores, base_rates: Some(shares) })
    }

    fn weigh(
        &self,
        learned: &Learned,
        question: &mut Question,
        (scores, before): (&mut [f32], usize),
        is_barred: impl Fn(usize) -> bool,
        reading: Option<&Reading>,
    ) -> Result<(), Error> {
        let options = self.ranker().hol_options();
        let Question { formula, names, encoded } = question;
        let features = Features::of(formula, names);
        let weight = MODEL_WEIGHT * (1.0 - encoded.unknown_share());
        let mut builder = StatementBuilder::new(options.limits);
        let goal = reading.and_then(|_| builder.build(formula).ok());
        let names = RefCell::new(names);
        let graph = |number: usize| {
            let Statement { text, syntax, .. } = self.statement(number).ok()?;
            let formula = parse(&text, syntax, &options, &mut names.borrow_mut()).ok()?;
            builder.build(&formula).ok().map(Cow::Owned)
        };
        let together = reading.zip(goal.as_ref()).map(|(reading, goal)| Together { reading, goal });
        let name = |symbol: u32| reading.map_or(0, |reading| reading.name(symbol, &names.borrow()));
        learned.rescore((&features, before), (scores, weight), is_barred, together, graph, name)
    }

    /// Scores by the symbols that goal and statements share, whatever their names; re-ranked, with familiar statements after
    /// the best few.
    pub(crate) fn by_symbols(
        &self,
        question: &mut Question,
        features: &[Features],
        barred: &[bool],
        stage: Option<(&Reading, Stage2)>,
    ) -> Result<Vec<f32>, Error> {
        self.cancel.check()?;
        let mut found = Nameless::new(&Features::of(&question.formula, &question.names), features);
        self.cancel.check()?;
        let Some(stage) = stage else { return Ok(found.scores) };
        self.rerank(question, barred, stage, &mut found.scores)?;
        Ok(found.surrounded())
    }

    /// Scores the best once more, above all others.
    pub(crate) fn rerank(
        &self,
        question: &mut Question,
        barred: &[bool],
        (reading, stage): (&Reading, Stage2),
        scores: &mut [f32],
    ) -> Result<(), Error> {
        for number in (0..scores.len()).filter(|&number| barred[number]) {
            scores[number] = -1.0;
        }
        let Question { formula, names, .. } = question;
        let statement = |number| self.statement(number);
        reading.rescore((scores, stage), statement, formula, &self.ranker().hol_options(), names)?;
        self.cancel.check()
    }

    /// What statements are recognised by, whatever their names.
    pub(crate) fn features(&mut self) -> Result<Vec<Features>, Error> {
        if self.known.is_empty() {
            self.load_known()?;
        }
        let mut intake = Intake::new(self.ranker());
        let mut features = Vec::with_capacity(self.len());
        for number in 0..self.stored_count() {
            self.cancel.check()?;
            let Statement { name, text, syntax } = self.statement(number)?;
            features.push(intake.take(&name, &text, syntax)?.features);
        }
        for premise in self.local() {
            if features.len() % 64 == 0 {
                self.cancel.check()?;
            }
            features.push(match premise.features == Features::default() {
                true => intake.take(&premise.name, &premise.text, premise.syntax)?.features,
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
    pub(crate) fn place(&self, scope: &Scope, asked: &Asked) -> Result<usize, Error> {
        let Some(name) = asked.stored.as_ref().or(scope.before.as_ref()) else {
            return Ok(self.stored_count());
        };
        let place = self.entries().iter().position(|entry| entry.statement.name == *name);
        place.ok_or_else(|| Error::NoSuchStatement { library: "library".to_owned(), name: name.clone() })
    }

    /// Statements that may not be used: those that come too late or are in other modules, those that say what the goal says,
    /// and those of the library whose name a local one has.
    pub(crate) fn barred(&self, question: &Question, scope: &Scope, end: usize) -> Vec<bool> {
        let graph = question.encoded.fingerprint();
        let is_goal = |other: u64| scope.duplicates == Duplicates::Drop && other == graph;
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

    /// The library's recorded proofs, if there are any.
    fn learned(&self) -> Result<Option<Cow<'a, Learned>>, Error> {
        Ok(match &self.corpus.stored {
            Some(Stored::Held(shelf)) => shelf.learned.as_ref().map(Cow::Borrowed),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => match self.library {
                Some(library) => library.learned()?.map(Cow::Owned),
                None => None,
            },
            None => None,
        })
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
            let Premise { name, text, syntax, .. } = &self.local()[own];
            return Ok(Statement { name: name.clone(), text: text.clone(), syntax: *syntax });
        }
        match &self.corpus.stored {
            Some(Stored::Held(shelf)) => Ok(shelf.entries[number].statement.clone()),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => {
                let library = self.library.ok_or(Error::NoStatements)?;
                library.statement(&self.known[number].statement.name)
            }
            None => Err(Error::NoStatements),
        }
    }

    /// The statements whose vectors are closest to a formula's.
    pub(crate) fn closest(mut self, formula: &Encoded, k: usize) -> Result<Vec<Hit>, Error> {
        let (ranker, mut cosines) = (self.ranker(), Vec::new());
        ranker.network()?;
        match &self.corpus.stored {
            Some(Stored::Held(shelf)) => cosines = ranker.similarities(formula, &shelf.rows),
            #[cfg(feature = "sqlite")]
            Some(Stored::Streamed(_)) => {
                let known = &mut self.known;
                self.library.ok_or(Error::NoStatements)?.scan(|entries, rows| {
                    cosines.extend(ranker.similarities(formula, rows));
                    known.extend(entries);
                    Ok(())
                })?;
            }
            None => {}
        }
        cosines.extend(ranker.similarities(formula, self.corpus.local_rows(self.cancel)?));
        self.cancel.check()?;
        let mut closest = order(&cosines);
        closest.truncate(k);
        let hit = |ranked: Ranked| {
            let number = ranked.statement;
            Ok(Hit {
                id: Id(number as u32),
                local: number.checked_sub(self.stored_count()),
                statement: self.statement(number)?,
                score: ranked.score,
                base_rate: None,
                evidence: None,
            })
        };
        closest.into_iter().map(hit).collect()
    }

    /// Why statements were taken.
    pub(crate) fn evidence(&self, taken: &[usize], asked: &[Asked]) -> Result<Vec<Reasons>, Error> {
        let (mut reader, learned) = (Symbols::new(self.ranker()), self.learned()?);
        let goal = asked.iter().flat_map(|asked| symbols(&asked.question.formula, &asked.question.names));
        let goal = goal.collect();
        let features = learned.as_ref().zip(asked.first());
        let features =
            features.map(|(_, asked)| Features::of(&asked.question.formula, &asked.question.names));
        let indexed = learned.as_ref().zip(features.as_ref());
        let indexed = indexed.map(|(learned, features)| (learned.theory(), learned.theory().goal(features)));
        let statements = taken.iter().map(|&number| self.statement(number));
        let statements = statements.collect::<Result<Vec<Statement>, Error>>()?;
        let own: Vec<_> =
            statements.iter().map(|statement| reader.of(&statement.text, statement.syntax)).collect();
        let counts = counts(own.iter());
        let mut reasons = Vec::with_capacity(taken.len());
        for (&number, own) in taken.iter().zip(&own) {
            let users = indexed.as_ref().filter(|_| number < self.stored_count());
            let (uses, users) =
                users.map_or((0, Vec::new()), |(theory, goal)| theory.users(number, goal, MOST_USERS));
            reasons.push(Reasons {
                shared: shared(own, &goal, &counts),
                unknown: self.unknown(number)?,
                uses,
                used_by: users.into_iter().map(|user| self.name(user).to_owned()).collect(),
            });
        }
        Ok(reasons)
    }

    /// Symbols of a statement that the model does not know.
    fn unknown(&self, number: usize) -> Result<Vec<String>, Error> {
        if let Some(own) = number.checked_sub(self.stored_count()) {
            return Ok(self.local()[own].encoded.unknown().to_vec());
        }
        let Statement { name, text, syntax } = self.statement(number)?;
        Ok(Intake::new(self.ranker()).take(&name, &text, syntax)?.encoded.unknown().to_vec())
    }

    pub(crate) fn stored_count(&self) -> usize {
        self.entries().len()
    }

    fn entries(&self) -> &[Entry] {
        match &self.corpus.stored {
            Some(Stored::Held(shelf)) => &shelf.entries,
            _ => &self.known,
        }
    }
}

impl Inner {
    /// Vectors of the local statements.
    fn local_rows(&self, cancel: &Cancel) -> Result<&Rows, Error> {
        if let Some(rows) = self.local_rows.get() {
            return Ok(rows);
        }
        let ranker = &self.model.ranker;
        let mut rows = Rows::new(ranker.width());
        for batch in cancel.batches(&self.local, |premise| &premise.encoded) {
            cancel.check()?;
            let named: Vec<_> = batch.iter().map(Premise::named).collect();
            match self.is_problem {
                // Problems that are read one after the other share most of their axioms.
                true => self.model.cached_rows(&named, &mut rows),
                false => rows.append(&ranker.rows(&named)),
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
        for (rank, number) in best_first(scores).into_iter().enumerate() {
            fused[number] += weight / (TUNING.fusion_k + rank as f32);
        }
    }
    fused
}

/// Numbers of statements from the highest score to the lowest, of equal ones the earlier first.
fn best_first(scores: &[f32]) -> Vec<usize> {
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
            assert_eq!(best_first(&fuse_by_rank(&scores(named), &scores(anonymous))), expected);
        };
        check(&[2, 0, 1], &[2, 0, 1], &[2, 0, 1]);
        // Of two neighbors by the first, the second decides; but not of those that are far apart.
        check(&[0, 1, 2, 3], &[3, 2, 1, 0], &[0, 1, 2, 3]);
        check(&[0, 1, 2, 3], &[1, 2, 3, 0], &[1, 0, 2, 3]);
        check(&[], &[], &[]);
    }
}
