//! Files that are written whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::Error;

/// Writes a file beside its place and moves it there once it is on the disk, so that a reader, a crash or a full disk
/// never leaves half of it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error| Error::io(path.display().to_string(), error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = maker().tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    // The new name is on the disk only when its folder is.
    if let Ok(folder) = fs::File::open(folder) {
        folder.sync_all().map_err(failed)?;
    }
    Ok(())
}

/// What is made under a temporary name belongs to its maker alone; a result is for everybody to read.
#[cfg(unix)]
fn maker() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut maker = tempfile::Builder::new();
    maker.prefix(".formulanet-").permissions(fs::Permissions::from_mode(0o666));
    maker
}

#[cfg(not(unix))]
fn maker() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}
