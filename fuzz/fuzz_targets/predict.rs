//! The three files of hammers, divided by NUL bytes, and a question as a fourth part.
#![no_main]

use formulanet::hammer::{HammerFiles, parse_goal_features};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut parts = input.split(|&byte| byte == 0);
    let paths = ["features", "dependencies", "order"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, parts.next().unwrap_or_default()).expect("a file");
        path.to_string_lossy().into_owned()
    });
    if let Ok(files) = HammerFiles::open(&paths[0], &paths[1], &paths[2]) {
        files.identity();
        let _ = files.parse(&mut |_, _| {});
    }
    if let Some(Ok(text)) = parts.next().map(std::str::from_utf8) {
        let _ = parse_goal_features("fuzz", 1, text);
    }
});
