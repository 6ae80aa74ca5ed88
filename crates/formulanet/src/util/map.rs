//! Files as memory.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::Error;

/// Maps a file into memory, to be read only.
#[allow(unsafe_code)]
pub fn map(path: &Path) -> Result<Mmap, Error> {
    let fail = |error| Error::io(path, error);
    let file = File::open(path).map_err(fail)?;
    // SAFETY: the bytes are only read, as integers of which every pattern is valid. If another process changes or
    // cuts the file meanwhile, numbers change or the process is stopped by the system; what this program maps, it
    // writes under another name and renames, so it never does that.
    unsafe { Mmap::map(&file) }.map_err(fail)
}
