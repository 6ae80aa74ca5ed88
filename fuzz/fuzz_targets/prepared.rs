//! Prepared folders: the input is a description, a vocabulary and a file of arrays, each with its length in four bytes before it.
#![no_main]

use std::fs;

use formulanet_train::Silent;
use formulanet_train::dataset::{Prepared, ProblemOptions, Problems};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut rest = input;
    for name in ["meta.json", "vocab.txt", "graphs.safetensors", "problems.safetensors", "symbols.txt"] {
        let Some((length, behind)) = rest.split_first_chunk() else { break };
        let (content, behind) = behind.split_at((u32::from_le_bytes(*length) as usize).min(behind.len()));
        fs::write(folder.path().join(name), content).expect("a file in it");
        rest = behind;
    }
    if let Ok(prepared) = Prepared::open(folder.path())
        && prepared.verify().is_ok()
    {
        for conjecture in prepared.conjectures() {
            prepared.graph(conjecture.graph).treelets();
            conjecture.pairs.for_each(|pair| _ = prepared.pair(pair));
        }
    }
    let _ = Problems::open(folder.path(), &ProblemOptions::default(), &Silent);
});
