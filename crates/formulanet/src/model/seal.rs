//! Checksums of model files that older versions wrote.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use formulanet_net::{is_sealed, sealed};

use super::shipped;
use crate::Error;
use crate::util::files;

/// Bytes of a header that are looked at, as many as safetensors allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// Gives a model file or a checkpoint a checksum, if it has none: says whether it had none. No number changes.
///
/// # Errors
///
/// If it is no such file, is damaged or cannot be written.
pub fn seal_file(path: &Path) -> Result<bool, Error> {
    let bytes = files::read(path)?;
    let whole = sealed(&bytes).map_err(|error| Error::data(path, error))?;
    if is_sealed(&bytes) {
        return Ok(false);
    }
    files::write_whole(path, &whole)?;
    Ok(true)
}

/// Whether a model file, by its path or the name of a shipped one, has a checksum; those of older versions have none. What
/// cannot be read is worse off than that.
pub fn has_checksum(model: &str) -> bool {
    let inside = Path::new(model).join("model.safetensors");
    let path = if inside.is_file() { &inside } else { Path::new(model) };
    let header = || -> io::Result<Vec<u8>> {
        let (mut file, mut bytes) = (File::open(path)?, vec![0; 8]);
        file.read_exact(&mut bytes)?;
        let length = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        file.take(length.min(LONGEST_HEADER)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    shipped::bytes(model).is_some() || !path.is_file() || header().map_or(true, |bytes| is_sealed(&bytes))
}
