//! Properties of constants that the printer needs: which of their arguments are written, and which are
//! proofs.

use std::collections::HashMap;
use std::rc::Rc;

use super::objects::{Damage, Object, Objects};

/// Numbers of the constructors of expressions.
pub(super) mod tag {
    pub(in super::super) const BVAR: u8 = 0;
    pub(in super::super) const SORT: u8 = 3;
    pub(in super::super) const CONST: u8 = 4;
    pub(in super::super) const APP: u8 = 5;
    pub(in super::super) const LAMBDA: u8 = 6;
    pub(in super::super) const PI: u8 = 7;
    pub(in super::super) const LET: u8 = 8;
    pub(in super::super) const LITERAL: u8 = 9;
    pub(in super::super) const MDATA: u8 = 10;
    pub(in super::super) const PROJECTION: u8 = 11;
}

/// Returns the fields of an expression that are expressions.
pub(super) fn below(tag: u8) -> &'static [usize] {
    match tag {
        tag::APP => &[0, 1],
        tag::LAMBDA | tag::PI => &[1, 2],
        tag::LET => &[1, 2, 3],
        tag::MDATA => &[1],
        tag::PROJECTION => &[2],
        _ => &[],
    }
}

/// Number of arguments that are classified; later ones are written.
const MOST: usize = 64;

/// The binding of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bracket {
    Round,
    Curly,
    Strict,
    Instance,
}

/// The form in which an argument is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// As it is.
    Written,
    /// Not at all.
    Hidden,
    /// As `⋯`, unless it is a name.
    Proof,
}

/// The properties of a constant that printing needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Its arguments, as far as its type shows them.
    pub(super) arguments: Vec<Argument>,
    /// Whether it yields propositions.
    makes_propositions: bool,
    /// Names of the fields, if it constructs a structure, which is printed with braces or `⟨⟩`.
    pub(super) fields: Option<Rc<[Rc<str>]>>,
    /// Whether its values are written `⟨a, b⟩`.
    pub(super) is_anonymous: bool,
    /// The place of the argument that it coerces.
    pub(super) coerces: Option<usize>,
}

/// The signatures of all constants that were read.
#[derive(Default)]
pub(super) struct Signatures(HashMap<Rc<str>, Signature>);

impl Signatures {
    pub(super) fn get(&self, name: &str) -> Option<&Signature> {
        self.0.get(name)
    }

    /// Returns the signature of a name, for changing it.
    pub(super) fn entry(&mut self, name: &Rc<str>) -> &mut Signature {
        self.0.entry(Rc::clone(name)).or_default()
    }

    /// Adds the constants of a module. Those that yield propositions are found first, because their arguments
    /// depend on it.
    pub(super) fn add(
        &mut self,
        objects: &mut Objects,
        constants: &[(Rc<str>, Object)],
    ) -> Result<(), Damage> {
        for (name, typed) in constants {
            let makes_propositions = is_proposition_former(objects, *typed)?;
            self.entry(name).makes_propositions = makes_propositions;
        }
        for (name, typed) in constants {
            let arguments = self.arguments(objects, *typed)?;
            self.entry(name).arguments = arguments;
        }
        Ok(())
    }

    /// Returns the arguments of a function by its type.
    fn arguments(&self, objects: &mut Objects, mut typed: Object) -> Result<Vec<Argument>, Damage> {
        let (mut types, mut arguments) = (Vec::new(), Vec::new());
        while arguments.len() < MOST {
            typed = plain(objects, typed)?;
            if objects.tag(typed)? != tag::PI {
                break;
            }
            let domain = objects.field(typed, 1)?;
            arguments.push(match bracket(objects, typed)? {
                Bracket::Round if self.is_proposition(objects, domain, &types)? => Argument::Proof,
                Bracket::Round => Argument::Written,
                _ => Argument::Hidden,
            });
            types.push(domain);
            typed = objects.field(typed, 2)?;
        }
        Ok(arguments)
    }

    /// Whether a type is a proposition, as far as its head shows. `types` are the types of the variables in
    /// scope.
    fn is_proposition(&self, objects: &mut Objects, typed: Object, types: &[Object]) -> Result<bool, Damage> {
        let (mut typed, mut depth) = (plain(objects, typed)?, 0);
        while objects.tag(typed)? == tag::PI && depth < MOST {
            typed = objects.field(typed, 2)?;
            typed = plain(objects, typed)?;
            depth += 1;
        }
        for _ in 0..MOST {
            match objects.tag(typed)? {
                tag::APP => {
                    typed = objects.field(typed, 0)?;
                    typed = plain(objects, typed)?;
                }
                tag::CONST => {
                    let name = objects.field(typed, 0)?;
                    let name = objects.name(name)?;
                    return Ok(self.get(&name).is_some_and(|signature| signature.makes_propositions));
                }
                tag::BVAR => {
                    let index = objects.field(typed, 0)?.number().unwrap_or(u64::MAX);
                    let outer = usize::try_from(index).ok().and_then(|index| index.checked_sub(depth));
                    let place = outer.and_then(|index| types.len().checked_sub(index + 1));
                    return place.map_or(Ok(false), |place| is_proposition_former(objects, types[place]));
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// Whether a type ends in `Prop`.
fn is_proposition_former(objects: &mut Objects, mut typed: Object) -> Result<bool, Damage> {
    for _ in 0..MOST {
        typed = plain(objects, typed)?;
        match objects.tag(typed)? {
            tag::PI => typed = objects.field(typed, 2)?,
            // The level zero is a constructor without fields.
            tag::SORT => return Ok(objects.field(typed, 0)?.number() == Some(0)),
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// Returns the binding of a binder's variable.
pub(super) fn bracket(objects: &Objects, binder: Object) -> Result<Bracket, Damage> {
    // Lean's cached data on the expression comes first.
    Ok(match objects.scalar(binder, 8)? {
        0 => Bracket::Round,
        1 => Bracket::Curly,
        2 => Bracket::Strict,
        _ => Bracket::Instance,
    })
}

/// Returns an expression without its metadata.
pub(super) fn plain(objects: &Objects, mut expression: Object) -> Result<Object, Damage> {
    for _ in 0..MOST {
        if objects.tag(expression)? != tag::MDATA {
            break;
        }
        expression = objects.field(expression, 1)?;
    }
    Ok(expression)
}
