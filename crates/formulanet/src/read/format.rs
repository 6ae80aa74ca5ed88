//! The formats of files of statements.

use serde::Deserialize;

use crate::Language;
use crate::read::toplevel;

/// A format of files of statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `name: formula` on every line, in HOL Light's syntax; `#` begins a comment.
    Hol,
    /// `N`, `C`, `T`, `D`, `A`, `+` and `-` lines.
    Holstep,
    /// Annotated formulas and includes.
    Tptp,
    /// `C`, `+` and `-` lines with TPTP formulas.
    Deepmath,
    /// `{"name": ..., "statement": ..., "syntax": "hol"}` on every line.
    Jsonl,
    /// HOL Light's output: `val it : thm = |- ...`, lists of theorems, goal stacks.
    Toplevel,
}

impl Format {
    /// All formats by name.
    pub const ALL: [(&'static str, Format); 6] = [
        ("hol", Format::Hol),
        ("holstep", Format::Holstep),
        ("tptp", Format::Tptp),
        ("deepmath", Format::Deepmath),
        ("jsonl", Format::Jsonl),
        ("toplevel", Format::Toplevel),
    ];

    /// The most likely format of a text with this beginning.
    pub fn of(beginning: &[u8]) -> Format {
        let text = String::from_utf8_lossy(beginning);
        if toplevel::tells(&text) {
            return Format::Toplevel;
        }
        let Some(line) = telling_line(&text) else { return Format::Hol };
        let words = ["fof(", "cnf(", "tff(", "tcf(", "thf(", "include("];
        let is_tptp = |line: &str| {
            let dense: String = line.chars().take(12).filter(|c| !c.is_whitespace()).collect();
            words.iter().any(|word| dense.starts_with(word))
        };
        if line.starts_with('{') {
            Format::Jsonl
        } else if line.starts_with("N ") {
            Format::Holstep
        } else if line.starts_with('%') || line.starts_with("/*") || is_tptp(line) {
            Format::Tptp
        } else if line.strip_prefix("C ").is_some_and(is_tptp) {
            Format::Deepmath
        } else {
            Format::Hol
        }
    }

    /// The language of a text of this format that begins so. Each line of JSON Lines says its own; the first decides.
    pub(super) fn language(self, beginning: &[u8]) -> Language {
        #[derive(Deserialize)]
        struct Line {
            #[serde(default, rename = "syntax")]
            language: Language,
        }
        match self {
            Format::Tptp | Format::Deepmath => Language::Tptp,
            Format::Hol | Format::Holstep | Format::Toplevel => Language::Hol,
            Format::Jsonl => {
                let text = String::from_utf8_lossy(beginning);
                let line = telling_line(&text).and_then(|line| serde_json::from_str::<Line>(line).ok());
                match line.map_or(Language::Hol, |line| line.language) {
                    Language::HolWith(_) => Language::Hol,
                    language => language,
                }
            }
        }
    }
}

/// The first line that is neither blank nor a comment of HOL lines.
fn telling_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty() && !is_comment(line))
}

/// Whether a line of `name: formula` lines is a comment: `# ...`, or one of OCaml on one line.
pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with('#')
        || (line.starts_with("(*") && line.ends_with("*)") && line.matches("*)").count() == 1)
}

/// Whether a beginning includes the line that determines the format.
pub(super) fn is_told(beginning: &[u8]) -> bool {
    let whole = beginning.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    telling_line(&String::from_utf8_lossy(&beginning[..whole])).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_format_and_language() {
        let check = |text: &str, format: Format, language: Language| {
            assert_eq!(Format::of(text.as_bytes()), format, "{text}");
            assert_eq!(format.language(text.as_bytes()), language, "{text}");
        };
        check("", Format::Hol, Language::Hol);
        check("# fof(\nA: x = x\n", Format::Hol, Language::Hol);
        check("N TRUTH\nC |- T\n", Format::Holstep, Language::Hol);
        check("\n fof (a, axiom, p).", Format::Tptp, Language::Tptp);
        check("% a problem\n", Format::Tptp, Language::Tptp);
        check("C fof(a, axiom, p).\n", Format::Deepmath, Language::Tptp);
        check("C: x = x\n", Format::Hol, Language::Hol);
        check("{\"name\": \"a\", \"statement\": \"T\"}\n", Format::Jsonl, Language::Hol);
        check(
            "{\"syntax\": \"tptp\", \"name\": \"a\"}\n{\"syntax\": \"hol\"}\n",
            Format::Jsonl,
            Language::Tptp,
        );
        check("{\"syntax\": \"tptp", Format::Jsonl, Language::Hol);
        check("(* mine *)\nA: x = x\n", Format::Hol, Language::Hol);
        check("# TRUTH;;\nval it : thm = |- T\n", Format::Toplevel, Language::Hol);
        check("(* mine *)\n|- T\n", Format::Toplevel, Language::Hol);
    }
}
