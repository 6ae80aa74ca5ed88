//! Libraries with more statements than are written or read at once.

use formulanet::net::{Compute, Meeting, Precision};
use formulanet::rank::{Added, Intake, Library, Premise, Ranker, Rows};
use formulanet::read::{Statement, Syntax};
use formulanet_testing::{Folder, tiny};

const MANY: usize = 9000;

fn ranker() -> Ranker {
    Ranker::new(tiny(Meeting::Towers), Compute::new(Precision::F32, 2)).unwrap()
}

fn premises(ranker: &Ranker, statements: impl IntoIterator<Item = (String, String)>) -> Vec<Premise> {
    let mut intake = Intake::new(ranker);
    statements.into_iter().map(|(name, text)| intake.take(&name, &text, Syntax::Hol).unwrap()).collect()
}

fn many(ranker: &Ranker) -> Vec<Premise> {
    let statement = |i: usize| (format!("N{i}"), format!("!x. x + {} < {} * x", i % 9, i % 7));
    premises(ranker, (0..MANY).map(statement))
}

/// All statements, their rows, and how many came at once.
fn all(library: &Library) -> (Vec<Statement>, Rows, Vec<usize>) {
    let mut counts = Vec::new();
    library
        .scan(|part, rows| {
            assert_eq!(part.len(), rows.len());
            counts.push(part.len());
            Ok(())
        })
        .unwrap();
    let shelf = library.load().unwrap();
    (shelf.statements, shelf.rows, counts)
}

fn add(library: &mut Library, premises: impl IntoIterator<Item = Premise>, ranker: &Ranker) -> Added {
    let mut addition = library.addition(ranker).unwrap();
    premises.into_iter().for_each(|premise| addition.push(premise).unwrap());
    addition.commit().unwrap()
}

#[test]
fn many_statements_come_back_as_they_were() {
    let ranker = ranker();
    let mut library = Library::in_memory(&ranker).unwrap();
    assert_eq!(all(&library), (Vec::new(), Rows::new(ranker.width()), Vec::new()));
    let premises = many(&ranker);
    let added = add(&mut library, premises.clone(), &ranker);
    assert_eq!(added, Added { new: MANY, ..Added::default() });
    let (entries, rows, counts) = all(&library);
    assert_eq!(counts, [4096, 4096, MANY - 2 * 4096]);
    let is_same = |(entry, premise): (&Statement, &Premise)| {
        (&entry.name, &entry.text, entry.syntax) == (&premise.name, &premise.text, premise.syntax)
    };
    assert!(entries.len() == MANY && entries.iter().zip(&premises).all(is_same));
    let named: Vec<_> = premises.iter().map(Premise::named).collect();
    assert!(rows == ranker.rows(&named));
    assert_eq!(library.verify(&ranker).unwrap(), MANY);
    assert_eq!(library.remove(&["N1*".into(), "N20".into()]).unwrap(), 1 + 1111);
    assert_eq!(library.count().unwrap(), MANY - 1112);
}

#[test]
fn of_a_name_the_last_counts() {
    let ranker = ranker();
    let mut library = Library::in_memory(&ranker).unwrap();
    let mut check = |statements: &[(&str, &str)], expected: Added, text: &str| {
        let owned = statements.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(add(&mut library, premises(&ranker, owned), &ranker), expected, "{statements:?}");
        assert_eq!(library.statement("a").unwrap().text, text);
        library.verify(&ranker).unwrap();
    };
    let added = |new, replaced, same, repeated| Added { new, replaced, same, repeated };
    check(&[("a", "x = y"), ("b", "x < y"), ("a", "x = x")], added(2, 0, 0, 1), "x = x");
    check(&[("a", "x = x")], added(0, 0, 1, 0), "x = x");
    check(&[("a", "x = y"), ("a", "x = x")], added(0, 0, 1, 1), "x = x");
    check(&[("a", "x = x"), ("a", "x < x"), ("b", "x < y")], added(0, 1, 1, 1), "x < x");
    // Far apart, so that the first has been written when the second comes.
    let far = many(&ranker).into_iter().chain(premises(&ranker, [("N0".to_owned(), "x = x".to_owned())]));
    assert_eq!(add(&mut library, far, &ranker), added(MANY, 0, 0, 1));
    assert_eq!(library.statement("N0").unwrap().text, "x = x");
}

#[test]
fn what_is_not_committed_does_not_get_in() {
    let ranker = ranker();
    let mut library = Library::in_memory(&ranker).unwrap();
    let mut addition = library.addition(&ranker).unwrap();
    for premise in many(&ranker) {
        addition.push(premise).unwrap();
    }
    drop(addition);
    assert_eq!(library.count().unwrap(), 0);
    assert_eq!(add(&mut library, many(&ranker), &ranker).new, MANY);
}

/// Two that build a library at the same place: the second must not lose what the first has made and others have added.
#[test]
fn a_library_that_was_made_meanwhile_is_kept() {
    let (folder, ranker) = (Folder::new(), ranker());
    let path = folder.path("one.db");
    let statement = |name: &str| premises(&ranker, [(name.to_owned(), "x = x".to_owned())]).remove(0);
    let late = Library::build(&path, &ranker, "tiny", |addition| {
        Library::build(&path, &ranker, "tiny", |addition| addition.push(statement("early")))?;
        addition.push(statement("late"))
    });
    assert!(matches!(late, Err(formulanet::Error::Exists { .. })));
    let names = Library::open(&path).unwrap().statements().unwrap();
    assert_eq!(names.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["early"]);
    assert_eq!(std::fs::read_dir(folder.root()).unwrap().count(), 1);
}
