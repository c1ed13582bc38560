//! `carom study` as a user runs it.

use crate::support::{Folder, gallery};

const FALL: &str = "[lagrangian]\ncoordinates = [\"y\"]\nkinetic = \"0.5*y_dot^2\"\npotential = \"g*y\"\n[parameters]\ng = 10\n\
                    [simulation]\nend = 1\nstep = 0.1\nscheme = { kind = \"moreau-jean\", theta = 0.5 }\n";

/// y(1) = v₀ − g/2, exactly.
#[test]
fn all_combinations_are_run_and_tabulated() {
    let folder = Folder::new();
    folder.write("model.toml", FALL);
    let vary = ["--vary", "parameters.g=2,4", "--vary", "initial.velocity.y=0,1,3", "--measure", "height=last q.y"];
    let json = folder.carom(&[&["study", "model.toml", "--json"][..], &vary].concat()).json();
    let heights: Vec<f64> = json["runs"].as_array().unwrap().iter().map(|run| run["height"].as_f64().unwrap()).collect();
    let exact = [-1.0, 0.0, 2.0, -2.0, -1.0, 1.0];
    assert!(heights.iter().zip(exact).all(|(found, exact)| (found - exact).abs() < 1e-12), "{heights:?}");
    let table = folder.carom(&[&["study", "model.toml", "-o", "table.csv", "--plot", "figure.svg"][..], &vary].concat());
    assert_eq!(table.code, 0, "{}", table.err);
    assert!(table.out.contains("| | 0 | 1 | 3 |") && table.out.contains("| 2 | -1 | "), "{}", table.out);
    assert_eq!(folder.files(), ["figure.svg", "model.toml", "table.csv"]);
    // a value that is there already is not computed again
    let kept = std::fs::read_to_string(folder.path("table.csv")).unwrap();
    let lines: Vec<String> =
        kept.lines().map(|line| if line.starts_with("2,0,") { "2,0,7500.0".into() } else { line.to_owned() }).collect();
    folder.write("table.csv", &(lines.join("\n") + "\n"));
    let resumed = folder.carom(&[&["study", "model.toml", "-o", "table.csv", "--resume", "--json"][..], &vary].concat()).json();
    assert_eq!(resumed["runs"][0]["height"], 7500.0);
    assert_eq!(resumed["runs"].as_array().unwrap().len(), 6);
}

#[test]
fn mistakes_of_a_study_are_told() {
    let folder = Folder::new();
    let ball = gallery("bouncing_ball");
    for (arguments, words) in [
        (&["--measure", "last q.y"][..], "varies nothing"),
        (&["--vary", "simulation.step=1e-2"], "nothing is measured"),
        (&["--vary", "simulation.step=1e-2", "--measure", "last q.z"], "no quantity q.z"),
        (&["--vary", "simulation.step=1e-2", "--measure", "events impct"], "did you mean \"impact\""),
        (&["--vary", "simulation.step", "--measure", "steps"], "has no `=`"),
        (&["--vary", "simulation.step=-1", "--measure", "steps"], "the step is -1"),
    ] {
        let said = folder.carom(&[&["study", &ball][..], arguments].concat());
        assert!(said.code == 2 && said.err.contains(words), "{arguments:?}: {} {}", said.code, said.err);
    }
}

/// Table I of Acary2009, first column, with the data of the program of 2007: no restitution is off by more than one impact.
#[test]
fn the_manipulator_counts_as_many_impacts_as_the_paper() {
    let folder = Folder::new();
    let arguments = ["study", &gallery("two_link_manipulator"), "--vary", "simulation.step=1e-3", "--json", "--trace", "tracking.svg"];
    let said = folder.carom(&arguments);
    assert_eq!(said.code, 0, "{}", said.err);
    let counts: Vec<f64> = said.json()["runs"].as_array().unwrap().iter().map(|run| run["impacts"].as_f64().unwrap()).collect();
    for (found, paper) in counts.iter().zip([3.0, 6.0, 9.0, 23.0, 32.0]) {
        assert!((found - paper).abs() <= 1.0, "{counts:?}");
    }
    assert!(std::fs::read_to_string(folder.path("tracking.svg")).unwrap().contains("gamma1 = 8"));
}

/// The curves of y = v t − g t²/2 against x = t: the parabola is drawn, and mistakes are told.
#[test]
fn a_study_draws_curves_of_runs() {
    let folder = Folder::new();
    folder.write("model.toml", FALL);
    let study = "[vary]\n\"simulation.step\" = [0.1]\n[measure]\nheight = \"last q.y\"\n[trace]\n";
    folder.write("study.toml", &format!("{study}curves = [\"q.y, v.y\"]\nvary = {{ \"parameters.g\" = [5, 10] }}\n"));
    let said = folder.carom(&["study", ".", "--trace", "fall.svg", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(std::fs::read_to_string(folder.path("fall.svg")).unwrap().contains("v.y, g = 5"));
    for (lines, words) in [
        ("", "needs a list `curves`"),
        ("curves = [\"q.y, v.y, t\"]", "is no curve"),
        ("curves = [\"q.z\"]", "no quantity q.z"),
        ("curves = [\"q.y\"]\ncurve = 1", "unknown key `curve`"),
    ] {
        folder.write("study.toml", &format!("{study}{lines}\n"));
        let said = folder.carom(&["study", ".", "--trace", "other.svg", "--quiet"]);
        assert!(said.code == 2 && said.err.contains(words), "{lines}: {} {}", said.code, said.err);
    }
    folder.write("study.toml", study.trim_end_matches("[trace]\n"));
    let said = folder.carom(&["study", ".", "--trace", "other.svg", "--quiet"]);
    assert!(said.code == 2 && said.err.contains("has no curves"), "{}", said.err);
}
