//! Tallies: what was read has to stand judging pairs. Begin with a file that has no checksum: it gets one here, because none is
//! read without.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use formulanet::net::{Compute, Precision, sealed};
use formulanet_lab::tally::{Tally, predict_tally};
use formulanet_train::Silent;
use formulanet_train::dataset::{Options, Prepared, Split, prepare};
use formulanet_train::eval::{TokenMap, pairs_of};
use libfuzzer_sys::fuzz_target;

/// The words of the data that the first input was made of.
const FILE: &str =
    "N A\nC |- (c1 = d)\nT c= cc1 cd\n+ |- (e1 = k3)\nT c= ce1 ck3\n- |- (h2 = (f k4))\nT c= ch2 cf ck4\n";

static PREPARED: LazyLock<Prepared> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder").keep();
    fs::create_dir(folder.join("train")).expect("a folder in it");
    fs::write(folder.join("train/00001"), FILE).expect("a file in it");
    let out = folder.join("prepared");
    prepare(&folder, &out, None, &Options::default(), 1, &Silent).expect("a HolStep file");
    Prepared::open(&out).expect("what was just written")
});

fuzz_target!(|input: &[u8]| {
    let Ok(input) = sealed(input) else { return };
    let Ok(tally) = Tally::from_bytes(&input, "fuzz") else { return };
    let Ok(map) = TokenMap::new(PREPARED.vocabulary(), &tally.vocabulary, "fuzz") else { return };
    let pairs: Vec<u32> =
        Split::ALL.into_iter().flat_map(|split| pairs_of(&PREPARED, split, None, 0)).collect();
    assert!(!pairs.is_empty());
    let _ = predict_tally(&tally, &PREPARED, &map, &pairs, &Compute::new(Precision::F32, 1), &Silent);
});
