use crate::fixture::{self, certificate, contacts, energy, event, feed, info, mode, q, record, report, v};
use carom_dynamics::error::RecordError;
use carom_dynamics::recording::{Frame, Recorder, Source};
use carom_dynamics::report::{ContactMode, Event, EventKind};
use carom_io::recording::{Hdf5Options, Hdf5Recorder, MultiRecorder, RecordingError, RunFile, RunInfo, export_contacts, export_events};
use std::path::{Path, PathBuf};
use tempfile::tempdir;

fn part(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.part", path.display()))
}

#[test]
fn round_trip_of_everything() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let n = 700; // several chunks and a partial one
    record(&path, n, Hdf5Options { frames_per_flush: 100, ..Hdf5Options::default() });
    assert!(!part(&path).exists());
    let run = RunFile::open(&path).unwrap();
    let info = info();
    assert_eq!((run.title(), run.version(), run.status()), ("Ball on a table", "0.1.0", "finished"));
    assert!(run.is_finished());
    assert_eq!(run.model_text().unwrap(), info.model_text);
    let settings: serde_json::Value = serde_json::from_str(&run.settings().unwrap()).unwrap();
    assert_eq!(settings["note"], "a \"quoted\" word");
    for (read, written) in [(run.coordinates(), &info.coordinates), (run.velocities(), &info.velocities)] {
        assert!(read.iter().map(|c| (c.name.clone(), c.unit.clone())).eq(written.iter().map(|c| (c.name, c.unit))), "{read:?}");
    }
    assert_eq!((run.gap_names(), run.collider_names()), (&info.gaps[..], &info.colliders[..]));
    assert_eq!(run.interaction_names(), ["rail", "stop"]);
    assert_eq!(run.contact_names(), ["stop"]);

    assert_eq!(run.n_frames(), n);
    let each = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<_>>();
    assert_eq!(run.time(), each(&|k| k as f64 * fixture::H));
    assert_eq!(run.column("step").unwrap(), each(&|k| 2.0 * k as f64));
    for i in 0..3 {
        assert_eq!(run.table_column("q", i).unwrap(), each(&|k| q(k)[i]));
    }
    assert_eq!(run.table_column("v", 1).unwrap(), each(&|k| v(k)[1]));
    assert_eq!(run.table_column("gaps", 0).unwrap(), each(&|k| 0.5 * k as f64));
    assert_eq!(run.modes(0).unwrap(), (0..n).map(mode).collect::<Vec<_>>());
    assert!(run.modes(1).is_err());
    assert_eq!(run.table_rows("v", 600, 2).unwrap(), [v(600), v(601)].concat());
    assert_eq!(run.column("energy/kinetic").unwrap(), each(&|k| energy(k).kinetic));
    assert_eq!(run.column("energy/potential").unwrap(), each(&|k| energy(k).potential));
    assert_eq!(run.column("energy/dissipated_impact").unwrap(), each(&|k| energy(k).dissipated_impact));
    assert_eq!(run.column("energy/dissipated_friction").unwrap(), each(&|k| energy(k).dissipated_friction));
    assert_eq!(run.column("energy/work").unwrap(), each(&|k| energy(k).work));

    let step = |name: &str| run.column(&format!("steps/{name}")).unwrap();
    let reals: [(&str, &dyn Fn(usize) -> f64); 5] = [
        ("newton_residual", &|k| report(k).newton_residual),
        ("residual", &|k| report(k).solve.unwrap().residual_normalised),
        ("penetration", &|k| report(k).violations.penetration),
        ("constraint_violation", &|k| report(k).violations.constraint),
        ("constraint_velocity", &|k| report(k).violations.constraint_velocity),
    ];
    for (name, value) in reals {
        let column = step(name);
        assert!(column[0].is_nan(), "{name} of the initial state");
        assert_eq!(column[1..], each(value)[1..], "{name}");
    }
    let initial_zero = |f: &dyn Fn(usize) -> f64| each(&|k| if k == 0 { 0.0 } else { f(k) });
    assert_eq!(step("newton_iterations"), initial_zero(&|_| 2.0));
    assert_eq!(step("solver_iterations"), initial_zero(&|k| 7.0 + k as f64));
    assert_eq!(step("active"), initial_zero(&|k| contacts(k).len() as f64));
    assert_eq!(step("converged"), each(&|k| f64::from(k == 0 || k % 5 != 0)));

    let certificate: serde_json::Value = serde_json::from_str(&run.certificate().unwrap().unwrap()).unwrap();
    assert_eq!(certificate["steps"], n);
    assert_eq!(certificate["max_penetration"], 1e-5);
}

#[test]
fn contacts_and_events_come_back() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    record(&path, 60, Hdf5Options::default());
    let run = RunFile::open(&path).unwrap();
    let table = run.contacts().unwrap();
    let expected: Vec<_> = (0..60).flat_map(|k| contacts(k).into_iter().map(move |c| (k, c))).collect();
    assert_eq!(table.frame.len(), expected.len());
    for (row, (k, contact)) in expected.iter().enumerate() {
        let source = match contact.source {
            Source::Interaction(i) => (0, i as i32, -1),
            Source::Colliders(a, b) => (1, a as i32, b as i32),
        };
        assert_eq!((table.source_kind[row], table.source_a[row], table.source_b[row]), source);
        assert_eq!((table.frame[row], table.dim[row], table.gap[row]), (*k, 3, contact.gap));
        assert_eq!((table.velocity[row], table.impulse[row]), (contact.velocity, contact.impulse));
        assert_eq!((table.force[row], table.mode[row]), (contact.force, contact.mode));
        assert_eq!((table.point[row], table.normal[row]), (contact.point.into(), contact.normal.into()));
    }
    let events = run.events().unwrap();
    assert_eq!(events.t, [9, 19, 29, 39, 49, 59].map(|k| f64::from(k) * fixture::H));
    assert_eq!(events.kind[0], "step-halved");
    assert!(events.name.iter().all(|name| name == "table–ball"));
    assert_eq!(events.impulse, [2.5; 6]);
    let told: Vec<_> = [9, 19, 29, 39, 49, 59].map(event).into();
    assert_eq!(events.modes, told.iter().map(|event| event.modes).collect::<Vec<_>>());
    assert_eq!(events.note, told.iter().map(|event| event.note.clone()).collect::<Vec<_>>());
    assert_eq!(events.modes[1..3], [None, Some((ContactMode::Open, ContactMode::Sliding))]);
}

#[test]
fn every_kind_of_event_comes_back_by_name() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let mut recorder = Hdf5Recorder::create(&path, &info(), Hdf5Options::default()).unwrap();
    for kind in EventKind::ALL {
        recorder.event(&Event::new(0.5, kind, "").with_note("µ".repeat(200))).unwrap();
    }
    recorder.finish(&certificate(0), "finished").unwrap();
    let events = RunFile::open(&path).unwrap().events().unwrap();
    assert_eq!(events.kind, EventKind::ALL.map(EventKind::name));
    assert!(events.note.iter().all(|note| *note == "µ".repeat(120)), "a note that is too long is cut between characters");
}

#[test]
fn runs_of_earlier_versions_are_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    record(&path, 40, Hdf5Options::default());
    let file = hdf5_pure::File::open_rw(&path).unwrap();
    for place in ["modes", "contact_names", "contacts/force", "contacts/mode", "events/mode_before", "events/mode_after", "events/note"] {
        file.root().delete(place).unwrap();
    }
    file.close().unwrap();
    let run = RunFile::open(&path).unwrap();
    assert_eq!(run.contact_names(), ["stop"]);
    assert!(!run.has_modes() && run.modes(0).is_err());
    let (contacts, events) = (run.contacts().unwrap(), run.events().unwrap());
    assert!(!contacts.impulse.is_empty() && contacts.force.is_empty() && contacts.mode.is_empty());
    assert_eq!((events.modes, events.note), (vec![None; 4], vec![String::new(); 4]));
    let available = run.available().unwrap();
    assert!(!available.iter().any(|name| name.starts_with("mode.") || name == "force.stop"), "{available:?}");
    assert!(run.quantity("mode.stop").is_err() && run.quantity("mode").is_err() && run.quantity("force.stop").is_err());
    let mut exported = Vec::new();
    export_events(&run, &mut exported).unwrap();
    export_contacts(&run, &mut exported).unwrap();
}

#[test]
fn runs_with_impulses_only_have_no_forces_of_contacts() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let info = RunInfo { contact_forces: false, ..info() };
    let mut recorder = Hdf5Recorder::create(&path, &info, Hdf5Options::default()).unwrap();
    feed(&mut recorder, 40);
    recorder.finish(&certificate(40), "finished").unwrap();
    let run = RunFile::open(&path).unwrap();
    let table = run.contacts().unwrap();
    assert!(table.force.is_empty() && table.mode[0] == mode(1) && table.point[0][2] == 1.0);
    assert!(run.quantity("force.stop").is_err() && run.quantity("mode.stop").is_ok());
}

#[test]
fn killed_process_leaves_the_flushed_frames() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let options = Hdf5Options { frames_per_flush: 64, ..Hdf5Options::default() };
    let mut recorder = Hdf5Recorder::create(&path, &info(), options).unwrap();
    feed(&mut recorder, 150);
    // Nothing of the recorder runs any more, as after a kill.
    std::mem::forget(recorder);
    assert!(!path.exists());
    let run = RunFile::open(part(&path)).unwrap();
    assert_eq!((run.n_frames(), run.is_finished(), run.status()), (128, false, "running"));
    assert_eq!(run.table_column("q", 1).unwrap(), (0..128).map(|k| q(k)[1]).collect::<Vec<_>>());
    assert!(run.contacts().unwrap().frame.iter().all(|f| *f < 128));
    assert_eq!(run.certificate().unwrap(), None);
    // Asking for the finished file tells where the rest is.
    let error = RunFile::open(&path).err().unwrap().to_string();
    assert!(error.contains("run.h5.part"), "{error}");
}

#[test]
fn dropped_recorder_keeps_every_frame() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let mut recorder = Hdf5Recorder::create(&path, &info(), Hdf5Options::default()).unwrap();
    feed(&mut recorder, 150);
    drop(recorder);
    assert!(!path.exists());
    assert_eq!(RunFile::open(part(&path)).unwrap().n_frames(), 150);
}

#[test]
fn finish_after_failure_keeps_the_status() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let mut recorder = Hdf5Recorder::create(&path, &info(), Hdf5Options::default()).unwrap();
    feed(&mut recorder, 3);
    let frame = Frame {
        step: 3,
        t: 1.0,
        q: &[0.0; 4],
        v: &[0.0; 2],
        x: &[],
        outputs: &[],
        multipliers: &[],
        multiplier_modes: &[],
        signals: &[],
        energy: energy(0),
        contacts: &[],
        gaps: &[0.0; 2],
        modes: &[ContactMode::Open],
        forces: &[0.0; 2],
        report: None,
    };
    let error = recorder.frame(&frame).unwrap_err();
    assert!(error.reason.contains("4 coordinates"), "{error}");
    recorder.finish(&certificate(2), "failed: singular matrix").unwrap();
    assert!(recorder.finish(&certificate(2), "finished").is_err(), "finishing twice");
    let run = RunFile::open(&path).unwrap();
    assert_eq!((run.n_frames(), run.is_finished(), run.status()), (3, true, "failed: singular matrix"));
    assert_eq!(run.table_column("q", 0).unwrap().len(), 3);
}

#[test]
fn existing_files_are_not_overwritten() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    std::fs::write(&path, "precious").unwrap();
    let error = Hdf5Recorder::create(&path, &info(), Hdf5Options::default()).err().unwrap();
    assert!(matches!(&error, RecordingError::AlreadyExists { path: p } if *p == path), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    record(&path, 5, Hdf5Options { overwrite: true, ..Hdf5Options::default() });
    assert_eq!(RunFile::open(&path).unwrap().n_frames(), 5);

    // The part of a killed run is as precious.
    let path = dir.path().join("other.h5");
    std::fs::write(part(&path), "rescued").unwrap();
    let error = Hdf5Recorder::create(&path, &info(), Hdf5Options::default()).err().unwrap();
    assert!(matches!(error, RecordingError::AlreadyExists { path: p } if p == part(&path)));
    record(&path, 5, Hdf5Options { overwrite: true, ..Hdf5Options::default() });
    assert!(!part(&path).exists());
}

#[test]
fn file_in_use_is_left_alone() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let options = Hdf5Options { overwrite: true, ..Hdf5Options::default() };
    let mut first = Hdf5Recorder::create(&path, &info(), options).unwrap();
    let error = Hdf5Recorder::create(&path, &info(), options).err().unwrap();
    assert!(matches!(error, RecordingError::Busy { .. }), "{error}");
    feed(&mut first, 4);
    first.finish(&certificate(4), "finished").unwrap();
    assert_eq!(RunFile::open(&path).unwrap().n_frames(), 4);
}

#[test]
fn missing_directory_is_an_error_with_advice() {
    let error = Hdf5Recorder::create("/no/such/directory/run.h5", &info(), Hdf5Options::default()).err().unwrap();
    assert!(matches!(error, RecordingError::Unwritable { .. }));
    assert!(error.to_string().contains("directory exists"), "{error}");
}

#[test]
fn same_run_gives_the_same_bytes_however_it_was_flushed() {
    let dir = tempdir().unwrap();
    let bytes = |name: &str, options| {
        let path = dir.path().join(name);
        record(&path, 600, options);
        std::fs::read(path).unwrap()
    };
    let default = Hdf5Options::default();
    let reference = bytes("a.h5", default);
    assert_eq!(bytes("b.h5", default), reference);
    assert!(bytes("c.h5", Hdf5Options { frames_per_flush: 7, ..default }) == reference, "flushing changes bytes");
    let compressed = bytes("d.h5", Hdf5Options { compression: 4, ..default });
    assert!(compressed.len() < reference.len() / 2, "{} of {}", compressed.len(), reference.len());
    let run = RunFile::open(dir.path().join("d.h5")).unwrap();
    assert_eq!(run.table_column("q", 2).unwrap()[599], q(599)[2]);
}

#[test]
fn model_without_coordinates_or_gaps() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let mut recorder = Hdf5Recorder::create(&path, &Default::default(), Hdf5Options::default()).unwrap();
    let frame = Frame {
        step: 0,
        t: 0.5,
        q: &[],
        v: &[],
        x: &[],
        outputs: &[],
        multipliers: &[],
        multiplier_modes: &[],
        signals: &[],
        energy: energy(1),
        contacts: &[],
        gaps: &[],
        modes: &[],
        forces: &[],
        report: None,
    };
    recorder.frame(&frame).unwrap();
    recorder.finish(&certificate(0), "finished").unwrap();
    let run = RunFile::open(&path).unwrap();
    assert_eq!((run.time(), run.column("energy/work").unwrap()), (&[0.5][..], vec![1.0]));
    assert!(run.events().unwrap().t.is_empty());
}

#[test]
fn other_files_are_refused() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("text.h5");
    std::fs::write(&path, "not HDF5 at all").unwrap();
    assert!(matches!(RunFile::open(&path), Err(RecordingError::Unreadable { .. })));
}

#[test]
fn several_recorders_all_finish() {
    struct Failing;
    impl Recorder for Failing {
        fn frame(&mut self, _: &Frame<'_>) -> Result<(), RecordError> {
            Ok(())
        }
        fn event(&mut self, _: &carom_dynamics::report::Event) -> Result<(), RecordError> {
            Ok(())
        }
        fn finish(&mut self, _: &carom_dynamics::diagnostics::Certificate, _: &str) -> Result<(), RecordError> {
            Err(RecordError { reason: "full".into() })
        }
    }
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    let mut all = MultiRecorder::new();
    all.push(Failing);
    all.push(Hdf5Recorder::create(&path, &info(), Hdf5Options::default()).unwrap());
    assert_eq!(all.len(), 2);
    feed(&mut all, 12);
    assert_eq!(all.finish(&certificate(12), "finished").unwrap_err().reason, "full");
    assert_eq!(RunFile::open(&path).unwrap().n_frames(), 12);
}
