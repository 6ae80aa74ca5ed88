//! Declarations, goals and terms of Lean. A name may be a variable in one place and a constant in another, so that what
//! is printed cannot be read back.
#![no_main]

mod common;

use formulanet_logic::{Interner, lean};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut names = Interner::new();
    let declared = lean::parse_declaration(text, common::LIMITS, &mut names).map(|declared| declared.formula);
    let goal = lean::parse_goal(text, common::LIMITS, &mut names);
    for formula in [declared, goal, lean::parse(text, common::LIMITS, &mut names)].into_iter().flatten() {
        common::check_graphs(&formula, &names);
    }
});
