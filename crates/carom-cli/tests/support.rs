//! Runs the command in a folder of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What the command said.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Standard output as one JSON object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }
}

/// An empty folder to work in.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// The names of the files in it, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
        command.current_dir(self.0.path());
        command
    }

    pub fn carom(&self, arguments: &[&str]) -> Said {
        said(self.command().args(arguments).output().unwrap())
    }
}

pub fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// A model of the gallery.
pub fn gallery(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    path.to_str().unwrap().to_owned()
}

/// A right model, to be spoiled by tests.
pub const BALL: &str = r#"
title = "Ball"

[parameters]
height = 1.0

[linear]
coordinates = ["y"]
mass = 1.0
force = [-9.81]

[[contact]]
name = "floor"
gap = "y"
restitution = 0.9

[initial]
position = { y = "height" }

[simulation]
end = 1.0
step = 0.005
"#;

/// Two bodies on a plane, to be spoiled by tests.
pub const BODIES: &str = r#"
[[material]]
name = "rubber"
friction = 0.3
restitution = 0.1

[[body]]
name = "floor"
fixed = true
shape = { kind = "plane" }
material = "rubber"

[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.1 }
density = 1000
position = [0, 0, 0.1]
orientation = [1, 0, 0, 0]

[[body]]
name = "top"
mass = 1.0
inertia = [1.0, 1.0, 1.5]
position = [5, 0, 3]

[simulation]
end = 0.1
step = 0.001
"#;
