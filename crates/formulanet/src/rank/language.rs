//! Which language and which model: decided here for the command line and for the server.

use crate::model::shipped;
use crate::read::Syntax;

/// The languages of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Languages {
    /// What the statements to rank are written in, or most of them.
    pub statements: Syntax,
    /// What the conjecture is written in.
    pub conjecture: Syntax,
}

impl Languages {
    /// Decides from what was asked for, and from the languages of the statements that come with the question and of the
    /// library, as far as there are such. A conjecture is written like the statements unless somebody says otherwise.
    pub fn decide(asked: Option<Syntax>, own: Option<Syntax>, library: Option<Syntax>) -> Self {
        let statements = own.or(library).or(asked).unwrap_or_default();
        Languages { statements, conjecture: asked.unwrap_or(statements) }
    }

    /// Whether reading the best such statements together helps where nothing else is asked for.
    pub fn reads(self) -> bool {
        shipped::reads(self.statements)
    }

    /// The shipped model that ranks such statements.
    pub fn model(self) -> &'static str {
        shipped::for_syntax(self.statements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_decide_unless_the_user_does() {
        use Syntax::{Hol, Tptp};
        let check = |asked, own, library, statements, conjecture| {
            assert_eq!(Languages::decide(asked, own, library), Languages { statements, conjecture });
        };
        check(None, None, None, Hol, Hol);
        check(Some(Tptp), None, None, Tptp, Tptp);
        check(None, Some(Tptp), None, Tptp, Tptp);
        check(None, None, Some(Tptp), Tptp, Tptp);
        check(None, Some(Hol), Some(Tptp), Hol, Hol);
        check(Some(Hol), Some(Tptp), None, Tptp, Hol);
    }
}
