//! `prepare` on small data sets, whole and damaged.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use formulanet::logic::View;
use formulanet_testing::Folder;
use formulanet_train::dataset::{
    HoldOut, Options, Preparation, Prepared, ProblemOptions, Problems, Split, Stats, prepare,
};
use formulanet_train::{Error, Silent};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn options() -> Options {
    Options { validation: HoldOut::Number(1), ..Options::default() }
}

/// Prepares an input into a new folder.
fn run(input: &Path, output: &Path, options: &Options, threads: usize) -> Result<Preparation, Error> {
    prepare(input, output, None, options, threads, &Silent)
}

/// An input in a new folder, prepared.
fn prepared(input: &Path, options: &Options) -> (Folder, Prepared) {
    let folder = Folder::new();
    run(input, &folder.path("prepared"), options, 2).unwrap();
    let prepared = Prepared::open(&folder.path("prepared")).unwrap();
    prepared.verify().unwrap();
    (folder, prepared)
}

/// The contents of a prepared directory, in words.
fn describe(prepared: &Prepared) -> Vec<String> {
    let mut lines = Vec::new();
    for conjecture in prepared.conjectures() {
        let names: Vec<&str> =
            conjecture.dependencies.iter().map(|&premise| prepared.premise(premise as usize).name).collect();
        let labels: Vec<bool> = conjecture.pairs.clone().map(|number| prepared.pair(number).useful).collect();
        let split = if conjecture.split == Split::Test { "test" } else { "train" };
        lines.push(format!("{} {split} {labels:?} {}", conjecture.name, names.join(" ")));
    }
    lines
}

#[test]
fn holstep() {
    let (_folder, prepared) = prepared(&fixture("sample"), &options());
    assert_eq!(
        describe(&prepared),
        [
            "MULT_ZERO test [true, false] ADD_ZERO",
            "ADD_ZERO train [true, true, false, false] ADD_BASE ADD_COMM",
            "SUC_MONO train [true, false] ADD_COMM LT_SUC",
            "EVERY_SET_IN_UNIV train [true, false] IN_UNIV",
        ]
    );
    assert_eq!(prepared.conjecture(1).file, "train/00001");
    let counts = prepared.meta().counts;
    assert_eq!((counts.conjectures, counts.pairs, counts.premises, counts.dependencies), (4, 10, 5, 6));
    // `SUC n = SUC n` and `SUC k = SUC k` are one graph; so are the conjecture ADD_ZERO and the theorem.
    assert_eq!(counts.statement_graphs, 9);
    assert_eq!(prepared.conjecture(1).graph, prepared.premise(0).graph);
    assert_eq!(counts.ambiguous_premises, 0);
    let stats = Stats::of(&prepared);
    assert_eq!((stats.conjectures, stats.pairs[2], stats.positives[2]), ([2, 1, 1], 2, 1));
    assert!(stats.unknown > 0.0, "`*` stands in the test split alone");
}

#[test]
fn the_vocabulary_is_that_of_training() {
    let validation = HoldOut::Names(vec!["EVERY_SET_IN_UNIV".into()]);
    let (_folder, prepared) = prepared(&fixture("sample"), &Options { validation, ..options() });
    assert_eq!(prepared.conjecture(3).split, Split::Validation);
    let vocabulary = prepared.vocabulary();
    assert_eq!(vocabulary[..3], ["VAR", "VARFUNC", "UNKNOWN"]);
    for label in ["SUC", "+", "<", "|-", "!"] {
        assert!(vocabulary.iter().any(|known| known == label), "{label}");
    }
    for label in ["*", "SUBSET", "UNIV", "IN"] {
        assert!(!vocabulary.iter().any(|known| known == label), "{label}");
    }
    assert!(prepared.graph(prepared.conjecture(3).graph).tokens.contains(&2));
}

#[test]
fn deepmath_and_json_lines() {
    let (_folder, mizar) = prepared(&fixture("order.deepmath"), &options());
    assert_eq!(describe(&mizar), ["t1_order train [true, false] d1_order"]);
    assert_eq!(mizar.meta().counts.premises, 3);
    let (_folder, pairs) = prepared(&fixture("pairs.jsonl"), &options());
    assert_eq!(
        describe(&pairs),
        [
            "!x:real. x + &0 = x train [true, true, false, false] REAL_ADD_LID REAL_ADD_SYM",
            "! [X] : (p(X) => q(X)) train [true] all_q",
        ]
    );
}

/// An archive with the given files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        // Not `append_data`, which refuses names that lead out of the archive.
        let bytes = name.as_bytes();
        header.as_old_mut().name[..bytes.len()].copy_from_slice(bytes);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn sample_tar() -> Vec<u8> {
    let names = ["test/00001", "train/00001", "train/00002", "train/00003"];
    let files: Vec<Vec<u8>> =
        names.iter().map(|name| fs::read(fixture("sample").join(name)).unwrap()).collect();
    let entries: Vec<(&str, &[u8])> = names.into_iter().zip(files.iter().map(Vec::as_slice)).collect();
    tar(&entries)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archives_of_every_kind_and_any_number_of_threads_give_the_same_arrays() {
    let directory = tempfile::tempdir().unwrap();
    let archive = sample_tar();
    let inputs = [
        ("sample.tar", archive.clone()),
        ("sample.tgz", gzip(&archive)),
        ("sample.tar.zst", zstd::encode_all(archive.as_slice(), 3).unwrap()),
    ];
    let arrays = |output: &Path| {
        let files = ["graphs.safetensors", "vocab.txt"];
        files.map(|name| fs::read(output.join(name)).unwrap())
    };
    let expected_output = directory.path().join("expected");
    run(&fixture("sample"), &expected_output, &options(), 1).unwrap();
    let expected = arrays(&expected_output);
    for (name, bytes) in inputs {
        let input = directory.path().join(name);
        fs::write(&input, bytes).unwrap();
        let mut descriptions = Vec::new();
        for threads in [1, 2, 3, 8] {
            let output = directory.path().join(format!("{name}-{threads}"));
            run(&input, &output, &options(), threads).unwrap();
            assert!(arrays(&output) == expected, "{name} with {threads} threads");
            descriptions.push(fs::read(output.join("meta.json")).unwrap());
        }
        descriptions.dedup();
        assert_eq!(descriptions.len(), 1);
    }
}

#[test]
fn the_same_folder_is_not_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("prepared");
    assert!(matches!(run(&fixture("sample"), &output, &options(), 1).unwrap(), Preparation::Written(..)));
    assert!(matches!(run(&fixture("sample"), &output, &options(), 2).unwrap(), Preparation::AlreadyThere(_)));
    let other = Options { seed: 1, ..options() };
    let message = run(&fixture("sample"), &output, &other, 1).unwrap_err().to_string();
    assert!(message.ends_with("with other options; remove it or choose another"), "{message}");
    let message = run(&fixture("sample"), &fixture("sample"), &options(), 1).unwrap_err().to_string();
    assert!(
        message.ends_with("expected a new or empty folder, found something else; choose another"),
        "{message}"
    );
}

/// Prepares bytes as a file and expects it to fail without leaving files.
#[track_caller]
fn check_error(name: &str, bytes: &[u8], expected: &str) {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join(name);
    fs::write(&input, bytes).unwrap();
    let output = directory.path().join("prepared");
    let error = run(&input, &output, &options(), 2).expect_err("damaged input").to_string();
    let shown = error.replace(&directory.path().display().to_string(), "DIR");
    assert!(shown.contains(expected), "found {shown}\nexpected {expected}");
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, [name]);
}

#[test]
fn damaged_archives() {
    let archive = sample_tar();
    check_error("cut.tar", &archive[..700], "DIR/cut.tar: ");
    let zstd = zstd::encode_all(archive.as_slice(), 3).unwrap();
    for end in [20, zstd.len() / 2, zstd.len() - 5] {
        check_error("cut.tar.zst", &zstd[..end], "`DIR/cut.tar.zst");
    }
    let gzip = gzip(&archive);
    for end in [15, gzip.len() / 2, gzip.len() - 9] {
        check_error("cut.tgz", &gzip[..end], "`DIR/cut.tgz");
    }
    let file: &[u8] = b"N a\nC |- T\nT cT\n+ |- T\nT cT\n";
    check_error("outside.tar", &tar(&[("../a", file)]), "expected paths inside the archive, found `../a`");
    check_error(
        "outside.tar",
        &tar(&[("/etc/a", file)]),
        "expected paths inside the archive, found `/etc/a`",
    );
    check_error("twice.tar", &tar(&[("a", file), ("a", file)]), "expected each file once, found `a` again");
    let mixed = tar(&[("a", file), ("b", b"C fof(a,axiom,p).\n")]);
    check_error("mixed.tar", &mixed, "b: expected a holstep file as the others are");
    check_error("other.tar", &tar(&[("a", b"hello")]), "found none of them in `a`");
    check_error("empty.tar", &tar(&[]), "expected");
    check_error("empty", b"", "found none of them in");
}

#[test]
fn damaged_statements_name_their_place() {
    let bad: &[u8] = b"N a\nC |- T\nT cT\n+ |- (T\nT cT\n- |- F\nT cF\n";
    check_error("bad.tar", &tar(&[("train/1", bad)]), "train/1:4:8: expected `)`, found the end of the line");
    check_error("bad", bad, "DIR/bad:4:8: expected `)`");
    let deep = "(".repeat(30_000);
    check_error(
        "deep",
        format!("N a\nC |- {deep}\nT \n").as_bytes(),
        "expected at most 20000 nested brackets",
    );
    check_error("mizar", b"C fof(a,axiom,p).\n+ fof(b,axiom,(p).\n", "DIR/mizar:2:18: expected");
    check_error(
        "lines.jsonl",
        b"{\"conjecture\": \"p\"}\n",
        "DIR/lines.jsonl:1:19: expected {\"conjecture\"",
    );
    check_error(
        "lines.jsonl",
        b"\n{\"conjecture\": \"p\", \"statement\": \"(q\", \"useful\": true}\n",
        "DIR/lines.jsonl:2: in the statement, 1:3: expected an operator or `)`, found the end of the formula",
    );
}

#[test]
fn keep_going_leaves_out_what_is_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let good: &[u8] = b"N a\nC |- T\nT cT\n+ |- T\nT cT\n";
    let bad: &[u8] = b"N b\nC |- T\nT cT\n+ |- (T\nT cT\n- |- F\nT cF\n+ |- T";
    let archive = tar(&[("1", good), ("2", bad), ("3", b"N c\nC |- ("), ("4", b"hello")]);
    let input = directory.path().join("data.tar");
    fs::write(&input, archive).unwrap();
    let output = directory.path().join("prepared");
    let options = Options { keep_going: true, validation: HoldOut::Number(0), ..Options::default() };
    let Preparation::Written(meta, skipped) = run(&input, &output, &options, 2).unwrap() else { panic!() };
    assert_eq!((meta.counts.conjectures, meta.counts.pairs, meta.counts.skipped), (2, 2, 4));
    let places: Vec<&str> =
        skipped.first.iter().map(|message| message.split(" expected").next().unwrap()).collect();
    assert_eq!(places, ["2:4:8:", "2:9:1:", "3:3:1:", "4:"]);
}

/// One damaged statement costs itself, and a damaged conjecture what belongs to it; the number says so.
#[test]
fn keep_going_goes_on_at_the_next_statement() {
    let prepared_from = |text: String| {
        let directory = tempfile::tempdir().unwrap();
        let (input, output) = (directory.path().join("data"), directory.path().join("prepared"));
        let other = text.chars().next().filter(|mark| *mark == 'N').map(|_| "N a\nC |- T\nT cT\n");
        let files = [("1", text.as_bytes()), ("2", other.unwrap_or("C fof(a,axiom,p).\n").as_bytes())];
        fs::write(&input, tar(&files)).unwrap();
        let options = Options { keep_going: true, validation: HoldOut::Number(0), ..Options::default() };
        let Preparation::Written(meta, skipped) = run(&input, &output, &options, 2).unwrap() else {
            panic!()
        };
        assert_eq!(meta.counts.skipped, skipped.count);
        (meta.counts.conjectures, meta.counts.pairs, skipped.count)
    };
    let steps: String = (0..50).map(|i| format!("+ |- (f{i} = a)\nT c= cf{i} ca\n")).collect();
    let whole = format!("N b\nC |- T\nT cT\n{steps}");
    assert_eq!(prepared_from(whole.clone()), (2, 50, 0));
    assert_eq!(prepared_from(whole.replace("+ |- (f7 ", "? |- (f7 ")), (2, 49, 1));
    assert_eq!(prepared_from(whole.replace("T c= cf7 ca\n", "")), (2, 49, 1));
    assert_eq!(prepared_from(whole.replace("T c= cf49 ca\n", "")), (2, 49, 1));
    let without = whole.replace("C |- T", "C |- (T");
    assert_eq!(prepared_from(format!("{without}\n")), (1, 0, 51));
    let premises: String = (0..50).map(|i| format!("+ fof(p{i},axiom,p({i})).\n")).collect();
    let two = format!("C fof(a,axiom,p).\n{premises}C fof(b,axiom,q).\n{premises}");
    assert_eq!(prepared_from(two.clone()), (3, 100, 0));
    assert_eq!(prepared_from(two.replacen("p(7)", "p((7)", 1)), (3, 99, 1));
    // The premises of a conjecture that cannot be read are not those of the one before.
    assert_eq!(prepared_from(two.replace("C fof(b,axiom,q)", "C fof(b,axiom,(q)")), (2, 50, 51));
}

#[test]
fn damaged_folders_are_refused() {
    let (folder, _) = prepared(&fixture("sample"), &options());
    let read = |name: &str| folder.bytes(&format!("prepared/{name}"));
    let [whole, meta, vocabulary] = ["graphs.safetensors", "meta.json", "vocab.txt"].map(read);
    let open = || Prepared::open(&folder.path("prepared"));
    // With a file changed, the folder is refused.
    let check = |name: &str, bytes: &[u8], expected: &str| {
        folder.write(&format!("prepared/{name}"), bytes);
        let message = open().err().expect("refused").to_string();
        assert!(message.contains(expected), "{message}");
    };
    for end in (0..whole.len()).step_by(37) {
        check("graphs.safetensors", &whole[..end], "graphs.safetensors: ");
    }
    folder.write("prepared/graphs.safetensors", &whole);
    check("vocab.txt", &vocabulary[..vocabulary.len() / 2], "vocab.txt: expected the file that was written");
    folder.write("prepared/vocab.txt", &vocabulary);
    let other = String::from_utf8(meta.clone()).unwrap().replace("\"format\": 2", "\"format\": 7");
    check("meta.json", other.as_bytes(), "expected a folder of format 2, found 7");
    check("meta.json", &meta[..40], "expected the description of a prepared folder");
    fs::remove_file(folder.path("prepared/meta.json")).unwrap();
    assert!(matches!(open(), Err(Error::NotPrepared(_))));
    folder.write("prepared/meta.json", &meta);
    assert!(open().is_ok());
}

/// Not only a cut: no changed byte goes unnoticed, but for those of a description that mean nothing, such as blanks.
#[test]
fn a_changed_byte_is_noticed_in_every_file() {
    let (folder, before) = prepared(&fixture("sample"), &Options { together: true, ..options() });
    let open = || -> Result<Prepared, Error> {
        Problems::open(&folder.path("prepared"), &ProblemOptions::default(), &Silent)?;
        Prepared::open(&folder.path("prepared"))
    };
    open().unwrap();
    for name in ["meta.json", "vocab.txt", "graphs.safetensors", "problems.safetensors", "symbols.txt"] {
        let place = format!("prepared/{name}");
        let whole = folder.bytes(&place);
        for at in (0..whole.len()).step_by(whole.len() / 50 + 1) {
            let mut other = whole.clone();
            other[at] ^= 1;
            folder.write(&place, &other);
            let means_nothing =
                |now: Prepared| name == "meta.json" && now.meta().options == before.meta().options;
            assert!(open().map_or(true, means_nothing), "byte {at} of {name}");
        }
        folder.write(&place, &whole);
    }
    open().unwrap();
}

/// Folders of the format before, without checksums, are still read.
#[test]
fn older_folders_are_read() {
    let (folder, before) = prepared(&fixture("sample"), &options());
    let text = String::from_utf8(folder.bytes("prepared/meta.json")).unwrap();
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    older.as_object_mut().unwrap().remove("checksums").unwrap();
    folder.write("prepared/meta.json", older.to_string());
    assert!(Prepared::open(&folder.path("prepared")).is_err(), "this format has checksums");
    older["format"] = 1.into();
    folder.write("prepared/meta.json", older.to_string());
    assert_eq!(Prepared::open(&folder.path("prepared")).unwrap().meta().counts, before.meta().counts);
}

#[test]
fn renaming_changes_names_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let prepared = |name: &str, view: View, rename: Option<u64>| {
        let output = directory.path().join(name);
        run(&fixture("sample"), &output, &Options { view, rename_variables: rename, ..options() }, 1)
            .unwrap();
        fs::read(output.join("graphs.safetensors")).unwrap()
    };
    assert!(prepared("a", View::Graph, None) == prepared("b", View::Graph, Some(1)));
    assert!(prepared("c", View::Dag, None) == prepared("d", View::Dag, Some(1)));
    let with_names = prepared("e", View::GraphNames, None);
    assert!(with_names != prepared("f", View::GraphNames, Some(1)));
    assert!(prepared("g", View::GraphNames, Some(2)) != prepared("h", View::GraphNames, Some(1)));
    assert!(prepared("i", View::GraphNames, Some(2)) == prepared("j", View::GraphNames, Some(2)));
}

/// The facts that are known of the real data, where it is at hand. All of HolStep takes a while without
/// optimisation, so the Mizar data stands for both.
#[test]
fn real_data() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/deepmath-train.tar.zst");
    if !archive.is_file() {
        // Past the harness, which shows what a test prints only if it fails.
        let _ = writeln!(std::io::stderr(), "skipped: {} is not there", archive.display());
        return;
    }
    let (_folder, prepared) = prepared(&archive, &Options::default());
    let counts = prepared.meta().counts;
    assert_eq!((counts.conjectures, counts.pairs), (28_058, 456_282));
    assert_eq!(prepared.of_split(Split::Validation).count(), 700);
}
