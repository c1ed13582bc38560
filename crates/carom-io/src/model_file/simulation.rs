//! Reads `[simulation]`.

use super::components::{adaptive, choose, events, hybrid, integrator, scheme, solver};
use super::error::Diagnostic;
use super::numbers::{Must, Reader};
use super::schema::SimulationSchema;
use super::settings::{ADAPTIVE, EVENT_DRIVEN, HYBRID, RunSettings, SMOOTH, TIME_STEPPING};
use carom_dynamics::schemes::{EulerMoreauParams, MoreauGapParams, SchemeParams, check_settings};
use carom_dynamics::strategies::adaptive::Control;
use carom_dynamics::strategies::smooth::refuse_contacts;
use carom_dynamics::strategies::{Adaptive, AdaptiveParams, OnFailure, STRATEGIES, refuse_control};
use carom_dynamics::{Model, State};
use std::ops::Range;
use toml::Spanned;

/// A joint, or another constraint on positions, acts on rigid bodies in space.
fn has_joints_in_space(model: &Model) -> bool {
    let Some(bodies) = model.systems().bodies() else { return false };
    model.interactions().iter().any(|interaction| {
        let relation = interaction.relation();
        interaction.is_bilateral() && relation.is_holonomic() && relation.velocities().iter().any(|v| bodies.v.contains(v))
    })
}

/// Reads `[simulation]` for a model at its initial state.
pub(super) fn simulation(
    reader: &mut Reader<'_>,
    section: &Spanned<SimulationSchema>,
    model: &Model,
    state: &State,
) -> Option<RunSettings> {
    let (s, start) = (section.get_ref(), state.t);
    let strategy = choose(reader, s.strategy.as_ref(), "strategy", &STRATEGIES.map(|(name, _)| name));
    let end = reader.number(&s.end, "the end time", Must::BeFinite);
    if let Some(end) = end
        && end < start
    {
        reader.wrong(s.end.span(), format!("the end time {end} lies before the start {start}"), "give a later end");
    }
    let strategy = strategy?;
    let is_smooth = strategy == SMOOTH;
    foreign_keys(reader, s, &strategy);
    let adaptive = adaptive(reader, s.adaptive.as_ref());
    if let (true, Some(adaptive)) = (strategy == ADAPTIVE, &adaptive) {
        refuse_integrator(reader, s, adaptive);
    }
    let events = events(reader, s.events.as_ref());
    let hybrid = hybrid(reader, s.hybrid.as_ref());
    // adaptive time-stepping finds a first step by itself, integrators do
    let has_step = strategy == TIME_STEPPING || (strategy == ADAPTIVE && s.step.is_some());
    let step = if has_step { step(reader, section, end, start) } else { Some(0.0) };
    let scheme = match &s.scheme {
        // first-order systems and bodies with shapes have schemes of their own
        None if model.first_order().is_some() => Some(SchemeParams::EulerMoreau(EulerMoreauParams::default())),
        None if strategy == TIME_STEPPING && (model.detector().is_some() || has_joints_in_space(model)) => {
            Some(SchemeParams::MoreauGap(MoreauGapParams::default()))
        }
        given => scheme(reader, given.as_ref()),
    };
    let has_scheme = ![SMOOTH, EVENT_DRIVEN].contains(&strategy.as_str());
    if let (true, Some(scheme)) = (has_scheme, &scheme)
        && let Err(error) = check_settings(scheme, model, state)
    {
        let span = s.scheme.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    if let (true, Some(scheme)) = (strategy == ADAPTIVE, &scheme)
        && let Err(error) = Adaptive::check_scheme(&*scheme.build())
    {
        let span = s.scheme.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    let solver = match (&s.solver, scheme.and_then(|scheme| scheme.build().solver())) {
        (None, Some(own)) => Some(own),
        _ => solver(reader, s.solver.as_ref()),
    };
    let integrator = integrator(reader, s.integrator.as_ref());
    let is_high_order = strategy == ADAPTIVE && adaptive.as_ref().is_some_and(|adaptive| adaptive.control == Control::HighOrder);
    if let (Some(_), true) = (model.first_order(), is_high_order) {
        let span = s.strategy.as_ref().map_or_else(|| section.span(), Spanned::span);
        let help = "write control = \"extrapolation\" or \"halving\" under [simulation.adaptive], or use strategy = \"event-driven\"";
        reader.wrong(span, "adaptive steps with control = \"high-order\" do not know first-order systems".to_owned(), help);
    }
    if let (Some(_), false) = (model.first_order(), [TIME_STEPPING, EVENT_DRIVEN, ADAPTIVE].contains(&strategy.as_str())) {
        let span = s.strategy.as_ref().map_or_else(|| section.span(), Spanned::span);
        let help = "use strategy = \"time-stepping\", \"adaptive\" or \"event-driven\"";
        reader.wrong(span, format!("the strategy \"{strategy}\" does not know first-order systems"), help);
    }
    if is_smooth && let Err(error) = refuse_contacts(model) {
        let span = s.strategy.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    if let (true, Some(_)) = (strategy == ADAPTIVE, model.control())
        && let Err(error) = refuse_control(ADAPTIVE, model)
    {
        let span = s.strategy.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    let policies = ["stop", "warn", "halve-step"];
    let on_failure = match choose(reader, s.on_failure.as_ref(), "failure policy", &policies)?.as_str() {
        "warn" => OnFailure::Warn,
        "halve-step" => OnFailure::HalveStep,
        _ => OnFailure::Stop,
    };
    let settings = RunSettings {
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
    if reader.mistakes.is_empty()
        && let Err(error) = settings.check_events(model, start)
    {
        let span = s.strategy.as_ref().map_or_else(|| section.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
    Some(settings)
}

/// A key, its place if it is given, and the strategies it belongs to.
type Key<'a> = (&'a str, Option<Range<usize>>, &'a [&'a str]);

/// Keys of another strategy have no effect: they are mistakes.
fn foreign_keys(reader: &mut Reader<'_>, s: &SimulationSchema, strategy: &str) {
    let by_scheme: &[&str] = &[TIME_STEPPING, ADAPTIVE, HYBRID];
    let given: [Key<'_>; 8] = [
        ("step", s.step.as_ref().map(Spanned::span), &[TIME_STEPPING, ADAPTIVE]),
        ("scheme", s.scheme.as_ref().map(Spanned::span), by_scheme),
        ("solver", s.solver.as_ref().map(Spanned::span), by_scheme),
        ("on_failure", s.on_failure.as_ref().map(Spanned::span), by_scheme),
        ("adaptive", s.adaptive.as_ref().map(Spanned::span), &[ADAPTIVE]),
        ("integrator", s.integrator.as_ref().map(Spanned::span), &[SMOOTH, EVENT_DRIVEN, HYBRID, ADAPTIVE]),
        ("events", s.events.as_ref().map(Spanned::span), &[EVENT_DRIVEN, HYBRID]),
        ("hybrid", s.hybrid.as_ref().map(Spanned::span), &[HYBRID]),
    ];
    for (key, span, owners) in given {
        if let (Some(span), false) = (span, owners.contains(&strategy)) {
            let (message, help) = foreign(key, owners, strategy);
            reader.wrong(span, message, help);
        }
    }
}

/// What is wrong with a key that belongs to other strategies, and how to mend it.
fn foreign(key: &str, owners: &[&str], strategy: &str) -> (String, String) {
    let names = owners.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let plural = if owners.len() > 1 { "strategies" } else { "strategy" };
    let message = match key {
        "adaptive" => format!("a step control is given, but the strategy is \"{strategy}\""),
        "integrator" => format!("an integrator is given, but the strategy is \"{strategy}\""),
        _ => format!("`{key}` belongs to the {plural} {names}, not to \"{strategy}\""),
    };
    let help = match key {
        "step" => "write `step` under [simulation.integrator]".to_owned(),
        "scheme" if strategy == EVENT_DRIVEN => "choose an `integrator`, or add strategy = \"hybrid\", which has a scheme too".to_owned(),
        "scheme" => "choose an `integrator`".to_owned(),
        "solver" if strategy == SMOOTH => "leave it out: smooth motion has no contacts to solve for".to_owned(),
        "solver" => "leave it out: located impacts are solved to round-off".to_owned(),
        "on_failure" => "leave it out: integrators try smaller steps by themselves".to_owned(),
        "integrator" => "add strategy = \"event-driven\", \"hybrid\" or \"smooth\", or strategy = \"adaptive\" with adaptive = \"high-order\", or use `scheme`".to_owned(),
        _ => format!("add strategy = \"{}\", or leave `{key}` out", owners[0]),
    };
    (message, help)
}

/// An integrator is for the step control of high order, which has the tolerances.
fn refuse_integrator(reader: &mut Reader<'_>, s: &SimulationSchema, adaptive: &AdaptiveParams) {
    let Some(integrator) = &s.integrator else { return };
    if adaptive.control != Control::HighOrder {
        let help = "write control = \"high-order\" under [simulation.adaptive], or leave the integrator out";
        reader.wrong(integrator.span(), "an integrator is given, but the step control takes steps of the scheme only", help);
    }
    let taken =
        ["tolerance", "absolute_tolerance", "relative_tolerance", "norm", "min_step", "max_step", "safety", "max_shrink", "max_growth"];
    if let Some(key) = taken.into_iter().find(|key| integrator.get_ref().settings.contains_key(*key)) {
        let message = format!("in the integrator, `{key}` is that of the step control");
        reader.wrong(integrator.span(), message, format!("write `{key}` under [simulation.adaptive]"));
    }
}

/// The step of time-stepping.
fn step(reader: &mut Reader<'_>, section: &Spanned<SimulationSchema>, end: Option<f64>, start: f64) -> Option<f64> {
    let Some(step) = &section.get_ref().step else {
        reader.wrong(section.span(), "missing field `step`", "time-stepping needs `step` in seconds");
        return None;
    };
    let (span, step) = (step.span(), reader.number(step, "the step", Must::BePositive)?);
    if let Some(end) = end
        && (end - start) / step > 1e15
    {
        let message = format!("the step {step} is too small for the time span {}", end - start);
        reader.wrong(span, message, "more than 1e15 steps cannot be counted");
    }
    Some(step)
}
