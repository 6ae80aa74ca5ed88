//! Commands as a reader would type them, one after the other.

use std::path::Path;
use std::process::Command;

use crate::run_with;

/// Changes what cannot run in a test as it stands: `cargo` stands for the program that is built already, and a server
/// listens on a free port, in the background, until the last command has run.
const BEFORE: &str = r#"
set -uo pipefail
exec 2>&1
trap 'kill $(jobs -p) 2>/dev/null' EXIT
cargo() {
    case "$1" in
        run) while [ "$1" != -- ]; do shift; done; shift; formulanet "$@" ;;
        test) : ;;
        *) echo "unexpected: cargo $*"; return 1 ;;
    esac
}
formulanet() {
    if [ "$*" = "${*#serve}" ] || [ "$*" != "${*/--help}" ]; then
        command formulanet "$@"
        return
    fi
    local words=()
    while [ $# -gt 0 ]; do
        if [ "$1" = --listen ]; then shift; else words+=("$1"); fi
        shift
    done
    : > serve.log
    (exec formulanet "${words[@]}" --listen 127.0.0.1:0 2> serve.log) &
    local server=$!
    until [ -s serve.log ]; do kill -0 "$server" || return; sleep 0.05; done
    sed 's/:[0-9]*$/:8017/' serve.log
    grep -q '^listening' serve.log
}
curl() {
    command curl "${@//:8017/:$(sed -n 's/^listening.*://p' serve.log)}"
}
"#;

/// The result of a command.
pub struct Typed {
    /// The exit code.
    pub code: i32,
    /// Its output, errors included.
    pub printed: String,
}

/// Runs commands in a folder, in one bash that finds the program as `formulanet`.
pub fn shell(program: &str, folder: &Path, commands: &[&str]) -> Vec<Typed> {
    let between = "printf '\\001%d\\002' $?\n";
    let script: String = commands.iter().map(|command| format!("{command}\n{between}")).collect();
    let programs = Path::new(program).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("{BEFORE}{script}")]).current_dir(folder).env("PATH", path);
    // What the program keeps for its user does not belong into the home of whoever runs tests.
    bash.env("XDG_CACHE_HOME", folder.join(".cache")).env("XDG_STATE_HOME", folder.join(".state"));
    let run = run_with(&mut bash, b"");
    let typed: Vec<Typed> = run.stdout.split_terminator('\u{2}').filter_map(typed).collect();
    assert_eq!(typed.len(), commands.len(), "not every command ran:\n{}{}", run.stdout, run.stderr);
    typed
}

/// The text before a mark.
fn typed(text: &str) -> Option<Typed> {
    let (printed, code) = text.split_once('\u{1}')?;
    Some(Typed { code: code.parse().ok()?, printed: printed.to_owned() })
}
