//! Exact terms as text, in the form in which Lean prints them, with every function by its full name: no field
//! notation.

use std::collections::HashSet;
use std::rc::Rc;

use super::objects::{Damage, Object, Objects};
use super::signature::{Argument, Bracket, Signatures, below, bracket, plain, tag};

/// Maximum size of a statement in bytes. Terms are graphs here, so one can be far larger printed than in its
/// file.
const LONGEST: usize = 1 << 16;
/// Maximum number of terms visited for one statement.
const MOST_STEPS: usize = 1 << 19;

/// An item to print.
enum Work {
    Text(&'static str),
    Name(Rc<str>),
    /// A term and its place, which decides whether it needs brackets.
    Term(Object, Place),
    /// The beginning of a variable's scope.
    Bind(Rc<str>),
    /// The end of the latest variable's scope.
    Leave,
}

/// The place of a term.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A place where nothing needs brackets.
    Open,
    /// Before an arrow.
    Domain,
    /// After a function.
    Argument,
}

/// Printer for the statement of a constant.
pub(super) struct Printer<'a> {
    objects: &'a mut Objects,
    signatures: &'a Signatures,
    text: String,
    work: Vec<Work>,
    scope: Vec<Rc<str>>,
    /// Names that variables must not have: the first components of the constants.
    taken: HashSet<String>,
    steps: usize,
}

impl<'a> Printer<'a> {
    pub(super) fn new(objects: &'a mut Objects, signatures: &'a Signatures) -> Self {
        let (text, work, scope, taken) = (String::new(), Vec::new(), Vec::new(), HashSet::new());
        Printer { objects, signatures, text, work, scope, taken, steps: 0 }
    }

    /// Prints a declaration; `None` if it is too large to be useful.
    pub(super) fn declaration(
        mut self,
        word: &str,
        name: &str,
        typed: Object,
    ) -> Result<Option<String>, Damage> {
        if !self.take_names(typed)? {
            return Ok(None);
        }
        self.text = format!("{word} {name}");
        let mut typed = plain(self.objects, typed)?;
        while self.objects.tag(typed)? == tag::PI {
            let Binder { name, is_hygienic, bracket } = self.binder(typed)?;
            if is_hygienic && bracket == Bracket::Round {
                break;
            }
            self.text.push(' ');
            let domain = self.objects.field(typed, 1)?;
            self.group(name.clone(), bracket, is_hygienic, domain);
            if !self.run()? {
                return Ok(None);
            }
            self.scope.push(name);
            let body = self.objects.field(typed, 2)?;
            typed = plain(self.objects, body)?;
        }
        self.text += " : ";
        self.work.push(Work::Term(typed, Place::Open));
        Ok(if self.run()? { Some(self.text) } else { None })
    }

    /// Records the first components of all constants; false if there are too many terms.
    fn take_names(&mut self, typed: Object) -> Result<bool, Damage> {
        let (mut stack, mut seen) = (vec![typed], HashSet::new());
        while let Some(expression) = stack.pop() {
            if !seen.insert(expression) {
                continue;
            }
            if seen.len() > MOST_STEPS {
                return Ok(false);
            }
            let kind = self.objects.tag(expression)?;
            if kind == tag::CONST {
                let name = self.objects.field(expression, 0)?;
                let name = self.objects.name(name)?;
                let first = name.split('.').next().unwrap_or_default();
                self.taken.insert(first.to_owned());
            }
            for &field in below(kind) {
                stack.push(self.objects.field(expression, field)?);
            }
        }
        Ok(true)
    }

    /// Prints all items; false if a limit is exceeded.
    fn run(&mut self) -> Result<bool, Damage> {
        while let Some(work) = self.work.pop() {
            self.steps += 1;
            if self.text.len() > LONGEST || self.steps > MOST_STEPS {
                return Ok(false);
            }
            match work {
                Work::Text(text) => self.text += text,
                Work::Name(name) => self.text += &name,
                Work::Bind(name) => self.scope.push(name),
                Work::Leave => drop(self.scope.pop()),
                Work::Term(term, place) => self.term(term, place)?,
            }
        }
        Ok(true)
    }

    /// Plans items to be printed in this order.
    fn plan(&mut self, work: Vec<Work>) {
        self.work.extend(work.into_iter().rev());
    }

    /// Plans items to be printed in this order, in brackets if `in_brackets`.
    fn plan_in(&mut self, in_brackets: bool, mut work: Vec<Work>) {
        if in_brackets {
            work.insert(0, Work::Text("("));
            work.push(Work::Text(")"));
        }
        self.plan(work);
    }

    fn term(&mut self, term: Object, place: Place) -> Result<(), Damage> {
        match self.objects.tag(term)? {
            tag::BVAR => {
                let index = self.objects.field(term, 0)?.number().unwrap_or(u64::MAX);
                let place =
                    usize::try_from(index).ok().and_then(|i| self.scope.len().checked_sub(i.checked_add(1)?));
                let place = place.ok_or("expected a variable that is bound, found another")?;
                self.text += &self.scope[place];
            }
            tag::SORT => {
                let level = self.objects.field(term, 0)?;
                self.text += match level.number() {
                    Some(0) => "Prop",
                    _ if self.is_successor(level)? => "Type",
                    _ => "Sort",
                };
            }
            tag::CONST => {
                let name = self.objects.field(term, 0)?;
                self.text += &self.objects.name(name)?;
            }
            tag::APP => self.application(term, place)?,
            tag::LAMBDA => {
                let Binder { name, .. } = self.binder(term)?;
                let body = self.objects.field(term, 2)?;
                let work = vec![
                    Work::Text("fun "),
                    Work::Name(Rc::clone(&name)),
                    Work::Text(" => "),
                    Work::Bind(name),
                    Work::Term(body, Place::Open),
                    Work::Leave,
                ];
                self.plan_in(place != Place::Open, work);
            }
            tag::PI => self.pi(term, place)?,
            tag::LET => {
                let name = self.objects.field(term, 0)?;
                let name = self.variable(name)?.0;
                let (value, body) = (self.objects.field(term, 2)?, self.objects.field(term, 3)?);
                let work = vec![
                    Work::Text("let "),
                    Work::Name(Rc::clone(&name)),
                    Work::Text(" := "),
                    Work::Term(value, Place::Open),
                    Work::Text("; "),
                    Work::Bind(name),
                    Work::Term(body, Place::Open),
                    Work::Leave,
                ];
                self.plan_in(place != Place::Open, work);
            }
            tag::LITERAL => self.literal(term)?,
            tag::MDATA => {
                let inner = self.objects.field(term, 1)?;
                self.work.push(Work::Term(inner, place));
            }
            tag::PROJECTION => {
                let (index, object) = (self.objects.field(term, 1)?, self.objects.field(term, 2)?);
                let field: Rc<str> = format!(").{}", index.number().unwrap_or(0).saturating_add(1)).into();
                self.plan(vec![Work::Text("("), Work::Term(object, Place::Open), Work::Name(field)]);
            }
            other => return Err(format!("expected an expression, found tag {other}")),
        }
        Ok(())
    }

    fn pi(&mut self, term: Object, place: Place) -> Result<(), Damage> {
        let Binder { name, is_hygienic, bracket } = self.binder(term)?;
        let (domain, body) = (self.objects.field(term, 1)?, self.objects.field(term, 2)?);
        let mut work = Vec::new();
        if is_hygienic && bracket == Bracket::Round && !self.occurs(body)? {
            work.push(Work::Term(domain, Place::Domain));
            work.push(Work::Text(" → "));
        } else {
            work.push(Work::Text("∀ "));
            let (open, close) = brackets(bracket);
            work.push(Work::Text(open));
            if bracket != Bracket::Instance || !is_hygienic {
                work.push(Work::Name(Rc::clone(&name)));
                work.push(Work::Text(" : "));
            }
            work.push(Work::Term(domain, Place::Open));
            work.push(Work::Text(close));
            work.push(Work::Text(", "));
        }
        work.extend([Work::Bind(name), Work::Term(body, Place::Open), Work::Leave]);
        self.plan_in(place != Place::Open, work);
        Ok(())
    }

    /// Plans `(name : T)`.
    fn group(&mut self, name: Rc<str>, bracket: Bracket, is_hygienic: bool, typed: Object) {
        let (open, close) = brackets(bracket);
        let mut work = vec![Work::Text(open)];
        if bracket != Bracket::Instance || !is_hygienic {
            work.extend([Work::Name(name), Work::Text(" : ")]);
        }
        work.extend([Work::Term(typed, Place::Open), Work::Text(close)]);
        self.plan(work);
    }

    fn application(&mut self, term: Object, place: Place) -> Result<(), Damage> {
        let (mut head, mut arguments) = (term, Vec::new());
        while self.objects.tag(head)? == tag::APP {
            arguments.push(self.objects.field(head, 1)?);
            let function = self.objects.field(head, 0)?;
            head = plain(self.objects, function)?;
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Ok(());
            }
        }
        arguments.reverse();
        if self.objects.tag(head)? != tag::CONST {
            let mut work = vec![Work::Term(head, Place::Argument)];
            for argument in arguments {
                work.extend([Work::Text(" "), Work::Term(argument, Place::Argument)]);
            }
            self.plan_in(place == Place::Argument, work);
            return Ok(());
        }
        let name = self.objects.field(head, 0)?;
        let name = self.objects.name(name)?;
        let signature = self.signatures.get(&name);
        match (&*name, arguments.len()) {
            // The type without the default value or the tactic is inside.
            ("autoParam" | "optParam", 2) => {
                self.work.push(Work::Term(arguments[0], place));
                return Ok(());
            }
            ("OfNat.ofNat", 3) if self.is_literal(arguments[1])? => {
                self.work.push(Work::Term(arguments[1], place));
                return Ok(());
            }
            _ => {}
        }
        if let Some(coerced) = signature.and_then(|signature| signature.coerces)
            && coerced + 1 == arguments.len()
        {
            let work = vec![Work::Text("↑"), Work::Term(arguments[coerced], Place::Argument)];
            self.plan_in(place == Place::Argument, work);
            return Ok(());
        }
        let kind = |number: usize| {
            let known = signature.and_then(|signature| signature.arguments.get(number));
            known.copied().unwrap_or(Argument::Written)
        };
        let mut written = Vec::new();
        for (number, argument) in arguments.into_iter().enumerate() {
            match kind(number) {
                Argument::Hidden => {}
                Argument::Written => written.push(Work::Term(argument, Place::Argument)),
                Argument::Proof if self.is_atom(argument)? => {
                    written.push(Work::Term(argument, Place::Argument))
                }
                Argument::Proof => written.push(Work::Text("⋯")),
            }
        }
        if let Some((fields, signature)) = signature.and_then(|s| Some((s.fields.clone()?, s))) {
            if signature.is_anonymous && fields.len() == written.len() {
                self.elements("⟨", written, "⟩", &[]);
                return Ok(());
            }
            if fields.len() == written.len() && &*name != "Prod.mk" {
                self.elements("{ ", written, " }", &fields);
                return Ok(());
            }
        }
        let in_brackets = place == Place::Argument && !written.is_empty();
        let mut work = vec![Work::Name(name)];
        for argument in written {
            work.extend([Work::Text(" "), argument]);
        }
        self.plan_in(in_brackets, work);
        Ok(())
    }

    /// Plans elements, with the names of their fields if there are any.
    fn elements(&mut self, open: &'static str, elements: Vec<Work>, close: &'static str, fields: &[Rc<str>]) {
        let mut work = vec![Work::Text(open)];
        for (number, element) in elements.into_iter().enumerate() {
            if number > 0 {
                work.push(Work::Text(", "));
            }
            if let Some(field) = fields.get(number) {
                work.extend([Work::Name(Rc::clone(field)), Work::Text(" := ")]);
            }
            work.push(match element {
                Work::Term(term, _) => Work::Term(term, Place::Open),
                other => other,
            });
        }
        work.push(Work::Text(close));
        self.plan(work);
    }

    fn literal(&mut self, term: Object) -> Result<(), Damage> {
        let literal = self.objects.field(term, 0)?;
        let value = self.objects.field(literal, 0)?;
        if self.objects.tag(literal)? == 1 {
            let text: String = self.objects.string(value)?.chars().take(LONGEST).collect();
            self.text +=
                &format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
        } else {
            // A literal that is not a small number is a huge one, whose digits carry no information.
            self.text += &value.number().map_or_else(|| "_".to_owned(), |number| number.to_string());
        }
        Ok(())
    }

    fn is_literal(&self, term: Object) -> Result<bool, Damage> {
        Ok(self.objects.tag(plain(self.objects, term)?)? == tag::LITERAL)
    }

    /// Whether a term is a name, so that it is shorter than a mark for its omission.
    fn is_atom(&self, term: Object) -> Result<bool, Damage> {
        Ok(matches!(self.objects.tag(plain(self.objects, term)?)?, tag::BVAR | tag::CONST))
    }

    /// Whether a level is above another, so that its sort is a `Type`.
    fn is_successor(&self, level: Object) -> Result<bool, Damage> {
        let mut stack = vec![level];
        let mut steps = 0;
        while let Some(level) = stack.pop() {
            steps += 1;
            match self.objects.tag(level)? {
                1 => {}
                2 | 3 if steps < 64 => {
                    stack.extend([self.objects.field(level, 0)?, self.objects.field(level, 1)?])
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether the variable of a binder occurs in its body.
    fn occurs(&mut self, body: Object) -> Result<bool, Damage> {
        let (mut stack, mut seen) = (vec![(body, 0u64)], HashSet::new());
        while let Some((expression, depth)) = stack.pop() {
            if !seen.insert((expression, depth)) {
                continue;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Ok(true);
            }
            let kind = self.objects.tag(expression)?;
            if kind == tag::BVAR && self.objects.field(expression, 0)?.number() == Some(depth) {
                return Ok(true);
            }
            let fields = below(kind);
            for (number, &field) in fields.iter().enumerate() {
                let is_body = matches!(kind, tag::LAMBDA | tag::PI | tag::LET) && number + 1 == fields.len();
                stack.push((self.objects.field(expression, field)?, depth + u64::from(is_body)));
            }
        }
        Ok(false)
    }

    fn binder(&mut self, binder: Object) -> Result<Binder, Damage> {
        let name = self.objects.field(binder, 0)?;
        let (name, is_hygienic) = self.variable(name)?;
        Ok(Binder { name, is_hygienic, bracket: bracket(self.objects, binder)? })
    }

    /// Returns the name of a variable, or another one if it is taken, and whether it is one that no user
    /// wrote.
    fn variable(&mut self, name: Object) -> Result<(Rc<str>, bool), Damage> {
        let name = self.objects.name(name)?;
        let (written, is_hygienic) = match name.find("_@").or_else(|| name.find("_hyg")) {
            Some(end) => (name[..end].trim_end_matches('.'), true),
            None => (&*name, false),
        };
        let written = written.split('.').next().unwrap_or_default();
        let written = if written.is_empty() || written == "_" { "x" } else { written };
        let mut fresh = written.to_owned();
        let mut number = 1;
        while self.taken.contains(&fresh) || self.scope.iter().any(|other| **other == *fresh) {
            fresh = format!("{}_{number}", written.trim_end_matches('»').trim_start_matches('«'));
            number += 1;
        }
        Ok((fresh.into(), is_hygienic))
    }
}

struct Binder {
    name: Rc<str>,
    /// Whether users cannot write the name.
    is_hygienic: bool,
    bracket: Bracket,
}

fn brackets(bracket: Bracket) -> (&'static str, &'static str) {
    match bracket {
        Bracket::Round => ("(", ")"),
        Bracket::Curly => ("{", "}"),
        Bracket::Strict => ("⦃", "⦄"),
        Bracket::Instance => ("[", "]"),
    }
}
