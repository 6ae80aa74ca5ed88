//! Checkpoints: the state of training, restored into a tiny network. The input is a file, or, after a zero byte, changes to
//! a good one: each has a place in two bytes and a new value in one.
#![no_main]

use formulanet_net::{Config, Model, MovingAverage, Optimiser, Rule, State};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let model = Model::new(Config { dimension: 6, steps: 1, ..Config::paper(5) }, 3);
    let optimiser = Optimiser::new(Rule::RmsProp { alpha: 0.99 }, 1e-4, model.layout().trained());
    let average = Some(MovingAverage::new(0.9, model.values()));
    let mut state = State { model, optimiser, average };
    let before = state.model.values().to_vec();
    let changed = match input {
        [0, changes @ ..] => changed(&state, changes),
        file => file.to_vec(),
    };
    // All of a state is taken over, or nothing.
    if state.restore(&changed).is_err() {
        assert_eq!(state.model.values(), before);
    }
});

fn changed(state: &State, changes: &[u8]) -> Vec<u8> {
    let mut file = state.to_bytes(&Default::default()).expect("a small state");
    // Without its checksum, so that more than that is put to the test.
    let mark = b"checksum:";
    let place = file.windows(mark.len()).position(|window| window == mark).expect("a checksum");
    file[place] = b'C';
    for &[low, high, value] in changes.as_chunks::<3>().0 {
        let place = usize::from(u16::from_le_bytes([low, high])) % file.len();
        file[place] = value;
    }
    file
}
