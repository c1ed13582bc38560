//! Which tests come by which defects, and how long each takes.
//!
//! Every test is run once by itself without a defect. Only those that come by a defect can notice it; quick ones are asked first.

use crate::suite::{Ending, Tests};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A test, by itself and without a defect.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its binary, by its place in the suite.
    pub binary: usize,
    /// Its name.
    pub name: String,
    /// Time \[s\].
    pub seconds: f64,
    /// Numbers of the defects that it comes by.
    pub reached: BTreeSet<u32>,
}

/// Tests of a binary that may not pass without a defect.
const MOST_LEFT_OUT: usize = 4;

/// Limit of time of a test without a defect.
const LONGEST: Duration = Duration::from_secs(600);

/// All tests of the suite, `jobs` at once. What is known of a binary lies beside it, and is read again while it is not built anew.
pub fn measure(suite: &[Tests], jobs: usize) -> Result<Vec<Test>, String> {
    let mut all = Vec::new();
    for (binary, tests) in suite.iter().enumerate() {
        let known = PathBuf::from(format!("{}.reach", tests.executable.display()));
        let own = match read(&known, tests, binary) {
            Some(own) => own,
            None => {
                let own = measure_binary(binary, tests, jobs)?;
                std::fs::write(&known, own.iter().map(line).collect::<String>())
                    .map_err(|error| format!("{}: {error}", known.display()))?;
                own
            }
        };
        let seconds: f64 = own.iter().map(|test| test.seconds).sum();
        println!("{:24} {:4} tests, {seconds:6.1} s one by one", tests.name, own.len());
        all.extend(own);
    }
    Ok(all)
}

fn measure_binary(binary: usize, tests: &Tests, jobs: usize) -> Result<Vec<Test>, String> {
    let (names, next) = (tests.list()?, AtomicUsize::new(0));
    let work = |job: usize| {
        let noted = PathBuf::from(format!("{}.noted{job}", tests.executable.display()));
        let mut own = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.extend(measure_test(binary, tests, name, &noted)?);
        }
        Ok::<_, String>(own)
    };
    let measured: Vec<Test> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|job| scope.spawn(move || work(job))).collect();
        let parts = threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread failed")?);
        Ok::<_, String>(parts.collect::<Result<Vec<_>, String>>()?.concat())
    })?;
    if measured.len() + MOST_LEFT_OUT < names.len() {
        return Err(format!("{} does not pass without a defect", tests.name));
    }
    Ok(measured)
}

/// Runs a test; `noted` is the file to which it tells what it comes by. `None` where it does not pass, as where it counts
/// allocations from its first step on: the switch reads the environment then.
fn measure_test(binary: usize, tests: &Tests, name: &str, noted: &Path) -> Result<Option<Test>, String> {
    // there is none where the last test came by nothing
    let _ = std::fs::remove_file(noted);
    let start = Instant::now();
    let ending = tests.note(name, noted, LONGEST)?;
    let seconds = start.elapsed().as_secs_f64();
    // noting allocates, which some tests count
    if ending != Ending::Passed {
        let ending = tests.run(0, &[name], LONGEST, true)?;
        if ending != Ending::Passed {
            println!("{} {name} is left out: {ending:?} without a defect", tests.name);
            return Ok(None);
        }
    }
    let reached = std::fs::read_to_string(noted).unwrap_or_default().lines().filter_map(|x| x.parse().ok()).collect();
    Ok(Some(Test { binary, name: name.to_owned(), seconds, reached }))
}

fn line(test: &Test) -> String {
    let reached: Vec<String> = test.reached.iter().map(u32::to_string).collect();
    format!("{}\t{:.3}\t{}\n", test.name, test.seconds, reached.join(","))
}

/// What was written for a binary that is not newer.
fn read(known: &Path, tests: &Tests, binary: usize) -> Option<Vec<Test>> {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    if changed(known)? < changed(&tests.executable)? {
        return None;
    }
    let text = std::fs::read_to_string(known).ok()?;
    let test = |line: &str| {
        let mut fields = line.split('\t');
        let (name, seconds) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
        Some(Test { binary, name, seconds, reached: fields.next()?.split(',').filter_map(|x| x.parse().ok()).collect() })
    };
    text.lines().map(test).collect()
}
