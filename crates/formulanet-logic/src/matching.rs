//! Whether a formula is an instance of another: what a library has already need not be proved again.
//!
//! First-order matching: the outer universal variables of the pattern, and its free ones, stand for terms. A variable that is
//! applied to arguments stands for another variable only, so that a match is found in one pass or not at all.

use crate::formula::{Binder, Formula, Head, TermId, VarId};

/// Whether what a pattern says of all values of its variables includes a goal. Both have to share an
/// [`Interner`](crate::Interner), and a sequent with hypotheses has no instances.
///
/// ```
/// use formulanet_logic::{Interner, hol, is_instance};
/// let mut names = Interner::new();
/// let mut read = |text: &str| hol::parse(text, &hol::Options::default(), &mut names);
/// let (pattern, goal) = (read("!m n. m + n = n + m")?, read("!k. SUC k + 1 = 1 + SUC k")?);
/// assert!(is_instance(&pattern, &goal) && !is_instance(&goal, &pattern));
/// # Ok::<(), formulanet_logic::ParseError>(())
/// ```
pub fn is_instance(pattern: &Formula, goal: &Formula) -> bool {
    let (Some(general), Some(special)) = (Claim::of(pattern), Claim::of(goal)) else { return false };
    // `!p. p` and the like say nothing that people would look up.
    if matches!(pattern.head(general.body), Head::Variable(_)) {
        return false;
    }
    let mut matching = Matching {
        pattern,
        goal,
        is_open: general.is_open,
        is_rigid: special.is_open,
        terms: vec![None; pattern.variables().len()],
        variables: vec![None; pattern.variables().len()],
    };
    matching.run(general.body, special.body)
}

/// A formula without its outer universal binders.
struct Claim {
    body: TermId,
    /// By variable: whether it is bound outside, or free.
    is_open: Vec<bool>,
}

impl Claim {
    fn of(formula: &Formula) -> Option<Claim> {
        let mut parts = formula.parts();
        let (mut body, None) = (parts.next()?, parts.next()) else { return None };
        let mut is_open: Vec<bool> =
            formula.variables().iter().map(|variable| variable.binder.is_none()).collect();
        while let Head::Binder(var) = formula.head(body) {
            if formula.variables()[var.index()].binder != Some(Binder::Forall) || formula.arity(body) != 1 {
                break;
            }
            is_open[var.index()] = true;
            body = formula.children(body).next()?;
        }
        Some(Claim { body, is_open })
    }
}

struct Matching<'a> {
    pattern: &'a Formula,
    goal: &'a Formula,
    /// Variables of the pattern that stand for terms.
    is_open: Vec<bool>,
    /// Variables of the goal that are not bound inside of it.
    is_rigid: Vec<bool>,
    /// Their instances.
    terms: Vec<Option<TermId>>,
    /// Variables of the goal that other variables of the pattern are, and those that are applied to arguments.
    variables: Vec<Option<VarId>>,
}

impl Matching<'_> {
    fn run(&mut self, pattern: TermId, goal: TermId) -> bool {
        let mut pending = vec![(pattern, goal)];
        while let Some((pattern, goal)) = pending.pop() {
            let is_alone = self.pattern.arity(pattern) == 0;
            let fits = match (self.pattern.head(pattern), self.goal.head(goal)) {
                (Head::Variable(var), _) if self.is_open[var.index()] && is_alone => {
                    if !self.stands_for(var, goal) {
                        return false;
                    }
                    continue;
                }
                (Head::Variable(var), Head::Variable(other)) | (Head::Binder(var), Head::Binder(other)) => {
                    self.is_variable(var, other)
                }
                (Head::Constant(one), Head::Constant(other)) => one == other,
                _ => false,
            };
            if !fits || self.pattern.arity(pattern) != self.goal.arity(goal) {
                return false;
            }
            pending.extend(self.pattern.children(pattern).zip(self.goal.children(goal)));
        }
        true
    }

    /// Lets a variable of the pattern stand for a term of the goal, if it does not stand for another.
    fn stands_for(&mut self, var: VarId, term: TermId) -> bool {
        match self.terms[var.index()] {
            Some(known) => self.is_same(known, term),
            None => {
                self.terms[var.index()] = Some(term);
                self.variables[var.index()].is_none() && self.is_closed(term)
            }
        }
    }

    /// Lets a variable of the pattern be one of the goal, if it is not another.
    fn is_variable(&mut self, var: VarId, other: VarId) -> bool {
        let (one, two) = (self.pattern.variables()[var.index()], self.goal.variables()[other.index()]);
        let is_open = self.is_open[var.index()];
        if is_open != self.is_rigid[other.index()] || (!is_open && one.binder != two.binder) {
            return false;
        }
        *self.variables[var.index()].get_or_insert(other) == other && self.terms[var.index()].is_none()
    }

    /// Whether a term of the goal has no variable that is bound around it, inside of the goal.
    fn is_closed(&self, term: TermId) -> bool {
        let mut bound = Vec::new();
        walk(self.goal, term).all(|term| match self.goal.head(term) {
            Head::Binder(var) => {
                bound.push(var);
                true
            }
            Head::Variable(var) => self.is_rigid[var.index()] || bound.contains(&var),
            Head::Constant(_) => true,
        })
    }

    /// Whether two terms of the goal are equal but for the names of variables that they bind.
    fn is_same(&self, one: TermId, other: TermId) -> bool {
        let mut bound: Vec<(VarId, VarId)> = Vec::new();
        let mut ones = walk(self.goal, one);
        let mut others = walk(self.goal, other);
        loop {
            let (one, other) = match (ones.next(), others.next()) {
                (None, None) => return true,
                (Some(one), Some(other)) => (one, other),
                _ => return false,
            };
            let fits = match (self.goal.head(one), self.goal.head(other)) {
                (Head::Constant(one), Head::Constant(other)) => one == other,
                (Head::Binder(one), Head::Binder(other)) => {
                    bound.push((one, other));
                    self.goal.variables()[one.index()].binder == self.goal.variables()[other.index()].binder
                }
                (Head::Variable(one), Head::Variable(other)) => one == other || bound.contains(&(one, other)),
                _ => false,
            };
            if !fits || self.goal.arity(one) != self.goal.arity(other) {
                return false;
            }
        }
    }
}

/// A term and all below it, each before its children.
fn walk(formula: &Formula, root: TermId) -> impl Iterator<Item = TermId> + '_ {
    let mut pending = vec![root];
    std::iter::from_fn(move || {
        let term = pending.pop()?;
        let end = pending.len();
        pending.extend(formula.children(term));
        pending[end..].reverse();
        Some(term)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interner, hol};

    fn check(pattern: &str, goal: &str, expected: bool) {
        let mut names = Interner::new();
        let mut read = |text: &str| hol::parse(text, &hol::Options::default(), &mut names).unwrap();
        let (general, special) = (read(pattern), read(goal));
        assert_eq!(is_instance(&general, &special), expected, "{pattern} / {goal}");
    }

    #[test]
    fn instances_are_found() {
        check("!m n. m + n = n + m", "!a b. a + b = b + a", true);
        check("m + n = n + m", "x * y + 2 = 2 + x * y", true);
        check("!m n. m + n = n + m", "x + y = x + y", false);
        check("!x. x + 0 = x", "!y. (?z. z = y) + 0 = (?u. u = y)", true);
        check("!x. x + 0 = x", "!y. (?z. z = y) + 0 = (?u. y = u)", false);
        check("!p. p", "x = 1", false);
        check("x = x", "T", false);
    }

    #[test]
    fn bound_variables_stay_inside() {
        check("!x. (?y. y = x) = T", "(?y. y = SUC n) = T", true);
        // `x` cannot stand for a term that has the `y` of the goal's own binder.
        check("!x. (?y. y = x) = T", "(?y. y = SUC y) = T", false);
        check("!P. P 0 ==> (!n. P n)", "!Q. Q 0 ==> (!n. Q n)", true);
        check("!P. P 0 ==> (!n. P n)", "0 <= 0 ==> (!n. n <= n)", false);
        check("!P x. P x ==> P x", "!Q R y. Q y ==> R y", false);
        check("!x y. x < y ==> ~(y < x)", "(!x y. x < y ==> ~(y < x))", true);
        check("?x. x = 1", "!x. x = 1", false);
    }
}
