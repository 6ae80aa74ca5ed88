//! The problems of a run: those of directories, of batch files of CASC's LTB division, and files by their
//! names.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use formulanet::util::glob::matches;

use crate::output::shown;
use crate::prove::axioms::Target;
use crate::usage::wrong;

/// Extensions of problems in a directory. Other files are included axioms, or not problems at all.
const ENDINGS: [&str; 2] = ["p", "tptp"];
/// First line of a batch file, after comments and space.
const BATCH: &str = "% SZS start Batch";
/// Maximum size of a batch file in bytes.
const MAX_BATCH: u64 = 64 << 20;
/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 64;

/// A problem of a run.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Name that the user gave it.
    pub(crate) name: String,
    pub(crate) target: Target,
    /// File of its proof in `--out`.
    pub(crate) proof: PathBuf,
}

/// The problems of a run, and the times that a batch file sets.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) problems: Vec<Input>,
    /// Time of a problem.
    pub(crate) time: Option<Duration>,
    /// Time of all problems.
    pub(crate) budget: Option<Duration>,
}

impl Inputs {
    /// Whether the arguments name several problems: more than one file, a directory or a batch file.
    pub(crate) fn are_several(arguments: &[String]) -> bool {
        arguments.len() > 1
            || arguments.first().is_some_and(|path| Path::new(path).is_dir() || is_batch(Path::new(path)))
    }

    /// Reads the problems that the arguments name, in the order of the arguments, each directory in the order
    /// of names.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory or a batch file cannot be read, there are no problems, or two have the
    /// same proof file.
    pub(crate) fn read(arguments: &[String]) -> Result<Self> {
        let mut inputs = Inputs::default();
        for argument in arguments {
            let path = Path::new(argument);
            if path.is_dir() {
                let before = inputs.problems.len();
                inputs.add_folder(path, path, 0)?;
                if inputs.problems.len() == before {
                    bail!("`{}` has no problems: files that end in .p or .tptp", shown(argument));
                }
            } else if is_batch(path) {
                inputs.add_batch(path).with_context(|| format!("cannot read `{}`", shown(argument)))?;
            } else {
                let stem = if argument == "-" { Path::new("problem") } else { path };
                inputs.push(argument.clone(), stem.file_name().unwrap_or_default().into());
            }
        }
        inputs.check_names()?;
        Ok(inputs)
    }

    /// Makes inputs of statements of a library, given by their names.
    ///
    /// # Errors
    ///
    /// Returns an error if two have the same proof file.
    pub(crate) fn of_library(names: Vec<String>) -> Result<Self> {
        let problem = |name: String| Input {
            proof: format!("{}.proof", file_name(&name)).into(),
            target: Target::Fact(name.clone()),
            name,
        };
        let inputs = Inputs { problems: names.into_iter().map(problem).collect(), ..Inputs::default() };
        inputs.check_names()?;
        Ok(inputs)
    }

    fn push(&mut self, file: String, proof: PathBuf) {
        let proof = proof.with_extension("proof");
        self.problems.push(Input { name: file.clone(), target: Target::File(file), proof });
    }

    fn add_folder(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            bail!(
                "`{}`: expected at most {MAX_DEPTH} directories in each other",
                shown(&root.display().to_string())
            );
        }
        let context = || format!("cannot read `{}`", shown(&folder.display().to_string()));
        let entries = fs::read_dir(folder).with_context(context)?;
        let mut paths = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<_>>>()
            .with_context(context)?;
        paths.sort();
        for path in paths {
            let is_problem =
                path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
            // A link to a directory may lead back.
            if path.is_dir() && !path.is_symlink() {
                self.add_folder(root, &path, depth + 1)?;
            } else if is_problem && path.is_file() {
                let Some(name) = path.to_str() else {
                    bail!(
                        "the name of `{}` is not UTF-8: rename the file",
                        shown(&path.display().to_string())
                    );
                };
                let within = path.strip_prefix(root).unwrap_or(&path).to_owned();
                self.push(name.to_owned(), within);
            }
        }
        Ok(())
    }

    /// Reads the batch specification of the LTB division of CASC: sections between `% SZS start` and `% SZS
    /// end` lines.
    fn add_batch(&mut self, path: &Path) -> Result<()> {
        let mut text = String::new();
        fs::File::open(path)?.take(MAX_BATCH + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_BATCH {
            bail!("expected at most {MAX_BATCH} bytes, found more");
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut section = None;
        for (number, line) in text.lines().enumerate() {
            let (line, place) = (line.trim(), number + 1);
            if let Some(name) = line.strip_prefix("% SZS start ") {
                section = Some(name.trim());
            } else if line.starts_with("% SZS end ") {
                section = None;
            } else if line.is_empty() || line.starts_with('%') {
                continue;
            } else if section == Some("BatchConfiguration") {
                self.add_limit(line).with_context(|| format!("line {place}"))?;
            } else if section == Some("BatchProblems") {
                let mut words = line.split_whitespace();
                let (Some(problem), out, None) = (words.next(), words.next(), words.next()) else {
                    bail!(
                        "line {place}: expected a problem and the file for its proof, found `{}`",
                        shown(line)
                    );
                };
                let problem = found_in(folder, problem).with_context(|| format!("line {place}"))?;
                let out = Path::new(out.unwrap_or(&problem)).file_name().unwrap_or_default().to_owned();
                self.push(problem, out.into());
            }
        }
        if section.is_some() {
            bail!("expected an `% SZS end` line for each `% SZS start`, found the end of the file");
        }
        if self.problems.is_empty() {
            bail!(
                "expected problems between `% SZS start BatchProblems` and `% SZS end BatchProblems`, found none"
            );
        }
        Ok(())
    }

    /// Reads a line of the configuration. Of several batches, the longest time per problem counts, and the
    /// sum of the total times.
    fn add_limit(&mut self, line: &str) -> Result<()> {
        let Some((key, value)) = line.split_once(char::is_whitespace) else { return Ok(()) };
        let is_time = key.starts_with("limit.time.");
        if !is_time {
            return Ok(());
        }
        let seconds: f64 =
            value.trim().parse().ok().filter(|seconds| (0.0..=1e7).contains(seconds)).with_context(|| {
                format!("expected seconds after `{}`, found `{}`", shown(key), shown(value))
            })?;
        // Zero is no limit.
        if seconds > 0.0 {
            let time = Duration::from_secs_f64(seconds);
            match key {
                "limit.time.problem.wc" => self.time = Some(self.time.unwrap_or_default().max(time)),
                "limit.time.overall.wc" => self.budget = Some(self.budget.unwrap_or_default() + time),
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that no two problems have the same name, or the same file for their proofs.
    fn check_names(&self) -> Result<()> {
        let mut names: HashMap<&str, ()> = HashMap::new();
        let mut proofs: HashMap<&Path, &str> = HashMap::new();
        for Input { name, proof, .. } in &self.problems {
            if names.insert(name, ()).is_some() {
                return Err(wrong(format!("the problem `{}` is given twice", shown(name))));
            }
            if let Some(other) = proofs.insert(proof, name) {
                return Err(wrong(format!(
                    "the proofs of `{}` and `{}` would have one file: rename one, or prove them apart",
                    shown(other),
                    shown(name)
                )));
            }
        }
        Ok(())
    }
}

/// Whether a file is a batch specification.
fn is_batch(path: &Path) -> bool {
    let mut start = [0; 4096];
    let is_file = path.is_file();
    let read = is_file.then(|| fs::File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or(0));
    let text = String::from_utf8_lossy(&start[..read.unwrap_or(0)]).into_owned();
    let is_text = |line: &&str| !line.trim().is_empty();
    // A problem may quote such a line, so it has to come before any formula.
    text.lines()
        .filter(is_text)
        .take_while(|line| line.trim_start().starts_with('%'))
        .any(|line| line.trim_start().starts_with(BATCH))
}

/// Returns a problem of a batch, relative to its directory. `*` stands for the versions of a problem in
/// several languages, of which the untyped one is taken, if there is one.
fn found_in(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    let text =
        |path: &Path| path.to_str().map(str::to_owned).context("the name of the directory is not UTF-8");
    if !name.contains('*') {
        return text(&path);
    }
    let (place, pattern) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
    let pattern = pattern.to_string_lossy();
    let entries = fs::read_dir(if place.as_os_str().is_empty() { Path::new(".") } else { place })?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.file_name().is_some_and(|name| matches(&pattern, &name.to_string_lossy())));
    // TPTP marks versions: `+` FOF, `-` CNF, `_` and `=` TFF, `^` THF.
    let rank = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mark = name.rfind(['+', '-', '_', '=', '^']).and_then(|at| name[at..].chars().next());
        mark.and_then(|mark| ['+', '-', '_', '=', '^'].iter().position(|known| *known == mark)).unwrap_or(9)
    };
    found.sort_by_key(|path| (rank(path), path.clone()));
    text(found.first().with_context(|| format!("no file fits `{}`", shown(name)))?)
}

/// Returns a file name for a statement: characters that could lead elsewhere are written as their numbers.
fn file_name(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => text.push(char::from(byte)),
            b'.' if !text.is_empty() => text.push('.'),
            _ => text += &format!("%{byte:02x}"),
        }
    }
    // File systems limit names to 255 bytes.
    if text.len() > 200 {
        text.truncate(180);
        text += &format!("-{:016x}", formulanet::util::hash::hash_text(name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(inputs: &Inputs, root: &Path) -> Vec<(String, String)> {
        let within = |name: &str| Path::new(name).strip_prefix(root).unwrap().display().to_string();
        inputs.problems.iter().map(|input| (within(&input.name), input.proof.display().to_string())).collect()
    }

    #[test]
    fn directories_are_walked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("more")).unwrap();
        for name in ["b.p", "a.p", "axioms.ax", "notes.txt", "more/a.p", "more/c.tptp"] {
            fs::write(root.join(name), "").unwrap();
        }
        let root_text = root.display().to_string();
        let found = Inputs::read(std::slice::from_ref(&root_text)).unwrap();
        let expected = [
            ("a.p", "a.proof"),
            ("b.p", "b.proof"),
            ("more/a.p", "more/a.proof"),
            ("more/c.tptp", "more/c.proof"),
        ];
        assert_eq!(names(&found, root), expected.map(|(name, proof)| (name.to_owned(), proof.to_owned())));
        let twice = Inputs::read(&[root_text, root.join("a.p").display().to_string()]).unwrap_err();
        assert!(format!("{twice:#}").contains("given twice"), "{twice:#}");
        fs::remove_dir_all(root.join("more")).unwrap();
        fs::create_dir(root.join("more")).unwrap();
        let none = Inputs::read(&[root.join("more").display().to_string()]).unwrap_err();
        assert!(format!("{none:#}").contains("has no problems"), "{none:#}");
    }

    #[test]
    fn batches_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["one+1.p", "one^1.p", "two.p"] {
            fs::write(root.join(name), "").unwrap();
        }
        let text = "% SZS start BatchConfiguration\ndivision.category LTB.SMO\noutput.required Proof\nlimit.time.problem.wc 5\n\
                    limit.time.overall.wc 600\n% SZS end BatchConfiguration\n% SZS start BatchIncludes\ninclude('a.ax').\n\
                    % SZS end BatchIncludes\n% SZS start BatchProblems\none*.p out/one\ntwo.p /somewhere/else/second\n% SZS end BatchProblems\n";
        let batch = root.join("batch");
        let read = |text: &str| {
            fs::write(&batch, text).unwrap();
            Inputs::read(&[batch.display().to_string()])
        };
        let found = read(text).unwrap();
        let expected = [("one+1.p", "one.proof"), ("two.p", "second.proof")];
        assert_eq!(names(&found, root), expected.map(|(name, proof)| (name.to_owned(), proof.to_owned())));
        assert_eq!(
            (found.time, found.budget),
            (Some(Duration::from_secs(5)), Some(Duration::from_secs(600)))
        );
        let check = |text: &str, expected: &str| {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(expected), "expected {expected}\nfound {error}");
        };
        check(
            &text.replace("wc 5", "wc soon"),
            "line 4: expected seconds after `limit.time.problem.wc`, found `soon`",
        );
        check(&text.replace("one*", "three*"), "line 11: no file fits `three*.p`");
        check(
            &text.replace("out/one", "out/one more"),
            "line 11: expected a problem and the file for its proof",
        );
        check(&text[..text.len() - 30], "expected an `% SZS end` line");
        check("% SZS start BatchProblems\n% SZS end BatchProblems\n", "expected problems between");
    }

    #[test]
    fn proofs_stay_in_their_directory() {
        assert_eq!(file_name("t1_xboole_0"), "t1_xboole_0");
        assert_eq!(file_name("../../a b/ü"), "%2e.%2f..%2fa%20b%2f%c3%bc");
        assert!(file_name(&"x/".repeat(500)).len() < 210);
        assert_ne!(file_name(&format!("{}a", "x".repeat(400))), file_name(&format!("{}b", "x".repeat(400))));
    }
}
