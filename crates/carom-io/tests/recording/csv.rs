use crate::fixture::{certificate, feed, info, q, v};
use carom_dynamics::recording::Recorder;
use carom_io::recording::{CsvRecorder, Hdf5Options, Hdf5Recorder, MultiRecorder, NamedUnit, RecordingError, RunFile, export_csv};
use tempfile::tempdir;

#[test]
fn numbers_read_back_exactly() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.csv");
    let mut recorder = CsvRecorder::create(&path, &info(), false).unwrap();
    feed(&mut recorder, 25);
    assert!(!path.exists());
    recorder.finish(&certificate(25), "finished").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "t,q.x,q.y,q.angle,v.x,v.y,energy.kinetic,energy.potential,energy.dissipated_impact,\
         energy.dissipated_friction,energy.work,residual,penetration"
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 25);
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), 13);
        let number = |i: usize| row[i].parse::<f64>().unwrap();
        assert_eq!([number(1), number(2), number(3)], q(k));
        assert_eq!([number(4), number(5)], v(k));
        assert_eq!(number(8), 0.25 * k as f64);
    }
    assert_eq!(rows[0][11..], ["", ""]);
    assert_eq!(rows[7][11].parse::<f64>().unwrap(), 7e-12);
}

#[test]
fn export_equals_recording() {
    let dir = tempdir().unwrap();
    let (h5, csv) = (dir.path().join("run.h5"), dir.path().join("run.csv"));
    let mut both = MultiRecorder::new();
    both.push(Hdf5Recorder::create(&h5, &info(), Hdf5Options::default()).unwrap());
    both.push(CsvRecorder::create(&csv, &info(), false).unwrap());
    feed(&mut both, 5000); // more than one window of the export
    both.finish(&certificate(5000), "finished").unwrap();
    let mut exported = Vec::new();
    export_csv(&RunFile::open(&h5).unwrap(), &mut exported).unwrap();
    assert!(exported == std::fs::read(&csv).unwrap(), "the exported table differs from the recorded one");
}

#[test]
fn existing_table_is_kept_and_names_are_quoted() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.csv");
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(CsvRecorder::create(&path, &info(), false), Err(RecordingError::AlreadyExists { .. })));
    let mut info = info();
    info.coordinates[0] = NamedUnit::new("a,\"b\"", "m");
    let mut recorder = CsvRecorder::create(&path, &info, true).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine", "kept until finished");
    recorder.finish(&certificate(0), "finished").unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("t,\"q.a,\"\"b\"\"\",q.y,"));
}
