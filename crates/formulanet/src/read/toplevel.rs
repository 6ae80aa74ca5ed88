//! HOL Light's output, copied from a terminal or written to a file.
//!
//! A value begins with `val name : type =` or `- : type =`, possibly after the prompt, and ends before the next one. Theorems,
//! lists of theorems and lists of theorems with names, as `search` gives them, are statements; terms and goal stacks are
//! conjectures. All other values and the user's input are ignored.

use std::ops::Range;

use formulanet_logic::{Formula, Interner, Position, hol};

use crate::read::SourceItem;
use crate::statement::parse;
use crate::{Error, Language};

/// The statements of such a text.
pub(super) struct Toplevel {
    text: String,
    options: hol::Options,
    entries: std::vec::IntoIter<Entry>,
    /// The header of the current item.
    shown: (String, String),
    is_empty: bool,
}

/// A formula of the text.
#[derive(PartialEq, Eq, Debug)]
struct Entry {
    /// Empty if it has no name but its line.
    name: String,
    role: &'static str,
    range: Range<usize>,
    position: Position,
}

/// Whether a text that begins so was printed by a top level.
pub(super) fn tells(beginning: &str) -> bool {
    let mut lines = beginning.lines().map(str::trim).filter(|line| !line.is_empty() && !is_blank(line));
    lines.find_map(|line| match kind(line) {
        Line::Typed => None,
        Line::Value(..) | Line::Theorem => Some(true),
        Line::Other => Some(is_list(line)),
    }) == Some(true)
}

fn is_blank(line: &str) -> bool {
    line.starts_with("(*") && line.ends_with("*)")
}

/// Whether a value is a list of theorems.
fn is_list(value: &str) -> bool {
    value.strip_prefix('[').is_some_and(|rest| {
        let rest = rest.trim_start();
        rest.starts_with("|-")
            || rest.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with('"'))
    })
}

/// The role of a line.
enum Line<'a> {
    /// It begins a value with this name, empty for `it` and `-`.
    Value(&'a str),
    /// `|- ...` without anything before it.
    Theorem,
    /// The user's input after the prompt.
    Typed,
    Other,
}

fn kind(line: &str) -> Line<'_> {
    let has_prompt = line == "#" || line.starts_with("# ");
    let bare = line.trim_start_matches("# ");
    if let Some(rest) = bare.strip_prefix("val ").filter(|rest| rest.contains(':')) {
        let (name, _) = rest.split_once(" :").unwrap_or((rest, ""));
        let name = name.trim().trim_start_matches("( ").trim_end_matches(" )").trim();
        return Line::Value(if name == "it" { "" } else { name });
    }
    if bare.starts_with("- :") {
        Line::Value("")
    } else if has_prompt {
        Line::Typed
    } else if bare.starts_with("|-") {
        Line::Theorem
    } else {
        Line::Other
    }
}

impl Toplevel {
    pub(super) fn new(text: String, options: hol::Options) -> Self {
        let entries = entries(&text);
        let is_empty = entries.is_empty();
        Toplevel { text, options, entries: entries.into_iter(), shown: Default::default(), is_empty }
    }

    /// Whether it had any: after one that cannot be read, others may follow.
    pub(super) fn has_formulas(&self) -> bool {
        !self.is_empty
    }

    /// The next statement, whose formula replaces what `formula` held.
    pub(super) fn next<'a>(
        &'a mut self,
        file: &'a str,
        names: &mut Interner,
        formula: &'a mut Formula,
    ) -> Result<Option<SourceItem<'a>>, Error> {
        if self.is_empty {
            return Err(Error::input(
                file,
                "expected theorems or goals as HOL Light prints them, found none",
            ));
        }
        let Some(Entry { name, role, range, position }) = self.entries.next() else { return Ok(None) };
        let text = &self.text[range];
        *formula = parse(text, Language::Hol, &self.options, names).map_err(|mut error| {
            let Position { line, column } = error.position;
            let column = if line == 1 { column + position.column - 1 } else { column };
            error.position = Position { line: line + position.line - 1, column };
            Error::parse(file, error)
        })?;
        let text = text.trim().trim_end_matches(';');
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        self.shown = (name, lines.join(" "));
        let name = Some(self.shown.0.as_str()).filter(|name| !name.is_empty());
        Ok(Some(SourceItem::new((name, role), (file, position), (&self.shown.1, Language::Hol), formula)))
    }
}

/// All formulas of a text, in order.
fn entries(text: &str) -> Vec<Entry> {
    let mut found = Collector { text, line: 1, counted: 0, line_start: 0, entries: Vec::new() };
    // What the user typed last, if that is a name.
    let mut typed = "";
    // Name and beginning of the value that is open.
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let kind = kind(line.trim_end());
        let is_list = open.is_none() && is_list(line);
        if !matches!(kind, Line::Other)
            && let Some((name, start)) = open.take()
        {
            found.value(name, start..at);
        }
        match kind {
            Line::Value("") => open = Some((std::mem::take(&mut typed), at)),
            Line::Value(name) => open = Some((name, at)),
            Line::Theorem => open = Some(("", at)),
            Line::Typed => typed = typed_name(line),
            Line::Other if is_list => open = Some(("", at)),
            Line::Other => {}
        }
        at += line.len();
    }
    if let Some((name, start)) = open {
        found.value(name, start..at);
    }
    found.entries
}

/// The name in `# NAME;;`; empty if something else was typed.
fn typed_name(line: &str) -> &str {
    let name = line.trim().trim_start_matches("# ").trim_end_matches(';').trim();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '\'' | '.'));
    if is_name { name } else { "" }
}

struct Collector<'a> {
    text: &'a str,
    /// The line that begins at `line_start`, counted up to the byte `counted`.
    line: usize,
    counted: usize,
    line_start: usize,
    entries: Vec<Entry>,
}

impl Collector<'_> {
    /// Takes in the value in a range of the text, which may begin with its name and type.
    fn value(&mut self, name: &str, range: Range<usize>) {
        let whole = &self.text[range.clone()];
        let is_bare = whole.trim_start().starts_with(['|', '[']);
        let (ty, start) = match whole.split_once('=') {
            Some((head, value)) if !is_bare => {
                let ty = head.rsplit_once(" :").or(head.rsplit_once("- :")).map_or("", |(_, ty)| ty);
                (ty, range.end - value.len())
            }
            _ => (if is_list(whole.trim_start()) { "thm list" } else { "thm" }, range.start),
        };
        let value = start..range.end;
        let ty: String = ty.split_whitespace().collect::<Vec<_>>().join(" ");
        match ty.as_str() {
            "thm" => self.push(name.to_owned(), "", value),
            "term" | "goalstack" | "goal" => self.push(name.to_owned(), "conjecture", value),
            "thm list" | "(string * thm) list" => self.list(name, value),
            _ => {}
        }
    }

    /// `[|- p; |- q]` or `[("P", |- p); ("Q", |- q)]`
    fn list(&mut self, name: &str, range: Range<usize>) {
        let value = &self.text[range.clone()];
        let Some(open) = value.find('[') else { return };
        let elements = elements(&value[open..]);
        for (number, element) in elements.into_iter().enumerate() {
            let element = range.start + open + element.start..range.start + open + element.end;
            let text = &self.text[element.clone()];
            match named(text) {
                Some((name, length)) => {
                    let end = element.start + text.trim_end().len() - 1;
                    self.push(name, "", element.start + length..end);
                }
                None => {
                    let line = self.position(element.start).line;
                    let base = if name.is_empty() { format!("line {line}") } else { name.to_owned() };
                    self.push(format!("{base}.{}", number + 1), "", element);
                }
            }
        }
    }

    fn push(&mut self, name: String, role: &'static str, range: Range<usize>) {
        let text = &self.text[range.clone()];
        // HOL Light writes `No subgoals` once all is proved.
        if text.trim().is_empty() || text.trim_start().starts_with("No subgoals") {
            return;
        }
        let start = range.start + (text.len() - text.trim_start().len());
        let position = self.position(start);
        self.entries.push(Entry { name, role, range: start..range.end, position });
    }

    /// Line and column of a byte that is not before those that were asked for.
    fn position(&mut self, at: usize) -> Position {
        for (offset, _) in self.text[self.counted..at].match_indices('\n') {
            (self.line, self.line_start) = (self.line + 1, self.counted + offset + 1);
        }
        self.counted = at.max(self.counted);
        Position { line: self.line, column: self.text[self.line_start..at].chars().count() + 1 }
    }
}

/// Where the elements of a list stand that begins with `[`.
fn elements(list: &str) -> Vec<Range<usize>> {
    let (mut depth, mut start, mut in_string, mut escaped) = (0usize, 1, false, false);
    let mut found = Vec::new();
    for (at, c) in list.char_indices() {
        if in_string {
            (escaped, in_string) = (!escaped && c == '\\', escaped || c != '"');
            continue;
        }
        match c {
            '"' => in_string = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.push(start..at);
                    break;
                }
            }
            ';' if depth == 1 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|range| !list[range.clone()].trim().is_empty());
    found
}

/// The name in `("NAME", theorem)`, and how many bytes stand before the theorem.
fn named(element: &str) -> Option<(String, usize)> {
    let inner = element.trim_start().strip_prefix('(')?.trim_start().strip_prefix('"')?;
    let (mut name, mut characters) = (String::new(), inner.char_indices());
    let end = loop {
        match characters.next()? {
            (at, '"') => break at,
            (_, '\\') => name.push(characters.next()?.1),
            (_, c) => name.push(c),
        }
    };
    let theorem = inner[end + 1..].trim_start().strip_prefix(',')?;
    element.trim_end().ends_with(')').then(|| (name, element.len() - theorem.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Source;

    /// Reads a text and shows names, roles, places and formulas.
    fn read(text: &str) -> Result<Vec<String>, String> {
        let mut names = Interner::new();
        let source = Source::text("printed", text);
        assert_eq!(source.format(), crate::read::Format::Toplevel, "{text}");
        let mut items = source.items(hol::Options::default()).map_err(|error| error.to_string())?;
        let mut shown = Vec::new();
        while let Some(item) = items.next(&mut names).map_err(|error| error.to_string())? {
            let Position { line, column } = item.position;
            let (name, role) = (item.shown_name(), item.role);
            shown.push(format!(
                "{line}:{column} {name}{}{role}: {}",
                if role.is_empty() { "" } else { " " },
                item.text
            ));
        }
        Ok(shown)
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(
            read(text).as_deref(),
            Ok(&expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()[..]),
            "{text}"
        );
    }

    #[test]
    fn values_become_statements() {
        check("val it : thm = |- !x. x = x\n", &["1:16 line 1: |- !x. x = x"]);
        check("# REFL_ALL;;\nval it : thm = |- !x. x = x\n# ", &["2:16 REFL_ALL: |- !x. x = x"]);
        check("# # val LONG : thm =\n  |- !x y.\n       x = y;;\n", &["2:3 LONG: |- !x y. x = y"]);
        check(
            "val ( ODD' ) : thm = |- p\n- : int = 3\n- : thm = p |- p\n",
            &["1:22 ODD': |- p", "3:11 line 3: p |- p"],
        );
        check(
            "val both : thm list = [|- p; |- [a; b] = c]\n",
            &["1:24 both.1: |- p", "1:30 both.2: |- [a; b] = c"],
        );
        check("(* two *)\n|- p\n|- q ==>\n   r\n", &["2:1 line 2: |- p", "3:1 line 3: |- q ==> r"]);
    }

    #[test]
    fn lists_of_search_have_names() {
        check(
            "val it : (string * thm) list =\n  [(\"A_1\",  |- p /\\ q);\n (\"say \\\"b\\\"\", |- {x | x = 1} = s)]\n",
            &["2:13 A_1: |- p /\\ q", "3:16 say \"b\": |- {x | x = 1} = s"],
        );
        check("[(\"A\", |- p); (\"B\", |- q)]", &["1:8 A: |- p", "1:21 B: |- q"]);
        check("- : (string * thm) list = [(\"A\", |- p)]\n# foo;;\n", &["1:34 A: |- p"]);
    }

    #[test]
    fn goals_are_conjectures() {
        check(
            "# g `p ==> q`;;\nval it : goalstack = 1 subgoal (1 total)\n\n  0 [`p`]\n\n`q`\n\n# e ARITH_TAC;;\n",
            &["2:22 line 2 conjecture: 1 subgoal (1 total) 0 [`p`] `q`"],
        );
        check(
            "- : term = `x + 1`\n- : thm = |- p\n- : goalstack = No subgoals\n",
            &["1:12 line 1 conjecture: `x + 1`", "2:11 line 2: |- p"],
        );
    }

    #[test]
    fn damage_has_a_place() {
        let check = |text: &str, expected: &str| assert_eq!(read(text).unwrap_err(), expected, "{text}");
        check("val it : thm = |- x +\n", "printed:1:22: expected a term, found the end of the formula");
        check("- : thm =\n  |- p /\\\n  * q\n", "printed:3:3: expected a term, found `*`");
        check("- : int = 3\n", "printed: expected theorems or goals as HOL Light prints them, found none");
    }

    #[test]
    fn hostile_text_ends() {
        for text in [
            "val it : thm list = [",
            "[(\"",
            "- : thm = ",
            "val  : thm\n",
            "- : goalstack = 1 subgoal `",
            "[(\"a\", )",
        ] {
            let _ = read(&format!("- : thm = |- p\n{}", text.repeat(2000)));
        }
    }
}
