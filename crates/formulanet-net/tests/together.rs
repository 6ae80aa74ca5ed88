//! Properties of the network for whole problems.

use formulanet_net::together::{
    LabelledProblem, Loss, ProblemInput, TogetherBatch, TogetherConfig, TogetherModel, TogetherNetwork,
    Trains,
};
use formulanet_net::{
    Attachments, Compute, Dealing, Dropout, Group, Metadata, MovingAverage, Optimiser, Precision, Rule,
    State, Storage, random::scramble, team,
};

/// A small generator, so that the tests are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 += 1;
        (scramble(self.0) >> 33) as usize % n
    }

    fn signed(&mut self) -> f32 {
        self.below(20_001) as f32 / 10_000.0 - 1.0
    }
}

const LABELS: usize = 5;
const CLASSES: usize = 6;
const NAMES: usize = 9;
const FEATURES: usize = 3;

/// Statements of this many nodes each, whose parts are later nodes. Some share a node with the statement before.
fn problem(random: &mut Random, sizes: &[usize], symbols: usize) -> ProblemInput {
    let mut problem = ProblemInput { statement_starts: vec![0], ..ProblemInput::default() };
    for &size in sizes {
        let begin = problem.labels.len() as u32;
        problem.roots.push(begin);
        for node in 0..size {
            problem.labels.push(random.below(LABELS) as u8);
            let has_symbol = symbols > 0 && random.below(2) == 1;
            let symbol = if has_symbol { random.below(symbols) as u32 } else { ProblemInput::NO_SYMBOL };
            problem.symbols.push(symbol);
            problem.statement_nodes.push(begin + node as u32);
            for _ in 0..if node + 1 < size { random.below(3) } else { 0 } {
                problem.parents.push(begin + node as u32);
                problem.children.push(begin + (node + 1 + random.below(size - node - 1)) as u32);
                problem.edge_classes.push(random.below(CLASSES) as u8);
            }
        }
        if begin > 0 && random.below(2) == 1 {
            problem.parents.push(begin);
            problem.children.push(begin - 1);
            problem.edge_classes.push(0);
            problem.statement_nodes.push(begin - 1);
        }
        problem.statement_starts.push(problem.statement_nodes.len() as u32);
    }
    problem.names = (0..symbols).map(|_| random.below(NAMES) as u32).collect();
    problem.features = (0..(sizes.len() - 1) * FEATURES).map(|_| random.signed()).collect();
    problem
}

fn problems() -> Vec<(ProblemInput, Vec<bool>)> {
    let mut random = Random(3);
    let sizes: [&[usize]; 5] =
        [&[6, 3, 9, 1, 4], &[12, 5, 7], &[1, 1, 2], &[20, 8, 8, 3, 6, 11], &[5, 30, 2, 2, 2, 2, 2, 9]];
    let labelled = |sizes: &&[usize]| {
        let problem = problem(&mut random, sizes, sizes.len() + 2);
        let useful = (1..sizes.len()).map(|i| i == 1 || random.below(3) == 0).collect();
        (problem, useful)
    };
    sizes.iter().map(labelled).collect()
}

fn small() -> TogetherConfig {
    TogetherConfig { dimension: 8, rounds: 3, hidden: 12, ..TogetherConfig::new(LABELS, CLASSES) }
}

/// The problems as a network of this shape wants them.
fn fitting(config: &TogetherConfig) -> Vec<(ProblemInput, Vec<bool>)> {
    let mut problems = problems();
    if config.features == 0 {
        problems.iter_mut().for_each(|(problem, _)| problem.features.clear());
    }
    problems
}

fn variants() -> Vec<TogetherConfig> {
    let all = TogetherConfig { names: NAMES, features: FEATURES, loss: Loss::Pool, ..small() };
    vec![
        small(),
        TogetherConfig { rounds: 1, loss: Loss::Pool, ..small() },
        TogetherConfig { names: NAMES, features: FEATURES, ..small() },
        TogetherConfig { feature_hidden: 7, dimension: 19, ..all },
    ]
}

fn batch_of(
    problems: &[(ProblemInput, Vec<bool>)],
    dealing: impl Into<Dealing>,
    config: &TogetherConfig,
) -> TogetherBatch {
    let labelled: Vec<LabelledProblem<'_>> =
        problems.iter().map(|(problem, useful)| LabelledProblem { problem, useful }).collect();
    TogetherBatch::new(&labelled, dealing, config).with_dropout(Dropout { share: 0.2, seed: 4 })
}

fn batch(config: &TogetherConfig) -> TogetherBatch {
    batch_of(&fitting(config), 40, config)
}

fn f32_on(threads: usize) -> Compute {
    Compute::new(Precision::F32, threads)
}

/// A network whose every number is random, also those that begin as zeros.
fn shaken(config: TogetherConfig) -> TogetherModel {
    let (mut model, mut random) = (TogetherModel::new(config, 3), Random(7));
    model.values_mut().iter_mut().for_each(|value| *value += 0.2 * random.signed());
    model
}

fn network(model: TogetherModel, precision: Precision, threads: usize) -> TogetherNetwork {
    TogetherNetwork::new(model, Compute::new(precision, threads))
}

/// For every tensor, the change of the loss in a random direction is what the gradient says.
#[test]
fn gradients_agree_with_finite_differences() {
    for config in variants() {
        let (model, batch, mut random) = (shaken(config), batch(&config), Random(5));
        let gradients = model.gradients(&batch, Trains::All, &f32_on(1)).values;
        for tensor in model.layout().tensors() {
            let size = (tensor.range.len() as f32).sqrt();
            let error = |length: f32, random: &mut Random| {
                let direction: Vec<f32> = tensor.range.clone().map(|_| random.signed() / size).collect();
                let of_tensor = gradients[tensor.range.clone()].iter();
                let expected: f64 = of_tensor.zip(&direction).map(|(g, x)| f64::from(g * x)).sum();
                let moved = |sign: f32| {
                    let mut moved = model.clone();
                    let values = moved.values_mut()[tensor.range.clone()].iter_mut();
                    values.zip(&direction).for_each(|(value, along)| *value += sign * length * along);
                    moved.gradients(&batch, Trains::All, &f32_on(1)).outcome.loss
                };
                let found = (moved(1.0) - moved(-1.0)) / (2.0 * f64::from(length));
                (found - expected).abs() / (expected.abs() + 3e-3)
            };
            // ReLU and max have kinks: of several directions and step lengths, one has to avoid them.
            let agrees = (0..8).any(|_| [1e-2, 3e-3].iter().any(|&length| error(length, &mut random) < 0.03));
            assert!(agrees, "{config:?} {}", tensor.name);
        }
        let is_taught = |range: std::ops::Range<usize>| gradients[range].iter().any(|&g| g != 0.0);
        assert!(model.layout().tensors().iter().all(|tensor| is_taught(tensor.range.clone())), "{config:?}");
    }
}

#[test]
fn any_number_of_threads_and_processes_gives_the_same_bits() {
    for config in variants() {
        let (model, problems) = (shaken(config), fitting(&config));
        for precision in [Precision::F32, Precision::Bf16] {
            let expected =
                model.gradients(&batch_of(&problems, 20, &config), Trains::All, &Compute::new(precision, 1));
            for threads in [2, 3, 16] {
                let compute = Compute::new(precision, threads);
                assert!(
                    model.gradients(&batch_of(&problems, 20, &config), Trains::All, &compute) == expected
                );
            }
            for ranks in [2, 3] {
                let found = team(ranks, |member| {
                    let dealing = Dealing { micro_batch: 20, rank: member.rank(), ranks };
                    let compute = Compute::among(member, precision, 2);
                    model.gradients(&batch_of(&problems, dealing, &config), Trains::All, &compute)
                });
                assert!(found.iter().all(|found| *found == expected), "{config:?} {ranks}");
            }
        }
    }
}

/// Micro-batches change the order of sums alone.
#[test]
fn micro_batches_do_not_change_gradients() {
    for config in variants() {
        let (model, problems) = (shaken(config), fitting(&config));
        let gradients =
            |nodes: usize| model.gradients(&batch_of(&problems, nodes, &config), Trains::All, &f32_on(1));
        let (alone, together) = (gradients(1), gradients(10_000));
        assert!((alone.outcome.loss - together.outcome.loss).abs() < 1e-5, "{config:?}");
        assert_eq!(alone.outcome.correct, together.outcome.correct);
        for (a, b) in alone.values.iter().zip(&together.values) {
            assert!((a - b).abs() <= 1e-5 + 1e-3 * a.abs(), "{config:?}: {a} {b}");
        }
    }
}

/// The loss is that of the scores, and a problem has the same scores alone and among others.
#[test]
fn scores_are_those_of_training() {
    for config in variants() {
        let (model, problems) = (shaken(config), fitting(&config));
        let labelled: Vec<LabelledProblem<'_>> =
            problems.iter().map(|(problem, useful)| LabelledProblem { problem, useful }).collect();
        let batch = TogetherBatch::new(&labelled, 10_000, &config);
        let outcome = model.gradients(&batch, Trains::All, &f32_on(1)).outcome;
        let network = network(model, Precision::F32, 2);
        let scores = network.score_all(&problems.iter().map(|(problem, _)| problem).collect::<Vec<_>>());
        let (mut loss, mut correct) = (0.0, 0);
        for (scores, (problem, useful)) in scores.iter().zip(&problems) {
            assert_eq!(*scores, network.score(problem));
            match config.loss {
                Loss::Each => {
                    for (&score, &is_useful) in scores.iter().zip(useful) {
                        let sign = if is_useful { -1.0 } else { 1.0 };
                        loss += f64::from(sign * score).exp().ln_1p() / batch.candidates() as f64;
                        correct += usize::from((score > 0.0) == is_useful);
                    }
                }
                Loss::Pool => {
                    let total: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
                    let count = useful.iter().filter(|&&useful| useful).count() as f64;
                    for (&score, _) in scores.iter().zip(useful).filter(|(_, useful)| **useful) {
                        loss -= (f64::from(score) - total.ln()) / count / batch.problems() as f64;
                    }
                    let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
                    correct += usize::from(best.is_some_and(|best| useful[best]));
                }
            }
        }
        assert!((loss - outcome.loss).abs() < 1e-5, "{config:?}: {loss} {outcome:?}");
        assert_eq!(correct, outcome.correct);
    }
}

fn assert_near(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{found:?} {expected:?}");
    }
}

/// The candidates of a problem in another order: the same nodes, listed for other statements.
#[test]
fn candidates_in_another_order_have_the_same_scores() {
    for config in variants() {
        let (problem, _) = fitting(&config).swap_remove(3);
        let network = network(shaken(config), Precision::F32, 1);
        let scores = network.score(&problem);
        let count = problem.candidates();
        let order: Vec<usize> = (0..count).rev().collect();
        let mut other = ProblemInput {
            roots: vec![problem.roots[0]],
            statement_starts: vec![0, problem.statement_starts[1]],
            statement_nodes: problem.statement_nodes[..problem.statement_starts[1] as usize].to_vec(),
            features: Vec::new(),
            ..problem.clone()
        };
        for &candidate in &order {
            let starts = &problem.statement_starts[candidate + 1..candidate + 3];
            other.roots.push(problem.roots[candidate + 1]);
            other
                .statement_nodes
                .extend_from_slice(&problem.statement_nodes[starts[0] as usize..starts[1] as usize]);
            other.statement_starts.push(other.statement_nodes.len() as u32);
            let features = config.features;
            other.features.extend_from_slice(&problem.features[candidate * features..][..features]);
        }
        let expected: Vec<f32> = order.iter().map(|&candidate| scores[candidate]).collect();
        assert_near(&network.score(&other), &expected, 1e-5);
    }
}

/// Symbols and nodes by other numbers, and edges in another order: the same problem.
#[test]
fn numbering_does_not_matter() {
    for config in variants() {
        let (problem, _) = fitting(&config).swap_remove(3);
        let network = network(shaken(config), Precision::F32, 1);
        let (nodes, symbols) = (problem.nodes() as u32, problem.names.len() as u32);
        let moved = |numbers: &[u32]| numbers.iter().map(|n| nodes - 1 - n).collect::<Vec<u32>>();
        let symbol = |&n: &u32| if n == ProblemInput::NO_SYMBOL { n } else { symbols - 1 - n };
        let reversed = |numbers: &[u32]| numbers.iter().rev().copied().collect::<Vec<u32>>();
        let other = ProblemInput {
            labels: problem.labels.iter().rev().copied().collect(),
            symbols: problem.symbols.iter().rev().map(symbol).collect(),
            parents: reversed(&moved(&problem.parents)),
            children: reversed(&moved(&problem.children)),
            edge_classes: problem.edge_classes.iter().rev().copied().collect(),
            names: reversed(&problem.names),
            roots: moved(&problem.roots),
            statement_nodes: moved(&problem.statement_nodes),
            ..problem.clone()
        };
        assert_near(&network.score(&other), &network.score(&problem), 1e-5);
    }
}

/// The score of a candidate depends on the others, because messages pass through symbols.
#[test]
fn candidates_are_read_together() {
    let (problem, _) = fitting(&small()).swap_remove(3);
    let network = network(shaken(small()), Precision::F32, 1);
    let mut other = problem.clone();
    let last = problem.statement_starts[problem.candidates()] as usize;
    let node = problem.statement_nodes[last..]
        .iter()
        .find(|&&n| problem.symbols[n as usize] != ProblemInput::NO_SYMBOL);
    let node = *node.expect("the last candidate has a symbol") as usize;
    other.labels[node] = (other.labels[node] + 1) % LABELS as u8;
    assert_ne!(network.score(&other)[0], network.score(&problem)[0]);
}

#[test]
fn bf16_is_close_to_f32() {
    for config in variants() {
        let config = TogetherConfig { dimension: 32, ..config };
        let (model, batch) = (shaken(config), batch(&config));
        let exact = model.gradients(&batch, Trains::All, &f32_on(1));
        let rounded = model.gradients(&batch, Trains::All, &Compute::new(Precision::Bf16, 1));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let (a, b) = (&exact.values, &rounded.values);
        let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        assert!(cosine > 0.98, "{config:?}: {cosine}");
        assert!((exact.outcome.loss - rounded.outcome.loss).abs() < 0.03, "{config:?}");
        let problem = &fitting(&config)[1].0;
        let scores = |precision| network(model.clone(), precision, 1).score(problem);
        assert_near(&scores(Precision::Bf16), &scores(Precision::F32), 0.1);
    }
}

#[test]
fn odd_problems_have_scores() {
    let mut random = Random(1);
    let no_nodes = ProblemInput {
        labels: vec![0],
        symbols: vec![ProblemInput::NO_SYMBOL],
        roots: vec![0, 0],
        statement_starts: vec![0, 0, 0],
        ..ProblemInput::default()
    };
    let mut star = problem(&mut random, &[1, 400], 1);
    star.features.clear();
    star.symbols.fill(0);
    let mut conjecture_alone = problem(&mut random, &[4], 2);
    conjecture_alone.names = vec![0, 0];
    for loss in [Loss::Each, Loss::Pool] {
        let config = TogetherConfig { loss, ..small() };
        let model = shaken(config);
        let problems =
            [(no_nodes.clone(), vec![true]), (star.clone(), vec![false]), (conjecture_alone.clone(), vec![])];
        for nodes in [1, 10_000] {
            let gradients = model.gradients(&batch_of(&problems, nodes, &config), Trains::All, &f32_on(1));
            assert!(gradients.values.iter().all(|x| x.is_finite()) && gradients.outcome.loss.is_finite());
        }
        let network = network(model, Precision::F32, 1);
        for (problem, useful) in &problems {
            let scores = network.score(problem);
            assert!(scores.len() == useful.len() && scores.iter().all(|x| x.is_finite()));
        }
    }
}

fn state(config: TogetherConfig) -> State<TogetherConfig> {
    let model = TogetherModel::new(config, 1);
    let optimiser = Optimiser::new(Rule::AdamW { beta_1: 0.9, beta_2: 0.98 }, 0.01, model.layout().trained());
    let average = Some(MovingAverage::new(0.9, model.values()));
    State { model, optimiser, average }
}

#[test]
fn a_batch_can_be_learnt() {
    for config in variants() {
        let config = TogetherConfig { dimension: 16, hidden: 32, ..config };
        let mut state = state(config);
        let problems = fitting(&config);
        let labelled: Vec<LabelledProblem<'_>> =
            problems.iter().map(|(problem, useful)| LabelledProblem { problem, useful }).collect();
        let batch = TogetherBatch::new(&labelled, 10_000, &config);
        let compute = f32_on(1);
        let first = state.train_step(&batch, Trains::All, (1e-2, 1.0), &compute);
        for _ in 0..150 {
            state.train_step(&batch, Trains::All, (1e-2, 1.0), &compute);
        }
        let last = state.train_step(&batch, Trains::All, (1e-2, 1.0), &compute);
        let count = if config.loss == Loss::Each { batch.candidates() } else { batch.problems() };
        assert!(last.loss < first.loss && last.correct == count, "{config:?}: {first:?} {last:?}");
    }
}

/// The score by features is trained first and then fixed; the graph's score begins at zero.
#[test]
fn features_and_graph_are_trained_apart() {
    let config = variants()[3];
    let batch = batch(&config);
    let mut state = state(config);
    let is_by_features = |name: &str| name.starts_with("by_features.");
    let tensors = state.model.layout().tensors().to_vec();
    for trains in [Trains::Features, Trains::Graph] {
        let before = state.model.values().to_vec();
        for _ in 0..3 {
            state.train_step(&batch, trains, (1e-2, 1.0), &f32_on(1));
        }
        for tensor in &tensors {
            let is_fixed = is_by_features(&tensor.name) == (trains == Trains::Graph);
            let is_same = before[tensor.range.clone()] == state.model.values()[tensor.range.clone()];
            assert_eq!(is_same, is_fixed, "{trains:?} {}", tensor.name);
        }
        if trains == Trains::Features {
            let outcome = |trains| state.model.gradients(&batch, trains, &f32_on(1)).outcome;
            assert_eq!(outcome(Trains::Features), outcome(Trains::All));
        }
    }
}

#[test]
fn models_and_states_come_back() {
    let config = variants()[3];
    let model = shaken(config);
    let metadata = Metadata::from([("language".into(), "none".into())]);
    for (storage, tolerance) in
        [(Storage::F32, 0.0), (Storage::Bf16, 1.0 / 256.0), (Storage::F16, 1.0 / 1024.0)]
    {
        let bytes = model.to_bytes(storage, &metadata, &Attachments::new()).unwrap();
        let (read, read_metadata, _) = TogetherModel::from_bytes(&bytes).unwrap();
        assert_eq!((read.config(), &read_metadata["language"]), (&config, &metadata["language"]));
        for (a, b) in model.values().iter().zip(read.values()) {
            assert!((a - b).abs() <= tolerance * a.abs() + tolerance * 1e-3, "{storage:?}: {a} {b}");
        }
        assert!(<formulanet_net::Model>::from_bytes(&bytes).is_err(), "a model of another kind");
    }
    let (batch, compute) = (batch(&config), f32_on(1));
    let mut first = state(config);
    first.train_step(&batch, Trains::All, (1e-2, 1.0), &compute);
    let mut second = state(config);
    second.restore(&first.to_bytes(&metadata).unwrap()).unwrap();
    let [a, b] =
        [&mut first, &mut second].map(|state| state.train_step(&batch, Trains::All, (1e-2, 1.0), &compute));
    assert_eq!(a, b);
    assert!(first.model.values() == second.model.values() && first.average == second.average);
}

#[test]
#[should_panic(expected = "an edge to no node")]
fn problems_that_are_none_are_refused() {
    let (mut problem, useful) = fitting(&small()).swap_remove(0);
    problem.children[0] = 1_000;
    batch_of(&[(problem, useful)], 10, &small());
}
