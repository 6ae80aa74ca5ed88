//! Libraries with more statements than are written or read at once.

use formulanet::Error;
use formulanet::net::{Compute, Meeting, Precision};
use formulanet::rank::collection::{Collection, Premise};
use formulanet::rank::library::{Added, Entry, Library};
use formulanet::rank::ranker::Ranker;
use formulanet::read::Syntax;
use formulanet_testing::{Folder, tiny};

const MANY: usize = 9000;

fn ranker() -> Ranker {
    Ranker::new(tiny(Meeting::Towers), Compute::new(Precision::F32, 2)).unwrap()
}

fn premises(ranker: &Ranker, statements: impl IntoIterator<Item = (String, String)>) -> Vec<Premise> {
    let mut collection = Collection::new(ranker);
    for (name, text) in statements {
        collection.add(&name, &text, Syntax::Hol).unwrap();
    }
    collection.premises
}

fn many(ranker: &Ranker) -> Vec<Premise> {
    let statement = |i: usize| (format!("N{i}"), format!("!x. x + {} < {} * x", i % 9, i % 7));
    premises(ranker, (0..MANY).map(statement))
}

/// All statements and vectors, and how many came at once.
fn all(library: &Library) -> (Vec<Entry>, Vec<f32>, Vec<usize>) {
    let (mut entries, mut vectors, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    library
        .scan(|part, values| {
            counts.push(part.len());
            entries.extend(part);
            vectors.extend_from_slice(values);
            Ok::<(), Error>(())
        })
        .unwrap();
    (entries, vectors, counts)
}

#[test]
fn many_statements_come_back_as_they_were() {
    let (folder, ranker) = (Folder::new(), ranker());
    let mut library = Library::create(&folder.path("many.db"), &ranker, "tiny").unwrap();
    assert_eq!(all(&library), (Vec::new(), Vec::new(), Vec::new()));
    let premises = many(&ranker);
    let added = library.add(premises.clone(), &ranker).unwrap();
    assert_eq!(added, Added { new: MANY, ..Added::default() });
    let (entries, vectors, counts) = all(&library);
    assert_eq!(counts, [4096, 4096, MANY - 2 * 4096]);
    let is_same = |(entry, premise): (&Entry, &Premise)| {
        (&entry.name, &entry.text, entry.syntax) == (&premise.name, &premise.text, premise.syntax)
    };
    assert!(entries.len() == MANY && entries.iter().zip(&premises).all(is_same));
    let named: Vec<_> = premises.iter().map(Premise::named).collect();
    assert!(vectors == ranker.vectors(&named));
    assert_eq!(library.verify(&ranker).unwrap(), MANY);
    assert_eq!(library.remove(&["N1*".into(), "N20".into()]).unwrap(), 1 + 1111);
    assert_eq!(library.count().unwrap(), MANY - 1112);
}

#[test]
fn of_a_name_the_last_counts() {
    let (folder, ranker) = (Folder::new(), ranker());
    let mut library = Library::create(&folder.path("names.db"), &ranker, "tiny").unwrap();
    let mut add = |statements: &[(&str, &str)], expected: Added, text: &str| {
        let owned = statements.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(library.add(premises(&ranker, owned), &ranker).unwrap(), expected, "{statements:?}");
        assert_eq!(library.entry("a").unwrap().unwrap().text, text);
        library.verify(&ranker).unwrap();
    };
    let added = |new, replaced, same, repeated| Added { new, replaced, same, repeated };
    add(&[("a", "x = y"), ("b", "x < y"), ("a", "x = x")], added(2, 0, 0, 1), "x = x");
    add(&[("a", "x = x")], added(0, 0, 1, 0), "x = x");
    add(&[("a", "x = y"), ("a", "x = x")], added(0, 0, 1, 1), "x = x");
    add(&[("a", "x = x"), ("a", "x < x"), ("b", "x < y")], added(0, 1, 1, 1), "x < x");
    // Far apart, so that the first has been written when the second comes.
    let far = many(&ranker).into_iter().chain(premises(&ranker, [("N0".to_owned(), "x = x".to_owned())]));
    assert_eq!(library.add(far, &ranker).unwrap(), added(MANY, 0, 0, 1));
    assert_eq!(library.entry("N0").unwrap().unwrap().text, "x = x");
}

#[test]
fn what_is_not_committed_does_not_get_in() {
    let (folder, ranker) = (Folder::new(), ranker());
    let mut library = Library::create(&folder.path("half.db"), &ranker, "tiny").unwrap();
    let mut addition = library.addition(&ranker).unwrap();
    for premise in many(&ranker) {
        addition.push(premise).unwrap();
    }
    drop(addition);
    assert_eq!(library.count().unwrap(), 0);
    assert_eq!(library.add(many(&ranker), &ranker).unwrap().new, MANY);
}
