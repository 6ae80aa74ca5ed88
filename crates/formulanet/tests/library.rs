//! Libraries with more statements than are written or read at once.

use std::path::Path;
use std::sync::Arc;

use formulanet::analyze::{AnalyzedStatement, Analyzer};
use formulanet::corpus::{LibrarySnapshot, VectorColumn};
use formulanet::engine::Model;
use formulanet::library::{Added, Change};
use formulanet::net::{Compute, Meeting, Precision};
use formulanet::read::{Proof, Source};
use formulanet::retrieve::VectorRetriever;
use formulanet::{
    Corpus, Duplicates, Engine, Goal, Language, Library, Policy, Query, Rerank, Residency, Statement,
};
use formulanet_testing::{Folder, tiny};

const MANY: usize = 9000;

fn retriever() -> VectorRetriever {
    VectorRetriever::new(tiny(Meeting::Towers), Compute::new(Precision::F32, 2)).unwrap()
}

fn premises(
    retriever: &VectorRetriever,
    statements: impl IntoIterator<Item = (String, String)>,
) -> Vec<AnalyzedStatement> {
    let mut analyzer = Analyzer::new(retriever);
    statements
        .into_iter()
        .map(|(name, text)| analyzer.analyze(&name, &text, Language::Hol).unwrap())
        .collect()
}

fn many(retriever: &VectorRetriever) -> Vec<AnalyzedStatement> {
    let statement = |i: usize| (format!("N{i}"), format!("!x. x + {} < {} * x", i % 9, i % 7));
    premises(retriever, (0..MANY).map(statement))
}

/// All statements, their rows, and how many came at once.
fn all(library: &Library) -> (Vec<Statement>, VectorColumn, Vec<usize>) {
    let mut counts = Vec::new();
    library
        .scan(|part, rows| {
            assert_eq!(part.len(), rows.len());
            counts.push(part.len());
            Ok(())
        })
        .unwrap();
    let shelf = library.load().unwrap();
    let statements = shelf.entries.into_iter().map(|entry| entry.statement).collect();
    (statements, shelf.rows, counts)
}

fn add(
    library: &mut Library,
    premises: impl IntoIterator<Item = AnalyzedStatement>,
    retriever: &VectorRetriever,
) -> Added {
    let mut addition = library.writer(retriever).unwrap();
    premises.into_iter().for_each(|premise| addition.push(premise).unwrap());
    addition.commit().unwrap()
}

#[test]
fn many_statements_come_back_as_they_were() {
    let retriever = retriever();
    let mut library = Library::in_memory(&retriever).unwrap();
    assert_eq!(all(&library), (Vec::new(), VectorColumn::new(retriever.width()), Vec::new()));
    let premises = many(&retriever);
    let added = add(&mut library, premises.clone(), &retriever);
    assert_eq!(added, Added { new: MANY, ..Added::default() });
    let (entries, rows, counts) = all(&library);
    assert_eq!(counts, [4096, 4096, MANY - 2 * 4096]);
    let is_same = |(entry, premise): (&Statement, &AnalyzedStatement)| {
        (&entry.name, &entry.text, entry.language) == (&premise.name, &premise.text, premise.language)
    };
    assert!(entries.len() == MANY && entries.iter().zip(&premises).all(is_same));
    let named: Vec<_> = premises.iter().map(AnalyzedStatement::named).collect();
    assert!(rows == retriever.rows(&named));
    assert_eq!(library.verify(&retriever).unwrap(), MANY);
    assert_eq!(library.remove(&["N1*".into(), "N20".into()]).unwrap(), 1 + 1111);
    assert_eq!(library.count().unwrap(), MANY - 1112);
}

#[test]
fn of_a_name_the_last_counts() {
    let retriever = retriever();
    let mut library = Library::in_memory(&retriever).unwrap();
    let mut check = |statements: &[(&str, &str)], expected: Added, text: &str| {
        let owned = statements.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(add(&mut library, premises(&retriever, owned), &retriever), expected, "{statements:?}");
        assert_eq!(library.statement("a").unwrap().text, text);
        library.verify(&retriever).unwrap();
    };
    let added = |new, replaced, same, repeated| Added { new, replaced, same, repeated, ..Added::default() };
    check(&[("a", "x = y"), ("b", "x < y"), ("a", "x = x")], added(2, 0, 0, 1), "x = x");
    check(&[("a", "x = x")], added(0, 0, 1, 0), "x = x");
    check(&[("a", "x = y"), ("a", "x = x")], added(0, 0, 1, 1), "x = x");
    check(&[("a", "x = x"), ("a", "x < x"), ("b", "x < y")], added(0, 1, 1, 1), "x < x");
    // Far apart, so that the first has been written when the second comes.
    let far =
        many(&retriever).into_iter().chain(premises(&retriever, [("N0".to_owned(), "x = x".to_owned())]));
    assert_eq!(add(&mut library, far, &retriever), added(MANY, 0, 0, 1));
    assert_eq!(library.statement("N0").unwrap().text, "x = x");
}

#[test]
fn what_is_not_committed_does_not_get_in() {
    let retriever = retriever();
    let mut library = Library::in_memory(&retriever).unwrap();
    let mut addition = library.writer(&retriever).unwrap();
    for premise in many(&retriever) {
        addition.push(premise).unwrap();
    }
    drop(addition);
    assert_eq!(library.count().unwrap(), 0);
    assert_eq!(add(&mut library, many(&retriever), &retriever).new, MANY);
}

/// Two that build a library at the same place: the second must not lose what the first has made and others have added.
#[test]
fn a_library_that_was_made_meanwhile_is_kept() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("one.db");
    let statement = |name: &str| premises(&retriever, [(name.to_owned(), "x = x".to_owned())]).remove(0);
    let late = Library::build(&path, &retriever, "tiny", |addition| {
        Library::build(&path, &retriever, "tiny", |addition| addition.push(statement("early")))?;
        addition.push(statement("late"))
    });
    assert!(matches!(late, Err(formulanet::Error::Exists { .. })));
    let names = Library::open(&path).unwrap().statements().unwrap();
    assert_eq!(names.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["early"]);
    assert_eq!(std::fs::read_dir(folder.root()).unwrap().count(), 1);
}

const THEORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/theory.jsonl");

fn proof(name: &str, used: &str) -> Proof {
    let used = used.split_whitespace().map(str::to_owned).collect();
    Proof { name: name.to_owned(), used, place: "here:1".to_owned() }
}

/// A library of the fixture's facts, proofs included.
fn theory(path: &Path, retriever: &VectorRetriever) -> Library {
    let mut analyzer = Analyzer::new(retriever);
    let read = analyzer.read(Source::open(THEORY).unwrap()).unwrap();
    let premises: Vec<AnalyzedStatement> = read.map(Result::unwrap).collect();
    let fill = |addition: &mut formulanet::library::LibraryWriter<'_>| {
        premises.into_iter().try_for_each(|premise| addition.push(premise))
    };
    let added = Library::build(path, retriever, "tiny", fill).unwrap();
    assert_eq!((added.new, added.proofs, added.warnings.report()), (36, 22, None));
    Library::open(path).unwrap()
}

/// An engine with the tiny model.
fn engine() -> Engine {
    let engine = Engine::builder().precision(Precision::F32).threads(2).build().unwrap();
    engine.with_model(Arc::new(Model::new("tiny", retriever())))
}

/// The names of the best statements, as one stage ranks them.
fn best(engine: &Engine, corpus: &Corpus, query: Query) -> Result<Vec<String>, String> {
    let query = query.k(usize::MAX).policy(Policy::default().rerank(Rerank::Off));
    let ranking = engine.rank(corpus, &query).map_err(|error| error.to_string())?;
    Ok(ranking.hits.into_iter().map(|hit| hit.statement.name).collect())
}

#[test]
fn proofs_are_kept_and_taken_back() {
    let (folder, retriever) = (Folder::new(), retriever());
    let mut library = theory(&folder.path("theory.db"), &retriever);
    let check = |library: &Library, name: &str, expected: &[&str]| {
        let found: Vec<String> = library.proofs_of(name).unwrap().iter().map(|used| used.join(" ")).collect();
        assert_eq!(found, expected, "{name}");
    };
    check(&library, "plus_left_comm", &["plus_assoc plus_comm"]);
    // A second proof, the same again in another order, one of a statement that is not there.
    let more = [
        proof("plus_left_comm", "plus_zero nowhere plus_zero"),
        proof("plus_left_comm", "plus_comm plus_assoc"),
        proof("gone", "plus_zero"),
    ];
    let learnt = library.learn(&more, false).unwrap();
    assert_eq!((learnt.new, learnt.same, learnt.of_unknown, learnt.warnings.unknown), (1, 1, 1, 1));
    check(&library, "plus_left_comm", &["plus_assoc plus_comm", "nowhere plus_zero"]);
    assert_eq!(library.proof_count().unwrap(), 23);
    // Itself, and what comes later.
    let odd = [proof("plus_comm", "plus_comm plus_assoc plus_zero")];
    let error = library.learn(&odd, true).unwrap_err().to_string();
    assert_eq!(error, "here:1: expected earlier facts, but the proof of `plus_comm` uses `plus_comm`");
    assert_eq!(library.proof_count().unwrap(), 23, "what is refused is not kept");
    let oddities = library.learn(&odd, false).unwrap().warnings;
    assert_eq!((oddities.circular, oddities.later, oddities.unknown), (1, 1, 0));
    assert_eq!(library.forget("plus_left_comm", true).unwrap(), 1);
    check(&library, "plus_left_comm", &["plus_assoc plus_comm"]);
    assert_eq!(
        (library.forget("plus_left_comm", false).unwrap(), library.forget("gone", false).unwrap()),
        (1, 0)
    );
    // What was said of a statement does not hold for another of its name.
    add(&mut library, premises(&retriever, [("rev_rev".to_owned(), "!x. x = x".to_owned())]), &retriever);
    check(&library, "rev_rev", &[]);
    library.remove(&["append_*".to_owned()]).unwrap();
    check(&library, "append_assoc", &[]);
    library.verify(&retriever).unwrap();
}

#[test]
fn the_next_question_knows_a_proof() {
    let (folder, engine) = (Folder::new(), engine());
    let path = folder.path("theory.db");
    let mut library = theory(&path, &retriever());
    let place = |name: &str| {
        let corpus = engine.corpus().library(&path, Residency::Streamed).build().unwrap();
        let found = best(&engine, &corpus, Query::new("!m. times m (suc (suc zero)) = plus m m")).unwrap();
        found.iter().position(|other| other == name).unwrap()
    };
    let before = place("suc_not_zero");
    for name in ["times_suc_right", "times_comm", "plus_comm", "times_zero_right"] {
        library.learn(&[proof(name, "suc_not_zero")], true).unwrap();
    }
    assert!(place("suc_not_zero") < before, "{before}");
}

#[test]
fn what_may_not_be_used_is_left_out() {
    let (folder, engine) = (Folder::new(), engine());
    let path = folder.path("theory.db");
    drop(theory(&path, &retriever()));
    let corpora = [Residency::Streamed, Residency::Held]
        .map(|residency| engine.corpus().library(&path, residency).build().unwrap());
    let check = |query: Query, expected: Result<(usize, &[&str], &[&str]), &str>| {
        for corpus in &corpora {
            match (best(&engine, corpus, query.clone()), expected) {
                (Ok(found), Ok((count, with, without))) => {
                    assert_eq!(found.len(), count, "{found:?}");
                    assert!(with.iter().all(|name| found.iter().any(|other| other == name)), "{found:?}");
                    assert!(!without.iter().any(|name| found.iter().any(|other| other == name)), "{found:?}");
                }
                (found, expected) => {
                    let error = found.unwrap_err();
                    assert!(error.contains(expected.unwrap_err()), "{error}");
                }
            }
        }
    };
    let goal = || Query::new("!a b. plus a b = plus b a");
    check(goal(), Ok((35, &["plus_assoc"], &["plus_comm"])));
    check(goal().duplicates(Duplicates::Keep), Ok((36, &["plus_comm"], &[])));
    check(goal().before("plus_comm"), Ok((9, &["plus_zero"], &["plus_comm"])));
    check(Query::new(Goal::Stored("plus_comm".into())), Ok((9, &["plus_zero"], &["plus_comm"])));
    check(goal().before("nobody"), Err("`nobody`"));
    check(goal().before("plus_zero"), Ok((0, &[], &[])));
    check(goal().modules(vec!["theor*".into()]), Ok((35, &[], &[])));
    check(goal().modules(vec!["lists".into()]), Ok((0, &[], &[])));
}

/// The change since a state, by its name.
fn news(reader: &Library, shelf: &LibrarySnapshot) -> &'static str {
    match reader.changes_since(shelf.generation(), shelf.learned.is_some()).unwrap() {
        Change::None => "none",
        Change::Appended(_) => "appended",
        Change::Rewritten => "rewritten",
    }
}

/// Adds what was appended.
fn read_on(reader: &Library, shelf: &mut LibrarySnapshot) {
    match reader.changes_since(shelf.generation(), shelf.learned.is_some()).unwrap() {
        Change::Appended(additions) => assert!(shelf.append(*additions)),
        _ => panic!("expected additions"),
    }
}

#[test]
fn who_has_read_a_library_sees_what_is_new() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("one.db");
    let statement =
        |name: &str, text: &str| premises(&retriever, [(name.to_owned(), text.to_owned())]).remove(0);
    Library::build(&path, &retriever, "tiny", |addition| addition.push(statement("a", "f x = x"))).unwrap();
    let (reader, mut writer) = (Library::open(&path).unwrap(), Library::open(&path).unwrap());
    let mut shelf = reader.load().unwrap();
    let version = reader.version().unwrap();
    assert_eq!((reader.version().unwrap(), news(&reader, &shelf)), (version, "none"));
    add(&mut writer, [statement("b", "f (f x) = x")], &retriever);
    assert!(reader.version().unwrap() != version);
    assert_eq!(news(&reader, &shelf), "appended");
    read_on(&reader, &mut shelf);
    assert_eq!((shelf.entries.len(), shelf.rows.len(), news(&reader, &shelf)), (2, 2, "none"));
    writer.learn(&[proof("b", "a")], true).unwrap();
    assert_eq!(news(&reader, &shelf), "appended");
    read_on(&reader, &mut shelf);
    add(&mut writer, [statement("c", "f (f (f x)) = x")], &retriever);
    writer.learn(&[proof("c", "a b")], true).unwrap();
    assert_eq!(news(&reader, &shelf), "appended");
    read_on(&reader, &mut shelf);
    let proofs = |shelf: &LibrarySnapshot| shelf.learned.as_ref().unwrap().index().proof_count();
    assert_eq!((shelf.entries.len(), proofs(&shelf)), (3, 2));
    writer.forget("c", false).unwrap();
    assert_eq!(news(&reader, &shelf), "rewritten");
    assert_eq!(proofs(&reader.load().unwrap()), 1);
}

/// A byte that was changed behind the library's back is noticed when its statements are read, or it is one that nothing is read
/// from.
#[test]
fn a_changed_byte_is_noticed_or_changes_nothing() {
    let (folder, retriever) = (Folder::new(), retriever());
    let (whole, other) = (folder.path("whole.db"), folder.path("other.db"));
    Library::build(&whole, &retriever, "tiny", |addition| {
        let statement = |i: usize| (format!("N{i}"), format!("!x. x + {} < {} * x", i % 9, i % 7));
        premises(&retriever, (0..60).map(statement))
            .into_iter()
            .try_for_each(|premise| addition.push(premise))
    })
    .unwrap();
    let mut library = Library::open(&whole).unwrap();
    let proof =
        |i: usize| Proof { name: format!("N{i}"), used: vec!["N0".into(), "N1".into()], place: "x".into() };
    library.learn(&(2..50).map(proof).collect::<Vec<_>>(), true).unwrap();
    drop(library);
    // Everything that a ranking depends on.
    let read = |path: &Path| -> Result<_, formulanet::Error> {
        let library = Library::open(path)?;
        library.check(&retriever)?;
        let shelf = library.load()?;
        let names: Vec<Statement> = shelf.entries.iter().map(|entry| entry.statement.clone()).collect();
        let proofs: Vec<_> = names.iter().map(|s| library.proofs_of(&s.name)).collect::<Result<_, _>>()?;
        Ok((names, shelf.rows, proofs))
    };
    let (expected, bytes) = (read(&whole).unwrap(), folder.bytes("whole.db"));
    let (mut noticed, mut same) = (0, 0);
    for at in (0..bytes.len()).step_by(211) {
        let mut changed = bytes.clone();
        changed[at] ^= 2;
        std::fs::write(&other, &changed).unwrap();
        match read(&other) {
            Err(_) => noticed += 1,
            Ok(found) => {
                assert!(found == expected, "byte {at} of {}", bytes.len());
                same += 1;
            }
        }
    }
    assert!(noticed > same / 2, "{noticed} noticed, {same} without effect");
}

type StatementWithProofs = (Statement, Vec<Vec<String>>);

/// Everything of a library that questions depend on.
fn state(path: &Path) -> Result<Vec<StatementWithProofs>, formulanet::Error> {
    let library = Library::open(path)?;
    library.load()?;
    let statements = library.statements()?;
    statements
        .into_iter()
        .map(|statement| {
            // By its name, which asks the index.
            assert_eq!(library.statement(&statement.name)?, statement);
            let proofs = library.proofs_of(&statement.name)?;
            Ok((statement, proofs))
        })
        .collect()
}

fn one(retriever: &VectorRetriever, name: &str, text: &str) -> AnalyzedStatement {
    premises(retriever, [(name.to_owned(), text.to_owned())]).remove(0)
}

#[test]
fn a_name_that_comes_twice_keeps_its_proofs() {
    let (folder, retriever) = (Folder::new(), retriever());
    let mut library = theory(&folder.path("theory.db"), &retriever);
    let before = state(&folder.path("theory.db")).unwrap();
    let text = library.statement("plus_left_comm").unwrap().text;
    let mut again = one(&retriever, "plus_left_comm", &text);
    again.module = "theory".into();
    let other = one(&retriever, "plus_left_comm", "!x. x = x");
    let added = add(&mut library, [again.clone(), other.clone(), again.clone()], &retriever);
    assert_eq!(added, Added { same: 1, repeated: 2, ..Added::default() });
    assert_eq!(state(&folder.path("theory.db")).unwrap(), before);
    // What was said of a text does not hold for another one of the same addition.
    again.proofs = vec![proof("plus_left_comm", "plus_zero")];
    let added = add(&mut library, [again, other], &retriever);
    assert_eq!((added.replaced, added.proofs), (1, 0));
    assert!(library.proofs_of("plus_left_comm").unwrap().is_empty());
    library.verify(&retriever).unwrap();
}

#[test]
fn another_module_is_a_change_and_keeps_proofs() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("theory.db");
    let mut library = theory(&path, &retriever);
    let (reader, text) = (Library::open(&path).unwrap(), library.statement("plus_left_comm").unwrap().text);
    let shelf = reader.load().unwrap();
    let mut moved = one(&retriever, "plus_left_comm", &text);
    moved.module = "elsewhere".into();
    assert_eq!(add(&mut library, [moved], &retriever), Added { replaced: 1, ..Added::default() });
    assert_eq!(library.proofs_of("plus_left_comm").unwrap().len(), 1);
    assert_eq!(news(&reader, &shelf), "rewritten");
    let entries = reader.load().unwrap().entries;
    let entry = entries.iter().find(|entry| entry.statement.name == "plus_left_comm").unwrap();
    assert_eq!(&*entry.module, "elsewhere");
    library.verify(&retriever).unwrap();
}

#[test]
fn a_name_is_no_pattern() {
    let retriever = retriever();
    let remove = |patterns: &[&str]| {
        let mut library = Library::in_memory(&retriever).unwrap();
        let names = ["MULT*", "MULT_1", "MULT", "WHY?"].map(|name| (name.to_owned(), "x = x".to_owned()));
        add(&mut library, premises(&retriever, names), &retriever);
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        library.remove(&patterns).unwrap();
        let left: Vec<String> = library.statements().unwrap().into_iter().map(|s| s.name).collect();
        left.join(" ")
    };
    assert_eq!(remove(&["MULT*"]), "MULT_1 MULT WHY?");
    assert_eq!(remove(&["MUL*"]), "WHY?");
    assert_eq!(remove(&[r"MUL*\*"]), "MULT_1 MULT WHY?");
    assert_eq!(remove(&["MULT*", "MULT_?"]), "MULT WHY?");
    assert_eq!(remove(&["WHY?", "none*"]), "MULT* MULT_1 MULT");
}

/// Whoever reads or changes a library does not wait for an addition that is still being read or embedded.
#[test]
fn an_addition_that_takes_long_is_in_the_way_of_nobody() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("one.db");
    Library::build(&path, &retriever, "tiny", |addition| addition.push(one(&retriever, "a", "x = x")))
        .unwrap();
    let mut slow = Library::open(&path).unwrap();
    let mut addition = slow.writer(&retriever).unwrap();
    for premise in many(&retriever) {
        addition.push(premise).unwrap();
    }
    addition.push(one(&retriever, "b", "x = y")).unwrap();
    let begin = std::time::Instant::now();
    let patience = std::time::Duration::from_millis(100);
    let mut other = Library::open_within(&path, patience).unwrap();
    assert_eq!(other.load().unwrap().entries.len(), 1);
    assert_eq!(
        add(&mut other, [one(&retriever, "b", "x < y"), one(&retriever, "c", "x = x")], &retriever).new,
        2
    );
    assert_eq!(other.remove(&["c".into(), "N5".into()]).unwrap(), 1);
    assert!(begin.elapsed() < std::time::Duration::from_secs(10));
    // The last that is committed counts.
    let added = addition.commit().unwrap();
    assert_eq!((added.new, added.replaced), (MANY, 1));
    let library = Library::open(&path).unwrap();
    assert_eq!((library.count().unwrap(), library.statement("b").unwrap().text), (MANY + 2, "x = y".into()));
    library.verify(&retriever).unwrap();
}

/// A statement that is there when an addition has it, and that is removed before the addition is written, is written.
#[test]
fn what_was_removed_meanwhile_is_added() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("one.db");
    Library::build(&path, &retriever, "tiny", |addition| addition.push(one(&retriever, "a", "x = x")))
        .unwrap();
    let (mut slow, mut quick) = (Library::open(&path).unwrap(), Library::open(&path).unwrap());
    let mut addition = slow.writer(&retriever).unwrap();
    for premise in std::iter::once(one(&retriever, "a", "x = x")).chain(many(&retriever)) {
        addition.push(premise).unwrap();
    }
    quick.remove(&["a".into()]).unwrap();
    assert_eq!(addition.commit().unwrap().new, MANY + 1);
    assert_eq!(quick.statement("a").unwrap().text, "x = x");
    quick.verify(&retriever).unwrap();
}

#[test]
fn an_addition_that_gives_up_writes_nothing() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("one.db");
    Library::build(&path, &retriever, "tiny", |addition| addition.push(one(&retriever, "a", "x = x")))
        .unwrap();
    let mut library = Library::open(&path).unwrap();
    let stopped = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let cancel = formulanet::Cancel::when({
        let stopped = Arc::clone(&stopped);
        move || stopped.load(std::sync::atomic::Ordering::Relaxed)
    });
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut addition = library.writer(&retriever).unwrap().until(cancel, deadline);
    addition.push(one(&retriever, "b", "x = x")).unwrap();
    stopped.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(addition.commit(), Err(formulanet::Error::Interrupted)));
    // Another that waits for a writer until its time is over.
    let lock = rusqlite::Connection::open(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(200);
    let mut addition = library.writer(&retriever).unwrap().until(formulanet::Cancel::never(), deadline);
    addition.push(one(&retriever, "b", "x = x")).unwrap();
    assert!(matches!(addition.commit(), Err(formulanet::Error::Busy(_))));
    assert!(deadline.elapsed() < std::time::Duration::from_secs(10));
    drop(lock);
    assert_eq!(library.count().unwrap(), 1);
}

/// A change to a file that is no longer at its place would be lost.
#[test]
fn a_library_that_was_replaced_is_not_changed() {
    let (folder, retriever) = (Folder::new(), retriever());
    let [path, other] = ["one.db", "other.db"].map(|name| folder.path(name));
    for path in [&path, &other] {
        Library::build(path, &retriever, "tiny", |addition| addition.push(one(&retriever, "a", "x = x")))
            .unwrap();
    }
    let mut library = Library::open(&path).unwrap();
    let mut addition = library.writer(&retriever).unwrap();
    addition.push(one(&retriever, "b", "x = x")).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(matches!(addition.commit(), Err(formulanet::Error::Replaced(_))));
    assert!(matches!(library.learn(&[proof("a", "b")], false), Err(formulanet::Error::Replaced(_))));
    assert!(matches!(library.remove(&["a".into()]), Err(formulanet::Error::Replaced(_))));
    assert_eq!(Library::open(&path).unwrap().count().unwrap(), 1);
}

/// Two copies of a library that go on differently have the same numbers, and are told apart.
#[test]
fn copies_that_differ_are_told_apart() {
    let (folder, retriever) = (Folder::new(), retriever());
    let [first, second] = ["first.db", "second.db"].map(|name| folder.path(name));
    drop(theory(&first, &retriever));
    std::fs::copy(&first, &second).unwrap();
    let [mut a, mut b] = [&first, &second].map(|path| Library::open(path).unwrap());
    add(&mut a, [one(&retriever, "new", "x = x")], &retriever);
    let shelf = a.load().unwrap();
    add(&mut b, [one(&retriever, "new", "x = y")], &retriever);
    assert_eq!((news(&a, &shelf), news(&b, &shelf)), ("none", "rewritten"));
    add(&mut b, [one(&retriever, "more", "x = y")], &retriever);
    assert_eq!(news(&b, &shelf), "rewritten");
    add(&mut a, [one(&retriever, "more", "x = y")], &retriever);
    assert_eq!(news(&a, &shelf), "appended");
    // The same with proofs, and with what has been taken back.
    let shelf = a.load().unwrap();
    b = Library::open(&{
        std::fs::copy(&first, &second).unwrap();
        second
    })
    .unwrap();
    a.learn(&[proof("new", "plus_comm")], true).unwrap();
    b.learn(&[proof("new", "plus_zero")], true).unwrap();
    assert_eq!((news(&a, &shelf), news(&b, &shelf)), ("appended", "appended"));
    let shelf = a.load().unwrap();
    assert_eq!(news(&b, &shelf), "rewritten");
    b.forget("rev_rev", false).unwrap();
    a.forget("rev_append", false).unwrap();
    let shelf = a.load().unwrap();
    assert_eq!(news(&b, &shelf), "rewritten");
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    let (folder, retriever) = (Folder::new(), retriever());
    let check = |change: &str, expected: &str| {
        let path = folder.path("one.db");
        let _ = std::fs::remove_file(&path);
        Library::build(&path, &retriever, "tiny", |addition| addition.push(one(&retriever, "a", "x = x")))
            .unwrap();
        rusqlite::Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let error = Library::open(&path).and_then(|library| library.info()).unwrap_err().to_string();
        assert!(error.contains(expected), "{change}: {error}");
    };
    check(
        "CREATE TRIGGER gone AFTER INSERT ON statements BEGIN DELETE FROM statements WHERE name LIKE 'a%'; END",
        "a trigger `gone` that no library has",
    );
    check(
        "DROP TABLE reader; CREATE VIEW reader AS WITH RECURSIVE n(model) AS (SELECT 1 UNION ALL SELECT 1 FROM n) \
         SELECT model FROM n",
        "a view `reader` that no library has",
    );
    check("CREATE TABLE more (x)", "a table `more` that no library has");
    check("DROP TRIGGER statement_added", "some of them");
    check("PRAGMA application_id = 1", "another SQLite file");
    check("PRAGMA user_version = 1", "format 10, found 1");
    #[cfg(unix)]
    {
        let pipe = folder.text("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check(&format!("UPDATE made SET model = '{pipe}'"), "a pipe or a device");
        check("UPDATE made SET model = '/dev/zero'", "a pipe or a device");
    }
}

/// A copy that has some pages of before a change and some of after it is one of both, or is refused.
#[test]
fn a_torn_copy_is_refused() {
    let (folder, retriever) = (Folder::new(), retriever());
    let [path, torn] = ["one.db", "torn.db"].map(|name| folder.path(name));
    let statement = |i: usize| (format!("N{i}"), format!("!x. x + {} < {} * x", i % 9, i % 7));
    let fill = |range: std::ops::Range<usize>| premises(&retriever, range.map(statement));
    Library::build(&path, &retriever, "tiny", |addition| {
        fill(0..300).into_iter().try_for_each(|premise| addition.push(premise))
    })
    .unwrap();
    let (before, first) = (state(&path).unwrap(), std::fs::read(&path).unwrap());
    let mut library = Library::open(&path).unwrap();
    add(&mut library, fill(300..500), &retriever);
    library.learn(&(2..90).map(|i| proof(&format!("N{i}"), "N0 N1")).collect::<Vec<_>>(), true).unwrap();
    library.remove(&["N1?".into(), "N2?0".into()]).unwrap();
    let (after, last) = (state(&path).unwrap(), std::fs::read(&path).unwrap());
    let mut dice = 7u64;
    let (mut refused, mut whole) = (0, 0);
    for _ in 0..150 {
        let mut bytes = last.clone();
        for (number, page) in bytes.chunks_mut(4096).enumerate() {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if let Some(old) = first.get(number * 4096..(number + 1) * 4096).filter(|_| dice >> 62 == 0) {
                page.copy_from_slice(old);
            }
        }
        std::fs::write(&torn, &bytes).unwrap();
        match state(&torn) {
            Err(_) => refused += 1,
            Ok(found) => {
                assert!(found == after || found == before, "a mixture of two states was read");
                whole += 1;
            }
        }
    }
    assert!(refused > 100, "{refused} refused, {whole} whole");
}

#[test]
fn a_damaged_library_is_repaired() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("theory.db");
    drop(theory(&path, &retriever));
    let before = state(&path).unwrap();
    // Vectors, features and an index entry can be made again; a text and a proof cannot.
    let damage = "UPDATE statements SET row = zeroblob(length(row)) WHERE name = 'plus_zero';
                  UPDATE statements SET features = x'00' WHERE name = 'rev_nil';
                  UPDATE statements SET text = '!x. x = x' WHERE name = 'length_rev';
                  UPDATE proofs SET used = '[\"plus_zero\"]' WHERE name = 'rev_append';";
    rusqlite::Connection::open(&path).unwrap().execute_batch(damage).unwrap();
    assert!(Library::open(&path).unwrap().verify(&retriever).is_err());
    let repaired = Library::repair(&path, &retriever, "tiny").unwrap();
    assert_eq!(repaired.embedded, ["plus_zero", "rev_nil"]);
    assert_eq!((&repaired.lost[..], repaired.statements), (&["length_rev".to_owned()][..], before.len() - 1));
    assert_eq!(Library::open(&path).unwrap().verify(&retriever).unwrap(), before.len() - 1);
    let found = state(&path).unwrap();
    for (statement, proofs) in found {
        let (_, expected) = before.iter().find(|(other, _)| *other == statement).unwrap();
        let is_lost = statement.name == "rev_append";
        assert!(if is_lost { proofs.is_empty() } else { proofs == *expected }, "{}", statement.name);
    }
    assert!(repaired.kept.is_file() && repaired.lost_proofs >= 1);
    // The damaged file is not lost by a second repair.
    let again = Library::repair(&path, &retriever, "tiny");
    assert!(matches!(again, Err(formulanet::Error::Exists { .. })));
}

/// Pages that cannot be read at all cost the statements on them.
#[test]
fn what_lies_around_a_damaged_page_is_saved() {
    let (folder, retriever) = (Folder::new(), retriever());
    let path = folder.path("one.db");
    Library::build(&path, &retriever, "tiny", |addition| {
        let statement = |i: usize| (format!("N{i}"), format!("!x. x + {} < {} * x", i % 9, i % 7));
        premises(&retriever, (0..300).map(statement))
            .into_iter()
            .try_for_each(|premise| addition.push(premise))
    })
    .unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let (mut repaired, pages) = (0, bytes.len() / 4096);
    for page in 2..pages {
        let mut damaged = bytes.clone();
        damaged[page * 4096..][..4096].fill(0xAA);
        std::fs::write(&path, &damaged).unwrap();
        let _ = std::fs::remove_file(folder.path("one.db.damaged"));
        if state(&path).is_ok() {
            continue;
        }
        let Ok(saved) = Library::repair(&path, &retriever, "tiny") else { continue };
        assert_eq!(Library::open(&path).unwrap().verify(&retriever).unwrap(), saved.statements);
        repaired += 1;
    }
    assert!(repaired > pages / 2, "{repaired} of {pages}");
}
