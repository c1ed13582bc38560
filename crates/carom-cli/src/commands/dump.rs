//! The one-step problems of a run as files.

use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{Frame, Recorder, StepProblem};
use carom::dynamics::report::Event;
use carom::solvers::fclib::{FclibError, FclibFile, FclibSolution, Info, MatrixFormat, write};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Writes problems into a folder, named MODEL-iITERATIONS-CONTACTS-STEP.hdf5.
pub struct ProblemDump {
    folder: PathBuf,
    model: String,
    every: u64,
    limit: u64,
    n_written: u64,
    /// Names of the files written.
    names: BTreeSet<String>,
    /// Steps whose problem the format cannot hold, and why the first of them.
    left_out: (u64, String),
    /// Steps whose impulses are not the solution of one problem.
    n_without: u64,
    is_full: bool,
}

impl ProblemDump {
    pub fn new(folder: &Path, model: &str, every: u64, limit: u64) -> Self {
        let (folder, model) = (folder.to_path_buf(), model.to_owned());
        ProblemDump {
            folder,
            model,
            every,
            limit,
            n_written: 0,
            names: BTreeSet::new(),
            left_out: (0, String::new()),
            n_without: 0,
            is_full: false,
        }
    }

    /// What became of it, for people.
    pub fn summary(&self) -> String {
        let mut text = format!("written: {} problems in {}", self.n_written, self.folder.display());
        if self.is_full {
            text += &format!("; the limit of {} was reached (--dump-limit)", self.limit);
        }
        if self.left_out.0 > 0 {
            text += &format!("; {} left out: {}", self.left_out.0, self.left_out.1);
        }
        if self.n_without > 0 {
            text += &format!("; {} steps have none: their impulses are not the solution of one problem", self.n_without);
        }
        text
    }
}

impl Recorder for ProblemDump {
    fn frame(&mut self, _: &Frame<'_>) -> Result<(), RecordError> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }

    fn problem(&mut self, step: &StepProblem<'_>) -> Result<(), RecordError> {
        if !(step.step as u64).is_multiple_of(self.every) {
            return Ok(());
        }
        if self.n_written >= self.limit {
            self.is_full = true;
            return Ok(());
        }
        let mut file = FclibFile::new(step.problem.clone().into());
        let (iterations, contacts) = (step.report.iterations, file.problem.n_contacts());
        file.info = Info {
            title: format!("{}, step {}", self.model, step.step),
            description: format!("carom {}, t = {} s, {} by {}", carom::VERSION, step.t, step.report.status.name(), step.report.solver),
            math_info: String::new(),
        };
        file.solution = Some(FclibSolution { r: step.solution.r.clone(), u: step.solution.u.clone(), v: Vec::new() });
        let name = format!("{}-i{iterations:05}-{contacts}-{:05}", self.model, step.step);
        // a step that is repeated in halves has several problems
        let mut numbered = std::iter::once(format!("{name}.hdf5")).chain((2_u64..).map(|k| format!("{name}-{k}.hdf5")));
        let name = numbered.find(|name| !self.names.contains(name)).unwrap_or_default();
        match write(self.folder.join(&name), &file, MatrixFormat::Csr) {
            Ok(()) => {
                self.names.insert(name);
                self.n_written += 1;
            }
            Err(FclibError::NotExpressible { what, advice }) => {
                if self.left_out.0 == 0 {
                    self.left_out.1 = format!("the FCLIB format cannot hold {what} ({advice})");
                }
                self.left_out.0 += 1;
            }
            Err(error) => return Err(RecordError { reason: error.to_string() }),
        }
        Ok(())
    }

    fn no_problem(&mut self, step: usize) -> Result<(), RecordError> {
        self.n_without += u64::from((step as u64).is_multiple_of(self.every));
        Ok(())
    }

    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}
