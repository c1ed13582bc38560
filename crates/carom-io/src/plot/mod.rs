//! Pictures of recorded quantities over time, of what contacts did, and of the bodies themselves, as SVG or PNG.
//!
//! series => panels by unit ([`draw`]) => shapes in pixels (`chart`) => SVG text (`svg`) or pixels (`raster`);
//! modes and events => lanes ([`draw_timeline`]) => shapes (`timeline`) => the same;
//! bodies at some times => solids as a camera sees them (`solids`) => panels ([`draw_bodies`]) => the same.
//!
//! Pictures look alike on every machine and need nothing installed: text is measured, and in PNG drawn, with a font that is
//! compiled in; SVG asks for any sans-serif font.

mod axis;
mod bodies;
mod camera;
mod chart;
mod decimate;
mod font;
mod lanes;
mod marker;
mod raster;
mod scene;
mod solids;
mod svg;
mod timeline;

pub use axis::Scale;
pub use bodies::{BodiesOptions, draw_bodies};
pub use camera::{View, ViewError};
pub use decimate::decimate;
pub use lanes::{Lane, LaneMode, Span, Timeline};

use crate::recording::{RecordingError, RunFile};
use std::path::Path;

/// Smallest and largest picture in pixels.
const SIZE_RANGE: (u32, u32) = (160, 16384);

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend or at the axis, for example `q.y`.
    pub label: String,
    /// Unit of `y`; series of one unit share a panel. Pure numbers (empty unit) share one if their labels agree up to the dot.
    pub unit: String,
    /// What is drawn: series of one quantity share a panel with this name at its axis. Empty (the default): panels by unit.
    pub quantity: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates; the curve is interrupted where one is not finite.
    pub y: Vec<f64>,
}

/// How a picture looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotOptions {
    /// Title; empty for none.
    pub title: String,
    /// Width in pixels, 160 to 16384; default 960.
    pub width: u32,
    /// Height in pixels; default: as the number of panels needs.
    pub height: Option<u32>,
    /// Label of the common abscissa; default `t \[s\]`.
    pub x_label: String,
    /// Scale of the common abscissa; default linear. On a logarithmic one, curves are interrupted where x is not positive.
    pub x_scale: Scale,
    /// Label of the ordinate of a picture with a single panel for all series; default empty: panels by unit.
    pub y_label: String,
    /// Scale of the ordinates; default linear. On a logarithmic one, curves are interrupted where y is not positive.
    pub y_scale: Scale,
    /// Every point gets a mark, one shape per curve; for curves of few points. Default no.
    pub markers: bool,
}

impl Default for PlotOptions {
    fn default() -> Self {
        PlotOptions {
            title: String::new(),
            width: 960,
            height: None,
            x_label: "t [s]".into(),
            x_scale: Scale::Linear,
            y_label: String::new(),
            y_scale: Scale::Linear,
            markers: false,
        }
    }
}

/// Draws curves into `path`; its extension, `.svg` or `.png`, chooses the format.
///
/// Long curves are thinned to what can be seen: per pixel column the first, least, greatest and last value.
///
/// # Errors
/// [`RecordingError::UnknownPictureFormat`], [`RecordingError::NothingToDraw`] without series, [`RecordingError::PictureSize`],
/// [`RecordingError::Unwritable`].
pub fn draw(series: &[Series], options: &PlotOptions, path: impl AsRef<Path>) -> Result<(), RecordingError> {
    let path = path.as_ref();
    let encode = encoder(path)?;
    if series.is_empty() {
        let reason = "no quantity was chosen".into();
        return Err(RecordingError::NothingToDraw { reason, advice: "name at least one, for example energy" });
    }
    write(&chart::compose(series, options), encode, path)
}

/// Draws what contacts and multipliers did over time into `path`, one lane each: coloured by mode, with marks at impacts and other events.
///
/// # Errors
/// As [`draw`].
pub fn draw_timeline(timeline: &Timeline, title: &str, path: impl AsRef<Path>) -> Result<(), RecordingError> {
    let path = path.as_ref();
    let encode = encoder(path)?;
    if timeline.lanes.is_empty() {
        return Err(RecordingError::NothingToDraw { reason: "there are no contacts".into(), advice: "draw quantities instead" });
    }
    write(&timeline::compose(timeline, title, PlotOptions::default().width), encode, path)
}

/// From shapes to the bytes of a file.
type Encoder = fn(&scene::Scene) -> Result<Vec<u8>, String>;

/// By the extension of a path.
fn encoder(path: &Path) -> Result<Encoder, RecordingError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(|scene| Ok(svg::encode(scene).into_bytes())),
        Some("png") => Ok(raster::encode),
        _ => Err(RecordingError::UnknownPictureFormat { path: path.to_path_buf() }),
    }
}

fn write(scene: &scene::Scene, encode: Encoder, path: &Path) -> Result<(), RecordingError> {
    let (min, max) = SIZE_RANGE;
    let [width, height] = [scene.width, scene.height];
    if !(min..=max).contains(&width) || !(min..=max).contains(&height) {
        return Err(RecordingError::PictureSize { width, height, min, max });
    }
    let bytes = encode(scene).map_err(|reason| RecordingError::unwritable(path, reason))?;
    std::fs::write(path, bytes).map_err(|error| RecordingError::unwritable(path, error))
}

/// Draws recorded quantities (see [`RunFile::quantity`]) over time, with the run's title.
///
/// # Errors
/// [`RecordingError::UnknownQuantity`], and as [`draw`].
pub fn plot_run(run: &RunFile, quantities: &[String], path: &Path) -> Result<(), RecordingError> {
    let mut series: Vec<Series> = Vec::new();
    for name in quantities {
        for quantity in run.quantity(name)? {
            if series.iter().all(|s| s.label != quantity.name) {
                let (label, unit) = (quantity.name, quantity.unit);
                series.push(Series { label, unit, x: run.time().to_vec(), y: quantity.values, ..Series::default() });
            }
        }
    }
    if run.n_frames() == 0 {
        let reason = format!("{} holds no recorded instant", run.path().display());
        return Err(RecordingError::NothingToDraw { reason, advice: "let the run go further" });
    }
    draw(&series, &PlotOptions { title: run.title().into(), ..PlotOptions::default() }, path)
}
