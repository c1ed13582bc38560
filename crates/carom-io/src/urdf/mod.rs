//! URDF: the description of a robot becomes a model file.
//!
//! Links become bodies, joints become joints; links that fixed joints hold together become one body. All poses are those of the joint
//! values asked for, zero by default. What has no counterpart is told in [`Imported::notes`] and in comments of the file, never dropped
//! silently.

mod read;
mod tree;
mod write;

use std::fmt;

/// What to do about things that a URDF leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// Values of joints by name \[rad or m\]; those not named are zero.
    pub positions: Vec<(String, f64)>,
    /// The root link moves freely; by default it is fixed to the ground.
    pub floating_base: bool,
    /// Density of links that have shapes but no inertia \[kg/m³\]. Default 1000.
    pub density: f64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions { positions: Vec::new(), floating_base: false, density: 1000.0 }
    }
}

/// A converted robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Text of the model file.
    pub model: String,
    /// What could not be converted, or was decided.
    pub notes: Vec<String>,
}

/// Why a URDF cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrdfError {
    /// Line in the URDF, from 1, where there is one.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl UrdfError {
    fn new(line: Option<u32>, message: impl Into<String>, help: impl Into<String>) -> Self {
        UrdfError { line, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for UrdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for UrdfError {}

/// Converts the text of a URDF.
///
/// # Errors
/// [`UrdfError`] for a text that is not XML or not a robot, names that do not fit together, numbers that are not finite, and bodies that
/// would have no mass.
pub fn import(text: &str, options: &ImportOptions) -> Result<Imported, UrdfError> {
    let robot = read::robot(text)?;
    let placed = tree::place(&robot, options)?;
    Ok(write::model(&robot, &placed, options))
}
