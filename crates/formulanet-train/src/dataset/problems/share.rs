//! Problems with another share of useful candidates.

use super::{Candidate, Problems};
use formulanet::util::random::{sample, scramble};

impl Problems {
    /// Leaves candidates out at random, the same ones in every run, until about this share of those of each conjecture is
    /// useful: useful ones if too many are, others if too few are. At least one of either kind stays. Conjectures that
    /// have only one kind of candidates have none after that.
    #[must_use]
    pub fn with_useful_share(mut self, share: f32) -> Self {
        let width = self.features.len();
        let (mut candidates, mut values) = (Vec::new(), Vec::new());
        for (number, entry) in self.problems.iter_mut().enumerate() {
            let begin = candidates.len();
            let of_entry = &self.candidates[entry.candidates.clone()];
            let kept = places_of_share(of_entry, share, scramble(number as u64 ^ 0x7368_6172));
            for &place in &kept {
                candidates.push(of_entry[place]);
                values.extend_from_slice(&self.values[(entry.candidates.start + place) * width..][..width]);
            }
            let useful = |candidates: &[Candidate]| candidates.iter().filter(|one| one.is_useful).count();
            // What was left out is not missed.
            let relevant = entry.relevant - (useful(of_entry) - useful(&candidates[begin..]));
            (entry.candidates, entry.relevant) = (begin..candidates.len(), relevant);
        }
        Problems { candidates, values, ..self }
    }
}

/// The places of the candidates that stay, in order.
fn places_of_share(candidates: &[Candidate], share: f32, seed: u64) -> Vec<usize> {
    let (useful, others): (Vec<usize>, Vec<usize>) =
        (0..candidates.len()).partition(|&place| candidates[place].is_useful);
    if useful.is_empty() || others.is_empty() {
        return Vec::new();
    }
    let odds = f64::from(share) / (1.0 - f64::from(share));
    let most_useful = (odds * others.len() as f64).round().max(1.0) as usize;
    let most_others = (useful.len() as f64 / odds).round().max(1.0) as usize;
    let mut kept = if useful.len() > most_useful {
        [sample(useful, most_useful, seed), others].concat()
    } else {
        [sample(others, most_others, seed), useful].concat()
    };
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of useful candidates that stay, of all.
    #[track_caller]
    fn check([useful, others]: [usize; 2], share: f32, expected: [usize; 2]) {
        let candidates: Vec<Candidate> = (0..useful + others)
            .map(|n| Candidate {
                statement: n as u32,
                is_useful: n * useful / (useful + others) != (n + 1) * useful / (useful + others),
            })
            .collect();
        let kept = places_of_share(&candidates, share, 3);
        assert!(kept.is_sorted() && kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(kept, places_of_share(&candidates, share, 3));
        let useful = kept.iter().filter(|&&place| candidates[place].is_useful).count();
        assert_eq!([useful, kept.len() - useful], expected);
    }

    #[test]
    fn candidates_are_left_out_until_the_share_is_right() {
        check([8, 8], 0.5, [8, 8]);
        check([8, 8], 0.25, [3, 8]);
        check([8, 8], 0.125, [1, 8]);
        check([8, 8], 0.01, [1, 8]);
        check([3, 125], 0.25, [3, 9]);
        check([3, 125], 0.99, [3, 1]);
        check([0, 8], 0.5, [0, 0]);
        check([8, 0], 0.5, [0, 0]);
    }
}
