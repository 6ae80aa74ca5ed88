//! A log file, because hammers discard the messages of a selector.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::home_folder;

/// Bytes of the log, at most. The older half goes.
const LARGEST: u64 = 1 << 20;
/// Bytes of a message that are written.
const LONGEST: usize = 4096;

/// A log, or nothing if there is no place for one.
pub(super) struct Log(Option<PathBuf>);

impl Log {
    /// The log of the user: `$FORMULANET_LOG`, none if that is empty, or else in the state folder.
    pub(super) fn open() -> Self {
        Log(match std::env::var_os("FORMULANET_LOG") {
            Some(path) => Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty()),
            None => home_folder("XDG_STATE_HOME", ".local/state")
                .map(|state| state.join("formulanet/predict.log")),
        })
    }

    /// Adds a line. That a log cannot be written is no error.
    pub(super) fn write(&self, message: &str) {
        if let Some(path) = &self.0 {
            let _ = append(path, message);
        }
    }
}

fn append(path: &Path, message: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() > LARGEST) {
        shorten(path)?;
    }
    let mut end = message.len().min(LONGEST);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let message = message[..end].replace(['\n', '\r'], " ");
    let line = format!("{} {} {message}\n", formulanet_train::now(), std::process::id());
    // One write: lines of several processes do not mix.
    File::options().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// Keeps the newer half.
fn shorten(path: &Path) -> std::io::Result<()> {
    let bytes = fs::read(path)?;
    let middle = bytes.len() / 2;
    let start =
        bytes[middle..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| middle + end + 1);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&bytes[start..])?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/predict.log");
        let log = Log(Some(path.clone()));
        for number in 0..700 {
            log.write(&format!("{number} {}\nsecond", "é".repeat(5000)));
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.len() as u64 <= LARGEST + 2 * LONGEST as u64, "{}", text.len());
        let last = text.lines().last().unwrap();
        assert!(last.contains(" 699 é") && last.len() < 2 * LONGEST && text.ends_with('\n'));
        assert!(text.lines().all(|line| line.contains("Z ")));
        // No place to write to.
        Log(Some(folder.path().to_owned())).write("lost");
        Log(None).write("lost");
    }
}
