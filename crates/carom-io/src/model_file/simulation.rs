//! Reads `[simulation]`.
//!
//! The settings of all strategies, schemes and integrators may stand side by side. All are read and checked; what the strategy does not use has no effect.

use super::components::{adaptive, choose, events, hybrid, integrator, scheme, solver};
use super::error::Diagnostic;
use super::numbers::{Must, Reader};
use super::schema::SimulationSchema;
use super::settings::RunSettings;
use carom_dynamics::schemes::{EulerMoreauParams, MoreauGapParams, SchemeParams};
use carom_dynamics::strategies::{OnFailure, StrategyKind, suggested_step};
use carom_dynamics::{Model, State};
use toml::Spanned;

/// A joint, or another constraint on positions, acts on rigid bodies in space.
fn has_joints_in_space(model: &Model) -> bool {
    let Some(bodies) = model.systems().bodies() else { return false };
    model.interactions().iter().any(|interaction| {
        let relation = interaction.relation();
        interaction.is_bilateral() && relation.is_holonomic() && relation.velocities().iter().any(|v| bodies.v.contains(v))
    })
}

/// The scheme of a model that names none: first-order systems and bodies with shapes have schemes of their own.
fn default_scheme(model: &Model, strategy: StrategyKind) -> SchemeParams {
    if model.first_order().is_some() {
        SchemeParams::EulerMoreau(EulerMoreauParams::default())
    } else if strategy == StrategyKind::TimeStepping && (model.detector().is_some() || has_joints_in_space(model)) {
        SchemeParams::MoreauGap(MoreauGapParams::default())
    } else {
        SchemeParams::default()
    }
}

/// Reads `[simulation]` for a model at its initial state.
pub(super) fn simulation(
    reader: &mut Reader<'_>,
    section: &Spanned<SimulationSchema>,
    model: &Model,
    state: &State,
) -> Option<RunSettings> {
    let (s, start) = (section.get_ref(), state.t);
    let strategy = choose(reader, s.strategy.as_ref(), "strategy", &StrategyKind::ALL.map(StrategyKind::name));
    let end = reader.number(&s.end, "the end time", Must::BeFinite);
    if let Some(end) = end
        && end < start
    {
        reader.wrong(s.end.span(), format!("the end time {end} lies before the start {start}"), "give a later end");
    }
    let strategy = StrategyKind::from_name(&strategy?)?;
    let step = step(reader, section, end, start);
    let adaptive = adaptive(reader, s.adaptive.as_ref());
    let events = events(reader, s.events.as_ref());
    let hybrid = hybrid(reader, s.hybrid.as_ref());
    let scheme = scheme(reader, s.scheme.as_ref(), default_scheme(model, strategy));
    let solver = solver(reader, s.solver.as_ref(), scheme.and_then(|scheme| scheme.build().solver()));
    let integrator = integrator(reader, s.integrator.as_ref());
    let policies = ["stop", "warn", "halve-step"];
    let on_failure = match choose(reader, s.on_failure.as_ref(), "failure policy", &policies)?.as_str() {
        "warn" => OnFailure::Warn,
        "halve-step" => OnFailure::HalveStep,
        _ => OnFailure::Stop,
    };
    let mut settings = RunSettings {
        end: end?,
        strategy,
        step: step?,
        adaptive: adaptive?,
        events: events?,
        hybrid: hybrid?,
        scheme: scheme?,
        solver: solver?,
        on_failure,
        integrator: integrator?,
    };
    if strategy == StrategyKind::TimeStepping && settings.step.is_none() && settings.end > start {
        let step = suggested_step(model, state, settings.end, &settings.integrator);
        reader.note(format!("step = {step:e} s, chosen by the motion at the start; set simulation.step for another"));
        settings.step = Some(step);
    }
    let checks = [
        (settings.check_scheme(model, state), s.scheme.as_ref().map(Spanned::span)),
        (settings.check_strategy(model, start), s.strategy.as_ref().map(Spanned::span)),
    ];
    for (check, span) in checks {
        if let Err(error) = check {
            reader.mistakes.push(Diagnostic::refusal(span.unwrap_or_else(|| section.span()), error.to_string()));
        }
    }
    Some(settings)
}

/// The step of time-stepping, where one is given.
fn step(reader: &mut Reader<'_>, section: &Spanned<SimulationSchema>, end: Option<f64>, start: f64) -> Option<Option<f64>> {
    let Some(step) = &section.get_ref().step else { return Some(None) };
    let (span, step) = (step.span(), reader.number(step, "the step", Must::BePositive)?);
    if let Some(end) = end
        && (end - start) / step > 1e15
    {
        let message = format!("the step {step} is too small for the time span {}", end - start);
        reader.wrong(span, message, "more than 1e15 steps cannot be counted");
    }
    Some(Some(step))
}
