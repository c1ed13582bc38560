//! The certificate of a run, for people and for programs.

use super::events::EventList;
use crate::integrating::describe;
use carom::Simulation;
use carom::dynamics::detection::DetectionWarnings;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::integrators::{IntegratorParams, SmoothReport};
use carom::dynamics::strategies::StrategyKind;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Events shown in the summary of a run that locates them.
const MAX_SHOWN: usize = 20;

/// What there is to tell about a run.
pub struct Report<'a> {
    pub simulation: &'a Simulation,
    pub certificate: &'a Certificate,
    pub status: String,
    pub events: EventList,
    pub wall_time: f64,
    pub cpu_time: f64,
    pub files: Vec<PathBuf>,
}

impl Report<'_> {
    /// One JSON object.
    pub fn json(&self) -> Value {
        let (file, c) = (&self.simulation.file, self.certificate);
        let systems = file.model.systems();
        let mut v = vec![0.0; file.state.v.len()];
        systems.file_velocities(&file.state.q, &file.state.v, &mut v);
        let by_name = |names: &mut dyn Iterator<Item = String>, values: &[f64]| {
            names.zip(values).map(|(name, x)| (name, json!(x))).collect::<Map<_, _>>()
        };
        let states = file.model.first_order().map_or(&[][..], |set| set.states());
        let mut report = json!({
            "title": file.title,
            "version": carom::VERSION,
            "status": self.status,
            "strategy": file.run.strategy,
            "notes": file.notes,
            "t": file.state.t,
            "q": by_name(&mut systems.coordinates().names(), &file.state.q),
            "v": by_name(&mut systems.velocities().names(), &v),
            "x": by_name(&mut states.iter().map(|c| c.name.clone()), &file.state.x),
            "steps": c.steps,
            "halved_steps": c.halved_steps,
            "max_penetration": c.max_penetration,
            "max_constraint_violation": c.max_constraint_violation,
            "max_constraint_velocity": c.max_constraint_velocity,
            "max_residual": c.max_residual,
            "max_newton_residual": c.max_newton_residual,
            "max_active": c.max_active,
            "unconverged": c.unconverged,
            "energy": {
                "initial": c.initial.mechanical(),
                "final": c.last.mechanical(),
                "dissipated_impact": c.last.dissipated_impact,
                "dissipated_friction": c.last.dissipated_friction,
                "work": c.last.work,
                "error": c.energy_error(),
                "max_gain": c.max_energy_gain,
                "contact_gain": c.contact_gain,
                "impact_gain": c.impact_gain,
            },
            "n_events": c.events,
            "event_counts": self.events.counts(),
            "events": self.events.json(),
            "wall_time": self.wall_time,
            "cpu_time": self.cpu_time,
            "files": self.files,
        });
        if !c.warnings.is_empty() {
            report["warnings"] = json!(c.warnings);
        }
        if let Some(smooth) = &c.smooth {
            report["smooth"] = json!(smooth);
        }
        if let Some(adaptive) = &c.adaptive {
            report["adaptive"] = json!(adaptive);
        }
        if let Some(events) = &c.event_driven {
            report["event_driven"] = json!(events);
        }
        report
    }

    /// The certificate in lines for people.
    pub fn text(&self) -> String {
        let (file, c) = (&self.simulation.file, self.certificate);
        let n = c.steps.max(1) as f64;
        let e = &c.last;
        let mut out = format!("{}\n{} at t = {} s\n\n", file.title, self.status, short(file.state.t));
        let mut line = |name: &str, value: String| out.push_str(&format!("  {name:<30}{value}\n"));
        let time = format!("{:.3} µs each, {:.2} s", 1e6 * self.wall_time / n, self.wall_time);
        let strategy = file.run.strategy;
        let (has_contacts, has_scheme) = (strategy != StrategyKind::Smooth, strategy.has_scheme());
        let is_mechanical = !file.model.systems().velocities().is_empty();
        match &c.smooth {
            Some(smooth) => smooth_lines(&file.run.integrator, smooth, &time).into_iter().for_each(|(name, value)| line(name, value)),
            None => line("steps", format!("{} ({time})", c.steps)),
        }
        if let Some(steps) = &c.adaptive {
            line("  tried and taken back", format!("{}; {} steps of the scheme in all", steps.rejected, steps.scheme_steps));
            line("  sizes", format!("{} … {} s", short(steps.smallest), short(steps.largest)));
            line("  at the smallest", format!("{}, {} above the tolerance", steps.at_min_step, steps.beyond_tolerance));
        }
        if let Some(events) = &c.event_driven {
            line("impact problems", events.impacts.to_string());
            if strategy == StrategyKind::Hybrid {
                let largest =
                    if events.scheme_steps > 0 { format!(", at most {} s", short(events.largest_scheme_step)) } else { String::new() };
                line("time-stepping", format!("{} switches, {} steps{largest}", events.switches, events.scheme_steps));
            }
        }
        if has_contacts && is_mechanical {
            line("largest penetration", format!("{} m", short(c.max_penetration)));
        }
        if !c.warnings.is_empty() {
            line("doubtful contacts", doubts(&c.warnings));
        }
        if file.model.interactions().iter().any(|i| i.is_bilateral()) {
            line(
                "largest constraint violation",
                format!("{} (position), {} (velocity)", short(c.max_constraint_violation), short(c.max_constraint_velocity)),
            );
        }
        if has_scheme {
            line("largest residual", format!("{} (one-step problems), {} (Newton)", short(c.max_residual), short(c.max_newton_residual)));
            line("unconverged solves", c.unconverged.to_string());
            if c.halved_steps > 0 {
                line("halved steps", c.halved_steps.to_string());
            }
        }
        let has_energy = is_mechanical || file.model.first_order().is_some_and(|set| !set.storage().is_empty());
        let is_derived = file.model.first_order().is_some_and(|set| set.storage_is_derived());
        // a storage function that was derived from the matrices has no unit of its own
        let (unit, what) = if is_derived && !is_mechanical { ("", "storage function (derived)") } else { (" J", "energy") };
        if let Some(passivity) = file.model.first_order().and_then(|set| set.passivity()) {
            line("first-order part", passivity.to_string());
        }
        if has_energy {
            line(what, format!("{}{unit} at the start, {}{unit} at the end", short(c.initial.mechanical()), short(e.mechanical())));
        }
        let has_storage = file.model.first_order().is_some_and(|set| !set.storage().is_empty());
        if has_energy && !is_mechanical {
            line(
                "  dissipated",
                format!("{}{unit} by multipliers, {}{unit} within the system", short(e.dissipated_impact), short(e.dissipated_friction)),
            );
        } else if has_storage {
            line(
                "  dissipated",
                format!(
                    "{} J by impact and multipliers, {} J by friction and within the first-order part",
                    short(e.dissipated_impact),
                    short(e.dissipated_friction)
                ),
            );
        } else if has_contacts && is_mechanical {
            line("  dissipated", format!("{} J by impact, {} J by friction", short(e.dissipated_impact), short(e.dissipated_friction)));
        }
        if c.impact_gain > 0.0 {
            line("  created by impacts", format!("{} J (the impact law allows it)", short(c.impact_gain)));
        }
        // what the impact law created is part of what the contacts did
        let of_scheme = c.contact_gain - c.impact_gain;
        if of_scheme > 1e-12 * (1.0 + c.initial.mechanical().abs()) {
            line("  created by contacts", format!("{} J (error of the scheme)", short(of_scheme)));
        }
        if has_energy {
            line("  work done on the system", format!("{}{unit}", short(e.work)));
        }
        let largest = c.smooth.as_ref().map_or_else(String::new, |s| format!(", at most {} J", short(s.max_energy_error)));
        if has_energy {
            line("  balance error", format!("{}{unit}{largest}", short(c.energy_error())));
        }
        if has_contacts {
            line("events", self.events.summary());
        }
        for file in &self.files {
            line("recorded", file.display().to_string());
        }
        if strategy.locates_events() {
            let remedy = match self.files.first() {
                Some(run) => format!("`carom info {} --events` shows all", run.display()),
                None => "a recorded run has all".to_owned(),
            };
            out.push('\n');
            out.push_str(&self.events.table(MAX_SHOWN, &remedy));
        }
        out
    }
}

/// Method, steps and cost of a smooth run.
fn smooth_lines(integrator: &IntegratorParams, smooth: &SmoothReport, time: &str) -> Vec<(&'static str, String)> {
    let s = &smooth.statistics;
    let sizes = format!("{} on average, {} to {}", short(smooth.average_step), short(smooth.min_step), short(smooth.max_step));
    let mut lines = vec![
        ("integrator", describe(integrator)),
        ("steps", format!("{} accepted, {} rejected ({time})", s.accepted, s.rejected)),
        ("step sizes [s]", sizes),
        ("evaluations", format!("{} of F, {} of G", s.force_evaluations, s.jacobian_evaluations)),
        ("factorisations", format!("{}, {} solves", s.factorisations, s.solves)),
    ];
    if let Some(assembly) = &smooth.assembly {
        let (moved, changed) = (short(assembly.moved), short(assembly.velocity_changed));
        lines.push(("initial state assembled", format!("moved by {moved}, velocities changed by {changed}")));
    }
    if smooth.redundant_rows > 0 {
        lines.push(("redundant constraint rows", format!("{}: forces are not unique, the shortest are recorded", smooth.redundant_rows)));
    }
    if s.newton_iterations > 0 {
        lines.push(("Newton iterations", s.newton_iterations.to_string()));
    }
    if s.row_selections > 1 {
        lines.push(("row selections", s.row_selections.to_string()));
    }
    lines
}

/// Six significant digits, scientific where that is shorter to read.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&size) {
        let digits = (5 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{x:.3e}")
    }
}

/// What was doubtful, summed over the steps.
fn doubts(warnings: &DetectionWarnings) -> String {
    let DetectionWarnings { deep_overlaps, degenerate, fast_bodies, far_bodies } = *warnings;
    let all = [
        (deep_overlaps, "deep overlaps"),
        (degenerate, "contacts without a definite normal"),
        (fast_bodies, "bodies faster than their width per step"),
        (far_bodies, "bodies too far from the origin"),
    ];
    let parts: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("{}, summed over the steps", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short_and_readable() {
        let shown: Vec<String> = [0.0, 1.0, -9.81, 0.001, 1e-4, 123456.7, 1e7, 0.123456789].map(short).to_vec();
        assert_eq!(shown, ["0", "1", "-9.81", "0.001", "1.000e-4", "123457", "1.000e7", "0.123457"]);
    }
}
