//! How long it takes to add to a theory and to ask it: `theory_speed THEORY QUESTIONS`. Run by `bench/theory_speed.py`.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use formulanet::logic::{Interner, hol};
use formulanet::rank::{Features, Method, Theory};
use formulanet::read::TheoryFile;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, questions] = arguments.as_slice() else {
        return Err("expected a theory file and a number of questions".into());
    };
    let questions: usize = questions.parse()?;
    let (mut features, start) = (Vec::new(), Instant::now());
    let options = hol::Options::default();
    let file = TheoryFile::read(file, &options, false, &mut Interner::new(), &mut |_, formula, names| {
        features.push(Features::of(formula, names));
    })?;
    println!("read {} facts in {:.1} s", file.facts.len(), start.elapsed().as_secs_f64());
    let (mut theory, start) = (Theory::default(), Instant::now());
    let (mut adding, mut asking) = (Vec::new(), Vec::new());
    for (number, (fact, features)) in file.facts.iter().zip(&features).enumerate() {
        if number + questions >= file.facts.len() {
            let start = Instant::now();
            let best = theory.rank(&theory.goal(features), theory.len(), Method::Auto, 256);
            asking.push(start.elapsed().as_secs_f64());
            assert!(!best.is_empty());
        }
        let start = Instant::now();
        theory.add_fact(features);
        if let Some(used) = &fact.proof {
            theory.add_proof(number, &used.iter().map(|&used| used as usize).collect::<Vec<_>>());
        }
        adding.push(start.elapsed().as_secs_f64());
    }
    let asked: f64 = asking.iter().sum();
    let built = start.elapsed().as_secs_f64() - asked;
    println!("added all, {} proofs, in {built:.1} s", theory.proof_count());
    let last = adding.len().saturating_sub(1000);
    for (what, times) in [("add one of the last 1,000", &mut adding[last..]), ("ask", &mut asking[..])] {
        times.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| 1000.0 * times[((times.len() - 1) as f64 * share) as usize];
        println!("{what}: median {:.2} ms, 95 % {:.2} ms, longest {:.2} ms", at(0.5), at(0.95), at(1.0));
    }
    Ok(())
}
