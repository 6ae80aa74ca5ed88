//! TPTP problems.
#![no_main]

mod common;

use formulanet_logic::tptp::{Item, Language, Reader, parse_formula};
use formulanet_logic::{Interner, tptp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut names = Interner::new();
    let mut reader = Reader::new(text, common::LIMITS);
    loop {
        match reader.next(&mut names) {
            Ok(None) => break,
            Ok(Some(Item::Annotated(tptp::Annotated { formula: Some(formula), .. }))) => {
                common::check(&formula, &mut names);
            }
            Ok(Some(_)) => {}
            Err(_) => {
                let damaged = reader.recover().expect("a statement was damaged");
                assert!(!damaged.span.is_empty() && text.is_char_boundary(damaged.span.end));
            }
        }
    }
    for (_, language) in Language::ALL {
        if let Ok(formula) = parse_formula(text, language, common::LIMITS, &mut names) {
            common::check(&formula, &mut names);
        }
    }
});
