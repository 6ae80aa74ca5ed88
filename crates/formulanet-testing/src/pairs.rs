//! Pairs that a small network learns.

use std::fmt::Write as _;

/// Conjectures whose useful statements mention GG. Statements may have names, so that they are premises of a library.
pub fn pairs(have_names: bool) -> String {
    let mut text = String::new();
    for i in 0..40 {
        let nested =
            |name: &str| format!("{}x{}", format!("{name} (").repeat(i % 5 + 1), ")".repeat(i % 5 + 1));
        for (function, is_useful) in [("GG", true), ("HH", false), ("GG2", true), ("KK", false)] {
            let mut line = serde_json::json!({
                "conjecture": format!("!x. {} = x /\\ RR{i}", nested("FF")),
                "statement": format!("!x. PP ({})", nested(function)),
                "useful": is_useful,
            });
            if have_names {
                line["name"] = format!("{function}_{}", i % 5).into();
            }
            writeln!(text, "{line}").unwrap();
        }
    }
    text
}
