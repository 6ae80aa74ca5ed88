//! Numbers that look random and are the same in every run.

pub use formulanet_net::random::scramble;

/// A stream of such numbers.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// From 0 to below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (((self.next() >> 32) * end as u64) >> 32) as usize
    }
}

/// Whether a number that looks random falls into a share.
pub fn falls_in(number: u64, share: f32) -> bool {
    ((number >> 40) as f32 / (1u64 << 24) as f32) < share
}

/// The first `number` of `items` in an order that the seed decides; all of them if there are fewer.
pub fn sample<T>(mut items: Vec<T>, number: usize, seed: u64) -> Vec<T> {
    let number = number.min(items.len());
    for place in 0..number {
        let rest = (items.len() - place) as u64;
        let drawn = scramble(seed ^ scramble(place as u64)) % rest;
        items.swap(place, place + drawn as usize);
    }
    items.truncate(number);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_each_item_once_and_follows_the_seed() {
        let all: Vec<u32> = (0..100).collect();
        let mut whole = sample(all.clone(), 1000, 3);
        assert_ne!(whole, all);
        whole.sort_unstable();
        assert_eq!(whole, all);
        assert_eq!(sample(all.clone(), 10, 3), sample(all.clone(), 10, 3));
        assert_ne!(sample(all.clone(), 10, 3), sample(all.clone(), 10, 4));
        assert!(sample(all, 0, 3).is_empty());
    }
}
