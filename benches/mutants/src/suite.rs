//! The test binaries, and how one of them is run.

use crate::tree::VARIABLE;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Crates from the lowest to the highest; each one's tests notice defects of those below.
const CRATES: [&str; 6] = ["carom-solvers", "carom-dynamics", "carom-collision", "carom-io", "carom", "carom-cli"];

/// A test binary.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Its crate, by its place in the order.
    rank: usize,
    /// Unit tests come before integration tests.
    is_integration: bool,
    /// How it is called in results.
    pub name: String,
    executable: PathBuf,
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
    /// Its tests can notice a defect of this crate.
    pub fn covers(&self, package: &str) -> bool {
        CRATES.iter().position(|name| *name == package).is_some_and(|rank| rank <= self.rank)
    }

    /// Runs the tests with a defect, 0 for none, until the first one fails; on one thread where other processes run beside.
    pub fn run(&self, number: u32, limit: Duration, one_thread: bool) -> Result<Ending, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.executable.display());
        let mut command = Command::new(&self.executable);
        command.args(if one_thread { &["--test-threads=1"][..] } else { &[] }).current_dir(&self.folder).env(VARIABLE, number.to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
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
