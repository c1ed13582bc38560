//! The suite without a defect, then with each.

use crate::list::Mutant;
use crate::options::Options;
use crate::results::{Fate, Results, Verdict};
use crate::suite::{Ending, Tests};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A binary that takes so many times as long as without a defect has noticed one.
const SLOWER: u32 = 8;

/// Least limit for a binary: the machine may be busy.
const SHORTEST_LIMIT: Duration = Duration::from_secs(60);

/// Limit without a defect.
const LONGEST: Duration = Duration::from_secs(3600);

/// Runs the suite against the defects that the options ask for, and prints the table.
pub fn all(mutants: &[Mutant], suite: &[Tests], options: &Options) -> Result<(), String> {
    let mut results = Results::read(options.results.as_deref())?;
    let chosen = choose(mutants, &results, options)?;
    let limits = unmutated(suite, options.jobs > 1)?;
    let next = AtomicUsize::new(0);
    let kept = Mutex::new(&mut results);
    let work = || -> Result<(), String> {
        while let Some(mutant) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let fate = fate_of(mutant, suite, &limits, options.jobs > 1)?;
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

/// Runs the suite without a defect: the limits of time of its binaries.
fn unmutated(suite: &[Tests], one_thread: bool) -> Result<Vec<Duration>, String> {
    let mut limits = Vec::with_capacity(suite.len());
    for tests in suite {
        let start = Instant::now();
        let ending = tests.run(0, LONGEST, one_thread)?;
        let time = start.elapsed();
        if ending != Ending::Passed {
            return Err(format!("without a defect {} does not pass: {ending:?}", tests.name));
        }
        println!("{:15} {:9} {:5.1} s", tests.name, "passes", time.as_secs_f64());
        limits.push((SLOWER * time).max(SHORTEST_LIMIT));
    }
    Ok(limits)
}

/// Runs the tests of the defect's crate and of those above until one notices it.
fn fate_of(mutant: &Mutant, suite: &[Tests], limits: &[Duration], one_thread: bool) -> Result<Fate, String> {
    let start = Instant::now();
    let mut fate = Fate { verdict: Verdict::Survived, by: String::new(), seconds: 0.0 };
    for (tests, limit) in suite.iter().zip(limits).filter(|(tests, _)| tests.covers(&mutant.package)) {
        match tests.run(mutant.number, *limit, one_thread)? {
            Ending::Passed => continue,
            Ending::Failed(test) => (fate.verdict, fate.by) = (Verdict::Killed, format!("{} {test}", tests.name)),
            Ending::TimedOut => (fate.verdict, fate.by) = (Verdict::TimedOut, tests.name.clone()),
        }
        break;
    }
    fate.seconds = start.elapsed().as_secs_f64();
    Ok(fate)
}
