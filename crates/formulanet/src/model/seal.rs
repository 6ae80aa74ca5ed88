//! Checksums for model files that other programs wrote.

use std::path::Path;

use formulanet_net::{is_sealed, sealed};

use crate::Error;
use crate::util::files;

/// Gives a model file or a checkpoint a checksum if it has none, and returns whether it had none. No number changes.
///
/// # Errors
///
/// Returns an error if it is no such file, is damaged or cannot be written.
pub fn seal_file(path: &Path) -> Result<bool, Error> {
    let bytes = files::read(path)?;
    let whole = sealed(&bytes).map_err(|error| Error::data(path, error))?;
    if is_sealed(&bytes) {
        return Ok(false);
    }
    files::write_whole(path, &whole)?;
    Ok(true)
}
