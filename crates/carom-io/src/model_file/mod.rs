//! Model files: TOML text in, a model with its initial state and settings out.
//!
//! [`read`] takes a file or a folder with a `model.toml`; [`parse`] takes text. Every mistake is a [`Diagnostic`] with
//! its place in the text, what was expected and, where one is near, the right name. The keys are described in the
//! book's model-file reference.

mod bodies;
mod build;
mod chosen_method;
mod circuit;
mod compliant;
mod components;
mod control;
mod error;
mod first_order;
mod forces;
mod formulas;
mod generate;
mod groups;
mod impact;
mod include;
mod joint_clearance;
mod joint_couplings;
mod joint_keys;
mod joint_limits;
mod joints;
mod laws;
mod masses;
mod materials;
mod motion;
mod motors;
mod natural;
mod numbers;
mod overrides;
mod pieces;
mod planar;
mod planar_shapes;
mod rotation_coordinates;
mod schema;
mod settings;
mod shape_data;
mod shapes;
mod simulation;
mod sources;
mod sweeping;
mod tree;
mod user_events;
mod value;

pub use error::{Diagnostic, ModelFileError, Position};
pub use joints::JointedPairs;
pub use overrides::{Overridden, Override, apply_overrides};
pub use settings::{RecordSettings, RunSettings};
pub use sources::SourcePart;

use carom_collision::Collider;
use carom_collision::planar::PlanarCollider;
use carom_dynamics::{Model, State};
use sources::{MAX_BYTES, Sources};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the model file in a folder.
pub const MODEL_FILE: &str = "model.toml";

/// A model file, read and checked.
pub struct ModelFile {
    /// Title; the file's or folder's name when the file gives none.
    pub title: String,
    /// The text it was made from, overrides applied; after it, those of the files that it includes.
    pub text: String,
    /// The model.
    pub model: Model,
    /// Its initial state.
    pub state: State,
    /// How to run it.
    pub run: RunSettings,
    /// What to record.
    pub record: RecordSettings,
    /// Bodies that joints join and that do not collide with each other (`collide = true` of a joint takes it off the list).
    pub jointed: JointedPairs,
    /// Shapes of the bodies in space and in the plane, for pictures and exports.
    pub shapes: BodyShapes,
    /// What was decided for the user, a line each: settings dropped, values chosen, parts of the file without effect.
    pub notes: Vec<String>,
}

/// Shapes of a model, moving and fixed; the detectors of the model have the same.
#[derive(Clone, Debug, Default)]
pub struct BodyShapes {
    /// Of `[[body]]` and `[[generate]]`.
    pub spatial: Arc<[Collider]>,
    /// Of `[[planar_body]]` and `[[obstacle]]`.
    pub planar: Arc<[PlanarCollider]>,
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
    assemble(Sources::new(&file, text), overrides)
}

/// Reads a model from text; `origin` names it in messages, and its folder is that of the files which the text names.
///
/// # Errors
/// [`ModelFileError`] with one diagnostic per mistake.
pub fn parse(text: &str, origin: &Path) -> Result<ModelFile, ModelFileError> {
    assemble(Sources::new(origin, text.to_owned()), &[])
}

fn assemble(mut sources: Sources, overrides: &[Override]) -> Result<ModelFile, ModelFileError> {
    let title = default_title(&sources.parts[0].file);
    let notes = match include::collect(&mut sources, overrides) {
        Ok(notes) => notes,
        Err(mistake) => return Err(ModelFileError::new(sources, vec![mistake])),
    };
    let schema = include::merged(&sources).and_then(|table| schema::parse(table).map_err(|mistake| vec![mistake]));
    match schema.and_then(|schema| build::build(schema, &sources, &title)) {
        Ok(mut file) => {
            file.text = sources.text;
            file.notes.splice(0..0, notes);
            Ok(file)
        }
        Err(mistakes) => Err(ModelFileError::new(sources, mistakes)),
    }
}

/// The folder's name for `folder/model.toml`, the file's otherwise.
fn default_title(origin: &Path) -> String {
    let named = if origin.file_name().is_some_and(|name| name == MODEL_FILE) { origin.parent().map(Path::to_path_buf) } else { None };
    let named: PathBuf = named.filter(|p| p.file_name().is_some()).unwrap_or_else(|| origin.to_path_buf());
    named.file_stem().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned())
}
