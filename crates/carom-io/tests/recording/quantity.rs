use crate::fixture::{contacts, energy, mode, q, record, v};
use carom_io::recording::{Hdf5Options, RecordingError, RunFile};
use tempfile::tempdir;

fn run() -> (tempfile::TempDir, RunFile) {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    record(&path, 40, Hdf5Options::default());
    let run = RunFile::open(path).unwrap();
    (dir, run)
}

#[test]
fn single_quantities() {
    let (_dir, run) = run();
    let one = |name: &str| {
        let mut found = run.quantity(name).unwrap();
        assert_eq!(found.len(), 1, "{name}");
        found.remove(0)
    };
    let each = |f: &dyn Fn(usize) -> f64| (0..40).map(f).collect::<Vec<_>>();
    let y = one("q.y");
    assert_eq!((y.name.as_str(), y.unit.as_str()), ("q.y", "m"));
    assert_eq!(y.values, each(&|k| q(k)[1]));
    assert_eq!((one("v.y").unit, one("v.y").values), ("m/s".into(), each(&|k| v(k)[1])));
    assert_eq!(one("energy.kinetic").values, each(&|k| energy(k).kinetic));
    assert_eq!(one("energy.mechanical").values, each(&|_| 8.0));
    assert_eq!(one("energy.dissipated").values, each(&|k| 0.75 * k as f64));
    assert_eq!(one("gap.stop").values, each(&|k| 0.5 * k as f64));
    assert_eq!(one("force.rail.1").values, each(&|k| 3.0 * k as f64));
    let on = |active: bool, value: f64| if active { value } else { 0.0 };
    assert_eq!(one("impulse.stop").values, each(&|k| on(k % 3 == 1, k as f64)));
    assert_eq!(one("impulse.stop.t").values, each(&|k| on(k % 3 == 1, 5.0)));
    assert_eq!(one("impulse.rail").values, each(&|_| 0.0));
    assert_eq!(one("impulse.table–ball").values, each(&|k| on(k % 4 == 1, 2.5)));
    assert_eq!(one("impulse.table-ball").values, one("impulse.table–ball").values);
    assert_eq!((one("force.stop").unit, one("force.stop").values), ("N".into(), each(&|k| on(k % 3 == 1, 10.0 * k as f64))));
    assert_eq!(one("force.stop.t").values, each(&|k| on(k % 3 == 1, 50.0)));
    assert_eq!(one("force.table-ball").values, each(&|k| on(k % 4 == 1, 25.0)));
    assert_eq!(one("mode.stop").values, each(&|k| f64::from(mode(k).code())));
    assert_eq!(one("mode.table-ball").values, each(&|k| on(k % 4 == 1, f64::from(mode(k).code()))));
    assert_eq!(one("active").values[1..], each(&|k| contacts(k).len() as f64)[1..]);
    assert_eq!(one("residual").values[7], 7e-12);
    assert_eq!((one("penetration").values[2], one("constraint").values[3]), (5e-6, 1e-9));
    assert_eq!(one("iterations").values[5], 12.0);
}

#[test]
fn groups_of_quantities() {
    let (_dir, run) = run();
    let names = |name: &str| run.quantity(name).unwrap().into_iter().map(|q| q.name).collect::<Vec<_>>();
    assert_eq!(names("q"), ["q.x", "q.y", "q.angle"]);
    assert_eq!(names("energy"), ["energy.kinetic", "energy.potential", "energy.mechanical", "energy.dissipated", "energy.work"]);
    assert_eq!(names("gap"), ["gap.stop", "gap.wall"]);
    assert_eq!(names("force"), ["force.rail.1", "force.rail.2", "force.stop", "force.table–ball"]);
    assert_eq!(names("mode"), ["mode.stop", "mode.table–ball"]);
    assert_eq!(names("impulse"), ["impulse.rail", "impulse.stop", "impulse.table–ball"]);
}

#[test]
fn every_available_quantity_can_be_had() {
    let (_dir, run) = run();
    for name in run.available().unwrap() {
        assert_eq!(run.quantity(&name).unwrap()[0].values.len(), 40, "{name}");
    }
}

#[test]
fn unknown_quantity_names_the_nearest() {
    let (_dir, run) = run();
    for (typed, meant) in [("q.angel", "q.angle"), ("angle", "q.angle"), ("impulse.stpo", "impulse.stop"), ("energi", "energy")] {
        let error = run.quantity(typed).err().unwrap();
        let RecordingError::UnknownQuantity { name, nearest, available } = &error else { panic!("{error}") };
        assert_eq!((name.as_str(), nearest.as_deref()), (typed, Some(meant)));
        assert!(available.contains(&"gap.wall".to_string()));
        assert!(error.to_string().contains(&format!("did you mean \"{meant}\"?")), "{error}");
    }
    let RecordingError::UnknownQuantity { nearest, .. } = run.quantity("q.temperature").err().unwrap() else { panic!() };
    assert_eq!(nearest, None);
}
