//! `formulanet rank`, `select`, `library`, `embed` and `neighbors` from the outside, with the shipped models.

mod common;

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::formulanet;
use formulanet_testing::Folder;
use serde_json::Value;

const LIBRARY: &str = "fixtures/arithmetic.hol";

/// What a command prints.
fn output(arguments: &[&str], input: &[u8]) -> String {
    formulanet(arguments, input).output()
}

/// The statements that a command prints as JSON, one per line.
fn rows(arguments: &[&str], input: &[u8]) -> Vec<Value> {
    let text = output(&[arguments, &["--format", "json"]].concat(), input);
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.filter(|row: &Value| row.get("existing").is_none()).collect()
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["name"].as_str().unwrap()).collect()
}

fn scores(rows: &[Value]) -> HashMap<&str, f64> {
    rows.iter().map(|row| (row["name"].as_str().unwrap(), row["score"].as_f64().unwrap())).collect()
}

fn check_error(arguments: &[&str], expected: &str) {
    let run = formulanet(arguments, b"");
    assert!(matches!(run.code, Some(1 | 2)), "{arguments:?}\n{}", run.stdout);
    assert!(run.stderr.contains(expected), "{arguments:?}\n{}", run.stderr);
}

fn rank<'a>(conjecture: &'a str, premises: &'a str) -> Vec<&'a str> {
    vec!["rank", "--conjecture", conjecture, "--premises", premises]
}

#[test]
fn the_best_come_first_and_k_is_respected() {
    let conjecture = "!s t. s INTER t = t INTER s";
    let text = output(&[&rank(conjecture, LIBRARY)[..], &["-k", "3", "--format", "json"]].concat(), b"");
    let first = text.lines().next().unwrap();
    assert!(first.starts_with(r#"{"rank":1,"name":""#), "{first}");
    let fields: Vec<usize> =
        ["\"rank\":", "\"name\":", "\"score\":", "\"statement\":"].map(|f| first.find(f).unwrap()).into();
    assert!(fields.is_sorted(), "{first}");
    for k in [1, 7, 1000] {
        let k = k.to_string();
        let found = rows(&[&rank(conjecture, LIBRARY)[..], &["-k", &k]].concat(), b"");
        assert_eq!(found.len(), k.parse::<usize>().unwrap().min(49));
        let scores: Vec<f64> = found.iter().map(|row| row["score"].as_f64().unwrap()).collect();
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)) && scores.is_sorted_by(|a, b| a >= b));
        assert!(found.iter().enumerate().all(|(i, row)| row["rank"] == i + 1));
    }
    let found = rows(&[&rank(conjecture, LIBRARY)[..], &["-k", "5"]].concat(), b"");
    assert!(names(&found).contains(&"IN_INTER_BOTH"), "{:?}", names(&found));
}

#[test]
fn include_exclude_and_threshold() {
    let command = rank("!m n. m + n = n + m", LIBRARY);
    let with = |more: &[&str]| rows(&[&command[..], more].concat(), b"");
    let found = with(&["-k", "2", "--include", "REVERSE_TWICE"]);
    assert!(found.len() == 2 && names(&found).contains(&"REVERSE_TWICE"));
    let found = with(&["-k", "100", "--exclude", "*ADD*", "--exclude", "NUM_INDUCTION"]);
    assert!(names(&found).iter().all(|name| !name.contains("ADD") && *name != "NUM_INDUCTION"));
    assert!(with(&["--min-score", "1.1"]).is_empty());
    check_error(&[&command[..], &["-k", "1", "--include", "ADD*"]].concat(), "raise -k");
}

#[test]
fn names_of_variables_do_not_matter() {
    let place = Folder::new();
    let file = place.write("a.hol", "comm: !m n. m + n = n + m\nle: !x. x <= x\nin: !a b. a IN b ==> F\n");
    let renamed = place.write(
        "b.hol",
        "comm: !b a. b + a = a + b\nle: !n'. n' <= n'\n# a comment\n\nin: !i j. i IN j ==> F\n",
    );
    let first = rows(&rank("!x y. x * y = y * x", &file), b"");
    let second = rows(&rank("!k j. k * j = j * k", &renamed), b"");
    assert_eq!(scores(&first), scores(&second));
    assert_eq!(names(&first), names(&second));
}

#[test]
fn statements_come_in_several_formats() {
    let place = Folder::new();
    let check = |name: &str, text: &str, conjecture: &str, expected: &[&str]| {
        let file = place.write(name, text);
        let found = rows(&rank(conjecture, &file), b"");
        let mut found = names(&found);
        found.sort_unstable();
        assert_eq!(found, expected, "{name}");
    };
    check("l", "one: x = x\n two : !y. P y\n", "!x. x < x", &["one", "two"]);
    check(
        "j",
        "{\"name\": \"a\", \"statement\": \"x + 0 = x\"}\n{\"name\": \"b\", \"statement\": \"p(c)\", \"syntax\": \"tptp\"}\n",
        "!x. x = x",
        &["a", "b"],
    );
    check(
        "t",
        "fof(a1, axiom, p(c)).\nfof(a2, lemma, ! [X] : (p(X) => q(X))).\nfof(goal, conjecture, q(c)).\n",
        "q(c)",
        &["a1", "a2"],
    );
    let found = rows(&rank("!n. ~(SUC n = 0)", "fixtures/successor.holstep"), b"");
    assert!(names(&found).contains(&"SUC_INJECTIVE"));
    let found = rows(&rank("p(c)", "fixtures/order.deepmath"), b"");
    assert!(!found.is_empty());
    // Standard input, and lemmas of one's own.
    let local = place.write("local", "mine: !m n. m * n = n * m\n");
    let command = ["rank", "--conjecture", "!m n. m + n = n * m", "--premises", "-", "--local", &local];
    let found = rows(&command, b"theirs: !m. m = m\n");
    assert_eq!(names(&found).len(), 2);
}

#[test]
fn explanations() {
    let place = Folder::new();
    let file = place.write("l", "known: !m n. m + n = n + m\nstrange: FROBNICATE (BAR x)\n");
    let command = [&rank("!x. QUUX x", &file)[..], &["--explain"]].concat();
    let found = rows(&command, b"");
    let of = |name| found.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(of("strange")["unknown_symbols"], serde_json::json!(["FROBNICATE", "BAR"]));
    assert_eq!(of("known")["unknown_symbols"], serde_json::json!([]));
    let run = formulanet(&command, b"");
    assert!(run.stderr.contains("unknown in the conjecture: QUUX"), "{}", run.stderr);
}

#[test]
fn mistakes_have_a_place_and_a_way_out() {
    let place = Folder::new();
    let bad = place.write("bad", "good: x = x\nbad: !x. (P x\n");
    check_error(&rank("x = x", &bad), "bad:2:");
    check_error(
        &rank("x = x", &place.write("colon", "no colon here\n")),
        "colon:1:1: expected `name: formula`",
    );
    check_error(&rank("x = ", LIBRARY), "formula:1:");
    check_error(&rank("x = x", &place.write("empty", "# nothing\n")), "found none");
    check_error(&rank("x = x", "/no/such/file"), "/no/such/file");
    check_error(&rank("x = x", &place.write("json", "{\"name\": 1}\n")), "json:1");
    fs::write(place.path("bytes"), b"a: x = \xff\n").unwrap();
    check_error(&rank("x = x", &place.text("bytes")), "bytes:1:8");
    check_error(&[&rank("x = x", LIBRARY)[..], &["--model", "nonsense"]].concat(), "hol-premises");
    let deep = place.write("deep", format!("d: {}x{}\n", "(".repeat(100_000), ")".repeat(100_000)));
    check_error(&rank("x = x", &deep), "deep:1:");
}

#[test]
fn a_library_answers_as_the_file_does() {
    let place = Folder::new();
    let library = place.text("lemmas.db");
    output(&["library", "build", &library, LIBRARY], b"");
    let conjecture = "!m n. m * n = n * m";
    let command =
        ["rank", "--conjecture", conjecture, "--library", &library, "-k", "100", "--keep-duplicates"];
    let from_library = rows(&command, b"");
    let from_file =
        rows(&[&rank(conjecture, LIBRARY)[..], &["-k", "100", "--keep-duplicates"]].concat(), b"");
    assert_eq!(from_library, from_file);
    output(
        &["library", "add", &library, "-"],
        b"NEW_LEMMA: !m n. m * n = n * m\nLE_REFLEXIVE: !k. k <= k + 0\n",
    );
    let found = rows(&command, b"");
    assert_eq!(found.len(), 50);
    assert!(names(&found).contains(&"NEW_LEMMA"));
    let listed = output(&["library", "list", &library], b"");
    assert!(listed.contains("LE_REFLEXIVE: !k. k <= k + 0\n") && listed.lines().count() == 50);
    assert!(output(&["library", "verify", &library], b"").starts_with("50 statements"));
    output(&["library", "remove", &library, "NEW_*", "LE_REFLEXIVE"], b"");
    assert_eq!(rows(&command, b"").len(), 48);
    check_error(&["library", "remove", &library, "NO_SUCH"], "library list");
    check_error(&["library", "build", &library, LIBRARY], "library add");
    check_error(&["rank", "--conjecture", "x = x", "--library", &place.text("none")], "library build");
    let other = place.write("other", "not a library");
    check_error(&["rank", "--conjecture", "x = x", "--library", &other], "expected a premise library");
    let again = ["rank", "--conjecture", "x = x", "--library", &library, "--model", "holstep"];
    check_error(&again, "expected the model that made its vectors (hol-premises)");
}

/// Whatever an `add` that came to its end said is there, and a killed one leaves the library as it was.
#[test]
fn a_killed_writer_does_no_harm() {
    let place = Folder::new();
    let library = place.text("killed.db");
    output(&["library", "build", &library, "-"], b"FIRST: !x. x = x\n");
    let mut promised = vec!["FIRST".to_owned()];
    for round in 0..100u64 {
        let statements: String =
            (0..20).map(|i| format!("R{round}_{i}: !x. x + {round} = f {i} x\n")).collect();
        let file = place.write("more", &statements);
        let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
            .args(["library", "add", &library, &file])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(round * 7919 % 60_000));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            promised.extend((0..20).map(|i| format!("R{round}_{i}")));
        }
        if round % 10 == 9 {
            let listed = output(&["library", "list", &library], b"");
            let listed: Vec<&str> = listed.lines().filter_map(|line| line.split(':').next()).collect();
            assert!(promised.iter().all(|name| listed.contains(&name.as_str())), "round {round}");
            // All of an addition or nothing.
            assert_eq!((listed.len() - 1) % 20, 0);
        }
    }
    assert!(output(&["library", "verify", &library], b"").contains("nothing wrong"));
}

#[test]
fn a_problem_is_cut_down() {
    let text = output(&["select", "fixtures/relations.p", "-k", "5"], b"");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], concat!("% 5 of 20 axioms, selected by formulanet ", env!("CARGO_PKG_VERSION")));
    assert!(lines[1].starts_with("fof(given, hypothesis") && lines.len() == 8);
    assert!(lines[7].starts_with("fof(union_is_larger, conjecture"));
    // What comes out goes in again.
    let place = Folder::new();
    let again = output(&["select", "-", "-k", "5"], text.as_bytes());
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&again), sorted(&text));
    let out = place.text("slices");
    output(&["select", "fixtures/relations.p", "-k", "2,4", "--out", &out], b"");
    for (file, count) in [("slices/relations.2.p", 2), ("slices/relations.4.p", 4)] {
        let text = fs::read_to_string(place.path(file)).unwrap();
        assert_eq!(text.matches(", axiom,").count(), count, "{text}");
    }
    let named = output(&["select", "fixtures/relations.p", "-k", "3", "--format", "names"], b"");
    let (conjecture, axioms) = named.trim_end().split_once(':').unwrap();
    assert_eq!((conjecture, axioms.split(' ').count()), ("union_is_larger", 3));
    let found = rows(&["select", "fixtures/group.p", "-k", "9", "--keep-roles", "none"], b"");
    assert_eq!(found.len(), 4);
    check_error(&["select", "fixtures/group.ax"], "expected a conjecture");
    let typed = "tff(n, type, n: $i).\ntff(a, axiom, p(n)).\ntff(c, conjecture, p(n)).\n";
    let text = output(&["select", "-", "-k", "0"], typed.as_bytes());
    assert!(text.contains("tff(n, type, n: $i).") && !text.contains("axiom,"), "{text}");
}

#[test]
fn several_problems_are_cut_down_at_once() {
    let place = Folder::new();
    let out = place.text("small");
    let files = ["fixtures/relations.p", "fixtures/group.p"];
    output(&["select", files[0], files[1], "-k", "1,2", "--out", &out], b"");
    for file in files {
        let stem = file.trim_start_matches("fixtures/").trim_end_matches(".p");
        let alone = output(&["select", file, "-k", "2"], b"");
        assert_eq!(fs::read_to_string(place.path(&format!("small/{stem}.2.p"))).unwrap(), alone);
        assert!(place.path(&format!("small/{stem}.1.p")).exists());
    }
    let named = output(&["select", files[0], files[1], "-k", "2", "--format", "names"], b"");
    let conjectures: Vec<&str> = named.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(conjectures, ["union_is_larger", "commutative"]);
    let found = rows(&["select", files[0], files[1], "-k", "2"], b"");
    let problems: Vec<&str> = found.iter().map(|row| row["problem"].as_str().unwrap()).collect();
    assert_eq!(problems, [files[0], files[0], files[1], files[1]]);
    check_error(&["select", files[0], files[1]], "several problems write several files");
    check_error(&["select", files[0], files[0], "--out", &out], "two problems would both be written to");
}

#[test]
fn axioms_come_from_a_library_and_say_why() {
    let place = Folder::new();
    let library = place.text("relations.db");
    output(&["library", "build", &library, "fixtures/relations.p"], b"");
    let goal = place
        .write("goal.p", "fof(own, axiom, p). fof(goal, conjecture, subset(union(small, small), large)).");
    let text = output(&["select", &goal, "--library", &library, "-k", "3", "--explain"], b"");
    assert!(text.starts_with("% 3 of 22 axioms"), "{text}");
    assert!(text.contains("; shares: union; unknown: member union\nfof(union_definition, axiom, "), "{text}");
    assert!(text.ends_with("fof(goal, conjecture, subset(union(small, small), large)).\n"), "{text}");
    let found =
        rows(&["select", &goal, "--library", &library, "-k", "2", "--include", "own", "--explain"], b"");
    let own = found.iter().find(|row| row["name"] == "own").unwrap();
    assert_eq!((own["shared_symbols"].as_array().unwrap().len(), found.len()), (0, 2));
    let hol = place.text("arithmetic.db");
    output(&["library", "build", &hol, LIBRARY], b"");
    check_error(&["select", &goal, "--library", &hol], "expected one in TPTP's language");
    let run = formulanet(&["select", "fixtures/relations.p", "-k", "1"], b"");
    assert!(run.stderr.contains("knows 0 of the 22 symbols of `fixtures/relations.p`"), "{}", run.stderr);
    let run = formulanet(&["select", "fixtures/relations.p", "-k", "1", "--symbols", "anonymous"], b"");
    assert_eq!(run.stderr, "");
}

#[test]
fn a_problem_has_the_conjecture_and_perhaps_the_premises() {
    let place = Folder::new();
    let all = output(&["rank", "--conjecture", "@fixtures/relations.p", "-k", "3"], b"");
    let text = "subset(union(small, small), large)";
    let same = output(&["rank", "--conjecture", text, "--premises", "fixtures/relations.p", "-k", "3"], b"");
    assert_eq!(all, same);
    let single = place.write("single.p", format!("% one formula\nfof(x, axiom, {text}).\n"));
    let argument = format!("@{single}");
    let same =
        output(&["rank", "--conjecture", &argument, "--premises", "fixtures/relations.p", "-k", "3"], b"");
    assert_eq!(all, same);
    let two = place.write("two.p", "fof(a, conjecture, p). fof(b, conjecture, q). fof(c, axiom, p).");
    check_error(&["rank", "--conjecture", &format!("@{two}")], "expected one conjecture, found several");
    let none = place.write("none.p", "fof(a, axiom, p). fof(b, axiom, q).");
    check_error(&["rank", "--conjecture", &format!("@{none}")], "expected a conjecture");
    check_error(&["rank", "--conjecture", text], "say what to rank: --premises FILE or --library FILE");
}

#[test]
fn the_formula_is_the_argument() {
    let named = output(&rank("!m n. m + n = n + m", LIBRARY), b"");
    assert_eq!(output(&["rank", "!m n. m + n = n + m", "--premises", LIBRARY], b""), named);
    let both = formulanet(&["rank", "T", "--conjecture", "T", "--premises", LIBRARY], b"");
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

/// What HolStep prints with all brackets is shown in infix; programs get it as it is.
#[test]
fn people_read_infix() {
    let place = Folder::new();
    let printed = "|- (!x. (((real_add (real_neg x)) x) = (real_of_num (NUMERAL _0))))";
    let premises = place.write("printed.hol", format!("A: {printed}\n"));
    let text = output(&rank("T", &premises), b"");
    assert!(text.ends_with("A  !x. --x + x = &0\n"), "{text}");
    assert_eq!(rows(&rank("T", &premises), b"")[0]["statement"], printed);
}

#[test]
fn neighbours_in_a_library() {
    let place = Folder::new();
    let library = place.text("lemmas.db");
    output(&["library", "build", &library, LIBRARY], b"");
    let found = rows(&["neighbors", "!a b. a + b = b + a", "--library", &library, "-k", "3"], b"");
    assert_eq!((found.len(), found[0]["name"].as_str().unwrap()), (3, "ADD_COMM"));
    assert!(found[0]["similarity"].as_f64().unwrap() > 0.999);
    let refused = formulanet(&["neighbors", "T", "--library", &library, "--subformulas"], b"");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    // Equal parts of several statements are shown once.
    let twice = place.write("twice.hol", "A: p /\\ (x = y)\nB: q /\\ (x = y)\n");
    let found = rows(&["neighbors", "x = y", "--premises", &twice, "--subformulas"], b"");
    let equal = found.iter().filter(|row| row["similarity"].as_f64().unwrap() > 0.9999).count();
    assert_eq!(equal, 1, "{found:?}");
}

#[test]
fn models_completions_and_manuals() {
    let place = Folder::new();
    let listed = output(&["models"], b"");
    assert!(listed.lines().any(|line| line.starts_with("hol-premises ")), "{listed}");
    assert!(output(&["models", "reader"], b"").starts_with("# reader\n"));
    check_error(&["models", "nobody"], "expected one of hol-premises");
    for shell in ["bash", "zsh", "fish"] {
        assert!(output(&["completions", shell], b"").contains("neighbors"), "{shell}");
    }
    assert!(output(&["man"], b"").starts_with(".ie"));
    let pages = place.text("pages");
    output(&["man", "--out", &pages], b"");
    let page = fs::read_to_string(place.path("pages/formulanet-library-add.1")).unwrap();
    assert!(page.contains("formulanet library add"), "{page}");
}

#[test]
fn vectors_and_neighbours() {
    let place = Folder::new();
    let found: Value = serde_json::from_str(output(&["embed", "!x. x + 0 = x"], b"").trim()).unwrap();
    let renamed: Value = serde_json::from_str(output(&["embed", "!n. n + 0 = n"], b"").trim()).unwrap();
    let length = found["vector"].as_array().unwrap().len();
    assert!(length >= 16);
    assert_eq!(found["vector"], renamed["vector"]);
    let npy = place.text("v.npy");
    output(&["embed", "--premises", LIBRARY, "--format", "npy", "--out", &npy], b"");
    assert_eq!(fs::read(&npy).unwrap().len(), 128 + 49 * length * 4);
    let tensors = place.text("v.safetensors");
    output(&["embed", "--premises", LIBRARY, "--format", "safetensors", "--out", &tensors], b"");
    assert!(fs::metadata(&tensors).unwrap().len() > 49 * length as u64 * 4);
    let page = place.text("close.html");
    let command = ["neighbors", "!a b. a + b = b + a", "--premises", LIBRARY, "-k", "3", "--drawings", &page];
    let found = rows(&command, b"");
    assert_eq!((found.len(), found[0]["name"].as_str().unwrap()), (3, "ADD_COMM"));
    assert!(found[0]["similarity"].as_f64().unwrap() > 0.999_9);
    let page = fs::read_to_string(&page).unwrap();
    // Four graphs side by side, one legend, one style sheet, which has a dark theme, too.
    assert_eq!(page.matches("role=\"img\"").count(), 4);
    assert_eq!(page.matches("> function variable</li>").count(), 1);
    assert_eq!(page.matches("<style>").count(), 1);
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("display:grid"));
    let command = ["neighbors", "EVEN m <=> EVEN n", "--premises", LIBRARY, "-k", "1", "--subformulas"];
    let found = rows(&command, b"");
    assert_eq!(found[0]["name"], "EVEN_SUM");
}
