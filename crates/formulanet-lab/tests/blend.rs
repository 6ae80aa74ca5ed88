//! `formulanet-lab blend` from the outside.

use formulanet_testing::{Folder, Run};

const THEORY: &str = "fixtures/theory.jsonl";

fn lab(arguments: &[&str]) -> Run {
    formulanet_testing::run(env!("CARGO_BIN_EXE_formulanet-lab"), arguments, b"")
}

#[test]
fn a_proof_based_ranker_is_fitted_to_libraries() {
    let folder = Folder::new();
    let out = folder.text("blend.safetensors");
    let run = lab(&[
        "blend",
        "--facts",
        THEORY,
        "--queries",
        "200",
        "--trees",
        "3",
        "--model-trees",
        "2",
        "--out",
        &out,
    ]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("5 trees"), "{}", run.stderr);
    assert!(!folder.bytes("blend.safetensors").is_empty());
    let run = lab(&["blend", "--out", "x"]);
    assert!(run.code == Some(2) && run.stderr.contains("give --facts or --trained"), "{}", run.stderr);
}
