//! Properties of the network as a whole.

use formulanet_net::{Batch, Config, GraphInput, Kind, Model, Pair};

/// A small generator, so that the tests are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn signed(&mut self) -> f32 {
        self.below(20_001) as f32 / 10_000.0 - 1.0
    }
}

const VOCABULARY: usize = 7;

/// A graph whose edges lead from a node to later ones, as those of formulas mostly do.
fn graph(random: &mut Random, nodes: usize) -> GraphInput {
    let tokens: Vec<u16> = (0..nodes).map(|_| random.below(VOCABULARY) as u16).collect();
    let (mut degrees, mut targets) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        let degree = if node + 1 < nodes { random.below(4) } else { 0 };
        targets.extend((0..degree).map(|_| (node + 1 + random.below(nodes - node - 1)) as u16));
        degrees.push(degree as u16);
    }
    GraphInput::new(&tokens, &degrees, &targets)
}

fn batch(seed: u64) -> Batch {
    let mut random = Random(seed);
    let graphs: Vec<GraphInput> = [9, 1, 14, 5, 22, 8, 3].iter().map(|&n| graph(&mut random, n)).collect();
    let pairs = (0..12)
        .map(|_| Pair {
            statement: random.below(5),
            conjecture: 5 + random.below(2),
            is_useful: random.below(2) == 1,
        })
        .collect();
    Batch { graphs, pairs }
}

fn variants() -> Vec<Config> {
    let mut variants = Vec::new();
    for kind in [Kind::Basic, Kind::Full] {
        for is_conditional in [false, true] {
            for steps in [0, 1, 3] {
                variants.push(Config { vocabulary: VOCABULARY, dimension: 8, steps, kind, is_conditional });
            }
        }
    }
    variants
}

fn loss(model: &Model, batch: &Batch) -> f64 {
    model.gradients(batch, 1).losses.iter().sum()
}

/// For every tensor, the change of the loss in a random direction is what the gradient says.
#[test]
fn gradients_agree_with_finite_differences() {
    let batch = batch(1);
    for config in variants() {
        let mut model = Model::new(config, 3);
        let mut random = Random(7);
        // A norm of one row is zero before its shift, and so are ReLU's kink and a new shift.
        for tensor in model.layout().tensors().to_vec() {
            if tensor.shape[0] == 1 {
                model.values_mut()[tensor.range].iter_mut().for_each(|value| *value += 0.5 * random.signed());
            }
        }
        let gradients = model.gradients(&batch, 1);
        for tensor in model.layout().tensors() {
            let size = (tensor.range.len() as f32).sqrt();
            let direction: Vec<f32> = tensor.range.clone().map(|_| random.signed() / size).collect();
            let expected: f64 = gradients.values[tensor.range.clone()]
                .iter()
                .zip(&direction)
                .map(|(gradient, along)| f64::from(gradient * along))
                .sum();
            // ReLU and max have kinks: of several step lengths, one has to avoid them.
            let error = [3e-3f32, 1e-3, 3e-4]
                .into_iter()
                .map(|length| {
                    let moved = |sign: f32| {
                        let mut moved = model.clone();
                        let values = &mut moved.values_mut()[tensor.range.clone()];
                        values
                            .iter_mut()
                            .zip(&direction)
                            .for_each(|(value, along)| *value += sign * length * along);
                        loss(&moved, &batch)
                    };
                    let found = (moved(1.0) - moved(-1.0)) / (2.0 * f64::from(length));
                    (found - expected).abs() / (expected.abs() + 2e-2)
                })
                .fold(f64::INFINITY, f64::min);
            assert!(error < 0.03, "{config:?} {}: {expected}, off by {error}", tensor.name);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let batch = batch(2);
    for config in variants() {
        let model = Model::new(config, 5);
        let expected = model.gradients(&batch, 1);
        for threads in [2, 3, 16] {
            assert!(model.gradients(&batch, threads) == expected, "{config:?} {threads}");
        }
    }
}

#[test]
fn a_seed_makes_a_network() {
    let config = Config::paper(20);
    assert_eq!(Model::new(config, 1).values(), Model::new(config, 1).values());
    assert_ne!(Model::new(config, 1).values(), Model::new(config, 2).values());
}

#[test]
fn odd_graphs_have_embeddings() {
    let model = Model::new(Config { vocabulary: 3, dimension: 8, ..Config::paper(3) }, 1);
    let wide: Vec<u16> = (1..=1000).map(|i| i % 900 + 1).collect();
    let mut degrees = vec![0; 1001];
    degrees[0] = 1000;
    let graphs = [
        GraphInput::new(&[], &[], &[]),
        GraphInput::new(&[1], &[0], &[]),
        GraphInput::new(&[0, 1], &[1, 0], &[1]),
        GraphInput::new(&[2; 1001], &degrees, &wide),
    ];
    for graph in &graphs {
        let vectors = model.embed(graph);
        assert_eq!(vectors.len(), 4);
        assert!(vectors.iter().flatten().all(|x| x.is_finite()));
    }
    let pairs = (0..4).map(|i| Pair { statement: i, conjecture: 3 - i, is_useful: i % 2 == 0 }).collect();
    let gradients = model.gradients(&Batch { graphs: graphs.to_vec(), pairs }, 2);
    assert!(gradients.values.iter().all(|x| x.is_finite()));
}

/// Plain steps down the gradient learn a batch by heart, and inference with running statistics agrees.
#[test]
fn a_batch_can_be_learnt() {
    let mut batch = batch(3);
    for pair in &mut batch.pairs {
        // Labels that depend on the pair alone.
        pair.is_useful = (pair.statement + pair.conjecture) % 2 == 0;
    }
    let config =
        Config { vocabulary: VOCABULARY, dimension: 16, steps: 2, kind: Kind::Full, is_conditional: true };
    let mut model = Model::new(config, 1);
    for _ in 0..200 {
        let gradients = model.gradients(&batch, 1);
        let values = model.values_mut();
        values.iter_mut().zip(&gradients.values).for_each(|(value, gradient)| *value -= 0.05 * gradient);
        model.follow_statistics(&gradients);
    }
    assert_eq!(model.gradients(&batch, 1).correct[2], batch.pairs.len());
    for pair in &batch.pairs {
        let (statement, conjecture) =
            (model.embed(&batch.graphs[pair.statement]), model.embed(&batch.graphs[pair.conjecture]));
        let score = model.score(2, &statement[2], Some(&conjecture[2]));
        assert_eq!(score > 0.5, pair.is_useful, "{pair:?} {score}");
    }
}
