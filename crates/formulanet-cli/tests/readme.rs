//! Every `sh` block of the README runs as it stands.

use std::path::Path;
use std::process::Command;

/// Stands in for `cargo`: the program under test is built already, and the tests are already running.
const SHIM: &str = r#"
cargo() {
    case "$1" in
        run) while [ "$1" != -- ]; do shift; done; shift; formulanet "$@" ;;
        test) : ;;
        *) echo "unexpected: cargo $*" >&2; return 1 ;;
    esac
}
"#;

#[test]
fn shell_blocks_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(
        root.canonicalize().unwrap().join("fixtures"),
        directory.path().join("fixtures"),
    )
    .unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_formulanet")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let blocks: Vec<&str> =
        readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 4);
    for block in blocks {
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &format!("{SHIM}{block}")])
            .current_dir(&directory)
            .env("PATH", &path)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{block}\n{error}");
    }
}
