//! Files of statements in every format, read into a corpus and ranked. The first byte chooses the format, the second how they
//! are ranked.
#![no_main]

use std::sync::OnceLock;

use formulanet::logic::Limits;
use formulanet::read::{Format, Source};
use formulanet::{Engine, Error, Policy, Query, Rerank, Symbols};
use libfuzzer_sys::fuzz_target;

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let limits = Limits { bytes: 4096, depth: 200, nodes: 500, treelets: 2000 };
        Engine::builder().threads(1).limits(limits).build().expect("an engine")
    })
}

fuzz_target!(|input: &[u8]| {
    let [format, policy, text @ ..] = input else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (_, format) = Format::ALL[usize::from(*format) % Format::ALL.len()];
    let source = Source::text("fuzz", text.to_owned()).in_format(Some(format));
    let mut builder = engine().corpus().source(source);
    if policy & 1 == 1 {
        builder = builder.keep_going();
    }
    let Ok(corpus) = builder.build() else { return };
    let symbols = if policy & 2 == 0 { Symbols::Named } else { Symbols::Anonymous };
    let rerank = if policy & 4 == 0 { Rerank::Off } else { Rerank::On };
    let query = Query::new("p(a) | ~p(b)").k(5).policy(Policy::default().symbols(symbols).rerank(rerank));
    match engine().rank(&corpus, &query) {
        Ok(ranking) => {
            let (stored, local) = corpus.counts().expect("no library can be damaged");
            assert!(ranking.hits.len() <= 5.min(stored + local));
            assert!(ranking.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        }
        Err(Error::Parse { .. } | Error::NoStatements | Error::TooLarge { .. }) => {}
        Err(error) => panic!("{error}"),
    }
});
