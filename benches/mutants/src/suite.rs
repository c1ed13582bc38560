//! The test binaries, and how one of them is run.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Crates from the lowest to the highest: the order of their tests.
const CRATES: [&str; 6] = ["carom-solvers", "carom-dynamics", "carom-collision", "carom-io", "carom", "carom-cli"];

/// Environment variables of `switch.rs`: the number of the defect that acts, and the file of those that a process comes by.
const NUMBER: &str = "CAROM_MUTANT";
const REACHED: &str = "CAROM_MUTANTS_REACHED";

/// Number for which defects are noted.
const NOTING: u32 = u32::MAX;

/// A test binary.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Its crate, by its place in the order.
    rank: usize,
    /// Unit tests come before integration tests.
    is_integration: bool,
    /// How it is called in results.
    pub name: String,
    /// Its file.
    pub executable: PathBuf,
    folder: PathBuf,
}

/// How a run of a test binary ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// All tests pass.
    Passed,
    /// A test failed: its name, or how the process ended.
    Failed(String),
    /// It took too long.
    TimedOut,
}

/// Builds all test binaries of a tree, in the order in which they are run.
pub fn build(tree: &Path) -> Result<Vec<Tests>, String> {
    let arguments = ["test", "--no-run", "--workspace", "--lib", "--bins", "--tests", "--message-format=json"];
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(tree).env("CARGO_TARGET_DIR", tree.join("target")).stderr(Stdio::inherit());
    let output = command.stdout(Stdio::piped()).output().map_err(|error| format!("cargo: {error}"))?;
    let messages: Vec<Value> = String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if !output.status.success() {
        let errors = messages.iter().map(|message| &message["message"]).filter(|message| message["level"] == "error");
        let texts: Vec<&str> = errors.filter_map(|message| message["rendered"].as_str()).collect();
        return Err(format!("the tree with the defects does not build\n{}", texts.join("\n")));
    }
    let mut suite: Vec<Tests> = messages.iter().filter(|message| message["profile"]["test"] == true).filter_map(test_binary).collect();
    suite.sort_by(|a, b| (a.rank, a.is_integration, &a.name).cmp(&(b.rank, b.is_integration, &b.name)));
    Ok(suite)
}

/// The test binary that a message of cargo tells.
fn test_binary(message: &Value) -> Option<Tests> {
    let executable = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let rank = CRATES.iter().position(|name| *name == package)?;
    let is_integration = message["target"]["kind"][0] == "test";
    let name = format!("{package}{}", if is_integration { "/tests" } else { "" });
    Some(Tests { rank, is_integration, name, executable, folder })
}

impl Tests {
    /// Names of its tests, without those that are ignored.
    pub fn list(&self) -> Result<Vec<String>, String> {
        let list = |more: &[&str]| {
            let mut command = Command::new(&self.executable);
            let output = command.args(["--list", "--format", "terse"]).args(more).current_dir(&self.folder).output();
            let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
            text.map_err(|error| format!("{}: {error}", self.executable.display()))
        };
        let (all, ignored) = (list(&[])?, list(&["--ignored"])?);
        let left_out: Vec<&str> = ignored.lines().collect();
        let names = all.lines().filter(|line| !left_out.contains(line)).filter_map(|line| line.strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    }

    /// Runs a test without a defect; numbers of the defects that it comes by go to a file.
    pub fn note(&self, test: &str, file: &Path, limit: Duration) -> Result<Ending, String> {
        let mut command = self.command(NOTING, &[test], true);
        self.end(command.env(REACHED, file), limit)
    }

    /// Runs tests with a defect, 0 for none, until the first one fails; on one thread where other processes run beside.
    pub fn run(&self, number: u32, tests: &[&str], limit: Duration, one_thread: bool) -> Result<Ending, String> {
        self.end(&mut self.command(number, tests, one_thread), limit)
    }

    fn command(&self, number: u32, tests: &[&str], one_thread: bool) -> Command {
        let mut command = Command::new(&self.executable);
        command.arg("--exact").args(one_thread.then_some("--test-threads=1")).args(tests);
        command.current_dir(&self.folder).env(NUMBER, number.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    fn end(&self, command: &mut Command, limit: Duration) -> Result<Ending, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.executable.display());
        let mut child = command.spawn().map_err(failed)?;
        let ending = follow(&mut child, Instant::now() + limit);
        if ending.is_some() {
            child.kill().map_err(failed)?;
        }
        let status = child.wait().map_err(failed)?;
        Ok(ending.unwrap_or_else(|| if status.success() { Ending::Passed } else { Ending::Failed(status.to_string()) }))
    }
}

/// Reads what the tests print until one fails or the time is over; `None` where the process ends by itself.
fn follow(child: &mut Child, end: Instant) -> Option<Ending> {
    let (sender, lines) = channel();
    let output = BufReader::new(child.stdout.take()?);
    // ends with the process, or when nobody listens any more
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if let Some(test) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")) {
                    return Some(Ending::Failed(test.to_owned()));
                }
            }
            Err(RecvTimeoutError::Timeout) => return Some(Ending::TimedOut),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
