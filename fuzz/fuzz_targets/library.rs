//! Premise libraries: files of SQLite that somebody else may have written.
#![no_main]

use formulanet::Library;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), input).expect("a file");
    let Ok(mut library) = Library::open(file.path()) else { return };
    if let Ok(shelf) = library.load() {
        let _ = library.changes_since(shelf.generation(), shelf.learned.is_some());
    }
    let _ = library.statements().map(|statements| {
        statements.iter().for_each(|statement| _ = library.proofs_of(&statement.name));
    });
    let _ = library.remove(&["a*".to_owned()]);
});
