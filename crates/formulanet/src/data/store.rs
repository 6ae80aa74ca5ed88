//! A prepared folder, as training reads it.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::AnyBitPattern;
use memmap2::Mmap;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::source::Layout;
use super::split::Split;
use super::{Options, map};
use crate::Error;

/// Number of the folder's format; a program reads only its own.
pub(super) const FORMAT: u32 = 1;
pub(super) const GRAPHS: &str = "graphs.safetensors";
pub(super) const VOCABULARY: &str = "vocab.txt";
pub(super) const META: &str = "meta.json";

/// What a prepared folder was made of, and how.
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
    memory: Mmap,
    tensors: BTreeMap<String, (Dtype, Range<usize>)>,
}

/// A graph of a prepared folder. Nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct GraphRef<'a> {
    /// The token of every node.
    pub tokens: &'a [u16],
    /// How many edges leave every node.
    pub degrees: &'a [u16],
    /// Targets of the edges, ordered by source and rank.
    pub targets: &'a [u16],
}

impl<'a> GraphRef<'a> {
    /// The same as the network reads it.
    pub fn input(&self) -> formulanet_net::GraphInput<'a> {
        formulanet_net::GraphInput { tokens: self.tokens, degrees: self.degrees, targets: self.targets }
    }

    /// How many treelets there are.
    pub fn treelet_count(&self) -> u64 {
        self.degrees.iter().map(|&m| u64::from(m)).map(|m| m * m.saturating_sub(1) / 2).sum()
    }
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
    /// What it is used for.
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

/// The tensors of a folder and the type of each.
const TENSORS: [(&str, Dtype); 19] = [
    ("node_offsets", Dtype::U64),
    ("edge_offsets", Dtype::U64),
    ("conjecture_pairs", Dtype::U64),
    ("dependency_offsets", Dtype::U64),
    ("conjecture_names_offsets", Dtype::U64),
    ("conjecture_files_offsets", Dtype::U64),
    ("premise_names_offsets", Dtype::U64),
    ("pair_conjecture", Dtype::U32),
    ("pair_statement", Dtype::U32),
    ("conjecture_graph", Dtype::U32),
    ("dependency_premise", Dtype::U32),
    ("premise_graph", Dtype::U32),
    ("tokens", Dtype::U16),
    ("degrees", Dtype::U16),
    ("targets", Dtype::U16),
    ("pair_useful", Dtype::U8),
    ("conjecture_split", Dtype::U8),
    ("conjecture_names", Dtype::U8),
    ("premise_names", Dtype::U8),
];

impl Prepared {
    /// Maps a prepared folder. Its small arrays are checked; its graphs are looked at only when they are used.
    pub fn open(path: &Path) -> Result<Prepared, Error> {
        let meta = read_meta(path)?;
        let graphs = path.join(GRAPHS);
        let shown = graphs.display().to_string();
        let memory = map::map(&graphs)?;
        let damaged = |what: String| {
            Error::data(&shown, format!("expected a whole prepared folder, found {what}; prepare it again"))
        };
        let (header, found) =
            SafeTensors::read_metadata(&memory).map_err(|error| damaged(error.to_string()))?;
        let start = header + 8;
        let mut tensors = BTreeMap::new();
        for (name, info) in found.tensors() {
            let range = start + info.data_offsets.0..start + info.data_offsets.1;
            if range.end > memory.len() {
                return Err(damaged(format!("only {} of {} bytes", memory.len(), range.end)));
            }
            tensors.insert(name, (info.dtype, range));
        }
        for (name, dtype) in TENSORS.into_iter().chain([("conjecture_files", Dtype::U8)]) {
            match tensors.get(name) {
                Some((found, _)) if *found == dtype => {}
                _ => return Err(damaged(format!("no array `{name}`"))),
            }
        }
        let vocabulary_path = path.join(VOCABULARY);
        let text = fs::read_to_string(&vocabulary_path)
            .map_err(|error| Error::io(vocabulary_path.display().to_string(), error))?;
        let vocabulary = text.lines().map(str::to_owned).collect();
        let prepared = Prepared { path: path.to_owned(), meta, vocabulary, memory, tensors };
        prepared.check().map_err(damaged)?;
        Ok(prepared)
    }

    /// Whether the arrays fit each other.
    fn check(&self) -> Result<(), String> {
        let counts = &self.meta.counts;
        let lengths = [
            ("node_offsets", self.longs("node_offsets").len(), counts.graphs + 1),
            ("edge_offsets", self.longs("edge_offsets").len(), counts.graphs + 1),
            ("tokens", self.shorts("tokens").len(), counts.nodes),
            ("degrees", self.shorts("degrees").len(), counts.nodes),
            ("targets", self.shorts("targets").len(), counts.edges),
            ("pair_conjecture", self.words("pair_conjecture").len(), counts.pairs),
            ("pair_statement", self.words("pair_statement").len(), counts.pairs),
            ("pair_useful", self.bytes("pair_useful").len(), counts.pairs),
            ("conjecture_graph", self.words("conjecture_graph").len(), counts.conjectures),
            ("conjecture_split", self.bytes("conjecture_split").len(), counts.conjectures),
            ("premise_graph", self.words("premise_graph").len(), counts.premises),
            ("dependency_premise", self.words("dependency_premise").len(), counts.dependencies),
            ("vocab.txt", self.vocabulary.len(), counts.vocabulary),
        ];
        for (name, found, expected) in lengths {
            if found != expected {
                return Err(format!("{found} entries of `{name}` where {expected} should be"));
            }
        }
        let offsets = [
            ("node_offsets", counts.graphs, counts.nodes),
            ("edge_offsets", counts.graphs, counts.edges),
            ("conjecture_pairs", counts.conjectures, counts.pairs),
            ("dependency_offsets", counts.conjectures, counts.dependencies),
            ("conjecture_names_offsets", counts.conjectures, self.bytes("conjecture_names").len()),
            ("conjecture_files_offsets", counts.conjectures, self.bytes("conjecture_files").len()),
            ("premise_names_offsets", counts.premises, self.bytes("premise_names").len()),
        ];
        for (name, entries, end) in offsets {
            let found = self.longs(name);
            let fits = found.len() == entries + 1 && found[0] == 0 && found[entries] == end as u64;
            if !fits || !found.is_sorted() {
                return Err(format!("offsets `{name}` out of order"));
            }
        }
        let ranges = [
            ("pair_conjecture", counts.conjectures),
            ("pair_statement", counts.graphs),
            ("conjecture_graph", counts.graphs),
            ("premise_graph", counts.graphs),
            ("dependency_premise", counts.premises),
        ];
        for (name, end) in ranges {
            if self.words(name).iter().any(|&number| number as usize >= end) {
                return Err(format!("a number in `{name}` that stands for nothing"));
            }
        }
        if self.bytes("conjecture_split").iter().any(|&split| usize::from(split) >= Split::ALL.len()) {
            return Err("an unknown split".to_owned());
        }
        Ok(())
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
                let shown = self.path.join(GRAPHS).display().to_string();
                return Err(Error::data(
                    shown,
                    format!("graph {number} is damaged; prepare the folder again"),
                ));
            }
        }
        Ok(())
    }

    /// A hash of all graphs and pairs.
    pub fn digest(&self) -> u64 {
        crate::processes::digest(&self.memory)
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the folder was made of.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The label of every token.
    pub fn vocabulary(&self) -> &[String] {
        &self.vocabulary
    }

    /// A graph by its number.
    pub fn graph(&self, number: u32) -> GraphRef<'_> {
        let number = number as usize;
        let nodes = &self.longs("node_offsets")[number..number + 2];
        let edges = &self.longs("edge_offsets")[number..number + 2];
        let nodes = nodes[0] as usize..nodes[1] as usize;
        GraphRef {
            tokens: &self.shorts("tokens")[nodes.clone()],
            degrees: &self.shorts("degrees")[nodes],
            targets: &self.shorts("targets")[edges[0] as usize..edges[1] as usize],
        }
    }

    /// A labelled statement by its number.
    pub fn pair(&self, number: usize) -> Pair {
        Pair {
            conjecture: self.words("pair_conjecture")[number],
            statement: self.words("pair_statement")[number],
            useful: self.bytes("pair_useful")[number] != 0,
        }
    }

    /// A conjecture by its number.
    pub fn conjecture(&self, number: usize) -> Conjecture<'_> {
        let pairs = &self.longs("conjecture_pairs")[number..number + 2];
        let dependencies = &self.longs("dependency_offsets")[number..number + 2];
        Conjecture {
            name: self.text("conjecture_names", "conjecture_names_offsets", number),
            file: self.text("conjecture_files", "conjecture_files_offsets", number),
            graph: self.words("conjecture_graph")[number],
            split: Split::ALL[usize::from(self.bytes("conjecture_split")[number])],
            pairs: pairs[0] as usize..pairs[1] as usize,
            dependencies: &self.words("dependency_premise")
                [dependencies[0] as usize..dependencies[1] as usize],
        }
    }

    /// All conjectures.
    pub fn conjectures(&self) -> impl Iterator<Item = Conjecture<'_>> {
        (0..self.meta.counts.conjectures).map(|number| self.conjecture(number))
    }

    /// A named statement by its number.
    pub fn premise(&self, number: usize) -> Premise<'_> {
        let name = self.text("premise_names", "premise_names_offsets", number);
        Premise { name, graph: self.words("premise_graph")[number] }
    }

    fn text(&self, bytes: &str, offsets: &str, number: usize) -> &str {
        let offsets = &self.longs(offsets)[number..number + 2];
        std::str::from_utf8(&self.bytes(bytes)[offsets[0] as usize..offsets[1] as usize]).unwrap_or("?")
    }

    fn longs(&self, name: &str) -> &[u64] {
        self.tensor(name)
    }

    fn words(&self, name: &str) -> &[u32] {
        self.tensor(name)
    }

    fn shorts(&self, name: &str) -> &[u16] {
        self.tensor(name)
    }

    fn bytes(&self, name: &str) -> &[u8] {
        self.tensor(name)
    }

    /// An array whose presence and type were checked when the folder was opened. One that is not aligned is empty,
    /// which no check of its length accepts.
    fn tensor<T: AnyBitPattern>(&self, name: &str) -> &[T] {
        let (_, range) = &self.tensors[name];
        bytemuck::try_cast_slice(&self.memory[range.clone()]).unwrap_or_default()
    }
}

/// What a prepared folder says about itself.
pub(super) fn read_meta(path: &Path) -> Result<Meta, Error> {
    let file = path.join(META);
    let shown = file.display().to_string();
    let text = fs::read_to_string(&file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let message =
                "expected a prepared folder, found no meta.json; make one with `formulanet prepare`";
            Error::data(path.display().to_string(), message)
        }
        _ => Error::io(&shown, error),
    })?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        Error::data(&shown, format!("expected the description of a prepared folder, found {error}"))
    })?;
    if value["format"] != FORMAT {
        let message = format!(
            "expected a folder of format {FORMAT}, found {}; prepare it again with this program",
            value["format"]
        );
        return Err(Error::data(&shown, message));
    }
    serde_json::from_value(value).map_err(|error| {
        Error::data(&shown, format!("expected the description of a prepared folder, found {error}"))
    })
}
