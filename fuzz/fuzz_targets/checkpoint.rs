//! Checkpoints: the state of training, restored into a tiny network.
#![no_main]

use formulanet_net::{Config, Model, MovingAverage, Optimiser, Rule, State};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let model = Model::new(Config { dimension: 6, steps: 1, ..Config::paper(5) }, 3);
    let optimiser = Optimiser::new(Rule::RmsProp { alpha: 0.99 }, 1e-4, model.layout().trained());
    let average = Some(MovingAverage::new(0.9, model.values()));
    let mut state = State { model, optimiser, average };
    let before = state.model.values().to_vec();
    // All of a state is taken over, or nothing.
    if state.restore(input).is_err() {
        assert_eq!(state.model.values(), before);
    }
});
