//! `formulanet predict`, in the place of the selectors of CoqHammer and Isabelle.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use formulanet_testing::{Folder, Run, run_with};

const PROGRAM: &str = env!("CARGO_BIN_EXE_formulanet");
const LIBRARY: [&str; 3] = ["lib.fea", "lib.dep", "lib.seq"];

/// A folder with a library, a cache and a log of its own.
struct Place(Folder);

impl Place {
    fn new() -> Self {
        let place = Place(Folder::new());
        for name in [&LIBRARY[..], &["goal.fea", "names.txt"]].concat() {
            fs::copy(fixture(name), place.0.path(name)).unwrap();
        }
        place
    }

    /// Runs a program in the folder.
    fn run(&self, program: &str, arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
        run_with(self.command(program).args(arguments), input.as_ref())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.root()).env_remove("FORMULANET_LOG");
        command.env("XDG_CACHE_HOME", self.0.path("cache")).env("XDG_STATE_HOME", self.0.path("state"));
        command
    }

    /// `formulanet predict` with the library and more arguments.
    fn predict(&self, more: &[&str], input: impl AsRef<[u8]>) -> Run {
        self.run(PROGRAM, &[&["predict"], &LIBRARY[..], more].concat(), input)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.0.path("state/formulanet/predict.log")).unwrap_or_default()
    }

    fn entries(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.0.path("cache/formulanet"));
        folder.map_or(Vec::new(), |folder| folder.map(|entry| entry.unwrap().path()).collect())
    }
}

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/hammer/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn goal() -> Vec<u8> {
    fs::read(fixture("goal.fea")).unwrap()
}

#[test]
fn a_question_is_answered_with_as_many_names() {
    let place = Place::new();
    let order = fs::read_to_string(fixture("lib.seq")).unwrap();
    for method in ["knn", "nbayes", "mepo", "rforest", "whatever"] {
        for (number, expected) in [("1", 1), ("7", 7), ("26", 26), ("1000", 26)] {
            let printed = place.predict(&["-n", number, "-p", method], goal()).output();
            let names: Vec<&str> = printed.strip_suffix('\n').unwrap().split(' ').collect();
            assert_eq!(names.len(), expected, "{method}: {printed}");
            assert!(names.iter().all(|name| order.lines().any(|known| known == *name)), "{printed}");
        }
    }
    // Two questions, the second without an end of its line; none.
    let printed = place.predict(&["-n", "3"], "\"rev\", \"app\"\n\"nat\"").output();
    assert_eq!(printed.lines().map(|line| line.split(' ').count()).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(place.predict(&["-n", "3"], "").output(), "");
}

#[test]
fn exact_answers_are_those_of_the_stock_program() {
    let place = Place::new();
    // CoqHammer 1.3.2 printed these.
    let check = |method: &str, expected: &str| {
        assert_eq!(
            place.predict(&["-n", "6", "-p", method, "--exact"], goal()).output().trim_end(),
            expected
        );
    };
    check("knn", "rev_app app_nil list_induction rev app_assoc app");
    check("nbayes", "rev_app app list list_induction app_assoc rev");
    check("mepo", "rev_app length_rev length_app rev_rev nil app_assoc");
    let printed = place.predict(&["-n", "4", "-p", "knn", "--exact", "-e", "names.txt"], "").output();
    assert_eq!(printed, "mul_comm:mul_zero mul zero nat\nlength_rev:length_app list add app\n");
}

#[test]
fn links_stand_for_the_command() {
    let place = Place::new();
    let link = |name: &str| {
        let path = place.0.path(name);
        std::os::unix::fs::symlink(PROGRAM, &path).unwrap();
        path.display().to_string()
    };
    let expected = |method: &str| place.predict(&["-n", "5", "-p", method], goal()).output();
    let [features, dependencies, order] = LIBRARY;
    let by = |name: &str, arguments: &[&str]| place.run(&link(name), arguments, goal()).output();
    assert_eq!(by("predict", &[features, dependencies, order, "-n", "5", "-p", "knn"]), expected("knn"));
    assert_eq!(by("nbayes", &[features, dependencies, "5", order]), expected("nbayes"));
    assert_eq!(by("knn", &["0", features, dependencies, "5", order]), expected("knn"));
    let run = place.run(&place.0.text("knn"), &["0", features], goal());
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(place.log().lines().last().unwrap().contains("required arguments"), "{}", place.log());
}

#[test]
fn facts_are_asked_for_in_the_order_of_the_library() {
    let place = Place::new();
    place.0.write("names.txt", "length_rev\nnobody\n\nmul_comm\nmul_comm\n");
    let run = place.predict(&["-n", "9", "-e", "names.txt"], "");
    let lines: Vec<(&str, Vec<&str>)> = run
        .stdout
        .lines()
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, best)| (name, best.split(' ').collect()))
        .collect();
    assert_eq!(lines.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["mul_comm", "length_rev"]);
    assert!(lines.iter().all(|(_, best)| best.len() == 9), "{}", run.stdout);
    // It depends on both, but one comes later.
    let of_mul = &lines[0].1;
    assert!(of_mul.contains(&"mul") && !of_mul.contains(&"nat_induction"), "{of_mul:?}");
    assert!(run.stderr.contains("the first is `nobody`") && place.log().contains("the first is `nobody`"));
    let run = place.predict(&["-e", "no-such-file"], "");
    assert!(
        run.code == Some(1) && run.stderr.contains("cannot read or write `no-such-file`"),
        "{}",
        run.stderr
    );
}

#[test]
fn damage_is_told_with_its_place_and_logged() {
    let place = Place::new();
    let mut logged = 0;
    let mut check = |name: &str, content: &[u8], input: &[u8], expected: &str| {
        let good = fs::read(fixture(name)).unwrap();
        place.0.write(name, content);
        let run = place.predict(&["-n", "3"], input);
        place.0.write(name, good);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{name}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "expected {expected}\nfound {}", run.stderr);
        let log = place.log();
        logged += 1;
        assert_eq!(log.matches("error: ").count(), logged, "{log}");
        assert!(log.lines().last().unwrap().contains(expected), "{log}");
    };
    let goal = goal();
    check("lib.fea", b"nat:\"a\", \"b", &goal, "lib.fea:1:10: expected a double quote");
    check("lib.fea", b"nat:\"a\"\nzero", &goal, "lib.fea:2:5: expected `:` after a name");
    check("lib.fea", b"nat:\"\xc3\"", &goal, "lib.fea:1:6: expected UTF-8 text, found the byte 0xc3");
    check("lib.dep", b"\nnat\n", &goal, "lib.dep:2:4: expected `:` after a name");
    check("lib.seq", b"nat\nzero\nnat\n", &goal, "lib.seq:3:1: expected each name once, found `nat` again");
    let huge = [b"nat:".as_slice(), &[b'x'; 3_000_000]].concat();
    check("lib.fea", &huge, &goal, "lib.fea:1:5: expected a feature in double quotes, found `x`");
    check(
        "lib.seq",
        &fs::read(fixture("lib.seq")).unwrap(),
        b"\"f\", g",
        "standard input:1:6: expected a feature",
    );
    check(
        "lib.seq",
        &fs::read(fixture("lib.seq")).unwrap(),
        b"\"\xff\"",
        "standard input:1: expected UTF-8 text",
    );
    fs::remove_file(place.0.path("lib.dep")).unwrap();
    let run = place.predict(&["-n", "3"], &goal);
    assert!(run.code == Some(1) && run.stderr.contains("`lib.dep`: No such file"), "{}", run.stderr);
    let check = |more: &[&str], expected: &str| {
        let run = place.predict(more, &goal);
        assert!(run.code == Some(2) && run.stderr.contains(expected), "{more:?}: {}", run.stderr);
        assert!(place.log().lines().last().unwrap().contains("error"), "{}", place.log());
    };
    check(&["-n", "0"], "a number from 1");
    check(&["-n", "many"], "invalid digit");
    check(&["-p", "rforest", "--exact"], "--exact has knn, nbayes and mepo");
}

#[test]
fn names_that_are_not_in_the_order_are_a_warning() {
    let place = Place::new();
    let mut text = fs::read_to_string(fixture("lib.dep")).unwrap();
    text += "other:nat\n";
    place.0.write("lib.dep", text.replace("add zero nat_induction", "add zero gone nat_induction"));
    let run = place.predict(&["-n", "3"], goal());
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.contains("1 names are not in the order") && run.stderr.contains("`other`"),
        "{}",
        run.stderr
    );
    assert!(place.log().contains("`gone`"), "{}", place.log());
    assert!(place.log().contains("answered 1 with 3 names each"), "{}", place.log());
}

#[test]
fn a_cache_changes_no_answer() {
    let place = Place::new();
    let ask = || place.predict(&["-n", "20"], goal()).output();
    let first = ask();
    let entries = place.entries();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(ask(), first);
    assert!(place.log().lines().last().unwrap().contains("from cache"), "{}", place.log());
    // Damaged: ignored, and made anew.
    let whole = fs::read(&entries[0]).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"", &[whole.as_slice(), b"x"].concat()] {
        fs::write(&entries[0], damaged).unwrap();
        assert_eq!(ask(), first);
        assert_eq!(fs::read(&entries[0]).unwrap(), whole);
        assert!(place.log().contains("found a damaged one"), "{}", place.log());
    }
    // Other files, another entry.
    let text = fs::read_to_string(fixture("lib.dep")).unwrap();
    place.0.write("lib.dep", text.replace("rev_app list_induction", "rev_app"));
    ask();
    assert_eq!(place.entries().len(), 2);
    // No place for a cache or a log.
    let mut command = place.command(PROGRAM);
    command.args([&["predict"], &LIBRARY[..], &["-n", "20"]].concat());
    command.env("XDG_CACHE_HOME", place.0.path("lib.fea")).env("FORMULANET_LOG", place.0.path("lib.fea/log"));
    assert_eq!(run_with(&mut command, &goal()).code, Some(0));
}

#[test]
fn several_at_once_give_the_same_answer() {
    let place = Place::new();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..6).map(|_| scope.spawn(|| place.predict(&["-n", "20"], goal()).output())).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(place.entries().len(), 1);
    assert_eq!(place.log().matches("answered 1 with 20").count(), 6, "{}", place.log());
    assert!(!place.log().contains("warning"), "{}", place.log());
}
