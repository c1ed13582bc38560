//! The tests against each defect.

use crate::list::Mutant;
use crate::options::Options;
use crate::reach::{self, Test};
use crate::results::{Fate, Results, Verdict};
use crate::suite::{Ending, Tests};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Tests that take so many times as long as without a defect have noticed one.
const SLOWER: f64 = 8.0;

/// Least limit \[s\]: the machine may be busy.
const SHORTEST_LIMIT: f64 = 60.0;

/// Tests up to these times \[s\] are asked before longer ones, in all binaries.
const ROUNDS: [f64; 3] = [0.1, 1.0, f64::INFINITY];

/// Runs the suite against the defects that the options ask for, and prints the table.
pub fn all(mutants: &[Mutant], suite: &[Tests], options: &Options) -> Result<(), String> {
    let mut results = Results::read(options.results.as_deref())?;
    let chosen = choose(mutants, &results, options)?;
    let tests = reach::measure(suite, options.jobs)?;
    let next = AtomicUsize::new(0);
    let kept = Mutex::new(&mut results);
    let work = || -> Result<(), String> {
        while let Some(mutant) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let fate = fate_of(mutant, suite, &tests, options.jobs > 1)?;
            println!("{:15} {:9} {:5.1} s  {}", mutant.id, fate.verdict.to_string(), fate.seconds, fate.by);
            kept.lock().map_err(|_| "another thread failed")?.add(mutant, fate)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread failed")?)
    })?;
    println!("\n{}", results.table(mutants));
    Ok(())
}

/// Those that are to be run, in the order of the list.
fn choose<'a>(mutants: &'a [Mutant], results: &Results, options: &Options) -> Result<Vec<&'a Mutant>, String> {
    let first = match &options.from {
        None => 0,
        Some(id) => mutants.iter().position(|mutant| mutant.id == *id).ok_or_else(|| format!("no defect is called {id}"))?,
    };
    let is_asked = |mutant: &&Mutant| options.only.as_ref().is_none_or(|only| mutant.room == *only || mutant.id == *only);
    let is_open = |mutant: &&Mutant| match results.fate(mutant) {
        None => true,
        Some(fate) => options.again && fate.verdict == Verdict::Survived,
    };
    Ok(mutants[first..].iter().filter(is_asked).filter(is_open).collect())
}

/// Runs the tests that come by a defect, quick ones first, until one notices it.
fn fate_of(mutant: &Mutant, suite: &[Tests], tests: &[Test], one_thread: bool) -> Result<Fate, String> {
    let start = Instant::now();
    let able: Vec<&Test> = tests.iter().filter(|test| test.reached.contains(&mutant.number)).collect();
    let mut fate = Fate { verdict: Verdict::Survived, by: format!("{} tests come by", able.len()), seconds: 0.0 };
    let mut shortest = 0.0;
    'rounds: for longest in ROUNDS {
        for (binary, program) in suite.iter().enumerate() {
            let in_round = |test: &&&Test| test.binary == binary && (shortest..longest).contains(&test.seconds);
            let asked: Vec<&Test> = able.iter().filter(in_round).copied().collect();
            if asked.is_empty() {
                continue;
            }
            let seconds: f64 = asked.iter().map(|test| test.seconds).sum();
            let limit = Duration::from_secs_f64((SLOWER * seconds).max(SHORTEST_LIMIT));
            let names: Vec<&str> = asked.iter().map(|test| test.name.as_str()).collect();
            match program.run(mutant.number, &names, limit, one_thread)? {
                Ending::Passed => continue,
                Ending::Failed(test) => (fate.verdict, fate.by) = (Verdict::Killed, format!("{} {test}", program.name)),
                Ending::TimedOut => (fate.verdict, fate.by) = (Verdict::TimedOut, program.name.clone()),
            }
            break 'rounds;
        }
        shortest = longest;
    }
    fate.seconds = start.elapsed().as_secs_f64();
    Ok(fate)
}
