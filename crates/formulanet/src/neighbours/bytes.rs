//! Neighbours as model files keep them.
//!
//! Numbers of seven bits a byte, the lowest first; a byte above 127 says that more follow. Lists that ascend are kept as
//! differences.

use super::Neighbours;

impl Neighbours {
    /// As model files keep them; nothing if there are none.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.is_empty() {
            return bytes;
        }
        ascending(&mut bytes, self.premises.iter().copied());
        // Features are given by their places in a list of all, which are smaller numbers.
        let mut all: Vec<u32> = self.features.iter().flatten().map(|(feature, _)| *feature).collect();
        all.sort_unstable();
        all.dedup();
        ascending(&mut bytes, all.iter().map(|&feature| u64::from(feature)));
        number(&mut bytes, self.len() as u64);
        for (features, uses) in self.features.iter().zip(&self.uses) {
            let places = features.iter().map(|(feature, _)| all.partition_point(|other| other < feature));
            ascending(&mut bytes, places.map(|place| place as u64));
            features.iter().for_each(|(_, count)| number(&mut bytes, u64::from(*count)));
            ascending(&mut bytes, uses.iter().map(|&premise| u64::from(premise)));
        }
        bytes
    }

    /// What [`Neighbours::to_bytes`] wrote; nothing if it is something else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Neighbours::default());
        }
        let mut reader = Reader { bytes };
        let premises = reader.ascending(1 << 48)?;
        let all = reader.ascending(1 << 32)?;
        let count = reader.count()?;
        let (mut features, mut uses) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let places = reader.ascending(all.len() as u64)?;
            let feature = |place: u64| {
                let count = reader.number().filter(|&count| count > 0)?;
                Some((all[place as usize] as u32, u32::try_from(count).ok()?))
            };
            features.push(places.into_iter().map(feature).collect::<Option<Vec<_>>>()?);
            let used = reader.ascending(premises.len() as u64)?;
            uses.push(used.into_iter().map(|premise| premise as u32).collect());
        }
        reader.bytes.is_empty().then(|| Neighbours::of_parts(premises, features, uses))
    }
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// How many numbers there are, and each less the one before.
fn ascending(bytes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u64>) {
    number(bytes, numbers.len() as u64);
    let mut last = 0;
    for next in numbers {
        number(bytes, next - last);
        last = next;
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things of at least one byte each, which have to be there.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    /// Different numbers below a bound, each above the one before.
    fn ascending(&mut self, below: u64) -> Option<Vec<u64>> {
        let count = self.count()?;
        let mut numbers: Vec<u64> = Vec::with_capacity(count);
        for i in 0..count {
            let difference = self.number()?;
            let next = numbers.last().copied().unwrap_or(0).checked_add(difference)?;
            if next >= below || (i > 0 && difference == 0) {
                return None;
            }
            numbers.push(next);
        }
        Some(numbers)
    }
}
