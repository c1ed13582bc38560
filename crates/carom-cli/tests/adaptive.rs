//! Adaptive time-stepping as a user runs it.

use crate::support::{Folder, gallery};

#[test]
fn a_model_for_fixed_steps_runs_with_chosen_ones() {
    let folder = Folder::new();
    let ball = gallery("bouncing_ball");
    for control in ["halving", "extrapolation", "high-order"] {
        let control = format!("simulation.adaptive.control={control}");
        let set = ["--set", "simulation.strategy=adaptive", "--set", &control, "--set", "adaptive.tolerance=1e-6"];
        let json = folder.carom(&[&["run", &ball, "--no-record", "--json"][..], &set].concat());
        assert_eq!(json.code, 0, "{}", json.err);
        let (json, report) = (json.json(), json.json()["adaptive"].clone());
        assert_eq!(json["steps"], report["accepted"], "{control}");
        // fixed steps of 5 ms are 2000; the ball bounces some 100 times within 10 s
        assert!(report["largest"].as_f64().unwrap() > 0.1 && report["at_min_step"].as_u64().is_some(), "{report}");
        // after the accumulation at t_1 (1 + e)/(1 − e) = 8.58 s the ball rests
        assert!(json["q"]["y"].as_f64().unwrap().abs() < 1e-4, "{control}: {}", json["q"]);
        let text = folder.carom(&[&["run", &ball, "-o", "run.h5", "--overwrite"][..], &set].concat()).out;
        for part in ["tried and taken back", "at the smallest", "above the tolerance"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let info = folder.carom(&["info", "run.h5", "--json"]).json();
        assert_eq!(info["certificate"]["adaptive"]["accepted"], report["accepted"]);
    }
    assert!(folder.carom(&["list", "strategies"]).out.contains("adaptive"));
}

#[test]
fn wrong_settings_are_explained() {
    let folder = Folder::new();
    let ball = gallery("bouncing_ball");
    let run = |set: &str| folder.carom(&["run", &ball, "--no-record", "--set", "simulation.strategy=adaptive", "--set", set]);
    for (set, words) in [
        ("adaptive=halvin", ["step control", "halving"]),
        ("adaptive.min_step=0", ["min_step", "positive"]),
        ("simulation.scheme=schatzman-paoli", ["varying size", "moreau-jean"]),
    ] {
        let said = run(set);
        assert!(said.code == 2 && words.iter().all(|word| said.err.contains(word)), "{set}: {} {}", said.code, said.err);
    }
}
