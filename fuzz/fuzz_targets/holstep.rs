//! HolStep files.
#![no_main]

mod common;

use formulanet_logic::{Formula, Interner, holstep};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (mut names, mut formula) = (Interner::new(), Formula::new());
    let mut reader = holstep::Reader::new(input, common::LIMITS);
    let mut parser = holstep::Parser::new(common::LIMITS);
    // Every round takes at least a byte, but for the first, which may find none, and the last.
    for _ in 0..input.len() + 2 {
        match reader.next_entry() {
            Ok(None) => return,
            Ok(Some(entry)) => {
                if parser.parse(&entry.statement, &mut names, &mut formula).is_ok() {
                    common::check(&formula, &mut names);
                }
            }
            Err(_) => reader.recover(),
        }
    }
    panic!("more statements than bytes");
});
