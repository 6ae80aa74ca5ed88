//! The kinds of nodes and edges of a problem graph. Their numbers are part of model files: never change one.

/// The label of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum NodeLabel {
    /// A symbol without arguments, as a term.
    Constant = 0,
    /// A symbol with arguments, as a term.
    Function = 1,
    /// A symbol where a formula stands, with or without arguments.
    Predicate = 2,
    /// A variable that `!` binds, or a free one.
    Universal = 3,
    /// A variable that `?` or `?!` binds.
    Existential = 4,
    /// A variable that an abstraction or a choice binds.
    Abstracted = 5,
    /// A variable or a binder applied to arguments.
    Application = 6,
    /// `! [X, ...] : (guard & ... => body & ...)`, with any part left out but the body.
    Rule = 7,
    /// `? [X, ...] : (body & ...)`
    Exists = 8,
    /// `?!`
    ExistsUnique = 9,
    /// `@x. ...`, some value.
    Choice = 10,
    /// `\x. ...`
    Lambda = 11,
    /// A conjunction of any number of formulas.
    And = 12,
    /// A disjunction of any number of formulas.
    Or = 13,
    /// Equality of truth values.
    Equivalence = 14,
    /// Equality of anything else.
    Equality = 15,
    /// A statement that is a negation as a whole, so that no edge can be marked.
    Not = 16,
    /// Truth; a negated edge to it is falsehood.
    True = 17,
}

impl NodeLabel {
    /// All labels in the order of their numbers, with their names.
    pub const ALL: [(&'static str, NodeLabel); 18] = [
        ("constant", NodeLabel::Constant),
        ("function", NodeLabel::Function),
        ("predicate", NodeLabel::Predicate),
        ("universal", NodeLabel::Universal),
        ("existential", NodeLabel::Existential),
        ("abstracted", NodeLabel::Abstracted),
        ("application", NodeLabel::Application),
        ("rule", NodeLabel::Rule),
        ("exists", NodeLabel::Exists),
        ("exists-unique", NodeLabel::ExistsUnique),
        ("choice", NodeLabel::Choice),
        ("lambda", NodeLabel::Lambda),
        ("and", NodeLabel::And),
        ("or", NodeLabel::Or),
        ("equivalence", NodeLabel::Equivalence),
        ("equality", NodeLabel::Equality),
        ("not", NodeLabel::Not),
        ("true", NodeLabel::True),
    ];

    /// The number of labels.
    pub const COUNT: usize = Self::ALL.len();

    /// The label with a number.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).map(|&(_, label)| label)
    }

    /// The label's name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether the edges of a node that binds nothing can stand in any order.
    pub(super) fn is_unordered(self) -> bool {
        use NodeLabel::{And, Equality, Equivalence, Exists, Or, Rule};
        matches!(self, And | Or | Equality | Equivalence | Exists | Rule)
    }

    /// Whether saying the same twice is saying it once.
    pub(super) fn is_set(self) -> bool {
        matches!(self, NodeLabel::And | NodeLabel::Or | NodeLabel::Exists | NodeLabel::Rule)
    }
}

/// The role of an edge's target for its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EdgeClass {
    /// One of the operands of `&`, `|`, `<=>` or `=`.
    Operand = 0,
    /// The first argument.
    First = 1,
    /// The second argument.
    Second = 2,
    /// The third argument.
    Third = 3,
    /// An argument after the third.
    Later = 4,
    /// The variable or binder that is applied.
    Head = 5,
    /// A variable that the source binds.
    Binds = 6,
    /// The premise of a rule.
    Guard = 7,
    /// The conclusion of a rule, or the body of a binder.
    Body = 8,
}

impl EdgeClass {
    /// All classes in the order of their numbers, with their names.
    pub const ALL: [(&'static str, EdgeClass); 9] = [
        ("operand", EdgeClass::Operand),
        ("first", EdgeClass::First),
        ("second", EdgeClass::Second),
        ("third", EdgeClass::Third),
        ("later", EdgeClass::Later),
        ("head", EdgeClass::Head),
        ("binds", EdgeClass::Binds),
        ("guard", EdgeClass::Guard),
        ("body", EdgeClass::Body),
    ];

    /// The number of edge classes: each class, and each class negated.
    pub const COUNT: usize = 2 * Self::ALL.len();

    /// The class's name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// The number of an edge of this class, with an offset if the target is negated.
    #[inline]
    pub fn number(self, is_negated: bool) -> u8 {
        self as u8 + if is_negated { Self::ALL.len() as u8 } else { 0 }
    }

    /// The class of an edge with a number, and whether its target is negated.
    pub fn of(number: u8) -> Option<(Self, bool)> {
        let (classes, number) = (Self::ALL.len(), usize::from(number));
        (number < Self::COUNT).then(|| (Self::ALL[number % classes].1, number >= classes))
    }

    /// The class of an argument, counted from 0.
    pub(super) fn argument(place: usize) -> Self {
        [EdgeClass::First, EdgeClass::Second, EdgeClass::Third][..]
            .get(place)
            .copied()
            .unwrap_or(EdgeClass::Later)
    }
}
