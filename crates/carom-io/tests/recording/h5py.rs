use crate::fixture::record;
use carom_io::recording::Hdf5Options;
use std::process::Command;
use tempfile::tempdir;

/// Reads the file as a user of Python would and checks numbers and texts.
const SCRIPT: &str = r#"
import json, sys, h5py
run = h5py.File(sys.argv[1])
t, q, names = run["time"][:], run["q"][:], run["q_names"].asstr()[:]
assert run.attrs["format"] == "carom-run" and run.attrs["format_version"] == 1 and run.attrs["finished"] == 1
assert run.attrs["title"] == "Ball on a table" and run.attrs["status"] == "finished", dict(run.attrs)
assert t.shape == (300,) and q.shape == (300, 3) and list(names) == ["x", "y", "angle"]
assert run["q"].shape == (300, 3) and (run["q"][:, 1] == q[:, 1]).all() and run["contacts/impulse"].ndim == 2
assert q[299, 2] == -299 / 3 and t[299] == 299 * 1e-3
assert run["v"][:].shape == (300, 2) and run["gaps"][:][4, 0] == 2.0
assert "µ = 0.3 → slides" in run["model"].asstr()[()]
assert json.loads(run["settings"].asstr()[()])["scheme"] == "moreau-jean"
assert json.loads(run["certificate"].asstr()[()])["steps"] == 300
assert list(run["interaction_kinds"].asstr()[:]) == ["constraint", "contact"]
assert run["contacts/impulse"][:].shape[1] == 6 and run["contacts/point"][:].shape[1] == 3
kinds = run["events/kind_names"].asstr()[:]
assert kinds[run["events/kind"][0]] == "step-halved"
modes = run["modes"].attrs["mode_names"]
assert list(modes) == ["open", "touching", "closed", "sticking", "sliding"] and list(run["contact_names"].asstr()[:]) == ["stop"]
assert run["modes"].shape == (300, 1) and modes[run["modes"][3, 0]] == "sticking" and run["modes"].dtype == "uint8"
assert run["events/mode_before"][0] == 0 and modes[run["events/mode_after"][0]] == "sliding" and run["events/mode_after"][1] == 255
assert run["events/note"].asstr()[0] == 't* = 9 s, "ρ" = 0.5' and run["contacts/force"].ndim == 2
assert list(run["contacts/mode"].attrs["mode_names"]) == list(modes) and run["contacts/mode"][0] == 1
assert run["events/name"].asstr()[0] == "table–ball"
assert run["steps/converged"][5] == 0 and run["step"][10] == 20
def visit(name, item):
    if isinstance(item, h5py.Dataset): item[()]
run.visititems(visit)
print("read", len(run))
"#;

#[test]
fn h5py_reads_the_file() {
    let available = Command::new("python3").args(["-c", "import h5py"]).output();
    if !available.is_ok_and(|out| out.status.success()) {
        println!("skipped: python3 with h5py is not installed (pip install h5py)");
        return;
    }
    let dir = tempdir().unwrap();
    for (name, compression) in [("plain.h5", 0), ("compressed.h5", 4)] {
        let path = dir.path().join(name);
        record(&path, 300, Hdf5Options { compression, ..Hdf5Options::default() });
        let out = Command::new("python3").args(["-c", SCRIPT]).arg(&path).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
}
