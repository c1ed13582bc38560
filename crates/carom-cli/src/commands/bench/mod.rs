//! `carom bench`: solvers timed, methods and models crossed, final states kept.

mod matrix;
mod methods;
mod solvers;
mod states;
mod trial;
mod workers;

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
    /// Run every model by every method over some steps: what runs, what agrees with the model's own method, what is refused
    Matrix(matrix::Args),
    /// Where every model ends, by its own method and all others: write the table, or compare with it
    States(states::Args),
}

pub fn bench(args: &Args) -> Outcome {
    match &args.what {
        What::Solvers(args) => solvers::bench(args),
        What::Matrix(args) => matrix::bench(args),
        What::States(args) => states::bench(args),
    }
}
