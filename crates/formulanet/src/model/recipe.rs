//! How a network is trained: every choice that the result depends on.

use formulanet_net::{
    Config, Hints, Kind, Meeting, NormKind, Pooling, Precision, Reads, Rule, Schedule, Storage,
};
use serde::{Deserialize, Serialize};

/// The recipe of a network: all choices except the data. As TOML, a flat list of these names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// FormulaNet or FormulaNet-basic.
    pub model: Kind,
    /// Whether the classifier sees the conjecture.
    pub conditional: bool,
    /// Length of a node's vector.
    pub dimension: usize,
    /// How often nodes are updated.
    pub steps: usize,
    /// Over which rows a norm goes.
    pub norm: NormKind,
    /// How the vectors of nodes become one.
    pub pooling: Pooling,
    /// The input of the classifier after a step.
    pub reads: Reads,
    /// How a statement and a conjecture meet. Towers learn to rank named premises; the others, to classify pairs.
    #[serde(default)]
    pub meeting: Meeting,
    /// Statements that are seen so often in training are remembered; 0 for none. A classifier reads how often a statement
    /// was useful for other conjectures, and for similar ones.
    #[serde(default)]
    pub memory: u32,
    /// Share of what is remembered that a batch leaves out, so that the network learns to do without.
    #[serde(default)]
    pub forget: f32,
    /// Share of a graph's labels that a batch takes for unknown.
    #[serde(default)]
    pub blur: f32,
    /// How much of a premise's probability is the share of similar conjectures' proofs that used it; the rest is the
    /// network's (towers).
    #[serde(default)]
    #[serde(alias = "neighbours")]
    pub proofs: f32,
    /// Whether symbols of a statement are marked that its conjecture has, too. Such a model scores pairs, not libraries.
    #[serde(default)]
    pub marks: bool,
    /// Share of numbers that is left out at random of the hidden layers of classifiers, or of towers and what they read.
    #[serde(default)]
    pub dropout: f32,
    /// Useful premises of each conjecture in a batch, at most (towers).
    #[serde(default)]
    pub useful: usize,
    /// Random premises in a batch (towers).
    #[serde(default)]
    pub random: usize,
    /// Pairs of a mini-batch; conjectures, if premises are ranked.
    pub batch: usize,
    /// Pairs of one conjecture that are drawn together, so that its graph is embedded once for all of them.
    pub group: usize,
    /// Graphs that go through the network together; a norm over a micro-batch looks at these.
    pub micro_batch: usize,
    /// The optimiser.
    pub optimiser: OptimiserName,
    /// The highest learning rate.
    pub rate: f32,
    /// How the learning rate changes.
    pub schedule: ScheduleName,
    /// The divisor of the rate after every epoch (schedule `divide`).
    pub divide_by: f32,
    /// Share of all steps in which the rate rises (schedule `cosine`).
    pub warm_up: f32,
    /// The rate never falls below this.
    pub floor: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Longest gradient; 0 for any.
    pub clip: f32,
    /// Decay of the moving average of weights, which is the model in the end; 0 for none.
    pub average: f32,
    /// How often every pair is seen.
    pub epochs: u32,
    /// The most pairs to train on; 0 for no limit.
    pub limit_pairs: u64,
    /// Decides the first weights and the order of pairs.
    pub seed: u64,
    /// How exact products are.
    pub precision: Precision,
    /// Pairs between validations.
    pub validate_every: u64,
    /// Pairs of a validation, drawn once for all; 0 for all there are. The one at the end takes all.
    pub validation_pairs: usize,
    /// How model files store matrices.
    pub storage: Storage,
}

/// The name of an optimiser.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserName {
    /// RMSProp with alpha 0.99.
    RmsProp,
    /// AdamW with beta 0.9 and 0.99.
    AdamW,
}

/// The name of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleName {
    /// Divided after every epoch.
    Divide,
    /// Rises in a line, then falls like a cosine.
    Cosine,
}

impl Recipe {
    /// The paper's, with the gaps filled as in its authors' program.
    pub fn paper() -> Self {
        Recipe {
            model: Kind::Full,
            conditional: true,
            dimension: 256,
            steps: 3,
            norm: NormKind::Graph,
            pooling: Pooling::Max,
            reads: Reads::States,
            meeting: Meeting::Concat,
            memory: 0,
            forget: 0.0,
            blur: 0.0,
            proofs: 0.0,
            marks: false,
            dropout: 0.0,
            useful: 0,
            random: 0,
            batch: 300,
            group: 1,
            micro_batch: 16,
            optimiser: OptimiserName::RmsProp,
            rate: 1e-3,
            schedule: ScheduleName::Divide,
            divide_by: 3.0,
            warm_up: 0.0,
            floor: 1e-5,
            weight_decay: 1e-4,
            clip: 0.0,
            average: 0.0,
            epochs: 5,
            limit_pairs: 0,
            seed: 0,
            precision: Precision::Auto,
            validate_every: 100_000,
            validation_pairs: 10_000,
            storage: Storage::F16,
        }
    }

    /// The recipe that was most accurate for its time on a CPU.
    pub fn default_preset() -> Self {
        Recipe {
            dimension: 128,
            norm: NormKind::Batch,
            memory: 1,
            forget: 0.15,
            batch: 128,
            group: 8,
            micro_batch: 64,
            optimiser: OptimiserName::AdamW,
            rate: 2e-3,
            schedule: ScheduleName::Cosine,
            warm_up: 0.05,
            clip: 5.0,
            average: 0.999,
            epochs: 3,
            ..Recipe::paper()
        }
    }

    /// For ranking named premises.
    pub fn premises() -> Self {
        Recipe {
            meeting: Meeting::Towers,
            pooling: Pooling::MaxMean,
            memory: 0,
            proofs: 0.5,
            marks: false,
            dropout: 0.1,
            useful: 6,
            random: 96,
            batch: 24,
            rate: 1.5e-3,
            epochs: 10,
            validate_every: 20_000,
            ..Recipe::default_preset()
        }
    }

    /// Returns an error message if the recipe is invalid.
    pub fn check(&self) -> Result<(), String> {
        let ranks = self.meeting == Meeting::Towers;
        let is_length = |number: f32| number >= 0.0 && number.is_finite();
        refuse(&[
            (self.dimension == 0 || self.dimension > 4096, "dimension must be from 1 to 4096"),
            (self.steps > 32, "steps must be at most 32"),
            (self.batch < 2, "batch must be at least 2: its norms need several pairs"),
            (ranks && !self.conditional, "towers need the conjecture: conditional"),
            (ranks && self.useful == 0, "useful must be at least 1"),
            (self.random > 1_000_000, "random must be at most 1000000"),
            (!(0.0..=1.0).contains(&self.forget), "forget must be from 0 to 1"),
            (!(0.0..=1.0).contains(&self.blur), "blur must be from 0 to 1"),
            (!(0.0..1.0).contains(&self.proofs), "proofs must be from 0 to below 1"),
            (ranks && self.memory > 0, "towers remember no statements: memory must be 0"),
            (
                self.marks && (self.memory == 0 || !self.conditional || ranks),
                "marks need a conditional classifier with a memory, which knows how rare symbols are",
            ),
            (!(0.0..1.0).contains(&self.dropout), "dropout must be from 0 to below 1"),
            (self.group == 0, "group must be at least 1"),
            (self.micro_batch == 0, "micro_batch must be at least 1"),
            (!(self.rate > 0.0 && self.rate.is_finite()), "rate must be positive"),
            (!(self.floor >= 0.0 && self.floor <= self.rate), "floor must be from 0 to the rate"),
            (!(self.divide_by >= 1.0 && self.divide_by.is_finite()), "divide_by must be at least 1"),
            (!(0.0..=1.0).contains(&self.warm_up), "warm_up must be from 0 to 1"),
            (!is_length(self.weight_decay), "weight_decay must not be negative"),
            (!is_length(self.clip), "clip must not be negative"),
            (!(0.0..1.0).contains(&self.average), "average must be from 0 to below 1"),
            (self.epochs == 0, "epochs must be at least 1"),
            (self.validate_every == 0, "validate_every must be at least 1"),
        ])
    }

    /// The network of the recipe for a vocabulary.
    pub fn config(&self, vocabulary: usize) -> Config {
        Config {
            // The mark is a token without a label.
            vocabulary: vocabulary + usize::from(self.marks),
            dimension: self.dimension,
            steps: self.steps,
            kind: self.model,
            is_conditional: self.conditional,
            norm: self.norm,
            pooling: self.pooling,
            reads: self.reads,
            meeting: self.meeting,
            hints: match (self.memory, self.conditional) {
                (0, _) => 0,
                // Without the conjecture, nothing is known of similar ones nor of what is in common.
                (_, false) => 2,
                (_, true) => Hints::default().len(),
            },
            marks: self.marks,
        }
    }

    pub fn rule(&self) -> Rule {
        match self.optimiser {
            OptimiserName::RmsProp => Rule::RmsProp { alpha: 0.99 },
            OptimiserName::AdamW => Rule::AdamW { beta_1: 0.9, beta_2: 0.99 },
        }
    }

    pub fn schedule(&self) -> Schedule {
        match self.schedule {
            ScheduleName::Divide => {
                Schedule::Divide { rate: self.rate, by: self.divide_by, floor: self.floor }
            }
            ScheduleName::Cosine => {
                Schedule::Cosine { rate: self.rate, warm_up: self.warm_up, floor: self.floor }
            }
        }
    }
}

/// The message of the first thing that is wrong.
pub(super) fn refuse(problems: &[(bool, &str)]) -> Result<(), String> {
    let found = problems.iter().find(|(is_wrong, _)| *is_wrong);
    found.map_or(Ok(()), |(_, message)| Err((*message).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_toml() {
        for recipe in [Recipe::paper(), Recipe::default_preset(), Recipe::premises()] {
            recipe.check().unwrap();
            let text = toml::to_string(&recipe).unwrap();
            assert!(text.contains("optimiser = \"") && text.contains("rate = "), "{text}");
            assert_eq!(toml::from_str::<Recipe>(&text).unwrap(), recipe);
        }
    }

    #[test]
    fn wrong_numbers_are_named() {
        let check = |recipe: Recipe, expected: &str| {
            assert!(recipe.check().unwrap_err().contains(expected));
        };
        check(Recipe { batch: 1, ..Recipe::default_preset() }, "batch");
        check(Recipe { rate: f32::NAN, ..Recipe::default_preset() }, "rate");
        check(Recipe { average: 1.0, ..Recipe::default_preset() }, "average");
        check(Recipe { dimension: 0, ..Recipe::default_preset() }, "dimension");
    }
}
