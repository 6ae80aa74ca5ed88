//! Files of proofs: lines, JSON Lines, Isabelle's `mash_state`, and what provers print.
#![no_main]

use formulanet::read::{derivations_of, read_proofs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), input).expect("a file");
    let _ = read_proofs(&file.path().to_string_lossy());
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = derivations_of("fuzz", text);
    }
});
