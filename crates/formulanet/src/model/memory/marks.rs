//! Statements whose symbols are marked where the conjecture has them, too.
//!
//! A network that reads statement and conjecture apart learns what they have in common only when both are vectors. Where
//! symbols are marked, it sees it in every place of the statement: a marked node has one more child, which is the mark.

use formulanet_net::GraphInput;

use crate::util::vector::sorted;

/// Marks symbols.
pub struct SymbolMarker {
    /// Whether a token is rare enough to be worth a mark.
    is_rare: Vec<bool>,
    /// The token of a mark.
    mark: u16,
}

/// A graph with marks.
pub struct Marked {
    tokens: Vec<u16>,
    degrees: Vec<u16>,
    targets: Vec<u16>,
}

impl SymbolMarker {
    pub fn new(is_rare: Vec<bool>, mark: u16) -> Self {
        SymbolMarker { is_rare, mark }
    }

    /// The tokens of a conjecture that are marked in statements, in order.
    pub fn wanted(&self, conjecture: &[u16]) -> Vec<u16> {
        let is_rare = |token: &u16| self.is_rare.get(usize::from(*token)).copied().unwrap_or(false);
        sorted(conjecture.iter().copied().filter(is_rare))
    }

    /// A statement with marks on nodes that have such tokens; nothing if there are none, or the graph is as large as
    /// graphs get.
    pub fn mark(&self, statement: GraphInput<'_>, wanted: &[u16]) -> Option<Marked> {
        let is_wanted = |token: u16| wanted.binary_search(&token).is_ok();
        let place = u16::try_from(statement.tokens.len()).ok().filter(|&place| place < u16::MAX)?;
        if !statement.tokens.iter().any(|&token| is_wanted(token)) {
            return None;
        }
        let mut marked = Marked {
            tokens: statement.tokens.to_vec(),
            degrees: Vec::with_capacity(statement.tokens.len() + 1),
            targets: Vec::with_capacity(statement.targets.len() + statement.tokens.len()),
        };
        let mut targets = statement.targets;
        for (&token, &degree) in statement.tokens.iter().zip(statement.degrees) {
            let (own, rest) = targets.split_at(usize::from(degree));
            targets = rest;
            marked.targets.extend_from_slice(own);
            let is_marked = is_wanted(token) && degree < u16::MAX;
            if is_marked {
                marked.targets.push(place);
            }
            marked.degrees.push(degree + u16::from(is_marked));
        }
        marked.tokens.push(self.mark);
        marked.degrees.push(0);
        Some(marked)
    }
}

impl Marked {
    pub fn input(&self) -> GraphInput<'_> {
        GraphInput { tokens: &self.tokens, degrees: &self.degrees, targets: &self.targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_the_conjecture_get_a_mark() {
        // Tokens 0 and 1 are everywhere, 9 is the mark.
        let marker = SymbolMarker::new(vec![false, false, true, true, true], 9);
        // f (g x) x with f = 2, g = 3, x = 1
        let (tokens, degrees, targets) = ([2, 3, 1], [2, 1, 0], [1, 2, 2]);
        let statement = GraphInput { tokens: &tokens, degrees: &degrees, targets: &targets };
        let check = |conjecture: &[u16], expected: Option<(&[u16], &[u16])>| {
            let marked = marker.mark(statement, &marker.wanted(conjecture));
            let expected = expected.map(|(degrees, targets)| (vec![2, 3, 1, 9], degrees, targets));
            let found =
                marked.as_ref().map(|m| (m.tokens.clone(), m.degrees.as_slice(), m.targets.as_slice()));
            assert_eq!(found, expected, "{conjecture:?}");
        };
        check(&[0, 1, 4], None);
        check(&[1, 3, 3], Some((&[2, 2, 0, 0], &[1, 2, 2, 3])));
        check(&[3, 2], Some((&[3, 2, 0, 0], &[1, 2, 3, 2, 3])));
    }
}
