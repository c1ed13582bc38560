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
        (&["--strategies", "time-stepping"], "--schemes"),
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
