//! Which of a list of one-line defects do carom's tests notice?
//!
//! The tree is copied, every defect of the list is written into the copy beside the right code, all are compiled into one build, and an environment
//! variable chooses the one that acts: see `README.md`.

mod list;
mod options;
mod reach;
mod results;
mod run;
mod snippet;
mod suite;
mod tree;

use options::Options;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| work(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository that this tool is part of.
fn repository() -> PathBuf {
    here().join("../..")
}

/// The folder of this tool.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn work(options: &Options) -> Result<(), String> {
    let mutants = list::read(&here().join("list"))?;
    if !options.as_built {
        let rewritten = tree::Tree::read(&repository())?.with(&mutants)?;
        println!("{} defects, each found once", mutants.len());
        if options.verify {
            return Ok(());
        }
        rewritten.write(&options.scratch)?;
    }
    let suite = suite::build(&options.scratch)?;
    run::all(&mutants, &suite, options)
}

#[cfg(test)]
mod tests {
    use super::{here, list, repository, tree::Tree};

    #[test]
    fn every_snippet_occurs_once() {
        let mutants = list::read(&here().join("list")).unwrap();
        assert!(mutants.len() >= 160, "{}", mutants.len());
        Tree::read(&repository()).unwrap().with(&mutants).unwrap();
    }
}
