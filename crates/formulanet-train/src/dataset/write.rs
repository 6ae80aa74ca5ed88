//! A collection to a folder: splits, vocabulary, arrays.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use safetensors::SafeTensorError;
use safetensors::tensor::TensorView;

use super::checksums::Checksums;
use super::collect::{Collection, Conjecture};
use super::prepare::{Labels, Options};
use super::problems;
use super::split;
use super::split::{Candidate, Split};
use super::store::{Columns, Counts, GRAPHS, META, Meta, VOCABULARY};
use crate::{Error, Progress};
use formulanet::model::vocabulary::{SPECIAL, UNKNOWN_KINDS, is_logical};
use formulanet::util::files::folder_of;
use formulanet::util::map::map;
use formulanet::util::temporary::TempFolder;

/// Whether a folder can be made at a place.
pub(super) fn check_output(output: &Path) -> Result<(), Error> {
    let is_taken = output.exists() && !fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_none());
    if is_taken {
        let message = "expected a new or empty folder, found something else; choose another";
        return Err(Error::input(output, message));
    }
    let parent = folder_of(output);
    if !parent.is_dir() {
        let message = format!("expected a folder in {}, which is not there", parent.display());
        return Err(Error::input(output, message));
    }
    Ok(())
}

/// Writes the folder and completes its description.
pub(super) fn write(
    mut collection: Collection,
    mut meta: Meta,
    output: &Path,
    progress: &dyn Progress,
) -> Result<Meta, Error> {
    if collection.pairs.is_empty() && collection.conjectures.is_empty() {
        return Err(Error::input(meta.input, "expected conjectures, found none"));
    }
    collection.pairs.sort_by_key(|pair| pair.conjecture);
    hold_out(&mut collection.conjectures, &meta.options);
    let vocabulary = Vocabulary::of(&collection, meta.options.labels, meta.options.min_count);
    if vocabulary.labels.len() > usize::from(u16::MAX) {
        let message = format!("expected at most {} labels, found {}", u16::MAX, vocabulary.labels.len());
        return Err(Error::input(meta.input, message));
    }
    in_new_folder(output, |folder| {
        if meta.options.together {
            problems::write(&collection, folder, &mut meta.checksums)?;
        }
        let (ambiguous_premises, skipped) = (collection.ambiguous_premises, collection.skipped.count);
        let columns = columns(collection, &vocabulary);
        meta.counts = Counts { ambiguous_premises, skipped, ..counts(&columns, vocabulary.labels.len()) };
        write_arrays(columns.tensors(), &folder.join(GRAPHS), &mut meta.checksums)?;
        write_file(&folder.join(VOCABULARY), vocabulary.text().as_bytes(), &mut meta.checksums)?;
        write_file(&folder.join(META), meta.to_text().as_bytes(), &mut Checksums::default())?;
        Ok(!progress.is_stopped())
    })?;
    Ok(meta)
}

/// Makes a folder, whole or not at all: `fill` writes its files, and says whether it is to be kept.
pub(super) fn in_new_folder(
    output: &Path,
    fill: impl FnOnce(&Path) -> std::io::Result<bool>,
) -> Result<(), Error> {
    let fail = |error| Error::io(output, error);
    // A folder beside the result, so that renaming it is one step; removed if anything fails.
    let parent = folder_of(output);
    let folder = TempFolder::new_in(parent).map_err(fail)?;
    if !fill(folder.path()).map_err(fail)? {
        return Err(Error::Interrupted);
    }
    readable_by_others(folder.path(), 0o755).map_err(fail)?;
    fs::rename(folder.path(), output).map_err(fail)?;
    // It has its new name: there is nothing left to remove.
    let _ = folder.keep();
    File::open(folder_of(output)).and_then(|directory| directory.sync_all()).map_err(fail)
}

/// A file under a temporary name is private to its maker; the result is readable by all.
#[cfg(unix)]
fn readable_by_others(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

pub(super) fn write_file(path: &Path, bytes: &[u8], checksums: &mut Checksums) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    checksums.note(&name_of(path), bytes);
    file.sync_all()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn hold_out(conjectures: &mut [Conjecture], options: &Options) {
    let places: Vec<usize> =
        (0..conjectures.len()).filter(|&i| conjectures[i].split == Split::Train).collect();
    let candidate = |&i: &usize| Candidate { name: &conjectures[i].name, graph: conjectures[i].graph };
    let candidates: Vec<Candidate<'_>> = places.iter().map(candidate).collect();
    let chosen = split::held_out(&candidates, &options.validation, options.seed);
    for place in chosen {
        conjectures[places[place]].split = Split::Validation;
    }
}

/// The labels of the training split, or of everything.
struct Vocabulary {
    labels: Vec<String>,
    /// For each label of the collection, its token, if it has one of its own.
    tokens: Vec<Option<u16>>,
    /// For each label of the collection, whether it is a connective or a binder.
    is_logical: Vec<bool>,
    known: formulanet::model::vocabulary::Vocabulary,
}

impl Vocabulary {
    fn of(collection: &Collection, labels: Labels, min_count: u64) -> Self {
        let mut is_training = vec![labels == Labels::All; collection.graph_count()];
        let of_conjecture = |number: u32| &collection.conjectures[number as usize];
        for conjecture in collection.conjectures.iter().filter(|c| c.split == Split::Train) {
            is_training[conjecture.graph as usize] = true;
            for &premise in &conjecture.dependencies {
                is_training[collection.premises[premise as usize].graph as usize] = true;
            }
        }
        for pair in collection.pairs.iter().filter(|p| of_conjecture(p.conjecture).split == Split::Train) {
            is_training[pair.graph as usize] = true;
        }
        let mut counts = vec![0u64; collection.labels.len()];
        for (graph, _) in is_training.iter().enumerate().filter(|(_, is_training)| **is_training) {
            let nodes = collection.node_offsets[graph] as usize..collection.node_offsets[graph + 1] as usize;
            for &label in &collection.tokens[nodes] {
                counts[label as usize] += 1;
            }
        }
        let mut order: Vec<usize> = (0..counts.len())
            .filter(|&i| counts[i] >= min_count.max(1) && !SPECIAL.contains(&collection.labels[i].as_str()))
            .collect();
        order.sort_by(|&a, &b| {
            counts[b].cmp(&counts[a]).then_with(|| collection.labels[a].cmp(&collection.labels[b]))
        });
        // Where no label is rare enough to be left out, nothing would teach what the kinds of unknown ones mean.
        let kinds = UNKNOWN_KINDS.as_flattened().iter().filter(|_| min_count > 1);
        let special = SPECIAL.iter().chain(kinds).map(|label| (*label).to_owned());
        let labels: Vec<String> =
            special.chain(order.iter().map(|&i| collection.labels[i].clone())).collect();
        let known = formulanet::model::vocabulary::Vocabulary::new(&labels).expect("UNKNOWN is special");
        let tokens = collection.labels.iter().map(|label| known.known(label)).collect();
        let is_logical = collection.labels.iter().map(|label| is_logical(label)).collect();
        Vocabulary { labels, tokens, is_logical, known }
    }

    /// The tokens of all nodes of a collection.
    fn tokens(&self, collection: &Collection) -> Vec<u16> {
        let mut tokens = Vec::with_capacity(collection.tokens.len());
        for graph in 0..collection.graph_count() {
            let range = |offsets: &[u64]| offsets[graph] as usize..offsets[graph + 1] as usize;
            let nodes = range(&collection.node_offsets);
            let labels = &collection.tokens[nodes.clone()];
            let known = labels.iter().map(|&label| self.tokens[label as usize]).collect();
            let (degrees, targets) = (&collection.degrees[nodes], range(&collection.edge_offsets));
            let is_logical = |node: usize| self.is_logical[labels[node] as usize];
            tokens.extend(self.known.complete(known, degrees, &collection.targets[targets], is_logical));
        }
        tokens
    }

    /// One label per line, in the order of the tokens.
    fn text(&self) -> String {
        self.labels.iter().flat_map(|label| [label.as_str(), "\n"]).collect()
    }
}

/// The arrays of a folder.
fn columns(collection: Collection, vocabulary: &Vocabulary) -> Columns {
    let tokens = vocabulary.tokens(&collection);
    let Collection { degrees, targets, node_offsets, edge_offsets, conjectures, pairs, premises, .. } =
        collection;
    let mut graphs = Columns { tokens, degrees, targets, node_offsets, edge_offsets, ..Columns::default() };
    let numbers = merge(&mut graphs, |token| vocabulary.known.is_unknown(token));
    let number = |graph: u32| numbers[graph as usize];
    let first_pair = |conjecture: usize| pairs.partition_point(|p| (p.conjecture as usize) < conjecture);
    let mut dependency_offsets = vec![0];
    let mut dependency_premise = Vec::new();
    for conjecture in &conjectures {
        dependency_premise.extend_from_slice(&conjecture.dependencies);
        dependency_offsets.push(dependency_premise.len() as u64);
    }
    let (conjecture_names, conjecture_names_offsets) = texts(conjectures.iter().map(|c| c.name.as_str()));
    let (conjecture_files, conjecture_files_offsets) = texts(conjectures.iter().map(|c| c.file.as_str()));
    let (premise_names, premise_names_offsets) = texts(premises.iter().map(|p| p.name.as_str()));
    Columns {
        pair_conjecture: pairs.iter().map(|pair| pair.conjecture).collect(),
        pair_statement: pairs.iter().map(|pair| number(pair.graph)).collect(),
        pair_useful: pairs.iter().map(|pair| u8::from(pair.useful)).collect(),
        conjecture_graph: conjectures.iter().map(|c| number(c.graph)).collect(),
        conjecture_split: conjectures.iter().map(|c| c.split.number()).collect(),
        conjecture_pairs: (0..=conjectures.len()).map(|number| first_pair(number) as u64).collect(),
        conjecture_names,
        conjecture_names_offsets,
        conjecture_files,
        conjecture_files_offsets,
        dependency_premise,
        dependency_offsets,
        premise_graph: premises.iter().map(|p| number(p.graph)).collect(),
        premise_names,
        premise_names_offsets,
        ..graphs
    }
}

/// How much arrays hold.
fn counts(columns: &Columns, vocabulary: usize) -> Counts {
    let graphs = columns.node_offsets.len() - 1;
    let mut is_statement = vec![false; graphs];
    columns.pair_statement.iter().for_each(|&graph| is_statement[graph as usize] = true);
    Counts {
        conjectures: columns.conjecture_graph.len(),
        pairs: columns.pair_statement.len(),
        graphs,
        statement_graphs: is_statement.iter().filter(|&&is| is).count(),
        nodes: columns.tokens.len(),
        edges: columns.targets.len(),
        vocabulary,
        premises: columns.premise_graph.len(),
        dependencies: columns.dependency_premise.len(),
        ..Counts::default()
    }
}

/// Writes a file of arrays.
pub(super) fn write_arrays<'a>(
    arrays: impl IntoIterator<Item = (&'static str, TensorView<'a>)>,
    path: &Path,
    checksums: &mut Checksums,
) -> std::io::Result<()> {
    safetensors::serialize_to_file(arrays, None, path).map_err(|error| match error {
        SafeTensorError::IoError(error) => error,
        error => std::io::Error::other(error.to_string()),
    })?;
    readable_by_others(path, 0o644)?;
    File::open(path)?.sync_all()?;
    checksums.note(&name_of(path), &map(path).map_err(std::io::Error::other)?);
    Ok(())
}

/// Texts one after the other, and where each ends.
fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> (Vec<u8>, Vec<u64>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        offsets.push(bytes.len() as u64);
    }
    (bytes, offsets)
}

/// Makes graphs that differed only in labels outside the vocabulary one. Returns, for each graph before, its number now.
fn merge(columns: &mut Columns, is_unknown: impl Fn(u16) -> bool) -> Vec<u32> {
    let Columns { tokens, degrees, targets, node_offsets, edge_offsets, .. } = columns;
    type Key = (Vec<u16>, Vec<u16>, Vec<u16>);
    let mut known: HashMap<Key, u32> = HashMap::new();
    let mut numbers = Vec::with_capacity(node_offsets.len() - 1);
    let (mut new_nodes, mut new_edges) = (vec![0u64], vec![0u64]);
    for graph in 0..node_offsets.len() - 1 {
        let nodes = node_offsets[graph] as usize..node_offsets[graph + 1] as usize;
        let edges = edge_offsets[graph] as usize..edge_offsets[graph + 1] as usize;
        let number = new_nodes.len() as u32 - 1;
        if tokens[nodes.clone()].iter().any(|&token| is_unknown(token)) {
            let key = (
                tokens[nodes.clone()].to_vec(),
                degrees[nodes.clone()].to_vec(),
                targets[edges.clone()].to_vec(),
            );
            let first = *known.entry(key).or_insert(number);
            if first != number {
                numbers.push(first);
                continue;
            }
        }
        // Everything moves towards the front, or stays.
        let (node, edge) = (new_nodes[number as usize] as usize, new_edges[number as usize] as usize);
        new_nodes.push((node + nodes.len()) as u64);
        new_edges.push((edge + edges.len()) as u64);
        if node != nodes.start {
            tokens.copy_within(nodes.clone(), node);
            degrees.copy_within(nodes, node);
            targets.copy_within(edges, edge);
        }
        numbers.push(number);
    }
    let (nodes, edges) = (new_nodes[new_nodes.len() - 1], new_edges[new_edges.len() - 1]);
    tokens.truncate(nodes as usize);
    degrees.truncate(nodes as usize);
    targets.truncate(edges as usize);
    (*node_offsets, *edge_offsets) = (new_nodes, new_edges);
    numbers
}
