//! What is measured in a run.

use crate::failure::Failure;
use carom::Simulation;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::nearest::nearest;
use carom::dynamics::recording::{Frame, Recorder};
use carom::dynamics::report::{Event, EventKind};
use std::str::FromStr;

/// How the values of a quantity become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Last,
    Max,
    Min,
    Mean,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Quantity(Over, String),
    /// Kind, and the name of what it happened to; empty for all.
    Events(String, String),
    Steps,
    WallTime,
    CpuTime,
    EnergyError,
    Penetration,
    Residual,
}

/// A measure with its name in tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    pub name: String,
    what: What,
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, text) = text.split_once('=').map_or((text.trim(), text.trim()), |(name, rest)| (name.trim(), rest.trim()));
        let words: Vec<&str> = text.split_whitespace().collect();
        let over = |over: Over, quantity: &str| What::Quantity(over, quantity.to_owned());
        let what = match words.as_slice() {
            ["last", quantity] => over(Over::Last, quantity),
            ["max", quantity] => over(Over::Max, quantity),
            ["min", quantity] => over(Over::Min, quantity),
            ["mean", quantity] => over(Over::Mean, quantity),
            ["events", kind, rest @ ..] => {
                let kinds = EventKind::ALL.map(EventKind::name);
                if !kinds.contains(kind) {
                    let near = nearest(kind, kinds).map_or_else(|| kinds.join(", "), |best| format!("did you mean \"{best}\"?"));
                    return Err(format!("there are no events of the kind \"{kind}\": {near}"));
                }
                What::Events((*kind).to_owned(), rest.join(" "))
            }
            ["steps"] => What::Steps,
            ["wall_time"] => What::WallTime,
            ["cpu_time"] => What::CpuTime,
            ["energy_error"] => What::EnergyError,
            ["penetration"] => What::Penetration,
            ["residual"] => What::Residual,
            _ => {
                let help = "write `last Q`, `max Q`, `min Q`, `mean Q`, `events KIND`, `events KIND NAME`, `steps`, `wall_time`, `cpu_time`, \
                            `energy_error`, `penetration` or `residual`";
                return Err(format!("\"{text}\" is no measure: {help}"));
            }
        };
        Ok(Measure { name: name.to_owned(), what })
    }
}

impl Measure {
    /// Frames between the first and the last are needed.
    pub fn needs_frames(&self) -> bool {
        matches!(self.what, What::Quantity(Over::Max | Over::Min | Over::Mean, _))
    }

    /// Refuses quantities that the model does not have.
    pub fn check(&self, simulation: &Simulation) -> Result<(), Failure> {
        match &self.what {
            What::Quantity(_, name) => place(name, simulation).map(|_| ()),
            _ => Ok(()),
        }
    }
}

/// Where a quantity lies in a frame.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Coordinate(usize),
    Velocity(usize),
    State(usize),
    Output(usize),
    Multiplier(usize),
    Gap(usize),
    Energy,
    Time,
}

/// Where a quantity lies, by its name.
pub fn place(name: &str, simulation: &Simulation) -> Result<Place, Failure> {
    let info = simulation.run_info();
    let mut all: Vec<(String, Place)> = Vec::new();
    for (i, coordinate) in info.coordinates.iter().enumerate() {
        all.push((format!("q.{}", coordinate.name), Place::Coordinate(i)));
        if ["control.", "sensor.", "actuator."].iter().any(|prefix| coordinate.name.starts_with(prefix)) {
            all.push((coordinate.name.clone(), Place::Coordinate(i)));
        }
    }
    all.extend(info.velocities.iter().enumerate().map(|(i, v)| (format!("v.{}", v.name), Place::Velocity(i))));
    all.extend(info.states.iter().enumerate().map(|(i, x)| (format!("x.{}", x.name), Place::State(i))));
    all.extend(info.rows.iter().enumerate().map(|(i, row)| (format!("y.{row}"), Place::Output(i))));
    all.extend(info.rows.iter().enumerate().map(|(i, row)| (format!("lambda.{row}"), Place::Multiplier(i))));
    all.extend(info.gaps.iter().enumerate().map(|(i, gap)| (format!("gap.{gap}"), Place::Gap(i))));
    all.push(("energy".into(), Place::Energy));
    all.push(("t".into(), Place::Time));
    match all.iter().find(|(other, _)| other == name) {
        Some((_, place)) => Ok(*place),
        None => {
            let near = nearest(name, all.iter().map(|(name, _)| name.as_str()));
            let help = near.map_or_else(
                || "choose q.NAME, v.NAME, x.NAME, control.NAME.OUTPUT, energy, …".to_owned(),
                |best| format!("did you mean {best}?"),
            );
            Err(Failure::Input(format!("the model has no quantity {name}: {help}")))
        }
    }
}

/// Its value in a frame.
pub fn value(place: Place, frame: &Frame<'_>) -> f64 {
    match place {
        Place::Coordinate(i) => frame.q[i],
        Place::Velocity(i) => frame.v[i],
        Place::State(i) => frame.x[i],
        Place::Output(i) => frame.outputs[i],
        Place::Multiplier(i) => frame.multipliers[i],
        Place::Gap(i) => frame.gaps[i],
        Place::Energy => frame.energy.kinetic + frame.energy.potential,
        Place::Time => frame.t,
    }
}

/// The measures of a run under way.
pub struct Measurement<'a> {
    measures: &'a [Measure],
    places: Vec<Option<Place>>,
    values: Vec<f64>,
    frames: usize,
}

impl<'a> Measurement<'a> {
    pub fn new(measures: &'a [Measure], simulation: &Simulation) -> Result<Self, Failure> {
        let place_of = |measure: &Measure| match &measure.what {
            What::Quantity(_, name) => place(name, simulation).map(Some),
            _ => Ok(None),
        };
        let places = measures.iter().map(place_of).collect::<Result<_, _>>()?;
        let start = |measure: &Measure| match measure.what {
            What::Quantity(Over::Max, _) => f64::NEG_INFINITY,
            What::Quantity(Over::Min, _) => f64::INFINITY,
            _ => 0.0,
        };
        Ok(Measurement { measures, places, values: measures.iter().map(start).collect(), frames: 0 })
    }

    /// The values at the end of the run; `times` are wall and CPU time \[s\].
    pub fn values(&self, certificate: &Certificate, times: (f64, f64)) -> Vec<f64> {
        let value = |(measure, &value): (&Measure, &f64)| match measure.what {
            What::Quantity(Over::Mean, _) => value / self.frames.max(1) as f64,
            What::Quantity(..) | What::Events(..) => value,
            What::Steps => certificate.steps as f64,
            What::WallTime => times.0,
            What::CpuTime => times.1,
            What::EnergyError => certificate.energy_error(),
            What::Penetration => certificate.max_penetration,
            What::Residual => certificate.max_residual,
        };
        self.measures.iter().zip(&self.values).map(value).collect()
    }
}

impl Recorder for Measurement<'_> {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        self.frames += 1;
        for ((measure, place), kept) in self.measures.iter().zip(&self.places).zip(&mut self.values) {
            let (What::Quantity(over, _), Some(place)) = (&measure.what, place) else { continue };
            let now = value(*place, frame);
            *kept = match over {
                Over::Last => now,
                Over::Max => kept.max(now),
                Over::Min => kept.min(now),
                Over::Mean => *kept + now,
            };
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        for (measure, kept) in self.measures.iter().zip(&mut self.values) {
            if let What::Events(kind, name) = &measure.what
                && event.kind.name() == kind
                && (name.is_empty() || *name == event.name)
            {
                *kept += 1.0;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}
