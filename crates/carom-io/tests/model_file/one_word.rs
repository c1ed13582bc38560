//! One word changes the method: settings of all methods stand side by side, and what a word from outside brings along is reported.

use carom_dynamics::integrators::IntegratorKind;
use carom_dynamics::schemes::SchemeParams;
use carom_dynamics::strategies::StrategyKind;
use carom_io::model_file::{ModelFile, ModelFileError, Overridden, Override, apply_overrides, parse};
use std::path::Path;

/// A ball with the settings of every method.
const ALL: &str = r#"
[linear]
coordinates = ["y"]
mass = 1.0
force = [-9.81]

[[contact]]
name = "floor"
gap = "y"
restitution = 0.5

[initial]
position = { y = 1.0 }

[[event]]
when = "y - 0.5"

[impact]
law = "energetic"

[simulation]
end = 1.0
step = 1e-3
strategy = "event-driven"
integrator = { kind = "bdf", order = 4, tolerance = 1e-9 } # of the smooth motion
scheme = { kind = "moreau-jean", theta = 0.75 }
solver = { kind = "nsgs", tolerance = 1e-9 }
adaptive = { control = "halving", tolerance = 1e-5 }
events = { gap = 1e-9 }
hybrid = { min_step = 1e-7 }
on_failure = "warn"

[record]
interval = 0.0333
"#;

fn read(text: &str) -> Result<ModelFile, ModelFileError> {
    parse(text, Path::new("model.toml"))
}

fn with(text: &str, set: &[&str]) -> Overridden {
    let overrides: Vec<Override> = set.iter().map(|one| one.parse().unwrap()).collect();
    apply_overrides(text, &overrides).unwrap()
}

/// What the text says is run, whatever else is in the file; the settings of a method are there when it is chosen.
#[test]
fn every_strategy_runs_from_one_file() {
    for kind in StrategyKind::ALL {
        let changed = with(ALL, &[&format!("strategy={kind}")]);
        assert!(changed.notes.is_empty(), "{kind}: {:?}", changed.notes);
        if kind == StrategyKind::Smooth {
            // the file is right, the strategy cannot follow the contact
            let Err(error) = read(&changed.text) else { panic!("smooth motion has no contacts") };
            assert!(error.is_refusal(), "{error}");
            continue;
        }
        let file = read(&changed.text).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!((file.run.strategy, file.run.strategy(file.record).name()), (kind, kind.name()));
        assert_eq!((file.run.step, file.run.solver.tolerance, file.run.integrator.kind), (Some(1e-3), 1e-9, IntegratorKind::Bdf));
        assert_eq!((file.run.adaptive.tolerance, file.run.events.gap, file.run.hybrid.min_step), (1e-5, 1e-9, 1e-7));
        // located events are the file's wish; a strategy that cannot locate them says so
        assert_eq!(file.notes.iter().any(|note| note.contains("[[event]] has no effect")), !kind.locates_events(), "{:?}", file.notes);
        // the settings that are reported are those in use
        let has = |key: &str| file.run.list().iter().any(|(name, _)| name.starts_with(key));
        assert_eq!(has("simulation.scheme"), kind.has_scheme());
        assert_eq!(has("simulation.integrator"), kind.integrates());
    }
}

/// A changed kind drops what the new one does not have, keeps what it shares, and says so in one line.
#[test]
fn a_changed_kind_drops_the_settings_of_the_other() {
    let changed = with(ALL, &["strategy=time-stepping", "scheme.kind=moreau-midpoint"]);
    assert_eq!(changed.notes, ["scheme \"moreau-midpoint\": dropped theta = 0.75, of \"moreau-jean\""]);
    assert_eq!(read(&changed.text).unwrap().run.scheme.entry().name, "moreau-midpoint");
    let changed = with(ALL, &["strategy=time-stepping", "scheme.kind=theta-gap"]);
    let SchemeParams::ThetaGap(params) =
        read(&changed.text.replace("restitution = 0.5", "").replace("energetic", "newton")).unwrap().run.scheme
    else {
        panic!()
    };
    assert!(changed.notes.is_empty() && params.theta == 0.75, "{:?}", changed.notes);
    // an order of BDF is none of the Runge–Kutta method, a tolerance is one of both
    let changed = with(ALL, &["integrator.kind=dopri5"]);
    let integrator = read(&changed.text).unwrap().run.integrator;
    assert_eq!((integrator.order, integrator.tolerance), (None, 1e-9));
    assert_eq!(changed.notes, ["integrator \"dopri5\": dropped order = 4, of \"bdf\""]);
    let changed = with(
        &ALL.replace("\"energetic\"", "\"choice\"\nseed = 3\noutcomes = [{ law = \"newton\", probability = 1.0 }]"),
        &["impact.law=newton"],
    );
    assert!(changed.notes[0].starts_with("impact law \"newton\": dropped seed = 3, outcomes = ["), "{:?}", changed.notes);
    assert!(read(&changed.text).is_ok());
    // what is given with the new kind stays, to be reported where it is wrong; so do mistakes of the file
    for set in [&["scheme.theta=0.6", "scheme.kind=moreau-midpoint"], &["scheme.kind=moreau-midpoint", "scheme.theta=0.6"]] {
        let Err(error) = read(&with(ALL, &[set[0], set[1], "strategy=time-stepping"]).text) else { panic!("{set:?}") };
        assert!(error.to_string().contains("unknown field `theta`"), "{error}");
    }
    let mistaken = ALL.replace("theta = 0.75", "theta = 7.0");
    let Err(error) = read(&with(&mistaken, &["scheme.kind=moreau-midpoint", "strategy=time-stepping"]).text) else { panic!() };
    assert!(error.to_string().contains("theta"), "{error}");
}

/// A setting without a kind is one of the model's own scheme, not of the scheme that is the default elsewhere.
#[test]
fn a_setting_keeps_the_kind_of_the_model() {
    let balls = r#"
[[body]]
name = "floor"
fixed = true
shape = { kind = "plane", normal = [0, 0, 1] }
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.1 }
density = 1000
position = [0, 0, 0.1]
[simulation]
end = 1.0
step = 1e-3
"#;
    let SchemeParams::MoreauGap(params) = read(&with(balls, &["scheme.tolerated=1e-3"]).text).unwrap().run.scheme else { panic!() };
    assert_eq!(params.tolerated, 1e-3);
    // without a section the solver is that of the scheme
    let own = read(balls).unwrap().run;
    assert_eq!(own.solver.tolerance, 1e-12);
    let relay = r#"
[first_order]
states = ["x"]
[[relation]]
name = "relay"
law = { kind = "relay", lower = -1, upper = 1 }
multipliers = ["s"]
B = 2
C = 1
[initial]
state = { x = 1 }
[simulation]
end = 1
step = 1e-2
"#;
    let SchemeParams::EulerMoreau(params) = read(&with(relay, &["scheme.theta=0.75"]).text).unwrap().run.scheme else { panic!() };
    assert_eq!(params.theta, 0.75);
}

/// A scheme or an integrator that is chosen from outside is used: the strategy follows, unless it is chosen as well.
#[test]
fn the_strategy_follows_a_method_that_it_does_not_have() {
    let strategy = |set: &[&str]| {
        let changed = with(ALL, set);
        (read(&changed.text).unwrap().run.strategy, changed.notes)
    };
    let (kind, notes) = strategy(&["scheme.kind=moreau-jean"]);
    assert_eq!(kind, StrategyKind::TimeStepping);
    assert_eq!(notes, ["strategy \"time-stepping\" in place of \"event-driven\", which does not use the scheme that was chosen"]);
    assert_eq!(strategy(&["strategy=hybrid", "scheme.kind=moreau-jean"]), (StrategyKind::Hybrid, Vec::new()));
    let (kind, notes) = strategy(&["scheme.kind=moreau-jean", "strategy=event-driven"]);
    assert_eq!(kind, StrategyKind::EventDriven);
    assert_eq!(notes, ["simulation.scheme.kind=moreau-jean has no effect: the strategy \"event-driven\" does not use `scheme`"]);
    let steps = ALL.replace("strategy = \"event-driven\"\n", "");
    let changed = with(&steps, &["integrator.kind=dopri5"]);
    assert_eq!(read(&changed.text).unwrap().run.strategy, StrategyKind::EventDriven);
    let (_, notes) = strategy(&["scheme.theta=0.6", "adaptive.tolerance=1e-3", "events.gap=1e-8"]);
    assert_eq!(notes.len(), 2, "{notes:?}");
}

/// Without a step time-stepping takes one from the integrator or from the motion, and says which.
#[test]
fn a_step_is_chosen_where_none_is_given() {
    let without = ALL.replace("step = 1e-3\n", "");
    let file = read(&with(&without, &["strategy=time-stepping"]).text).unwrap();
    let step = file.run.step.unwrap();
    assert!((1e-5..=1e-2).contains(&step), "{step}");
    assert!(file.notes.iter().any(|note| note.contains(&format!("step = {step:e} s"))), "{:?}", file.notes);
    let fixed = read(&with(&without, &["strategy=time-stepping", "integrator.step=2e-3"]).text).unwrap();
    assert_eq!(fixed.run.step, Some(2e-3));
    // adaptive steps and integrators find their own
    assert_eq!(read(&with(&without, &["strategy=adaptive"]).text).unwrap().run.step, None);
}
