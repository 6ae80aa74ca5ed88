//! The axioms and proofs of all problems of a run, which rank the axioms of the next problem.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::engine::Model;
use formulanet::{Corpus, Duplicates, Engine, Language, Query, Symbols, Take};

use crate::prove::axioms::order;
use crate::prove::task::Task;

/// Constant of the reciprocal ranks that fuse the order by proofs with the order without them.
const FUSION: f64 = 16.0;

/// Axioms and proofs of problems that share symbols.
pub(crate) struct Memory(RwLock<State>);

struct State {
    /// Each distinct axiom once; a proved conjecture follows its axioms.
    corpus: Corpus,
    /// Names of axioms in the corpus, by their names and texts in problems.
    names: HashMap<(String, String), Arc<str>>,
    taken: HashSet<Arc<str>>,
    /// Orders without proofs, by problem.
    orders: HashMap<String, Vec<Vec<usize>>>,
    proofs: usize,
}

impl Memory {
    /// Makes a memory without axioms and proofs.
    pub(crate) fn new(model: &Arc<Model>) -> Self {
        Memory(RwLock::new(State {
            corpus: Corpus::growing(Arc::clone(model), Language::Tptp),
            names: HashMap::new(),
            taken: HashSet::new(),
            orders: HashMap::new(),
            proofs: 0,
        }))
    }

    /// Returns the orders of a problem's axioms: by the proofs so far and without them, fused by rank; by
    /// formulas alone; and by the proofs so far.
    pub(crate) fn orders(
        &self,
        engine: &Engine,
        model: &Arc<Model>,
        (task, axioms): (&Task, Vec<AnalyzedStatement>),
        query: &Query,
    ) -> Result<Vec<Vec<usize>>> {
        let names = self.add(model, &axioms);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).orders.get(&task.name).cloned();
        let without = match known {
            Some(known) => known,
            None => {
                let corpus = Corpus::of_local(Arc::clone(model), axioms, Language::Tptp, true);
                let query = query.clone().take(Take::at_most(usize::MAX));
                let order = |symbols: Symbols| order(engine, &corpus, &query, symbols);
                let found = vec![order(Symbols::Both)?, order(Symbols::Anonymous)?];
                let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
                state.orders.insert(task.name.clone(), found.clone());
                found
            }
        };
        let Some(learned) = self.by_proofs(engine, &names, query)? else { return Ok(without) };
        let fused = fused(&learned, &without[0]);
        Ok(vec![fused, without[1].clone(), whole(learned, &without[0])])
    }

    /// Adds the axioms that are new. Returns the names of all.
    pub(crate) fn add(&self, model: &Model, axioms: &[AnalyzedStatement]) -> Vec<Arc<str>> {
        let key = |axiom: &AnalyzedStatement| (axiom.name.clone(), axiom.text.clone());
        let new: Vec<&AnalyzedStatement> = {
            let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
            axioms.iter().filter(|axiom| !state.names.contains_key(&key(axiom))).collect()
        };
        let named: Vec<_> = new.iter().map(|axiom| axiom.named()).collect();
        let rows = model.retriever.rows(&named);
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (number, axiom) in new.into_iter().enumerate() {
            if !state.names.contains_key(&key(axiom)) {
                let name = state.unused(&axiom.name);
                let renamed = AnalyzedStatement { name: name.to_string(), ..axiom.clone() };
                let is_added = state.corpus.push(&renamed, rows.get(number));
                debug_assert!(is_added, "rankings end before the lock is free");
                state.names.insert(key(axiom), name);
            }
        }
        axioms.iter().filter_map(|axiom| state.names.get(&key(axiom)).cloned()).collect()
    }

    /// Returns the axioms of a problem ranked by the proofs of others; `None` before the first proof.
    fn by_proofs(&self, engine: &Engine, names: &[Arc<str>], query: &Query) -> Result<Option<Vec<usize>>> {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if state.proofs == 0 {
            return Ok(None);
        }
        let numbers: HashMap<&str, usize> =
            names.iter().enumerate().map(|(number, name)| (&**name, number)).collect();
        let query = query.clone().take(Take::at_most(usize::MAX)).duplicates(Duplicates::Keep);
        let ranking = engine.rank(&state.corpus, &query)?;
        let number = |name: &str| numbers.get(name).copied();
        Ok(Some(ranking.hits.iter().filter_map(|hit| number(&hit.statement.name)).collect()))
    }

    /// Adds a proof of a problem for the problems to come.
    ///
    /// # Errors
    ///
    /// Returns an error if a conjecture cannot be read.
    pub(crate) fn learn(&self, model: &Model, task: &Task, premises: &[String]) -> Result<()> {
        let used: HashSet<&str> = premises.iter().map(String::as_str).collect();
        let mut analyzer = Analyzer::new(&model.retriever);
        let mut goals = Vec::new();
        for goal in task.goals() {
            goals.push(analyzer.analyze(&goal.name, &goal.text, Language::Tptp)?);
        }
        let rows = model.retriever.rows(&goals.iter().map(AnalyzedStatement::named).collect::<Vec<_>>());
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let axioms = (0..task.axiom_count()).map(|number| task.axiom(number));
        let axioms = axioms.filter(|axiom| used.contains(axiom.name.as_str()));
        let key = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let used: Vec<String> = axioms
            .filter_map(|axiom| state.names.get(&key(&axiom.name, &axiom.text)).map(Arc::to_string))
            .collect();
        for (number, goal) in goals.into_iter().enumerate() {
            let name = state.unused(&goal.name);
            let goal = AnalyzedStatement { name: name.to_string(), ..goal };
            let is_added =
                state.corpus.push(&goal, rows.get(number)) && state.corpus.push_proof(&goal.name, &used);
            debug_assert!(is_added, "rankings end before the lock is free");
            state.proofs += 1;
        }
        Ok(())
    }
}

impl State {
    /// Returns a name that no statement of the corpus has.
    fn unused(&mut self, name: &str) -> Arc<str> {
        let mut unused: Arc<str> = name.into();
        for number in 2.. {
            if self.taken.insert(Arc::clone(&unused)) {
                break;
            }
            unused = format!("{name} {number}").into();
        }
        unused
    }
}

/// Completes an order with the numbers that it lacks, as ordered by another.
fn whole(mut order: Vec<usize>, other: &[usize]) -> Vec<usize> {
    let known: HashSet<usize> = order.iter().copied().collect();
    order.extend(other.iter().filter(|number| !known.contains(number)));
    order
}

/// Fuses two orders of the same numbers, by the sum of reciprocal ranks.
fn fused(first: &[usize], second: &[usize]) -> Vec<usize> {
    let mut scores: HashMap<usize, f64> = HashMap::new();
    for order in [first, second] {
        for (place, &number) in order.iter().enumerate() {
            *scores.entry(number).or_default() += 1.0 / (FUSION + place as f64);
        }
    }
    let mut order: Vec<(usize, f64)> = scores.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.into_iter().map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_fused() {
        assert_eq!(fused(&[3, 1, 0, 2], &[3, 1, 0, 2]), [3, 1, 0, 2]);
        assert_eq!(fused(&[0, 1, 2, 3], &[3, 0, 1, 2])[0], 0);
        // A number that one order lacks is kept.
        assert_eq!(fused(&[1], &[0, 1]), [1, 0]);
        assert_eq!(whole(vec![2, 1], &[0, 1, 2, 3]), [2, 1, 0, 3]);
    }
}
