//! Vectors of formulas, for looking at and for other programs.

use std::collections::HashMap;

use formulanet_net::GraphInput;
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::Error;
use crate::analyze::AnalyzedStatement;
use crate::model::encode::Encoded;
use crate::retrieve::VectorRetriever;
use crate::util::vector::CHUNK;

/// A row for each of several formulas.
#[derive(Clone, PartialEq, Debug)]
pub struct Embeddings {
    length: usize,
    values: Vec<f32>,
}

impl Embeddings {
    /// The network's embeddings of statements: what pooling gives after the last step.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no model.
    pub fn of(retriever: &VectorRetriever, premises: &[AnalyzedStatement]) -> Result<Self, Error> {
        let encoded: Vec<&Encoded> = premises.iter().map(|premise| &premise.encoded).collect();
        Self::of_encoded(retriever, &encoded)
    }

    /// Computes embeddings of formulas that are encoded for the model.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no model.
    pub fn of_encoded(retriever: &VectorRetriever, encoded: &[&Encoded]) -> Result<Self, Error> {
        let network = retriever.network()?;
        let length = network.model().config().width();
        let mut values = Vec::with_capacity(encoded.len() * length);
        for chunk in encoded.chunks(CHUNK) {
            let inputs: Vec<GraphInput<'_>> = chunk.iter().map(|encoded| encoded.input()).collect();
            let embeddings = network.embed_all(&inputs);
            embeddings.iter().for_each(|embedding| values.extend_from_slice(embedding.last()));
        }
        Ok(Embeddings { length, values })
    }

    /// One row after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.length)
    }

    /// A safetensors file with a tensor `vectors`, and names as JSON in the metadata.
    ///
    /// # Errors
    ///
    /// If safetensors refuses, which it has no reason to.
    pub fn to_safetensors(&self, names: &[&str]) -> Result<Vec<u8>, Error> {
        let refused = |error: safetensors::SafeTensorError| Error::input("vectors", error.to_string());
        let bytes = self.bytes();
        let shape = vec![self.values.len() / self.length, self.length];
        let view = TensorView::new(Dtype::F32, shape, &bytes).map_err(refused)?;
        let names = serde_json::to_string(names).expect("names are plain data");
        let metadata = HashMap::from([("names".to_owned(), names)]);
        safetensors::serialize([("vectors", view)], Some(metadata)).map_err(refused)
    }

    /// A file of NumPy (format 1.0): a header padded to 64 bytes, then the numbers.
    pub fn to_npy(&self) -> Vec<u8> {
        let shape = (self.values.len() / self.length, self.length);
        let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape:?}, }}");
        let before = b"\x93NUMPY\x01\x00".len() + 2;
        let padded = (before + header.len() + 1).next_multiple_of(64);
        header.extend(std::iter::repeat_n(' ', padded - before - header.len() - 1));
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(self.bytes());
        bytes
    }

    fn bytes(&self) -> Vec<u8> {
        self.values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_what_other_programs_expect() {
        let vectors = Embeddings { length: 3, values: vec![1.0, 0.0, 0.0, 0.0, 3.0, 4.0] };
        let npy = vectors.to_npy();
        assert_eq!(npy.len(), 128 + 24);
        assert!(npy.starts_with(
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        ));
        assert_eq!(npy[127], b'\n');
        assert_eq!(npy[128..132], 1f32.to_le_bytes());
        let bytes = vectors.to_safetensors(&["a", "b"]).unwrap();
        let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(read.tensor("vectors").unwrap().shape(), [2, 3]);
    }
}
