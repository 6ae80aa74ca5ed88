//! Tokens of TPTP, for texts that are changed but not parsed: problems, and the output of provers.

/// Whether a token is a number, with its sign.
pub(super) fn is_numeral(token: &str) -> bool {
    let unsigned = token.strip_prefix(['-', '+']).unwrap_or(token);
    unsigned.starts_with(|c: char| c.is_ascii_digit()) && numeral(unsigned) == unsigned.len()
}

/// Splits a text into comments, quoted names, words, numerals, and single characters.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (token, after) = rest.split_at(length(rest, first));
        rest = after;
        Some(token)
    })
}

fn length(text: &str, first: char) -> usize {
    let until = |end: Option<usize>| end.unwrap_or(text.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    match first {
        '%' | '#' => until(text.find('\n')),
        '/' if text.starts_with("/*") => until(text.find("*/").map(|end| end + 2)),
        '\'' | '"' => quoted(text, first),
        '-' | '+' if text[1..].starts_with(|c: char| c.is_ascii_digit()) => 1 + length(&text[1..], '0'),
        c if c.is_ascii_digit() => {
            let end = numeral(text);
            // Digits with letters after them are not a numeral.
            end + text[end..].find(|c| !is_word(c)).unwrap_or(text.len() - end)
        }
        c if is_word(c) => until(text.find(|c| !is_word(c))),
        c => c.len_utf8(),
    }
}

/// Returns the length of a quoted name with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a numeral: an integer, a fraction or a decimal, perhaps with an exponent.
fn numeral(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if end < bytes.len() && matches!(bytes[end], b'.' | b'/') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if end < bytes.len() && matches!(bytes[end], b'e' | b'E') {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let from = (end + 1 + sign).min(bytes.len());
        if digits(from) > 0 {
            end = from + digits(from);
        }
    }
    end
}

/// Returns a name as TPTP writes it: in quotes, unless it is a word or a number.
pub(super) fn quoted_name(name: &str) -> String {
    let is_number =
        !name.is_empty() && !name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || is_plain_word(name) { name.to_owned() } else { in_quotes(name) }
}

/// Returns a text in single quotes, on one line: TPTP has no quoted line breaks, and a proof could pretend to
/// be another result.
pub(super) fn in_quotes(text: &str) -> String {
    let text = crate::output::shown(text);
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Whether a name needs no quotes and is not a number: a lower-case word of ASCII.
pub(super) fn is_plain_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cut_into_pieces() {
        let found: Vec<&str> = tokens("fof('a\\' b',x1,-2.5e3).% end").collect();
        assert_eq!(found, ["fof", "(", "'a\\' b'", ",", "x1", ",", "-2.5e3", ")", ".", "% end"]);
    }

    #[test]
    fn names_are_quoted_where_they_have_to_be() {
        for (name, expected) in [
            ("a_B1", "a_B1"),
            ("17", "17"),
            ("007", "'007'"),
            ("A", "'A'"),
            ("", "''"),
            ("it's \\", "'it\\'s \\\\'"),
        ] {
            assert_eq!(quoted_name(name), expected);
        }
    }

    proptest! {
        #[test]
        fn no_piece_is_lost(text in "(fof\\(|[-+.,()/*% '\"\\\\a-eE0-9é\n]){0,40}") {
            prop_assert_eq!(tokens(&text).collect::<String>(), text);
        }
    }
}
