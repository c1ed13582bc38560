//! Recorded runs: written while a simulation goes, read back for plots and tables.
//!
//! [`Hdf5Recorder`] writes the whole run into one HDF5 file (its layout is described in [`hdf5`]), [`CsvRecorder`] the main
//! columns as text, [`MultiRecorder`] feeds several recorders at once. [`RunFile`] opens a recorded run.

mod columns;
pub mod csv;
mod csv_tables;
mod error;
pub mod hdf5;
mod info;
mod modes;
mod multi;
mod quantity;
mod run_file;
mod tables;
mod target;

pub use csv::{CsvRecorder, export_csv};
pub use csv_tables::{export_contacts, export_events, export_modes};
pub use error::RecordingError;
pub use hdf5::{Hdf5Options, Hdf5Recorder};
pub use info::{InteractionKind, InteractionName, NamedUnit, Precision, RunInfo};
pub(crate) use modes::effort_mode_name;
pub use multi::MultiRecorder;
pub use quantity::Quantity;
pub use run_file::RunFile;
pub use tables::{ContactTable, EventTable};
