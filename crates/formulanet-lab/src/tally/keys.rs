//! Similarity of statements: keys that many statements share, and a few features.
//!
//! A network makes one vector of a statement. Here a statement is known by what it looks like from afar: the outer levels of
//! its conclusion, or the same where everything that the conjecture has, too, is one leaf.

use formulanet::net::GraphInput;

use super::goal::Goal;
use super::symbols::Symbols;
use super::terms::Terms;
use formulanet::util::random::scramble;

/// The keys of a statement alone. A number says how many levels a key has.
const ALONE: [&str; 6] =
    ["conclusion_2", "conclusion_3", "conclusion_4", "body_3", "statement_3", "rarest_conclusion_2"];
/// Those of a statement for a conjecture. `modulo`: what the conjecture has is one leaf; `bare`: besides, of rare symbols it
/// only matters whether the conjecture has them.
const RELATIVE: [&str; 4] =
    ["modulo_statement_3", "modulo_conclusion_3", "bare_conclusion_2", "bare_conclusion_4"];
/// The numbers of a statement alone: hypotheses, size, size of the conclusion, how little is shared.
const NUMBERS_ALONE: usize = 4;
/// Those of a statement for a conjecture.
const NUMBERS_RELATIVE: usize = 15;

/// Labels that stand for no token: what a term is in the conjecture, and whether the conjecture has a rare symbol.
const ROLES: u32 = 1 << 16;
const HAD: u32 = 1 << 17;

/// The keys of a statement.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Described {
    /// Its keys, in the order of [`names`].
    pub(crate) keys: Vec<u64>,
    /// Numbers that compare it with the conjecture, or say how large it is.
    pub(crate) numbers: Vec<f32>,
}

/// The names of all keys.
pub(crate) fn names(is_conditional: bool) -> impl Iterator<Item = &'static str> + Clone {
    let relative: &[&str] = if is_conditional { &RELATIVE } else { &[] };
    ALONE.iter().chain(relative).copied()
}

/// The number of features.
pub(crate) fn numbers(is_conditional: bool) -> usize {
    NUMBERS_ALONE + if is_conditional { NUMBERS_RELATIVE } else { 0 }
}

/// The keys of a statement, for a conjecture or for all.
pub(crate) fn describe(symbols: &Symbols, statement: GraphInput<'_>, goal: Option<&Goal>) -> Described {
    let terms = Terms::new(statement);
    let mut described = Described::default();
    if terms.len() == 0 {
        described.keys.resize(names(goal.is_some()).count(), 0);
        described.numbers.resize(numbers(goal.is_some()), 0.0);
        return described;
    }
    let reading = Reading {
        symbols,
        conclusion: symbols.conclusion(&terms),
        hypotheses: terms.children(0).len().saturating_sub(1),
        terms,
    };
    reading.alone(&mut described);
    if let Some(goal) = goal {
        reading.relative(goal, &mut described);
    }
    described
}

/// A statement that is looked at.
struct Reading<'a> {
    symbols: &'a Symbols,
    terms: Terms<'a>,
    conclusion: usize,
    hypotheses: usize,
}

/// The parts that a statement shares with a conjecture.
struct Common {
    /// The label of every node: its token, or what it is in the conjecture.
    labels: Vec<u32>,
    /// Nodes that are in the conjecture with everything below them.
    is_leaf: Vec<bool>,
    /// The number of terms, the size of the largest, and the number of nodes outside of them.
    terms: usize,
    largest: u32,
    rest: usize,
}

impl Reading<'_> {
    /// A key that also says how many hypotheses there are.
    fn counted(&self, key: u64) -> u64 {
        scramble(key ^ self.hypotheses.min(3) as u64)
    }

    fn alone(&self, described: &mut Described) {
        let terms = &self.terms;
        let tokens: Vec<u32> = terms.graph.tokens.iter().map(|&token| token.into()).collect();
        let levels = terms.levels(&tokens, &vec![false; terms.len()], 4);
        let body = self.symbols.body(terms, self.conclusion);
        let rarest = self.symbols.rarest(terms.graph.tokens).map_or(u64::MAX, u64::from);
        described.keys.extend([
            self.counted(levels[2][self.conclusion]),
            levels[3][self.conclusion],
            levels[4][self.conclusion],
            self.counted(levels[3][body]),
            levels[3][0],
            scramble(levels[2][self.conclusion] ^ scramble(rarest)),
        ]);
        let (size, own) = (terms.sizes[0] as f32, terms.sizes[self.conclusion] as f32);
        described.numbers.extend([self.hypotheses as f32, size.ln(), own.ln(), terms.len() as f32 / size]);
    }

    fn relative(&self, goal: &Goal, described: &mut Described) {
        let (terms, symbols) = (&self.terms, self.symbols);
        let mut common = self.common(goal);
        let levels = terms.levels(&common.labels, &common.is_leaf, 3);
        described.keys.extend([levels[3][0], levels[3][self.conclusion]]);
        for (node, &token) in terms.graph.tokens.iter().enumerate() {
            if !common.is_leaf[node] && symbols.is_rare(token) {
                common.labels[node] = HAD | u32::from(goal.has(token));
            }
        }
        let levels = terms.levels(&common.labels, &common.is_leaf, 4);
        described.keys.extend([self.counted(levels[2][self.conclusion]), levels[4][self.conclusion]]);
        self.compare(goal, &common, described);
    }

    /// The largest terms that the conjecture has, too.
    fn common(&self, goal: &Goal) -> Common {
        let terms = &self.terms;
        let labels = terms.graph.tokens.iter().map(|&token| token.into()).collect();
        let mut common = Common { labels, is_leaf: vec![false; terms.len()], terms: 0, largest: 0, rest: 0 };
        let (mut is_met, mut stack) = (vec![false; terms.len()], vec![0]);
        is_met[0] = true;
        while let Some(node) = stack.pop() {
            let is_term = node > 0
                && self.symbols.is_term(terms.graph.tokens[node])
                && !terms.children(node).is_empty();
            if let Some(role) = goal.role(terms.whole[node]).filter(|_| is_term) {
                common.labels[node] = ROLES | role as u32;
                common.is_leaf[node] = true;
                common.terms += 1;
                common.largest = common.largest.max(terms.sizes[node]);
                continue;
            }
            common.rest += 1;
            for &child in terms.children(node) {
                if !std::mem::replace(&mut is_met[usize::from(child)], true) {
                    stack.push(usize::from(child));
                }
            }
        }
        common
    }

    fn compare(&self, goal: &Goal, common: &Common, described: &mut Described) {
        let (terms, symbols) = (&self.terms, self.symbols);
        let role = |node: usize| goal.role(terms.whole[node]).map_or(0.0, |role| role as u32 as f32);
        let hypotheses = &terms.children(0)[..self.hypotheses];
        let share = |least: f32| match hypotheses.len() {
            0 => -1.0,
            all => hypotheses.iter().filter(|&&node| role(node.into()) >= least).count() as f32 / all as f32,
        };
        let (size, largest, whole) = (terms.sizes[0] as f32, common.largest as f32, goal.size as f32);
        let (mut all, mut fresh, mut number, mut rarest) = (0.0f32, 0.0f32, 0.0f32, 0.0f32);
        for token in formulanet::util::vector::sorted(terms.graph.tokens.iter().copied()) {
            let rarity = symbols.rarity(token);
            all += rarity;
            if !goal.has(token) {
                (fresh, number, rarest) = (fresh + rarity, number + 1.0, rarest.max(rarity));
            }
        }
        described.numbers.extend([
            share(1.0),
            share(2.0),
            role(self.conclusion),
            role(symbols.body(terms, self.conclusion)),
            whole.ln(),
            common.rest as f32 / terms.len() as f32,
            largest.ln_1p(),
            largest / whole,
            largest / size,
            common.terms as f32,
            number,
            fresh,
            if all > 0.0 { fresh / all } else { 0.0 },
            rarest,
            f32::from(u8::from(common.is_leaf[self.conclusion])),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{symbols, with};
    use super::*;

    /// Which keys of two statements for two conjectures are the same.
    fn same(one: [&str; 2], other: [&str; 2]) -> Vec<&'static str> {
        let symbols = symbols();
        let described = |[statement, conjecture]: [&str; 2]| {
            let goal = with(conjecture, |graph| Goal::new(graph, &symbols));
            with(statement, |graph| describe(&symbols, graph, Some(&goal)))
        };
        let (one, other) = (described(one), described(other));
        assert_eq!(one.numbers.len(), numbers(true));
        let pairs = one.keys.iter().zip(&other.keys);
        names(true).zip(pairs).filter(|(_, (one, other))| one == other).map(|(name, _)| name).collect()
    }

    #[test]
    fn keys_look_so_far() {
        let goal = "|- c";
        let all: Vec<_> = names(true).collect();
        assert_eq!(same(["|- (f (g x))", goal], ["|- (f (g x))", goal]), all);
        // Another symbol two, three and four levels below the conclusion.
        let check = |one: &str, other: &str, expected: &[&str]| {
            let found = same([one, goal], [other, goal]);
            let alone: Vec<_> = found.into_iter().filter(|name| !name.starts_with("bare")).collect();
            assert_eq!(alone, expected, "{one} {other}");
        };
        check("|- (f (f c))", "|- (f (f d))", &[]);
        let far = ["conclusion_2", "rarest_conclusion_2"];
        check("|- (f (f (f c)))", "|- (f (f (f d)))", &[far[0], "statement_3", far[1], "modulo_statement_3"]);
        let deep = ["|- (f (f (f (f c))))", "|- (f (f (f (f d))))"];
        let [c2, c3, b3] = ["conclusion_2", "conclusion_3", "body_3"];
        let expected = [c2, c3, b3, "statement_3", far[1], "modulo_statement_3", "modulo_conclusion_3"];
        check(deep[0], deep[1], &expected);
        // One more hypothesis.
        check(
            "|- (f c) (f (f d))",
            "|- (f (f d))",
            &["conclusion_3", "conclusion_4", far[1], "modulo_conclusion_3"],
        );
    }

    #[test]
    fn what_the_conjecture_has_is_one_leaf() {
        let found = same(["|- (f (g c))", "|- (= (g c) d)"], ["|- (f (h d))", "|- (= (h d) c)"]);
        assert_eq!(
            found,
            ["modulo_statement_3", "modulo_conclusion_3", "bare_conclusion_2", "bare_conclusion_4"]
        );
        // All of the conjecture is something else than a part of it.
        let found = same(["|- (f (g c))", "|- (= (g c) d)"], ["|- (f (h d))", "|- (h d)"]);
        assert_eq!(found, Vec::<&str>::new());
        // Rare symbols matter only in whether the conjecture has them.
        let found = same(["|- (f c)", "|- (= c c)"], ["|- (f d)", "|- (= d d)"]);
        assert_eq!(found, ["bare_conclusion_2", "bare_conclusion_4"]);
    }

    #[test]
    fn statements_without_nodes_have_keys() {
        let symbols = symbols();
        let empty = GraphInput { tokens: &[], degrees: &[], targets: &[] };
        let goal = Goal::new(empty, &symbols);
        for goal in [None, Some(&goal)] {
            let described = describe(&symbols, empty, goal);
            assert_eq!(described.keys.len(), names(goal.is_some()).count());
            assert_eq!(described.numbers.len(), numbers(goal.is_some()));
        }
        // A node alone is its own conclusion.
        let alone = GraphInput { tokens: &[9], degrees: &[0], targets: &[] };
        let described = describe(&symbols, alone, Some(&Goal::new(alone, &symbols)));
        assert!(described.numbers.iter().all(|number| number.is_finite()), "{:?}", described.numbers);
    }
}
