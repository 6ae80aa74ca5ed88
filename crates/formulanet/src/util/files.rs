//! Files that are written whole or not at all, and folders that belong to one process at a time.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::Error;
use crate::error::shown;
use crate::util::temporary::TempFile;

/// Writes a file under another name and renames it once it is on the disk, so that a reader, a crash or a full disk never leaves
/// half of it.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error| Error::io(path, error);
    let folder = folder_of(path);
    let mut file = TempFile::new_in(folder).map_err(failed)?;
    file.file.write_all(bytes).map_err(failed)?;
    file.file.sync_all().map_err(failed)?;
    file.persist(path).map_err(failed)?;
    // The new name is on the disk only when its folder is.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all().map_err(failed)?;
    }
    Ok(())
}

/// Writes a file as [`write_whole`] does, but leaves it to the system when it is on the disk: for what can be made again.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error| Error::io(path, error);
    let folder = folder_of(path);
    let mut file = TempFile::new_in(folder).map_err(failed)?;
    file.file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(failed)?;
    Ok(())
}

/// Bytes of a file that is read as a whole, at most, and of a pipe or a device, which may have no end.
const LARGEST: u64 = 1 << 33;
const LARGEST_STREAM: u64 = 1 << 28;

/// Reads a file as a whole.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::io(path, error);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let most = if metadata.is_file() { LARGEST } else { LARGEST_STREAM };
    let too_large = || Error::input(path, format!("expected at most {most} bytes, found more"));
    if metadata.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a file of text as a whole.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let not_text = |error: std::string::FromUtf8Error| {
        Error::input(path, format!("expected UTF-8 text, found {}", error.utf8_error()))
    };
    String::from_utf8(read(path)?).map_err(not_text)
}

/// Tells a file from another that takes its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity(u64, u64);

/// The identity of the file that is at a path now.
#[cfg(unix)]
pub fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).ok()?;
    Some(Identity(found.dev(), found.ino()))
}

/// The identity of the file that is at a path now.
#[cfg(not(unix))]
pub fn identity(path: &Path) -> Option<Identity> {
    let made = fs::metadata(path).ok()?.created().ok()?;
    let since = made.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Identity(since.as_secs(), u64::from(since.subsec_nanos())))
}

/// The folder that a path lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a folder if it is not there, and takes a lock of this name in it, which lasts as long as the file is open.
///
/// # Errors
///
/// [`Error::InUse`] if another process has it.
pub fn lock(folder: &Path, name: &str) -> Result<File, Error> {
    let failed = |error| Error::io(folder, error);
    fs::create_dir_all(folder).map_err(failed)?;
    let file = File::create(folder.join(name)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse(shown(folder))),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
