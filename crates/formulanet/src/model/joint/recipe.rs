//! How a network that reads whole problems is trained.

use formulanet_logic::problem::{ProblemBuilder, ProblemLimits};
use formulanet_net::together::{Loss, TogetherConfig};
use formulanet_net::{Precision, Rule, Schedule, Storage};
use serde::{Deserialize, Serialize};

use crate::model::recipe::refuse;

/// The recipe of a network for whole problems: all choices except the data. As TOML, a flat list of these names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointRecipe {
    /// Tells this recipe from those of networks that read pairs.
    pub kind: RecipeKind,
    /// Length of a node's vector.
    pub dimension: usize,
    /// How often nodes and symbols are updated.
    pub rounds: usize,
    /// Length of the hidden layer that scores a candidate.
    pub hidden: usize,
    /// Length of the hidden layer that scores a candidate by its ranking features, if there are any.
    #[serde(default = "usual_feature_hidden")]
    pub feature_hidden: usize,
    /// Share of all steps in which that layer alone is trained, before the graph is looked at.
    #[serde(default = "usual_features_first")]
    pub features_first: f32,
    /// How scores are judged.
    pub loss: Loss,
    /// Whether equal parts of different statements are one node; otherwise they share their symbols alone.
    pub share: bool,
    /// The least number of training statements with a symbol whose name is used; 0 for no names.
    pub min_count: u32,
    /// Share of problems in which all names are hidden.
    pub hide_names: f32,
    /// Share of names that are hidden in the other problems.
    pub hide_each: f32,
    /// Share of problems that are cut down to some of their candidates, so that the network learns to do with few.
    pub subsets: f32,
    /// Share of the numbers of the hidden layer that is left out at random.
    pub dropout: f32,
    /// Nodes of a mini-batch, about.
    pub batch: usize,
    /// Nodes that go through the network together.
    pub micro_batch: usize,
    /// The highest learning rate.
    pub rate: f32,
    /// Share of all steps in which the rate rises; then it falls like a cosine.
    pub warm_up: f32,
    /// The rate never falls below this.
    pub floor: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Longest gradient; 0 for any.
    pub clip: f32,
    /// Decay of the moving average of weights, which is the model in the end; 0 for none.
    pub average: f32,
    /// How often every problem is seen.
    pub epochs: u32,
    /// Decides the first weights and the order of problems.
    pub seed: u64,
    /// How exact products are.
    pub precision: Precision,
    /// Batches between validations.
    pub validate_every: u64,
    /// How model files store matrices.
    pub storage: Storage,
}

/// The kind of network that a recipe is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecipeKind {
    /// One that reads a conjecture and its candidates together.
    Together,
}

// Recipes of networks that read formulas alone may leave these out.
fn usual_feature_hidden() -> usize {
    64
}

fn usual_features_first() -> f32 {
    0.05
}

impl Default for JointRecipe {
    fn default() -> Self {
        JointRecipe {
            kind: RecipeKind::Together,
            dimension: 64,
            rounds: 5,
            hidden: 128,
            feature_hidden: usual_feature_hidden(),
            features_first: usual_features_first(),
            loss: Loss::Each,
            share: true,
            min_count: 8,
            hide_names: 0.15,
            hide_each: 0.075,
            subsets: 0.15,
            dropout: 0.1,
            batch: 4400,
            micro_batch: 1100,
            rate: 3e-3,
            warm_up: 0.02,
            floor: 6e-5,
            weight_decay: 0.01,
            clip: 1.0,
            average: 0.998,
            epochs: 7,
            seed: 0,
            precision: Precision::Auto,
            validate_every: 1000,
            storage: Storage::F16,
        }
    }
}

impl JointRecipe {
    /// Returns an error message if it is invalid.
    ///
    /// # Errors
    ///
    /// A message that names the field.
    pub fn check(&self) -> Result<(), String> {
        let is_share = |share: f32| (0.0..=1.0).contains(&share);
        let is_length = |number: f32| number >= 0.0 && number.is_finite();
        refuse(&[
            (!(1..=1024).contains(&self.dimension), "dimension must be from 1 to 1024"),
            (!(1..=64).contains(&self.rounds), "rounds must be from 1 to 64"),
            (!(1..=4096).contains(&self.hidden), "hidden must be from 1 to 4096"),
            (!(1..=4096).contains(&self.feature_hidden), "feature_hidden must be from 1 to 4096"),
            (!is_share(self.features_first), "features_first must be from 0 to 1"),
            (!is_share(self.hide_names), "hide_names must be from 0 to 1"),
            (!is_share(self.hide_each), "hide_each must be from 0 to 1"),
            (!is_share(self.subsets), "subsets must be from 0 to 1"),
            (!(0.0..1.0).contains(&self.dropout), "dropout must be from 0 to below 1"),
            (self.batch == 0, "batch must be at least 1"),
            (self.micro_batch == 0, "micro_batch must be at least 1"),
            (!(self.rate > 0.0 && self.rate.is_finite()), "rate must be positive"),
            (!is_share(self.warm_up), "warm_up must be from 0 to 1"),
            (!(self.floor >= 0.0 && self.floor <= self.rate), "floor must be from 0 to the rate"),
            (!is_length(self.weight_decay), "weight_decay must not be negative"),
            (!is_length(self.clip), "clip must not be negative"),
            (!(0.0..1.0).contains(&self.average), "average must be from 0 to below 1"),
            (self.epochs == 0, "epochs must be at least 1"),
            (self.validate_every == 0, "validate_every must be at least 1"),
        ])
    }

    /// The network of the recipe, for this number of names and features.
    pub fn config(&self, names: usize, features: usize) -> TogetherConfig {
        TogetherConfig {
            // The first is for names that are hidden or unknown.
            names: if self.min_count == 0 { 0 } else { names + 1 },
            dimension: self.dimension,
            rounds: self.rounds,
            hidden: self.hidden,
            features,
            feature_hidden: if features > 0 { self.feature_hidden } else { 0 },
            loss: self.loss,
            ..super::shape()
        }
    }

    /// Puts statements together to problems as this recipe says.
    pub fn builder(&self) -> ProblemBuilder {
        let builder = ProblemBuilder::new(ProblemLimits::default());
        if self.share { builder } else { builder.without_shared_formulas() }
    }

    pub fn rule(&self) -> Rule {
        Rule::AdamW { beta_1: 0.9, beta_2: 0.98 }
    }

    pub fn schedule(&self) -> Schedule {
        Schedule::Cosine { rate: self.rate, warm_up: self.warm_up, floor: self.floor }
    }

    pub fn storage(&self) -> Storage {
        self.storage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_toml() {
        let recipe = JointRecipe::default();
        recipe.check().unwrap();
        let text = toml::to_string(&recipe).unwrap();
        assert!(text.starts_with("kind = \"together\"\n") && text.contains("loss = \"each\"\n"), "{text}");
        assert_eq!(toml::from_str::<JointRecipe>(&text).unwrap(), recipe);
    }

    #[test]
    fn wrong_numbers_are_named() {
        let check = |recipe: JointRecipe, expected: &str| {
            assert!(recipe.check().unwrap_err().contains(expected));
        };
        check(JointRecipe { hide_names: 1.5, ..JointRecipe::default() }, "hide_names");
        check(JointRecipe { rate: f32::NAN, ..JointRecipe::default() }, "rate");
        check(JointRecipe { rounds: 0, ..JointRecipe::default() }, "rounds");
    }
}
