//! The golden matrix at the command line and over HTTP.

mod cli;
mod http;

use formulanet::Library;
use formulanet_testing::Folder;
use formulanet_testing::golden::{self, LibraryFiles, Matrix, Scenario};

/// Makes the libraries with the program.
fn libraries(matrix: &Matrix) -> Folder {
    let folder = Folder::new();
    for LibraryFiles { name, files, proofs, reranker } in &matrix.libraries {
        let path = folder.text(&format!("{name}.db"));
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let build = [&["library", "build", &path][..], &files, &["--precision", "f32"]].concat();
        cli::formulanet(&build);
        if let Some(proofs) = proofs {
            cli::formulanet(&["library", "learn", &path, proofs]);
        }
        if let Some(reranker) = reranker {
            let model = std::fs::read(golden::repository(reranker)).unwrap();
            Library::open(path.as_ref()).unwrap().set_fitted_reranker(Some(&model)).unwrap();
        }
    }
    folder
}

#[test]
fn answers_are_those_of_the_recording() {
    let matrix = golden::matrix();
    let folder = libraries(&matrix);
    let of = |door: &str| matrix.scenarios.iter().filter(|s| s.is_for(door)).collect::<Vec<&Scenario>>();
    let by_http = {
        let server = http::Server::start(&matrix, &folder);
        golden::in_parallel(&of("http"), |scenario| server.answer(scenario))
    };
    let by_command = golden::in_parallel(&of("cli"), |scenario| cli::answer(scenario, &folder));
    if golden::records() {
        golden::check("http", by_http);
        golden::check("cli", by_command);
        return;
    }
    // If both doors differ, both are reported.
    let http = std::panic::catch_unwind(|| golden::check("http", by_http));
    golden::check("cli", by_command);
    if let Err(differs) = http {
        std::panic::resume_unwind(differs);
    }
}

#[test]
fn doors_disagree_where_it_is_known() {
    if !golden::records() {
        golden::doors_agree();
    }
}
