//! The journal of a run: a line for each problem and round that has ended, so that a run that was killed can
//! be resumed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::experience::Tried;
use crate::output::shown;
use crate::prove::outcome::Outcome;

/// Kind of the file, and its format.
const KIND: &str = "formulanet prove";
const FORMAT: u32 = 1;
/// Maximum size in bytes of a journal that is read.
const MAX_BYTES: u64 = 4 << 30;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    journal: String,
    format: u32,
}

/// A round of a problem that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Number of the round, from 1.
    pub(crate) round: usize,
    /// Seconds of one core that the round could take, however many attempts were made.
    pub(crate) allowance: f64,
    pub(crate) tried: Vec<Tried>,
    pub(crate) outcome: Outcome,
}

/// An open journal, locked against other processes.
pub(crate) struct Journal {
    file: Option<Mutex<File>>,
    path: PathBuf,
}

impl Journal {
    /// Makes a journal that writes nothing.
    pub(crate) fn none() -> Self {
        Journal { file: None, path: PathBuf::new() }
    }

    /// Makes a journal, or opens one to resume. Returns the rounds that have ended, in order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is a journal that is not to be resumed, another process has it, or the file
    /// is not a journal.
    pub(crate) fn open(path: &Path, resumes: bool) -> Result<(Self, Vec<Entry>)> {
        let name = shown(&path.display().to_string()).into_owned();
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let opened = if resumes { options.create(true) } else { options.create_new(true) }.open(path);
        let mut file = match opened {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("the journal `{name}` already exists; continue its run with --resume, or remove it")
            }
            opened => opened.with_context(|| format!("cannot open the journal `{name}`"))?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another process writes the journal `{name}`"),
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => {}
        }
        let context = || format!("cannot read the journal `{name}`");
        let size = file.metadata().with_context(context)?.len();
        if size > MAX_BYTES {
            bail!("{}: {size} bytes are too many", context());
        }
        let mut bytes = Vec::new();
        (&mut file).take(MAX_BYTES).read_to_end(&mut bytes).with_context(context)?;
        // A process that was killed may have left the beginning of a line.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let header = serde_json::to_vec(&Header { journal: KIND.to_owned(), format: FORMAT })?;
        if whole == 0 && !header.starts_with(&bytes) {
            bail!("{}: it is another file", context());
        }
        let entries = read(&bytes[..whole]).with_context(context)?;
        file.set_len(whole as u64).with_context(context)?;
        file.seek(SeekFrom::End(0)).with_context(context)?;
        let journal = Journal { file: Some(Mutex::new(file)), path: path.to_owned() };
        if whole == 0 {
            journal.write(&Header { journal: KIND.to_owned(), format: FORMAT })?;
        }
        Ok((journal, entries))
    }

    /// Adds a round that has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    pub(crate) fn add(&self, entry: &Entry) -> Result<()> {
        self.write(entry)
    }

    fn write(&self, line: &impl Serialize) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text).and_then(|()| file.sync_data()).with_context(|| {
            format!("cannot write the journal `{}`", shown(&self.path.display().to_string()))
        })
    }
}

/// Returns the entries of whole lines.
fn read(bytes: &[u8]) -> Result<Vec<Entry>> {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).zip(1usize..);
    let Some((first, _)) = lines.next() else { return Ok(Vec::new()) };
    let header: Option<Header> = serde_json::from_slice(first).ok();
    let Some(header) = header.filter(|header| header.journal == KIND) else {
        bail!("it is another file");
    };
    if header.format != FORMAT {
        bail!("expected format {FORMAT}, found {}; remove it, and begin again", header.format);
    }
    let entry = |(line, number): (&[u8], usize)| {
        serde_json::from_slice(line).with_context(|| format!("line {number} is damaged"))
    };
    lines.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::folder::experience::Arm;
    use crate::prove::szs::Status;

    fn entry(problem: &str) -> Entry {
        let arm = Arm { prover: "e".to_owned(), most: 64, order: 1 };
        let tried = Tried { arm, limit: 2.0, seconds: 0.25, proves: true, axioms: u64::MAX };
        let mut outcome = Outcome::undecided(problem, Status::Theorem, 0.25);
        outcome.premises = Some(vec!["a\nb".to_owned()]);
        Entry { round: 2, allowance: 4.0, tried: vec![tried], outcome }
    }

    #[test]
    fn a_cut_line_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (journal, entries) = Journal::open(&path, false).unwrap();
        assert!(entries.is_empty());
        journal.add(&entry("one")).unwrap();
        journal.add(&entry("two")).unwrap();
        assert!(format!("{:#}", Journal::open(&path, true).err().unwrap()).contains("another process"));
        drop(journal);
        assert!(format!("{:#}", Journal::open(&path, false).err().unwrap()).contains("--resume"));
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (journal, entries) = Journal::open(&path, true).unwrap();
            let lines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(entries.len(), lines.saturating_sub(1));
            journal.add(&entry("three")).unwrap();
            drop(journal);
            let (_, again) = Journal::open(&path, true).unwrap();
            let last = again.last().unwrap();
            assert_eq!((again.len(), last.outcome.problem.as_str()), (lines.saturating_sub(1) + 1, "three"));
            assert_eq!(last.tried, entry("three").tried);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let check = |text: &[u8], expected: &str| {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", Journal::open(&path, true).err().unwrap());
            assert!(error.contains(expected), "expected {expected}\nfound {error}");
            assert_eq!(std::fs::read(&path).unwrap(), text, "left as it was");
        };
        check(b"no line", "it is another file");
        check(b"fof(a, axiom, p).\n", "it is another file");
        check(b"{\"journal\":\"formulanet prove\",\"format\":7}\n", "expected format 1, found 7");
        check(b"{\"journal\":\"formulanet prove\",\"format\":1}\n\xff\n", "line 2 is damaged");
    }
}
