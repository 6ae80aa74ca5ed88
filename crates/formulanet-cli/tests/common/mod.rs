//! Runs the built program, whose place only the tests of this package know.

pub(crate) use formulanet_testing::Run;

/// Runs the program in the root of the repository.
pub(crate) fn formulanet(arguments: &[&str], input: &[u8]) -> Run {
    formulanet_testing::run(env!("CARGO_BIN_EXE_formulanet"), arguments, input)
}
