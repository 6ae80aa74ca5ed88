//! How long it takes until a prepared folder can be used, and to look at every graph of it.
//!
//! `cargo run --release -p formulanet --example open_prepared -- FOLDER`

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use formulanet_train::dataset::Prepared;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a prepared folder")?;
    let start = Instant::now();
    let prepared = Prepared::open(Path::new(&folder))?;
    let opened = start.elapsed().as_secs_f64();
    prepared.verify()?;
    let verified = start.elapsed().as_secs_f64() - opened;
    writeln!(std::io::stdout(), "opened in {:.1} ms, every graph verified in {verified:.2} s", opened * 1e3)?;
    Ok(())
}
