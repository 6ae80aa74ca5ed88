//! The types of HOL Light's constants, and the meanings of overloaded names.
//!
//! The types serve only to tell which `+` is meant, so the table holds the constants that connect terms of
//! different number types; for any other constant nothing is assumed.

use std::collections::HashMap;

use super::types::{Constructor, Type, Types};
use super::{Overload, lex, type_syntax};

/// An overloaded name: how its type depends on the unknown number type, and whether that may be `num`.
#[derive(Clone, Copy)]
pub(super) struct Overloaded {
    pub(super) ty: &'static str,
    pub(super) family: Family,
}

/// How the meaning of an overloaded name is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// By the number type `A`, which is the overload option's if nothing else tells.
    Number,
    /// By the number type `A`, which is never `num`.
    NotNatural,
    /// By the argument's type, once all number types are known.
    Argument,
}

/// The meaning of an overloaded name, if it is one.
pub(super) fn overloaded(name: &str) -> Option<Overloaded> {
    use Family::{Argument, NotNatural, Number};
    let (ty, family) = match name {
        "+" | "-" | "*" => ("A->A->A", Number),
        "<" | "<=" | ">" | ">=" => ("A->A->bool", Number),
        "/" | "max" | "min" => ("A->A->A", NotNatural),
        "--" | "abs" | "inv" | "sgn" => ("A->A", NotNatural),
        "&" => ("num->A", NotNatural),
        "pow" => ("A->num->A", NotNatural),
        "zpow" => ("A->int->A", NotNatural),
        "divides" => ("A->A->bool", Number),
        "mod" => ("A->A->A->bool", Number),
        "coprime" => ("A#A->bool", Number),
        "gcd" | "lcm" => ("A#A->A", Number),
        "dist" => ("A#A->B", Argument),
        "interval" | "segment" | "real_interval" | "real_segment" => ("A->B->bool", Argument),
        "**" => ("A->B->C", Argument),
        "norm" => ("real^A->real", Argument),
        _ => return None,
    };
    Some(Overloaded { ty, family })
}

/// The number type that is assumed when nothing tells, for a family and the user's choice.
pub(super) fn assumed(name: &str, family: Family, overload: Overload, types: &mut Types) -> Type {
    match (overload, family) {
        (Overload::Num, Family::Number) => types.base(Constructor::Num),
        (Overload::Int, _) if !matches!(name, "/" | "inv" | "zpow") => types.base(Constructor::Int),
        // Only integers and natural numbers divide each other.
        _ if matches!(name, "divides" | "coprime" | "gcd" | "lcm") => types.base(Constructor::Num),
        (Overload::Vector, _) if matches!(name, "+" | "-" | "--") => {
            let (real, index) = (types.base(Constructor::Real), types.unknown());
            types.build(Constructor::Cartesian, [Some(real), Some(index)])
        }
        _ => types.base(Constructor::Real),
    }
}

/// The constant that an overloaded name stands for. `decisive` is the type `A` of [`Overloaded::ty`], `second`
/// the type `B`.
pub(super) fn meaning(
    name: &str,
    decisive: Type,
    second: Option<Type>,
    types: &mut Types,
) -> Option<&'static str> {
    let shape = types.shape(decisive);
    let constructor = shape.map(|s| s.0);
    Some(match (name, constructor) {
        // The distance of natural numbers keeps its name.
        ("dist", Some(Constructor::Num)) => "dist",
        ("dist", _) => match second.and_then(|b| types.shape(b)) {
            Some((Constructor::Num, _)) => "dist",
            _ => "distance",
        },
        ("norm", _) => "vector_norm",
        ("interval", Some(Constructor::Product)) => "open_interval",
        ("interval", _) => "closed_interval",
        ("segment", Some(Constructor::Product)) => "open_segment",
        ("segment", _) => "closed_segment",
        ("real_interval", Some(Constructor::Product)) => "open_real_interval",
        ("real_interval", _) => "closed_real_interval",
        ("real_segment", Some(Constructor::Product)) => "open_real_segment",
        ("real_segment", _) => "closed_real_segment",
        ("**", _) => match (is_matrix(decisive, types), second.map(|b| is_matrix(b, types))) {
            (Some(false), _) => "vector_matrix_mul",
            (_, Some(Some(false))) => "matrix_vector_mul",
            _ => "matrix_mul",
        },
        ("divides", Some(Constructor::Num)) => "num_divides",
        ("mod", Some(Constructor::Num)) => "num_mod",
        ("coprime", Some(Constructor::Num)) => "num_coprime",
        ("gcd", Some(Constructor::Num)) => "num_gcd",
        ("lcm", Some(Constructor::Num)) => "num_lcm",
        (_, Some(Constructor::Real)) => return arithmetic(name, 0),
        (_, Some(Constructor::Int)) => return arithmetic(name, 1),
        (_, Some(Constructor::Cartesian)) => return arithmetic(name, 2),
        _ => return None,
    })
}

/// The names of an operator for reals, integers, and vectors or complex numbers; empty where there is none.
const ARITHMETIC: [(&str, [&str; 3]); 22] = [
    ("+", ["real_add", "int_add", "vector_add"]),
    ("-", ["real_sub", "int_sub", "vector_sub"]),
    ("*", ["real_mul", "int_mul", "complex_mul"]),
    ("/", ["real_div", "", "complex_div"]),
    ("<", ["real_lt", "int_lt", ""]),
    ("<=", ["real_le", "int_le", ""]),
    (">", ["real_gt", "int_gt", ""]),
    (">=", ["real_ge", "int_ge", ""]),
    ("--", ["real_neg", "int_neg", "vector_neg"]),
    ("&", ["real_of_num", "int_of_num", ""]),
    ("pow", ["real_pow", "int_pow", "complex_pow"]),
    ("abs", ["real_abs", "int_abs", ""]),
    ("inv", ["real_inv", "", "complex_inv"]),
    ("max", ["real_max", "int_max", ""]),
    ("min", ["real_min", "int_min", ""]),
    ("sgn", ["real_sgn", "int_sgn", ""]),
    ("zpow", ["real_zpow", "", ""]),
    ("mod", ["real_mod", "int_mod", ""]),
    ("divides", ["", "int_divides", ""]),
    ("coprime", ["", "int_coprime", ""]),
    ("gcd", ["", "int_gcd", ""]),
    ("lcm", ["", "int_lcm", ""]),
];

fn arithmetic(operator: &str, column: usize) -> Option<&'static str> {
    let row = ARITHMETIC.iter().find(|(name, _)| *name == operator)?;
    Some(row.1[column]).filter(|constant| !constant.is_empty())
}

/// The overloaded name that a constant is one meaning of.
pub(crate) fn operator_of(constant: &str) -> Option<&'static str> {
    ARITHMETIC.iter().find(|(_, meanings)| meanings.contains(&constant)).map(|(operator, _)| *operator)
}

/// Whether a type is `real^N^M` rather than `real^N`; `None` if that is open.
fn is_matrix(ty: Type, types: &mut Types) -> Option<bool> {
    match types.shape(ty) {
        Some((Constructor::Cartesian, [Some(entry), _])) => {
            types.shape(entry).map(|s| s.0 == Constructor::Cartesian)
        }
        _ => None,
    }
}

/// The type of an occurrence of a constant, if it is in the table.
pub(super) fn instantiate(name: &str, types: &mut Types) -> Option<Type> {
    declared(name).map(|ty| read(ty, types, &mut HashMap::new()))
}

/// Reads a type of the table; its variables are entered into `variables`.
pub(super) fn read(ty: &str, types: &mut Types, variables: &mut HashMap<String, Type>) -> Type {
    let tokens = lex::tokens(ty).expect("the table's types are well-formed");
    type_syntax::parse(ty, &tokens, &mut 0, types, Some(variables))
        .expect("the table's types are well-formed")
}

fn declared(name: &str) -> Option<&'static str> {
    Some(match name {
        "=" | "GEQ" => "A->A->bool",
        "==" => "A->A->(A->A->bool)->bool",
        "==>" | "/\\" | "\\/" => "bool->bool->bool",
        "~" => "bool->bool",
        "T" | "F" => "bool",
        "COND" => "bool->A->A->A",
        "!" | "?" | "?!" => "(A->bool)->bool",
        "@" | "GABS" => "(A->bool)->A",
        "LET" => "(A->B)->A->B",
        "LET_END" | "I" => "A->A",
        "o" => "(B->C)->(A->B)->A->C",
        "," => "A->B->A#B",
        "FST" => "A#B->A",
        "SND" => "A#B->B",
        "_0" => "num",
        "NUMERAL" | "BIT0" | "BIT1" | "SUC" | "PRE" | "FACT" => "num->num",
        "EXP" | "DIV" | "MOD" | "MIN" | "MAX" => "num->num->num",
        "EVEN" | "ODD" => "num->bool",
        ".." => "num->num->num->bool",
        "DECIMAL" => "num->num->real",
        "ITER" => "num->(A->A)->A->A",
        "NIL" => "A list",
        "CONS" => "A->A list->A list",
        "APPEND" => "A list->A list->A list",
        "HD" | "LAST" => "A list->A",
        "TL" | "REVERSE" => "A list->A list",
        "LENGTH" => "A list->num",
        "MEM" => "A->A list->bool",
        "EL" => "num->A list->A",
        "MAP" => "(A->B)->A list->B list",
        "ALL" | "EX" => "(A->bool)->A list->bool",
        "FILTER" => "(A->bool)->A list->A list",
        "IN" => "A->(A->bool)->bool",
        "SUBSET" | "PSUBSET" | "DISJOINT" => "(A->bool)->(A->bool)->bool",
        "UNION" | "INTER" | "DIFF" => "(A->bool)->(A->bool)->A->bool",
        "INSERT" => "A->(A->bool)->A->bool",
        "DELETE" => "(A->bool)->A->A->bool",
        "EMPTY" | "UNIV" => "A->bool",
        "GSPEC" => "(A->bool)->A->bool",
        "SETSPEC" => "A->bool->A->bool",
        "UNIONS" | "INTERS" => "((A->bool)->bool)->A->bool",
        "CARD" => "(A->bool)->num",
        "FINITE" | "INFINITE" | "COUNTABLE" => "(A->bool)->bool",
        "HAS_SIZE" => "(A->bool)->num->bool",
        "IMAGE" => "(A->B)->(A->bool)->B->bool",
        "CROSS" => "(A->bool)->(B->bool)->A#B->bool",
        "real_of_num" => "num->real",
        "real_of_int" => "int->real",
        "int_of_num" => "num->int",
        "int_of_real" => "real->int",
        "num_of_int" => "int->num",
        "real_add" | "real_sub" | "real_mul" | "real_div" | "real_max" | "real_min" | "rpow" => {
            "real->real->real"
        }
        "real_neg" | "real_inv" | "real_abs" | "real_sgn" => "real->real",
        "real_lt" | "real_le" | "real_gt" | "real_ge" => "real->real->bool",
        "real_pow" => "real->num->real",
        "int_add" | "int_sub" | "int_mul" | "int_max" | "int_min" => "int->int->int",
        "int_neg" | "int_abs" | "int_sgn" => "int->int",
        "int_lt" | "int_le" | "int_gt" | "int_ge" => "int->int->bool",
        "int_pow" => "int->num->int",
        "sqrt" | "sin" | "cos" | "tan" | "exp" | "log" | "atn" | "acs" | "asn" | "floor" | "frac" => {
            "real->real"
        }
        "pi" => "real",
        "integer" | "rational" => "real->bool",
        "sup" | "inf" => "(real->bool)->real",
        "sum" | "product" => "(A->bool)->(A->real)->real",
        "nsum" | "nproduct" => "(A->bool)->(A->num)->num",
        "vsum" => "(A->bool)->(A->real^N)->real^N",
        "vector_add" | "vector_sub" => "real^N->real^N->real^N",
        "vector_neg" => "real^N->real^N",
        "vector_norm" => "real^N->real",
        "distance" => "real^N#real^N->real",
        "dot" => "real^N->real^N->real",
        "cross" => "real^3->real^3->real^3",
        "%" => "real->real^N->real^N",
        "$" => "A^N->num->A",
        "vec" | "basis" => "num->real^N",
        "lift" => "real->real^1",
        "drop" => "real^1->real",
        "Cx" => "real->real^2",
        "Re" | "Im" | "Arg" => "real^2->real",
        "cnj" | "cexp" | "csin" | "ccos" | "clog" | "csqrt" | "complex_inv" => "real^2->real^2",
        "complex_mul" | "complex_div" | "cpow" => "real^2->real^2->real^2",
        "complex_pow" => "real^2->num->real^2",
        "ball" | "cball" | "sphere" => "real^N#real->real^N->bool",
        "convex" | "closed" | "open" | "bounded" | "compact" | "connected" | "affine" | "cone"
        | "collinear" | "coplanar" | "subspace" => "(real^N->bool)->bool",
        "interior" | "closure" | "frontier" | "span" => "(real^N->bool)->real^N->bool",
        "hull" => "((A->bool)->bool)->(A->bool)->A->bool",
        "midpoint" => "real^N#real^N->real^N",
        "matrix_vector_mul" => "real^N^M->real^N->real^M",
        "matrix_mul" => "real^N^M->real^P^N->real^P^M",
        "transp" => "A^N^M->A^M^N",
        "det" => "real^N^N->real",
        _ => return None,
    })
}
