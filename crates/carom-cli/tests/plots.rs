//! `carom plot`, `export` and `info` on a recorded run.

use crate::support::{BALL, Folder, gallery};

#[test]
fn draws_and_exports_a_recorded_run() {
    let folder = Folder::new();
    folder.write("ball.toml", BALL);
    assert_eq!(folder.carom(&["run", "ball.toml", "-o", "run.h5", "--quiet"]).code, 0);
    for picture in ["ball.svg", "ball.png"] {
        let plot = folder.carom(&["plot", "run.h5", "--quantity", "q.y,v.y,gap.floor,impulse.floor,energy", "-o", picture]);
        assert_eq!(plot.code, 0, "{}", plot.err);
    }
    let svg = std::fs::read_to_string(folder.path("ball.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.contains("t [s]") && svg.contains("[J]"), "axes and units");
    assert!(std::fs::read(folder.path("ball.png")).unwrap().starts_with(b"\x89PNG"));
    let again = folder.carom(&["plot", "run.h5", "-o", "ball.svg"]);
    assert!(again.code == 2 && again.err.contains("--overwrite"), "{}", again.err);

    let unknown = folder.carom(&["plot", "run.h5", "--quantity", "q.z", "-o", "no.svg"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("q.y"), "{}", unknown.err);
    let unnamed = folder.carom(&["plot", "run.h5", "-o", "picture.jpg"]);
    assert!(unnamed.code == 2 && unnamed.err.contains(".svg"), "{}", unnamed.err);

    let csv = folder.carom(&["export", "run.h5"]);
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(lines.len(), 202, "a header and 201 frames");
    assert!(lines[0].starts_with("t,q.y,v.y"), "{}", lines[0]);
    assert!(lines[1].starts_with("0.0,1.0,0.0"), "{}", lines[1]);

    let model = folder.carom(&["info", "run.h5", "--model"]);
    assert_eq!(model.out, BALL);
    let missing = folder.carom(&["info", "nowhere.h5"]);
    assert!(missing.code == 2 && missing.err.contains("nowhere.h5"), "{}", missing.err);
}

/// A reader that goes away does not make the command panic.
#[cfg(unix)]
#[test]
fn closed_pipes_are_no_error() {
    let folder = Folder::new();
    folder.write("ball.toml", &BALL.replace("end = 1.0", "end = 20.0"));
    assert_eq!(folder.carom(&["run", "ball.toml", "-o", "run.h5", "--quiet"]).code, 0);
    let mut export = folder
        .command()
        .args(["export", "run.h5"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(export.stdout.take());
    let said = crate::support::said(export.wait_with_output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

/// The relay of the Filippov system: at its lower bound until 0.5 s, sliding until 2 s, at its upper bound; in frames, tables and the picture.
#[test]
fn modes_of_multipliers_are_recorded_and_drawn() {
    let folder = Folder::new();
    assert_eq!(folder.carom(&["run", &gallery("filippov_sliding"), "-o", "run.h5", "--quiet"]).code, 0);
    let table = folder.carom(&["export", "run.h5", "--table", "modes"]).out;
    let at = |t: &str| table.lines().find_map(|line| line.strip_prefix(&format!("{t},"))).map(str::to_owned);
    assert_eq!(table.lines().next(), Some("t,mode.side"));
    let modes = ["0.0", "0.25", "1.0", "2.5"].map(|t| at(t).unwrap_or_default());
    assert_eq!(modes, ["unknown", "at the lower bound", "sliding", "at the upper bound"]);
    let plot = folder.carom(&["plot", "run.h5", "--timeline", "-o", "modes.svg"]);
    assert_eq!(plot.code, 0, "{}", plot.err);
    let svg = std::fs::read_to_string(folder.path("modes.svg")).unwrap();
    assert!([">side<", ">at the lower bound<", ">sliding<", ">at the upper bound<"].iter().all(|words| svg.contains(words)));
    // one lane of three bands, and the same three in the legend
    let bands = ["#56b4e9", "#e69f00", "#cc79a7"].map(|colour| svg.matches(&format!("fill=\"{colour}\"")).count());
    assert_eq!(bands, [2, 2, 2]);
    assert_eq!(folder.carom(&["plot", "run.h5", "--quantity", "mode.side", "-o", "code.svg"]).code, 0);
    let wrong = folder.carom(&["plot", "run.h5", "--timeline", "--contacts", "sied", "-o", "no.svg"]);
    assert!(wrong.code == 2 && wrong.err.contains("did you mean \"side\""), "{}", wrong.err);
}
