//! The input of a premise selector: three files with the features, the dependencies and the order of a library.
//!
//! CoqHammer and Isabelle write the same files. A line of the order is a name; of the dependencies, `name:name name`; of the
//! features, `name:"feature", "feature"`, and `name:""`, an empty feature, for none. A question is a line of features
//! without a name.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use formulanet_logic::{ParseError, Position};

use crate::Error;
use crate::read::not_utf8;
use crate::util::hash::digest;

/// Bytes of a file, at most. The features of Coq's standard library have 10 million.
const LARGEST: u64 = 1 << 29;
/// Facts of a library, at most.
const MOST_FACTS: usize = 1 << 22;

/// The three files, read but not looked into.
pub struct HammerFiles {
    features: Text,
    dependencies: Text,
    order: Text,
}

/// A library as hammers describe it, without its features.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HammerIndex<'a> {
    /// The names of its facts, in order.
    pub names: Vec<&'a str>,
    /// By fact: the numbers of other facts that it depends on, each once, in the order of its line. They may come later.
    pub dependencies: Vec<Vec<u32>>,
    /// Warnings for the user, such as names that the order does not have.
    pub warnings: Vec<String>,
}

impl HammerFiles {
    /// Reads the files of features, of dependencies and of the order.
    ///
    /// # Errors
    ///
    /// If one cannot be read, or is larger than half a gigabyte.
    pub fn open(features: &str, dependencies: &str, order: &str) -> Result<Self, Error> {
        Ok(HammerFiles {
            features: Text::read(features)?,
            dependencies: Text::read(dependencies)?,
            order: Text::read(order)?,
        })
    }

    /// Numbers that tell these files from others: size and hash of each.
    pub fn identity(&self) -> [u64; 6] {
        let of = |text: &Text| [text.bytes.len() as u64, digest(&text.bytes)];
        let [a, b, c] = [&self.features, &self.dependencies, &self.order].map(of);
        [a[0], a[1], b[0], b[1], c[0], c[1]]
    }

    /// Looks into the files, and calls `visit` with a fact's number and its features, each fact once at most.
    ///
    /// # Errors
    ///
    /// If a line is not what it should be, or a name is twice in the order.
    pub fn parse<'a>(&'a self, visit: &mut dyn FnMut(usize, &[&'a str])) -> Result<HammerIndex<'a>, Error> {
        let mut library = HammerIndex::default();
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for (line, name) in self.order.lines()? {
            let wrong = |expected: &str, found: String| self.order.wrong((line, name), 0, expected, found);
            if library.names.len() == MOST_FACTS {
                return Err(wrong(&format!("at most {MOST_FACTS} names"), "more".to_owned()));
            }
            if name.contains(char::is_whitespace) {
                return Err(wrong("a name without spaces", format!("`{}`", beginning(name))));
            }
            if numbers.insert(name, library.names.len() as u32).is_some() {
                return Err(wrong("each name once", format!("`{}` again", beginning(name))));
            }
            library.names.push(name);
        }
        let mut found: Vec<&str> = Vec::new();
        let mut warnings_of_lines = FileWarnings::default();
        self.features.entries(&numbers, &mut warnings_of_lines, |line, start, fact| {
            feature_list(&line.1[start..], &mut found).map_err(|(place, expected, found)| {
                self.features.wrong(line, start + place, expected, found)
            })?;
            visit(fact, &found);
            Ok(())
        })?;
        warnings_of_lines.report(&self.features.file, &mut library.warnings);
        library.dependencies = vec![Vec::new(); library.names.len()];
        let mut warnings_of_lines = FileWarnings::default();
        let mut warnings_of_names = FileWarnings::default();
        // By fact: the last that depends on it, plus 1.
        let mut seen = vec![0u32; library.names.len()];
        self.dependencies.entries(&numbers, &mut warnings_of_lines, |(line, text), start, fact| {
            seen[fact] = fact as u32 + 1;
            for name in text[start..].split_ascii_whitespace() {
                match numbers.get(name) {
                    Some(&number) if number as usize == fact => warnings_of_names.note(CIRCULAR, line, name),
                    Some(&number) => {
                        if std::mem::replace(&mut seen[number as usize], fact as u32 + 1) != fact as u32 + 1 {
                            library.dependencies[fact].push(number);
                        }
                    }
                    None => warnings_of_names.note(UNKNOWN, line, name),
                }
            }
            Ok(())
        })?;
        warnings_of_lines.report(&self.dependencies.file, &mut library.warnings);
        warnings_of_names.report(&self.dependencies.file, &mut library.warnings);
        Ok(library)
    }
}

/// The features of a question, each as often as it stands there. `file` and `line` are for messages.
///
/// # Errors
///
/// If the line is no list of features.
pub fn parse_goal_features<'a>(file: &str, line: usize, text: &'a str) -> Result<Vec<&'a str>, Error> {
    let mut found = Vec::new();
    match feature_list(text, &mut found) {
        Ok(()) => Ok(found),
        Err((place, expected, found)) => Err(wrong(file, (line, text), place, expected, found)),
    }
}

const UNKNOWN: &str = "names are not in the order, and are ignored";
const TWICE: &str = "names have a second line, which is ignored";
const CIRCULAR: &str = "facts depend on themselves, which is ignored";

/// A kind of irregularity in a file: its count and its first occurrence.
#[derive(Default)]
struct FileWarnings(BTreeMap<&'static str, (usize, usize, String)>);

impl FileWarnings {
    fn note(&mut self, what: &'static str, line: usize, name: &str) {
        self.0.entry(what).or_insert_with(|| (0, line, beginning(name))).0 += 1;
    }

    fn report(self, file: &str, warnings: &mut Vec<String>) {
        warnings.extend(self.0.into_iter().map(|(what, (number, line, name))| {
            format!("{file}:{line}: {number} {what}; the first is `{name}`")
        }));
    }
}

struct Text {
    file: String,
    bytes: Vec<u8>,
}

/// A line's number and what it says.
type Line<'a> = (usize, &'a str);

impl Text {
    fn read(file: &str) -> Result<Self, Error> {
        let failed = |error| Error::io(file, error);
        if Path::new(file).is_dir() {
            return Err(Error::input(file, "expected a file, found a directory"));
        }
        let input = File::open(file).map_err(failed)?;
        let size = input.metadata().map_or(0, |data| data.len()).min(LARGEST);
        let mut bytes = Vec::with_capacity(size as usize + 1);
        input.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST {
            return Err(Error::input(file, format!("expected at most {LARGEST} bytes, found more")));
        }
        Ok(Text { file: file.to_owned(), bytes })
    }

    /// Lines that are not blank, without the spaces around them.
    fn lines(&self) -> Result<impl Iterator<Item = Line<'_>>, Error> {
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            let valid = error.valid_up_to();
            let before = String::from_utf8_lossy(&self.bytes[..valid]);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
            Error::parse(&self.file, not_utf8(Position { line, column }, self.bytes[valid]))
        })?;
        let lines = (1..).zip(text.split('\n'));
        Ok(lines.map(|(line, text)| (line, text.trim_end())).filter(|(_, text)| !text.is_empty()))
    }

    /// Calls `visit` with each line of a known name, with where in it the rest begins, and with the number of the name.
    fn entries<'a>(
        &'a self,
        numbers: &HashMap<&str, u32>,
        warnings_of_lines: &mut FileWarnings,
        mut visit: impl FnMut(Line<'a>, usize, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut is_visited = vec![false; numbers.len()];
        for (line, text) in self.lines()? {
            let Some(end) = text.find(':') else {
                return Err(self.wrong(
                    (line, text),
                    text.len(),
                    "`:` after a name",
                    "the end of the line".to_owned(),
                ));
            };
            match numbers.get(&text[..end]) {
                None => warnings_of_lines.note(UNKNOWN, line, &text[..end]),
                Some(&number) if is_visited[number as usize] => {
                    warnings_of_lines.note(TWICE, line, &text[..end])
                }
                Some(&number) => {
                    is_visited[number as usize] = true;
                    visit((line, text), end + 1, number as usize)?;
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, line: Line<'_>, place: usize, expected: &str, found: String) -> Error {
        wrong(&self.file, line, place, expected, found)
    }
}

fn wrong(file: &str, (line, text): Line<'_>, place: usize, expected: &str, found: String) -> Error {
    let column = text[..place].chars().count() + 1;
    Error::parse(file, ParseError::at(Position { line, column }, expected, found))
}

/// The beginning of a text that may be long.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Where a list of features goes wrong, what would have been right, and what is there.
type Wrong = (usize, &'static str, String);

/// The features of `"f", "g"`.
fn feature_list<'a>(text: &'a str, found: &mut Vec<&'a str>) -> Result<(), Wrong> {
    found.clear();
    let shown = |rest: &str| match rest.chars().next() {
        Some(first) => format!("`{first}`"),
        None => "the end of the line".to_owned(),
    };
    let mut rest = text.trim_start();
    loop {
        let place = |rest: &str| text.len() - rest.len();
        let Some(inside) = rest.strip_prefix('"') else {
            return Err((place(rest), "a feature in double quotes", shown(rest)));
        };
        let Some(end) = inside.find('"') else {
            return Err((
                place(rest),
                "a double quote at the end of the feature that begins here",
                "none".to_owned(),
            ));
        };
        found.push(&inside[..end]);
        rest = inside[end + 1..].trim_start();
        if rest.is_empty() {
            return Ok(());
        }
        let Some(behind) = rest.strip_prefix(',') else {
            return Err((place(rest), "`,` or the end of the line", shown(rest)));
        };
        rest = behind.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    const ORDER: &str = "zero\nsuc\nadd\r\n\nadd_zero\n";
    const FEATURES: &str =
        "suc:\"nat\", \"nat-\"\nzero:\"\"\nother:\"nat\"\nadd_zero:\"add\",\"add-zero\"\nsuc:\"again\"\n";
    const DEPENDENCIES: &str = "add_zero:add zero gone add\nadd: suc add_zero add\nother:suc\nzero:\n";

    type Found = (Vec<String>, Vec<Vec<u32>>, Vec<(usize, Vec<String>)>, Vec<String>);

    fn read(
        features: impl AsRef<[u8]>,
        dependencies: impl AsRef<[u8]>,
        order: impl AsRef<[u8]>,
    ) -> Result<Found, String> {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display().to_string();
        let path = |name: &str| format!("{place}/{name}");
        fs::write(path("fea"), features).unwrap();
        fs::write(path("dep"), dependencies).unwrap();
        fs::write(path("seq"), order).unwrap();
        let clean = |text: String| text.replace(&format!("{place}/"), "");
        let files = HammerFiles::open(&path("fea"), &path("dep"), &path("seq"))
            .map_err(|error| clean(error.to_string()))?;
        let mut found = Vec::new();
        let library = files
            .parse(&mut |fact, features| {
                found.push((fact, features.iter().map(ToString::to_string).collect()))
            })
            .map_err(|error| clean(error.to_string()))?;
        let names = library.names.iter().map(ToString::to_string).collect();
        Ok((names, library.dependencies, found, library.warnings.into_iter().map(clean).collect()))
    }

    #[test]
    fn lines_become_facts() {
        let (names, dependencies, features, warnings) = read(FEATURES, DEPENDENCIES, ORDER).unwrap();
        assert_eq!(names, ["zero", "suc", "add", "add_zero"]);
        assert_eq!(dependencies, [vec![], vec![], vec![1, 3], vec![2, 0]]);
        let of = |fact: usize, features: &[&str]| {
            (fact, features.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(features, [of(1, &["nat", "nat-"]), of(0, &[""]), of(3, &["add", "add-zero"])]);
        let expected = [
            "fea:5: 1 names have a second line, which is ignored; the first is `suc`",
            "fea:3: 1 names are not in the order, and are ignored; the first is `other`",
            "dep:3: 1 names are not in the order, and are ignored; the first is `other`",
            "dep:2: 1 facts depend on themselves, which is ignored; the first is `add`",
            "dep:1: 1 names are not in the order, and are ignored; the first is `gone`",
        ];
        let mut found = warnings;
        found.sort();
        let mut expected = expected.map(str::to_owned);
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(read("", "", "").unwrap(), Found::default());
    }

    #[test]
    fn damage_has_a_place() {
        let check = |features: &[u8], dependencies: &[u8], order: &[u8], expected: &str| {
            let error = read(features, dependencies, order).unwrap_err();
            assert!(error.starts_with(expected), "expected {expected}\nfound {error}");
        };
        let good = "a:\"f\"\n".as_bytes();
        check(good, b"", b"a\nb\na\n", "seq:3:1: expected each name once, found `a` again");
        check(good, b"", b"a b\n", "seq:1:1: expected a name without spaces, found `a b`");
        check(good, b"a:\nb c\n", b"a\n", "dep:2:4: expected `:` after a name, found the end of the line");
        check(
            "a:\"é\", f".as_bytes(),
            b"",
            b"a\n",
            "fea:1:8: expected a feature in double quotes, found `f`",
        );
        check(b"a:\"f\", \"g\n", b"", b"a\n", "fea:1:8: expected a double quote at the end of the feature");
        check(b"a:\"f\" \"g\"", b"", b"a\n", "fea:1:7: expected `,` or the end of the line, found `\"`");
        check(
            b"a:\"f\",",
            b"",
            b"a\n",
            "fea:1:7: expected a feature in double quotes, found the end of the line",
        );
        check(b"a:", b"", b"a\n", "fea:1:3: expected a feature in double quotes, found the end of the line");
        check(b"a:\"\"\nab:\"\xff\"", b"", b"a\n", "fea:2:5: expected UTF-8 text, found the byte 0xff");
        check(good, b"\xff", b"a\n", "dep:1:1: expected UTF-8 text");
        let error = HammerFiles::open("no/such/file", "x", "y").err().unwrap().to_string();
        assert_eq!(error, "cannot read or write `no/such/file`");
        assert!(HammerFiles::open("/", "x", "y").err().unwrap().to_string().contains("found a directory"));
    }

    #[test]
    fn questions_are_lists_of_features() {
        let check = |text: &str, expected: Result<&[&str], &str>| match (
            parse_goal_features("input", 3, text),
            expected,
        ) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{text}"),
            (found, _) => panic!("{text}: {found:?}"),
        };
        check("\"f\", \"g\"", Ok(&["f", "g"]));
        check("  \"f\"  ,  \"f\"  ", Ok(&["f", "f"]));
        check("\"\"", Ok(&[""]));
        check("", Err("input:3:1: expected a feature in double quotes, found the end of the line"));
        check("f", Err("input:3:1: expected a feature in double quotes, found `f`"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            features in proptest::collection::vec(prop::sample::select(b"ab:\", \n\r\xc3\xa9".to_vec()), 0..60),
            dependencies in proptest::collection::vec(prop::sample::select(b"ab: \n\xc3\xa9".to_vec()), 0..40),
            order in proptest::collection::vec(prop::sample::select(b"ab\n\xc3\xa9 ".to_vec()), 0..12),
        ) {
            let text = |file: &str, bytes: &Vec<u8>| Text { file: file.to_owned(), bytes: bytes.clone() };
            let files = HammerFiles {
                features: text("fea", &features),
                dependencies: text("dep", &dependencies),
                order: text("seq", &order),
            };
            let mut visited = Vec::new();
            if let Ok(library) = files.parse(&mut |fact, _| visited.push(fact)) {
                let facts = library.names.len();
                prop_assert_eq!(library.dependencies.len(), facts);
                prop_assert!(library.dependencies.iter().flatten().all(|&used| (used as usize) < facts));
                prop_assert!(visited.iter().all(|&fact| fact < facts));
            }
        }
    }
}
