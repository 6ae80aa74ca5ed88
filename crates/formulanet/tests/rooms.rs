//! Rooms import in one direction.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the bottom to the top: each may import those before it.
const ROOMS: [&str; 9] = ["util", "processes", "read", "data", "model", "rank", "measure", "train", "paper"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The room that a file belongs to: `read.rs` and everything in `read/`.
fn room(path: &Path, root: &Path) -> String {
    let first = path.strip_prefix(root).unwrap().components().next().unwrap();
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The rooms that a text names, as `crate::room` or in `use crate::{room, ...}`.
fn named(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        for behind in line.split("crate::").skip(1) {
            let words: Vec<&str> = match behind.strip_prefix('{') {
                Some(list) => list.split([',', '{', '}']).collect(),
                None => vec![behind],
            };
            found.extend(words.iter().filter_map(|word| word.trim().split([':', ';', ' ', '(', ')']).next()));
        }
    }
    found.into_iter().filter(|word| ROOMS.contains(word)).collect()
}

#[test]
fn rooms_import_in_one_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut against = Vec::new();
    for file in files {
        let room = room(&file, &root);
        let Some(own) = ROOMS.iter().position(|known| *known == room) else {
            assert!(["lib", "error", "readme"].contains(&room.as_str()), "{room} is no room");
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        let later = named(&text).into_iter().filter(|word| ROOMS[own + 1..].contains(word));
        against.extend(later.map(|word| format!("{} imports {word}", file.display())));
    }
    assert!(against.is_empty(), "against the flow:\n{}", against.join("\n"));
}

#[test]
fn imports_are_found() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
    };
    check("use crate::rank::Ranker;", &["rank"]);
    check("use crate::{Error, model::Model, read};", &["model", "read"]);
    check("    crate::train::train(crate::read::parse());", &["read", "train"]);
    check("// see crate::rank", &[]);
    check("use crate::Error;", &[]);
}
