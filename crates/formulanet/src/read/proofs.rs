//! Dependencies of proofs in the formats of other programs.
//!
//! Four formats are told apart by their beginning: JSON Lines `{"name": ..., "proof": [...]}`, lines `name: name name`,
//! Isabelle's `mash_state`, and derivations in TPTP's notation, as E, Vampire and others print them.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::Error;
use crate::read::read_text;

/// Bytes of a file, at most.
const LARGEST: usize = 1 << 28;

/// A proof: what it proves, and what it used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The name of what was proved.
    pub name: String,
    /// The names of what was used, as they were written.
    pub used: Vec<String>,
    /// File and line, for messages.
    pub place: String,
}

/// Reads the proofs of a file, or of standard input for `-`.
///
/// # Errors
///
/// If it cannot be read, or a line of it is in none of the formats.
pub fn read_proofs(file: &str) -> Result<Vec<Proof>, Error> {
    let text = read_text(file, LARGEST)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let proofs = if text.starts_with(MASH) {
        mash(file, text)?
    } else if text.lines().any(|line| keyword(line).is_some() || line.contains("SZS output start")) {
        derivations_of(file, text)?
    } else {
        lines(file, text)?
    };
    if proofs.is_empty() {
        return Err(Error::input(file, "expected proofs, found none"));
    }
    Ok(proofs)
}

/// A line of JSON.
#[derive(Deserialize)]
struct Line {
    name: String,
    #[serde(default)]
    proof: Option<Vec<String>>,
    #[serde(default)]
    proofs: Vec<Vec<String>>,
}

/// JSON Lines, and lines `name: name name`.
fn lines(file: &str, text: &str) -> Result<Vec<Proof>, Error> {
    let mut proofs = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let (line, place) = (line.trim(), format!("{file}:{number}"));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('{') {
            let Line { name, proof, proofs: several } = serde_json::from_str(line).map_err(|error| {
                let message =
                    format!("expected an object with `name` and `proof`, found something else: {error}");
                Error::input(&place, message)
            })?;
            let all = several.into_iter().chain(proof);
            proofs.extend(all.map(|used| Proof { name: name.clone(), used, place: place.clone() }));
            continue;
        }
        let Some((name, used)) = line.split_once(':').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(Error::input(place, "expected `name: name name ...`, found no name before `:`"));
        };
        let used = used.split_whitespace().map(str::to_owned).collect();
        proofs.push(Proof { name: name.trim().to_owned(), used, place });
    }
    Ok(proofs)
}

/// How `mash_state` begins.
const MASH: &str = "*** MaSh version ";

/// Isabelle's `mash_state`: `kind name: parents; features; names` in every line but the first.
fn mash(file: &str, text: &str) -> Result<Vec<Proof>, Error> {
    let mut proofs = Vec::new();
    for (line, number) in text.lines().zip(1..).skip(1).filter(|(line, _)| !line.trim().is_empty()) {
        let place = format!("{file}:{number}");
        let proof = mash_line(line).ok_or_else(|| {
            let expected = "expected `i name: parents; features; names`, found another line; let Isabelle write the file again, \
                            or remove the line";
            Error::input(&place, expected)
        })?;
        // A fact without a proof is written with no names.
        if let Some((name, used)) = proof {
            proofs.push(Proof { name, used, place });
        }
    }
    Ok(proofs)
}

type Named = (String, Vec<String>);

/// The fact and its dependencies; `Some(None)` if there is no proof, `None` if the line is damaged.
fn mash_line(line: &str) -> Option<Option<Named>> {
    let (kind, rest) = line.split_once(' ')?;
    if !matches!(kind, "i" | "a" | "x") {
        return None;
    }
    let (name, rest) = rest.split_once(':')?;
    let mut parts = rest.split(';');
    let (_parents, _features, used) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || name.trim().is_empty() {
        return None;
    }
    let used = used.split_whitespace().map(decoded).collect::<Option<Vec<String>>>()?;
    let name = decoded(name.trim())?;
    Some((!used.is_empty()).then_some((name, used)))
}

/// `%ddd` is the character with that decimal number.
fn decoded(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(3)?;
        bytes.push(std::str::from_utf8(digits).ok()?.parse().ok()?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

/// The language of an annotated formula that begins a line.
fn keyword(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["fof(", "cnf(", "tff(", "thf(", "tcf("].into_iter().find(|keyword| line.starts_with(keyword))
}

/// A formula of a derivation, and where it comes from.
struct Step<'a> {
    name: String,
    role: &'a str,
    formula: &'a str,
    source: &'a str,
}

/// Facts and dependencies of TSTP derivations. Several in one text end with `SZS output end`. `file` is for messages.
///
/// # Errors
///
/// If a formula has no end, or a derivation does not say what it proves.
pub fn derivations_of(file: &str, text: &str) -> Result<Vec<Proof>, Error> {
    let (mut proofs, mut steps) = (Vec::new(), Vec::new());
    let (mut place, mut number, mut rest) = (None, 1, text);
    let mut finish = |steps: &mut Vec<Step<'_>>, place: Option<String>| -> Result<(), Error> {
        if let Some(place) = place {
            proofs.push(proof(&std::mem::take(steps), place)?);
        }
        Ok(())
    };
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or_default();
        if keyword(line).is_some() {
            let here = format!("{file}:{number}");
            let begin = line.len() - line.trim_start().len();
            let Some((parts, length)) = arguments(&rest[begin..]) else {
                let message = "expected `).` at the end of this formula, found the end of the file";
                return Err(Error::input(here, message));
            };
            let [name, role, formula, source @ ..] = parts.as_slice() else {
                let message = "expected a name, a role and a formula, found less";
                return Err(Error::input(here, message));
            };
            let source = source.first().copied().unwrap_or_default();
            steps.push(Step { name: unquoted(name), role, formula, source });
            place.get_or_insert(here);
            let (done, left) = rest.split_at(begin + length);
            number += done.matches('\n').count();
            rest = left;
        } else {
            if line.contains("SZS output end") {
                finish(&mut steps, place.take())?;
            }
            number += 1;
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }
    finish(&mut steps, place)?;
    Ok(proofs)
}

/// The fact that a derivation proves, and the formulas of files that the contradiction, or else its last step, depends on.
fn proof(steps: &[Step<'_>], place: String) -> Result<Proof, Error> {
    let goal = steps.iter().find(|step| step.role == "conjecture");
    let Some(goal) = goal else {
        let message = "expected a derivation that says with `conjecture` what it proves, found none";
        return Err(Error::input(place, message));
    };
    let numbers: HashMap<&str, usize> =
        steps.iter().enumerate().map(|(number, step)| (step.name.as_str(), number)).collect();
    let is_contradiction = |step: &Step<'_>| {
        step.formula.trim_matches(|c: char| "()".contains(c) || c.is_whitespace()) == "$false"
    };
    let end = steps.iter().rposition(is_contradiction).unwrap_or(steps.len() - 1);
    let (mut seen, mut todo) = (HashSet::from([end]), vec![end]);
    let (mut name, mut used) = (goal.name.clone(), Vec::new());
    while let Some(number) = todo.pop() {
        let step = &steps[number];
        let (parents, original) = comes_from(step.source);
        let own = original.unwrap_or_else(|| step.name.clone());
        if step.role == "conjecture" {
            name = own;
        } else if parents.is_empty() && step.role != "negated_conjecture" && !is_made(step.source) {
            used.push(own);
        }
        for parent in parents {
            if let Some(&parent) = numbers.get(parent.as_str()).filter(|&&parent| seen.insert(parent)) {
                todo.push(parent);
            }
        }
    }
    used.sort_unstable();
    used.dedup();
    Ok(Proof { name, used, place })
}

/// Whether a prover made a formula up, such as the definition of a new symbol.
fn is_made(source: &str) -> bool {
    source.starts_with("introduced(") || source.starts_with("theory(")
}

/// The context of a word of a source.
struct Frame {
    functor: String,
    /// The number of commas before the word.
    argument: usize,
    /// Whether parents are named here, rather than rules, statuses and other details.
    has_parents: bool,
    /// Whether a colon followed the parent, so that details of it follow.
    is_detail: bool,
}

impl Frame {
    fn names_parents(&self) -> bool {
        let is_place = match self.functor.as_str() {
            "inference" => self.argument == 2,
            functor => functor.is_empty(),
        };
        self.has_parents && is_place && !self.is_detail
    }
}

/// The steps that a source names, and the name in a file, if it is one.
fn comes_from(source: &str) -> (Vec<String>, Option<String>) {
    let (mut parents, mut original) = (Vec::new(), None);
    let frame = |functor, has_parents| Frame { functor, argument: 0, has_parents, is_detail: false };
    let mut frames = vec![frame(String::new(), true)];
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let (mut length, depth) = (first.len_utf8(), frames.len());
        let Some(top) = frames.last_mut() else { break };
        match first {
            '[' => {
                let has_parents = top.names_parents();
                frames.push(frame(String::new(), has_parents));
            }
            ']' | ')' if depth > 1 => drop(frames.pop()),
            ',' => (top.argument, top.is_detail) = (top.argument + 1, false),
            ':' => top.is_detail = true,
            _ if first == '\'' || first.is_alphanumeric() || "_$".contains(first) => {
                length = word(rest);
                let (name, behind) = rest.split_at(length);
                if behind.trim_start().starts_with('(') {
                    length += behind.len() - behind.trim_start().len() + 1;
                    // What is inside of a file or a rule is looked at only where it may name a parent.
                    let has_parents = top.names_parents() && matches!(name, "inference" | "file");
                    frames.push(frame(name.to_owned(), has_parents));
                } else if top.functor == "file" && top.argument == 1 && top.has_parents {
                    original = Some(unquoted(name));
                } else if top.names_parents() {
                    parents.push(unquoted(name));
                }
            }
            _ => {}
        }
        rest = rest[length..].trim_start();
    }
    (parents, original.filter(|name| name != "unknown"))
}

/// How long the word is that a text begins with, quotes included.
fn word(text: &str) -> usize {
    if !text.starts_with('\'') {
        return text.find(|c: char| !c.is_alphanumeric() && !"_$".contains(c)).unwrap_or(text.len());
    }
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\'' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

/// The arguments of `word(...)` and its length, including a point after it; `None` if it has no end.
fn arguments(text: &str) -> Option<(Vec<&str>, usize)> {
    let open = text.find('(')? + 1;
    let (parts, end) = split(&text[open..]);
    let end = open + end;
    text[end..].starts_with(')').then(|| {
        let behind = &text[end + 1..];
        let space = behind.len() - behind.trim_start().len();
        let length = if behind[space..].starts_with('.') { end + space + 2 } else { end + 1 };
        (parts, length)
    })
}

/// Parts between commas that stand in no bracket and no quotes, up to a bracket that closes what was open before; and
/// where that is.
fn split(text: &str) -> (Vec<&str>, usize) {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let mut characters = text.bytes().enumerate();
    let mut end = text.len();
    while let Some((at, byte)) = characters.next() {
        match byte {
            b'\'' | b'"' => {
                // Up to the same quote; a backslash takes away its meaning.
                while let Some((_, inner)) = characters.next() {
                    if inner == b'\\' {
                        characters.next();
                    } else if inner == byte {
                        break;
                    }
                }
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => {
                end = at;
                break;
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..end].trim());
    (parts, end)
}

/// A name without its quotes.
fn unquoted(name: &str) -> String {
    let name = name.trim();
    match name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
        Some(inside) => inside.replace("\\'", "'").replace("\\\\", "\\"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proofs");
        std::fs::write(&path, text).unwrap();
        let shown = path.display().to_string();
        let proofs = read_proofs(&shown).map_err(|error| error.to_string().replace(&shown, "FILE"))?;
        let line = |proof: &Proof| {
            format!("{} {}: {}", proof.place.replace(&shown, ""), proof.name, proof.used.join(" "))
        };
        Ok(proofs.iter().map(line).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn every_format_is_read() {
        let check = |text: &str, expected: &str| assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        check("a: b c\n\n# no\nd:\n", ":1 a: b c; :4 d: ");
        check("{\"name\": \"a\", \"proof\": [\"b\"]}\n{\"name\": \"c\"}\n", ":1 a: b");
        check("{\"name\": \"a\", \"proofs\": [[\"b\"], []]}\n", ":1 a: b; :1 a: ");
        check(
            "*** MaSh version 20190121 ***\ni A.b%091: A.c; x y; A.d%032e A.f\nx A.f: ; ; \na g: h; ; k\n",
            ":2 A.b[: A.d e A.f; :4 g: k",
        );
    }

    #[test]
    fn derivations_name_what_they_used() {
        // As E prints it: nested inferences, a definition of its own, and an axiom that is not needed.
        let text = "# Proof found!\n# SZS status Theorem\n# SZS output start CNFRefutation\n\
            fof(goal, conjecture, ![X]: (p(X) => 'q,(r'(X)), file('x.p', goal)).\n\
            fof('an axiom', axiom, ![X]: ~(p(X)), file('x.p', 'an axiom')).\n\
            fof(idle, axiom, p(a), file('x.p', idle)).\n\
            fof(second, axiom, (q), file('x.p', b)).\n\
            fof(def, definition, e <=> p, introduced(definition)).\n\
            fof(c_0_1, negated_conjecture, ~(![X]: p(X)),\n   inference(assume_negation,[status(cth)],[goal])).\n\
            cnf(c_0_2, plain, (p(X)), inference(rw,[status(thm)],[inference(split,[], ['an axiom', def]), second])).\n\
            cnf(c_0_3, plain, ($false), inference(sr,[status(thm)],[c_0_2, c_0_1:[x]]), ['proof']).\n\
            # SZS output end CNFRefutation\n";
        assert_eq!(read(text).as_deref(), Ok(":4 goal: an axiom b"));
        let twice = format!("{text}{}", text.replace("goal", "other"));
        assert_eq!(read(&twice).as_deref(), Ok(":4 goal: an axiom b; :17 other: an axiom b"));
        // As Vampire prints it.
        let text = "% SZS output start Proof for x\nfof(f1,axiom,( p(a) ), file('x.p',unknown)).\n\
            fof(f2,conjecture,( p(a) ), file('x.p',c)).\nfof(f3,negated_conjecture,( ~p(a) ), inference(negated_conjecture,[],[f2])).\n\
            fof(f4,plain,( $false ), inference(resolution,[],[f3,f1])).\n";
        assert_eq!(read(text).as_deref(), Ok(":2 c: f1"));
    }

    #[test]
    fn damage_has_a_place() {
        let check = |text: &str, expected: &str| {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "expected {expected}\nfound {error}");
        };
        check("", "FILE: expected proofs, found none");
        check("a b c\n", "FILE:1: expected `name: name name ...`");
        check("a: b\n: c\n", "FILE:2: expected `name: name name ...`");
        check("{\"name\": 1}\n", "FILE:1: expected an object with `name` and `proof`");
        check("*** MaSh version 1 ***\ni a: ; ; b\nq a: ; ; b\n", "FILE:3: expected `i name: parents");
        check("*** MaSh version 1 ***\ni a: ; b\n", "FILE:2: expected `i name: parents");
        check("*** MaSh version 1 ***\ni a%9: ; ; b\n", "FILE:2: expected `i name: parents");
        check(
            "fof(a, axiom, p, file('x', a)).\n",
            "FILE:1: expected a derivation that says with `conjecture`",
        );
        check("\nfof(a, axiom, p", "FILE:2: expected `).` at the end");
        check("fof(a).\n", "FILE:1: expected a name, a role and a formula");
    }

    #[test]
    fn huge_proofs_are_read() {
        let many = " b".repeat(1_000_000);
        assert_eq!(read(&format!("a:{many}\n")).map(|text| text.len()), Ok(6 + many.len() - 1));
        let deep = format!(
            "fof(c, conjecture, p, file('x', c)).\nfof(d, plain, $false, {}c{}).\n",
            "inference(r,[],[".repeat(20_000),
            "])".repeat(20_000)
        );
        assert_eq!(read(&deep).as_deref(), Ok(":1 c: "));
    }
}
