//! Lists of numbers in few bytes, for model files.
//!
//! A number is seven bits a byte, the lowest first; a byte above 127 says that more follow. Lists that ascend are kept as
//! differences.

pub fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Encodes ascending numbers as their count and their differences.
pub fn write_ascending(bytes: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u64>) {
    write(bytes, numbers.len() as u64);
    let mut last = 0;
    for next in numbers {
        write(bytes, next - last);
        last = next;
    }
}

/// Reads what was written. Nothing is returned for bytes that were not.
pub struct Reader<'a> {
    pub bytes: &'a [u8],
}

impl Reader<'_> {
    pub fn number(&mut self) -> Option<u64> {
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
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    /// Different numbers below a bound, each above the one before.
    pub fn ascending(&mut self, below: u64) -> Option<Vec<u64>> {
        let mut numbers: Vec<u64> = Vec::new();
        self.each_ascending(below, |number| numbers.push(number))?;
        Some(numbers)
    }

    /// Decodes the numbers one by one.
    pub fn each_ascending(&mut self, below: u64, mut take: impl FnMut(u64)) -> Option<()> {
        let mut last = 0u64;
        for i in 0..self.count()? {
            let difference = self.number()?;
            last = last.checked_add(difference)?;
            if last >= below || (i > 0 && difference == 0) {
                return None;
            }
            take(last);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, 1 << 40];
        write_ascending(&mut bytes, numbers.into_iter());
        assert_eq!(bytes.len(), 1 + 4 + 2 + 6);
        let read = |bytes, below| Reader { bytes }.ascending(below);
        assert_eq!(read(&bytes, 1 << 41), Some(numbers.to_vec()));
        assert_eq!(read(&bytes, 1 << 40), None);
        assert_eq!(read(&bytes[..bytes.len() - 1], 1 << 41), None);
        // Twice the same, more than there can be, and a number without an end.
        assert_eq!(read(&[2, 5, 0], 100), None);
        assert_eq!(read(&[200, 1, 5], 100), None);
        assert_eq!(read(&[255; 12], 100), None);
    }
}
