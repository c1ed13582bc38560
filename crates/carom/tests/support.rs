//! Runs models of the gallery.

use carom::Simulation;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{ContactRecord, Frame, Recorder};
use carom::dynamics::report::Event;
use carom::dynamics::strategies::{Continue, Ending};
use carom::io::model_file::Override;
use std::path::PathBuf;

/// The gallery.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// States and energies at the recorded instants.
#[derive(Default)]
pub struct Keep {
    pub t: Vec<f64>,
    pub q: Vec<Vec<f64>>,
    pub v: Vec<Vec<f64>>,
    /// States and recorded quantities of the first-order part.
    pub x: Vec<Vec<f64>>,
    pub signals: Vec<Vec<f64>>,
    /// Mechanical energy less the work done.
    pub energy: Vec<f64>,
    pub events: Vec<Event>,
    /// Of the last frame.
    pub contacts: Vec<ContactRecord>,
}

impl Recorder for Keep {
    fn frame(&mut self, f: &Frame<'_>) -> Result<(), RecordError> {
        self.t.push(f.t);
        self.q.push(f.q.to_vec());
        self.v.push(f.v.to_vec());
        self.x.push(f.x.to_vec());
        self.signals.push(f.signals.to_vec());
        self.energy.push(f.energy.mechanical() - f.energy.work);
        self.contacts.clear();
        self.contacts.extend_from_slice(f.contacts);
        Ok(())
    }
    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.events.push(event.clone());
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

/// A finished run.
pub struct Done {
    pub simulation: Simulation,
    pub certificate: Certificate,
    pub keep: Keep,
}

impl Done {
    /// Final coordinate by name.
    pub fn q(&self, name: &str) -> f64 {
        let names = self.simulation.file.model.systems().coordinates();
        self.keep.q.last().unwrap()[names.position(name).unwrap()]
    }

    /// Final state of the first-order part by name.
    pub fn x(&self, name: &str) -> f64 {
        let names = self.simulation.file.model.first_order().unwrap().states();
        self.keep.x.last().unwrap()[names.iter().position(|c| c.name == name).unwrap()]
    }

    /// All recorded values of a node's voltage or an element's current.
    pub fn signal(&self, name: &str) -> Vec<f64> {
        let names = self.simulation.file.model.first_order().unwrap().signals();
        let i = names.iter().position(|c| c.name == name).unwrap();
        self.keep.signals.iter().map(|row| row[i]).collect()
    }

    /// Final velocity by name, angular velocities in the world frame.
    pub fn v(&self, name: &str) -> f64 {
        let names = self.simulation.file.model.systems().velocities();
        self.keep.v.last().unwrap()[names.position(name).unwrap()]
    }
}

/// Runs a model with overrides, keeping every frame that its file asks for.
pub fn run(name: &str, overrides: &[&str]) -> Done {
    let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    let simulation = Simulation::from_path(&folder().join(name), &overrides).unwrap_or_else(|e| panic!("{e}"));
    finish(simulation, name)
}

/// Runs a model given by its text.
pub fn run_text(text: &str) -> Done {
    finish(Simulation::from_text(text).unwrap_or_else(|e| panic!("{e}")), "test")
}

/// Runs a model given by its text, which fails, and gives the message.
pub fn failure(text: &str) -> String {
    let mut simulation = Simulation::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    match simulation.run(&mut Keep::default(), &mut |_| Continue::Yes).ending {
        Ending::Failed(error) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn finish(mut simulation: Simulation, name: &str) -> Done {
    let mut keep = Keep::default();
    let outcome = simulation.run(&mut keep, &mut |_| Continue::Yes);
    assert!(matches!(outcome.ending, Ending::Finished), "{name}: {:?}", outcome.ending);
    Done { simulation, certificate: outcome.certificate, keep }
}
