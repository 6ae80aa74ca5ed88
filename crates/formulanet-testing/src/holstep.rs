//! A made-up data set with the layout of HolStep.

use std::fs;
use std::path::Path;

/// Writes this many conjectures for training, and four for testing. A statement is useful if it has the operator of its
/// conjecture.
pub fn write_holstep(folder: &Path, training: usize) {
    for (split, conjectures) in [("train", 0..training), ("test", training..training + 4)] {
        fs::create_dir_all(folder.join(split)).unwrap();
        for i in conjectures {
            fs::write(folder.join(split).join(format!("{i:05}")), conjecture(i)).unwrap();
        }
    }
}

/// The file of a conjecture.
fn conjecture(i: usize) -> String {
    const OPERATORS: [&str; 2] = ["+", "*"];
    const FUNCTIONS: [&str; 3] = ["SUC", "PRE", "ABS"];
    const VARIABLES: [&str; 4] = ["m", "n", "x", "y"];
    let (operator, function) = (OPERATORS[i % 2], FUNCTIONS[i % 3]);
    let (mut text, mut tokens) = (format!("(m {operator} n)"), format!("c{operator} f0 f1"));
    for _ in 0..=i / 6 {
        text = format!("({function} {text})");
        tokens = format!("c{function} {tokens}");
    }
    let mut file = format!(
        "N THEOREM_{i}\nC |- (!m. (!n. ({text} = (n {operator} m))))\nT c= {tokens} c{operator} f1 f0\n"
    );
    for j in 0..8 {
        let is_useful = j % 2 == 0;
        let operator = OPERATORS[(i + j) % 2];
        let (f, g) = (FUNCTIONS[(i + j) % 3], FUNCTIONS[(i * j + 1) % 3]);
        let (a, b) = (VARIABLES[j % 2], VARIABLES[2 + (i + j) % 2]);
        let sign = if is_useful { '+' } else { '-' };
        file += &format!("{sign} |- (({f} ({a} {operator} {b})) = ({b} {operator} ({g} {a})))\n");
        file += &format!("T c= c{f} c{operator} f0 f1 c{operator} f1 c{g} f0\n");
    }
    file
}
