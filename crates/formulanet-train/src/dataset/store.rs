//! A prepared folder, as training reads it.

use std::collections::HashMap;
use std::fs;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use formulanet::net::GraphInput;
use memmap2::Mmap;
use safetensors::tensor::{TensorInfo, TensorView};
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::Options;
use super::checksums::Checksums;
use super::source::Layout;
use super::split::Split;
use crate::Error;
use formulanet::error::{Artefact, shown};
use formulanet::util::files::read_text;
use formulanet::util::hash::digest;
use formulanet::util::map::map;

/// Number of the folder's format. Format 1 has no checksums, and is still read.
pub(super) const FORMAT: u32 = 2;
const OLDEST_FORMAT: u32 = 1;
pub(super) const GRAPHS: &str = "graphs.safetensors";
pub(super) const VOCABULARY: &str = "vocab.txt";
pub(super) const META: &str = "meta.json";

/// The source and options of a prepared directory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// Number of the folder's format.
    pub format: u32,
    /// Version of the program that made it.
    pub program: String,
    /// Name of the input, without its directory.
    pub input: String,
    /// How the input was written down.
    pub layout: Layout,
    /// Tells one input from another.
    pub fingerprint: String,
    /// How it was prepared.
    pub options: Options,
    /// How much there is.
    pub counts: Counts,
    /// Checksums of its files.
    #[serde(default, skip_serializing_if = "Checksums::is_empty")]
    pub(super) checksums: Checksums,
}

impl Meta {
    /// As the folder has it, with a checksum of its own.
    pub(super) fn to_text(&self) -> String {
        let mut meta = self.clone();
        meta.checksums.take(META);
        let text = meta.plain();
        meta.checksums.note(META, text.as_bytes());
        meta.plain()
    }

    fn plain(&self) -> String {
        serde_json::to_string_pretty(self).expect("a description is plain data") + "\n"
    }

    /// Refuses a description that is not as it was written.
    fn verify(&self, file: &Path) -> Result<(), Error> {
        let mut meta = self.clone();
        let known = meta.checksums.take(META);
        let mut now = Checksums::default();
        now.note(META, meta.plain().as_bytes());
        if known == now.take(META) {
            return Ok(());
        }
        Err(Error::corrupt(
            Artefact::Dataset,
            file,
            "expected the description that was written, found a damaged one; prepare the folder again",
        ))
    }
}

/// How much a prepared folder holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Conjectures of all splits.
    pub conjectures: usize,
    /// Labelled statements.
    pub pairs: usize,
    /// Distinct graphs of everything.
    pub graphs: usize,
    /// Distinct graphs of labelled statements.
    pub statement_graphs: usize,
    /// Nodes of all graphs.
    pub nodes: usize,
    /// Edges of all graphs.
    pub edges: usize,
    /// Labels with a token of their own.
    pub vocabulary: usize,
    /// Named statements.
    pub premises: usize,
    /// How often a conjecture depends on a named statement.
    pub dependencies: usize,
    /// How often a name stood for another statement than at first.
    pub ambiguous_premises: usize,
    /// Statements that were left out.
    pub skipped: usize,
}

/// A prepared folder, mapped into memory.
pub struct Prepared {
    path: PathBuf,
    meta: Meta,
    vocabulary: Vec<String>,
    memory: Arc<Mmap>,
    arrays: Arrays,
}

/// A conjecture of a prepared folder.
#[derive(Clone, Debug)]
pub struct Conjecture<'a> {
    /// Its name.
    pub name: &'a str,
    /// The file it comes from.
    pub file: &'a str,
    /// Its graph.
    pub graph: u32,
    /// Its split.
    pub split: Split,
    /// Its labelled statements.
    pub pairs: Range<usize>,
    /// The named statements that its proof depends on.
    pub dependencies: &'a [u32],
}

/// A labelled statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The conjecture it belongs to.
    pub conjecture: u32,
    /// Its graph.
    pub statement: u32,
    /// Whether it is useful for the conjecture.
    pub useful: bool,
}

/// A named statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Premise<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its graph.
    pub graph: u32,
}

/// Where an array of a prepared folder lies, for programs that map its file themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its name.
    pub name: &'static str,
    /// Bytes of each of its numbers, which are unsigned and little-endian.
    pub width: usize,
    /// Its bytes in the file.
    pub bytes: Range<usize>,
}

/// Element types of arrays.
pub(super) trait Element: AnyBitPattern + NoUninit {
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($number:ty: $dtype:ident),*) => {
        $(impl Element for $number {
            const DTYPE: Dtype = Dtype::$dtype;
        })*
    };
}

elements!(u8: U8, u16: U16, u32: U32, u64: U64);

/// An array of a known type in a mapped file.
struct Array<T> {
    name: &'static str,
    memory: Arc<Mmap>,
    bytes: Range<usize>,
    element: PhantomData<T>,
}

impl<T: Element> Deref for Array<T> {
    type Target = [T];

    /// Its numbers. That they are aligned was checked when the array was found.
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory[self.bytes.clone()])
    }
}

impl<T: Element> Array<T> {
    fn place(&self) -> Place {
        Place { name: self.name, width: size_of::<T>(), bytes: self.bytes.clone() }
    }

    fn expect(&self, expected: usize) -> Result<(), String> {
        match self.len() {
            found if found == expected => Ok(()),
            found => Err(format!("{found} entries of `{}` where {expected} should be", self.name)),
        }
    }
}

impl Array<u64> {
    /// One of the texts that these offsets divide.
    fn text<'a>(&self, texts: &'a Array<u8>, number: usize) -> &'a str {
        std::str::from_utf8(&texts[self.range(number)]).unwrap_or("?")
    }

    /// The part of another array that belongs to an entry.
    fn range(&self, number: usize) -> Range<usize> {
        let offsets = &self[number..number + 2];
        offsets[0] as usize..offsets[1] as usize
    }

    fn expect_offsets(&self, entries: usize, end: usize) -> Result<(), String> {
        let fits = self.len() == entries + 1 && self[0] == 0 && self[entries] == end as u64;
        let is_sound = fits && self.is_sorted();
        if is_sound { Ok(()) } else { Err(format!("offsets `{}` out of order", self.name)) }
    }
}

impl Array<u32> {
    fn expect_below(&self, end: usize) -> Result<(), String> {
        let is_sound = self.iter().all(|&number| (number as usize) < end);
        if is_sound { Ok(()) } else { Err(format!("a number in `{}` that stands for nothing", self.name)) }
    }
}

/// The arrays that a file says it has.
struct Found<'a> {
    memory: &'a Arc<Mmap>,
    /// Where the first of them begins.
    start: usize,
    tensors: HashMap<String, &'a TensorInfo>,
}

impl Found<'_> {
    fn array<T: Element>(&self, name: &'static str) -> Result<Array<T>, String> {
        let info = self.tensors.get(name).filter(|info| info.dtype == T::DTYPE);
        let (begin, end) = info.ok_or_else(|| format!("no array `{name}`"))?.data_offsets;
        let bytes = self.start + begin..self.start + end;
        let (found, expected) = (self.memory.len(), bytes.end);
        let inside = self.memory.get(bytes.clone());
        let inside = inside.ok_or_else(|| format!("only {found} of {expected} bytes"))?;
        if bytemuck::try_cast_slice::<u8, T>(inside).is_err() {
            return Err(format!("an array `{name}` that is not aligned"));
        }
        Ok(Array { name, memory: Arc::clone(self.memory), bytes, element: PhantomData })
    }
}

/// All arrays of a folder, as they are read and as they are written. Each is stored under its own name.
macro_rules! arrays {
    ($($name:ident: $number:ty,)*) => {
        struct Arrays {
            $($name: Array<$number>,)*
        }

        impl Arrays {
            fn places(&self) -> Vec<Place> {
                vec![$(self.$name.place(),)*]
            }
        }

        impl Found<'_> {
            fn arrays(&self) -> Result<Arrays, String> {
                Ok(Arrays { $($name: self.array(stringify!($name))?,)* })
            }
        }

        /// The arrays of a folder that is being made.
        #[derive(Default)]
        pub(super) struct Columns {
            $(pub(super) $name: Vec<$number>,)*
        }

        impl Columns {
            pub(super) fn tensors(&self) -> Vec<(&'static str, TensorView<'_>)> {
                vec![$((stringify!($name), array(&self.$name)),)*]
            }
        }
    };
}

/// An array as it is written.
pub(super) fn array<T: Element>(values: &[T]) -> TensorView<'_> {
    let view = TensorView::new(T::DTYPE, vec![values.len()], bytemuck::cast_slice(values));
    view.expect("as many bytes as the numbers have")
}

arrays! {
    node_offsets: u64,
    edge_offsets: u64,
    tokens: u16,
    degrees: u16,
    targets: u16,
    pair_conjecture: u32,
    pair_statement: u32,
    pair_useful: u8,
    conjecture_graph: u32,
    conjecture_split: u8,
    conjecture_pairs: u64,
    conjecture_names: u8,
    conjecture_names_offsets: u64,
    conjecture_files: u8,
    conjecture_files_offsets: u64,
    dependency_premise: u32,
    dependency_offsets: u64,
    premise_graph: u32,
    premise_names: u8,
    premise_names_offsets: u64,
}

impl Arrays {
    /// Refuses arrays that do not fit each other.
    fn check(&self, counts: &Counts) -> Result<(), String> {
        let &Counts { graphs, nodes, edges, pairs, conjectures, premises, dependencies, .. } = counts;
        self.tokens.expect(nodes)?;
        self.degrees.expect(nodes)?;
        self.targets.expect(edges)?;
        self.pair_conjecture.expect(pairs)?;
        self.pair_statement.expect(pairs)?;
        self.pair_useful.expect(pairs)?;
        self.conjecture_graph.expect(conjectures)?;
        self.conjecture_split.expect(conjectures)?;
        self.premise_graph.expect(premises)?;
        self.dependency_premise.expect(dependencies)?;
        self.node_offsets.expect_offsets(graphs, nodes)?;
        self.edge_offsets.expect_offsets(graphs, edges)?;
        self.conjecture_pairs.expect_offsets(conjectures, pairs)?;
        self.dependency_offsets.expect_offsets(conjectures, dependencies)?;
        self.conjecture_names_offsets.expect_offsets(conjectures, self.conjecture_names.len())?;
        self.conjecture_files_offsets.expect_offsets(conjectures, self.conjecture_files.len())?;
        self.premise_names_offsets.expect_offsets(premises, self.premise_names.len())?;
        self.pair_conjecture.expect_below(conjectures)?;
        self.pair_statement.expect_below(graphs)?;
        self.conjecture_graph.expect_below(graphs)?;
        self.premise_graph.expect_below(graphs)?;
        self.dependency_premise.expect_below(premises)?;
        match self.conjecture_split.iter().all(|&split| usize::from(split) < Split::ALL.len()) {
            true => Ok(()),
            false => Err("an unknown split".to_owned()),
        }
    }
}

impl Prepared {
    /// Maps a prepared folder. Compares its files with their checksums, and checks its small arrays; looks at graphs only
    /// when they are used.
    ///
    /// # Errors
    ///
    /// If the folder was not prepared by this version of the program, or is damaged.
    pub fn open(path: &Path) -> Result<Prepared, Error> {
        let meta = read_meta(path)?;
        let graphs = path.join(GRAPHS);
        let memory = Arc::new(map(&graphs)?);
        meta.checksums.verify(&graphs, &memory)?;
        let text = read_text(&path.join(VOCABULARY))?;
        meta.checksums.verify(&path.join(VOCABULARY), text.as_bytes())?;
        let vocabulary: Vec<String> = text.lines().map(str::to_owned).collect();
        let arrays = find(&memory, &meta.counts, vocabulary.len()).map_err(|found| {
            let message = format!("expected a whole prepared folder, found {found}; prepare it again");
            Error::corrupt(Artefact::Dataset, &graphs, message)
        })?;
        Ok(Prepared { path: path.to_owned(), meta, vocabulary, memory, arrays })
    }

    /// Looks at every graph: tokens within the vocabulary, edges within the graph.
    pub fn verify(&self) -> Result<(), Error> {
        for number in 0..self.meta.counts.graphs {
            let graph = self.graph(number as u32);
            let edges: usize = graph.degrees.iter().map(|&d| usize::from(d)).sum();
            let is_sound = edges == graph.targets.len()
                && graph.targets.iter().all(|&target| usize::from(target) < graph.tokens.len())
                && graph.tokens.iter().all(|&token| usize::from(token) < self.vocabulary.len());
            if !is_sound {
                let message = format!("graph {number} is damaged; prepare the folder again");
                return Err(Error::corrupt(Artefact::Dataset, self.path.join(GRAPHS), message));
            }
        }
        Ok(())
    }

    /// A hash of all graphs and pairs.
    pub fn digest(&self) -> u64 {
        digest(&self.memory)
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that has its arrays.
    pub fn arrays_file(&self) -> PathBuf {
        self.path.join(GRAPHS)
    }

    /// Where its arrays lie in that file.
    pub fn places(&self) -> Vec<Place> {
        self.arrays.places()
    }

    /// The source of the directory.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The label of every token.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// A graph by its number. Nothing is copied.
    pub fn graph(&self, number: u32) -> GraphInput<'_> {
        let arrays = &self.arrays;
        let nodes = arrays.node_offsets.range(number as usize);
        GraphInput {
            tokens: &arrays.tokens[nodes.clone()],
            degrees: &arrays.degrees[nodes],
            targets: &arrays.targets[arrays.edge_offsets.range(number as usize)],
        }
    }

    /// A labelled statement by its number.
    pub fn pair(&self, number: usize) -> Pair {
        let arrays = &self.arrays;
        let (conjecture, statement) = (arrays.pair_conjecture[number], arrays.pair_statement[number]);
        Pair { conjecture, statement, useful: arrays.pair_useful[number] != 0 }
    }

    /// A conjecture by its number.
    pub fn conjecture(&self, number: usize) -> Conjecture<'_> {
        let arrays = &self.arrays;
        Conjecture {
            name: arrays.conjecture_names_offsets.text(&arrays.conjecture_names, number),
            file: arrays.conjecture_files_offsets.text(&arrays.conjecture_files, number),
            graph: arrays.conjecture_graph[number],
            split: Split::ALL[usize::from(arrays.conjecture_split[number])],
            pairs: arrays.conjecture_pairs.range(number),
            dependencies: &arrays.dependency_premise[arrays.dependency_offsets.range(number)],
        }
    }

    /// All conjectures.
    pub fn conjectures(&self) -> impl Iterator<Item = Conjecture<'_>> {
        (0..self.meta.counts.conjectures).map(|number| self.conjecture(number))
    }

    /// The conjectures of a split.
    pub fn of_split(&self, split: Split) -> impl Iterator<Item = Conjecture<'_>> {
        self.conjectures().filter(move |conjecture| conjecture.split == split)
    }

    /// A named statement by its number.
    pub fn premise(&self, number: usize) -> Premise<'_> {
        let arrays = &self.arrays;
        let name = arrays.premise_names_offsets.text(&arrays.premise_names, number);
        Premise { name, graph: arrays.premise_graph[number] }
    }
}

/// The arrays of a mapped file, or what was found instead.
fn find(memory: &Arc<Mmap>, counts: &Counts, labels: usize) -> Result<Arrays, String> {
    let (header, metadata) = SafeTensors::read_metadata(memory).map_err(|error| error.to_string())?;
    let arrays = Found { memory, start: header + 8, tensors: metadata.tensors() }.arrays()?;
    if labels != counts.vocabulary {
        return Err(format!("{labels} entries of `{VOCABULARY}` where {} should be", counts.vocabulary));
    }
    arrays.check(counts)?;
    Ok(arrays)
}

/// The description of a prepared directory.
pub(super) fn read_meta(path: &Path) -> Result<Meta, Error> {
    let file = path.join(META);
    let text = fs::read_to_string(&file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::NotPrepared(shown(path)),
        _ => Error::io(&file, error),
    })?;
    let wrong = |error: serde_json::Error| {
        Error::corrupt(
            Artefact::Dataset,
            &file,
            format!("expected the description of a prepared folder, found {error}"),
        )
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
    let format = &value["format"];
    let number = format.as_u64().unwrap_or(0);
    if !(u64::from(OLDEST_FORMAT)..=u64::from(FORMAT)).contains(&number) {
        let message = format!(
            "expected a folder of format {FORMAT}, found {format}; prepare it again with this program"
        );
        return Err(Error::corrupt(Artefact::Dataset, &file, message));
    }
    let meta: Meta = serde_json::from_value(value).map_err(wrong)?;
    if meta.format > OLDEST_FORMAT || !meta.checksums.is_empty() {
        meta.verify(&file)?;
    }
    Ok(meta)
}
