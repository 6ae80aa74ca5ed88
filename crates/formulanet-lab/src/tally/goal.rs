//! The parts of a conjecture that statements may share.

use std::collections::HashMap;

use formulanet::net::GraphInput;

use super::symbols::Symbols;
use super::terms::Terms;
use formulanet::util::vector::sorted;

/// The role of a term in a conjecture; of several roles, the last of this list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// Some term of it.
    Part = 1,
    /// An antecedent, or a conjunct of one.
    Antecedent,
    /// The conclusion after the antecedents.
    Consequent,
    /// The body of its outer quantifiers.
    Body,
    /// All of it.
    All,
}

/// The terms and symbols of a conjecture.
pub(crate) struct Goal {
    roles: HashMap<u64, Role>,
    /// Its tokens, in order.
    tokens: Vec<u16>,
    /// The number of its nodes as a tree.
    pub(super) size: u32,
}

impl Goal {
    pub(crate) fn new(conjecture: GraphInput<'_>, symbols: &Symbols) -> Self {
        let terms = Terms::new(conjecture);
        let tokens = sorted(conjecture.tokens.iter().copied());
        let mut goal = Goal { roles: HashMap::new(), tokens, size: 1 };
        if terms.len() == 0 {
            return goal;
        }
        for node in 1..terms.len() {
            if !symbols.is_plain(conjecture.tokens[node]) && !terms.children(node).is_empty() {
                goal.add(terms.whole[node], Role::Part);
            }
        }
        let all = symbols.conclusion(&terms);
        goal.size = terms.sizes[all];
        let body = symbols.body(&terms, all);
        let (antecedents, consequent) = symbols.antecedents(&terms, body);
        for node in symbols.conjuncts(&terms, antecedents) {
            goal.add(terms.whole[node], Role::Antecedent);
        }
        for (node, role) in [(consequent, Role::Consequent), (body, Role::Body), (all, Role::All)] {
            goal.add(terms.whole[node], role);
        }
        goal
    }

    fn add(&mut self, term: u64, role: Role) {
        let known = self.roles.entry(term).or_insert(role);
        *known = role.max(*known);
    }

    /// The role of a term in the conjecture, if it occurs there.
    pub(super) fn role(&self, term: u64) -> Option<Role> {
        self.roles.get(&term).copied()
    }

    /// Whether the conjecture has a token.
    pub(super) fn has(&self, token: u16) -> bool {
        self.tokens.binary_search(&token).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{symbols, with};
    use super::*;

    #[test]
    fn terms_have_roles() {
        let symbols = symbols();
        let goal = with("|- (! (==> (/\\ (f x) (g c)) (! (==> (h c) (f (f d))))))", |graph| {
            Goal::new(graph, &symbols)
        });
        let check = |term: &str, expected: Option<Role>| {
            let found = with(&format!("|- {term}"), |graph| {
                let terms = Terms::new(graph);
                goal.role(terms.whole[symbols.conclusion(&terms)])
            });
            assert_eq!(found, expected, "{term}");
        };
        check("(f d)", Some(Role::Part));
        check("(g c)", Some(Role::Antecedent));
        check("(f y)", Some(Role::Antecedent));
        check("(/\\ (f x) (g c))", Some(Role::Antecedent));
        check("(h c)", Some(Role::Antecedent));
        check("(f (f d))", Some(Role::Consequent));
        check("(==> (/\\ (f x) (g c)) (! (==> (h c) (f (f d)))))", Some(Role::Body));
        check("(! (==> (/\\ (f x) (g c)) (! (==> (h c) (f (f d))))))", Some(Role::All));
        check("(g d)", None);
        check("d", None);
        assert!(goal.has(9) && !goal.has(5));
    }
}
