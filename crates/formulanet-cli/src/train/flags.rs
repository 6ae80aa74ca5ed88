//! The choices of a recipe as flags: a table, from which clap gets the flags and their help, defaults included.

use std::sync::OnceLock;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use formulanet::model::joint::JointRecipe;
use formulanet::model::recipe::{Recipe, ScheduleName};
use formulanet::net::Meeting;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Preset;
use crate::usage;

/// A flag for a field of the recipe.
struct Flag {
    name: &'static str,
    value: Shown,
    help: &'static str,
    needs: Option<Needs>,
}

/// The value name of a flag, or the value of a switch.
enum Shown {
    As(&'static str),
    Always(bool),
}

/// A condition without which a flag has no effect, and its description.
struct Needs(fn(&Recipe) -> bool, &'static str);

const RANKER: Option<Needs> = Some(Needs(
    |recipe| recipe.meeting == Meeting::Towers,
    "a model that ranks premises (--preset premises or --interaction towers)",
));
const CLASSIFIER: Option<Needs> = Some(Needs(
    |recipe| recipe.meeting != Meeting::Towers,
    "a model that classifies pairs (--interaction concat or product)",
));
const CONJECTURE: Option<Needs> =
    Some(Needs(|recipe| recipe.conditional, "a model that sees the conjecture (--conditional)"));
const MEMORY: Option<Needs> = Some(Needs(|recipe| recipe.memory > 0, "a memory (--memory 1)"));
const DIVIDE: Option<Needs> =
    Some(Needs(|recipe| recipe.schedule == ScheduleName::Divide, "--schedule divide"));
const COSINE: Option<Needs> =
    Some(Needs(|recipe| recipe.schedule == ScheduleName::Cosine, "--schedule cosine"));

const fn flag(name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, value: Shown::As(value), help, needs: None }
}

const fn switch(name: &'static str, value: bool, help: &'static str) -> Flag {
    Flag { name, value: Shown::Always(value), help, needs: None }
}

impl Flag {
    const fn with(self, needs: Option<Needs>) -> Self {
        Flag { needs, ..self }
    }

    fn field(&self) -> String {
        match self.name {
            "dim" => "dimension".to_owned(),
            "unconditional" => "conditional".to_owned(),
            "min-name-count" => "min_count".to_owned(),
            "no-sharing" => "share".to_owned(),
            "name-dropout" => "hide_each".to_owned(),
            "subset-share" => "subsets".to_owned(),
            "head-input" => "reads".to_owned(),
            "interaction" => "meeting".to_owned(),
            "label-dropout" => "blur".to_owned(),
            "memory-dropout" => "forget".to_owned(),
            "mark-shared" => "marks".to_owned(),
            name => name.replace('-', "_"),
        }
    }
}

/// All flags, by heading.
static FLAGS: [(&str, &[Flag]); 6] = [
    ("Network", &NETWORK),
    ("Auxiliary inputs", &AUXILIARY),
    ("Re-rankers (--kind reader)", &TOGETHER),
    ("Batches", &BATCHES),
    ("Optimizer", &OPTIMIZER),
    ("Validation and model files", &VALIDATION),
];

static NETWORK: [Flag; 9] = [
    flag("model", "formulanet|basic", "FormulaNet (edges and treelets) or FormulaNet-basic (edges)"),
    switch("conditional", true, "Classify pairs of conjecture and statement"),
    switch("unconditional", false, "Classify statements without the conjecture"),
    flag("dim", "N", "Length of a node's embedding"),
    flag("steps", "N", "Message-passing steps"),
    flag("norm", "graph|batch|layer", "Normalize over a graph, a micro-batch or a single row"),
    flag("pooling", "max|max-mean", "Pooling of node embeddings"),
    flag("head-input", "states|messages", "Input of classifiers from every node"),
    flag("interaction", "concat|product|towers", INTERACTION).with(CONJECTURE),
];

const INTERACTION: &str = "Classify concatenated embeddings (concat), also with their product (product), or rank named \
                       premises by dot products of two towers (towers)";

static AUXILIARY: [Flag; 5] = [
    flag("memory", "N", "Use label statistics of statements seen at least N times in training; 0 for none")
        .with(CLASSIFIER),
    flag("memory-dropout", "SHARE", "Hide this share of the statistics from each batch").with(MEMORY),
    flag("label-dropout", "SHARE", "Mask this share of a graph's labels in each batch"),
    switch(
        "mark-shared",
        true,
        "Mark the symbols that a statement shares with its conjecture; such a model cannot build libraries",
    )
    .with(CLASSIFIER),
    flag("proofs", "SHARE", "Weight of the proofs of similar conjectures in a premise's score").with(RANKER),
];

static TOGETHER: [Flag; 10] = [
    flag("rounds", "N", "Message-passing rounds"),
    flag("hidden", "N", "Length of the hidden layer that scores a candidate"),
    flag("feature-hidden", "N", "Length of the hidden layer that scores a candidate by ranking features"),
    flag("features-first", "SHARE", "Train that layer alone for this share of all steps"),
    flag(
        "loss",
        "each|pool",
        "Pointwise loss (each), or listwise loss over a conjecture's candidates (pool)",
    ),
    switch("no-sharing", false, "Share only symbols between statements, not subformulas"),
    flag("min-name-count", "N", "Use the names of symbols in at least N training statements; 0 for no names"),
    flag("hide-names", "SHARE", "Hide all names in this share of the problems"),
    flag("name-dropout", "SHARE", "Hide this share of the names in the other problems"),
    flag("subset-share", "SHARE", "Show only some candidates in this share of the problems"),
];

static BATCHES: [Flag; 8] = [
    flag("batch", "N", "Pairs in a batch; conjectures, if premises are ranked; nodes, with --kind reader"),
    flag("group", "N", "Draw N pairs of a conjecture at a time").with(CLASSIFIER),
    flag("micro-batch", "N", "Graphs that go through the network together; nodes, with --kind reader"),
    flag("useful", "N", "Draw at most N useful premises for each conjecture").with(RANKER),
    flag("random", "N", "Add N random premises to each batch").with(RANKER),
    flag("epochs", "N", "Passes over all pairs"),
    flag("limit-pairs", "N", "Stop after N pairs; 0 for no limit"),
    flag("seed", "SEED", "Seed of the initial weights and the order of pairs"),
];

static OPTIMIZER: [Flag; 11] = [
    flag("optimiser", "rms-prop|adam-w", "Optimizer"),
    flag("rate", "RATE", "Highest learning rate"),
    flag(
        "schedule",
        "divide|cosine",
        "Learning-rate schedule: step decay per epoch, or warm-up with cosine decay",
    ),
    flag("divide-by", "N", "Divide the rate by N after each epoch").with(DIVIDE),
    flag("warm-up", "SHARE", "Share of all steps for the warm-up").with(COSINE),
    flag("floor", "RATE", "Lowest learning rate"),
    flag("weight-decay", "N", "Weight decay"),
    flag("clip", "LENGTH", "Clip gradients at this norm; 0 for none"),
    flag("average", "DECAY", "Decay of the moving average of weights that becomes the model; 0 for none"),
    flag("dropout", "SHARE", "Dropout in classifiers or towers"),
    flag("precision", "auto|f32|bf16", "Precision of matrix products; auto uses bf16 if the CPU supports it"),
];

static VALIDATION: [Flag; 3] = [
    flag("validate-every", "N", "Validate after every N pairs; batches, with --kind reader"),
    flag("validation-pairs", "N", "Held-out pairs for a validation during training; 0 for all")
        .with(CLASSIFIER),
    flag("storage", "f32|bf16|f16", "Number format of matrices in model files"),
];

/// A recipe as JSON. By way of its text, in which 0.15 is 0.15 rather than the nearest number of 32 bits.
fn fields(recipe: &impl Serialize) -> Map<String, Value> {
    let text = serde_json::to_string(recipe).expect("a recipe is plain data");
    serde_json::from_str(&text).expect("it was written so")
}

/// The recipes of the presets and, last, of re-rankers.
fn presets() -> &'static [(&'static str, Map<String, Value>); 4] {
    static PRESETS: OnceLock<[(&str, Map<String, Value>); 4]> = OnceLock::new();
    PRESETS.get_or_init(|| {
        let [default, paper, premises] =
            [Preset::Default, Preset::Paper, Preset::Premises].map(|preset| fields(&preset.recipe()));
        let together = fields(&JointRecipe::default());
        [("default", default), ("paper", paper), ("premises", premises), ("together", together)]
    })
}

impl Flag {
    /// Its effect, and the values of the presets.
    fn help(&self) -> String {
        let field = self.field();
        let known: Vec<(&str, &Value)> =
            presets().iter().filter_map(|(name, preset)| Some((*name, preset.get(&field)?))).collect();
        let default = known[0].1;
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut text = match self.value {
            Shown::Always(value) if *default == Value::Bool(value) => "default".to_owned(),
            Shown::Always(_) => "default: no".to_owned(),
            Shown::As(_) => format!("default: {}", shown(default)),
        };
        for (name, value) in &known[1..] {
            if *value != default {
                text += &format!(", {name}: {}", shown(value));
            }
        }
        format!("{} [{text}]", self.help)
    }

    fn parse(&self, text: &str) -> Result<Value, String> {
        let known = presets().iter().rev().find(|(_, preset)| preset.contains_key(&self.field()));
        let (name, mut recipe) = known.cloned().ok_or("expected a field of a recipe")?;
        let number = text.parse::<u64>().map(Value::from).ok();
        let number = number.or_else(|| text.parse::<f64>().ok().map(Value::from).filter(Value::is_number));
        let value = number.unwrap_or_else(|| text.into());
        match &recipe[&self.field()] {
            Value::Number(known) if known.is_u64() && !value.is_u64() => {
                return Err("expected a whole number".into());
            }
            Value::Number(_) if !value.is_number() => return Err("expected a number".into()),
            _ => {}
        }
        recipe.insert(self.field(), value.clone());
        let recipe = recipe.into();
        let read = match name {
            "together" => serde_json::from_value::<JointRecipe>(recipe).err(),
            _ => serde_json::from_value::<Recipe>(recipe).err(),
        };
        match read {
            Some(error) => Err(error.to_string()),
            None => Ok(value),
        }
    }

    fn argument(&'static self, heading: &'static str) -> Arg {
        let argument = Arg::new(self.name).long(self.name).help(self.help()).help_heading(heading);
        let argument = match self.value {
            Shown::As(value) => argument.value_name(value).value_parser(|text: &str| self.parse(text)),
            Shown::Always(_) => argument.action(ArgAction::SetTrue),
        };
        // A resumed run keeps its recipe.
        let argument = argument.conflicts_with("resume");
        if self.name == "unconditional" { argument.conflicts_with("conditional") } else { argument }
    }

    fn given(&self, matches: &ArgMatches) -> Option<Value> {
        match self.value {
            Shown::As(_) => matches.get_one::<Value>(self.name).cloned(),
            Shown::Always(value) => matches.get_flag(self.name).then_some(Value::Bool(value)),
        }
    }
}

fn flags() -> impl Iterator<Item = (&'static str, &'static Flag)> {
    FLAGS.iter().flat_map(|(heading, flags)| flags.iter().map(|flag| (*heading, flag)))
}

/// The flags that were given, with their values.
#[derive(Clone, Default)]
pub(crate) struct Changes(Vec<(&'static Flag, Value)>);

impl FromArgMatches for Changes {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Changes(flags().filter_map(|(_, flag)| Some((flag, flag.given(matches)?))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Changes {
    fn augment_args(command: Command) -> Command {
        flags().fold(command, |command, (heading, flag)| command.arg(flag.argument(heading)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl Changes {
    /// The recipe with these changes. Refuses flags without effect.
    pub(super) fn apply(&self, recipe: Recipe) -> Result<Recipe> {
        if self.0.is_empty() {
            return Ok(recipe);
        }
        let recipe = self.change(&recipe, "has no effect without --kind reader")?;
        for (Flag { name, needs, .. }, _) in &self.0 {
            if let Some(Needs(is_met, what)) = needs
                && !is_met(&recipe)
            {
                return Err(usage::wrong(format!("the argument '--{name}' has no effect without {what}")));
            }
        }
        Ok(recipe)
    }

    /// The recipe for reading statements together with these changes. Refuses flags without effect.
    pub(super) fn apply_together(&self, recipe: &JointRecipe) -> Result<JointRecipe> {
        self.change(recipe, "has no effect with --kind reader")
    }

    fn change<R: Serialize + DeserializeOwned>(&self, recipe: &R, otherwise: &str) -> Result<R> {
        let mut changed = fields(recipe);
        for (flag, value) in &self.0 {
            if changed.insert(flag.field(), value.clone()).is_none() {
                return Err(usage::wrong(format!("the argument '--{}' {otherwise}", flag.name)));
            }
        }
        Ok(serde_json::from_value(changed.into())?)
    }
}
