//! `carom bench matrix` and `carom bench states` as a user runs them.

use crate::support::{BALL, Folder};

/// A ball in free fall towards a floor, a pendulum without contacts, and a file that is refused.
fn gallery() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        ("ball", BALL),
        (
            "pendulum",
            "[lagrangian]\ncoordinates = [\"a\"]\nkinetic = \"0.5*a_dot^2\"\npotential = \"-cos(a)\"\n[initial]\nposition = { a = 1 }\n\
             [simulation]\nend = 1\nstrategy = \"smooth\"\n",
        ),
        ("broken", "[linear]\ncoordinates = [\"y\"]\nmess = 1\n"),
    ] {
        std::fs::create_dir_all(folder.path(&format!("models/{name}"))).unwrap();
        folder.write(&format!("models/{name}/model.toml"), text);
    }
    folder
}

#[test]
fn the_matrix_counts_what_runs_and_agrees() {
    let folder = gallery();
    let arguments = ["bench", "matrix", "models", "--methods", "time-stepping,smooth,theta-gap,moreau-gap", "--limit", "60", "--quiet"];
    let said = folder.carom(&[&arguments[..], &["--csv", "a.csv", "--markdown", "page.md", "--threads", "1"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("3 models (0 heavy), 4 methods, 12 pairs: "), "{}", said.out);
    let csv = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    let outcome = |model: &str, method: &str| {
        let line = csv.lines().find(|line| line.starts_with(&format!("{model},")) && line.contains(&format!(",{method},")));
        line.unwrap_or_else(|| panic!("{model} {method}: {csv}")).to_owned()
    };
    // a ball in free fall: the θ-scheme of the file, and another with the same motion up to its order
    assert!(outcome("ball", "time-stepping").contains(",agrees,\"time-stepping, moreau-jean\","), "{csv}");
    assert!(outcome("ball", "moreau-gap").contains(",agrees,"), "{csv}");
    assert!(outcome("ball", "theta-gap").contains(",refused,,,\"the scheme \"\"theta-gap\"\" does not know restitution"), "{csv}");
    assert!(outcome("ball", "smooth").contains(",refused,"), "{csv}");
    assert!(outcome("pendulum", "smooth").contains(",agrees,\"smooth, "), "{csv}");
    assert!(outcome("broken", "smooth").contains(",refused,,,"), "{csv}");
    let page = std::fs::read_to_string(folder.path("page.md")).unwrap();
    for part in ["# Every model by every method", "12 pairs: ", "ball      + · · +  time-stepping, moreau-jean", "## Reasons of refusals"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }

    // not the bits, but which pairs come out how, and by how much, is the same on two threads
    let said = folder.carom(&[&arguments[..], &["--csv", "b.csv", "--threads", "2", "--at-least", "3"]].concat());
    assert_eq!((said.code, csv), (0, std::fs::read_to_string(folder.path("b.csv")).unwrap()), "{}", said.err);
    let said = folder.carom(&[&arguments[..], &["--only", "broken", "--at-least", "1"]].concat());
    assert!(said.code == 1 && said.err.contains("0 pairs run, 1 are expected at least"), "{}", said.err);
    for (arguments, words) in
        [(["--methods", "mureau-jean"], "there is no method \"mureau-jean\""), (["--only", "nothing"], "there is no model to run")]
    {
        let said = folder.carom(&[&["bench", "matrix", "models"][..], &arguments].concat());
        assert!(said.code == 2 && said.err.contains(words), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn final_states_are_written_and_compared() {
    let folder = gallery();
    std::fs::remove_dir_all(folder.path("models/broken")).unwrap();
    let states = |arguments: &[&str]| folder.carom(&[&["bench", "states", "models", "--limit", "60", "--quiet"][..], arguments].concat());
    let written = states(&["--write", "states.csv"]);
    assert_eq!(written.code, 0, "{}", written.err);
    let table = std::fs::read_to_string(folder.path("states.csv")).unwrap();
    for row in ["ball,own,time-stepping moreau-jean,step=5.000000e-3 q.y=", "ball,event-driven,", "pendulum,own,smooth "] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{row}: {table}");
    }
    assert_eq!(table, states(&["--threads", "1"]).out, "the same without a file, and on one thread");
    let same = states(&["--check", "states.csv"]);
    assert!(same.code == 0 && same.out.contains("of 2 models, none differs"), "{} {}", same.out, same.err);

    // one step more, in the table, of the ball's own run
    let own = table.lines().find(|line| line.starts_with("ball,own")).unwrap();
    assert!(own.contains(" steps=200 "), "{own}");
    folder.write("changed.csv", &table.replace(own, &own.replace(" steps=200 ", " steps=201 ")));
    let changed = states(&["--check", "changed.csv"]);
    assert_eq!((changed.code, changed.out.as_str()), (1, "ball by own: steps: 201 → 200\n"), "{}", changed.err);
    // a model without a row, and a row without a model that is asked for
    folder.write("fewer.csv", &table.replace(&format!("{own}\n"), ""));
    let fewer = states(&["--check", "fewer.csv", "--own"]);
    assert_eq!((fewer.code, fewer.out.as_str()), (1, "ball by own: has no row in the table\n"), "{}", fewer.err);
    folder.write("wrong.csv", "ball\n");
    let wrong = states(&["--check", "wrong.csv"]);
    assert!(wrong.code == 2 && wrong.err.contains("line 1 is no row of the table"), "{}", wrong.err);
}
