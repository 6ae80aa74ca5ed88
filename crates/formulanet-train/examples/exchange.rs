//! The time of the communication in a training step, without computation.
//!
//!     mpirun -n 4 target/release/examples/exchange WEIGHTS VECTORS ROUNDS
//!
//! WEIGHTS is the number of gradients that are summed, VECTORS that of numbers of all graphs' vectors of a batch. Prints one
//! JSON object: the median seconds of a step's communication, and of its parts.

use std::error::Error;
use std::io::{Write, stdout};
use std::time::Instant;

use formulanet_train::processes::Session;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [weights, vectors, rounds] = numbers[..] else {
        return Err("expected WEIGHTS VECTORS ROUNDS".into());
    };
    let session = Session::start().ok_or("MPI has begun already")?;
    let group = session.group();
    let cut = |length: usize| -> Vec<usize> {
        let border = |rank: usize| rank * length / group.size();
        (0..group.size()).map(|rank| border(rank + 1) - border(rank)).collect()
    };
    let (vector_counts, weight_counts) = (cut(vectors), cut(weights));
    let own = weight_counts[group.rank()];
    let mine = vec![1.0; vector_counts[group.rank()]];
    let (mut all_vectors, mut total) = (vec![0.0; vectors], vec![1.0; weights]);
    let mut received = vec![0.0; own * group.size()];
    let mut times: [Vec<f64>; 5] = Default::default();
    for _ in 0..rounds {
        // Nobody waits for somebody who has not come yet.
        group.any(false);
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
        group.gather(&mine, &vector_counts, &mut all_vectors);
        let gathered = lap();
        group.exchange(&total, &weight_counts, &mut received, &vec![own; group.size()]);
        let exchanged = lap();
        group.gather(&received[..own], &weight_counts, &mut total);
        let returned = lap();
        group.any(false);
        let agreed = lap();
        let laps = [gathered, exchanged, returned, agreed];
        let step = laps.iter().sum();
        times.iter_mut().zip(laps.into_iter().chain([step])).for_each(|(times, lap)| times.push(lap));
    }
    if group.is_first() {
        let [vectors_gathered, exchanged, gathered, agreed, step] = times.map(median);
        let line = serde_json::json!({
            "ranks": group.size(),
            "weights": weights,
            "vectors": vectors,
            "step": step,
            "parts": { "vectors": vectors_gathered, "exchange": exchanged, "gather": gathered, "agree": agreed },
        });
        writeln!(stdout(), "{line}")?;
    }
    Ok(())
}
