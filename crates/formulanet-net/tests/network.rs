//! Properties of the network as a whole.

use formulanet_net::{
    Batch, Candidate, Compute, Config, Contest, Dealing, Dropout, GraphInput, Group, Hints, Kind, Meeting,
    Model, Network, NormKind, Pair, Pooling, Precision, Reads, team,
};

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

/// A graph's arrays.
#[derive(Clone, Default)]
struct Graph {
    tokens: Vec<u16>,
    degrees: Vec<u16>,
    targets: Vec<u16>,
}

impl Graph {
    fn input(&self) -> GraphInput<'_> {
        GraphInput { tokens: &self.tokens, degrees: &self.degrees, targets: &self.targets }
    }
}

/// A graph whose edges lead from a node to later ones, as those of formulas mostly do.
fn graph(random: &mut Random, nodes: usize, vocabulary: usize) -> Graph {
    let tokens: Vec<u16> = (0..nodes).map(|_| random.below(vocabulary) as u16).collect();
    let (mut degrees, mut targets) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        let degree = if node + 1 < nodes { random.below(4) } else { 0 };
        targets.extend((0..degree).map(|_| (node + 1 + random.below(nodes - node - 1)) as u16));
        degrees.push(degree as u16);
    }
    Graph { tokens, degrees, targets }
}

fn graphs_and_pairs(seed: u64) -> (Vec<Graph>, Vec<Pair>) {
    let mut random = Random(seed);
    let graphs = [9, 1, 14, 5, 22, 8, 3].iter().map(|&n| graph(&mut random, n, VOCABULARY)).collect();
    let pairs = (0..12)
        .map(|i| Pair {
            statement: random.below(5),
            conjecture: 5 + random.below(2),
            is_useful: random.below(2) == 1,
            hints: std::array::from_fn(|j| 0.1 * (i * (j + 1) % 7) as f32 - 0.3),
        })
        .collect();
    (graphs, pairs)
}

/// Micro-batches of at most this many graphs. Networks with dot products get a contest.
fn batch_of(graphs: &[Graph], pairs: Vec<Pair>, dealing: impl Into<Dealing>, config: &Config) -> Batch {
    let inputs: Vec<GraphInput<'_>> = graphs.iter().map(Graph::input).collect();
    let dropout = Dropout { share: 0.25, seed: 9 };
    if config.meeting != Meeting::Towers {
        // Not in the paper's networks, whose losses are known.
        let dropout = if config.hints > 0 { dropout } else { Dropout::default() };
        return Batch::new(&inputs, pairs, dealing, config).with_dropout(dropout);
    }
    // A norm over two rows makes 1 and -1 of them, whatever they are: there have to be several conjectures.
    let conjectures: Vec<usize> = (0..graphs.len()).collect();
    let mut statements: Vec<usize> = pairs.iter().map(|pair| pair.statement).collect();
    statements.sort_unstable();
    statements.dedup();
    let useful_for = |conjecture: &usize| {
        let numbers = (0..statements.len()).filter(|number| (conjecture + number).is_multiple_of(3));
        numbers.map(|number| number as u32).collect()
    };
    let useful = conjectures.iter().map(useful_for).collect();
    let candidate = |(i, &graph): (usize, &usize)| Candidate { graph, chance: 0.2 + i as f32 / 10.0 };
    let statements: Vec<Candidate> = statements.iter().enumerate().map(candidate).collect();
    let chances = vec![0.5; conjectures.len()];
    let contest = Contest { conjectures, statements, useful, chances, prior: -1.0 };
    Batch::contest(&inputs, contest, dealing, config).with_dropout(dropout)
}

fn batch(seed: u64, config: &Config) -> Batch {
    let (graphs, pairs) = graphs_and_pairs(seed);
    batch_of(&graphs, pairs, 3, config)
}

/// Side features of pairs.
const HINTS: Hints =
    [0.5, 1.0, -0.2, 0.3, 0.1, 0.0, 0.9, -0.4, 0.6, 0.2, 0.8, -0.1, 0.0, 0.7, -0.6, 0.4, 0.3, 0.0, 1.0, -0.5];

fn f32_on(threads: usize) -> Compute {
    Compute::new(Precision::F32, threads)
}

fn small(config: Config) -> Config {
    Config { dimension: 8, ..config }
}

fn variants() -> Vec<Config> {
    let paper = small(Config::paper(VOCABULARY));
    let mut variants = Vec::new();
    for kind in [Kind::Basic, Kind::Full] {
        for is_conditional in [false, true] {
            for steps in [0, 1, 3] {
                variants.push(Config { steps, kind, is_conditional, ..paper });
            }
        }
    }
    for norm in [NormKind::Batch, NormKind::Layer] {
        variants.push(Config { norm, steps: 2, ..paper });
    }
    variants.push(Config { pooling: Pooling::MaxMean, steps: 2, ..paper });
    variants.push(Config { reads: Reads::Messages, steps: 2, ..paper });
    variants.push(Config { meeting: Meeting::Product, hints: 3, steps: 1, ..paper });
    variants.push(Config { meeting: Meeting::Towers, steps: 2, ..paper });
    let all = Config { norm: NormKind::Batch, pooling: Pooling::MaxMean, reads: Reads::Messages, ..paper };
    variants.push(all);
    variants
}

fn loss(model: &Model, batch: &Batch) -> f64 {
    model.gradients(batch, &f32_on(1)).losses.iter().sum()
}

/// For every tensor, the change of the loss in a random direction is what the gradient says.
#[test]
fn gradients_agree_with_finite_differences() {
    for config in variants() {
        let batch = batch(1, &config);
        let mut model = Model::new(config, 3);
        let mut random = Random(7);
        // A norm of one row is zero before its shift, and so are ReLU's kink and a new shift.
        for tensor in model.layout().tensors().to_vec() {
            if tensor.shape[0] == 1 {
                model.values_mut()[tensor.range].iter_mut().for_each(|value| *value += 0.5 * random.signed());
            }
        }
        let gradients = model.gradients(&batch, &f32_on(1));
        let trained = model.layout().trained();
        for tensor in model.layout().tensors().iter().filter(|tensor| tensor.range.end <= trained) {
            let size = (tensor.range.len() as f32).sqrt();
            // ReLU and max have kinks: of several directions and step lengths, one has to avoid them.
            let agrees = (0..6)
                .flat_map(|_| {
                    let direction: Vec<f32> = tensor.range.clone().map(|_| random.signed() / size).collect();
                    [1e-3f32, 3e-4, 1e-4].map(|length| (direction.clone(), length))
                })
                .map(|(direction, length)| {
                    let gradients = &gradients.values[tensor.range.clone()];
                    let expected: f64 = gradients.iter().zip(&direction).map(|(g, x)| f64::from(g * x)).sum();
                    let moved = |sign: f32| {
                        let mut moved = model.clone();
                        let values = moved.values_mut()[tensor.range.clone()].iter_mut();
                        values.zip(&direction).for_each(|(value, along)| *value += sign * length * along);
                        loss(&moved, &batch)
                    };
                    let found = (moved(1.0) - moved(-1.0)) / (2.0 * f64::from(length));
                    (found - expected).abs() / (expected.abs() + 2e-2)
                })
                .any(|error| error < 0.03);
            assert!(agrees, "{config:?} {}", tensor.name);
        }
    }
}

/// Losses of PyTorch 2.15 in f64 on the same weights, graphs and pairs, by `bench/compare_torch.py`, which compares the
/// gradients too.
#[test]
fn losses_are_those_of_pytorch() {
    let mut random = Random(5);
    let graphs: Vec<Graph> =
        [12, 30, 7, 45, 21, 60, 9, 16].iter().map(|&nodes| graph(&mut random, nodes, 30)).collect();
    let pairs: Vec<Pair> = (0..16)
        .map(|i| Pair {
            statement: i % 6,
            conjecture: 6 + random.below(2),
            is_useful: random.below(2) == 1,
            hints: Default::default(),
        })
        .collect();
    for (kind, is_conditional, expected) in [
        (Kind::Basic, false, [0.682434, 0.913597, 1.250805, 0.686616]),
        (Kind::Basic, true, [1.089694, 0.919751, 1.235382, 0.890135]),
        (Kind::Full, false, [1.02413, 0.736445, 0.868998, 0.837563]),
        (Kind::Full, true, [1.223178, 0.703069, 1.053646, 0.765337]),
    ] {
        let model = Model::new(Config { kind, is_conditional, dimension: 16, ..Config::paper(30) }, 11);
        let losses = model.gradients(&batch_of(&graphs, pairs.clone(), 3, model.config()), &f32_on(1)).losses;
        for (found, expected) in losses.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-6, "{kind:?} {is_conditional}: {losses:?}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for config in variants() {
        let batch = batch(2, &config);
        let model = Model::new(config, 5);
        let expected = model.gradients(&batch, &f32_on(1));
        for threads in [2, 3, 16] {
            assert!(model.gradients(&batch, &f32_on(threads)) == expected, "{config:?} {threads}");
        }
    }
}

/// Micro-batches of one graph, so that there are several for everybody.
#[test]
fn any_number_of_processes_gives_the_same_bits() {
    let (graphs, pairs) = graphs_and_pairs(2);
    for config in variants() {
        let model = Model::new(config, 5);
        let batch = |dealing: Dealing| batch_of(&graphs, pairs.clone(), dealing, &config);
        let expected = model.gradients(&batch(1.into()), &f32_on(1));
        for ranks in [2, 3, 4, 8] {
            let found = team(ranks, |member| {
                let dealing = Dealing { micro_batch: 1, rank: member.rank(), ranks };
                model.gradients(&batch(dealing), &Compute::among(member, Precision::F32, 2))
            });
            assert!(found.iter().all(|found| *found == expected), "{config:?} {ranks}");
        }
    }
}

#[test]
fn processes_share_embedding() {
    let (graphs, _) = graphs_and_pairs(4);
    let inputs: Vec<GraphInput<'_>> = graphs.iter().map(Graph::input).collect();
    let embed = |compute| Network::new(Model::new(variants()[0], 5), compute).embed_all(&inputs);
    let expected = embed(f32_on(1));
    for ranks in [2, 3, 20] {
        let found = team(ranks, |member| embed(Compute::among(member, Precision::F32, 1)));
        assert!(found.iter().all(|found| *found == expected), "{ranks}");
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
    let mut degrees = vec![0; 1001];
    degrees[0] = 1000;
    let targets = (1..=1000).map(|i| i % 900 + 1).collect();
    let graphs = [
        Graph::default(),
        Graph { tokens: vec![1], degrees: vec![0], targets: vec![] },
        Graph { tokens: vec![0, 1], degrees: vec![1, 0], targets: vec![1] },
        Graph { tokens: vec![2; 1001], degrees, targets },
    ];
    for config in variants() {
        let model = Model::new(config, 1);
        let pairs: Vec<Pair> = (0..4)
            .map(|i| Pair {
                statement: i,
                conjecture: 3 - i,
                is_useful: i % 2 == 0,
                hints: Default::default(),
            })
            .collect();
        for micro_batch in [1, 4] {
            let gradients =
                model.gradients(&batch_of(&graphs, pairs.clone(), micro_batch, &config), &f32_on(2));
            assert!(gradients.values.iter().all(|x| x.is_finite()), "{config:?}");
        }
        let network = Network::new(model, f32_on(1));
        for graph in &graphs {
            let embedding = network.embed(graph.input());
            assert!(
                (0..=config.steps).all(|t| embedding.step(t).iter().all(|x| x.is_finite())),
                "{config:?}"
            );
        }
    }
}

/// An embedding and a score depend on nothing but the graphs, to the last bit, and on no number of threads.
#[test]
fn alone_is_as_in_a_batch() {
    let (graphs, _) = graphs_and_pairs(4);
    let inputs: Vec<GraphInput<'_>> = graphs.iter().map(Graph::input).collect();
    for precision in [Precision::F32, Precision::Bf16] {
        for config in variants() {
            let network = |threads| Network::new(Model::new(config, 5), Compute::new(precision, threads));
            let together = network(1).embed_all(&inputs);
            assert_eq!(network(2).embed_all(&inputs), together);
            if config.meeting == Meeting::Towers {
                let network = network(1);
                let keys = network.keys(&together.iter().collect::<Vec<_>>());
                let queries = network.queries(&together.iter().collect::<Vec<_>>());
                for (i, embedding) in together.iter().enumerate() {
                    let of_this = i * config.tower()..(i + 1) * config.tower();
                    assert_eq!(network.keys(&[embedding]), keys[of_this.clone()]);
                    assert_eq!(network.queries(&[embedding]), queries[of_this]);
                }
                continue;
            }
            let pairs: Vec<_> =
                together.iter().zip(together.iter().rev()).map(|(a, b)| (a, b, HINTS)).collect();
            let scores = network(1).score_all(&pairs);
            for (i, input) in inputs.iter().enumerate() {
                let alone = network(1).embed(*input);
                assert_eq!(alone, together[i], "{config:?}");
                let other = &together[together.len() - 1 - i];
                let score = network(1).score_rows(other.last(), alone.last(), &[HINTS])[0];
                assert_eq!(score, scores[config.steps][i], "{config:?}");
            }
        }
    }
}

/// A norm over one graph is the same in any micro-batch, so gradients differ by the order of sums alone.
#[test]
fn micro_batches_do_not_change_gradients() {
    let (graphs, pairs) = graphs_and_pairs(6);
    for config in variants().into_iter().filter(|config| config.norm != NormKind::Batch) {
        let model = Model::new(config, 5);
        let gradients =
            |micro| model.gradients(&batch_of(&graphs, pairs.clone(), micro, &config), &f32_on(1));
        let (alone, together) = (gradients(1), gradients(100));
        assert_eq!(alone.losses, together.losses, "{config:?}");
        for (a, b) in alone.values.iter().zip(&together.values) {
            assert!((a - b).abs() <= 1e-5 + 1e-4 * a.abs(), "{config:?}: {a} {b}");
        }
    }
}

/// Rounding factors to 8 bits moves gradients by some percent: most where graphs are as small as here, because a norm
/// over few rows divides by small deviations.
#[test]
fn bf16_gradients_agree_with_f32_ones() {
    for config in variants() {
        let batch = batch(2, &config);
        let model = Model::new(Config { dimension: 32, ..config }, 5);
        let exact = model.gradients(&batch, &f32_on(1));
        let rounded = model.gradients(&batch, &Compute::new(Precision::Bf16, 1));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let (a, b) = (&exact.values, &rounded.values);
        let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        assert!(cosine > 0.9, "{config:?}: {cosine}");
        for (exact, rounded) in exact.losses.iter().zip(&rounded.losses) {
            assert!((exact - rounded).abs() < 0.03, "{config:?}: {exact} {rounded}");
        }
    }
}

/// Plain steps down the gradient learn a batch by heart, and inference with running statistics agrees.
#[test]
fn a_batch_can_be_learnt() {
    let (graphs, mut pairs) = graphs_and_pairs(3);
    for pair in &mut pairs {
        // Labels that depend on the pair alone.
        pair.is_useful = (pair.statement + pair.conjecture) % 2 == 0;
    }
    for norm in [NormKind::Graph, NormKind::Batch, NormKind::Layer] {
        let mut model = Model::new(Config { dimension: 16, steps: 2, norm, ..Config::paper(VOCABULARY) }, 1);
        let batch = batch_of(&graphs, pairs.clone(), 100, model.config());
        for _ in 0..200 {
            let gradients = model.gradients(&batch, &f32_on(1));
            let values = model.values_mut().iter_mut();
            values.zip(&gradients.values).for_each(|(value, gradient)| *value -= 0.05 * gradient);
            model.follow_statistics(&gradients);
        }
        assert_eq!(model.gradients(&batch, &f32_on(1)).correct[2], batch.pairs().len(), "{norm:?}");
        let network = Network::new(model, f32_on(1));
        for pair in batch.pairs() {
            let embed = |graph: usize| network.embed(graphs[graph].input());
            let score = network.score_rows(
                embed(pair.conjecture).last(),
                embed(pair.statement).last(),
                &[pair.hints],
            )[0];
            assert_eq!(score > 0.5, pair.is_useful, "{norm:?} {pair:?} {score}");
        }
    }
}
