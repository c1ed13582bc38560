//! Quantities of some runs as curves: the picture beside the table.
//!
//! ```toml
//! [trace]
//! curves = ["control.arm.path_x, control.arm.path_y", "control.arm.tip_x, control.arm.tip_y"]   # "X, Y", or "Y" over time
//! set = { "simulation.end" = 5 }                                                                # beside the model, without the study's [set]
//! vary = { "parameters.gamma1" = [4, 8, 16] }                                                   # one run each
//! ```

use super::measure::{Place, place, value};
use super::plan::{Plan, Variation};
use crate::failure::Failure;
use carom::Simulation;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{Frame, Recorder};
use carom::dynamics::report::Event;
use carom::dynamics::strategies::{Continue, Ending};
use carom::io::model_file::Override;
use carom::io::plot::{PlotOptions, Series};
use std::path::Path;

/// Height of a picture of curves in a plane \[pixels\].
const PLANE_HEIGHT: u32 = 480;

/// What is drawn of which runs.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Abscissa and ordinate; `None`: the time.
    pub curves: Vec<(Option<String>, String)>,
    pub set: Vec<Override>,
    /// Combinations of all, as of the study.
    pub vary: Vec<Variation>,
}

impl Trace {
    /// A curve from its text.
    pub fn curve(text: &str) -> Result<(Option<String>, String), String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        match parts.as_slice() {
            [y] if !y.is_empty() => Ok((None, (*y).to_owned())),
            [x, y] if !x.is_empty() && !y.is_empty() => Ok((Some((*x).to_owned()), (*y).to_owned())),
            _ => Err(format!("\"{text}\" is no curve: write \"Y\" for a quantity over time, or \"X, Y\"")),
        }
    }
}

/// The values of some quantities in all frames.
struct Values {
    places: Vec<Place>,
    values: Vec<Vec<f64>>,
}

impl Recorder for Values {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        for (place, list) in self.places.iter().zip(&mut self.values) {
            list.push(value(*place, frame));
        }
        Ok(())
    }

    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Runs and draws.
pub fn draw(plan: &Plan, path: &Path) -> Result<(), Failure> {
    let Some(trace) = &plan.trace else {
        let help = "add [trace] with `curves` to the study file";
        return Err(Failure::Input(format!("{} was not drawn: the study has no curves; {help}", path.display())));
    };
    let runs = Plan { set: trace.set.clone(), vary: trace.vary.clone(), measures: Vec::new(), trace: None, model: plan.model.clone() };
    let in_plane = trace.curves.iter().any(|(x, _)| x.is_some());
    let last_word = |name: &str| name.rsplit(['.', '_']).next().unwrap_or_default().to_owned();
    let mut series = Vec::new();
    for case in runs.cases() {
        let mut simulation = Simulation::from_path(&plan.model, &runs.overrides(&case)?)?;
        let names = trace.curves.iter().flat_map(|(x, y)| [x.as_deref().unwrap_or("t"), y.as_str()]);
        let places = names.map(|name| place(name, &simulation)).collect::<Result<Vec<_>, _>>()?;
        let mut kept = Values { values: vec![Vec::new(); places.len()], places };
        if let Ending::Failed(error) = simulation.run(&mut kept, &mut |_| Continue::Yes).ending {
            return Err(Failure::Run(format!("a run of the trace failed: {error}")));
        }
        let about: Vec<String> =
            runs.vary.iter().zip(&case).map(|(v, value)| format!("{} = {value}", v.key.rsplit('.').next().unwrap_or_default())).collect();
        for ((_, y), pair) in trace.curves.iter().zip(kept.values.chunks_exact(2)) {
            let label = std::iter::once(y.clone()).chain(about.clone()).collect::<Vec<_>>().join(", ");
            // curves in a plane lie in one panel
            let quantity = if in_plane { last_word(y) } else { String::new() };
            series.push(Series { label, quantity, x: pair[0].clone(), y: pair[1].clone(), ..Series::default() });
        }
    }
    let x_label = trace.curves.iter().find_map(|(x, _)| x.as_deref().map(last_word)).unwrap_or_else(|| "t [s]".into());
    let options = PlotOptions { x_label, height: in_plane.then_some(PLANE_HEIGHT), ..PlotOptions::default() };
    carom::io::plot::draw(&series, &options, path).map_err(|error| Failure::Input(error.to_string()))?;
    eprintln!("drawn: {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_one_quantity_or_two() {
        assert_eq!(Trace::curve("q.x"), Ok((None, "q.x".into())));
        assert_eq!(Trace::curve("q.x, q.y"), Ok((Some("q.x".into()), "q.y".into())));
        assert!(Trace::curve("q.x, q.y, q.z").is_err() && Trace::curve(" ").is_err());
    }
}
