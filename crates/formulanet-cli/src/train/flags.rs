//! The choices of a recipe as flags: a table, from which clap gets the flags and their help, defaults included.

use std::sync::OnceLock;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use formulanet::model::recipe::{Recipe, ScheduleName};
use formulanet::net::Meeting;
use serde_json::{Map, Value};

use super::Preset;
use crate::usage;

/// A flag for a field of the recipe.
struct Flag {
    name: &'static str,
    field: &'static str,
    /// What is shown for its value, or the value that a flag without one stands for.
    value: Shown,
    needs: Needs,
    help: &'static str,
}

enum Shown {
    As(&'static str),
    Always(bool),
}

/// What a flag has no effect without.
#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    Ranker,
    Classifier,
    Conjecture,
    Memory,
    Divide,
    Cosine,
}

impl Needs {
    fn is_met(self, recipe: &Recipe) -> bool {
        match self {
            Needs::Nothing => true,
            Needs::Ranker => recipe.meeting == Meeting::Towers,
            Needs::Classifier => recipe.meeting != Meeting::Towers,
            Needs::Conjecture => recipe.conditional,
            Needs::Memory => recipe.memory > 0,
            Needs::Divide => recipe.schedule == ScheduleName::Divide,
            Needs::Cosine => recipe.schedule == ScheduleName::Cosine,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Needs::Nothing => "anything",
            Needs::Ranker => "a model that ranks premises (--preset premises or --meeting towers)",
            Needs::Classifier => "a model that classifies pairs (--meeting concat or product)",
            Needs::Conjecture => "a model that sees the conjecture (--conditional)",
            Needs::Memory => "a memory (--memory 1)",
            Needs::Divide => "--schedule divide",
            Needs::Cosine => "--schedule cosine",
        }
    }
}

const fn flag(name: &'static str, field: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { name, field, value: Shown::As(value), needs: Needs::Nothing, help }
}

const fn switch(name: &'static str, field: &'static str, value: bool, help: &'static str) -> Flag {
    Flag { name, field, value: Shown::Always(value), needs: Needs::Nothing, help }
}

impl Flag {
    const fn with(self, needs: Needs) -> Self {
        Flag { needs, ..self }
    }
}

/// All flags, by heading.
static FLAGS: [(&str, &[Flag]); 5] = [
    (
        "Network",
        &[
            flag("model", "model", "formulanet|basic", "FormulaNet (edges and treelets) or FormulaNet-basic (edges)"),
            switch("conditional", "conditional", true, "Show the classifier the conjecture"),
            switch("unconditional", "conditional", false, "Show the classifier the statement alone"),
            flag("dim", "dimension", "N", "Length of a node's vector"),
            flag("steps", "steps", "N", "Update nodes N times"),
            flag("norm", "norm", "graph|batch|layer", "Normalise over a graph, a micro-batch or a single row"),
            flag("pooling", "pooling", "max|max-mean", "How the vectors of nodes become one"),
            flag("reads", "reads", "states|messages", "What classifiers read of every node"),
            flag(
                "meeting",
                "meeting",
                "concat|product|towers",
                "Classify statement and conjecture side by side (concat), with their product as well (product), or rank \
                 named premises by dot products (towers)",
            )
            .with(Needs::Conjecture),
        ],
    ),
    (
        "Beside the graphs",
        &[
            flag("memory", "memory", "N", "Remember how useful statements were that training has N times; 0 for none")
                .with(Needs::Classifier),
            flag("forget", "forget", "SHARE", "Hide this share of the memory from each batch").with(Needs::Memory),
            flag("blur", "blur", "SHARE", "Hide this share of a graph's labels from each batch"),
            switch("marks", "marks", true, "Mark symbols of a statement that its conjecture has; such a model scores pairs, not libraries")
                .with(Needs::Classifier),
            flag("proofs", "proofs", "SHARE", "Take this share of a premise's probability from proofs of similar conjectures")
                .with(Needs::Ranker),
        ],
    ),
    (
        "Batches",
        &[
            flag("batch", "batch", "N", "Pairs in a batch; conjectures, if premises are ranked"),
            flag("group", "group", "N", "Draw N pairs of a conjecture together").with(Needs::Classifier),
            flag("micro-batch", "micro_batch", "N", "Graphs that go through the network together"),
            flag("useful", "useful", "N", "Draw at most N useful premises for each conjecture").with(Needs::Ranker),
            flag("random", "random", "N", "Add N random premises to each batch").with(Needs::Ranker),
            flag("epochs", "epochs", "N", "See every pair N times"),
            flag("limit-pairs", "limit_pairs", "N", "Stop after N pairs; 0 for no limit"),
            flag("seed", "seed", "SEED", "Choose the first weights and the order of pairs"),
        ],
    ),
    (
        "Optimiser",
        &[
            flag("optimiser", "optimiser", "rms-prop|adam-w", "The optimiser"),
            flag("rate", "rate", "RATE", "The highest learning rate"),
            flag("schedule", "schedule", "divide|cosine", "Divide the rate after each epoch, or let it rise and fall"),
            flag("divide-by", "divide_by", "N", "Divide the rate by N after each epoch").with(Needs::Divide),
            flag("warm-up", "warm_up", "SHARE", "Let the rate rise for this share of all steps").with(Needs::Cosine),
            flag("floor", "floor", "RATE", "The lowest learning rate"),
            flag("weight-decay", "weight_decay", "N", "Weight decay"),
            flag("clip", "clip", "LENGTH", "Shorten longer gradients; 0 for none"),
            flag("average", "average", "DECAY", "Keep a moving average of the weights as the model; 0 for none"),
            flag("dropout", "dropout", "SHARE", "Drop this share of the hidden numbers of classifiers or towers"),
            flag("precision", "precision", "auto|f32|bf16", "Multiply in bf16 where the CPU can (auto), or always in one of them"),
        ],
    ),
    (
        "Validation and model files",
        &[
            flag("validate-every", "validate_every", "N", "Validate after every N pairs"),
            flag("validation-pairs", "validation_pairs", "N", "Use N held-out pairs for that, and all at the end; 0 for all")
                .with(Needs::Classifier),
            flag("storage", "storage", "f32|bf16|f16", "How model files store matrices"),
        ],
    ),
];

/// A recipe as JSON. By way of its text, in which 0.15 is 0.15 rather than the nearest number of 32 bits.
fn fields(recipe: &Recipe) -> Map<String, Value> {
    let text = serde_json::to_string(recipe).expect("a recipe is plain data");
    serde_json::from_str(&text).expect("it was written so")
}

fn presets() -> &'static [Map<String, Value>; 3] {
    static PRESETS: OnceLock<[Map<String, Value>; 3]> = OnceLock::new();
    PRESETS.get_or_init(|| {
        [Preset::Default, Preset::Paper, Preset::Premises].map(|preset| fields(&preset.recipe()))
    })
}

impl Flag {
    /// What it does, and what the presets say.
    fn help(&self) -> String {
        let [default, paper, premises] = presets().each_ref().map(|preset| &preset[self.field]);
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut text = match self.value {
            Shown::Always(value) if *default == Value::Bool(value) => "default".to_owned(),
            Shown::Always(_) => "default: no".to_owned(),
            Shown::As(_) => format!("default: {}", shown(default)),
        };
        for (name, value) in [("paper", paper), ("premises", premises)] {
            if value != default {
                text += &format!(", {name}: {}", shown(value));
            }
        }
        format!("{} [{text}]", self.help)
    }

    fn parse(&self, text: &str) -> Result<Value, String> {
        let mut recipe = presets()[0].clone();
        let number = text.parse::<u64>().map(Value::from).ok();
        let number = number.or_else(|| text.parse::<f64>().ok().map(Value::from).filter(Value::is_number));
        let value = number.unwrap_or_else(|| text.into());
        match &recipe[self.field] {
            Value::Number(known) if known.is_u64() && !value.is_u64() => {
                return Err("expected a whole number".into());
            }
            Value::Number(_) if !value.is_number() => return Err("expected a number".into()),
            _ => {}
        }
        recipe.insert(self.field.to_owned(), value.clone());
        serde_json::from_value::<Recipe>(recipe.into()).map_err(|error| error.to_string())?;
        Ok(value)
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
        let mut changed = fields(&recipe);
        for (flag, value) in &self.0 {
            changed.insert(flag.field.to_owned(), value.clone());
        }
        let recipe = serde_json::from_value(changed.into())?;
        match self.0.iter().find(|(flag, _)| !flag.needs.is_met(&recipe)) {
            Some((Flag { name, needs, .. }, _)) => Err(usage::wrong(format!(
                "the argument '--{name}' has no effect without {}",
                needs.in_words()
            ))),
            None => Ok(recipe),
        }
    }
}
