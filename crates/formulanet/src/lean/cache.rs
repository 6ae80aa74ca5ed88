//! Declarations that were read before.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::proofs::Features;

/// The key of a declaration's text. Clients send the texts, so a collision must not be constructible.
type Key = [u8; 32];

/// Features of declarations; those that were not used for the longest time are evicted.
pub(super) struct Cache {
    most_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// By key: what was read, and when it was last asked for. What could not be read is kept, too.
    entries: HashMap<Key, (Entry, u64)>,
    /// The keys by when they were last asked for.
    order: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

/// The analyzed declaration; `None` if it cannot be read.
pub(super) type Entry = Option<Arc<Features>>;

impl Cache {
    /// An empty cache of at most this many bytes.
    pub(super) fn new(most_bytes: usize) -> Self {
        Cache { most_bytes, inner: Mutex::default() }
    }

    /// Returns the analysis of a text, which is computed without holding the lock if it is not cached.
    pub(super) fn get(&self, text: &str, read: impl FnOnce() -> Option<Features>) -> Entry {
        let key: Key = Sha256::digest(text.as_bytes()).into();
        if let Some(known) = self.lock().find(key) {
            return known;
        }
        let entry = read().map(Arc::new);
        self.lock().insert(key, entry.clone(), self.most_bytes);
        entry
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // What panicked left at most a key without an entry, which is found missing later.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn find(&mut self, key: Key) -> Option<Entry> {
        let (entry, last) = self.entries.get_mut(&key)?;
        self.clock += 1;
        self.order.remove(last);
        self.order.insert(self.clock, key);
        *last = self.clock;
        Some(entry.clone())
    }

    fn insert(&mut self, key: Key, entry: Entry, most: usize) {
        let bytes = size(&entry);
        if bytes > most || self.find(key).is_some() {
            return;
        }
        self.clock += 1;
        self.order.insert(self.clock, key);
        self.entries.insert(key, (entry, self.clock));
        self.bytes += bytes;
        while self.bytes > most {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            if let Some((entry, _)) = self.entries.remove(&oldest) {
                self.bytes -= size(&entry);
            }
        }
    }
}

/// The bytes of an entry, with its keys and the overhead of tables.
fn size(entry: &Entry) -> usize {
    const AROUND: usize = 256;
    AROUND + entry.as_ref().map_or(0, |features| features.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_last_stays() {
        let cache = Cache::new(3 * size(&None));
        let is_read = |text: &str| {
            let mut is_read = false;
            cache.get(text, || {
                is_read = true;
                None
            });
            is_read
        };
        assert!(is_read("a") && is_read("b") && is_read("c"));
        assert!(!is_read("a") && !is_read("b") && !is_read("c") && !is_read("a"));
        // `b` was asked for the longest ago.
        assert!(is_read("d") && !is_read("a") && !is_read("c") && !is_read("d") && is_read("b"));
        let inner = cache.lock();
        assert_eq!((inner.entries.len(), inner.order.len(), inner.bytes), (3, 3, 3 * size(&None)));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let cache = Cache::new(100);
        assert!(cache.get("a", || Some(Features::default())).is_some());
        assert_eq!(cache.lock().entries.len(), 0);
    }
}
