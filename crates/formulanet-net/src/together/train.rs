//! Training on whole problems: loss, gradients and steps, with the same result on any number of threads and processes.

use crate::batch::{Dealing, Dropout, deal_out};
use crate::checkpoint::State;
use crate::compute::Compute;
use crate::lanes::{Lanes, Sums};
use crate::model::Model;
use crate::optim::clip;
use crate::tensors::Weights;
use crate::together::config::{Loss, TogetherConfig};
use crate::together::input::{Company, ProblemInput};
use crate::together::readout::judge;
use crate::together::round::Pass;

/// A problem and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct LabelledProblem<'a> {
    /// The problem.
    pub problem: &'a ProblemInput,
    /// For every candidate, whether it is useful.
    pub useful: &'a [bool],
}

/// The problems of one training step, as input of the network.
#[derive(Clone, PartialEq, Debug)]
pub struct TogetherBatch {
    parts: Vec<BatchPart>,
    dropout: Dropout,
    /// The weight of each candidate or problem.
    share: f32,
    candidates: usize,
    problems: usize,
}

/// Problems that go through the network together.
#[derive(Clone, PartialEq, Debug)]
struct BatchPart {
    /// Nothing if it is another process's.
    company: Option<Company>,
    /// The problems, by their numbers in the batch.
    numbers: Vec<usize>,
    /// For every candidate, whether it is useful.
    useful: Vec<bool>,
}

impl TogetherBatch {
    /// A batch of problems, in micro-batches of about this many nodes.
    ///
    /// # Panics
    ///
    /// If a problem is not one, or has something that the network does not know; or if there are not as many labels as
    /// candidates.
    pub fn new(
        problems: &[LabelledProblem<'_>],
        dealing: impl Into<Dealing>,
        config: &TogetherConfig,
    ) -> Self {
        let dealing = dealing.into();
        let fits = |labelled: &LabelledProblem<'_>| labelled.useful.len() == labelled.problem.candidates();
        assert!(problems.iter().all(fits), "not a label for each candidate");
        let costs: Vec<usize> = problems.iter().map(|labelled| labelled.problem.nodes()).collect();
        let count = dealing.micro_batches(costs.iter().sum()).min(problems.len()).max(1);
        let lanes = Lanes::new(count);
        let part = |(i, numbers): (usize, Vec<usize>)| BatchPart {
            company: lanes
                .has(dealing.rank, dealing.ranks, i)
                .then(|| Company::new(numbers.iter().map(|&number| problems[number].problem), config)),
            useful: numbers.iter().flat_map(|&number| problems[number].useful).copied().collect(),
            numbers,
        };
        let candidates = problems.iter().map(|labelled| labelled.useful.len()).sum();
        let counted = match config.loss {
            Loss::Each => candidates,
            Loss::Pool => problems.iter().filter(|labelled| labelled.useful.contains(&true)).count(),
        };
        TogetherBatch {
            parts: deal_out(&costs, count).into_iter().enumerate().map(part).collect(),
            dropout: Dropout::default(),
            share: 1.0 / counted.max(1) as f32,
            candidates,
            problems: problems.len(),
        }
    }

    /// Applies dropout to the batch, so that no single number is relied on.
    #[must_use]
    pub fn with_dropout(self, dropout: Dropout) -> Self {
        TogetherBatch { dropout, ..self }
    }

    /// The number of candidates.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// The number of problems.
    pub fn problems(&self) -> usize {
        self.problems
    }
}

/// Which part of a network is trained.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trains {
    /// All of it.
    #[default]
    All,
    /// The score by features alone; the graph is not looked at.
    Features,
    /// Everything but the score by features.
    Graph,
}

/// The result of a batch.
#[derive(Clone, PartialEq, Debug)]
pub struct TogetherGradients {
    /// The gradient of every number that is trained.
    pub values: Vec<f32>,
    /// The loss and accuracy of the batch.
    pub outcome: TogetherOutcome,
}

/// How a network did on a batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TogetherOutcome {
    /// The mean cross-entropy.
    pub loss: f64,
    /// The number of correctly classified candidates; with a listwise loss, the number of problems with a useful candidate in
    /// first place.
    pub correct: usize,
}

impl Model<TogetherConfig> {
    /// Loss and gradients of a batch, the same in all processes that share the work.
    ///
    /// # Panics
    ///
    /// If the batch was dealt out for another process, or if features alone are to be trained and the network has no score
    /// by them.
    pub fn gradients(&self, batch: &TogetherBatch, trains: Trains, compute: &Compute) -> TogetherGradients {
        let weights = Weights::new(&self.layout.weights, &self.values, compute.kernel, true);
        let pass = Pass {
            config: &self.config,
            functions: &self.layout.functions,
            values: &self.values,
            weights: &weights,
            compute,
        };
        let (group, lanes) = (compute.group(), Lanes::new(batch.parts.len()));
        let own = lanes.of_rank(group.rank(), group.size());
        let sums = Sums::new(lanes, compute);
        let trained = self.layout.trained();
        compute.map(own.len(), |number| {
            let lane = own.start + number;
            // Behind the gradients come the loss and how often it was right, so that all is added in the same order.
            let mut sum = compute.zeros(trained + 2);
            let (gradients, outcome) = sum.split_at_mut(trained);
            for i in lanes.micro_batches(lane) {
                let of_part = pass.part_gradients(batch, &batch.parts[i], trains, gradients);
                outcome[0] += of_part.loss as f32;
                outcome[1] += of_part.correct as f32;
            }
            sums.add_lane(lane, sum);
        });
        let mut values = compute.zeros(trained + 2);
        sums.add_to(&mut values, group);
        let outcome =
            TogetherOutcome { loss: f64::from(values[trained]), correct: values[trained + 1] as usize };
        values.truncate(trained);
        let fixed = self.layout.functions.feature_range();
        match trains {
            Trains::All => {}
            Trains::Features => {
                values[..fixed.start].fill(0.0);
                values[fixed.end..].fill(0.0);
            }
            Trains::Graph => values[fixed].fill(0.0),
        }
        TogetherGradients { values, outcome }
    }
}

impl Pass<'_> {
    fn part_gradients(
        &self,
        batch: &TogetherBatch,
        part: &BatchPart,
        trains: Trains,
        gradients: &mut [f32],
    ) -> TogetherOutcome {
        let company = part.company.as_ref().expect("the batch was dealt out for this process");
        let dropout: Vec<Dropout> =
            part.numbers.iter().map(|&number| batch.dropout.other(number as u64)).collect();
        let by_features = self.functions.by_features.as_ref();
        assert!(trains != Trains::Features || by_features.is_some(), "the network has no score by features");
        let of_features = by_features.map(|scorer| (scorer, self.features_forward(scorer, company)));
        let of_graph = (trains != Trains::Features).then(|| {
            let (vectors, rounds) = self.rounds_forward(company, true);
            let (scores, readout) = self.readout_forward(company, &vectors.nodes, &dropout);
            vectors.recycle(self.compute);
            (scores, readout, rounds)
        });
        let mut scores = vec![0.0; company.candidates.len()];
        let added = of_features.iter().map(|(_, (scores, _))| scores);
        for added in added.chain(of_graph.iter().map(|(scores, ..)| scores)) {
            scores.iter_mut().zip(added).for_each(|(sum, score)| *sum += score);
        }
        let judged = judge(company, &scores, &part.useful, self.config.loss, batch.share);
        if let Some((scorer, (_, hidden))) = of_features {
            self.features_backward(scorer, company, hidden, &judged.errors, gradients);
        }
        if let Some((_, readout, rounds)) = of_graph {
            let nodes = self.readout_backward(company, readout, &judged.errors, &dropout, gradients);
            self.rounds_backward(company, rounds, nodes, gradients);
        }
        TogetherOutcome { loss: judged.loss, correct: judged.correct }
    }
}

impl State<TogetherConfig> {
    /// Learns from a batch: gradients scaled down to a norm of at most `most`, and a step of the optimiser at a rate. The
    /// part of the network that is not trained stays as it is, to the last bit.
    pub fn train_step(
        &mut self,
        batch: &TogetherBatch,
        trains: Trains,
        (rate, most): (f32, f32),
        compute: &Compute,
    ) -> TogetherOutcome {
        let TogetherGradients { mut values, outcome } = self.model.gradients(batch, trains, compute);
        clip(&mut values, most);
        let trained = self.model.layout.trained();
        let features = self.model.layout.functions.feature_range();
        let fixed = match trains {
            Trains::All => vec![],
            Trains::Features => vec![0..features.start, features.end..trained],
            Trains::Graph => vec![features],
        };
        let before: Vec<Vec<f32>> =
            fixed.iter().map(|range| self.model.values[range.clone()].to_vec()).collect();
        self.optimiser.step(&mut self.model.values[..trained], &values, rate);
        // Weight decay moves weights that have no gradient.
        for (range, before) in fixed.into_iter().zip(before) {
            self.model.values[range].copy_from_slice(&before);
        }
        if let Some(average) = &mut self.average {
            average.follow(&self.model.values);
        }
        compute.give(values);
        outcome
    }
}
