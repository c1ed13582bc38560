//! Contacts over time.

use super::pixels;
use crate::fixture::record;
use carom_dynamics::report::ContactMode;
use carom_dynamics::report::ContactMode::{Closed, Open, Sliding, Sticking, Touching};
use carom_io::plot::{Lane, LaneMode, Timeline, draw_timeline};
use carom_io::recording::{Hdf5Options, RecordingError, RunFile};
use tempfile::tempdir;

const ORANGE: [u8; 3] = [230, 159, 0];
const GREEN: [u8; 3] = [0, 158, 115];

fn lane(name: &str, spans: &[(f64, f64, ContactMode)], marks: &[(f64, &str)]) -> Lane {
    let marks = marks.iter().map(|(t, kind)| (*t, (*kind).to_owned())).collect();
    Lane { name: name.into(), spans: spans.iter().map(|&(a, b, mode)| (a, b, LaneMode::Contact(mode))).collect(), marks }
}

/// A bouncing contact that comes to slide and stick, and one that never opens.
fn example() -> Timeline {
    // impacts at 1 − 2⁻ᵏ, accumulating at 1 s
    let times: Vec<f64> = (0..40).map(|k| 1.0 - 0.5_f64.powi(k)).collect();
    let mut spans: Vec<_> = times.windows(2).map(|t| (t[0], t[1], Open)).collect();
    spans.extend([(times[39], 1.5, Sliding), (1.5, 2.0, Sticking)]);
    let mut marks: Vec<(f64, &str)> = times.iter().map(|t| (*t, "impact")).collect();
    marks.extend([(1.0, "accumulation"), (1.5, "slip-to-stick")]);
    Timeline {
        range: [0.0, 2.0],
        lanes: vec![
            lane("corner", &spans, &marks),
            lane("a wall with a long name", &[(0.0, 0.7, Closed), (0.7, 0.8, Touching), (0.8, 2.0, Sliding)], &[(1.2, "slip-reversed")]),
            lane("stop", &[(0.0, 2.0, Open)], &[(0.6, "grazing"), (1.7, "impact-without-collision"), (1.3, "edge-crossed")]),
        ],
        time_stepping: Some(vec![(0.95, 1.1)]),
        marks: vec![(0.4, "user-event".into())],
    }
}

#[test]
fn lanes_are_named_coloured_and_marked() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("timeline.svg");
    draw_timeline(&example(), "Bodies & contacts", &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let words = [
        ">corner<",
        ">a wall with a long name<",
        ">strategy<",
        ">events<",
        ">open<",
        ">sticking<",
        ">sliding<",
        ">touching<",
        ">impact<",
        ">accumulation<",
        ">grazing<",
        ">time-stepping<",
        "Bodies &amp; contacts",
        ">t [s]<",
    ];
    for expected in words {
        assert!(text.contains(expected), "{expected} is missing");
    }
    // bands of sliding: one in each of two lanes, one in the legend
    assert_eq!(text.matches("fill=\"#e69f00\"").count(), 3);
    assert!(!text.contains("NaN"));
}

#[test]
fn bands_lie_where_their_modes_hold() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("timeline.png");
    let spans = [(0.0, 1.0, Sliding), (1.0, 2.0, Sticking)];
    draw_timeline(&Timeline { range: [0.0, 2.0], lanes: vec![lane("a", &spans, &[])], ..Timeline::default() }, "", &path).unwrap();
    let (width, height, colours) = pixels(&path);
    // the widest row of each colour is that of the lane, not of the legend
    let row = |colour: [u8; 3]| {
        (0..height)
            .map(|y| colours[(y * width) as usize..((y + 1) * width) as usize].iter().filter(|c| **c == colour).count())
            .max()
            .unwrap()
    };
    assert!(row(ORANGE).abs_diff(row(GREEN)) <= 1, "half of the time each, up to a pixel: {} {}", row(ORANGE), row(GREEN));
    assert!(row(ORANGE) > 400, "{}", row(ORANGE));
}

/// However many changes there are, the picture has as many parts as can be seen.
#[test]
fn a_chattering_contact_gives_a_small_picture() {
    let spans: Vec<_> = (0..200_000).map(|k| (f64::from(k), f64::from(k + 1), if k % 2 == 0 { Sliding } else { Sticking })).collect();
    let marks: Vec<(f64, &str)> = (0..200_000).map(|k| (f64::from(k), "impact")).collect();
    let dir = tempdir().unwrap();
    let path = dir.path().join("timeline.svg");
    draw_timeline(&Timeline { range: [0.0, 2e5], lanes: vec![lane("a", &spans, &marks)], ..Timeline::default() }, "", &path).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(bytes < 300_000, "{bytes} bytes");
}

#[test]
fn a_run_is_drawn_by_contact() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    record(&path, 100, Hdf5Options::default());
    let run = RunFile::open(path).unwrap();
    let timeline = Timeline::of_run(&run, &[]).unwrap();
    let names: Vec<&str> = timeline.lanes.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names, ["stop", "table–ball"]);
    // modes change with every frame; an event that changes a mode ends the span of its frame
    assert_eq!(timeline.lanes[0].spans[1], (1e-3, 2e-3, LaneMode::Contact(Touching)));
    assert_eq!(timeline.lanes[1].marks.len(), 10);
    let one = Timeline::of_run(&run, &["table-ball".into()]).unwrap();
    assert_eq!((one.lanes.len(), &one.lanes[0]), (1, &timeline.lanes[1]));
    let Err(RecordingError::NothingToDraw { reason, .. }) = Timeline::of_run(&run, &["stpo".into()]) else { panic!() };
    assert!(reason.contains("did you mean \"stop\"?"), "{reason}");
    let refused = draw_timeline(&timeline, "", dir.path().join("timeline.jpg"));
    assert!(matches!(refused, Err(RecordingError::UnknownPictureFormat { .. })));
    assert!(matches!(draw_timeline(&Timeline::default(), "", dir.path().join("t.svg")), Err(RecordingError::NothingToDraw { .. })));
}
