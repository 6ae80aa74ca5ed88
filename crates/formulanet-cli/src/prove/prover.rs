//! Provers: how they are called, and how their output is read.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::languages::Languages;

/// A prover, and how it is called.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Prover {
    /// Name in results.
    pub(crate) name: String,
    program: OsString,
    /// Arguments with the places `{file}`, `{seconds}` and `{milliseconds}`.
    arguments: Vec<String>,
    languages: Languages,
    /// Whether it reads SMT-LIB instead of TPTP.
    pub(crate) is_smtlib: bool,
    pub(crate) premises: Premises,
    /// Texts in its output, and the SZS words that they mean.
    pub(crate) words: BTreeMap<String, String>,
    /// Share of the slices that it tries.
    pub(crate) share: f64,
}

/// The way in which a prover reports the statements that it used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Premises {
    /// By a derivation in TPTP's notation.
    Derivation,
    /// By their names between two texts.
    Names { after: String, until: String },
    /// Not at all.
    None,
}

/// A prover as a description defines it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    command: Vec<String>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    languages: Option<Vec<String>>,
    #[serde(default)]
    premises: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    until: Option<String>,
    #[serde(default)]
    words: BTreeMap<String, String>,
    #[serde(default)]
    share: Option<f64>,
}

/// A file of descriptions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Descriptions {
    prover: Vec<Description>,
}

/// Maximum size of a description in bytes.
const MAX_DESCRIPTION: u64 = 1 << 20;

/// Returns the provers of a description.
fn described(text: &str) -> Result<Vec<Prover>> {
    let found: Descriptions = toml::from_str(text)?;
    found.prover.into_iter().map(Prover::described).collect()
}

impl Prover {
    /// Returns the built-in provers that this machine has.
    pub(crate) fn found() -> Result<Vec<Prover>> {
        let mut provers = described(include_str!("provers.toml")).context("provers.toml")?;
        provers.retain(|prover| prover.path().is_some());
        Ok(provers)
    }

    /// Returns the provers for a value of `--prover`: a description, a built-in name, or a command.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is none of these.
    pub(crate) fn named(text: &str) -> Result<Vec<Prover>> {
        if text.ends_with(".toml") && !text.contains(char::is_whitespace) || Path::new(text).is_file() {
            let size = fs::metadata(text).with_context(|| format!("cannot read `{text}`"))?.len();
            if size > MAX_DESCRIPTION {
                bail!("cannot read `{text}`: {size} bytes are no description of a prover");
            }
            let text_of = fs::read_to_string(text).with_context(|| format!("cannot read `{text}`"))?;
            return described(&text_of).with_context(|| format!("cannot read `{text}`"));
        }
        if !text.contains(char::is_whitespace) && !text.is_empty() {
            let known = described(include_str!("provers.toml"))?;
            if let Some(prover) = known.into_iter().find(|prover| prover.name == text) {
                return Ok(vec![prover]);
            }
        }
        let command: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let first =
            command.first().context("expected a command such as 'eprover --auto {file}', found nothing")?;
        let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let description = Description {
            name,
            command,
            input: None,
            languages: None,
            premises: None,
            after: None,
            until: None,
            words: BTreeMap::new(),
            share: None,
        };
        Ok(vec![Prover::described(description)?])
    }

    fn described(found: Description) -> Result<Self> {
        let Description { name, command, input, languages, premises, after, until, words, share } = found;
        let Some((program, arguments)) = command.split_first().filter(|(program, _)| !program.is_empty())
        else {
            bail!("expected a command for the prover `{name}`, found none");
        };
        if !arguments.iter().any(|argument| argument.contains("{file}")) {
            bail!("expected `{{file}}` in the command of a prover, found `{}`", command.join(" "));
        }
        let is_smtlib = match input.as_deref() {
            None | Some("tptp") => false,
            Some("smtlib") => true,
            Some(other) => {
                bail!("expected `input` to be tptp or smtlib for the prover `{name}`, found `{other}`")
            }
        };
        let mut read = languages.as_ref().map_or(Languages::ALL, |_| Languages::default());
        for language in languages.iter().flatten() {
            let Some(part) = Languages::named(language) else {
                bail!(
                    "expected languages of {}, found `{language}` for the prover `{name}`",
                    Languages::names()
                );
            };
            read.add(part);
        }
        let premises = match (premises.as_deref(), after) {
            (None | Some("derivation"), None) => Premises::Derivation,
            (Some("none"), None) => Premises::None,
            (Some("names"), Some(after)) => {
                Premises::Names { after, until: until.unwrap_or_else(|| "\n".to_owned()) }
            }
            (Some("names"), None) => {
                bail!("expected `after` for the prover `{name}`, whose premises are names")
            }
            (found, _) => {
                let found = found.unwrap_or("none, but `after`");
                bail!(
                    "expected `premises` to be derivation, names or none for the prover `{name}`, found {found}"
                );
            }
        };
        let share = share.unwrap_or(1.0);
        if !(share > 0.0 && share <= 1.0) {
            bail!("expected a `share` above 0 and up to 1 for the prover `{name}`, found {share}");
        }
        let (program, arguments) = (program.into(), arguments.to_vec());
        Ok(Prover { name, program, arguments, languages: read, is_smtlib, premises, words, share })
    }

    /// Whether it reads some parts of TPTP.
    pub(crate) fn reads(&self, parts: Languages) -> bool {
        self.languages.has(parts)
    }

    /// Returns the program, as it is called.
    pub(crate) fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Returns the path of its program; `None` if there is none.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let program = Path::new(&self.program);
        if program.components().count() > 1 || program.is_absolute() {
            return is_program(program).then(|| program.to_owned());
        }
        let folders = env::var_os("PATH")?;
        env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| is_program(path))
    }

    /// Returns the program and its arguments for a file and a time.
    pub(crate) fn call(&self, file: &Path, seconds: u64) -> (OsString, Vec<OsString>) {
        let fill = |argument: &String| {
            let argument = argument.replace("{milliseconds}", &(1000 * seconds).to_string());
            let argument = argument.replace("{seconds}", &seconds.to_string());
            // The path may not be UTF-8.
            let mut filled = OsString::new();
            for (place, part) in argument.split("{file}").enumerate() {
                if place > 0 {
                    filled.push::<&OsStr>(file.as_ref());
                }
                filled.push(part);
            }
            filled
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
    path.is_file() || path.with_extension("exe").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_filled_in() {
        let prover =
            Prover::named("/opt/my-prover --time {seconds} -m{milliseconds} -f={file}").unwrap().remove(0);
        assert_eq!((prover.name.as_str(), prover.path()), ("my-prover", None));
        let (program, arguments) = prover.call(Path::new("/tmp/a b.p"), 3);
        assert_eq!(program, "/opt/my-prover");
        assert_eq!(arguments, ["--time", "3", "-m3000", "-f=/tmp/a b.p"]);
        assert!(Prover::named("").is_err() && Prover::named("prover x.p").is_err());
    }

    #[test]
    fn built_in_provers_are_described() {
        let provers = described(include_str!("provers.toml")).unwrap();
        assert!(provers.len() >= 9);
        let e = Prover::named("eprover").unwrap().remove(0);
        assert!(e.reads(Languages::named("fof").unwrap()) && !e.reads(Languages::named("thf").unwrap()));
        assert_eq!(e.premises, Premises::Derivation);
    }

    #[test]
    fn descriptions_are_checked() {
        let check = |text: &str, expected: &str| {
            let error = format!("{:#}", described(text).unwrap_err());
            assert!(error.contains(expected), "expected {expected}\nfound {error}");
        };
        let with = |more: &str| format!("[[prover]]\nname = \"a\"\ncommand = [\"a\", \"{{file}}\"]\n{more}");
        assert!(described(&with("")).is_ok());
        check("[[prover]]\nname = \"a\"\ncommand = []", "expected a command for the prover `a`");
        check("[[prover]]\nname = \"a\"\ncommand = [\"a\"]", "expected `{file}` in the command");
        check(
            &with("languages = [\"tptp\"]"),
            "expected languages of cnf, fof, tff, thf, arithmetic, found `tptp`",
        );
        check(&with("premises = \"names\""), "expected `after`");
        check(&with("premises = \"all\""), "expected `premises` to be derivation, names or none");
        check(&with("input = \"dimacs\""), "expected `input` to be tptp or smtlib");
        check(&with("share = 0"), "expected a `share` above 0");
        check(&with("colour = 1"), "colour");
        check("x", "expected");
    }
}
