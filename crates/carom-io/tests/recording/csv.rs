use crate::fixture::{certificate, feed, info, q, record, v};
use carom_dynamics::recording::Recorder;
use carom_dynamics::systems::Coordinate;
use carom_io::recording::{CsvRecorder, Hdf5Options, Hdf5Recorder, MultiRecorder, RecordingError, RunFile};
use carom_io::recording::{export_contacts, export_csv, export_events, export_modes};
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
    info.coordinates = ["a,\"b\"", "y"].into_iter().map(|name| Coordinate::new(name, "m")).collect();
    let mut recorder = CsvRecorder::create(&path, &info, true).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine", "kept until finished");
    recorder.finish(&certificate(0), "finished").unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("t,\"q.a,\"\"b\"\"\",q.y,"));
}

#[test]
fn events_contacts_and_modes_as_tables() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    record(&path, 30, Hdf5Options::default());
    let run = RunFile::open(&path).unwrap();
    let lines = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let mut out = Vec::new();
    export_events(&run, &mut out).unwrap();
    let events = lines(out);
    assert_eq!(events[0], "t,kind,name,impulse,mode_before,mode_after,note");
    assert_eq!(events[1], "0.009000000000000001,step-halved,table–ball,2.5,open,sliding,\"t* = 9 s, \"\"ρ\"\" = 0.5\"");
    assert_eq!((events[2].as_str(), events.len()), ("0.019,step-halved,table–ball,2.5,,,", 4));

    let mut out = Vec::new();
    export_modes(&run, &mut out).unwrap();
    let modes = lines(out);
    assert_eq!((modes.len(), modes[0].as_str()), (31, "t,mode.stop,mode.table–ball"));
    assert_eq!([modes[2].as_str(), modes[3].as_str()], ["0.001,touching,touching", "0.002,closed,open"]);

    let mut out = Vec::new();
    export_contacts(&run, &mut out).unwrap();
    let contacts = lines(out);
    let row: Vec<&str> = contacts[1].split(',').collect();
    assert_eq!((contacts[0].split(',').count(), row.len()), (29, 29));
    assert!(
        contacts[0].starts_with("t,name,mode,dim,gap,velocity.1,")
            && contacts[0].ends_with("force.6,point.x,point.y,point.z,normal.x,normal.y,normal.z")
    );
    assert_eq!(row[..12], ["0.001", "stop", "touching", "3.0", "1e-6", "0.1", "0.2", "0.3", "", "", "", "1.0"]);
    assert_eq!((row[17], row[23]), ("10.0", ""), "a force, and no place of a contact by formula");
    let row: Vec<&str> = contacts[2].split(',').collect();
    assert_eq!((row[1], &row[23..]), ("table–ball", &["1.0", "2.0", "1.0", "0.0", "0.0", "1.0"][..]));
}
