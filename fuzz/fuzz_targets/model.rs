//! Model files: networks that read statements one by one or together, and trees that blend signals.
//!
//! A file with a checksum is refused after any change: begin with files that have none, as older versions wrote them.
#![no_main]

use formulanet::Language;
use formulanet::analyze::Analyzer;
use formulanet::model::{JointModelFile, ModelFile};
use formulanet::net::{Compute, Precision};
use formulanet::proofs::SignalBlend;
use formulanet::retrieve::VectorRetriever;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // What was read has to stand being used.
    if let Ok(trained) = ModelFile::from_bytes(input, "fuzz")
        && let Ok(retriever) = VectorRetriever::new(trained, Compute::new(Precision::F32, 1))
        && let Ok(premise) = Analyzer::new(&retriever).analyze("a", "!x. f x = x", Language::Hol)
    {
        retriever.rows(&[premise.named()]);
    }
    let _ = JointModelFile::is_one(input);
    let _ = JointModelFile::from_bytes(input, "fuzz");
    let _ = SignalBlend::from_bytes(input, "fuzz");
    let _ = formulanet::net::sealed(input);
});
