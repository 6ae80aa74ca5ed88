//! Where data comes from: a directory, an archive or a file, read as a stream of files.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::split::Split;
use crate::{Error, Progress};
use formulanet::error::shown;
use formulanet::read::{has_returns_alone, without_mark};
use formulanet::util::hash::mix;

/// How the statements of a data set are written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// HolStep: one file per conjecture, in `train/` and `test/`.
    Holstep,
    /// DeepMath: one file per conjecture with TPTP formulas.
    Deepmath,
    /// JSON Lines, one pair per line.
    Jsonl,
}

impl Layout {
    /// All layouts with their names.
    pub const ALL: [(&'static str, Layout); 3] =
        [("holstep", Layout::Holstep), ("deepmath", Layout::Deepmath), ("jsonl", Layout::Jsonl)];

    /// The layout that a file begins like.
    pub(super) fn of(content: &[u8]) -> Option<Layout> {
        match content.trim_ascii_start() {
            [b'N', b' ', ..] => Some(Layout::Holstep),
            [b'C', b' ', rest @ ..] if rest.trim_ascii_start().starts_with(b"|-") => None,
            [b'C', b' ', ..] => Some(Layout::Deepmath),
            [b'{', ..] => Some(Layout::Jsonl),
            _ => None,
        }
    }
}

/// A file of a data set.
pub(super) struct SourceFile {
    /// Its path within the data set, or the path that the user gave.
    pub(super) name: String,
    /// Number of its first line: more than 1 for the later pieces of a large file.
    pub(super) first_line: usize,
    pub(super) content: Vec<u8>,
    pub(super) split: Split,
    /// Whether its last line is left out, because it is too long.
    pub(super) is_cut: bool,
}

/// The treatment of every file.
pub(super) type Visit<'a> = &'a mut dyn FnMut(SourceFile) -> Result<(), Error>;

/// Bytes of one file; a JSON Lines file may be larger, because it is read in pieces.
const MAX_FILE: u64 = 1 << 30;
/// Bytes of a line that is passed over because it is too long.
const MAX_PASSED: usize = 1 << 30;
/// Bytes of a piece of a JSON Lines file.
const PIECE: usize = 1 << 20;

enum Kind {
    Directory(Vec<PathBuf>),
    Archive(Compression),
    File,
}

#[derive(Clone, Copy)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

/// A data set on disk.
pub(super) struct Source {
    path: PathBuf,
    kind: Kind,
    /// Bytes to read, for the progress bar.
    pub(super) bytes: u64,
}

impl Source {
    /// Looks at what a path holds.
    pub(super) fn open(path: &Path) -> Result<Source, Error> {
        let failed = |error| Error::io(path, error);
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            let mut files = Vec::new();
            let bytes = list(path, &mut files)?;
            files.sort();
            return Ok(Source { path: path.to_owned(), kind: Kind::Directory(files), bytes });
        }
        if !metadata.is_file() {
            return Err(Error::input(
                path,
                "expected a directory, an archive or a file, found a device or a pipe",
            ));
        }
        let mut start = Vec::new();
        File::open(path).map_err(failed)?.take(512).read_to_end(&mut start).map_err(failed)?;
        let kind = match start.as_slice() {
            [0x1f, 0x8b, ..] => Kind::Archive(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Kind::Archive(Compression::Zstd),
            start if start.len() >= 262 && &start[257..262] == b"ustar" => Kind::Archive(Compression::None),
            _ => Kind::File,
        };
        Ok(Source { path: path.to_owned(), kind, bytes: metadata.len() })
    }

    /// A number that another input is very unlikely to have: of the archive's bytes, or of all files of a
    /// directory.
    pub(super) fn fingerprint(&self, progress: &dyn Progress) -> Result<String, Error> {
        let mut hash = Fingerprint::default();
        let mut add = |path: &Path| -> Result<(), Error> {
            let fail = |error| Error::io(path, error);
            let mut file = File::open(path).map_err(fail)?;
            let mut buffer = vec![0; 1 << 20];
            loop {
                progress.check()?;
                match file.read(&mut buffer).map_err(fail)? {
                    0 => return Ok(()),
                    n => hash.add(&buffer[..n]),
                }
            }
        };
        match &self.kind {
            Kind::Directory(files) => {
                for file in files {
                    add(&self.path.join(file))?;
                }
                for file in files {
                    hash.add(file.to_string_lossy().as_bytes());
                }
            }
            _ => add(&self.path)?,
        }
        Ok(hash.finish())
    }

    /// Calls `visit` with every file, in the order of the archive or sorted by name. Lines of JSON Lines have at most
    /// `longest` bytes.
    pub(super) fn for_each(
        &self,
        longest: usize,
        progress: &dyn Progress,
        visit: Visit<'_>,
    ) -> Result<(), Error> {
        let watch = (longest, progress);
        match &self.kind {
            Kind::Directory(files) => {
                for file in files {
                    self.read_plain(&self.path.join(file), &file.to_string_lossy(), watch, visit)?;
                }
                Ok(())
            }
            Kind::File => self.read_plain(&self.path, &shown(&self.path), watch, visit),
            Kind::Archive(compression) => self.read_archive(*compression, watch, visit),
        }
    }

    fn read_plain(
        &self,
        path: &Path,
        name: &str,
        watch: (usize, &dyn Progress),
        visit: Visit<'_>,
    ) -> Result<(), Error> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        read_file(Counted { input: file, progress: watch.1 }, None, (name, &shown(path)), watch, visit)
    }

    fn read_archive(
        &self,
        compression: Compression,
        watch: (usize, &dyn Progress),
        visit: Visit<'_>,
    ) -> Result<(), Error> {
        let progress = watch.1;
        let shown = shown(&self.path);
        let fail = |error| Error::io(&shown, error);
        let file = File::open(&self.path).map_err(fail)?;
        let counted = BufReader::with_capacity(1 << 16, Counted { input: file, progress });
        let input: Box<dyn Read + '_> = match compression {
            Compression::None => Box::new(counted),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(counted)),
            Compression::Zstd => Box::new(zstd::Decoder::with_buffer(counted).map_err(fail)?),
        };
        let mut archive = tar::Archive::new(BufReader::with_capacity(1 << 17, input));
        let mut seen = HashSet::new();
        for entry in archive.entries().map_err(fail)? {
            let entry = entry.map_err(fail)?;
            progress.check()?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let is_inside =
                Path::new(&name).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
            if !is_inside {
                let message = format!("expected paths inside the archive, found `{name}`");
                return Err(Error::input(&shown, message));
            }
            if !seen.insert(name.clone()) {
                return Err(Error::input(&shown, format!("expected each file once, found `{name}` again")));
            }
            let place = format!("{shown}: {name}");
            let size = entry.size();
            read_file(entry, Some(size), (&name, &place), watch, visit)?;
        }
        // To the very end, where a compressed file has its checksum.
        io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(fail)?;
        if seen.is_empty() {
            return Err(Error::input(&shown, "expected files in the archive, found none"));
        }
        Ok(())
    }
}

/// Reads one file, large JSON Lines files in pieces. In an archive its size is known, and a cut is noticed.
fn read_file(
    mut input: impl Read,
    size: Option<u64>,
    (name, shown): (&str, &str),
    (longest, progress): (usize, &dyn Progress),
    visit: Visit<'_>,
) -> Result<(), Error> {
    if is_ancillary(name) {
        io::copy(&mut input, &mut io::sink()).map_err(|error| Error::io(shown, error))?;
        return Ok(());
    }
    let split = split_of(name);
    let (mut content, mut first_line, mut total) = (Vec::new(), 1, 0);
    // How much of `content` is known to have no end of a line, and how much of a line that is too long was passed over.
    let (mut searched, mut passed) = (0, None);
    let mut has_returns = false;
    let piece = |content: Vec<u8>, first_line: usize, is_cut: bool| SourceFile {
        name: name.to_owned(),
        first_line,
        content,
        split,
        is_cut,
    };
    loop {
        progress.check()?;
        let taken = (&mut input).take(PIECE as u64).read_to_end(&mut content);
        let taken = taken.map_err(|error| Error::io(shown, error))?;
        let is_end = taken < PIECE;
        if total == 0 {
            content.drain(..content.len() - without_mark(&content).len());
            has_returns = has_returns_alone(&content);
        }
        if has_returns {
            let fresh = content.len().saturating_sub(taken);
            content[fresh..].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        total += taken as u64;
        if let Some(size) = size
            && is_end
            && total != size
        {
            let message = format!("expected {size} bytes, found {total}: the archive is cut");
            return Err(Error::input(shown, message));
        }
        if let Some(bytes) = passed {
            match content.iter().position(|&byte| byte == b'\n') {
                Some(end) => {
                    content.drain(..=end);
                    (passed, searched, first_line) = (None, 0, first_line + 1);
                }
                None if !is_end && bytes > MAX_PASSED => {
                    return Err(Error::input(
                        shown,
                        format!("expected lines, found one of more than {bytes} bytes"),
                    ));
                }
                None => {
                    passed = Some(bytes + content.len());
                    content.clear();
                    if !is_end {
                        continue;
                    }
                }
            }
        }
        let mut rest = Vec::new();
        if !is_end {
            if Layout::of(&content) != Some(Layout::Jsonl) {
                if content.len() as u64 > MAX_FILE {
                    return Err(Error::input(
                        shown,
                        format!("expected at most {MAX_FILE} bytes, found more"),
                    ));
                }
                continue;
            }
            // Pieces of JSON Lines end at the end of a line.
            match content[searched..].iter().rposition(|&byte| byte == b'\n') {
                Some(end) => rest = content.split_off(searched + end + 1),
                None if content.len() <= longest => {
                    searched = content.len();
                    continue;
                }
                None => {
                    visit(piece(Vec::new(), first_line, true))?;
                    passed = Some(content.len());
                    content.clear();
                    continue;
                }
            }
        }
        let lines = content.iter().filter(|&&byte| byte == b'\n').count();
        searched = rest.len();
        visit(piece(std::mem::replace(&mut content, rest), first_line, false))?;
        first_line += lines;
        if is_end {
            return Ok(());
        }
    }
}

/// Files next to data that are not data.
fn is_ancillary(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.split('.').next().unwrap_or(file).to_ascii_uppercase();
    file.starts_with('.') || ["README", "COPYING", "LICENSE", "LICENCE", "NOTICE"].contains(&stem.as_str())
}

/// HolStep keeps its test split in a directory of its own.
fn split_of(name: &str) -> Split {
    let is_test = Path::new(name)
        .parent()
        .is_some_and(|directories| directories.components().any(|component| component.as_os_str() == "test"));
    if is_test { Split::Test } else { Split::Train }
}

/// All files below a directory, relative to it, and how many bytes they have.
fn list(root: &Path, files: &mut Vec<PathBuf>) -> Result<u64, Error> {
    let mut bytes = 0;
    let mut pending = vec![PathBuf::new()];
    while let Some(directory) = pending.pop() {
        let path = root.join(&directory);
        let fail = |error| Error::io(&path, error);
        for entry in fs::read_dir(&path).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let relative = directory.join(entry.file_name());
            // Links are followed to files, but not to directories: those may form cycles.
            let metadata = fs::metadata(entry.path()).map_err(fail)?;
            if entry.file_type().map_err(fail)?.is_dir() {
                pending.push(relative);
            } else if metadata.is_file() {
                bytes += metadata.len();
                files.push(relative);
            }
        }
    }
    Ok(bytes)
}

/// Tells the progress bar how much was read.
struct Counted<'a, R> {
    input: R,
    progress: &'a dyn Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buffer)?;
        self.progress.advance(n as u64);
        Ok(n)
    }
}

/// A quick hash of a stream, to recognise an input; not meant against forgery.
#[derive(Default)]
struct Fingerprint {
    state: [u64; 2],
    length: u64,
    pending: Vec<u8>,
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let mut pending = std::mem::take(&mut self.pending);
        pending.extend_from_slice(bytes);
        let blocks = pending.chunks_exact(16);
        let rest = blocks.remainder().to_vec();
        blocks.for_each(|block| self.block(block.try_into().expect("sixteen bytes")));
        self.pending = rest;
    }

    fn block(&mut self, block: [u8; 16]) {
        let word = u128::from_le_bytes(block);
        self.state = [
            mix(self.state[0] ^ word as u64, 0x9e37_79b9_7f4a_7c15),
            mix(self.state[1] ^ (word >> 64) as u64, self.state[0] | 1),
        ];
    }

    fn finish(mut self) -> String {
        let mut last = std::mem::take(&mut self.pending);
        last.resize(16, 0);
        self.block(last.try_into().expect("sixteen bytes"));
        let mut length = [0; 16];
        length[..8].copy_from_slice(&self.length.to_le_bytes());
        self.block(length);
        format!("{:016x}{:016x}", self.state[0], self.state[1])
    }
}
