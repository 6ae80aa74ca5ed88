//! DeepMath files.
#![no_main]

mod common;

use formulanet_logic::{Formula, Interner, deepmath};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (mut names, mut formula) = (Interner::new(), Formula::new());
    let mut reader = deepmath::Reader::new(input, common::LIMITS);
    let mut lines = 0;
    loop {
        match reader.next(&mut names, &mut formula) {
            Ok(Some(_)) => common::check(&formula, &mut names),
            Ok(None) => break,
            // After an error the next line can be read; at the end the error stays.
            Err(_) if lines > input.len() => break,
            Err(_) => {}
        }
        lines += 1;
    }
});
