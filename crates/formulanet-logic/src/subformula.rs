//! Parts of formulas as formulas of their own.

use std::collections::HashMap;

use crate::formula::{Formula, Head, TermId, VarId};

impl Formula {
    /// A term as a formula of its own. Variables that are bound outside of it become free.
    ///
    /// ```
    /// use formulanet_logic::{Interner, hol};
    /// let mut names = Interner::new();
    /// let formula = hol::parse("!x. P x /\\ Q x", &hol::Options::default(), &mut names)?;
    /// let parts: Vec<String> = formula
    ///     .preorder()
    ///     .map(|term| formula.subformula(term).display(&names).to_string())
    ///     .collect();
    /// assert_eq!(parts, ["|- (!x. ((P x) /\\ (Q x)))", "|- ((P x) /\\ (Q x))", "|- (P x)", "|- x", "|- (Q x)", "|- x"]);
    /// # Ok::<(), formulanet_logic::ParseError>(())
    /// ```
    pub fn subformula(&self, term: TermId) -> Formula {
        let mut part = Formula::new();
        let mut variables: HashMap<VarId, VarId> = HashMap::new();
        let mut stack: Vec<(TermId, Option<TermId>)> = vec![(term, None)];
        while let Some((old, parent)) = stack.pop() {
            let mut variable = |part: &mut Formula, var: VarId, is_binder: bool| {
                let known = self.variables()[var.index()];
                *variables.entry(var).or_insert_with(|| match known.binder.filter(|_| is_binder) {
                    Some(binder) => part.bind(binder, known.name),
                    None => part.free(known.name),
                })
            };
            let new = match self.head(old) {
                Head::Constant(name) => part.constant(name),
                Head::Variable(var) => {
                    let var = variable(&mut part, var, false);
                    part.variable(var)
                }
                Head::Binder(var) => {
                    let var = variable(&mut part, var, true);
                    part.binder(var)
                }
            };
            match parent {
                Some(parent) => {
                    part.apply(parent, new);
                }
                None => part.push(new),
            }
            let children: Vec<TermId> = self.children(old).collect();
            stack.extend(children.into_iter().rev().map(|child| (child, Some(new))));
        }
        part
    }
}
