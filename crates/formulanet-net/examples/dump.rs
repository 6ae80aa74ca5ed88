//! Writes a network, a mini-batch, and the losses and gradients of the one on the other, for `bench/compare_torch.py`.
//!
//! `cargo run --release -p formulanet-net --example dump -- FOLDER basic|full conditional|unconditional DIMENSION`

use std::fmt::Write;
use std::fs;
use std::path::Path;

use formulanet_net::{Batch, Compute, Config, GraphInput, Kind, Model, Pair, Precision};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, kind, conditional, dimension] = arguments.as_slice() else {
        return Err("expected FOLDER KIND CONDITIONAL DIMENSION".into());
    };
    let config = Config {
        dimension: dimension.parse()?,
        kind: if kind == "basic" { Kind::Basic } else { Kind::Full },
        is_conditional: conditional == "conditional",
        ..Config::paper(30)
    };
    let model = Model::new(config, 11);
    let mut state = 5u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (mut arrays, mut graphs) = (Vec::new(), Vec::new());
    for nodes in [12, 30, 7, 45, 21, 60, 9, 16] {
        let tokens: Vec<u16> = (0..nodes).map(|_| below(30) as u16).collect();
        let (mut degrees, mut targets) = (Vec::new(), Vec::new());
        for node in 0..nodes {
            let degree = if node + 1 < nodes { below(4) } else { 0 };
            targets.extend((0..degree).map(|_| (node + 1 + below(nodes - node - 1)) as u16));
            degrees.push(degree as u16);
        }
        graphs.push(format!("{{\"tokens\":{tokens:?},\"degrees\":{degrees:?},\"targets\":{targets:?}}}"));
        arrays.push((tokens, degrees, targets));
    }
    let (mut pairs, mut in_json) = (Vec::new(), Vec::new());
    for i in 0..16 {
        let pair = Pair {
            statement: i % 6,
            conjecture: 6 + below(2),
            is_useful: below(2) == 1,
            hints: Default::default(),
        };
        in_json.push(format!("[{},{},{}]", pair.statement, pair.conjecture, u8::from(pair.is_useful)));
        pairs.push(pair);
    }
    let input = |(tokens, degrees, targets)| GraphInput { tokens, degrees, targets };
    let inputs: Vec<GraphInput<'_>> = arrays.iter().map(|(t, d, e)| input((t, d, e))).collect();
    let gradients =
        model.gradients(&Batch::new(&inputs, pairs, 3, &config), &Compute::new(Precision::F32, 1));
    let mut tensors = String::new();
    for tensor in model.layout().tensors() {
        let comma = if tensors.is_empty() { "" } else { "," };
        let [rows, columns] = tensor.shape;
        write!(tensors, "{comma}\"{}\":[{rows},{columns},{}]", tensor.name, tensor.range.start)?;
    }
    let description = format!(
        "{{\"kind\":\"{kind}\",\"conditional\":{},\"dimension\":{dimension},\"losses\":{:?},\"correct\":{:?},\
         \"graphs\":[{}],\"pairs\":[{}],\"tensors\":{{{tensors}}}}}",
        config.is_conditional,
        gradients.losses,
        gradients.correct,
        graphs.join(","),
        in_json.join(",")
    );
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    fs::create_dir_all(folder)?;
    let folder = Path::new(folder);
    fs::write(folder.join("values.bin"), bytes(model.values()))?;
    fs::write(folder.join("gradients.bin"), bytes(&gradients.values))?;
    fs::write(folder.join("batch.json"), description)?;
    Ok(())
}
