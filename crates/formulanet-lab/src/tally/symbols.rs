//! Statistics of tokens: which are logical, and the number of training conjectures that have them.

use super::terms::Terms;
use formulanet::model::vocabulary::Vocabulary;
use formulanet::util::vector::sorted;
use formulanet_train::dataset::{Prepared, Split};

/// Statistics of the tokens of a vocabulary.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Symbols {
    /// For every token, the number of conjectures that have it.
    having: Vec<u32>,
    /// The number of conjectures.
    conjectures: u32,
    /// The rarity of every token: the logarithm of the inverse share of conjectures that have it.
    rarities: Vec<f32>,
    /// For every token, whether it is a variable or unknown.
    is_plain: Vec<bool>,
    forall: Option<u16>,
    implies: Option<u16>,
    and: Option<u16>,
    numeral: Option<u16>,
}

impl Symbols {
    /// Counts the conjectures with each label, and all conjectures.
    pub(super) fn new(labels: &[String], having: Vec<u32>, conjectures: u32) -> Self {
        let token = |label: &str| labels.iter().position(|known| known == label).map(|token| token as u16);
        let vocabulary = Vocabulary::new(labels);
        let is_unknown = |token: u16| vocabulary.as_ref().is_some_and(|known| known.is_unknown(token));
        let is_plain =
            |(label, token): (&String, u16)| matches!(label.as_str(), "VAR" | "VARFUNC") || is_unknown(token);
        let rarity = |&having: &u32| ((f64::from(conjectures) + 1.0) / (f64::from(having) + 1.0)).ln() as f32;
        Symbols {
            rarities: having.iter().map(rarity).collect(),
            is_plain: labels.iter().zip(0..).map(is_plain).collect(),
            having,
            conjectures,
            forall: token("!"),
            implies: token("==>"),
            and: token("/\\"),
            numeral: token("NUMERAL"),
        }
    }

    /// Counts those of a prepared directory's training split.
    pub(crate) fn of(prepared: &Prepared) -> Self {
        let (mut having, mut conjectures) = (vec![0; prepared.vocabulary().len()], 0);
        for conjecture in prepared.of_split(Split::Train) {
            conjectures += 1;
            for token in sorted(prepared.graph(conjecture.graph).tokens.iter().copied()) {
                having[usize::from(token)] += 1;
            }
        }
        Symbols::new(prepared.vocabulary(), having, conjectures)
    }

    /// For every token, the number of conjectures that have it; then, the number of conjectures.
    pub(super) fn counts(&self) -> (&[u32], u32) {
        (&self.having, self.conjectures)
    }

    /// How rare a token is.
    pub(super) fn rarity(&self, token: u16) -> f32 {
        self.rarities.get(usize::from(token)).copied().unwrap_or(0.0)
    }

    /// Whether fewer than half of the conjectures have a token that is no variable.
    pub(super) fn is_rare(&self, token: u16) -> bool {
        let having = self.having.get(usize::from(token)).copied().unwrap_or(0);
        u64::from(having) * 2 < u64::from(self.conjectures) && !self.is_plain(token)
    }

    /// Whether a token is a variable or unknown.
    pub(super) fn is_plain(&self, token: u16) -> bool {
        self.is_plain.get(usize::from(token)).copied().unwrap_or(true)
    }

    /// Whether a term with this token at its top may stand for a part of the conjecture.
    pub(super) fn is_term(&self, token: u16) -> bool {
        !self.is_plain(token) && Some(token) != self.numeral
    }

    /// The rarest of some tokens that is no variable; of equally rare ones, the first.
    pub(super) fn rarest(&self, tokens: &[u16]) -> Option<u16> {
        let symbols = tokens.iter().copied().filter(|&token| !self.is_plain(token));
        symbols.reduce(|best, token| if self.rarity(token) > self.rarity(best) { token } else { best })
    }

    /// The conclusion after the hypotheses of a statement: the last term below the first node.
    pub(super) fn conclusion(&self, terms: &Terms<'_>) -> usize {
        terms.children(0).last().map_or(0, |&node| usize::from(node))
    }

    /// The body of a term without its outer quantifiers.
    pub(super) fn body(&self, terms: &Terms<'_>, mut node: usize) -> usize {
        for _ in 0..terms.len() {
            match terms.child(node, 0) {
                Some(below) if Some(terms.graph.tokens[node]) == self.forall => node = below,
                _ => break,
            }
        }
        node
    }

    /// The antecedents of a term, and what follows from them.
    pub(super) fn antecedents(&self, terms: &Terms<'_>, mut node: usize) -> (Vec<usize>, usize) {
        let mut antecedents = Vec::new();
        for _ in 0..terms.len() {
            let token = Some(terms.graph.tokens[node]);
            match (terms.child(node, 0), terms.child(node, 1)) {
                (Some(below), _) if token == self.forall => node = below,
                (Some(antecedent), Some(rest)) if token == self.implies => {
                    antecedents.push(antecedent);
                    node = rest;
                }
                _ => break,
            }
        }
        (antecedents, node)
    }

    /// Terms and their conjuncts.
    pub(super) fn conjuncts(&self, terms: &Terms<'_>, mut stack: Vec<usize>) -> Vec<usize> {
        let (mut is_found, mut found) = (vec![false; terms.len()], Vec::new());
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut is_found[node], true) {
                continue;
            }
            found.push(node);
            if Some(terms.graph.tokens[node]) == self.and {
                stack.extend(terms.children(node).iter().map(|&child| usize::from(child)));
            }
        }
        found
    }
}
