//! `integrations/coqhammer/README.md`, run by Coq where it, CoqHammer and E are installed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use formulanet_testing::Folder;

/// Where Debian keeps the plugin's own programs.
const PROGRAMS: &str = "/usr/libexec/coq-hammer";

/// Whether a command ends well.
fn works(command: &str) -> bool {
    Command::new("sh").args(["-c", command]).output().unwrap().status.success()
}

#[test]
fn hammer_asks_through_a_link() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("integrations/coqhammer/README.md")).unwrap();
    let block = |first: &str| {
        let start = page.find(first).unwrap_or_else(|| panic!("the page has no `{first}`"));
        page[start..].split("```").next().unwrap().to_owned()
    };
    // Only E, as the page says for those who have no other prover.
    let only_e = block("Unset Hammer Vampire");
    let folder = Folder::new();
    let file = block("From Hammer Require")
        .replace("/home/me/bin/predict", &folder.text("predict"))
        .replacen("Lemma", &format!("{only_e}\nLemma"), 1);
    assert!(file.contains(&folder.text("predict")), "{file}");
    let probe = folder.write("probe.v", "From Hammer Require Import Hammer.\n");
    if !works("command -v coqc") || !works("command -v eprover") || !works(&format!("coqc {probe}")) {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no coqc with CoqHammer, or no eprover, so integrations/coqhammer/README.md is not run"
        );
        return;
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_formulanet"), folder.path("predict")).unwrap();
    folder.write("lemma.v", file);
    let output = Command::new("timeout")
        .args(["300", "coqc", "lemma.v"])
        .current_dir(folder.root())
        .env("HOME", folder.root())
        .env("PATH", format!("{}:{PROGRAMS}", std::env::var("PATH").unwrap()))
        .env("FORMULANET_LOG", folder.path("log"))
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
    assert!(
        output.status.success() && printed.contains("Replace the hammer tactic with"),
        "{printed}\n{log}"
    );
    assert!(log.lines().count() > 0, "formulanet was not asked: {printed}");
}
