//! A tally: how often statements that look alike were useful in training, and trees that make one score of it.
//!
//! It is no network: it knows a statement by keys that many share (`tally/keys.rs`), each with a table of counts
//! (`tally/table.rs`), and by what a memory has of the statement itself. Where a network errs, it often does not; so the two
//! decide together.

mod count;
mod file;
mod goal;
mod keys;
mod predict;
mod symbols;
mod table;
mod terms;

use std::ops::Range;

use formulanet::logic::View;
use formulanet::net::{GraphInput, Hints};
use serde::{Deserialize, Serialize};

pub use count::{TallyOptions, make_tally};
pub(crate) use goal::Goal;
pub(crate) use keys::{Described, describe, names};
pub use predict::predict_tally;
pub(crate) use symbols::Symbols;
pub(crate) use table::{Code, Table};

use formulanet::model::memory::statements::{
    ConjectureContext, LIKENESS, MEMORIES, REMEMBERED, StatementMemory,
};
use formulanet::proofs::TreeEnsemble;

/// Counts of training with trees that judge by them.
#[derive(Clone, PartialEq, Debug)]
pub struct Tally {
    /// Its training data and options.
    pub origin: TallyOrigin,
    /// The label of every token.
    pub vocabulary: Vec<String>,
    pub(crate) symbols: Symbols,
    /// A table for every key.
    pub(crate) tables: Vec<Table>,
    pub(crate) forest: TreeEnsemble,
    /// The labels of statements for the conjectures of training.
    pub(crate) seen: StatementMemory,
}

/// Where a tally comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TallyOrigin {
    /// Which graph is made of a formula.
    #[serde(with = "formulanet::model::serde_view")]
    pub view: View,
    /// Whether it looks at the conjecture.
    pub is_conditional: bool,
    /// Name of the data set.
    pub data: String,
    /// Tells one data set from another.
    pub fingerprint: String,
    /// Pairs that it counts.
    pub pairs: u64,
    /// The built-in model with the memory of this one, if the file has none: it was made from the same data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_of: Option<String>,
    /// Version of the program.
    pub program: String,
}

/// Statistics of a conjecture over all statements; nothing if they do not matter.
pub(crate) struct TallyGoal {
    goal: Option<Goal>,
    asked: ConjectureContext,
}

impl Tally {
    /// Statistics of a conjecture.
    pub(crate) fn goal(&self, conjecture: GraphInput<'_>) -> TallyGoal {
        if !self.origin.is_conditional {
            return TallyGoal { goal: None, asked: ConjectureContext::default() };
        }
        TallyGoal {
            goal: Some(Goal::new(conjecture, &self.symbols)),
            asked: self.seen.conjecture(conjecture),
        }
    }

    /// The logarithm of the odds that a statement is useful for a conjecture.
    pub(crate) fn score(&self, statement: GraphInput<'_>, conjecture: &TallyGoal) -> f32 {
        let described = describe(&self.symbols, statement, conjecture.goal.as_ref());
        let codes = self.tables.iter().zip(&described.keys).map(|(table, &key)| table.get(key));
        let hints = self.seen.hints(&self.seen.statement(statement), &conjecture.asked);
        self.forest.score(&row(codes, &described.numbers, &hints, self.origin.is_conditional))
    }

    /// The number of keys of its tables.
    pub fn entries(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }

    /// The number of its trees.
    pub fn trees(&self) -> usize {
        self.forest.len()
    }
}

/// The input of trees: the counts of every key, features, and the memory of the statement.
pub(crate) fn row(
    codes: impl Iterator<Item = Code>,
    numbers: &[f32],
    hints: &Hints,
    is_conditional: bool,
) -> Vec<f32> {
    let mut row: Vec<f32> = codes.flat_map(Code::numbers).collect();
    row.extend(numbers);
    row.extend(remembered(is_conditional).flat_map(|range| &hints[range]));
    row
}

/// The length of a row.
pub(crate) fn width(is_conditional: bool) -> usize {
    2 * names(is_conditional).count()
        + keys::numbers(is_conditional)
        + remembered(is_conditional).map(|hints| hints.len()).sum::<usize>()
}

/// The hints that are looked at: what the statement was for other conjectures, and for those like this one. Without a
/// conjecture, the first two say all.
fn remembered(is_conditional: bool) -> impl Iterator<Item = Range<usize>> {
    let likeness = MEMORIES.start..MEMORIES.start + LIKENESS;
    if is_conditional { [0..REMEMBERED, likeness] } else { [0..2, 0..0] }.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: [&str; 15] =
        ["VAR", "VARFUNC", "UNKNOWN", "!", "/\\", "=", "==>", "NUMERAL", "|-", "f", "g", "h", "c", "d", "e"];

    /// All conjectures have the first nine labels, few the others.
    pub(super) fn symbols() -> Symbols {
        let having = (0..LABELS.len() as u32).map(|token| if token < 9 { 100 } else { 20 });
        Symbols::new(&LABELS.map(str::to_owned), having.collect(), 100)
    }

    /// Calls `look` with the graph of `|- hypotheses and conclusion`, in prefix notation; `x` and `y` are variables.
    pub(super) fn with<T>(text: &str, look: impl FnOnce(GraphInput<'_>) -> T) -> T {
        let text = format!("({text})").replace('(', " ( ").replace(')', " ) ");
        let (mut tokens, mut children, mut open) = (Vec::new(), Vec::<Vec<u16>>::new(), Vec::<usize>::new());
        let mut is_head = false;
        for word in text.split_whitespace() {
            match word {
                "(" => is_head = true,
                ")" => drop(open.pop()),
                label => {
                    let node = tokens.len();
                    if let Some(&parent) = open.last() {
                        children[parent].push(node as u16);
                    }
                    let label = if matches!(label, "x" | "y") { "VAR" } else { label };
                    tokens.push(LABELS.iter().position(|known| *known == label).unwrap() as u16);
                    children.push(Vec::new());
                    if std::mem::take(&mut is_head) {
                        open.push(node);
                    }
                }
            }
        }
        let degrees: Vec<u16> = children.iter().map(|children| children.len() as u16).collect();
        look(GraphInput { tokens: &tokens, degrees: &degrees, targets: &children.concat() })
    }

    /// A tally that says 2.5 if statements of that outer shape were useful, -1 otherwise.
    pub(super) fn tiny(is_conditional: bool) -> Tally {
        let symbols = symbols();
        let key = with("|- (f c)", |graph| describe(&symbols, graph, None).keys[0]);
        let bits = Table::bits_for(1);
        let entry = |_| Table::new(bits, [(Table::short(key, bits), Code::new(9, 9))].into_iter());
        let mut forest = TreeEnsemble::new(width(is_conditional), 1);
        forest.push(&[(0, 0.5)], &[-1.0, 2.5]);
        Tally {
            origin: TallyOrigin {
                view: View::Dag,
                is_conditional,
                data: "tiny".to_owned(),
                fingerprint: "0".to_owned(),
                pairs: 9,
                memory_of: None,
                program: "0".to_owned(),
            },
            vocabulary: LABELS.map(str::to_owned).to_vec(),
            tables: names(is_conditional).map(entry).collect(),
            symbols,
            forest,
            seen: StatementMemory::default(),
        }
    }

    #[test]
    fn statements_are_judged_by_what_they_look_like() {
        for is_conditional in [false, true] {
            let tally = tiny(is_conditional);
            let goal = with("|- (= c d)", |graph| tally.goal(graph));
            let check = |statement: &str, expected: f32| {
                assert_eq!(with(statement, |graph| tally.score(graph, &goal)), expected, "{statement}");
            };
            check("|- (f c)", 2.5);
            check("|- (g (h d))", -1.0);
        }
    }
}
