//! Smooth motion as a user runs it: `run`, `check`, `list integrators`, `compare`.

use crate::support::{BALL, Folder, gallery};
use carom::io::recording::RunFile;

const PENDULUM: &str = r#"
title = "Pendulum"

[lagrangian]
coordinates = ["x", "y"]
kinetic = "(x_dot^2 + y_dot^2)/2"
potential = "9.81*y"

[[constraint]]
name = "rod"
equation = "x^2 + y^2 - 1"

[initial]
position = { x = 1.0 }

[simulation]
end = 1.0
strategy = "smooth"
integrator = { kind = "rk4", control = "fixed", step = 1e-3 }

[record]
interval = 0.1
"#;

fn pendulum() -> Folder {
    let folder = Folder::new();
    folder.write("model.toml", PENDULUM);
    folder
}

#[test]
fn a_smooth_run_is_reported_and_recorded() {
    let folder = pendulum();
    let run = folder.carom(&["run", "model.toml", "--json", "-o", "run.h5", "--csv", "run.csv"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    let smooth = &json["smooth"];
    assert_eq!((smooth["integrator"].as_str(), smooth["accepted"].as_u64()), (Some("rk4"), Some(1000)));
    assert_eq!(smooth["drift"][0]["name"], "rod");
    assert!(smooth["max_step"].as_f64().unwrap() <= 1e-3 * (1.0 + 1e-12));
    // the exact solution, by elliptic functions; rk4 with h = 1 ms is right to 1e-10
    assert!((json["q"]["x"].as_f64().unwrap() + 0.986_291_751_131_875_3).abs() < 1e-9);

    let info = folder.carom(&["info", "run.h5", "--json"]).json();
    assert_eq!(info["frames"], 11);
    assert_eq!(info["certificate"]["smooth"]["accepted"], 1000);
    assert!(info["quantities"].as_array().unwrap().iter().any(|q| q == "force.rod"));
    assert_eq!(folder.carom(&["plot", "run.h5", "-q", "force,constraint_velocity", "-o", "force.svg"]).code, 0);

    let text = folder.carom(&["run", "model.toml", "--no-record"]).out;
    for part in ["rk4", "1000 accepted, 0 rejected", "step sizes", "largest constraint violation", "balance error"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("penetration"), "{text}");
}

#[test]
fn check_knows_the_strategy() {
    let folder = pendulum();
    let check = folder.carom(&["check", "model.toml"]);
    assert!(check.out.contains("smooth by rk4"), "{}", check.out);
    // a velocity against the constraint
    let wrong = folder.carom(&["check", "model.toml", "--json", "--set", "initial.velocity.x=1"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.json()["mistakes"][0]["message"].as_str().unwrap().contains("rod"), "{}", wrong.out);
}

#[test]
fn mistakes_of_smooth_models_are_told() {
    let folder = pendulum();
    let cases: &[(&[&str], &[&str])] = &[
        (&["integrator.kind=rk5"], &["no integrator \"rk5\"", "rk4"]),
        (&["integrator.tolerence=1"], &["tolerence", "did you mean `tolerance`"]),
        (&["integrator.tolerance=-1"], &["integrator.tolerance", "positive"]),
        (&["integrator.order=3"], &["order = 3"]),
        (&["integrator.tolerances={z=1e-3}"], &["\"z\"", "no coordinate"]),
        (&["simulation.strategy=smoth"], &["smoth", "did you mean \"smooth\""]),
        (&["record.interval=-1"], &["interval", "positive"]),
    ];
    for (sets, words) in cases {
        let mut arguments = vec!["run", "model.toml", "--no-record"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        let run = folder.carom(&arguments);
        assert!(run.code == 2 || run.code == 1, "{sets:?}: {}{}", run.out, run.err);
        // long messages are wrapped with a bar at the start of each line
        let said = run.err.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for word in *words {
            assert!(said.contains(word), "{sets:?}: {word} is missing: {said}");
        }
    }
    // a start that cannot be assembled, recorded: the message is of the start, not of the record, and the report tells the violation
    let open = folder.carom(&["run", "model.toml", "-o", "open.h5", "--set", "initial.position.x=1.1"]);
    assert!(open.code == 1 && open.err.contains("the initial position violates \"rod\" by 2.100e-1"), "{}", open.err);
    assert!(open.out.contains("largest constraint violation  0.21") || open.out.contains("2.100e-1"), "{}", open.out);
    folder.write("ball.toml", &BALL.replace("step = 0.005", "strategy = \"smooth\""));
    let ball = folder.carom(&["run", "ball.toml"]);
    assert!(ball.code == 2 && ball.err.contains("\"floor\"") && ball.err.contains("time-stepping"), "{}", ball.err);
}

#[test]
fn integrators_are_listed_with_their_orders() {
    let json = Folder::new().carom(&["list", "integrators", "--json"]).json();
    let items = json["items"].as_array().unwrap();
    let rk4 = items.iter().find(|item| item["name"] == "rk4").unwrap();
    assert_eq!((rk4["orders"]["position"].as_f64(), rk4["formulations"][0].as_str()), (Some(4.0), Some("index1")));
    assert_eq!(items.iter().filter(|item| item["is_default"] == true).count(), 1);
    let text = Folder::new().carom(&["list", "integrators"]).out;
    assert!(items.iter().all(|item| text.contains(item["name"].as_str().unwrap())));
    assert!(Folder::new().carom(&["list", "strategies"]).out.contains("smooth"));
}

#[test]
fn compare_measures_orders_and_survives_failures() {
    let folder = pendulum();
    // constant steps: the error of rk4 falls by 16 when they are halved. The last may not shrink its first step, which is too long
    let variants = "rk4:step=0.02,rk4:step=0.01,rk4:index-1:step=1e-2,hem5:control=adaptive:step=1:min_step=0.5";
    let compare = folder.carom(&[
        "compare",
        "model.toml",
        "--integrators",
        variants,
        "--tolerances",
        "1e-6",
        "--repeat",
        "1",
        "-o",
        "table.csv",
        "--plot",
        "work.svg",
        "--plot-steps",
        "steps.png",
        "--json",
    ]);
    assert_eq!(compare.code, 0, "{}", compare.err);
    let json = compare.json();
    let error = |row: usize| json["rows"][row]["error_position"].as_f64().unwrap();
    // order 4 within 0.2
    assert!(((error(0) / error(1)).log2() - 4.0).abs() < 0.2, "{} {}", error(0), error(1));
    assert_eq!(error(1), error(2));
    assert_eq!(json["rows"][0]["statistics"]["accepted"], 50);
    let failed = &json["rows"][3];
    assert!(failed["status"].as_str().unwrap().contains("below the smallest step") && failed["error_position"].is_null(), "{failed}");
    assert!(json["reference"]["accuracy"]["position"].as_f64().unwrap() < 1e-9, "{}", json["reference"]);
    let csv = std::fs::read_to_string(folder.path("table.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.starts_with("method,tolerance,status,average_step,cpu_time,accepted,rejected") && csv.contains("g rod,g_dot rod"), "{csv}");
    assert!(std::fs::read_to_string(folder.path("work.svg")).unwrap().contains("CPU time [s]"));
    assert!(folder.path("steps.png").exists());
}

#[test]
fn compare_takes_a_reference_from_a_file() {
    let folder = pendulum();
    folder.write(
        "exact.csv",
        "t,q.x,q.y,v.x,v.y\n0,1,0,0,0\n1,-0.9862917511318753,-0.16501085312554117,-0.2969055159163158,1.7746436411126556\n",
    );
    let text = folder.carom(&["compare", "model.toml", "--integrators", "rk4", "--tolerances", "1e-6", "--reference", "exact.csv"]);
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(text.out.contains("reference: exact.csv") && text.out.contains("error q"), "{}", text.out);
    for (arguments, word) in [
        (&["--end", "0.5", "--reference", "exact.csv"][..], "its last row is at t = 1 s"),
        (&["--reference", "none.csv"], "none.csv"),
        (&["--integrators", "rk4:index7"], "index1"),
        (&["--tolerances", "0"], "positive"),
        (&["--end", "-1"], "after the start"),
    ] {
        let mut all = vec!["compare", "model.toml"];
        all.extend(arguments);
        let said = folder.carom(&all);
        assert!(said.code == 2 && said.err.contains(word), "{arguments:?}: {}", said.err);
    }
    let ball = folder.carom(&["compare", &gallery("bouncing_ball")]);
    assert!(ball.code == 2 && ball.err.contains("floor"), "{}", ball.err);
}

/// A penalised contact is a force: it runs smoothly and by steps, and its gap is recorded after those of rigid contacts.
#[test]
fn penalised_contacts_run_and_their_gaps_are_recorded() {
    let folder = Folder::new();
    let model = gallery("penalised_ball");
    let run = folder.carom(&["run", &model, "-o", "run.h5", "--set", "simulation.end=1", "--set", "contact.floor.compliant.stiffness=1e5"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(folder.carom(&["plot", "run.h5", "-q", "gap.floor", "-o", "gap.svg"]).code, 0);
    let column = |run: &str, name: &str| RunFile::open(folder.path(run)).unwrap().quantity(name).unwrap()[0].values.clone();
    let gaps = column("run.h5", "gap.floor");
    assert!(gaps.len() > 100 && gaps == column("run.h5", "q.y"));
    // it sinks in by about (5 v²/4 K)^(2/5) with v² = 2 g y₀, less what damping takes
    let deepest = gaps.iter().fold(0.0_f64, |m, &gap| m.min(gap));
    assert!((-0.037..-0.02).contains(&deepest), "{deepest}");

    let both = "[linear]\ncoordinates = [\"x\", \"y\"]\nmass = 1.0\nforce = [-1.0, -9.81]\n\
        [[contact]]\nname = \"soft\"\ngap = \"y\"\ncompliant = { stiffness = 1e4, damping = 20.0 }\n\
        [[contact]]\nname = \"hard\"\ngap = \"x + 1\"\n[initial]\nposition = { y = 0.1 }\n[simulation]\nend = 0.5\nstep = 1e-4\n";
    folder.write("both.toml", both);
    let check = folder.carom(&["check", "both.toml"]);
    assert!(check.out.contains("2 contacts by formula"), "{} {}", check.out, check.err);
    let run = folder.carom(&["run", "both.toml", "-o", "both.h5"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(column("both.h5", "gap.soft"), column("both.h5", "q.y"));
    let hard: Vec<f64> = column("both.h5", "q.x").iter().map(|x| x + 1.0).collect();
    assert_eq!(column("both.h5", "gap.hard"), hard);
    // with a rigid contact left, smooth motion is refused, and only that contact is named
    folder.write("smooth.toml", &both.replace("step = 1e-4", "strategy = \"smooth\""));
    let refused = folder.carom(&["check", "smooth.toml"]);
    assert!(refused.code == 2 && refused.err.contains("\"hard\"") && !refused.err.contains("\"soft\""), "{}", refused.err);
    // adaptive steps take it as a force too
    folder.write("adaptive.toml", &both.replace("step = 1e-4", "step = 1e-4\nstrategy = \"adaptive\""));
    let adaptive = folder.carom(&["run", "adaptive.toml", "--json"]);
    assert_eq!(adaptive.code, 0, "{}", adaptive.err);
}
