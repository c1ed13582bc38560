//! Events, modes and the strategies that locate them, as a user sees them.

use crate::support::{BALL, Folder};

fn recorded() -> Folder {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let run = folder.carom(&["run", "ball.toml", "-o", "run.h5"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("2: 1 contact-closed, 1 contact-opened"), "{}", run.out);
    folder
}

#[test]
fn events_are_counted_listed_and_exported() {
    let folder = recorded();
    let json = folder.carom(&["run", "ball.toml", "--no-record", "--json"]).json();
    assert_eq!((json["event_counts"]["contact-closed"].as_u64(), json["n_events"].as_u64()), (Some(1), Some(2)));
    assert!(folder.carom(&["info", "run.h5"]).out.contains("events: 2: 1 contact-closed, 1 contact-opened"));
    assert_eq!(folder.carom(&["info", "run.h5", "--json"]).json()["event_counts"]["contact-opened"], 1);
    let table = folder.carom(&["info", "run.h5", "--events"]).out;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() == 3 && lines[1].contains("0.455000000  contact-closed  floor"), "{table}");
    let listed = folder.carom(&["info", "run.h5", "--events", "--json"]).json();
    assert_eq!(listed["events"][0]["name"], "floor");

    let csv = |table: &str| folder.carom(&["export", "run.h5", "--table", table]).out;
    let events = csv("events");
    assert!(events.starts_with("t,kind,name,impulse,mode_before,mode_after,note\n0.455,contact-closed,floor,"), "{events}");
    let modes = csv("modes");
    assert!(modes.starts_with("t,mode.floor\n0.0,open\n") && modes.contains("0.455,closed\n"), "{modes}");
    assert_eq!(modes.lines().count(), 202);
    let contacts = csv("contacts");
    assert!(contacts.lines().any(|line| line.starts_with("0.455,floor,closed,1.0,")), "{contacts}");
    assert!(!contacts.contains("force"), "impulses only");
}

#[test]
fn contacts_are_drawn_over_time() {
    let folder = recorded();
    for picture in ["lanes.svg", "lanes.png"] {
        let plot = folder.carom(&["plot", "run.h5", "--timeline", "-o", picture]);
        assert_eq!(plot.code, 0, "{}", plot.err);
    }
    let svg = std::fs::read_to_string(folder.path("lanes.svg")).unwrap();
    assert!(svg.contains(">floor<") && svg.contains(">closed<") && svg.contains("t [s]"), "{svg}");
    let wrong = folder.carom(&["plot", "run.h5", "--timeline", "--contacts", "flor", "-o", "no.svg"]);
    assert!(wrong.code == 2 && wrong.err.contains("did you mean \"floor\"?"), "{}", wrong.err);
    let both = folder.carom(&["plot", "run.h5", "--timeline", "--quantity", "q", "-o", "no.svg"]);
    assert!(both.code == 2 && both.err.contains("cannot be used with"), "{}", both.err);
    let codes = folder.carom(&["plot", "run.h5", "--quantity", "mode.floor", "-o", "codes.svg"]);
    assert_eq!(codes.code, 0, "{}", codes.err);
}

#[test]
fn strategies_are_compared_against_a_recorded_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let reference = ["--set", "simulation.strategy=adaptive", "--set", "adaptive.tolerance=1e-10"];
    let run = folder.carom(&[&["run", "ball.toml", "-o", "fine.h5", "--csv", "fine.csv"][..], &reference].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let arguments =
        ["compare", "ball.toml", "--strategies", "adaptive:adaptive.control=extrapolation", "--repeat", "1", "--tolerances", "1e-2,1e-6"];
    let compare = |more: &[&str]| folder.carom(&[&arguments[..], more].concat());
    let json = compare(&["--json", "--reference", "fine.h5"]).json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0]["status"].as_str()), (2, Some("finished")));
    assert!(rows[1]["error_position"].as_f64() < rows[0]["error_position"].as_f64(), "{json}");
    assert!(rows[1]["mean_step"].as_f64() < rows[0]["mean_step"].as_f64(), "{json}");
    assert_eq!(rows[1]["event_counts"]["contact-closed"], 1);
    let same = compare(&["--json", "--reference", "fine.csv"]).json();
    assert_eq!(same["rows"][1]["error_position"], rows[1]["error_position"], "one run in two files");

    let said = compare(&["--reference", "fine.h5", "-o", "table.csv", "--plot", "work.svg"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("mean step [s]") && said.out.contains("reference: fine.h5"), "{}", said.out);
    assert_eq!(std::fs::read_to_string(folder.path("table.csv")).unwrap().lines().count(), 3);
    assert!(std::fs::read_to_string(folder.path("work.svg")).unwrap().contains("work and precision of strategies"));
}

#[test]
fn mistakes_of_a_comparison_are_told() {
    let folder = recorded();
    for (arguments, word) in [
        (&["--strategies", "hybrd"][..], "hybrid"),
        (&["--strategies", "time-stepping", "--steps", "-1"], "step -1"),
        (&["--strategies", "hybrid:tolerance=1"], "TABLE.KEY=VALUE"),
        (&["--strategies", "hybrid:event.gap=1"], "event"),
        (&["--strategies", "hybrid:events.gap=-1"], "events.gap"),
        (&["--steps", "1e-3"], "--strategies"),
        (&["--strategies", "adaptive", "--tolerances", "0"], "tolerance"),
        (&["--strategies", "adaptive", "--end", "-1"], "end time"),
        (&["--strategies", "adaptive", "--end", "0.5", "--reference", "run.h5"], "--end 1"),
        (&["--strategies", "adaptive", "--reference", "none.h5"], "none.h5"),
        (&["--strategies", "adaptive", "--schemes", "moreau-jean"], "cannot be used with"),
    ] {
        let said = folder.carom(&[&["compare", "ball.toml"], arguments].concat());
        assert!(said.code != 0 && said.err.contains(word), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn models_with_located_events_are_checked() {
    let folder = Folder::new();
    let text = BALL.replace(
        "step = 0.005",
        "strategy = \"hybrid\"\nintegrator = { kind = \"hem5\", tolerance = 1e-8 }\n[[event]]\nwhen = \"y - 0.5\"\n",
    );
    folder.write("ball.toml", &text);
    let check = folder.carom(&["check", "ball.toml"]);
    assert_eq!(check.code, 0, "{}", check.err);
    assert!(check.out.contains("hybrid by hem5") && check.out.contains("and moreau-jean"), "{}", check.out);
    let wrong = folder.carom(&["check", "ball.toml", "--set", "events.gp=1e-9"]);
    assert!(wrong.code == 2 && wrong.err.contains("did you mean `gap`?"), "{}", wrong.err);
    let list = folder.carom(&["list", "strategies"]).out;
    assert!(list.contains("event-driven") && list.contains("hybrid"), "{list}");
}

/// A ball that falls from 1 m, e = ½: its impacts at t₁ (3 − 2^{1−k}), t₁ = √(2/g), accumulate at 3 t₁, where it comes to rest.
#[test]
fn impacts_of_a_ball_are_located_reported_and_drawn() {
    let folder = Folder::new();
    let events = "[[event]]\nname = \"half way\"\nwhen = \"y - 0.5\"\n[[event]]\nname = \"load\"\nat = 1.5\n";
    let text =
        BALL.replace("restitution = 0.9", "restitution = 0.5").replace("end = 1.0\nstep = 0.005", "end = 2.0\nstrategy = \"event-driven\"");
    folder.write("ball.toml", &format!("{text}{events}"));
    let t1 = (2.0 / 9.81_f64).sqrt();
    for strategy in ["event-driven", "hybrid"] {
        let set = format!("simulation.strategy={strategy}");
        let json = folder.carom(&["run", "ball.toml", "-o", "run.h5", "--overwrite", "--json", "--set", &set]).json();
        assert_eq!(json["status"], "finished", "{json}");
        let events = json["events"].as_array().unwrap();
        let of = |kind: &str| events.iter().filter(|e| e["kind"] == kind).collect::<Vec<_>>();
        for (k, impact) in of("impact").iter().take(8).enumerate() {
            let exact = t1 * (3.0 - 2.0_f64.powi(1 - k as i32));
            assert!((impact["t"].as_f64().unwrap() - exact).abs() < 1e-10, "{strategy}: {impact} {exact}");
            assert_eq!((impact["mode_before"].as_str(), impact["name"].as_str()), (Some("open"), Some("floor")));
        }
        let half_way = (1.0 / 9.81_f64).sqrt();
        assert!((of("user-event")[0]["t"].as_f64().unwrap() - half_way).abs() < 1e-10, "{json}");
        assert_eq!((of("time-event")[0]["t"].as_f64(), of("time-event")[0]["name"].as_str()), (Some(1.5), Some("load")));
        assert_eq!(json["event_counts"], folder.carom(&["info", "run.h5", "--json"]).json()["event_counts"], "{strategy}");
        // at rest, the floor carries the weight
        let modes = folder.carom(&["export", "run.h5", "--table", "modes"]).out;
        assert!(modes.ends_with("2.0,closed\n"), "{modes}");
        let contacts = folder.carom(&["export", "run.h5", "--table", "contacts"]).out;
        let (header, last) = (contacts.lines().next().unwrap(), contacts.lines().last().unwrap());
        let place = header.split(',').position(|name| name == "force.1").unwrap();
        let force: f64 = last.split(',').nth(place).unwrap().parse().unwrap();
        assert!((force - 9.81).abs() < 1e-9, "{last}");
        let plot = folder.carom(&["plot", "run.h5", "--timeline", "-o", "lanes.svg", "--overwrite"]);
        assert_eq!(plot.code, 0, "{}", plot.err);
        let svg = std::fs::read_to_string(folder.path("lanes.svg")).unwrap();
        assert!([">floor<", ">events<", ">impact<", ">closed<"].iter().all(|word| svg.contains(word)));
        assert_eq!(svg.contains(">strategy<"), strategy == "hybrid");
    }
    let text = folder.carom(&["run", "ball.toml", "-o", "run.h5", "--overwrite"]).out;
    for part in ["impact problems", "user-event", "half way", "open → open", "… and", "carom info run.h5 --events"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().filter(|line| line.contains("  impact ")).count() <= 20, "{text}");
}

#[test]
fn located_events_are_compared_with_adaptive_steps() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let arguments = ["--strategies", "event-driven,hybrid,adaptive", "--tolerances", "1e-4,1e-8", "--repeat", "1", "--json"];
    let json = folder.carom(&[&["compare", "ball.toml"], &arguments[..]].concat()).json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert!(json["reference"]["source"].as_str().unwrap().starts_with("event-driven at 1e-12"), "{json}");
    for row in &rows[..4] {
        // a parabola: exact up to round-off
        assert!(row["error_position"].as_f64().unwrap() < 1e-10, "{row}");
        assert!(row["certificate"]["smooth"]["force_evaluations"].as_u64() > Some(0), "{row}");
        assert_eq!(row["event_counts"]["impact"], 1);
    }
    assert!(rows[5]["error_position"].as_f64() < rows[4]["error_position"].as_f64(), "{json}");
}

/// A wheel whose motor of 4 N m comes to 1 rad/s at t = 0.5 s: a lane, a column of modes and a force of its own.
#[test]
fn efforts_between_bounds_have_modes_and_forces() {
    let folder = Folder::new();
    let model = r#"
[[planar_body]]
name = "wheel"
mass = 1
inertia = 2
[[joint]]
name = "hub"
kind = "revolute"
bodies = ["ground", "wheel"]
point = [0, 0]
motor = { kind = "velocity", speed = 1, max_effort = 4 }
[simulation]
end = 1
strategy = "event-driven"
[record]
interval = 0.1
"#;
    folder.write("wheel.toml", model);
    let run = folder.carom(&["run", "wheel.toml", "-o", "run.h5"]);
    assert!(run.code == 0 && run.out.contains("1 slip-to-stick"), "{} {}", run.out, run.err);
    let modes = folder.carom(&["export", "run.h5", "--table", "modes"]).out;
    assert!(modes.starts_with("t,mode.hub motor\n0.0,at-bound\n") && modes.trim_end().ends_with("1.0,held"), "{modes}");
    let plot = folder.carom(&["plot", "run.h5", "--timeline", "-o", "lanes.svg"]);
    assert_eq!(plot.code, 0, "{}", plot.err);
    let svg = std::fs::read_to_string(folder.path("lanes.svg")).unwrap();
    assert!(svg.contains(">hub motor<") && svg.contains(">held<") && svg.contains(">at-bound<"), "{svg}");
    let forces = folder.carom(&["export", "run.h5", "--table", "contacts"]).out;
    assert!(forces.lines().nth(1).is_some_and(|line| line.starts_with("0.0,hub motor,sliding,1.0,")), "{forces}");
    let force = folder.carom(&["plot", "run.h5", "--quantity", "force.hub motor", "-o", "force.svg"]);
    assert_eq!(force.code, 0, "{}", force.err);
}
