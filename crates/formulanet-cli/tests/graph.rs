//! `formulanet graph` from the outside.

mod common;

use std::fs;
use std::process::Command;

use common::{Run, formulanet};
use expect_test::{Expect, expect};
use formulanet_testing::{Folder, run_with};

fn check(arguments: &[&str], expected: Expect) {
    let run = formulanet(arguments, b"");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    expected.assert_eq(&run.stdout);
}

#[test]
fn json() {
    check(
        &["graph", "--format", "json", "!x. P x /\\ c", "--constants", "c"],
        expect![[r#"
            {"nodes":["|-","!","/\\","VARFUNC","VAR","c","!"],"edges":[[0,1],[1,2],[1,4],[2,3],[2,5],[3,4],[6,0],[6,3]],"treelets":3}
        "#]],
    );
    check(
        &["graph", "--format", "json", "--holstep", "fixtures/successor.holstep"],
        expect![[r#"
            {"nodes":["|-","!","~","=","SUC","VAR","NUMERAL","_"],"edges":[[0,1],[1,2],[1,5],[2,3],[3,4],[3,6],[4,5],[6,7]],"treelets":2,"name":"SUC_NOT_ZERO","role":"conjecture"}
            {"nodes":["|-","!","!","=","=","SUC","VAR","SUC","VAR","="],"edges":[[0,1],[1,2],[1,6],[2,3],[2,8],[3,4],[3,9],[4,5],[4,7],[5,6],[7,8],[9,6],[9,8]],"treelets":5,"name":"SUC_INJECTIVE","role":"dependency"}
            {"nodes":["|-","=","VAR","VAR","=","VARFUNC","VARFUNC","!","!","!"],"edges":[[0,1],[0,4],[1,2],[1,3],[4,5],[4,6],[5,2],[6,3],[7,0],[7,5],[7,6],[8,7],[8,3],[9,8],[9,2]],"treelets":8,"role":"useful"}
            {"nodes":["|-","=","\\","+","VAR","double"],"edges":[[0,1],[1,2],[1,5],[2,3],[2,4],[3,4],[3,4]],"treelets":3,"role":"useless"}
        "#]],
    );
    check(
        &["graph", "--format", "json", "--view", "dag", "--tptp", "fixtures/group.p"],
        expect![[r#"
            {"nodes":["|-","!","=","m","e","VAR"],"edges":[[0,1],[1,2],[1,5],[2,3],[2,5],[3,4],[3,5]],"treelets":3,"name":"left_identity","role":"axiom"}
            {"nodes":["|-","!","=","m","i","VAR","e"],"edges":[[0,1],[1,2],[1,5],[2,3],[2,6],[3,4],[3,5],[4,5]],"treelets":3,"name":"left_inverse","role":"axiom"}
            {"nodes":["|-","!","!","!","=","m","m","VAR","VAR","VAR","m","m"],"edges":[[0,1],[1,2],[1,7],[2,3],[2,8],[3,4],[3,9],[4,5],[4,10],[5,6],[5,9],[6,7],[6,8],[10,7],[10,11],[11,8],[11,9]],"treelets":8,"name":"associativity","role":"axiom"}
            {"nodes":["|-","!","=","m","VAR","e"],"edges":[[0,1],[1,2],[1,4],[2,3],[2,5],[3,4],[3,4]],"treelets":3,"name":"involution","role":"hypothesis"}
            {"nodes":["|-","!","!","=","m","VAR","VAR","m"],"edges":[[0,1],[1,2],[1,5],[2,3],[2,6],[3,4],[3,7],[4,5],[4,6],[7,6],[7,5]],"treelets":5,"name":"commutative","role":"conjecture"}
        "#]],
    );
}

#[test]
fn text() {
    check(
        &["graph", "x + &0 = x"],
        expect![[r#"
            |- (((real_add x) (real_of_num (NUMERAL _0))) = x)
            8 nodes, 9 edges, 3 treelets
                0  |-           -> 1
                1  =            -> 2 3
                2  real_add     -> 3 4
                3  VAR
                4  real_of_num  -> 5
                5  NUMERAL      -> 6
                6  _
                7  !            -> 0 3
        "#]],
    );
    check(
        &["graph", "--deepmath", "fixtures/order.deepmath", "--nth", "3"],
        expect![[r#"
            t2_order (useless)
            |- (~ ((r1_order k1_order) '0'))
            5 nodes, 4 edges, 1 treelets
                0  |-        -> 1
                1  ~         -> 2
                2  r1_order  -> 3 4
                3  k1_order
                4  0
        "#]],
    );
}

#[test]
fn dot() {
    let run = formulanet(&["graph", "--format", "dot", "P x"], b"");
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.starts_with("digraph") && run.stdout.contains("VARFUNC"));
}

#[test]
fn svg() {
    let run = formulanet(&["graph", "--format", "svg", "P x"], b"");
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.starts_with("<svg") && run.stdout.trim_end().ends_with("</svg>"));
    let several = formulanet(&["graph", "--format", "svg", "--tptp", "fixtures/group.p"], b"");
    fails(&several, "expected one statement to draw as SVG, found more; choose one with --nth N");
}

/// A small problem.
const PROBLEM: &str = "fof(rule, axiom, ! [X] : (p(X) => q(g(X), a))). fof(fact, axiom, p(a)).\n\
    fof(goal, conjecture, ? [Y] : q(g(a), Y)). fof(other, axiom, ~ p(g(a))).";

fn problem(text: &str, arguments: &[&str]) -> Run {
    formulanet(&[&["graph", "--problem", "-"][..], arguments].concat(), text.as_bytes())
}

#[test]
fn a_problem_is_one_graph() {
    let run = problem(PROBLEM, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        4 statements, 13 nodes, 15 edges, 4 symbols, 3 of them in the conjecture

        statement 0 is goal (conjecture)
        statement 1 is rule (axiom)
        statement 2 is fact (axiom)
        statement 3 is other (axiom)
        symbol q at 2 nodes
        symbol g at 2 nodes
        symbol a at 1 node
        symbol p at 3 nodes

        0 constant a
        1 function g first 0
        2 existential
        3 predicate q first 1 second 2
        4 exists binds 2 body 3
        5 universal
        6 predicate p first 5
        7 function g first 5
        8 predicate q first 7 second 0
        9 rule binds 5 guard 6 body 8
        10 predicate p first 0
        11 predicate p first 1
        12 not body ~11
        statement 0 root 4 nodes 0 1 2 3 4
        statement 1 root 9 nodes 0 5 6 7 8 9
        statement 2 root 10 nodes 0 10
        statement 3 root 12 nodes 0 1 11 12
    "#]]
    .assert_eq(&run.stdout);
    let run = problem(PROBLEM, &["--format", "json"]);
    expect![[r#"
        {"conjecture_symbols":3,"edges":[[1,0,"first",false],[3,1,"first",false],[3,2,"second",false],[4,2,"binds",false],[4,3,"body",false],[6,5,"first",false],[7,5,"first",false],[8,7,"first",false],[8,0,"second",false],[9,5,"binds",false],[9,6,"guard",false],[9,8,"body",false],[10,0,"first",false],[11,1,"first",false],[12,11,"body",true]],"names":["goal","rule","fact","other"],"nodes":["constant","function","existential","predicate","exists","universal","predicate","function","predicate","rule","predicate","predicate","not"],"statements":[{"nodes":[0,1,2,3,4],"root":4},{"nodes":[0,5,6,7,8,9],"root":9},{"nodes":[0,10],"root":10},{"nodes":[0,1,11,12],"root":12}],"symbol_names":["q","g","a","p"],"symbol_of":[2,1,null,0,null,null,3,1,0,null,3,3,null],"symbols":4}
    "#]].assert_eq(&run.stdout);
    for format in ["dot", "svg"] {
        let run = problem(PROBLEM, &["--format", format]);
        assert!(run.code == Some(0) && run.stdout.contains("goal") == (format == "svg"), "{}", run.stdout);
    }
}

#[test]
fn a_problem_without_names_is_the_same_whatever_the_names() {
    let renamed =
        PROBLEM.replace("p(", "zebra(").replace("q(", "ant(").replace("g(", "'<'(").replace("X", "Other");
    for format in ["text", "json", "dot", "svg"] {
        let arguments = ["--no-names", "--format", format];
        assert_eq!(problem(PROBLEM, &arguments).stdout, problem(&renamed, &arguments).stdout);
    }
}

#[test]
fn bad_problems() {
    fails(
        &problem("fof(a, axiom, p).", &[]),
        "-: expected a conjecture to select for, found none; give one the role `conjecture`",
    );
    fails(&problem("fof(a, conjecture, p(.", &[]), "-:1:22: expected a term, found `.`");
    for wrong in [&["--nth", "1"][..], &["--view", "dag"], &["--constants", "c"]] {
        assert_eq!(problem(PROBLEM, wrong).code, Some(2), "{wrong:?}");
    }
    assert_eq!(formulanet(&["graph", "--no-names", "p"], b"").code, Some(2));
    let many = "fof(a, axiom, p).\n".repeat(100_000) + "fof(a, conjecture, p).";
    let message = "-:100000:1: expected at most 100000 statements, found 100001 in the whole problem; give fewer or smaller \
                   statements";
    fails(&problem(&many, &[]), message);
}

#[test]
fn formulas_come_from_anywhere() {
    let expected = formulanet(&["graph", "p ==> q"], b"").stdout;
    assert_eq!(formulanet(&["graph", "-"], b"p ==>\n q\n").stdout, expected);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, "p (* why? *) ==> q").unwrap();
    let at = format!("@{}", file.path().display());
    assert_eq!(formulanet(&["graph", &at], b"").stdout, expected);
    let tptp = formulanet(&["graph", "--syntax", "tptp", "! [X] : (p(X) => q)"], b"").stdout;
    assert!(tptp.starts_with("|- (!X. ((p X) ==> q))\n"), "{tptp}");
    let negative = formulanet(&["graph", "--x = y"], b"");
    assert!(negative.stdout.starts_with("|- ((real_neg x) = y)\n"), "{}", negative.stderr);
}

#[test]
fn flags_decide_what_a_name_or_operator_is() {
    let first_line = |arguments: &[&str]| {
        let run = formulanet(arguments, b"");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(first_line(&["graph", "x + y", "--overload", "real"]), "|- ((real_add x) y)");
    let variables = formulanet(&["graph", "goal c", "--constants", "c", "--variables", "goal"], b"");
    assert!(variables.stdout.contains("VARFUNC  -> 2\n") && variables.stdout.contains("  c\n"));
}

/// A failed run says why in one line and leaves nothing on standard output.
#[track_caller]
fn fails(run: &Run, message: &str) {
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let (first, rest) = run.stderr.split_once('\n').unwrap_or_default();
    assert_eq!(first, format!("error: {message}"));
    // Behind it may come the line that it is about, with a mark under the place.
    let is_excerpt =
        rest.lines().count() == 2 && rest.lines().all(|line| line.contains(" | ")) && rest.ends_with("^\n");
    assert!(rest.is_empty() || is_excerpt, "{rest}");
}

#[test]
fn wrong_usage() {
    for arguments in [&["graph"][..], &["graph", "x", "--view", "cube"], &["grpah"], &["graph", "x", "y"]] {
        assert_eq!(formulanet(arguments, b"").code, Some(2), "{arguments:?}");
    }
    let nth = formulanet(&["graph", "--tptp", "fixtures/group.p", "--nth", "9"], b"");
    fails(&nth, "expected --nth to be from 1 to 5, the number of statements, found 9");
}

#[test]
fn bad_formulas() {
    let check =
        |formula: &str, message: &str| fails(&formulanet(&["graph", "-"], formula.as_bytes()), message);
    check("", "-:1:1: expected a term, found the end of the formula");
    check("(a", "-:1:3: expected an operator or `)`, found the end of the formula");
    check("a\n+ )", "-:2:3: expected a term, found `)`");
    check("a \0", "-:1:3: expected a term, found a NUL byte");
    check(
        &"(".repeat(1_000_000),
        "-:1:20001: expected at most 20000 nested terms, found more; raise the limit with --max-depth",
    );
    check(
        &format!("{}x{}", "(f ".repeat(300_000), ")".repeat(300_000)),
        "-:1:60001: expected at most 20000 nested terms, found more; raise the limit with --max-depth",
    );
    check(
        &format!("f{}", " x".repeat(300_000)),
        "-:1:400001: expected at most 200000 terms in a formula, found more; raise the limit with --max-nodes",
    );
    check(
        &format!("f{}", " x".repeat(10_000)),
        "formula:1:1: expected at most 5000000 treelets, found 49995002; raise the limit with --max-treelets",
    );
    let invalid = formulanet(&["graph", "-"], b"x = \xff");
    fails(&invalid, "-:1:5: expected UTF-8 text, found the byte 0xff");
    let limits = formulanet(&["graph", "((x))", "--max-depth", "1"], b"");
    fails(
        &limits,
        "formula:1:2: expected at most 1 nested terms, found more; raise the limit with --max-depth",
    );
    let huge = formulanet(&["graph", "-", "--max-bytes", "10"], &[b'x'; 100]);
    fails(&huge, "-: expected at most 10 bytes, found more");
    let missing = formulanet(&["graph", "@no/such/file"], b"");
    fails(&missing, "cannot read or write `no/such/file`: No such file or directory (os error 2)");
}

#[test]
fn bad_holstep_files() {
    let check = |file: &[u8], message: &str| {
        fails(&formulanet(&["graph", "--format", "json", "--holstep", "-"], file), message);
    };
    let expected = "expected the name of a conjecture, `N ` (is this a HolStep file?), found";
    check(b"", &format!("-:1:1: {expected} the end of the file"));
    check(b"\x89PNG\r\n", &format!("-:1:1: {expected} `\u{fffd}PNG`"));
    check(
        b"N a\nC |- (T = x)\nT c= cT\n",
        "-:3:3: expected tokens of the text above, with 2 constants and 1 variables, found 2 constants and 0 variables",
    );
    check(
        b"N a\nC |- ((T = x)\nT c= cT f0\n",
        "-:2:14: expected `)`, found the end of the line, with the `(` of column 4 open",
    );
    check(b"N a\nC |- T", "-:3:1: expected the tokens of the text above, `T `, found the end of the file");
    let long = [b"N a\nC |- ".as_slice(), &vec![b'('; 100 << 20]].concat();
    check(
        &long,
        "-:2:16777217: expected at most 16777216 bytes in a line, found more; raise the limit with --max-bytes",
    );
    fails(
        &formulanet(&["graph", "--holstep", "fixtures"], b""),
        "fixtures: expected a file, found a directory",
    );
}

#[test]
fn bad_tptp_problems() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| folder.write(name, text);
    let read = |file: &str| formulanet(&["graph", "--format", "json", "--tptp", file], b"");
    let a = write("a.p", "fof(a, axiom, p).\n  include('b.p').\n");
    let b = write("b.p", "include('a.p').\n");
    fails(
        &read(&a),
        &format!(
            "{b}:1:1: expected includes that do not form a cycle, found 'a.p', which includes this file"
        ),
    );
    let itself = write("self.p", "include('self.p').");
    assert!(read(&itself).stderr.contains("do not form a cycle"));
    let missing = write("missing.p", "include('nowhere.ax').");
    fails(
        &read(&missing),
        &format!(
            "{missing}:1:1: expected an include that exists next to this file or in the directory that $TPTP names, found 'nowhere.ax'"
        ),
    );
    let cut = write("cut.p", "fof(a, axiom, (p &");
    assert!(read(&cut).stderr.starts_with(&format!("error: {cut}:1:19: expected")), "{}", read(&cut).stderr);
    // Every file includes the next one twice: without a limit, 2^30 files.
    for i in 0..30 {
        write(&format!("d{i}.p"), &format!("include('d{0}.p').\ninclude('d{0}.p').\n", i + 1));
    }
    write("d30.p", "fof(a, axiom, p).");
    assert!(
        read(&folder.text("d0.p")).stderr.contains("expected at most 32 nested includes and 10000 files")
    );
}

#[test]
fn tptp_includes_are_found() {
    let folder = Folder::new();
    fs::create_dir(folder.path("Axioms")).unwrap();
    folder.write("Axioms/a.ax", "fof(a, axiom, p).\nfof(b, axiom, q).");
    let problem = b"include('Axioms/a.ax', [b]).\ncnf(c, negated_conjecture, ~ q).";
    let mut command = Command::new(env!("CARGO_BIN_EXE_formulanet"));
    command.args(["graph", "--format", "json", "--tptp", "-"]).env("TPTP", folder.root());
    let printed = run_with(&mut command, problem).output();
    let names: Vec<&str> = printed.lines().map(|l| l.split("\"name\":").nth(1).unwrap()).collect();
    assert_eq!(names, ["\"b\",\"role\":\"axiom\"}", "\"c\",\"role\":\"negated_conjecture\"}"]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::Stdio;
    let files = ["fixtures/successor.holstep"; 2000];
    let mut child = Command::new(env!("CARGO_BIN_EXE_formulanet"))
        .args(["graph", "--format", "json", "--holstep"])
        .args(files)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
