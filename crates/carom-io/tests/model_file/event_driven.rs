//! Located events in model files: the strategies `event-driven` and `hybrid`.

use carom_dynamics::events::{Accumulation, EventParams, Location};
use carom_dynamics::integrators::IntegratorKind;
use carom_dynamics::strategies::{HybridParams, SwitchOn};
use carom_dynamics::user_events::{Direction, EventAction};
use carom_io::model_file::{ModelFile, ModelFileError, apply_overrides, parse};
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
strategy = "event-driven"
integrator = { kind = "dopri5", tolerance = 1e-8 }

[simulation.events]
location = "im2"
gap = 1e-10
velocity = 2e-8
slip = 3e-8
time = 1e-11
accumulation = "stop"
accumulation_interval = 1e-6
most_events = 50

[record]
interval = 0.1
"#;

fn read(text: &str) -> Result<ModelFile, ModelFileError> {
    parse(text, Path::new("test.toml"))
}

/// The ball by the strategy `hybrid`, with settings of it.
fn hybrid() -> String {
    BALL.replace(
        "\"event-driven\"",
        "\"hybrid\"\nscheme = { kind = \"moreau-jean\", theta = 0.6 }\nsolver = \"nsgs\"\non_failure = \"warn\"",
    ) + "[simulation.hybrid]\nmin_step = 1e-6\nmax_step = 1e-4\nevent_order = 4\nevent_scale = 0.5\nsettled_steps = 3\nswitch_on = { slip = false }\n"
}

#[test]
fn settings_are_read() {
    let file = read(BALL).unwrap();
    let expected = EventParams {
        location: Location::Im2,
        gap: 1e-10,
        velocity: 2e-8,
        slip: 3e-8,
        time: 1e-11,
        accumulation: Accumulation::Stop,
        accumulation_interval: 1e-6,
        most_events: 50,
    };
    assert_eq!(file.run.events, expected);
    assert_eq!((file.run.integrator.kind, file.run.integrator.tolerance), (IntegratorKind::Dopri5, 1e-8));
    assert_eq!((file.run.step, file.record.interval, file.record.every), (None, Some(0.1), 0));
    assert!(file.run.strategy.locates_events() && !file.run.strategy.has_scheme());
    assert_eq!(file.run.strategy(file.record).name(), "event-driven");
    let list = file.run.list();
    for (name, value) in [("simulation.events.location", "im2"), ("simulation.integrator.kind", "dopri5")] {
        assert!(list.contains(&(name.to_owned(), value.to_owned())), "{list:?}");
    }
    assert!(!list.iter().any(|(name, _)| name.starts_with("simulation.s") && name.contains("scheme")), "{list:?}");
}

#[test]
fn hybrid_has_a_scheme_too() {
    let file = read(&hybrid()).unwrap();
    let switch_on = SwitchOn { slip: false, ..SwitchOn::default() };
    let expected = HybridParams { min_step: 1e-6, max_step: 1e-4, event_order: Some(4), event_scale: 0.5, settled_steps: 3, switch_on };
    assert_eq!(file.run.hybrid, expected);
    assert_eq!((file.run.solver.kind.name(), file.run.strategy(file.record).name()), ("nsgs", "hybrid"));
    let list = file.run.list();
    for (name, value) in
        [("simulation.hybrid.min_step", "0.000001"), ("simulation.scheme.theta", "0.6"), ("simulation.events.most_events", "50")]
    {
        assert!(list.contains(&(name.to_owned(), value.to_owned())), "{list:?}");
    }
}

/// A strategy and an end are enough; settings can be given on the command line.
#[test]
fn defaults_and_overrides() {
    let plain = format!("{}end = 1.0\nstrategy = \"hybrid\"\n", &BALL[..BALL.find("end = 1.0").unwrap()]);
    let run = read(&plain).unwrap().run;
    assert_eq!((run.events, run.hybrid, run.integrator.kind), (EventParams::default(), HybridParams::default(), IntegratorKind::Hem5));
    let set: Vec<_> = [
        "events.gap=1e-7",
        "hybrid.switch_on.slip=false",
        "simulation.hybrid.settled_steps=7",
        "integrator.tolerance=1e-9",
        "scheme=moreau-midpoint",
        "events.location=im3",
    ]
    .map(|s| s.parse().unwrap())
    .to_vec();
    let run = read(&apply_overrides(&plain, &set).unwrap().text).unwrap().run;
    assert_eq!((run.events.gap, run.events.location, run.hybrid.settled_steps), (1e-7, Location::Im3, 7));
    assert!(!run.hybrid.switch_on.slip && run.hybrid.switch_on.accumulation);
    assert_eq!((run.integrator.tolerance, run.scheme.entry().name), (1e-9, "moreau-midpoint"));
}

#[test]
fn mistakes_are_shown_with_their_remedy() {
    let hybrid = hybrid();
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (BALL, "gap = 1e-10", "gap = 0.0", &["events.gap = 0", "positive"]),
        (BALL, "gap = 1e-10", "gaps = 1e-10", &["unknown field `gaps`", "did you mean `gap`?"]),
        (BALL, "location = \"im2\"", "location = \"bracketting\"", &["unknown variant `bracketting`", "did you mean `bracketing`?"]),
        (BALL, "most_events = 50", "most_events = 5", &["events.most_events = 5", "at least 10"]),
        (BALL, "\"event-driven\"", "\"event-drivn\"", &["no strategy \"event-drivn\"", "event-driven"]),
        // settings of methods that are not in use are checked all the same
        (BALL, "\"event-driven\"", "\"event-driven\"\nscheme = \"moreau-jan\"", &["no scheme \"moreau-jan\"", "moreau-jean"]),
        (BALL, "\"event-driven\"", "\"event-driven\"\nhybrid = { min_step = -1.0 }", &["hybrid.min_step = -1", "positive"]),
        (BALL, "\"event-driven\"", "\"time-stepping\"\nstep = -1e-3", &["the step", "positive"]),
        (&hybrid, "min_step = 1e-6", "min_step = -1.0", &["hybrid.min_step = -1", "positive"]),
        (&hybrid, "slip = false", "slp = false", &["unknown field `slp`", "did you mean `slip`?"]),
        (&hybrid, "settled_steps", "setled_steps", &["did you mean `settled_steps`?"]),
        (&hybrid, "kind = \"moreau-jean\"", "kind = \"moreau-jan\"", &["no scheme \"moreau-jan\"", "moreau-jean"]),
    ];
    for (text, from, to, words) in cases {
        assert!(text.contains(from), "{from}");
        let Err(error) = read(&text.replacen(from, to, 1)) else { panic!("{to} should be refused") };
        let told = error.diagnostics.iter().find(|d| {
            let message = format!("{} {}", d.message, d.help.as_deref().unwrap_or_default());
            words.iter().all(|word| message.contains(word))
        });
        assert!(told.is_some_and(|d| d.span.is_some()), "{to}: {words:?} are not in \"{error}\"");
    }
}

const EVENTS: &str = r#"
[parameters]
level = 0.5

[[event]]
name = "half way"
when = "y - level"
direction = "falling"
action = "stop"

[[event]]
when = "y_dot > 0 and t > 0.1"

[[event]]
name = "pulse"
at = [0.25, "1/2"]

[[event]]
name = "load"
at = 0.75
"#;

/// The ball with events.
fn with_events() -> String {
    format!("{EVENTS}{BALL}")
}

#[test]
fn events_of_the_model_are_read() {
    let file = read(&with_events()).unwrap();
    let events: Vec<_> = file.model.events().iter().map(|event| event.source()).collect();
    assert_eq!((events[0].name.as_str(), events[0].direction, events[0].action), ("half way", Direction::Falling, EventAction::Stop));
    assert_eq!((events[1].name.as_str(), events[1].direction, events[1].action), ("event 2", Direction::Both, EventAction::Record));
    assert_eq!(events[0].parameters, [("level".to_owned(), 0.5)]);
    let times: Vec<_> = file.model.time_events().iter().map(|event| (event.name.as_str(), event.t)).collect();
    assert_eq!(times, [("pulse 1", 0.25), ("pulse 2", 0.5), ("load", 0.75)]);
    let set: Vec<_> = ["event.load.at=0.9", "event.half way.when=y - 0.1"].map(|s| s.parse().unwrap()).to_vec();
    let file = read(&apply_overrides(&with_events(), &set).unwrap().text).unwrap();
    assert_eq!((file.model.time_events()[2].t, file.model.events()[0].source().formula.as_str()), (0.9, "y - 0.1"));
}

#[test]
fn mistakes_in_events_have_their_place() {
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("y - level", "y - levl", "levl", &["formula of event \"half way\"", "level"]),
        ("y - level", "y - (level", "", &["formula of event \"half way\""]),
        ("\"falling\"", "\"fallin\"", "\"fallin\"", &["no direction \"fallin\"", "falling"]),
        ("\"stop\"", "\"end\"", "\"end\"", &["no action \"end\"", "record, restart, stop"]),
        ("at = 0.75", "at = 0.75\nwhen = \"t\"", "0.75", &["both `when` and `at`"]),
        ("at = 0.75", "", "", &["neither `when` nor `at`", "`at`, a time"]),
        ("at = 0.75", "at = -1.0", "-1.0", &["lies before the start"]),
        ("at = 0.75", "at = []", "[]", &["no times"]),
        ("at = 0.75", "at = 0.75\naction = \"stop\"", "\"stop\"", &["event by time", "belong to `when`"]),
        ("at = 0.75", "att = 0.75", "att", &["unknown field `att`", "did you mean `at`?"]),
        ("name = \"load\"", "name = \"half way\"", "", &["half way", "event"]),
    ];
    for (from, to, place, words) in cases {
        let text = with_events();
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let Err(error) = read(&text) else { panic!("{to} should be refused") };
        let told = error.diagnostics.iter().find(|d| {
            let message = format!("{} {}", d.message, d.help.as_deref().unwrap_or_default());
            words.iter().all(|word| message.contains(word))
        });
        let span = told.and_then(|d| d.span.clone()).unwrap_or_else(|| panic!("{to}: {words:?} are not in \"{error}\""));
        assert!(place.is_empty() || text[span.clone()] == **place, "{to}: the place is \"{}\"", &text[span]);
    }
}
