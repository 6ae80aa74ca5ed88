//! Temporary.
use std::io::Write;
fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let folders: Vec<std::path::PathBuf> = std::env::args().skip(1).map(Into::into).collect();
    let t = std::time::Instant::now();
    let mut modules = formulanet::read::LeanModules::open(&folders).unwrap_or_else(|e| panic!("{e}"));
    eprintln!("{} modules {:?} missing {}", modules.count(), t.elapsed(), modules.missing());
    let mut n = 0;
    while let Some(f) = modules.next().unwrap_or_else(|e| panic!("{e}")) {
        n += 1;
        writeln!(out, "{}", serde_json::json!({"module": f.module, "name": f.name, "statement": f.text, "syntax": "lean", "proof": f.proof})).unwrap();
    }
    eprintln!("{n} facts {:?} skipped {}", t.elapsed(), modules.skipped());
}
