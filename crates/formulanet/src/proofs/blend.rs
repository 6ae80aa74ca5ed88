//! The blend of all signals into one score, trained on other libraries and kept in a small file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use formulanet_net::{CHECKSUM, UNSEALED, is_sealed, seal, verify};
use safetensors::tensor::{SafeTensors, TensorView};

use crate::Error;
use crate::error::Artefact;
use crate::proofs::methods::Scored;
use crate::proofs::{Context, GoalPosition, IndexedGoal, ProofIndex, SignalTable, TreeEnsemble};
use crate::util::files;

/// Decision trees that score the signals of a fact, a row of a [`SignalTable`].
#[derive(Clone, PartialEq, Debug)]
pub struct SignalBlend {
    forest: TreeEnsemble,
    /// Slope and intercept that turn the trees' scores into log-odds: without proofs, and with some.
    calibration: [[f32; 2]; 2],
    /// Description of how it was made, for people.
    origin: String,
}

/// Names of the parts of a file.
const KIND: &str = "kind";
const BLEND: &str = "blend";
const SIGNALS: &str = "signals";
const ORIGIN: &str = "origin";
const CALIBRATION: &str = "calibration";

impl SignalBlend {
    /// Makes a blend of all signals.
    ///
    /// # Errors
    ///
    /// Returns an error if the trees are for rows of another width.
    pub fn new(
        forest: TreeEnsemble,
        calibration: [[f32; 2]; 2],
        origin: impl Into<String>,
    ) -> Result<Self, Error> {
        if forest.width != SignalTable::COUNT {
            let message =
                format!("expected trees for {} signals, found {}", SignalTable::COUNT, forest.width);
            return Err(Error::corrupt(Artefact::Blend, "blend", message));
        }
        Ok(SignalBlend { forest, calibration, origin: origin.into() })
    }

    /// Returns the built-in blend.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be read, which a test rules out.
    pub fn built_in() -> &'static SignalBlend {
        static BUILT_IN: LazyLock<SignalBlend> = LazyLock::new(|| {
            SignalBlend::from_bytes(formulanet_model_blend::MODEL, "blend")
                .expect("the built-in blend is whole")
        });
        &BUILT_IN
    }

    /// Returns the description of how it was made.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the score of a fact by its signals: log-odds.
    pub fn score(&self, row: &[f32]) -> f32 {
        let [slope, intercept] = self.calibration[usize::from(SignalTable::has_proofs(row))];
        slope * self.forest.score(row) + intercept
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a blend of this program's signals.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let bytes = files::read(path)?;
        Self::from_bytes(&bytes, &shown)
    }

    /// Reads a file that is in memory; `name` is for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a blend of this program's signals.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let damaged = |message: &str| {
            Error::corrupt(Artefact::Blend, name, format!("expected a blend of signals, found {message}"))
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| damaged(&error.to_string()))?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let part = |key: &str| metadata.get(key).map_or("", String::as_str);
        if part(KIND) != BLEND {
            return Err(damaged("something else"));
        }
        if part(SIGNALS) != SignalTable::NAMES.join(" ") {
            return Err(damaged("one of other signals, made by another version of this program"));
        }
        let is_cut = metadata.contains_key(CHECKSUM) && !is_sealed(bytes);
        if is_cut || verify(bytes).is_err() {
            return Err(damaged("a damaged one: the checksum does not fit"));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(&error.to_string()))?;
        let forest = TreeEnsemble::read(&tensors, SignalTable::COUNT).map_err(|found| damaged(&found))?;
        let numbers: Vec<f32> =
            part(CALIBRATION).split(' ').filter_map(|number| number.parse().ok()).collect();
        let &[a, b, c, d] = &numbers[..] else { return Err(damaged("no calibration")) };
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(damaged("a calibration that is not finite"));
        }
        Ok(SignalBlend { forest, calibration: [[a, b], [c, d]], origin: part(ORIGIN).to_owned() })
    }

    /// Encodes the blend for a file.
    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let failed =
            |error: safetensors::SafeTensorError| Error::corrupt(Artefact::Blend, "blend", error.to_string());
        let parts = self.forest.parts();
        let view = |(name, dtype, shape, bytes)| -> Result<_, Error> {
            Ok((name, TensorView::new(dtype, shape, bytes).map_err(failed)?))
        };
        let parts =
            parts.iter().map(|(name, dtype, shape, bytes)| view((*name, *dtype, shape.clone(), bytes)));
        let parts = parts.collect::<Result<Vec<_>, Error>>()?;
        let metadata = HashMap::from([
            (KIND.to_owned(), BLEND.to_owned()),
            (SIGNALS.to_owned(), SignalTable::NAMES.join(" ")),
            (ORIGIN.to_owned(), self.origin.clone()),
            (
                CALIBRATION.to_owned(),
                self.calibration.as_flattened().iter().map(f32::to_string).collect::<Vec<_>>().join(" "),
            ),
            (CHECKSUM.to_owned(), UNSEALED.to_owned()),
        ]);
        let mut bytes = safetensors::serialize(parts, Some(metadata)).map_err(failed)?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        files::write_whole(path, &self.to_bytes()?)
    }
}

impl ProofIndex {
    /// Returns the candidates for a goal, with the scores of a blend.
    pub(super) fn blended(&self, goal: &IndexedGoal, before: usize, blend: &SignalBlend) -> Vec<Scored> {
        scored(&self.signals(goal, before), blend)
    }

    /// Returns the candidates for a goal that may stand anywhere in the library, with the scores of a blend.
    pub(super) fn blended_anywhere(&self, goal: &IndexedGoal, blend: &SignalBlend) -> Vec<Scored> {
        let context = Context { position: GoalPosition::NearestFact, model: None };
        scored(&self.signals_in(goal, self.len(), context, |_| true), blend)
    }
}

fn scored(signals: &SignalTable, blend: &SignalBlend) -> Vec<Scored> {
    let scores = signals.rows().map(|row| blend.score(row));
    signals.facts().zip(scores).map(|(fact, score)| (fact as u32, score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> SignalBlend {
        let mut forest = TreeEnsemble::new(SignalTable::COUNT, 1);
        forest.push(&[(3, 0.5)], &[-1.0, 2.0]);
        SignalBlend::new(forest, [[1.0, 0.0]; 2], "two leaves").unwrap()
    }

    #[test]
    fn files_are_read_back() {
        let blend = tiny();
        let bytes = blend.to_bytes().unwrap();
        let back = SignalBlend::from_bytes(&bytes, "tiny").unwrap();
        assert_eq!((&back, back.origin()), (&blend, "two leaves"));
        let mut row = vec![0.0; SignalTable::COUNT];
        row[3] = 1.0;
        assert_eq!(back.score(&row), 2.0);
        assert!(SignalBlend::new(TreeEnsemble::new(3, 1), [[1.0, 0.0]; 2], "").is_err());
    }

    #[test]
    fn damaged_files_are_errors() {
        let bytes = tiny().to_bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(SignalBlend::from_bytes(&bytes[..length], "cut").is_err(), "{length}");
        }
        let replaced = |from: &str, to: &str| {
            let place = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
            let mut other = bytes.clone();
            other[place..place + from.len()].copy_from_slice(to.as_bytes());
            SignalBlend::from_bytes(&other, "other").unwrap_err().to_string()
        };
        assert!(replaced("\"blend\"", "\"blond\"").contains("something else"));
        assert!(replaced("parts_4", "parts_5").contains("other signals"));
        let mut wrong_column = bytes.clone();
        let mut infinite = bytes.clone();
        // The last tensors of the file are the numbers; the column is the only byte that is 3.
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let column = start + bytes[start..].iter().position(|&byte| byte == 3).unwrap();
        wrong_column[column] = 255;
        let noticed = SignalBlend::from_bytes(&wrong_column, "column").unwrap_err().to_string();
        assert!(noticed.contains("the checksum does not fit"), "{noticed}");
        // A program that writes such a file writes its checksum, too.
        seal(&mut wrong_column);
        assert!(
            SignalBlend::from_bytes(&wrong_column, "column")
                .unwrap_err()
                .to_string()
                .contains("damaged trees")
        );
        let leaf = start + bytes[start..].windows(4).position(|part| part == 2.0f32.to_le_bytes()).unwrap();
        infinite[leaf..leaf + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
        seal(&mut infinite);
        assert!(
            SignalBlend::from_bytes(&infinite, "leaf").unwrap_err().to_string().contains("damaged trees")
        );
    }

    #[test]
    fn the_shipped_blend_is_whole() {
        assert!(!SignalBlend::built_in().origin().is_empty());
    }
}
