//! Adaptive time-stepping in model files: `[simulation.adaptive]`.

use carom_dynamics::integrators::{ErrorNorm, IntegratorKind};
use carom_dynamics::strategies::AdaptiveParams;
use carom_dynamics::strategies::adaptive::Control;
use carom_io::model_file::{ModelFile, ModelFileError, apply_overrides, parse};
use carom_io::recording::Precision;
use std::path::Path;

const BALL: &str = r#"
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

[simulation]
end = 1.0
strategy = "adaptive"
integrator = "dopri5"

[simulation.adaptive]
control = "high-order"
tolerance = 1e-7
min_step = 1e-9
max_step = 0.1
safety = 0.8
norm = "max"
event_order = 4
event_scale = 0.5

[record]
interval = 0.1
"#;

fn read(text: &str) -> Result<ModelFile, ModelFileError> {
    parse(text, Path::new("test.toml"))
}

#[test]
fn settings_are_read() {
    let file = read(BALL).unwrap();
    let expected = AdaptiveParams {
        control: Control::HighOrder,
        tolerance: 1e-7,
        min_step: 1e-9,
        max_step: Some(0.1),
        safety: 0.8,
        norm: ErrorNorm::Max,
        event_order: Some(4),
        event_scale: 0.5,
        ..AdaptiveParams::default()
    };
    assert_eq!(file.run.adaptive, expected);
    assert_eq!((file.run.integrator.kind, file.run.step, file.record.interval), (IntegratorKind::Dopri5, None, Some(0.1)));
    let strategy = file.run.strategy(file.record);
    assert_eq!(strategy.name(), "adaptive");
    let list = file.run.list();
    for (name, value) in [("simulation.adaptive.control", "high-order"), ("simulation.integrator.kind", "dopri5")] {
        assert!(list.contains(&(name.to_owned(), value.to_owned())), "{list:?}");
    }
}

/// A name alone is the control, in the file and on the command line; `step` is the first step.
#[test]
fn a_name_is_enough() {
    let text = BALL.replace("integrator = \"dopri5\"", "adaptive = \"extrapolation\"\nstep = 1e-3");
    let text = format!("{}[record]\n", &text[..text.find("[simulation.adaptive]").unwrap()]);
    let file = read(&text).unwrap();
    assert_eq!((file.run.adaptive.control, file.run.step), (Control::Extrapolation, Some(1e-3)));
    let set: Vec<_> = ["adaptive.tolerance=1e-8", "simulation.adaptive.control=halving"].map(|s| s.parse().unwrap()).to_vec();
    // the table made of the name has both
    let both = apply_overrides(&text, &set[..1]).unwrap().text;
    let run = read(&both).unwrap().run;
    assert_eq!((run.adaptive.control, run.adaptive.tolerance), (Control::Extrapolation, 1e-8));
    let fixed = BALL.replace("integrator = \"dopri5\"\n", "");
    let run = read(&apply_overrides(&fixed, &set).unwrap().text).unwrap().run;
    assert_eq!((run.adaptive.control, run.adaptive.tolerance), (Control::Halving, 1e-8));
}

#[test]
fn mistakes_are_shown_with_their_remedy() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("tolerance = 1e-7", "tolerance = -1.0", &["adaptive.tolerance = -1", "1e-13 to 1e-1"]),
        ("tolerance = 1e-7", "tolerence = 1e-7", &["tolerence", "did you mean `tolerance`?"]),
        ("min_step = 1e-9", "min_step = 0.0", &["adaptive.min_step = 0", "positive"]),
        ("max_step = 0.1", "max_step = 1e-12", &["adaptive.max_step", "not below min_step"]),
        ("safety = 0.8", "safety = 2.0", &["adaptive.safety = 2", "0.999"]),
        ("event_order = 4", "event_order = 40", &["adaptive.event_order = 40", "1 to 12"]),
        ("control = \"high-order\"", "control = \"high-ordr\"", &["no step control \"high-ordr\"", "high-order"]),
        ("integrator = \"dopri5\"", "scheme = \"schatzman-paoli\"", &["schatzman-paoli", "steps of varying size", "moreau-jean"]),
        ("integrator = \"dopri5\"", "integrator = \"dopri\"", &["no integrator \"dopri\"", "dopri5"]),
    ];
    for (from, to, words) in cases {
        assert!(BALL.contains(from), "{from}");
        let Err(error) = read(&BALL.replacen(from, to, 1)) else { panic!("{to} should be refused") };
        // one of the mistakes has all the words: a ball by the strategy "smooth" is refused for its contact too
        let told = error.diagnostics.iter().find(|d| {
            let message = format!("{} {}", d.message, d.help.as_deref().unwrap_or_default());
            words.iter().all(|word| message.contains(word))
        });
        assert!(told.is_some_and(|d| d.span.is_some()), "{to}: {words:?} are not in \"{error}\"");
    }
    let fixed = BALL.replace("strategy = \"adaptive\"\nintegrator = \"dopri5\"", "step = 1e-3");
    let fixed = format!("{}[record]\ninterval = 0.1\n", &fixed[..fixed.find("[simulation.adaptive]").unwrap()]);
    let Err(error) = read(&fixed.replace("interval = 0.1", "precision = \"singl\"")) else { panic!("there is no such precision") };
    assert!(error.diagnostics[0].message.contains("no precision \"singl\""), "{error}");
    // an interval takes the place of every step, unless both are asked for
    let record = |text: &str| read(&fixed.replace("interval = 0.1", text)).unwrap().record;
    assert_eq!((record("interval = 0.1005").every, record("interval = 0.1\nevery = 3").every), (0, 3));
    let record = record("precision = \"single\"\ncontacts = false");
    assert_eq!((record.every, record.precision, record.contacts), (1, Precision::Single, false));
}
