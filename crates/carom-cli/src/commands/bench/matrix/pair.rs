//! One model by all methods.

use super::agreement::{Halved, agreement};
use crate::commands::bench::methods::{Method, MethodKind};
use crate::commands::bench::trial::{Ended, Trial, Tried};
use carom::dynamics::integrators::StepControl;
use carom::io::model_file::{self, ModelFile};
use std::path::Path;

/// Steps of a run, and of one of a heavy model.
const STEPS: [f64; 2] = [20.0, 4.0];
/// A model of more velocities is heavy.
const HEAVY: usize = 900;
/// Factor of the limit of time for half the step: twice the steps, and some of them harder.
const REFINED: f64 = 3.0;
/// Step of models whose method chooses it, s.
const STEP: f64 = 1e-3;

/// How a pair of model and method came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It runs, and ends where the model's own method ends.
    Agrees,
    /// It runs and ends elsewhere, or not with half the step.
    Disagrees,
    Refused,
    Failed,
    Slow,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Agrees => "agrees",
            Outcome::Disagrees => "disagrees",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
            Outcome::Slow => "slow",
        }
    }
}

/// A pair of model and method.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub method: Method,
    pub outcome: Outcome,
    /// The method of the run in full, where it ran.
    pub by: String,
    /// Largest difference from the model's own method over what is allowed; not a number where nothing could be compared.
    pub ratio: f64,
    /// The difference, or the reason of another outcome.
    pub note: String,
}

/// What a model consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Mechanics,
    FirstOrder,
    Both,
    /// The file is refused.
    Unknown,
}

impl Content {
    pub fn name(self) -> &'static str {
        match self {
            Content::Mechanics => "mechanics",
            Content::FirstOrder => "first order",
            Content::Both => "both",
            Content::Unknown => "unknown",
        }
    }
}

/// A model by all methods.
#[derive(Clone, Debug)]
pub struct ModelRow {
    pub name: String,
    pub content: Content,
    pub is_heavy: bool,
    /// Its own method, in words; empty where the file is refused.
    pub own: String,
    pub step: f64,
    pub end: f64,
    pub pairs: Vec<Pair>,
}

/// The piece of a model's time that is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub step: f64,
    pub end: f64,
    pub is_heavy: bool,
}

impl Window {
    /// About 20 of the model's steps, fewer where it is heavy, none beyond its end.
    pub fn of(file: &ModelFile) -> Self {
        let (run, state) = (&file.run, &file.state);
        let of_integrator = run.integrator.step.filter(|_| run.integrates() && run.integrator.control == StepControl::Fixed);
        let of_steps = run.step.filter(|_| !run.strategy.integrates());
        let step = of_steps.or(of_integrator).unwrap_or(STEP);
        let is_heavy = state.v.len() > HEAVY;
        let end = (state.t + STEPS[usize::from(is_heavy)] * step).min(run.end);
        Window { step, end, is_heavy }
    }
}

/// Runs a model by its own method and by all others.
pub fn run_model(name: &str, path: &Path, methods: &[Method], limit: f64) -> ModelRow {
    let file = match model_file::read(path, &[]) {
        Ok(file) => file,
        Err(error) => {
            let reason = error.diagnostics.first().map_or_else(String::new, |mistake| mistake.message.clone());
            let refused = |&method| Pair { method, outcome: Outcome::Refused, by: String::new(), ratio: f64::NAN, note: reason.clone() };
            let (own, pairs) = (String::new(), methods.iter().map(refused).collect());
            return ModelRow { name: name.to_owned(), content: Content::Unknown, is_heavy: false, own, step: 0.0, end: 0.0, pairs };
        }
    };
    let window = Window::of(&file);
    let content = match (file.model.first_order().is_some(), file.state.v.is_empty()) {
        (true, true) => Content::FirstOrder,
        (true, false) => Content::Both,
        (false, _) => Content::Mechanics,
    };
    let has_integrator = file.run.integrates();
    drop(file);
    let trial = |method: Option<Method>, refined: bool| {
        let limit = if refined { REFINED * limit } else { limit };
        Trial { model: path.to_owned(), end: Some(window.end), method, refined, interval: window.step, limit }.run()
    };
    let own = [trial(None, false), trial(None, true)];
    // another integrator changes nothing where there is none
    let methods = methods.iter().filter(|method| method.kind != MethodKind::Integrator || has_integrator);
    let pairs = methods.map(|&method| judge(method, &own, window.step, |refined| trial(Some(method), refined))).collect();
    let own = own[0].method.clone();
    ModelRow { name: name.to_owned(), content, is_heavy: window.is_heavy, own, step: window.step, end: window.end, pairs }
}

/// Runs a method with the step and with half of it, and compares it with the model's own.
fn judge(method: Method, own: &[Tried; 2], step: f64, run: impl Fn(bool) -> Tried) -> Pair {
    let coarse = run(false);
    let pair = |outcome: Outcome, ratio: f64, note: String| Pair { method, outcome, by: coarse.method.clone(), ratio, note };
    match &coarse.ended {
        Ended::Refused(reason) => return pair(Outcome::Refused, f64::NAN, reason.clone()),
        Ended::Failed(reason) => return pair(Outcome::Failed, f64::NAN, reason.clone()),
        Ended::Slow => return pair(Outcome::Slow, f64::NAN, String::new()),
        Ended::Finished => {}
    }
    if let Some(failure) = own.iter().find_map(unfinished) {
        return pair(Outcome::Disagrees, f64::NAN, format!("not compared, the model's own method {failure}"));
    }
    let fine = run(true);
    if let Some(failure) = unfinished(&fine) {
        return pair(Outcome::Disagrees, f64::NAN, format!("not compared, half the step {failure}"));
    }
    let found = agreement(Halved { coarse: &coarse, fine: &fine }, Halved { coarse: &own[0], fine: &own[1] }, step);
    let outcome = if found.ratio <= 1.0 { Outcome::Agrees } else { Outcome::Disagrees };
    pair(outcome, found.ratio, found.worst)
}

/// Why a run did not come to its end.
fn unfinished(tried: &Tried) -> Option<String> {
    match &tried.ended {
        Ended::Finished => None,
        Ended::Refused(reason) => Some(format!("is refused: {reason}")),
        Ended::Failed(reason) => Some(format!("fails: {reason}")),
        Ended::Slow => Some("is slow".to_owned()),
    }
}
