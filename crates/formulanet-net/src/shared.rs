//! Communication in the middle of a training step: classifiers and dot products look at a whole mini-batch, so every process
//! needs the vectors of all its graphs.
//!
//! From there to the graphs' gradients every process computes the same, because that is little work.

use crate::batch::Batch;
use crate::compute::Compute;
use crate::config::NormKind;
use crate::lanes::Lanes;
use crate::model::{Model, Trace};
use crate::train::{Followed, follow};

impl Model {
    /// The traces of all micro-batches, those of other processes with the graphs' vectors alone; and what running
    /// statistics follow, in the order of micro-batches. `traces` has those of this process.
    pub(crate) fn gather_traces(
        &self,
        batch: &Batch,
        traces: Vec<Option<Trace>>,
        compute: &Compute,
    ) -> (Vec<Trace>, Vec<Followed>) {
        let group = compute.group();
        if group.size() == 1 {
            let traces: Vec<Trace> = traces.into_iter().flatten().collect();
            let followed = traces.iter().flat_map(|trace| self.followed(trace)).flatten().collect();
            return (traces, followed);
        }
        let (sizes, lanes) = (batch.sizes(), Lanes::new(batch.unions.len()));
        let of_rank = |rank: usize| {
            let mine = (0..sizes.len()).filter(move |&i| lanes.has(rank, group.size(), i));
            mine.map(|i| self.message_length(sizes[i])).sum()
        };
        let counts: Vec<usize> = (0..group.size()).map(of_rank).collect();
        let mut mine = Vec::with_capacity(counts[group.rank()]);
        traces.iter().flatten().for_each(|trace| self.write(trace, &mut mine));
        let mut all = compute.take(counts.iter().sum());
        group.gather(&mine, &counts, &mut all);
        let mut rest = Vec::with_capacity(counts.len());
        let mut behind = all.as_slice();
        for count in counts {
            let (front, back) = behind.split_at(count);
            rest.push(front);
            behind = back;
        }
        let (mut gathered, mut followed) = (Vec::new(), Vec::new());
        for (i, trace) in traces.into_iter().enumerate() {
            let rank = (0..group.size()).find(|&rank| lanes.has(rank, group.size(), i));
            let message = &mut rest[rank.expect("a micro-batch is in one lane")];
            let (vectors, statistics) = self.read(message, sizes[i]);
            followed.extend(statistics);
            gathered.push(trace.unwrap_or_else(|| Trace::of_vectors(vectors.into_iter())));
        }
        compute.give(all);
        (gathered, followed)
    }

    /// The statistics of a micro-batch for running means: for every norm that has such, nothing if it had no rows.
    fn followed(&self, trace: &Trace) -> Vec<Option<Followed>> {
        if self.config.norm != NormKind::Batch {
            return Vec::new();
        }
        let norms = self.layout.functions.norms().into_iter().zip(trace.statistics());
        norms
            .map(|(norm, seen)| seen.and_then(|(statistics, count)| follow(norm, statistics, count)))
            .collect()
    }

    /// Where the running statistics of a micro-batch's norms lie.
    fn running(&self) -> Vec<std::ops::Range<usize>> {
        if self.config.norm != NormKind::Batch {
            return Vec::new();
        }
        let norms = self.layout.functions.norms();
        norms.into_iter().map(|norm| norm.running.clone().expect("norms over batches are followed")).collect()
    }

    /// The number of values that are sent for a micro-batch of this many graphs.
    fn message_length(&self, graphs: usize) -> usize {
        let statistics: usize = self.running().iter().map(|running| 1 + running.len()).sum();
        (self.config.steps + 1) * graphs * self.config.width() + statistics
    }

    fn write(&self, trace: &Trace, message: &mut Vec<f32>) {
        trace.pools.iter().for_each(|pool| message.extend_from_slice(&pool.vectors));
        for (followed, running) in self.followed(trace).into_iter().zip(self.running()) {
            message.push(f32::from(followed.is_some()));
            match followed {
                Some((_, new)) => message.extend(new),
                None => message.extend(running.map(|_| 0.0)),
            }
        }
    }

    /// The vectors of a micro-batch at every step, and what running statistics follow; takes them off the message.
    fn read(&self, message: &mut &[f32], graphs: usize) -> (Vec<Vec<f32>>, Vec<Followed>) {
        let mut take = |count: usize| {
            let (front, back) = message.split_at(count);
            *message = back;
            front.to_vec()
        };
        let vectors = (0..=self.config.steps).map(|_| take(graphs * self.config.width())).collect();
        let mut followed = Vec::new();
        for running in self.running() {
            let is_followed = take(1) == [1.0];
            let new = take(running.len());
            followed.extend(is_followed.then_some((running.start, new)));
        }
        (vectors, followed)
    }
}
