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
