//! Time-stepping schemes as a user compares and chooses them: `compare --schemes`, `list schemes`, `list laws`, `run --set scheme.kind=…`.

use crate::support::{BALL, Folder};

fn ball() -> Folder {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    folder
}

#[test]
fn schemes_are_compared_on_a_model_with_contacts() {
    let folder = ball();
    let arguments = ["--schemes", "moreau-jean,schatzman-paoli", "--steps", "4e-3,1e-3", "--repeat", "1", "--end", "1"];
    let compare = |more: &[&str]| folder.carom(&[&["compare", "ball.toml"], &arguments[..], more].concat());
    let json = compare(&["--json"]).json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for pair in rows.chunks(2) {
        // a quarter of the step, about a quarter of the error
        assert!(pair[1]["error_mean"].as_f64() < pair[0]["error_mean"].as_f64(), "{pair:?}");
        assert_eq!(pair[0]["status"], "finished");
    }
    assert_eq!(rows[0]["certificate"]["steps"], 250);

    let said = compare(&["-o", "table.csv", "--plot", "work.svg"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("penetration") && said.out.contains("schatzman-paoli"), "{}", said.out);
    assert!(folder.files().contains(&"work.svg".to_owned()));
    assert_eq!(std::fs::read_to_string(folder.path("table.csv")).unwrap().lines().count(), 5);

    // a run as reference: its own scheme and step have no error
    folder.carom(&["run", "ball.toml", "--set", "simulation.end=1", "--set", "simulation.step=1e-3", "--csv", "run.csv", "-o", "run.h5"]);
    let rows = compare(&["--json", "--reference", "run.csv"]).json()["rows"].clone();
    assert_eq!(rows[1]["error_mean"].as_f64(), Some(0.0), "{rows}");
}

#[test]
fn mistakes_of_a_comparison_are_told() {
    let folder = ball();
    for (arguments, word) in [
        (&["--schemes", "moreau-jan"][..], "moreau-jean"),
        (&["--schemes", "moreau-jean:thta=1"], "thta"),
        (&["--schemes", "moreau-jean", "--steps", "-1"], "step"),
        (&["--schemes", "theta-gap"], "schemes that do: moreau-jean"),
        (&["--schemes", "moreau-jean", "--end", "-1"], "end time"),
        (&["--schemes", "moreau-jean", "--integrators", "rk4"], "cannot be used with"),
    ] {
        let said = folder.carom(&[&["compare", "ball.toml"], arguments].concat());
        assert!(said.code != 0 && said.err.contains(word), "{arguments:?}: {}", said.err);
    }
}

/// The short forms are what `--set` does, settings included; what the word drops or changes is a line on standard error.
#[test]
fn one_word_changes_the_method() {
    let folder = Folder::new();
    folder.write("ball.toml", &format!("{BALL}scheme = {{ kind = \"moreau-jean\", theta = 0.75 }}\n"));
    let run = |words: &[&str]| {
        let said = folder.carom(&[&["run", "ball.toml", "--json", "--no-record", "--set", "simulation.end=0.5"], words].concat());
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        let json = said.json();
        (json["strategy"].as_str().unwrap().to_owned(), json["q"]["y"].as_f64().unwrap(), said.err)
    };
    let same = |short: &[&str], long: &[&str]| {
        let (short, long) = (run(short), run(long));
        assert_eq!((&short.0, short.1), (&long.0, long.1));
        short
    };
    let (_, midpoint, told) = same(&["--scheme", "moreau-midpoint"], &["--set", "scheme.kind=moreau-midpoint"]);
    assert!(told.contains("dropped theta = 0.75, of \"moreau-jean\""), "{told}");
    let (_, half, _) = same(&["--scheme", "moreau-jean:theta=0.5"], &["--set", "scheme.theta=0.5"]);
    let (_, whole, _) = same(&["--scheme", "moreau-jean:theta=1"], &["--set", "scheme.theta=1"]);
    assert!(half != whole && midpoint != whole);
    let (strategy, ..) = same(&["--strategy", "hybrid"], &["--set", "strategy=hybrid"]);
    assert_eq!(strategy, "hybrid");
    // an integrator is one of located events here; the file's step has no part in it
    let (strategy, y, told) =
        same(&["--integrator", "dopri5:tolerance=1e-10"], &["--set", "integrator.kind=dopri5", "--set", "integrator.tolerance=1e-10"]);
    assert!(strategy == "event-driven" && told.contains("in place of \"time-stepping\""), "{strategy} {told}");
    // free fall from 1 m reaches the floor at 0.4515 s, then rises with 0.9 of its speed
    let (g, t) = (9.81_f64, 0.5 - (2.0 / 9.81_f64).sqrt());
    let exact = 0.9 * (2.0 * g).sqrt() * t - 0.5 * g * t * t;
    // located to round-off, integrated to 1e-10
    assert!((y - exact).abs() < 1e-9, "{y} {exact}");
    same(&["--solver", "nsgs", "--law", "poisson"], &["--set", "solver.kind=nsgs", "--set", "impact.law=poisson"]);
}

/// All strategies and all schemes in one table; those that cannot follow the model say why.
#[test]
fn all_methods_are_compared() {
    let folder = ball();
    let compare = |what: &str| {
        let arguments = ["compare", "ball.toml", what, "all", "--repeat", "1", "--end", "0.6", "--tolerances", "1e-4,1e-6", "--json"];
        let arguments = if what == "--schemes" { [&arguments[..8], &["--steps", "1e-2", "--json"]].concat() } else { arguments.to_vec() };
        let said = folder.carom(&arguments);
        assert_eq!(said.code, 0, "{}", said.err);
        said.json()
    };
    let rows = compare("--strategies")["rows"].as_array().unwrap().clone();
    let of = |name: &str| rows.iter().filter(|row| row["strategy"] == name).collect::<Vec<_>>();
    for name in ["adaptive", "event-driven", "hybrid"] {
        assert!(of(name).len() == 2 && of(name).iter().all(|row| row["status"] == "finished" && row["tolerance"].is_f64()), "{name}");
    }
    assert!(of("time-stepping").iter().all(|row| row["status"] == "finished" && row["step"].is_f64()));
    let smooth = of("smooth");
    assert!(smooth.len() == 1 && smooth[0]["status"].as_str().unwrap().contains("cannot follow contacts"), "{smooth:?}");
    let schemes = compare("--schemes");
    assert!(schemes["refused"].as_array().unwrap().iter().any(|reason| reason.as_str().unwrap().contains("theta-gap")), "{schemes}");
}

#[test]
fn one_word_changes_the_scheme() {
    let folder = ball();
    let end = |kind: &str| {
        let said = folder.carom(&["run", "ball.toml", "--json", "--no-record", "--set", &format!("scheme.kind={kind}")]);
        assert_eq!(said.code, 0, "{kind}: {}", said.err);
        said.json()["steps"].as_u64()
    };
    assert!(end("moreau-jean").is_some() && end("moreau-jean") == end("lotstedt"));
    let refused = folder.carom(&["run", "ball.toml", "--no-record", "--set", "scheme.kind=theta-gap"]);
    assert!(refused.code != 0 && refused.err.contains("does not know restitution"), "{}", refused.err);
    let list = folder.carom(&["list", "schemes"]).out;
    assert!(list.lines().count() > 10 && list.contains("schatzman-paoli"), "{list}");
}
