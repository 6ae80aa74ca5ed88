//! Which function field notation means: `as.length` is `List.length as` where `as` is bound with a type of lists.
//!
//! What is bound with a type is clear. Of other terms the head tells, as far as it can without the declarations that a text
//! refers to: `HAdd.hAdd a b` has the type of `a`, `f x` what `f` was bound to return, `List.map g as` most likely is a list,
//! `as.toArray` an array. Where nothing tells, a field is a symbol by itself, `.length`, the same for all types.

use super::Lowering;
use crate::parse::lean::operators;
use crate::parse::lean::preterm::{Kind, Term, Written, components};
use crate::symbol::Symbol;

/// Terms that are looked at to find a type: each is a part of the one before.
const DEEPEST: usize = 12;

/// The known structure of a type.
#[derive(Clone)]
enum Type {
    /// The type, as it is written.
    Written(Written),
    /// The name that it begins with.
    Named(String),
}

/// Functions whose results have the type of an argument, by its place.
fn same_as(name: &str) -> Option<usize> {
    Some(match name {
        "HAdd.hAdd"
        | "HSub.hSub"
        | "HMul.hMul"
        | "HDiv.hDiv"
        | "HMod.hMod"
        | "HPow.hPow"
        | "HAppend.hAppend"
        | "HAnd.hAnd"
        | "HOr.hOr"
        | "HXor.hXor"
        | "HShiftLeft.hShiftLeft"
        | "HShiftRight.hShiftRight"
        | "HSMul.hSMul"
        | "Max.max"
        | "Min.min"
        | "Neg.neg"
        | "Inv.inv"
        | "Complement.complement"
        | "Inter.inter"
        | "Union.union"
        | "SDiff.sdiff"
        | "Bind.bind"
        | "id" => 0,
        "Functor.map" | "ite" | "cond" | "Insert.insert" => 1,
        _ => return None,
    })
}

/// Functions whose results have a type of their own, whatever they are called.
fn result_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "BEq.beq" | "bne" | "Decidable.decide" | "and" | "or" | "not" | "xor" => "Bool",
        "Ord.compare" | "compareOfLessAndEq" | "compareOn" => "Ordering",
        "GetElem?.getElem?" => "Option",
        "Std.Slice.toList" => "List",
        "Std.Slice.toArray" => "Array",
        "List.lookup" => "Option",
        _ => return None,
    })
}

/// Types that names of functions end with, as in `List.toArray`.
const TYPES: [&str; 24] = [
    "List",
    "Array",
    "Vector",
    "Option",
    "Nat",
    "Int",
    "Rat",
    "Fin",
    "Bool",
    "Char",
    "String",
    "BitVec",
    "Float",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "USize",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "ISize",
    "ByteArray",
];

/// The type that a function of a namespace most likely returns: of its namespace, unless its name says something else.
fn likely(space: &str, field: &str) -> Option<String> {
    if let Some(known) = result_of(&format!("{space}.{field}")) {
        return Some(known.to_owned());
    }
    let plain = field.trim_end_matches(['!', '\'']);
    if let Some(target) = plain.strip_prefix("to").filter(|target| target.starts_with(char::is_uppercase)) {
        let known = TYPES.iter().find(|known| **known == target);
        return known.map(|known| (*known).to_owned());
    }
    if plain.ends_with('?') {
        return Some("Option".to_owned());
    }
    const PREDICATES: [&str; 8] = ["contains", "all", "any", "elem", "beq", "ble", "blt", "testBit"];
    let is_predicate = plain.strip_prefix("is").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let result = match plain {
        _ if is_predicate || PREDICATES.contains(&plain) => "Bool",
        "length" | "size" | "count" | "countP" | "natAbs" | "log2" | "idxOf" | "findIdx" | "utf8ByteSize" => {
            "Nat"
        }
        "keys" | "values" => "List",
        "keysArray" | "valuesArray" => "Array",
        "compare" => "Ordering",
        _ => {
            let space = space.strip_suffix(".Const").unwrap_or(space);
            let is_type = components(space).last()?.starts_with(|c: char| c.is_uppercase() || c == '«');
            return is_type.then(|| space.to_owned());
        }
    };
    Some(result.to_owned())
}

/// Projections that are written as numbers.
fn projection<'a>(space: &str, field: &'a str) -> &'a str {
    match (space, field) {
        ("Prod" | "PProd" | "Sigma" | "PSigma", "1") => "fst",
        ("Prod" | "PProd" | "Sigma" | "PSigma", "2") => "snd",
        ("And", "1") => "left",
        ("And", "2") => "right",
        ("Iff", "1") => "mp",
        ("Iff", "2") => "mpr",
        ("Subtype" | "Fin", "1") => "val",
        ("Subtype", "2") => "property",
        ("Fin", "2") => "isLt",
        _ => field,
    }
}

impl Lowering<'_> {
    /// The constant that a field of an object means.
    pub(super) fn field_constant(&mut self, field: Symbol, object: Written) -> Symbol {
        let space = self.type_of(object, DEEPEST).and_then(|typed| self.space(&typed));
        let field = self.names.name(field);
        let name = match space {
            Some(space) => format!("{space}.{}", projection(&space, field)),
            None => format!(".{field}"),
        };
        self.names.intern(&name)
    }

    /// The known type of a term, if any.
    fn type_of(&self, term: Written, deepest: usize) -> Option<Type> {
        let deepest = deepest.checked_sub(1)?;
        let (head, arguments) = self.spine(term);
        match self.terms.get(head) {
            Term::Name { name, .. } => {
                if let Some(var) = self.bound.get(&name) {
                    let typed = self.types[var.index()]?;
                    return self.result(typed, arguments.len()).map(Type::Written);
                }
                let text = self.names.name(name);
                let mut parts = components(text);
                let first = self.names.get(parts.next()?);
                match first.and_then(|first| self.bound.get(&first)) {
                    Some(var) => {
                        let typed = self.result(self.types[var.index()]?, 0).map(Type::Written)?;
                        parts.take(DEEPEST).try_fold(typed, |typed, field| self.type_of_field(&typed, field))
                    }
                    None => self.type_of_constant(text, &arguments, deepest),
                }
            }
            Term::Constant(name) => self.type_of_constant(self.names.name(name), &arguments, deepest),
            Term::Field { name, object } => {
                let field = self.names.name(name);
                match self.type_of(object, deepest) {
                    Some(object) => self.type_of_field(&object, field),
                    None => likely("", field).map(Type::Named),
                }
            }
            Term::Apply(..) | Term::Bind { .. } | Term::Let { .. } => None,
        }
    }

    /// The type of a constant that is applied to some arguments.
    fn type_of_constant(&self, name: &str, arguments: &[Written], deepest: usize) -> Option<Type> {
        if let Some(place) = same_as(name) {
            let is_literal = |term: Written| match self.terms.get(term) {
                Term::Constant(name) => self.names.name(name).starts_with(|c: char| c.is_ascii_digit()),
                _ => false,
            };
            let argument = arguments[place.min(arguments.len())..].iter().find(|term| !is_literal(**term))?;
            return self.type_of(*argument, deepest);
        }
        if name.starts_with('"') {
            return Some(Type::Named("String".to_owned()));
        }
        if let Some(known) = result_of(name) {
            return Some(Type::Named(known.to_owned()));
        }
        let field = components(name).last()?;
        let space = name.strip_suffix(field)?.strip_suffix('.')?;
        let object = arguments.first().and_then(|object| self.type_of(*object, deepest));
        match object {
            Some(object) if space == "GetElem" => self.element(&object),
            Some(object) if self.space(&object).is_some_and(|found| found == space) => {
                self.type_of_field(&object, field)
            }
            _ => likely(space, field).map(Type::Named),
        }
    }

    /// The type of a field of something of a type.
    fn type_of_field(&self, object: &Type, field: &str) -> Option<Type> {
        let space = self.space(object)?;
        let parameter = match (space.as_str(), projection(&space, field)) {
            ("Prod", "fst") => 0,
            ("Prod", "snd") => 1,
            ("Option", "get" | "get!" | "getD") => 0,
            (
                "List" | "Array" | "Vector",
                "head" | "head!" | "headD" | "getLast" | "getLast!" | "back" | "back!",
            ) => 0,
            (space, field) => return likely(space, field).map(Type::Named),
        };
        self.parameter(object, parameter)
    }

    /// The type of an element of something of a type.
    fn element(&self, object: &Type) -> Option<Type> {
        match self.space(object)?.as_str() {
            "List" | "Array" | "Vector" | "Subarray" => self.parameter(object, 0),
            "BitVec" => Some(Type::Named("Bool".to_owned())),
            _ => None,
        }
    }

    /// An argument of a type.
    fn parameter(&self, typed: &Type, place: usize) -> Option<Type> {
        let Type::Written(typed) = typed else { return None };
        self.spine(*typed).1.get(place).copied().map(Type::Written)
    }

    /// The namespace of a type: what it begins with, unless that is a variable.
    fn space(&self, typed: &Type) -> Option<String> {
        let typed = match typed {
            Type::Named(name) => return Some(name.clone()),
            Type::Written(typed) => *typed,
        };
        match self.terms.get(self.spine(typed).0) {
            Term::Name { name, .. } if !self.bound.contains_key(&name) => {
                let name = self.names.name(name);
                Some(operators::full_name(name).unwrap_or(name).to_owned())
            }
            Term::Constant(name) => {
                let name = self.names.name(name);
                name.starts_with(char::is_alphabetic).then(|| name.to_owned())
            }
            Term::Bind { kind: Kind::Exists, .. } => Some("Exists".to_owned()),
            _ => None,
        }
    }

    /// The rest of a function's type after this many explicit arguments.
    fn result(&self, mut typed: Written, mut arguments: usize) -> Option<Written> {
        loop {
            match self.terms.get(typed) {
                Term::Bind { kind: Kind::Pi, is_explicit, body, .. } if arguments > 0 || !is_explicit => {
                    arguments -= usize::from(is_explicit);
                    typed = body;
                }
                _ => return (arguments == 0).then_some(typed),
            }
        }
    }

    /// The head of a term and its arguments.
    fn spine(&self, term: Written) -> (Written, Vec<Written>) {
        let (mut head, mut arguments) = (term, Vec::new());
        while let Term::Apply(function, argument) = self.terms.get(head) {
            arguments.push(argument);
            head = function;
        }
        arguments.reverse();
        (head, arguments)
    }
}
