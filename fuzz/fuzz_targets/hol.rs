//! HOL Light text. The first byte chooses what ambiguous operators mean.
#![no_main]

mod common;

use formulanet_logic::{Interner, Names, hol};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let (_, overload) = hol::Overload::ALL[usize::from(first) % hol::Overload::ALL.len()];
    let options = hol::Options { names: Names::default(), overload, limits: common::LIMITS };
    let mut names = Interner::new();
    if let Ok(formula) = hol::parse(text, &options, &mut names) {
        common::check(&formula, &mut names);
    }
});
