//! Pools: conjectures with candidates that a retriever found for them, and what it says of each.

use std::path::Path;

use formulanet::logic::{Formula, Interner, Limits, TooLarge};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};

use super::folder::{Found, SYMBOLS, read_symbols, statement_arrays, symbol_text};
use super::{Candidate, Entry, ProblemOrigin, Problems};
use crate::Error;
use crate::dataset::checksums::Checksums;
use crate::dataset::split::Split;
use crate::dataset::statements::{StatementCollection, StatementMaker};
use crate::dataset::store::array;
use crate::dataset::write::{check_output, in_new_folder, write_arrays, write_file};
use formulanet::error::Artefact;
use formulanet::util::files;

/// Describes a folder of pools.
pub(super) const POOLS: &str = "pools.json";
const ARRAYS: &str = "pools.safetensors";

/// The description of a directory of pools.
#[derive(Serialize, Deserialize)]
struct Description {
    origin: ProblemOrigin,
    /// Names of the numbers that are known of each candidate.
    features: Vec<String>,
    /// Names of the conjectures.
    conjectures: Vec<String>,
    /// Checksums of the files.
    #[serde(default, skip_serializing_if = "Checksums::is_empty")]
    checksums: Checksums,
}

impl Description {
    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a description is plain data")
    }

    /// Refuses a description that is not as it was written.
    fn verify(&mut self, file: &Path) -> Result<(), Error> {
        if self.checksums.is_empty() {
            return Ok(());
        }
        let known = self.checksums.take(POOLS);
        let mut now = Checksums::default();
        now.note(POOLS, &self.to_bytes());
        let is_same = known == now.take(POOLS);
        let damaged = || {
            Error::corrupt(
                Artefact::Dataset,
                file,
                "expected what was written, found a damaged file; make the pools again",
            )
        };
        if is_same { Ok(()) } else { Err(damaged()) }
    }
}

/// Makes problems of statements and of what a retriever found.
pub struct PoolBuilder {
    maker: StatementMaker,
    statements: StatementCollection,
    features: Vec<String>,
    values: Vec<u16>,
    problems: Vec<Entry>,
    candidates: Vec<Candidate>,
}

impl PoolBuilder {
    /// Nothing yet; `features` are the names of what is known of each candidate.
    pub fn new(features: &[&str], limits: Limits) -> Self {
        PoolBuilder {
            maker: StatementMaker::new(limits),
            statements: StatementCollection::new(1),
            features: features.iter().map(|&name| name.to_owned()).collect(),
            values: Vec::new(),
            problems: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Adds a statement and says its number. All must have their symbols from the same interner.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn add_statement(&mut self, formula: &Formula, names: &Interner) -> Result<u32, TooLarge> {
        let statement = self.maker.make(formula, names)?;
        self.statements.meet(0, std::mem::take(&mut self.maker.new_symbols));
        self.statements.keep(0, &statement);
        Ok(self.statements.statements.len() as u32 - 1)
    }

    /// Begins a problem with this number of useful statements, in the pool or not.
    pub fn begin_problem(&mut self, name: &str, conjecture: u32, split: Split, relevant: usize) {
        let end = self.candidates.len();
        self.problems.push(Entry {
            name: name.to_owned(),
            statement: conjecture,
            split,
            candidates: end..end,
            relevant,
        });
    }

    /// Adds a candidate to the last problem, the retriever's best first.
    ///
    /// # Panics
    ///
    /// If there is no problem yet, or not as many features as were named.
    pub fn add_candidate(&mut self, candidate: Candidate, features: &[f32]) {
        assert_eq!(features.len(), self.features.len(), "a number for each feature");
        self.candidates.push(candidate);
        self.values.extend(features.iter().map(|&value| shorten(value)));
        self.problems.last_mut().expect("a problem was begun").candidates.end = self.candidates.len();
    }

    /// The problems.
    pub fn finish(self, origin: ProblemOrigin) -> Problems {
        Problems {
            origin,
            symbols: self.statements.symbols,
            statements: self.statements.statements,
            problems: self.problems,
            candidates: self.candidates,
            features: self.features,
            values: self.values,
        }
    }
}

/// The upper half of a number's bits, rounded to the nearest.
fn shorten(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// The number that was shortened.
pub(super) fn lengthen(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

impl Problems {
    /// Writes pools into a new folder, whole or not at all.
    ///
    /// # Errors
    ///
    /// If there is something at that place, or it cannot be written.
    pub fn write_pools(&self, output: &Path) -> Result<(), Error> {
        check_output(output)?;
        let mut description = Description {
            origin: self.origin.clone(),
            features: self.features.clone(),
            conjectures: self.problems.iter().map(|entry| entry.name.clone()).collect(),
            checksums: Checksums::default(),
        };
        let of_problems = |number: fn(&Entry) -> usize| -> Vec<u32> {
            self.problems.iter().map(|entry| number(entry) as u32).collect()
        };
        let conjectures = of_problems(|entry| entry.statement as usize);
        let (ends, relevant) =
            (of_problems(|entry| entry.candidates.end), of_problems(|entry| entry.relevant));
        let splits: Vec<u8> = self.problems.iter().map(|entry| entry.split as u8).collect();
        let statements: Vec<u32> = self.candidates.iter().map(|candidate| candidate.statement).collect();
        let useful: Vec<u8> = self.candidates.iter().map(|candidate| candidate.is_useful.into()).collect();
        let arrays = statement_arrays(&self.statements).into_iter().chain([
            ("values", array(&self.values)),
            ("conjecture_statement", array(&conjectures)),
            ("candidate_ends", array(&ends)),
            ("relevant", array(&relevant)),
            ("candidate_statement", array(&statements)),
            ("splits", array(&splits)),
            ("useful", array(&useful)),
        ]);
        in_new_folder(output, |folder| {
            let mut checksums = Checksums::default();
            write_arrays(arrays, &folder.join(ARRAYS), &mut checksums)?;
            write_file(&folder.join(SYMBOLS), symbol_text(&self.symbols).as_bytes(), &mut checksums)?;
            description.checksums = checksums.clone();
            description.checksums.note(POOLS, &description.to_bytes());
            write_file(&folder.join(POOLS), &description.to_bytes(), &mut checksums)?;
            Ok(true)
        })
    }
}

/// Reads a folder of pools.
pub(super) fn read(path: &Path) -> Result<Problems, Error> {
    let file = path.join(ARRAYS);
    let damaged = |found: &str| {
        Error::corrupt(
            Artefact::Dataset,
            file.display().to_string(),
            format!("expected pools, found {found}"),
        )
    };
    let text = files::read(&path.join(POOLS))?;
    let mut description: Description = serde_json::from_slice(&text).map_err(|error| {
        Error::corrupt(Artefact::Dataset, path.join(POOLS).display().to_string(), error.to_string())
    })?;
    description.verify(&path.join(POOLS))?;
    let bytes = files::read(&file)?;
    description.checksums.verify(&file, &bytes)?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(&error.to_string()))?;
    let found = Found(&tensors);
    let numbers = |name: &str| found.numbers::<u32>(name).map_err(|error| damaged(&error));
    let bytes_of = |name: &str| found.numbers::<u8>(name).map_err(|error| damaged(&error));
    let statements = found.statements().map_err(|error| damaged(&error))?;
    let symbols = read_symbols(path, &description.checksums)?;
    let [of_problems, ends, relevant, of_candidates] =
        ["conjecture_statement", "candidate_ends", "relevant", "candidate_statement"].map(numbers);
    let (of_problems, ends, relevant, of_candidates) = (of_problems?, ends?, relevant?, of_candidates?);
    let (splits, useful) = (bytes_of("splits")?, bytes_of("useful")?);
    let values = found.numbers::<u16>("values").map_err(|error| damaged(&error))?;
    let Description { mut origin, features, conjectures, .. } = description;
    let is_statement = |numbers: &[u32]| numbers.iter().all(|&n| (n as usize) < statements.len());
    let count = conjectures.len();
    let fits = statements.are_whole(symbols.len())
        && [of_problems.len(), ends.len(), relevant.len(), splits.len()] == [count; 4]
        && is_statement(&of_problems)
        && is_statement(&of_candidates)
        && ends.is_sorted()
        && ends.last().copied().unwrap_or(0) as usize == of_candidates.len()
        && useful.len() == of_candidates.len()
        && values.len() == of_candidates.len() * features.len()
        && splits.iter().all(|&split| usize::from(split) < Split::ALL.len());
    if !fits {
        return Err(damaged("arrays that do not fit together; make the pools again"));
    }
    let mut begin = 0;
    let problems = conjectures.into_iter().enumerate().map(|(number, name)| {
        let candidates = begin..ends[number] as usize;
        begin = candidates.end;
        let split = Split::ALL[usize::from(splits[number])];
        Entry { name, statement: of_problems[number], split, candidates, relevant: relevant[number] as usize }
    });
    let problems = problems.collect();
    let candidates = of_candidates.iter().zip(&useful);
    let candidates = candidates.map(|(&statement, &useful)| Candidate { statement, is_useful: useful != 0 });
    origin.path = path.display().to_string();
    let candidates = candidates.collect();
    Ok(Problems { origin, symbols, statements, problems, candidates, features, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_first_digits() {
        for value in [0.0f32, 1.0, -2.5, 0.333_333_34, 12_345.678, -1e-6] {
            let back = lengthen(shorten(value));
            assert!((back - value).abs() <= value.abs() / 256.0, "{value} became {back}");
        }
    }
}
