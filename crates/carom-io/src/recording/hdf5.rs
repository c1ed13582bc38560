//! A run in one HDF5 file.
//!
//! ```python
//! import h5py
//! run = h5py.File("run.h5")
//! t, q, names = run["time"][:], run["q"][:], run["q_names"].asstr()[:]   # q has one row per instant
//! ```
//!
//! # Layout (format `carom-run`, version 1)
//!
//! | where | what |
//! |---|---|
//! | attributes of `/` | `format`, `format_version`, `carom_version`, `title`, `precision` (`double`, or `single` where tables of several columns are f32), `finished` (0 while running, then 1), `status` (text) |
//! | `/model` | the model file's text (scalar string) |
//! | `/settings` | settings by name (scalar string, JSON) |
//! | `/time`, `/step` | instants in s and the number of the step that ended there; n entries |
//! | `/q`, `/v` | coordinates and velocities, n rows; columns in `/q_names`, `/q_units`, `/v_names`, `/v_units` |
//! | `/x` | states of the first-order part, n rows; columns in `/x_names`, `/x_units` |
//! | `/y`, `/lambda` | outputs and multipliers of its rows in the step that ended there (0 for the initial state), n rows; columns in `/row_names` |
//! | `/signals` | node voltages and branch currents of a circuit, with the multipliers of the step that ended there, n rows; columns in `/signals_names`, `/signals_units` |
//! | `/energy/…` | `kinetic`, `potential`, `dissipated_impact`, `dissipated_friction`, `work`, in J; n entries |
//! | `/gaps` | gaps of the contacts by formula in m, n rows; columns in `/gap_names` |
//! | `/modes` | modes of the rigid contacts by formula at the instant (in the step that ended there, where events are not located), n rows of u8; columns in `/contact_names`, what the codes mean in the attribute `mode_names` of the dataset |
//! | `/multiplier_modes` | which piece of its law each row of the first-order part is on in the step that ended there (unknown for the initial state), n rows of u8; columns in `/row_names`, what the codes mean in the attribute `mode_names` |
//! | `/forces` | multipliers λ of the constraints at the instant (N where g is in m; sign: M v̇ = F + Gᵀλ), n rows; columns in `/force_names`. Only runs by the strategy `smooth` have it: the others have impulses per step in `/contacts` |
//! | `/steps/…` | of the step that ended: `newton_iterations`, `newton_residual`, `solver_iterations`, `residual`, `active`, `converged`, `penetration`, `constraint_violation`, `constraint_velocity`; for the initial state 0, NaN and converged |
//! | `/contacts/…` | active interactions of all frames, one after another: `frame` (row in `/time`), `source_kind` (0 interaction, 1 colliders), `source_a`, `source_b` (numbers; −1 for none), `dim`, `gap`, `velocity` and `impulse` (6 each), `force` (6; in N at the instant, only in runs whose events are located), `mode` (u8, as in `/modes`), `point` and `normal` (3 each) |
//! | `/interaction_names`, `/interaction_kinds`, `/collider_names` | what the numbers mean; kinds are `constraint`, `contact` and `bounded` (motors and friction of known bound) |
//! | `/events/…` | `t`, `kind` (a number; `/events/kind_names` says what), `name`, `impulse`, `mode_before` and `mode_after` (u8, as in `/modes`; 255 where an event changes no mode), `note` |
//! | `/certificate` | what the run certifies about itself (scalar string, JSON); there when finished |
//!
//! Tables of several columns are matrices, n × columns. In a `.part`, and in finished runs above 64 MiB, they are arrays of rows
//! instead (an array type, because appending knows one dimension only): `run["q"][:]` is the same matrix, but
//! `run["q"].shape` is `(n,)`. A table that would have no column (`/gaps` without contacts by formula) is left out.
//! With `precision = "single"` in `[record]` the tables of several columns are f32; with `contacts = false` `/contacts` is empty.
//! All texts are UTF-8. Runs of earlier versions have no modes, forces of contacts and notes; they are read all the same.
//!
//! # Safety
//!
//! The file is `<path>.part` until [`Recorder::finish`], which compacts it and renames it. Frames reach it in batches, at the
//! latest ten seconds (in long runs: a hundredth of the time since the start) after they were recorded, with `/time` last: a
//! killed process leaves a readable `.part` with all instants up to `/time`'s length. Nothing in the finished file depends on the
//! clock or on how frames were batched: the same run gives the same bytes.

use super::columns::{ColumnSpec, Columns, Element, column_specs, declare, fill, fill_texts};
use super::modes::name_codes;
use super::target::{Target, with_suffix};
use super::{RecordingError, RunInfo};
use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::recording::{Frame, Recorder};
use carom_dynamics::report::{Event, EventKind};
use hdf5_pure::{
    AttrValue, DatasetBuilder, Error, File, FileAccessProperties, FileBuilder, FileLocking, RepackOptions, SyncPolicy, repack,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the format in the file's attributes.
pub(super) const FORMAT: &str = "carom-run";
/// Version of the format.
pub(super) const FORMAT_VERSION: i64 = 1;

/// Largest part that is held in memory to be rewritten at the end \[bytes\].
const IN_MEMORY: u64 = 64 << 20;

/// How a run is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hdf5Options {
    /// Replace an existing file; default no.
    pub overwrite: bool,
    /// Deflate level 0 to 9; default 0, no compression. Compression makes recording several times slower.
    pub compression: u8,
    /// Frames kept in memory before they are written; default 4096, at least 1. Wide frames are written earlier.
    pub frames_per_flush: usize,
    /// Bytes kept in memory before they are written; default 4 MiB.
    pub bytes_per_flush: usize,
}

impl Default for Hdf5Options {
    fn default() -> Self {
        Hdf5Options { overwrite: false, compression: 0, frames_per_flush: 4096, bytes_per_flush: 4 << 20 }
    }
}

/// Writes a run into an HDF5 file; see the [module](self) for its layout.
///
/// Cost: about a microsecond per frame of a small model. Memory: what [`Hdf5Options`] allows, whatever the run's length.
pub struct Hdf5Recorder {
    target: Target,
    info: RunInfo,
    options: Hdf5Options,
    widths: [(&'static str, usize); 10],
    started: Instant,
    flushed: Instant,
    n_unflushed: usize,
    /// `None` once finished.
    open: Option<Open>,
}

struct Open {
    file: File,
    columns: Columns,
}

impl Hdf5Recorder {
    /// Starts the file `<path>.part`.
    ///
    /// # Errors
    /// [`RecordingError::AlreadyExists`] if `path` or its `.part` exists and may not be overwritten,
    /// [`RecordingError::Busy`] if another process writes it, [`RecordingError::Unwritable`].
    pub fn create(path: impl AsRef<Path>, info: &RunInfo, options: Hdf5Options) -> Result<Self, RecordingError> {
        let (target, mut out) = Target::create(path.as_ref(), options.overwrite)?;
        let part = target.part();
        let specs = column_specs(info);
        let empty = build_file(info, options.compression, None).and_then(|file| file.finish_to(&mut out));
        empty.map_err(|e| RecordingError::unwritable(&part, e))?;
        drop(out);
        let open = || {
            let file = File::open_rw_with_options(&part, access())?;
            let columns = Columns::open(&file, &specs, info.skip_contacts)?;
            Ok(Open { file, columns })
        };
        let open = open().map_err(|e: Error| RecordingError::unwritable(&part, e))?;
        let now = Instant::now();
        Ok(Hdf5Recorder {
            target,
            info: info.clone(),
            options,
            widths: [
                ("coordinates", info.coordinates.len()),
                ("velocities", info.velocities.len()),
                ("states", info.states.len()),
                ("outputs", info.rows.len()),
                ("multipliers", info.rows.len()),
                ("signals", info.signals.len()),
                ("gaps", info.gaps.len()),
                ("forces", info.forces.len()),
                ("modes", info.contact_names().count()),
                ("modes of multipliers", info.rows.len()),
            ],
            started: now,
            flushed: now,
            n_unflushed: 0,
            open: Some(open),
        })
    }

    /// Puts all frames so far into the `.part`.
    ///
    /// # Errors
    /// [`RecordingError::Unwritable`].
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        if let Some(open) = &mut self.open {
            open.columns.flush().map_err(|e| RecordingError::unwritable(self.target.part(), e))?;
        }
        self.n_unflushed = 0;
        self.flushed = Instant::now();
        Ok(())
    }

    fn flush_when_due(&mut self) -> Result<(), RecordingError> {
        let pending = self.open.as_ref().map_or(0, |open| open.columns.n_pending_bytes());
        let now = Instant::now();
        let patience = Duration::from_secs(10) + (now - self.started) / 100;
        if self.n_unflushed >= self.options.frames_per_flush || pending >= self.options.bytes_per_flush || now - self.flushed >= patience {
            self.flush()?;
        }
        Ok(())
    }

    fn record(&mut self, frame: &Frame<'_>) -> Result<(), RecordingError> {
        let states = [frame.q.len(), frame.v.len(), frame.x.len(), frame.outputs.len(), frame.multipliers.len()];
        let modes = [frame.modes.len(), frame.multiplier_modes.len()];
        let others = [frame.signals.len(), frame.gaps.len(), frame.forces.len()];
        let lengths = states.into_iter().chain(others).chain(modes);
        for ((what, expected), found) in self.widths.into_iter().zip(lengths) {
            if found != expected {
                return Err(RecordingError::FrameMismatch { what, expected, found });
            }
        }
        let part = self.target.part();
        self.opened()?.columns.push_frame(frame).map_err(|e| RecordingError::unwritable(part, e))?;
        self.n_unflushed += 1;
        self.flush_when_due()
    }

    fn opened(&mut self) -> Result<&mut Open, RecordingError> {
        let path = self.target.path();
        self.open.as_mut().ok_or_else(|| RecordingError::unwritable(path, "the recording is finished"))
    }

    fn complete(&mut self, certificate: &Certificate, status: &str) -> Result<(), RecordingError> {
        self.opened()?;
        self.flush()?;
        let part = self.target.part();
        let Some(Open { file, columns }) = self.open.take() else {
            return Ok(());
        };
        drop(columns);
        let json = serde_json::to_string_pretty(certificate).map_err(|e| RecordingError::unwritable(&part, e))?;
        seal(file, status, &json).map_err(|e| RecordingError::unwritable(&part, e))?;
        let compact = with_suffix(&part, ".tmp");
        match self.compacted(&part, &compact, status, &json) {
            Ok(()) => {
                self.target.publish(&compact)?;
                // The finished file is in place; a part left behind is only untidy.
                let _ = std::fs::remove_file(&part);
            }
            // The part is complete, only larger: better that than a lost run when the disk is too full for a second copy.
            Err(_) => {
                let _ = std::fs::remove_file(&compact);
                self.target.publish(&part)?;
            }
        }
        Ok(())
    }

    /// Writes what `part` holds to a file of its own: tables as matrices, nothing unused. Runs above [`IN_MEMORY`] are copied
    /// chunk by chunk instead, with their tables as arrays of rows.
    fn compacted(&self, part: &Path, compact: &Path, status: &str, certificate: &str) -> Result<(), Error> {
        if std::fs::metadata(part)?.len() > IN_MEMORY {
            repack(part, compact, &RepackOptions::new())?;
        } else {
            let file = File::open(part)?;
            let finished = Finished { part: &file, status, certificate };
            build_file(&self.info, self.options.compression, Some(&finished))?.write(compact)?;
        }
        std::fs::File::open(compact)?.sync_all()?;
        Ok(())
    }

    /// The finished file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.target.path()
    }

    /// The path while recording.
    #[must_use]
    pub fn part_path(&self) -> PathBuf {
        self.target.part()
    }
}

impl Recorder for Hdf5Recorder {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        Ok(self.record(frame)?)
    }

    fn takes_contacts(&self) -> bool {
        !self.info.skip_contacts
    }

    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.opened()?.columns.push_event(event);
        Ok(self.flush_when_due()?)
    }

    fn finish(&mut self, certificate: &Certificate, status: &str) -> Result<(), RecordError> {
        Ok(self.complete(certificate, status)?)
    }
}

impl Drop for Hdf5Recorder {
    /// Keeps what was recorded, as a `.part`, when a run ends without `finish`.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// Appends without waiting for the disk; one barrier at closing.
fn access() -> FileAccessProperties {
    FileAccessProperties::new().with_sync_policy(SyncPolicy::OnClose).with_locking(FileLocking::BestEffort)
}

/// What a finished file holds more than an empty one.
struct Finished<'a> {
    part: &'a File,
    status: &'a str,
    certificate: &'a str,
}

impl Finished<'_> {
    /// Fills a column with what the part holds.
    fn fill(&self, builder: &mut DatasetBuilder, (path, element): ColumnSpec, compression: u8) -> Result<(), Error> {
        let dataset = self.part.dataset(path)?;
        match element {
            Element::Text(_) => fill_texts(builder, &dataset.read_string()?, compression),
            _ => fill(builder, element, dataset.read_raw()?, compression),
        }
    }
}

/// The file: before the first frame with columns that can grow, or finished.
fn build_file(info: &RunInfo, compression: u8, finished: Option<&Finished<'_>>) -> Result<FileBuilder, Error> {
    let specs = &column_specs(info);
    let column = |builder: &mut DatasetBuilder, spec: ColumnSpec| {
        name_codes(builder, spec.0);
        match finished {
            None => declare(builder, spec.1, compression),
            Some(finished) => finished.fill(builder, spec, compression),
        }
    };
    let mut file = FileBuilder::new();
    file.set_attr("format", AttrValue::VarLenString(FORMAT.into()));
    file.set_attr("format_version", AttrValue::I64(FORMAT_VERSION));
    file.set_attr("carom_version", AttrValue::VarLenString(info.version.clone()));
    file.set_attr("title", AttrValue::VarLenString(info.title.clone()));
    file.set_attr("precision", AttrValue::VarLenString(info.precision.name().into()));
    file.set_attr("finished", AttrValue::I64(i64::from(finished.is_some())));
    file.set_attr("status", AttrValue::VarLenString(finished.map_or("running", |f| f.status).into()));
    write_names(&mut file, info)?;
    let settings = settings_json(&info.settings);
    for (name, text) in [("model", info.model_text.as_str()), ("settings", settings.as_str())] {
        file.create_dataset(name).with_vlen_strings(&[text]).with_shape(&[]);
    }
    if let Some(Finished { certificate, .. }) = finished {
        file.create_dataset("certificate").with_vlen_strings(&[certificate]).with_shape(&[]);
    }
    for &spec in specs.iter().filter(|spec| !spec.0.contains('/')) {
        column(file.create_dataset(spec.0), spec)?;
    }
    for name in ["energy", "steps", "contacts", "events"] {
        let mut group = file.create_group(name);
        for &spec in specs {
            if let Some(("", place)) = spec.0.strip_prefix(name).and_then(|rest| rest.split_once('/')) {
                column(group.create_dataset(place), spec)?;
            }
        }
        if name == "events" {
            group.create_dataset("kind_names").with_vlen_strings(&EventKind::ALL.map(EventKind::name));
        }
        file.add_group(group.finish());
    }
    Ok(file)
}

/// The names and units of columns and the names of what numbers mean, one list after another: those of many bodies are long.
fn write_names(file: &mut FileBuilder, info: &RunInfo) -> Result<(), Error> {
    let mut write =
        |name: &str, texts: &mut dyn Iterator<Item = String>| fill_texts(file.create_dataset(name), &texts.collect::<Vec<String>>(), 0);
    write("q_names", &mut info.coordinates.names())?;
    write("q_units", &mut info.coordinates.iter().map(|c| c.unit))?;
    write("v_names", &mut info.velocities.names())?;
    write("v_units", &mut info.velocities.iter().map(|c| c.unit))?;
    write("x_names", &mut info.states.iter().map(|c| c.name.clone()))?;
    write("x_units", &mut info.states.iter().map(|c| c.unit.clone()))?;
    write("row_names", &mut info.rows.iter().cloned())?;
    write("signals_names", &mut info.signals.iter().map(|c| c.name.clone()))?;
    write("signals_units", &mut info.signals.iter().map(|c| c.unit.clone()))?;
    write("gap_names", &mut info.gaps.iter().cloned())?;
    write("force_names", &mut info.forces.iter().cloned())?;
    write("contact_names", &mut info.contact_names().map(str::to_owned))?;
    write("interaction_names", &mut info.interactions.iter().map(|i| i.name.clone()))?;
    write("interaction_kinds", &mut info.interactions.iter().map(|i| i.kind.name().to_owned()))?;
    write("collider_names", &mut info.colliders.iter().cloned())
}

/// `{"name": "value", …}` in the given order.
fn settings_json(settings: &[(String, String)]) -> String {
    let quoted = |text: &String| serde_json::Value::from(text.as_str()).to_string();
    let entries: Vec<_> = settings.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value))).collect();
    format!("{{{}}}", entries.join(", "))
}

/// Marks the file as finished.
fn seal(file: File, status: &str, certificate: &str) -> Result<(), Error> {
    let root = file.root();
    root.set_attr("finished", AttrValue::I64(1))?;
    root.set_attr("status", AttrValue::VarLenString(status.into()))?;
    root.create_dataset("certificate", |builder| {
        builder.with_vlen_strings(&[certificate]).with_shape(&[]);
    })?;
    file.close()
}
