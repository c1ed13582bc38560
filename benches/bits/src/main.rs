//! Two carom binaries on one machine, compared byte for byte. See README.md.

mod cases;
mod options;
mod output;

use cases::Case;
use options::Options;
use output::{Binary, Results};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match compare(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs all cases that are asked for, prints what differs, and gives the number of cases that do.
fn compare(options: &Options) -> Result<usize, String> {
    let folder = WorkFolder::new()?;
    let [old, new] =
        [0, 1].map(|k| Binary { path: &options.binaries[k], overrides: &options.overrides[k], folder: folder.0.join(["old", "new"][k]) });
    for binary in [&old, &new] {
        std::fs::create_dir_all(&binary.folder).map_err(|error| error.to_string())?;
    }
    let (mut n_cases, mut n_different) = (0, 0);
    for case in cases::all(options.steps)?.iter().filter(|case| options.wants(&case.name)) {
        let differences = compare_case(case, &old, &new).map_err(|error| format!("{}: {error}", case.name))?;
        for line in &differences {
            println!("{}: {line}", case.name);
        }
        n_cases += 1;
        n_different += usize::from(!differences.is_empty());
    }
    if n_cases == 0 {
        return Err(format!("no case is named like {}", options.names.join(" or ")));
    }
    println!("{n_cases} cases, {n_different} differ");
    Ok(n_different)
}

/// Both binaries side by side on every number of threads; then the second binary's runs with each other.
fn compare_case(case: &Case, old: &Binary<'_>, new: &Binary<'_>) -> Result<Vec<String>, String> {
    let (mut found, mut first): (Vec<String>, Option<Results>) = (Vec::new(), None);
    for &threads in case.threads {
        let (a, b) = std::thread::scope(|scope| {
            let a = scope.spawn(|| old.run(case, threads));
            let b = new.run(case, threads);
            (a.join(), b)
        });
        let (a, b) = (a.map_err(|_| "a thread panicked".to_owned())??, b?);
        let on = threads.map_or_else(String::new, |n| format!("on {n} threads: "));
        if !a.ran() && !b.ran() {
            found.push(format!("{on}runs with neither"));
        }
        found.extend(a.differences(&b).into_iter().map(|line| format!("{on}{line}")));
        match &first {
            Some(first) => found.extend(first.differences(&b).into_iter().map(|line| format!("1 thread against {on}{line}"))),
            None => first = Some(b),
        }
    }
    Ok(found)
}

/// A folder for records that goes when the comparison ends.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("carom-bits-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(WorkFolder(path))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // what is left in the folder of the system does no harm
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
