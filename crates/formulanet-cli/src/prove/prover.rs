//! Provers: how they are called, and what they say.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use formulanet::read::{Proof, derivations_of};

/// A prover, as it is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Prover {
    /// What it is called.
    pub(crate) name: String,
    program: OsString,
    /// Arguments, in which `{file}`, `{seconds}` and `{milliseconds}` stand for what they say.
    arguments: Vec<String>,
}

/// Provers that are looked for, in order, with the arguments that make them print a proof in TPTP's notation.
const KNOWN: [(&str, &str); 5] = [
    ("eprover", "--auto -s --proof-object --cpu-limit={seconds} {file}"),
    ("vampire", "--mode casc --cores 1 --proof tptp --output_axiom_names on -t {seconds} {file}"),
    ("zipperposition", "--mode best -o tptp --timeout {seconds} {file}"),
    ("cvc5", "--lang=tptp --finite-model-find --tlimit={milliseconds} {file}"),
    ("z3_tptp", "-core -t:{seconds} -file:{file}"),
];

impl Prover {
    /// The known provers that this machine has.
    pub(crate) fn found() -> Vec<Prover> {
        let folders: Vec<PathBuf> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
        let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| is_program(path));
        KNOWN
            .iter()
            .filter_map(|(name, arguments)| {
                let program = find(name)?.into_os_string();
                let arguments = arguments.split(' ').map(str::to_owned).collect();
                Some(Prover { name: (*name).to_owned(), program, arguments })
            })
            .collect()
    }

    /// A prover by the command that calls it.
    pub(crate) fn of_command(command: &str) -> Result<Prover, String> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let program =
            words.next().ok_or("expected a command such as 'eprover --auto {file}', found nothing")?;
        let arguments: Vec<String> = words.collect();
        if !arguments.iter().any(|argument| argument.contains("{file}")) {
            return Err(format!("expected `{{file}}` in the command, found `{command}`"));
        }
        let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Prover { name, program: program.into(), arguments })
    }

    /// The program and its arguments for a file and a time.
    pub(crate) fn call(&self, file: &Path, seconds: u64) -> (OsString, Vec<String>) {
        let file = file.display().to_string();
        let fill = |argument: &String| {
            let argument = argument.replace("{milliseconds}", &(1000 * seconds).to_string());
            argument.replace("{seconds}", &seconds.to_string()).replace("{file}", &file)
        };
        (self.program.clone(), self.arguments.iter().map(fill).collect())
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// What a prover says about a problem, by the words of the SZS ontology.
pub(crate) fn status(output: &str) -> Option<&str> {
    let line = output.lines().find(|line| line.contains("SZS status "))?;
    line.split("SZS status ")
        .nth(1)?
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .filter(|word| !word.is_empty())
}

/// Whether that means that it is proved.
pub(crate) fn is_proved(status: &str) -> bool {
    ["Theorem", "Unsatisfiable", "ContradictoryAxioms"].contains(&status)
}

/// Whether that means that it cannot be proved from these axioms.
pub(crate) fn is_refuted(status: &str) -> bool {
    ["CounterSatisfiable", "Satisfiable", "CounterTheorem"].contains(&status)
}

/// The proof that a prover printed: between the marks of SZS, or all.
pub(crate) fn proof(output: &str) -> &str {
    let begin = output.find("SZS output start").map(|at| output[..at].rfind('\n').map_or(0, |line| line + 1));
    let Some(begin) = begin else { return output.trim() };
    let end = output[begin..].find("SZS output end").map_or(output.len(), |at| begin + at);
    let end = output[end..].find('\n').map_or(output.len(), |line| end + line);
    output[begin..end].trim()
}

/// The names that a printed proof used; `None` if it does not say.
pub(crate) fn used(output: &str) -> Option<Vec<String>> {
    let proofs = derivations_of("proof", proof(output)).ok()?;
    let Proof { used, .. } = proofs.into_iter().next()?;
    Some(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_understood() {
        let output = "# hello\n# SZS status Theorem\n# SZS output start CNFRefutation\n\
            fof(c, conjecture, p, file('x.p', c)).\nfof(a, axiom, p, file('x.p', a)).\n\
            fof(n, negated_conjecture, ~p, inference(n, [], [c])).\nfof(f, plain, $false, inference(r, [], [n, a])).\n\
            # SZS output end CNFRefutation\n# more\n";
        assert_eq!(status(output), Some("Theorem"));
        assert!(is_proved("Theorem") && !is_proved("ResourceOut") && is_refuted("CounterSatisfiable"));
        assert_eq!(used(output), Some(vec!["a".to_owned()]));
        let shown = proof(output);
        assert!(
            shown.starts_with("# SZS output start") && shown.ends_with("SZS output end CNFRefutation"),
            "{shown}"
        );
        for garbage in ["", "SZS status", "SZS status \n", "\u{0}\u{1}SZS output start", "SZS status !"] {
            assert_eq!((status(garbage), used(garbage)), (None, None), "{garbage}");
        }
        assert_eq!(proof("% SZS status Theorem for x\n"), "% SZS status Theorem for x");
    }

    #[test]
    fn commands_are_filled_in() {
        let prover = Prover::of_command("/opt/my-prover --time {seconds} -m{milliseconds} {file}").unwrap();
        assert_eq!(prover.name, "my-prover");
        let (program, arguments) = prover.call(Path::new("/tmp/a b.p"), 3);
        assert_eq!(program, "/opt/my-prover");
        assert_eq!(arguments, ["--time", "3", "-m3000", "/tmp/a b.p"]);
        assert!(Prover::of_command("").is_err() && Prover::of_command("prover x.p").is_err());
    }
}
