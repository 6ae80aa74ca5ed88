//! Types, as far as they decide what an overloaded operator means.
//!
//! Plain unification on a flat array. A formula whose types do not fit is no error here: types are dropped
//! from the graph, so what cannot be unified is left as it is.

use std::collections::HashMap;

/// A type of one formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Type(u32);

/// The type constructors that matter; every other one is `Other`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constructor {
    Bool,
    Num,
    Real,
    Int,
    Function,
    Product,
    /// `real^N`
    Cartesian,
    List,
    /// A type or type variable that is known by name only.
    Other(u32),
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Unknown,
    Same(Type),
    Built(Constructor, [Option<Type>; 2]),
}

/// All types of a formula.
#[derive(Default)]
pub(super) struct Types {
    nodes: Vec<Node>,
    named: HashMap<String, u32>,
}

impl Types {
    pub(super) fn unknown(&mut self) -> Type {
        self.push(Node::Unknown)
    }

    pub(super) fn build(&mut self, constructor: Constructor, parts: [Option<Type>; 2]) -> Type {
        self.push(Node::Built(constructor, parts))
    }

    pub(super) fn base(&mut self, constructor: Constructor) -> Type {
        self.build(constructor, [None; 2])
    }

    pub(super) fn function(&mut self, from: Type, to: Type) -> Type {
        self.build(Constructor::Function, [Some(from), Some(to)])
    }

    /// The type with a given name: a base type, or one of which nothing but the name is known.
    pub(super) fn by_name(&mut self, name: &str) -> Type {
        let constructor = match name {
            "bool" => Constructor::Bool,
            "num" => Constructor::Num,
            "real" => Constructor::Real,
            "int" => Constructor::Int,
            "complex" => {
                let (real, two) = (self.base(Constructor::Real), self.by_name("2"));
                return self.build(Constructor::Cartesian, [Some(real), Some(two)]);
            }
            name => {
                let next = self.named.len() as u32;
                Constructor::Other(*self.named.entry(name.to_owned()).or_insert(next))
            }
        };
        self.base(constructor)
    }

    fn push(&mut self, node: Node) -> Type {
        self.nodes.push(node);
        Type(self.nodes.len() as u32 - 1)
    }

    /// The structure of a type, if it is known.
    pub(super) fn shape(&mut self, ty: Type) -> Option<(Constructor, [Option<Type>; 2])> {
        let root = self.root(ty);
        match self.nodes[root.0 as usize] {
            Node::Built(constructor, parts) => Some((constructor, parts)),
            _ => None,
        }
    }

    fn root(&mut self, ty: Type) -> Type {
        let mut root = ty;
        while let Node::Same(next) = self.nodes[root.0 as usize] {
            root = next;
        }
        let mut at = ty;
        while let Node::Same(next) = self.nodes[at.0 as usize] {
            self.nodes[at.0 as usize] = Node::Same(root);
            at = next;
        }
        root
    }

    /// Makes two types the same wherever they can be.
    ///
    /// Pairs are linked before their parts are looked at, so that even a type that contains itself ends.
    pub(super) fn unify(&mut self, a: Type, b: Type) {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            let (a, b) = (self.root(a), self.root(b));
            if a == b {
                continue;
            }
            match (self.nodes[a.0 as usize], self.nodes[b.0 as usize]) {
                (Node::Unknown, _) => self.nodes[a.0 as usize] = Node::Same(b),
                (_, Node::Unknown) => self.nodes[b.0 as usize] = Node::Same(a),
                (Node::Built(x, of_a), Node::Built(y, of_b)) if x == y => {
                    self.nodes[a.0 as usize] = Node::Same(b);
                    for pair in of_a.into_iter().zip(of_b) {
                        if let (Some(a), Some(b)) = pair {
                            pending.push((a, b));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_contains_itself_ends() {
        let mut types = Types::default();
        let a = types.unknown();
        let b = types.unknown();
        let (f, g) = (types.function(a, b), types.function(b, a));
        types.unify(a, f);
        types.unify(b, g);
        types.unify(a, b);
        types.unify(f, g);
        assert!(types.shape(a).is_some());
    }

    #[test]
    fn what_does_not_fit_stays() {
        let mut types = Types::default();
        let (num, real) = (types.by_name("num"), types.by_name("real"));
        types.unify(num, real);
        assert_eq!(types.shape(num).map(|s| s.0), Some(Constructor::Num));
        assert_eq!(types.shape(real).map(|s| s.0), Some(Constructor::Real));
    }
}
