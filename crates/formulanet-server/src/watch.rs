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

/// What tells one file from another that took its place.
type Identity = (u64, Option<SystemTime>);

/// A library that is looked at.
struct Watched {
    library: Library,
    identity: Identity,
    version: i64,
}

/// Begins to watch, for as long as somebody answers requests.
pub(crate) fn begin(app: Weak<App>) {
    thread::spawn(move || {
        let mut watched: Vec<Option<Watched>> = Vec::new();
        while let Some(app) = app.upgrade() {
            let shelves = &app.catalog.shelves;
            watched.resize_with(shelves.len(), || None);
            for (shelf, watched) in shelves.iter().zip(&mut watched) {
                // A file that cannot be read now is tried again; what was read of it stays.
                let failure = look(shelf, &app.catalog.engine, watched).err().map(|error| error.to_string());
                if failure.is_some() {
                    *watched = None;
                }
                shelf.note(failure);
            }
            drop(app);
            thread::sleep(PAUSE);
        }
    });
}

/// Looks at one library.
fn look(shelf: &Shelf, engine: &Engine, watched: &mut Option<Watched>) -> Result<(), Error> {
    // Between two libraries at one place there may be none.
    let Some(identity) = identity(&shelf.path) else { return Ok(()) };
    let now = match watched.take().filter(|watched| watched.identity == identity) {
        Some(now) => now,
        None => {
            let library = Library::open(&shelf.path)?;
            library.check(&shelf.model.retriever)?;
            Watched { library, identity, version: -1 }
        }
    };
    let version = now.library.version()?;
    if version != now.version {
        shelf.refresh(&now.library, engine)?;
    }
    *watched = Some(Watched { version, ..now });
    Ok(())
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((fs::metadata(path).ok()?.ino(), None))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    Some((0, fs::metadata(path).ok()?.created().ok()))
}
