//! Model files: networks that read statements one by one or together, and trees that blend signals.
//!
//! A file with a checksum is refused after any change: begin with files that have none, as older versions wrote them.
#![no_main]

use formulanet::model::{TogetherFile, TrainedModel};
use formulanet::net::{Compute, Precision};
use formulanet::rank::{Blend, Intake, Ranker};
use formulanet::read::Syntax;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // What was read has to stand being used.
    if let Ok(trained) = TrainedModel::from_bytes(input, "fuzz")
        && let Ok(ranker) = Ranker::new(trained, Compute::new(Precision::F32, 1))
        && let Ok(premise) = Intake::new(&ranker).take("a", "!x. f x = x", Syntax::Hol)
    {
        ranker.rows(&[premise.named()]);
    }
    let _ = TogetherFile::is_one(input);
    let _ = TogetherFile::from_bytes(input, "fuzz");
    let _ = Blend::from_bytes(input, "fuzz");
    let _ = formulanet::net::sealed(input);
});
