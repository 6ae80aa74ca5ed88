//! What `--format json` prints, which other programs rely on: to the last byte, but for digits that CPUs differ in.

mod common;

use common::formulanet;
use expect_test::{Expect, expect};
use formulanet::net::{Meeting, Storage};
use formulanet_testing::{Folder, numbers, rounded, tiny};

/// A folder with untrained models and a few statements.
struct Place(Folder);

const STATEMENTS: &str = "ADD_SYM: !m n. m + n = n + m\nMULT_0: !m. m * 0 = 0\nSTRANGE: !x. FROB x < BAR\n";

impl Place {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("small.hol", STATEMENTS);
        for (name, meeting) in [("ranks", Meeting::Towers), ("classifies", Meeting::Concat)] {
            tiny(meeting).save(&folder.path(name), Storage::F32).unwrap();
        }
        Place(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.text(name)
    }

    /// Runs a command, in which `@name` is a file of the folder.
    fn run(&self, command: &str, more: &[&str]) -> String {
        let words = command.split(' ').map(|word| match word.strip_prefix('@') {
            Some(name) => self.path(name),
            None => word.to_owned(),
        });
        let arguments: Vec<String> = words.chain(more.iter().map(|&word| word.to_owned())).collect();
        let run = formulanet(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), b"");
        assert_eq!(run.code, Some(0), "{command}\n{}", run.stderr);
        run.stdout
    }

    fn check(&self, command: &str, more: &[&str], expected: Expect) {
        let printed = self.run(command, more).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        expected.assert_eq(&rounded(&printed));
    }
}

#[test]
fn rank() {
    let place = Place::new();
    let command = "rank --premises @small.hol --model @ranks --precision f32 --format json";
    let conjecture = ["--conjecture", "!m n. m * n = n * m"];
    place.check(
        command,
        &conjecture,
        expect![[r#"
            {"rank":1,"name":"ADD_SYM","score":0.570,"probability":0.570,"statement":"!m n. m + n = n + m"}
            {"rank":2,"name":"MULT_0","score":0.565,"probability":0.565,"statement":"!m. m * 0 = 0"}
            {"rank":3,"name":"STRANGE","score":0.546,"probability":0.546,"statement":"!x. FROB x < BAR"}
        "#]],
    );
    place.check(
        command,
        &[&conjecture[..], &["-k", "2", "--explain"]].concat(),
        expect![[r#"
            {"rank":1,"name":"ADD_SYM","score":0.570,"probability":0.570,"statement":"!m n. m + n = n + m","shared_symbols":[],"unknown_symbols":[]}
            {"rank":2,"name":"MULT_0","score":0.565,"probability":0.565,"statement":"!m. m * 0 = 0","shared_symbols":["*"],"unknown_symbols":["_"]}
        "#]],
    );
    let command = "rank --premises @small.hol --model @classifies --precision f32 --format json";
    place.check(
        command,
        &conjecture,
        expect![[r#"
            {"rank":1,"name":"STRANGE","score":0.273,"probability":0.273,"statement":"!x. FROB x < BAR"}
            {"rank":2,"name":"MULT_0","score":0.237,"probability":0.237,"statement":"!m. m * 0 = 0"}
            {"rank":3,"name":"ADD_SYM","score":0.229,"probability":0.229,"statement":"!m n. m + n = n + m"}
        "#]],
    );
}

#[test]
fn select() {
    let place = Place::new();
    let command = "select fixtures/group.p -k 2 --model @ranks --precision f32";
    place.check(command, &["--format", "json"], expect![[r#"
        {"rank":1,"name":"associativity","score":0.910,"probability":0.910,"statement":"fof(associativity, axiom, ! [X, Y, Z] : m(m(X, Y), Z) = m(X, m(Y, Z)))."}
        {"rank":2,"name":"left_identity","score":0.748,"probability":0.748,"statement":"fof(left_identity, axiom, ! [X] : m(e, X) = X)."}
    "#]]);
    place.check(
        command,
        &["--format", "names"],
        expect![[r#"
        commutative:associativity left_identity
    "#]],
    );
    place.check(
        command,
        &[],
        expect![[r#"
        % 2 of 3 axioms, selected by formulanet VERSION
        fof(involution, hypothesis, ! [X] : m(X, X) = e).
        fof(associativity, axiom, ! [X, Y, Z] : m(m(X, Y), Z) = m(X, m(Y, Z))).
        fof(left_identity, axiom, ! [X] : m(e, X) = X).
        fof(commutative, conjecture, ! [X, Y] : m(X, Y) = m(Y, X)).
    "#]],
    );
}

#[test]
fn library() {
    let place = Place::new();
    place.run("library build @small.db @small.hol --model @ranks --precision f32", &[]);
    place.check(
        "library list @small.db --format json",
        &[],
        expect![[r#"
            {"name":"ADD_SYM","statement":"!m n. m + n = n + m","syntax":"hol","module":"small"}
            {"name":"MULT_0","statement":"!m. m * 0 = 0","syntax":"hol","module":"small"}
            {"name":"STRANGE","statement":"!x. FROB x < BAR","syntax":"hol","module":"small"}
        "#]],
    );
    let listed = place.run("library list @small.db --format json", &[]);
    std::fs::write(place.path("again.jsonl"), &listed).unwrap();
    place.run("library build @again.db @again.jsonl --model @ranks --precision f32", &[]);
    assert_eq!(place.run("library list @again.db --format json", &[]), listed);
}

#[test]
fn embed() {
    let place = Place::new();
    place.check("embed --model @ranks --precision f32 --format json", &["!x. x = x"], expect![[r#"
        {"name":"formula","vector":[0.000,0.327,0.188,0.326,0.238,0.463,0.000,0.000,0.271,0.767,0.584,0.487,0.066,0.000,0.724,0.107]}
    "#]]);
}

#[test]
fn neighbors() {
    let place = Place::new();
    let command = "neighbors --premises @small.hol --model @ranks --precision f32 --format json -k 2";
    place.check(
        command,
        &["!a b. a + b = b + a"],
        expect![[r#"
            {"rank":1,"name":"ADD_SYM","similarity":1.000,"formula":"|- (!m. (!n. ((m + n) = (n + m))))"}
            {"rank":2,"name":"STRANGE","similarity":0.948,"formula":"|- (!x. ((FROB x) < BAR))"}
        "#]],
    );
    place.check(
        command,
        &["!x. x < x", "--subformulas"],
        expect![[r#"
            {"rank":1,"name":"STRANGE","similarity":0.955,"formula":"|- (!x. ((FROB x) < BAR))"}
            {"rank":2,"name":"STRANGE","similarity":0.942,"formula":"|- ((FROB x) < BAR)"}
        "#]],
    );
}

#[test]
fn prepare_stats_and_eval() {
    let place = Place::new();
    let command = "prepare fixtures/sample --validation 1 --out @data --format json";
    place.check(command, &[], expect![[r#"
        {"format":2,"program":"VERSION","input":"sample","layout":"holstep","fingerprint":"c2090fe86702e9df8948fd435630b743","options":{"view":"graph","validation":{"number":1},"seed":0,"rename_variables":null,"labels":"training","keep_going":false,"limits":{"bytes":16777216,"depth":20000,"nodes":200000,"treelets":5000000}},"counts":{"conjectures":4,"pairs":10,"graphs":17,"statement_graphs":9,"nodes":129,"edges":158,"vocabulary":15,"premises":5,"dependencies":6,"ambiguous_premises":0,"skipped":0},"checksums":{"graphs.safetensors":"19f6aa034005854c","vocab.txt":"6b0927a16cc01282"}}
    "#]]);
    place.check("stats @data --format json", &[], expect![[r#"
        {"meta":{"checksums":{"graphs.safetensors":"19f6aa034005854c","meta.json":"e0f2e9bb97a011d7","vocab.txt":"6b0927a16cc01282"},"counts":{"ambiguous_premises":0,"conjectures":4,"dependencies":6,"edges":158,"graphs":17,"nodes":129,"pairs":10,"premises":5,"skipped":0,"statement_graphs":9,"vocabulary":15},"fingerprint":"c2090fe86702e9df8948fd435630b743","format":2,"input":"sample","layout":"holstep","options":{"keep_going":false,"labels":"training","limits":{"bytes":16777216,"depth":20000,"nodes":200000,"treelets":5000000},"rename_variables":null,"seed":0,"validation":{"number":1},"view":"graph"},"program":"VERSION"},"stats":{"both_labels":0.000,"conjecture_sizes":{"edges":{"histogram":[0,0,0,1,3],"max":13,"mean":8.750,"median":8,"percentile_99":13},"nodes":{"histogram":[0,0,0,2,2],"max":10,"mean":7.500,"median":7,"percentile_99":10},"treelets":{"histogram":[0,0,3,1],"max":5,"mean":3.250,"median":3,"percentile_99":5}},"conjectures":[2,1,1],"counts":{"ambiguous_premises":0,"conjectures":4,"dependencies":6,"edges":158,"graphs":17,"nodes":129,"pairs":10,"premises":5,"skipped":0,"statement_graphs":9,"vocabulary":15},"pairs":[6,2,2],"positives":[3,1,1],"statements":{"edges":{"histogram":[0,0,0,3,7],"max":14,"mean":9.300,"median":9,"percentile_99":14},"nodes":{"histogram":[0,0,0,5,5],"max":9,"mean":7.500,"median":7,"percentile_99":9},"treelets":{"histogram":[0,1,4,5],"max":7,"mean":3.600,"median":3,"percentile_99":7}},"tokens":75,"unknown":0.107,"validation_seen":0.500}}
    "#]]);
    let command = "eval --data @data --split all --precision f32 --format json";
    place.check(command, &["--model", &place.path("classifies")], expect![[r#"
        {"examples":10,"accuracy":0.500,"precision":0.000,"recall":0.000,"f1":0.000,"auc":0.480,"steps":[0.500,0.500,0.500],"vote":0.500,"log_loss":0.742,"confusion":{"true_positive":0,"false_positive":0,"true_negative":5,"false_negative":5},"ranking":{"queries":4,"recall_at":{"1":0.250,"2":0.875,"4":1.000,"8":1.000,"16":1.000,"32":1.000,"64":1.000},"full_recall_at":{"1":0.250,"2":0.750,"4":1.000,"8":1.000,"16":1.000,"32":1.000,"64":1.000},"mean_reciprocal_rank":0.625,"mean_average_precision":0.646},"calibration":{"bins":[{"from":0.000,"to":0.100,"count":0,"mean_score":null,"share_useful":null},{"from":0.100,"to":0.200,"count":0,"mean_score":null,"share_useful":null},{"from":0.200,"to":0.300,"count":1,"mean_score":0.292,"share_useful":0.000},{"from":0.300,"to":0.400,"count":8,"mean_score":0.349,"share_useful":0.625},{"from":0.400,"to":0.500,"count":1,"mean_score":0.417,"share_useful":0.000},{"from":0.500,"to":0.600,"count":0,"mean_score":null,"share_useful":null},{"from":0.600,"to":0.700,"count":0,"mean_score":null,"share_useful":null},{"from":0.700,"to":0.800,"count":0,"mean_score":null,"share_useful":null},{"from":0.800,"to":0.900,"count":0,"mean_score":null,"share_useful":null},{"from":0.900,"to":1.000,"count":0,"mean_score":null,"share_useful":null}],"expected_calibration_error":0.292,"brier_score":0.273}}
    "#]]);
    place.check(command, &["--model", &place.path("ranks")], expect![[r#"
        {"queries":4,"recall_at":{"1":0.125,"2":0.250,"4":0.750,"8":1.000,"16":1.000,"32":1.000,"64":1.000},"full_recall_at":{"1":0.000,"2":0.250,"4":0.750,"8":1.000,"16":1.000,"32":1.000,"64":1.000},"mean_reciprocal_rank":0.446,"mean_average_precision":0.467}
    "#]]);
}

/// What training prints depends on time and rounding, its form does not.
#[test]
fn train() {
    let place = Place::new();
    place.run("prepare fixtures/pairs.jsonl --validation 0.5 --out @data", &[]);
    let printed = place.run("train --data @data --out @run --dim 8 --batch 4 --epochs 1 --format json", &[]);
    let shape = |line: &str| numbers(line, |_| "0".to_owned());
    let last = printed.lines().last().map(shape).unwrap_or_default();
    expect![[r#"{"step":0,"pairs":0,"epoch":0,"seconds":0,"speed":0,"rate":0,"gradient":0,"loss":[0,0,0,0],"accuracy":[0,0,0,0],"validation":{"pairs":0,"accuracy":0,"loss":0,"steps":[0,0,0,0]}}"#]].assert_eq(&last);
}
