//! HOL Light's output around a formula: `val it : thm = |- p`, `p;;`, goal stacks.

use std::borrow::Cow;

/// The formula in what the top level printed, at the same place of the text; everything else becomes blanks.
///
/// Of a goal stack, this is the goal to be proved next: the last one printed, with its hypotheses before `?-`.
pub(super) fn bare(text: &str) -> Cow<'_, str> {
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';');
    // `[a;` is no command that ends.
    let end = if text[end.len()..].contains(";;") { end.len() } else { text.len() };
    let start = header(text).unwrap_or(0);
    if is_goal_stack(&text[start.min(end)..end]) {
        return Cow::Owned(current_goal(text, start, end));
    }
    if start == 0 && end == text.len() {
        return Cow::Borrowed(text);
    }
    let mut kept = vec![b' '; text.len()];
    let range = start.min(end)..end;
    kept[range.clone()].copy_from_slice(&text.as_bytes()[range]);
    utf8(kept)
}

/// The length of `val name : type =` or `- : type =` before a value that holds a formula.
fn header(text: &str) -> Option<usize> {
    let value = text.trim_start().trim_start_matches("# ");
    let rest = match value.strip_prefix("val ") {
        Some(rest) => rest.trim_start().trim_start_matches(|c: char| !c.is_whitespace() || c == '('),
        None => value.strip_prefix('-')?,
    };
    // OCaml writes `val ( + ) : ...` for names that are operators, and for those in capitals at times.
    let rest = rest.trim_start();
    let rest = match rest.split_once(") :") {
        Some((name, _)) if !name.contains(['=', ':']) => &rest[name.len() + 2..],
        _ => rest,
    };
    let (ty, value) = rest.strip_prefix(':')?.split_once('=')?;
    matches!(ty.trim(), "thm" | "term" | "goalstack" | "goal").then(|| text.len() - value.len())
}

fn is_goal_stack(text: &str) -> bool {
    let text = text.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len() && rest.starts_with(" subgoal")) || text.starts_with("No subgoals")
}

/// The last goal as a sequent `(hypothesis), (hypothesis) ?- goal`.
fn current_goal(text: &str, start: usize, end: usize) -> String {
    let mut kept = vec![b' '; text.len()];
    let bytes = text.as_bytes();
    let mut hypotheses: Vec<(usize, usize)> = Vec::new();
    let mut goal = None;
    let mut marks = (start..end).filter(|&at| bytes[at] == b'`');
    while let (Some(open), Some(close)) = (marks.next(), marks.next()) {
        // What stands before the mark of the goal before it belongs to that goal.
        if goal.take().is_some() {
            hypotheses.clear();
        }
        if open > 0 && bytes[open - 1] == b'[' && bytes.get(close + 1) == Some(&b']') {
            hypotheses.push((open, close));
        } else {
            goal = Some((open, close));
        }
    }
    let Some((open, close)) = goal else { return utf8(kept).into_owned() };
    kept[open + 1..close].copy_from_slice(&bytes[open + 1..close]);
    for (number, &(open, close)) in hypotheses.iter().enumerate() {
        // A hypothesis may have a comma of its own.
        kept[open] = b'(';
        kept[open + 1..close].copy_from_slice(&bytes[open + 1..close]);
        kept[close] = b')';
        let is_last = number + 1 == hypotheses.len();
        // The goal's own mark comes after the bracket, so there is room.
        kept[close + 1..close + 3].copy_from_slice(if is_last { b"?-" } else { b", " });
    }
    utf8(kept).into_owned()
}

fn utf8(bytes: Vec<u8>) -> Cow<'static, str> {
    // Blanks took the place of whole stretches between ASCII characters.
    Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_stays_where_it_was() {
        let check = |text: &str, expected: &str| {
            let found = bare(text);
            assert_eq!(found.len(), text.len(), "{text}");
            let words: Vec<&str> = found.split_whitespace().collect();
            assert_eq!(words.join(" "), expected, "{text}");
        };
        check("p /\\ q", "p /\\ q");
        check("p;;", "p");
        check("p ; ;\n", "p ; ;");
        check("val it : thm = |- p\n", "|- p");
        check("# val p_thm : thm =\n  |- p;;\n", "|- p");
        check("val ( ADD' ) : thm = |- p = q", "|- p = q");
        check("- : term = `x = 1`", "`x = 1`");
        check("- : int = 3", "- : int = 3");
        check("val it : goalstack = 1 subgoal (1 total)\n\n`x = é`\n\n", "x = é");
        check("1 subgoal (1 total)\n\n  0 [`a,b = c`]\n  1 [`q`] (label)\n\n`r`\n", "(a,b = c), (q)?- r");
        check("2 subgoals (3 total)\n\n  0 [`p`]\n\n`q`\n\n`r`\n\n", "r");
        check("- : goalstack = No subgoals\n", "");
    }
}
