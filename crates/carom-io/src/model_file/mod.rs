//! Model files: TOML text in, a model with its initial state and settings out.
//!
//! [`read`] takes a file or a folder with a `model.toml`; [`parse`] takes text. Every mistake is a [`Diagnostic`] with
//! its place in the text, what was expected and, where one is near, the right name. The keys are described in the
//! book's model-file reference.

mod bodies;
mod build;
mod compliant;
mod components;
mod error;
mod forces;
mod formulas;
mod impact;
mod joints;
mod laws;
mod materials;
mod natural;
mod numbers;
mod overrides;
mod pieces;
mod planar;
mod planar_shapes;
mod rotation_coordinates;
mod schema;
mod settings;
mod simulation;
mod tree;
mod user_events;
mod value;

pub use error::{Diagnostic, ModelFileError, Position};
pub use overrides::{Override, apply_overrides};
pub use settings::{RecordSettings, RunSettings};

use carom_dynamics::{Model, State};
use std::path::{Path, PathBuf};

/// Name of the model file in a folder.
pub const MODEL_FILE: &str = "model.toml";

/// Largest model file that is read \[bytes\].
const MAX_BYTES: u64 = 256 << 20;

/// A model file, read and checked.
pub struct ModelFile {
    /// Title; the file's or folder's name when the file gives none.
    pub title: String,
    /// The text it was made from, overrides applied.
    pub text: String,
    /// The model.
    pub model: Model,
    /// Its initial state.
    pub state: State,
    /// How to run it.
    pub run: RunSettings,
    /// What to record.
    pub record: RecordSettings,
}

/// Reads a model file, or `model.toml` in a folder, with overrides such as `simulation.step=1e-5`.
///
/// # Errors
/// [`ModelFileError`] with one diagnostic per mistake.
pub fn read(path: &Path, overrides: &[Override]) -> Result<ModelFile, ModelFileError> {
    let file = if path.is_dir() { path.join(MODEL_FILE) } else { path.to_path_buf() };
    let unreadable = |reason: String| ModelFileError::unreadable(&file, reason);
    let size = std::fs::metadata(&file).map_err(|e| unreadable(e.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(unreadable(format!("the file has {size} bytes, at most {MAX_BYTES} are read")));
    }
    let text = std::fs::read_to_string(&file).map_err(|e| unreadable(e.to_string()))?;
    let text = apply_overrides(&text, overrides).map_err(|diagnostic| ModelFileError::new(&file, &text, vec![diagnostic]))?;
    parse(&text, &file)
}

/// Reads a model from text; `origin` names it in messages.
///
/// # Errors
/// [`ModelFileError`] with one diagnostic per mistake.
pub fn parse(text: &str, origin: &Path) -> Result<ModelFile, ModelFileError> {
    let schema = schema::parse(text).map_err(|diagnostic| ModelFileError::new(origin, text, vec![diagnostic]))?;
    build::build(schema, text, &default_title(origin)).map_err(|diagnostics| ModelFileError::new(origin, text, diagnostics))
}

/// The folder's name for `folder/model.toml`, the file's otherwise.
fn default_title(origin: &Path) -> String {
    let named = if origin.file_name().is_some_and(|name| name == MODEL_FILE) { origin.parent().map(Path::to_path_buf) } else { None };
    let named: PathBuf = named.filter(|p| p.file_name().is_some()).unwrap_or_else(|| origin.to_path_buf());
    named.file_stem().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned())
}
