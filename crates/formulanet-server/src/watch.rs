//! Looks several times a second whether the files of the libraries have changed, and reads what is new.

use std::fs;
use std::path::Path;
use std::sync::Weak;
use std::thread;
use std::time::{Duration, SystemTime};

use formulanet::{Engine, Error, Library};

use crate::catalog::Shelf;
use crate::router::App;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(200);
/// How long to wait for a process that is writing a library; the other libraries are not looked at meanwhile.
const PATIENCE: Duration = Duration::from_millis(500);

/// The file's metadata, which changes with every write.
type Stamp = (u64, SystemTime);

/// A library that is looked at.
struct Watched {
    library: Library,
    version: i64,
    stamp: Stamp,
}

/// Starts watching, until the server stops.
pub(crate) fn begin(app: Weak<App>) {
    thread::spawn(move || {
        let mut watched: Vec<Option<Watched>> = Vec::new();
        while let Some(app) = app.upgrade() {
            let shelves = &app.catalog.shelves;
            watched.resize_with(shelves.len(), || None);
            for (shelf, watched) in shelves.iter().zip(&mut watched) {
                // A file that cannot be read now is tried again; what was read of it stays.
                match look(shelf, &app.catalog.engine, watched) {
                    Ok(()) => shelf.note(None),
                    // Who writes now has soon done so.
                    Err(Error::Busy(_)) => {}
                    Err(error) => {
                        *watched = None;
                        shelf.note(Some(error.to_string()));
                    }
                }
            }
            drop(app);
            thread::sleep(PAUSE);
        }
    });
}

/// Looks at one library.
fn look(shelf: &Shelf, engine: &Engine, watched: &mut Option<Watched>) -> Result<(), Error> {
    // Before the library is read: what is written meanwhile is seen by the next look.
    let stamp = stamp(&shelf.path)?;
    if let Some(known) = watched.as_mut().filter(|known| known.library.is_in_place()) {
        let version = known.library.version()?;
        if version != known.version {
            shelf.refresh(&known.library, engine)?;
            (known.version, known.stamp) = (version, stamp);
            return Ok(());
        }
        if stamp == known.stamp {
            return Ok(());
        }
        // Written by a program that is not SQLite, such as `cp`: what the connection remembers of the file says nothing.
    }
    *watched = None;
    let library = Library::open_within(&shelf.path, PATIENCE)?;
    library.check(&shelf.model.retriever)?;
    let version = library.version()?;
    shelf.refresh(&library, engine)?;
    *watched = Some(Watched { library, version, stamp });
    Ok(())
}

fn stamp(path: &Path) -> Result<Stamp, Error> {
    let missing = |_| Error::NoSuchLibrary(path.display().to_string());
    let found = fs::metadata(path).map_err(missing)?;
    Ok((found.len(), found.modified().unwrap_or(SystemTime::UNIX_EPOCH)))
}
