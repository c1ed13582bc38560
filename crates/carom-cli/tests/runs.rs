//! `carom run`: results, records, interruption.

use crate::support::{BALL, Folder, gallery, said};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// All promised keys, and the numbers of the published bouncing ball run at its end.
#[test]
fn json_report_has_the_promised_keys() {
    let folder = Folder::new();
    let run = folder.carom(&["run", &gallery("bouncing_ball"), "--json", "--no-record"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    for key in [
        "t",
        "q",
        "v",
        "steps",
        "max_penetration",
        "max_constraint_violation",
        "max_residual",
        "unconverged",
        "energy",
        "events",
        "wall_time",
        "cpu_time",
    ] {
        assert!(json.get(key).is_some(), "{key} is missing");
    }
    for key in ["initial", "final", "dissipated_impact", "dissipated_friction", "work"] {
        assert!(json["energy"][key].is_number(), "energy.{key} is missing");
    }
    assert_eq!((json["t"].as_f64(), json["steps"].as_u64(), json["unconverged"].as_u64()), (Some(10.0), Some(2000), Some(0)));
    assert!((json["q"]["y"].as_f64().unwrap() + 2.288_618e-5).abs() < 1e-11);
    assert_eq!(json["events"][0]["kind"], "contact-closed");
    assert!((json["events"][0]["t"].as_f64().unwrap() - 0.455).abs() < 1e-12);
    assert!((json["events"][0]["impulse"].as_f64().unwrap() - 8.4366).abs() < 1e-10);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn records_a_run_without_overwriting() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    for expected in ["ball.h5", "ball-2.h5"] {
        let run = folder.carom(&["run", "ball.toml"]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains(expected) && run.out.contains("largest penetration"), "{}", run.out);
    }
    assert_eq!(folder.files(), ["ball-2.h5", "ball.h5", "ball.toml"]);
    let before = std::fs::read(folder.path("ball.h5")).unwrap();
    let refused = folder.carom(&["run", "ball.toml", "-o", "ball.h5", "--set", "simulation.step=0.01"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("ball.h5") && refused.err.contains("overwrite"), "{}", refused.err);
    assert_eq!(std::fs::read(folder.path("ball.h5")).unwrap(), before);
    let replaced = folder.carom(&["run", "ball.toml", "-o", "ball.h5", "--set", "simulation.step=0.01", "--overwrite"]);
    assert_eq!(replaced.code, 0, "{}", replaced.err);
    assert_ne!(std::fs::read(folder.path("ball.h5")).unwrap(), before);
}

/// The same model gives the same bytes, in the record whatever its name and (times and names aside) in the report.
#[test]
fn same_input_same_bytes() {
    let run = |name: &str| {
        let folder = Folder::new();
        let said = folder.carom(&["run", &gallery("slide_to_roll"), "-o", name, "--csv", "run.csv", "--json"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let mut json = said.json();
        json["wall_time"] = 0.into();
        json["cpu_time"] = 0.into();
        json["files"] = 0.into();
        (std::fs::read(folder.path(name)).unwrap(), std::fs::read(folder.path("run.csv")).unwrap(), json.to_string())
    };
    assert!(run("run.h5") == run("other.h5"));
}

#[test]
fn values_can_be_set() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let set = [
        "--set",
        "contact.floor.restitution=0",
        "--set",
        "solver.tolerance=1e-12",
        "--set",
        "parameters.height=2",
        "--set",
        "scheme.theta=1",
    ];
    let run = folder.carom(&[&["run", "ball.toml", "--no-record", "--json", "--set", "simulation.end=3"][..], &set].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    // dropped from 2 m with e = 0, the ball rests
    assert!((json["energy"]["initial"].as_f64().unwrap() - 2.0 * 9.81).abs() < 1e-12);
    assert!(json["v"]["y"].as_f64().unwrap().abs() < 1e-12);
    for (wrong, hint) in
        [("contact.flor.restitution=0", "floor"), ("simulation.stp=1", "step"), ("solver.kind=nsg", "nsgs"), ("nonsense", "=")]
    {
        let run = folder.carom(&["run", "ball.toml", "--no-record", "--set", wrong]);
        assert_eq!(run.code, 2, "{wrong}");
        assert!(run.err.contains(hint), "{wrong}: {}", run.err);
    }
}

/// An interrupt ends the run cleanly with what was computed.
#[cfg(unix)]
#[test]
fn interrupt_keeps_what_was_computed() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    let mut child = folder
        .command()
        .args(["run", "ball.toml", "-o", "run.h5", "--json", "--every", "1000", "--set", "simulation.end=1e6"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let clock = Instant::now();
    while !folder.path("run.h5.part").exists() && clock.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
    let kill = std::process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let run = said(child.wait_with_output().unwrap());
    assert_eq!(run.code, 130, "{}", run.err);
    let json = run.json();
    assert_eq!(json["status"], "interrupted");
    assert!(json["steps"].as_u64().unwrap() > 1000);
    assert_eq!(folder.files(), ["ball.toml", "run.h5"]);
    let info = folder.carom(&["info", "run.h5", "--json"]).json();
    assert_eq!((info["status"].as_str(), info["end"].as_f64()), (Some("interrupted"), json["t"].as_f64()));
}

/// A formula that leaves the real numbers stops the run, named, with exit status 1 and the record kept.
#[test]
fn non_finite_formula_stops_the_run_by_name() {
    let folder = Folder::new();
    folder.write("ball.toml", &BALL.replace("force = [-9.81]", "force = [\"-9.81 + 1e-3*sqrt(y - 0.5)\"]"));
    let run = folder.carom(&["run", "ball.toml", "-o", "run.h5"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("force formula on y") && run.err.contains("NaN") && run.err.contains("t = 0.3"), "{}", run.err);
    let info = folder.carom(&["info", "run.h5", "--json"]).json();
    assert!(info["status"].as_str().unwrap().starts_with("failed: at t = 0.3"), "{info}");
    assert!(info["frames"].as_u64().unwrap() > 60);
}

/// A solve that cannot converge stops the run, or is counted, or the step is halved: as asked.
#[test]
fn failure_policies() {
    let folder = Folder::new();
    let stack = gallery("friction_limit");
    let starve =
        ["--no-record", "--json", "--set", "simulation.solver={ kind = \"nsgs\", max_iterations = 1 }", "--set", "simulation.end=0.02"];
    let run = |policy: &str| folder.carom(&[&["run", &stack, "--set", policy][..], &starve].concat());
    let stopped = run("simulation.on_failure=stop");
    assert_eq!(stopped.code, 1);
    assert!(stopped.err.contains("max_iterations"), "{}", stopped.err);
    let warned = run("simulation.on_failure=warn");
    assert_eq!(warned.code, 0, "{}", warned.err);
    assert!(warned.json()["unconverged"].as_u64().unwrap() > 0);
    let halved = run("simulation.on_failure=halve-step");
    assert!(halved.json()["halved_steps"].as_u64().unwrap() > 0);
}

#[test]
fn lists_what_there_is() {
    let folder = Folder::new();
    for (what, expected) in [
        ("strategies", "time-stepping"),
        ("schemes", "moreau-jean"),
        ("solvers", "nsgs"),
        ("laws", "coulomb"),
        ("elements", "D1 anode cathode"),
        ("joints", "point-on-curve"),
        ("laws", "impact: energetic"),
        ("forces", "bushing"),
    ] {
        let list = folder.carom(&["list", what]);
        assert!(list.code == 0 && list.out.contains(expected), "{}", list.out);
    }
    let models = folder.carom(&["list", "models", "--folder", &gallery(""), "--json"]).json();
    assert!(models["items"].as_array().unwrap().len() >= 12);
    assert_eq!(folder.carom(&["list", "models", "--folder", "nowhere"]).code, 2);
}
