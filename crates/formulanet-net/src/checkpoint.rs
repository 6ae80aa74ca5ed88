//! Networks as safetensors files: the config is in the file's metadata, together with the caller's entries.
//!
//! A model file has the network's tensors, in f32, bf16 or f16. A state file has all numbers that training needs to go
//! on as if it had never stopped.

use std::collections::{BTreeMap, HashMap};

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use safetensors::tensor::{Dtype, Metadata as Header, SafeTensors, TensorInfo, TensorView, serialize};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::kernel::memory::roomy;
use crate::model::Model;
use crate::optim::{MovingAverage, Optimiser};
use crate::seal::{CHECKSUM, UNSEALED, is_sealed, seal, verify};
use crate::tensors::{Layout, Shape};

/// How the matrices of a model file are stored. Vectors (scales, shifts, means, biases) are always f32: they are small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// As they are.
    F32,
    /// The leading 16 bits.
    Bf16,
    /// Half precision.
    F16,
}

/// Why a file is not a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file's frame is damaged, or it is something else.
    #[error("not a safetensors file: {0}")]
    Format(#[from] safetensors::SafeTensorError),
    /// There is no config in it.
    #[error("not a formulanet network: no config in the metadata")]
    NoConfig,
    /// The config is not one.
    #[error("not a formulanet network: {0}")]
    Config(#[from] serde_json::Error),
    /// The config asks for sizes that no network has, or that the file is too small for.
    #[error("not a formulanet network: sizes that do not fit the file: {config}")]
    Sizes {
        /// The config in the file.
        config: String,
    },
    /// The file is the state of another network.
    #[error("not this network: its shape is {found}, expected {expected}")]
    OtherShape {
        /// The config in the file.
        found: String,
        /// The config of the network that is to go on.
        expected: String,
    },
    /// The metadata does not say how many steps were taken.
    #[error("not a state of training: no number {0} in the metadata")]
    NoNumber(&'static str),
    /// A tensor is missing or has another shape or type.
    #[error("tensor {name}: {found}, expected {expected:?} numbers")]
    Tensor {
        /// Its name.
        name: String,
        /// The content of the file.
        found: String,
        /// The shape that the config asks for.
        expected: [usize; 2],
    },
    /// The file is not as it was written.
    #[error("damaged: the checksum does not fit")]
    Damaged,
    /// A number is infinite or none.
    #[error("tensor {0} has numbers that are not finite")]
    NotFinite(String),
}

/// The key of the config among the metadata.
const CONFIG: &str = "config";

/// The only key of the file's own metadata. With one key there is one order, and the same network is the same bytes.
const KEY: &str = "formulanet";

/// The metadata of a file.
pub type Metadata = BTreeMap<String, String>;

/// Bytes that a model file carries along, by name.
pub type Attachments = BTreeMap<String, Vec<u8>>;

/// Reads the metadata from the bytes of a file.
pub type Attached<'a> = BTreeMap<String, &'a [u8]>;

/// The prefix of the names of attachments in a file.
const ATTACHED: &str = "attached.";

impl<S: Shape> Model<S> {
    /// The bytes of a model file.
    ///
    /// # Errors
    ///
    /// If safetensors refuses, which it has no reason to.
    pub fn to_bytes(
        &self,
        storage: Storage,
        metadata: &Metadata,
        attachments: &Attachments,
    ) -> Result<Vec<u8>, CheckpointError> {
        let bytes = self.layout.tensors().iter().map(|tensor| {
            let values = &self.values[tensor.range.clone()];
            if tensor.shape[0] == 1 { (Dtype::F32, f32_bytes(values)) } else { stored(values, storage) }
        });
        let bytes: Vec<(Dtype, Vec<u8>)> = bytes.collect();
        let views = self.layout.tensors().iter().zip(&bytes).map(|(tensor, (dtype, bytes))| {
            Ok((tensor.name.clone(), TensorView::new(*dtype, tensor.shape.to_vec(), bytes)?))
        });
        let attached = attachments.iter().map(|(name, bytes)| {
            Ok((format!("{ATTACHED}{name}"), TensorView::new(Dtype::U8, vec![bytes.len()], bytes)?))
        });
        let views: Vec<_> = views.chain(attached).collect::<Result<_, CheckpointError>>()?;
        let mut bytes = serialize(views, Some(framed(&self.with_config(metadata))))?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Reads a model file.
    ///
    /// # Errors
    ///
    /// If it is damaged or something else, or its tensors do not fit its config.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, Metadata, Attached<'_>), CheckpointError> {
        Self::assemble(open::<S>(bytes, verify)?)
    }

    /// Reads a model file that is a part of the program, which is not compared with its checksum: what is not needed of it
    /// need not even be loaded.
    ///
    /// # Errors
    ///
    /// If it is something else, or its tensors do not fit its config.
    pub fn from_own_bytes(bytes: &[u8]) -> Result<(Self, Metadata, Attached<'_>), CheckpointError> {
        Self::assemble(open::<S>(bytes, |_| Ok(()))?)
    }

    fn assemble<'a>(
        (file, metadata, config): (File<'a>, Metadata, S),
    ) -> Result<(Self, Metadata, Attached<'a>), CheckpointError> {
        let layout = Layout::new(&config);
        let mut values = roomy(layout.tensors().last().map_or(0, |last| last.range.end));
        for tensor in layout.tensors() {
            read(&file, &tensor.name, tensor.shape, &mut values)?;
        }
        let attached = file.header.tensors().into_iter().filter_map(|(name, info)| {
            let name = name.strip_prefix(ATTACHED).filter(|_| info.dtype == Dtype::U8)?;
            Some((name.to_owned(), file.data_of(info)))
        });
        let attached = attached.collect();
        Ok((Model { config, layout, values }, metadata, attached))
    }

    fn with_config(&self, metadata: &Metadata) -> Metadata {
        let mut metadata = metadata.clone();
        metadata.insert(CONFIG.into(), in_json(&self.config));
        metadata.insert(CHECKSUM.into(), UNSEALED.into());
        metadata
    }
}

/// Everything that training changes.
#[derive(Clone)]
pub struct State<S: Shape = Config> {
    /// The network.
    pub model: Model<S>,
    /// The optimiser and what it remembers.
    pub optimiser: Optimiser,
    /// The network's numbers averaged over time.
    pub average: Option<MovingAverage>,
}

impl<S: Shape> State<S> {
    /// The bytes of a state file.
    ///
    /// # Errors
    ///
    /// If safetensors refuses, which it has no reason to.
    pub fn to_bytes(&self, metadata: &Metadata) -> Result<Vec<u8>, CheckpointError> {
        let mut parts = vec![("values", &self.model.values)];
        parts.extend(self.optimiser.memory());
        let mut metadata = self.model.with_config(metadata);
        metadata.insert(OPTIMISER_STEPS.into(), self.optimiser.steps().to_string());
        if let Some(average) = &self.average {
            parts.push(("average", average.memory()));
            metadata.insert(AVERAGE_STEPS.into(), average.steps().to_string());
        }
        let bytes: Vec<Vec<u8>> = parts.iter().map(|(_, values)| f32_bytes(values)).collect();
        let views = parts.iter().zip(&bytes).map(|((name, values), bytes)| {
            Ok((*name, TensorView::new(Dtype::F32, vec![values.len()], bytes)?))
        });
        let views: Vec<_> = views.collect::<Result<_, CheckpointError>>()?;
        let mut bytes = serialize(views, Some(framed(&metadata)))?;
        seal(&mut bytes);
        Ok(bytes)
    }

    /// Reads a state file into a state of the same shape.
    ///
    /// # Errors
    ///
    /// If it is damaged or something else, or of another network or optimiser.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<Metadata, CheckpointError> {
        let (file, metadata, config) = open::<S>(bytes, verify)?;
        if config != self.model.config {
            let [found, expected] = [&config, &self.model.config].map(in_json);
            return Err(CheckpointError::OtherShape { found, expected });
        }
        let steps = |key: &'static str| {
            let number = metadata.get(key).and_then(|text| text.parse().ok());
            number.ok_or(CheckpointError::NoNumber(key))
        };
        let fill = |name: &str, values: &mut Vec<f32>| -> Result<(), CheckpointError> {
            let shape = [1, values.len()];
            values.clear();
            read(&file, name, shape, values)
        };
        let mut next = self.clone();
        fill("values", &mut next.model.values)?;
        for (name, values) in next.optimiser.memory_mut(steps(OPTIMISER_STEPS)?) {
            fill(name, values)?;
        }
        if let Some(average) = &mut next.average {
            fill("average", average.memory_mut(steps(AVERAGE_STEPS)?))?;
        }
        *self = next;
        Ok(metadata)
    }
}

/// The keys of how many steps an optimiser has taken and a moving average has followed.
const OPTIMISER_STEPS: &str = "optimiser_steps";
const AVERAGE_STEPS: &str = "average_steps";

fn in_json(plain: &impl Serialize) -> String {
    serde_json::to_string(plain).expect("plain data")
}

/// All metadata under one key.
fn framed(metadata: &Metadata) -> HashMap<String, String> {
    HashMap::from([(KEY.into(), in_json(metadata))])
}

/// The metadata of a file with any network.
///
/// # Errors
///
/// If it is no safetensors file.
pub fn read_metadata(bytes: &[u8]) -> Result<Metadata, CheckpointError> {
    Ok(metadata_of(&SafeTensors::read_metadata(bytes)?.1))
}

fn metadata_of(header: &Header) -> Metadata {
    let metadata = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The tensors of a file.
struct File<'a> {
    header: Header,
    data: &'a [u8],
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        // It also looks whether the file has the data of which the header speaks.
        let (length, header) = SafeTensors::read_metadata(bytes)?;
        Ok(File { header, data: &bytes[size_of::<u64>() + length..] })
    }

    fn data_of(&self, info: &TensorInfo) -> &'a [u8] {
        &self.data[info.data_offsets.0..info.data_offsets.1]
    }
}

/// Adds a checksum to a file. No number changes.
///
/// # Errors
///
/// If it is no file of a network, or is damaged.
pub fn sealed(bytes: &[u8]) -> Result<Vec<u8>, CheckpointError> {
    verify(bytes)?;
    if is_sealed(bytes) {
        return Ok(bytes.to_vec());
    }
    let (_, header) = SafeTensors::read_metadata(bytes)?;
    let mut plain = header.metadata().clone().filter(|plain| !plain.is_empty());
    let plain = plain.as_mut().ok_or(CheckpointError::NoConfig)?;
    let mut metadata = read_metadata(bytes)?;
    // A network has all metadata under one key, trees that blend signals have not.
    let plain = if plain.contains_key(KEY) {
        metadata.insert(CHECKSUM.into(), UNSEALED.into());
        framed(&metadata)
    } else {
        plain.insert(CHECKSUM.into(), UNSEALED.into());
        plain.clone()
    };
    let tensors = SafeTensors::deserialize(bytes)?;
    let mut bytes = serialize(tensors.iter(), Some(plain))?;
    seal(&mut bytes);
    Ok(bytes)
}

/// The frame of a file, its metadata and its config.
fn open<S: Shape>(
    bytes: &[u8],
    verify: fn(&[u8]) -> Result<(), CheckpointError>,
) -> Result<(File<'_>, Metadata, S), CheckpointError> {
    let file = File::new(bytes)?;
    let mut metadata = metadata_of(&file.header);
    if metadata.remove(CHECKSUM).is_some() && !is_sealed(bytes) {
        return Err(CheckpointError::Damaged);
    }
    verify(bytes)?;
    let config = metadata.get(CONFIG).ok_or(CheckpointError::NoConfig)?;
    let shape: S = serde_json::from_str(config)?;
    if !shape.fits(bytes.len()) {
        return Err(CheckpointError::Sizes { config: config.clone() });
    }
    Ok((file, metadata, shape))
}

/// Adds the numbers of a tensor to others.
fn read(
    file: &File<'_>,
    name: &str,
    shape: [usize; 2],
    values: &mut Vec<f32>,
) -> Result<(), CheckpointError> {
    let wrong = |found: String| CheckpointError::Tensor { name: name.to_owned(), found, expected: shape };
    let info = file.header.info(name).ok_or_else(|| wrong("missing".into()))?;
    let is_flat = shape[0] == 1 && info.shape == [shape[1]];
    if info.shape != shape && !is_flat {
        return Err(wrong(format!("{:?} numbers", info.shape)));
    }
    let data = file.data_of(info);
    // A few at a time, which are looked at while the CPU has them.
    const FEW: usize = 256;
    let (mut halves, mut wholes) = ([f16::ZERO; FEW], [0.0f32; FEW]);
    let mut are_finite = true;
    let mut take = |wholes: &[f32]| {
        are_finite &= wholes.iter().fold(true, |are_finite, whole| are_finite & whole.is_finite());
        values.extend_from_slice(wholes);
    };
    match info.dtype {
        Dtype::F32 => data.as_chunks().0.chunks(FEW).for_each(|bytes| {
            wholes.iter_mut().zip(bytes).for_each(|(whole, &b)| *whole = f32::from_le_bytes(b));
            take(&wholes[..bytes.len()]);
        }),
        Dtype::BF16 => data.as_chunks().0.chunks(FEW).for_each(|bytes| {
            wholes.iter_mut().zip(bytes).for_each(|(whole, &b)| *whole = bf16::from_le_bytes(b).to_f32());
            take(&wholes[..bytes.len()]);
        }),
        // The CPU has an instruction for many at once.
        Dtype::F16 => data.as_chunks().0.chunks(FEW).for_each(|bytes| {
            let (halves, wholes) = (&mut halves[..bytes.len()], &mut wholes[..bytes.len()]);
            halves.iter_mut().zip(bytes).for_each(|(half, &b)| *half = f16::from_le_bytes(b));
            halves.convert_to_f32_slice(wholes);
            take(wholes);
        }),
        other => return Err(wrong(format!("{other:?}"))),
    }
    if are_finite { Ok(()) } else { Err(CheckpointError::NotFinite(name.to_owned())) }
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn stored(values: &[f32], storage: Storage) -> (Dtype, Vec<u8>) {
    match storage {
        Storage::F32 => (Dtype::F32, f32_bytes(values)),
        Storage::Bf16 => {
            (Dtype::BF16, values.iter().flat_map(|&value| bf16::from_f32(value).to_le_bytes()).collect())
        }
        Storage::F16 => {
            (Dtype::F16, values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::Rule;

    fn model() -> Model {
        Model::new(Config { dimension: 6, steps: 1, ..Config::paper(5) }, 3)
    }

    fn metadata() -> Metadata {
        Metadata::from([("vocabulary".into(), "[\"VAR\"]".into())])
    }

    #[test]
    fn a_model_comes_back() {
        let model = model();
        for (storage, tolerance) in
            [(Storage::F32, 0.0), (Storage::Bf16, 1.0 / 256.0), (Storage::F16, 1.0 / 2048.0)]
        {
            let attachments = Attachments::from([("seen".into(), vec![1, 2, 3])]);
            let bytes = model.to_bytes(storage, &metadata(), &attachments).unwrap();
            let (read, metadata, attached) = Model::<Config>::from_bytes(&bytes).unwrap();
            assert_eq!(attached, Attached::from([("seen".into(), &[1, 2, 3][..])]));
            assert_eq!(read.config(), model.config());
            assert_eq!(metadata["vocabulary"], "[\"VAR\"]");
            for (a, b) in model.values().iter().zip(read.values()) {
                assert!((a - b).abs() <= tolerance * a.abs(), "{storage:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_state_comes_back() {
        let fresh = |rule| {
            let model = model();
            let optimiser = Optimiser::new(rule, 1e-4, model.layout().trained());
            let average = Some(MovingAverage::new(0.9, model.values()));
            State { model, optimiser, average }
        };
        for rule in [Rule::RmsProp { alpha: 0.99 }, Rule::AdamW { beta_1: 0.9, beta_2: 0.99 }] {
            let step = |state: &mut State| {
                let trained = state.model.layout().trained();
                let gradients: Vec<f32> = (0..trained).map(|i| (i as f32).sin()).collect();
                state.optimiser.step(&mut state.model.values_mut()[..trained], &gradients, 1e-2);
                state.average.as_mut().unwrap().follow(state.model.values());
            };
            let mut state = fresh(rule);
            step(&mut state);
            let bytes = state.to_bytes(&metadata()).unwrap();
            let mut restored = fresh(rule);
            assert_eq!(restored.restore(&bytes).unwrap()["vocabulary"], "[\"VAR\"]");
            step(&mut state);
            step(&mut restored);
            assert_eq!(state.model.values(), restored.model.values());
            assert_eq!(state.optimiser, restored.optimiser);
            assert_eq!(state.average, restored.average);
        }
    }

    fn check_refused(bytes: &[u8], expected: &str) {
        let error = Model::<Config>::from_bytes(bytes).err().expect("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }

    /// A file as older versions wrote it.
    fn unsealed(bytes: &[u8]) -> Vec<u8> {
        let tensors = SafeTensors::deserialize(bytes).unwrap();
        let mut metadata = read_metadata(bytes).unwrap();
        metadata.remove(CHECKSUM);
        serialize(tensors.iter(), Some(framed(&metadata))).unwrap()
    }

    #[test]
    fn a_changed_byte_is_noticed_in_models_and_states() {
        let model = model();
        let bytes = model.to_bytes(Storage::Bf16, &metadata(), &Attachments::new()).unwrap();
        let optimiser = Optimiser::new(Rule::RmsProp { alpha: 0.99 }, 1e-4, model.layout().trained());
        let mut state = State { model, optimiser, average: None };
        let of_state = state.to_bytes(&metadata()).unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut other = bytes.clone();
            other[at] ^= 4;
            assert!(Model::<Config>::from_bytes(&other).is_err(), "byte {at} of {}", bytes.len());
        }
        for at in (0..of_state.len()).step_by(13) {
            let mut other = of_state.clone();
            other[at] ^= 4;
            assert!(state.restore(&other).is_err(), "byte {at} of {}", of_state.len());
        }
        state.restore(&of_state).unwrap();
    }

    #[test]
    fn a_file_of_an_older_version_can_be_sealed() {
        let whole = model().to_bytes(Storage::F32, &metadata(), &Attachments::new()).unwrap();
        let older = unsealed(&whole);
        assert!(is_sealed(&whole) && !is_sealed(&older));
        let (read, _, _) = Model::<Config>::from_bytes(&older).unwrap();
        assert_eq!(read.values(), model().values());
        assert_eq!(sealed(&older).unwrap(), whole);
        assert_eq!(sealed(&whole).unwrap(), whole);
    }

    #[test]
    fn damaged_and_hostile_files_are_refused() {
        let model = model();
        let bytes = unsealed(&model.to_bytes(Storage::F32, &metadata(), &Attachments::new()).unwrap());
        check_refused(b"", "not a safetensors file");
        check_refused(b"hello, this is no network at all", "not a safetensors file");
        for length in (0..bytes.len()).step_by(97) {
            assert!(Model::<Config>::from_bytes(&bytes[..length]).is_err());
        }
        let text = |bytes: &[u8], from: &str, to: &str| {
            assert_eq!(from.len(), to.len());
            let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
            let mut bytes = bytes.to_vec();
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            bytes
        };
        check_refused(&text(&bytes, "\\\"config\\\"", "\\\"konfig\\\""), "no config");
        check_refused(
            &text(&bytes, "embedding_norm.scale", "embedding_norm.skale"),
            "embedding_norm.scale: missing",
        );
        check_refused(&text(&bytes, "steps\\\\\\\":1", "steps\\\\\\\":2"), "steps.1.in.first.0: missing");
        check_refused(
            &text(&bytes, "dimension\\\\\\\":6", "dimension\\\\\\\":7"),
            "embedding: [5, 6] numbers, expected [5, 7]",
        );
        check_refused(&text(&bytes, "dimension\\\\\\\":6", "dimension\\\\\\\":0"), "sizes that do not fit");
        let mut poisoned = model.clone();
        poisoned.values_mut()[3] = f32::NAN;
        check_refused(
            &poisoned.to_bytes(Storage::F32, &metadata(), &Attachments::new()).unwrap(),
            "not finite",
        );
    }
}
