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
    while let Ok(Some(item)) = reader.next(&mut names) {
        if let Item::Annotated(tptp::Annotated { formula: Some(formula), .. }) = item {
            common::check(&formula, &mut names);
        }
    }
    for (_, language) in Language::ALL {
        if let Ok(formula) = parse_formula(text, language, common::LIMITS, &mut names) {
            common::check(&formula, &mut names);
        }
    }
});
