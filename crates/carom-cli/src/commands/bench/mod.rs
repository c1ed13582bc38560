//! `carom bench`: solvers timed, methods and models crossed, final states kept.

mod solvers;

use super::Outcome;
use clap::{Parser, Subcommand};

#[derive(Parser)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Time solvers over a folder of problems and draw their performance profile
    Solvers(solvers::Args),
}

pub fn bench(args: &Args) -> Outcome {
    match &args.what {
        What::Solvers(args) => solvers::bench(args),
    }
}
