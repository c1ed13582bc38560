//! Plots, and the thinning of long curves.

mod timeline;

use crate::fixture::record;
use carom_io::plot::{PlotOptions, Scale, Series, decimate, draw, plot_run};
use carom_io::recording::{Hdf5Options, RecordingError, RunFile};
use std::path::Path;
use tempfile::tempdir;

fn wave(label: &str, unit: &str, n: usize, f: impl Fn(f64) -> f64) -> Series {
    let x: Vec<f64> = (0..n).map(|k| k as f64 / n as f64).collect();
    Series { label: label.into(), unit: unit.into(), y: x.iter().map(|x| f(*x)).collect(), x, ..Series::default() }
}

fn svg(series: &[Series], options: &PlotOptions) -> String {
    let dir = tempdir().unwrap();
    let path = dir.path().join("plot.svg");
    draw(series, options, &path).unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// Curves have their own line width.
fn curves(svg: &str) -> Vec<&str> {
    svg.lines().filter(|line| line.contains("stroke-width=\"1.6\"")).collect()
}

#[test]
fn svg_names_axes_units_and_curves() {
    let series = [
        wave("q.x", "m", 50, |x| x),
        wave("q.y", "m", 50, |x| -x),
        wave("energy.kinetic", "J", 50, |x| 1e-9 * x),
        wave("residual", "", 50, |x| x),
    ];
    let text = svg(&series, &PlotOptions { title: "Ball & <table>".into(), ..PlotOptions::default() });
    for expected in ["q [m]", "energy.kinetic [J]", ">residual<", ">t [s]<", ">q.x<", ">q.y<", "Ball &amp; &lt;table&gt;", "×10⁻⁹", "−0.5"]
    {
        assert!(text.contains(expected), "{expected} is missing");
    }
    assert_eq!(curves(&text).len(), 4);
    // Three panels: the frame's upper edges at three heights, one time axis.
    assert_eq!(text.matches(">t [s]<").count(), 1);
    assert!(!text.contains(">energy.kinetic<"), "a single curve needs no legend");
}

#[test]
fn svg_of_a_long_run_is_small() {
    let series = [wave("q.x", "m", 1_000_000, |x| (4000.0 * x).sin())];
    let text = svg(&series, &PlotOptions::default());
    assert!(text.len() < 100_000, "{} bytes", text.len());
}

#[test]
fn gaps_in_the_data_interrupt_the_curve() {
    let series = [wave("q.x", "m", 100, |x| if (0.4..0.6).contains(&x) { f64::NAN } else { x })];
    let text = svg(&series, &PlotOptions::default());
    assert_eq!(curves(&text).len(), 2);
    assert!(!text.contains("NaN"));
}

#[test]
fn many_curves_have_a_bounded_legend() {
    let series: Vec<Series> = (0..200).map(|i| wave(&format!("q.body{i}.x"), "m", 10, |x| x + f64::from(i))).collect();
    let text = svg(&series, &PlotOptions::default());
    assert_eq!(curves(&text).len(), 200);
    assert!(text.contains(" more<"), "the legend tells that names are left out");
    assert!(text.matches(">q.body").count() < 60);
}

#[test]
fn decimation_keeps_extremes_and_ends() {
    let n = 100_000;
    let mut points: Vec<[f64; 2]> = (0..n).map(|k| [k as f64, (k as f64 * 0.37).sin()]).collect();
    points[31_234][1] = 50.0;
    points[77_777][1] = -60.0;
    let kept = decimate(&points, [0.0, n as f64], 500);
    assert!(kept.len() <= 4 * 500, "{}", kept.len());
    assert!(kept.contains(&points[31_234]) && kept.contains(&points[77_777]));
    assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
    assert!(kept.windows(2).all(|pair| pair[0][0] < pair[1][0]), "order and uniqueness");
    // The envelope of every column is the same.
    let extent = |points: &[[f64; 2]], column: usize| {
        let inside = points.iter().filter(|p| (p[0] / 200.0) as usize == column).map(|p| p[1]);
        inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)))
    };
    for column in 0..500 {
        assert_eq!(extent(&kept, column), extent(&points, column), "column {column}");
    }
    assert_eq!(decimate(&points[..100], [0.0, 100.0], 500).len(), 100, "short curves stay whole");
}

fn pixels(path: &Path) -> (u32, u32, Vec<[u8; 3]>) {
    let picture = tiny_skia::Pixmap::load_png(path).unwrap();
    let colours = picture.pixels().iter().map(|p| [p.red(), p.green(), p.blue()]).collect();
    (picture.width(), picture.height(), colours)
}

#[test]
fn png_has_its_size_and_shows_curve_and_text() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("plot.png");
    let options = PlotOptions { title: "Title".into(), width: 500, height: Some(300), ..PlotOptions::default() };
    draw(&[wave("q.x", "m", 500, |x| x)], &options, &path).unwrap();
    let (width, height, colours) = pixels(&path);
    assert_eq!((width, height), (500, 300));
    let count = |wanted: &dyn Fn(&[u8; 3]) -> bool| colours.iter().filter(|c| wanted(c)).count();
    let is_blue = |c: &[u8; 3]| c[2] > 150 && c[0] < 60;
    // The diagonal crosses some 400 columns with a line of 1.6 pixels.
    assert!((300..2000).contains(&count(&is_blue)), "{} blue pixels", count(&is_blue));
    assert!(count(&|c| *c == [255; 3]) > 100_000, "mostly white");
    let title = &colours[..500 * 30];
    assert!(title.iter().filter(|c| c[0] < 100).count() > 50, "the title is written");
    // The line rises from the lower left to the upper right.
    let row_of_blue = |column: usize| (0..300).find(|row| is_blue(&colours[row * 500 + column]));
    assert!(row_of_blue(150).unwrap() > row_of_blue(400).unwrap());
}

#[test]
fn pictures_are_reproducible() {
    let dir = tempdir().unwrap();
    for extension in ["svg", "png"] {
        let bytes = |name: &str| {
            let path = dir.path().join(format!("{name}.{extension}"));
            draw(&[wave("q.x", "m", 500, f64::sin)], &PlotOptions::default(), &path).unwrap();
            std::fs::read(path).unwrap()
        };
        assert!(bytes("a") == bytes("b"));
    }
}

#[test]
fn wrong_requests_are_refused() {
    let dir = tempdir().unwrap();
    let series = [wave("q.x", "m", 5, |x| x)];
    let options = PlotOptions::default();
    let path = |name: &str| dir.path().join(name);
    assert!(matches!(draw(&series, &options, path("plot.jpg")), Err(RecordingError::UnknownPictureFormat { .. })));
    assert!(matches!(draw(&[], &options, path("plot.svg")), Err(RecordingError::NothingToDraw { .. })));
    let huge = PlotOptions { width: 100_000, ..options.clone() };
    assert!(matches!(draw(&series, &huge, path("plot.png")), Err(RecordingError::PictureSize { .. })));
    let nowhere = dir.path().join("none").join("plot.svg");
    assert!(matches!(draw(&series, &options, nowhere), Err(RecordingError::Unwritable { .. })));
}

#[test]
fn run_is_plotted_by_quantity() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("run.h5");
    record(&path, 100, Hdf5Options::default());
    let run = RunFile::open(path).unwrap();
    let out = dir.path().join("plot.svg");
    plot_run(&run, &["q.y".into(), "energy".into(), "q.y".into()], &out).unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("Ball on a table") && text.contains("q.y [m]") && text.contains("energy [J]"));
    assert_eq!(curves(&text).len(), 6, "q.y once and five energies");
    assert!(matches!(plot_run(&run, &["speed".into()], &out), Err(RecordingError::UnknownQuantity { .. })));
}

#[test]
fn logarithmic_abscissae_share_one_panel_by_label() {
    let step = |label: &str, factor: f64| Series {
        label: label.into(),
        unit: String::new(),
        // zero and negative numbers have no place and interrupt the curve
        x: vec![1.0, 10.0, 0.0, -1.0, 100.0, 1000.0],
        y: [0.0, 0.1, 0.2, 0.3, 0.4, 0.5].iter().map(|y| factor * y).collect(),
        ..Series::default()
    };
    let options = PlotOptions { x_scale: Scale::Logarithmic, y_label: "share".into(), x_label: "τ".into(), ..PlotOptions::default() };
    let text = svg(&[step("nsgs", 1.0), step("auto", 2.0)], &options);
    for expected in [">share<", ">τ<", ">nsgs<", ">auto<", ">1<", ">10<", ">100<", ">1000<"] {
        assert!(text.contains(expected), "{expected} is missing");
    }
    assert_eq!(text.matches(">share<").count(), 1, "one panel");
    let curves = curves(&text);
    assert_eq!(curves.len(), 4, "each curve is interrupted once");
    assert!(!text.contains("NaN") && !text.contains("inf"));
    // a factor of ten is a third of the width, wherever it is
    let numbers: Vec<Vec<f64>> = curves.iter().map(|curve| coordinates(curve)).collect();
    let (first, second) = (numbers[0][2] - numbers[0][0], numbers[1][2] - numbers[1][0]);
    assert!((first - second).abs() < 0.2 && first > 200.0, "{first} {second}"); // tenths of pixels
}

/// The numbers of a polyline, x and y in turn.
fn coordinates(line: &str) -> Vec<f64> {
    let points = line.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    points.split([' ', ',']).map(|number| number.parse().unwrap()).collect()
}

#[test]
fn marks_and_logarithmic_ordinates() {
    let curve = |label: &str, quantity: &str, factor: f64| Series {
        label: label.into(),
        quantity: quantity.into(),
        x: vec![1e-8, 1e-6, 1e-4],
        // a value that is not positive has no place and no mark
        y: vec![factor, 0.0, 100.0 * factor],
        ..Series::default()
    };
    let series = [curve("hem5", "time", 1.0), curve("rkf45", "time", 2.0), curve("hem5", "steps", 5.0)];
    let options = PlotOptions { x_scale: Scale::Logarithmic, y_scale: Scale::Logarithmic, markers: true, ..PlotOptions::default() };
    let text = svg(&series, &options);
    for expected in [">time<", ">steps<", ">10⁻⁶<", ">10<", ">100<"] {
        assert!(text.contains(expected), "{expected} is missing");
    }
    // two marks per curve, one per entry of the legend of the panel with two curves
    assert_eq!(text.matches("<polygon").count(), 8);
    assert!(!text.contains("NaN") && !text.contains("inf"));
}
