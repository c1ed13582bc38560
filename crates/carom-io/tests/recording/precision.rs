//! Single precision, and runs without contacts.

use crate::fixture::{self, energy, feed, info, q, v};
use carom_dynamics::recording::Recorder;
use carom_io::recording::{Hdf5Options, Hdf5Recorder, Precision, RunFile, RunInfo};
use tempfile::tempdir;

#[test]
fn single_precision_halves_tables_and_keeps_time_and_energy() {
    let dir = tempdir().unwrap();
    let (path, n) = (dir.path().join("run.h5"), 700);
    let info = RunInfo { precision: Precision::Single, ..info() };
    let mut recorder = Hdf5Recorder::create(&path, &info, Hdf5Options { frames_per_flush: 100, ..Hdf5Options::default() }).unwrap();
    feed(&mut recorder, n);
    // the part of a running simulation is read as well
    recorder.flush().unwrap();
    let part = RunFile::open(recorder.part_path()).unwrap();
    assert!(part.is_single_precision() && part.n_frames() == n);
    assert_eq!(part.table_rows("q", 600, 1).unwrap(), q(600).map(|x| f64::from(x as f32)));
    drop(part);
    recorder.finish(&fixture::certificate(50), "finished").unwrap();
    let run = RunFile::open(&path).unwrap();
    assert!(run.is_single_precision());
    for i in 0..3 {
        let expected: Vec<f64> = (0..n).map(|k| f64::from(q(k)[i] as f32)).collect();
        assert_eq!(run.table_column("q", i).unwrap(), expected);
    }
    assert!(run.table_column("q", 3).is_err());
    assert_eq!(
        run.table_rows("v", 600, 2).unwrap(),
        [v(600), v(601)].concat().into_iter().map(|x| f64::from(x as f32)).collect::<Vec<_>>()
    );
    assert_eq!(run.time()[699], 699.0 * fixture::H);
    assert_eq!(run.column("energy/kinetic").unwrap()[699], energy(699).kinetic);
    let contacts = run.contacts().unwrap();
    assert_eq!(contacts.velocity[0], [0.1_f32, 0.2, 0.3, 0.0, 0.0, 0.0].map(f64::from));
    assert_eq!(contacts.gap.len(), contacts.impulse.len());
}

#[test]
fn contacts_can_be_left_out() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let mut recorder = Hdf5Recorder::create(&path, &RunInfo { skip_contacts: true, ..info() }, Hdf5Options::default()).unwrap();
    feed(&mut recorder, 50);
    recorder.finish(&fixture::certificate(50), "finished").unwrap();
    let run = RunFile::open(&path).unwrap();
    assert!(run.contacts().unwrap().frame.is_empty() && run.n_frames() == 50 && !run.is_single_precision());
}
