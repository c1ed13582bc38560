//! Pictures of the bodies at some times, side by side.

use super::camera::{Camera, View};
use super::chart::{EDGE, LABEL_SIZE, TITLE_SIZE};
use super::scene::{Anchor, Colour, Scene, Shape, Stroke, Text};
use super::solids::{Ground, Look, Outline, Solid, planar, sort, spatial};
use super::{PlotOptions, encoder, write};
use crate::model_file::ModelFile;
use crate::recording::{RecordingError, RunFile};
use nalgebra::{Vector2, Vector3};
use std::path::Path;

const INK: Colour = [40, 40, 40];
/// Between panels, and above them for their times.
const GAP: f32 = 12.0;
const CAPTION: f32 = 22.0;
/// Highest panel in pixels, and most of them side by side.
const HIGHEST: f64 = 620.0;
const MOST_COLUMNS: usize = 4;
/// Spheres are marked in models of up to so many shapes.
const MOST_WITH_CAPS: usize = 60;
/// Room around the bodies, as a part of what they take.
const MARGIN: f64 = 0.06;

/// What is drawn of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodiesOptions {
    /// Times \[s\]; the nearest recorded instants are drawn. Default: the first, the middle and the last.
    pub times: Vec<f64>,
    /// Where from; planar bodies are always seen with x to the right and y up.
    pub view: View,
    /// Point of the world in the middle of each panel, and the panel's width and height \[m\]. Default: all that moves.
    pub window: Option<([f64; 3], [f64; 2])>,
}

/// Draws the bodies of a run at some times; `model` is that of the run.
///
/// Fixed bodies are light and behind all others, so that they hide nothing.
///
/// # Errors
/// [`RecordingError::NothingToDraw`] where there are no shapes that move or no recorded instant, and as [`draw`](super::draw).
pub fn draw_bodies(run: &RunFile, model: &ModelFile, options: &BodiesOptions, path: &Path) -> Result<(), RecordingError> {
    let encode = encoder(path)?;
    let nothing = |reason: &str, advice: &'static str| Err(RecordingError::NothingToDraw { reason: reason.into(), advice });
    if run.n_frames() == 0 {
        return nothing("the run holds no recorded instant", "let the run go further");
    }
    let camera = Camera::new(if model.shapes.spatial.is_empty() { View::Top } else { options.view });
    let frames = frames(run, &options.times);
    let mut window = options.window.map(|(middle, size)| Window { middle: camera.project(&middle.into()), size: size.into() });
    if window.is_none() {
        let seen: Result<Vec<Vec<Solid>>, RecordingError> =
            frames.iter().map(|&frame| solids(run, model, frame, (&camera, None))).collect();
        window = bounds(&seen?).map(|(low, high)| Window::around(low, high));
    }
    let Some(window) = window else {
        return nothing("no body of this model has a shape", "draw quantities instead, or give the bodies shapes");
    };
    let panels: Result<Vec<(f64, Vec<Solid>)>, RecordingError> =
        frames.iter().map(|&frame| Ok((run.time()[frame], solids(run, model, frame, (&camera, Some(&window)))?))).collect();
    write(&compose(&panels?, &window, run.title()), encode, path)
}

/// The recorded instants nearest to the times asked for.
fn frames(run: &RunFile, times: &[f64]) -> Vec<usize> {
    let n = run.n_frames();
    let mut frames: Vec<usize> = match times.is_empty() {
        true => vec![0, n / 2, n - 1],
        false => {
            let distance = |t: f64| move |a: &&usize, b: &&usize| (run.time()[**a] - t).abs().total_cmp(&(run.time()[**b] - t).abs());
            let all: Vec<usize> = (0..n).collect();
            times.iter().filter_map(|&t| all.iter().min_by(distance(t)).copied()).collect()
        }
    };
    frames.dedup();
    frames
}

/// Bounds of all that moves, and of fixed shapes that are no larger than that: a drum, but not the ground.
fn bounds(frames: &[Vec<Solid>]) -> Option<(Vector2<f64>, Vector2<f64>)> {
    let of = |moves: bool| frames.iter().flatten().filter(move |solid| solid.moves == moves).filter_map(Solid::bounds);
    let union = |a: (Vector2<f64>, Vector2<f64>), b: (Vector2<f64>, Vector2<f64>)| (a.0.inf(&b.0), a.1.sup(&b.1));
    let moving = of(true).reduce(union)?;
    let size = (moving.1 - moving.0).norm();
    Some(of(false).filter(|(low, high)| (high - low).norm() <= size).fold(moving, union))
}

/// What a panel shows \[m\].
struct Window {
    middle: Vector2<f64>,
    size: Vector2<f64>,
}

impl Window {
    fn around(low: Vector2<f64>, high: Vector2<f64>) -> Self {
        let size = high - low;
        // a single line of bodies still gets some height
        let margin = MARGIN * size.amax().max(1e-9);
        let size = size.add_scalar(2.0 * margin);
        Window { middle: (low + high) / 2.0, size: size.sup(&Vector2::repeat(0.15 * size.amax())) }
    }
}

/// All shapes at one recorded instant, in the order to draw them.
fn solids(run: &RunFile, model: &ModelFile, frame: usize, at: (&Camera, Option<&Window>)) -> Result<Vec<Solid>, RecordingError> {
    let (camera, window) = at;
    let (t, q) = (run.time()[frame], run.table_rows("q", frame, 1)?);
    let failed = |error: carom_dynamics::error::NonFinite| RecordingError::NothingToDraw {
        reason: error.to_string(),
        advice: "choose times at which the motion is finite",
    };
    let reach = window.map(|window| 4.0 * window.size.norm());
    let systems = model.model.systems();
    let mut solids = Vec::new();
    let bodies = systems.bodies().and_then(|bodies| q.get(bodies.q.clone())).unwrap_or_default();
    // planes are drawn about what moves: at the depth of its middle
    let points: Vec<Vector3<f64>> = bodies.chunks_exact(7).map(|q| Vector3::new(q[0], q[1], q[2])).collect();
    let depth = points.iter().map(|p| camera.depth(p)).sum::<f64>() / points.len().max(1) as f64;
    let ground = window
        .zip(reach)
        .map(|(window, half_width)| Ground { middle: camera.unproject(&window.middle) + camera.towards * depth, half_width });
    let look = Look { camera, ground, caps: model.shapes.spatial.len() <= MOST_WITH_CAPS };
    for collider in model.shapes.spatial.iter() {
        if let Some(pose) = collider.pose(t, bodies).map_err(failed)? {
            solids.push(spatial(&look, collider, pose));
        }
    }
    let bodies = systems.planar_bodies().and_then(|bodies| q.get(bodies.q.clone())).unwrap_or_default();
    for collider in model.shapes.planar.iter() {
        if let Some(pose) = collider.pose(t, bodies).map_err(failed)? {
            solids.push(planar(collider, pose, reach));
        }
    }
    sort(&mut solids);
    Ok(solids)
}

/// Panels side by side, each with its time; a bar for the scale.
fn compose(panels: &[(f64, Vec<Solid>)], window: &Window, title: &str) -> Scene {
    let width = PlotOptions::default().width as f32;
    let columns = panels.len().clamp(1, MOST_COLUMNS);
    let rows = panels.len().div_ceil(columns);
    let room = f64::from((width - 2.0 * EDGE - GAP * (columns - 1) as f32) / columns as f32);
    let scale = (room / window.size.x).min(HIGHEST / window.size.y);
    let panel = (window.size * scale).map(|x| x as f32);
    let top = EDGE + TITLE_SIZE + 8.0;
    let height = (top + rows as f32 * (panel.y + CAPTION) + LABEL_SIZE + 2.0 * EDGE).ceil();
    let text =
        |at: [f32; 2], text: String, size: f32, anchor: Anchor| Shape::Text(Text { at, text, size, colour: INK, anchor, upwards: false });
    let mut shapes = vec![text([width / 2.0, EDGE + TITLE_SIZE], title.to_owned(), TITLE_SIZE, Anchor::Middle)];
    for (k, (t, solids)) in panels.iter().enumerate() {
        let (row, column) = (k / columns, k % columns);
        let in_row = (panels.len() - row * columns).min(columns) as f32;
        let left = (width - in_row * panel.x - (in_row - 1.0) * GAP) / 2.0 + column as f32 * (panel.x + GAP);
        let upper = top + row as f32 * (panel.y + CAPTION) + CAPTION;
        let frame = Panel { left, upper, size: panel, scale, middle: window.middle };
        shapes.push(text([left + panel.x / 2.0, upper - 6.0], format!("t = {t:.3} s"), LABEL_SIZE, Anchor::Middle));
        solids.iter().for_each(|solid| frame.draw(solid, &mut shapes));
    }
    let (bar, label) = scale_bar(window.size.x);
    let (x, y, long) = (EDGE + 4.0, height - EDGE, (bar * scale) as f32);
    shapes
        .push(Shape::Polyline { points: vec![[x, y - 4.0], [x, y], [x + long, y], [x + long, y - 4.0]], stroke: Stroke::solid(INK, 1.2) });
    shapes.push(text([x + long + 6.0, y], label, LABEL_SIZE, Anchor::Start));
    Scene { width: width as u32, height: height as u32, shapes }
}

/// A round length of about a quarter of a width, and how it is written.
fn scale_bar(width: f64) -> (f64, String) {
    let decade = 10.0_f64.powf((0.25 * width).log10().floor());
    let bar = [5.0, 2.0, 1.0].into_iter().map(|k| k * decade).find(|bar| *bar <= 0.25 * width).unwrap_or(decade);
    let label = if bar >= 1.0 {
        format!("{bar} m")
    } else if bar >= 1e-3 {
        format!("{} mm", (bar * 1e3).round())
    } else {
        format!("{bar:e} m")
    };
    (bar, label)
}

/// Where a panel is in the picture.
struct Panel {
    left: f32,
    upper: f32,
    size: Vector2<f32>,
    scale: f64,
    middle: Vector2<f64>,
}

impl Panel {
    fn pixels(&self, p: &Vector2<f64>) -> Vector2<f32> {
        let d = (p - self.middle) * self.scale;
        Vector2::new(self.left + self.size.x / 2.0 + d.x as f32, self.upper + self.size.y / 2.0 - d.y as f32)
    }

    fn draw(&self, solid: &Solid, shapes: &mut Vec<Shape>) {
        for piece in &solid.pieces {
            let dark = piece.colour.map(|c| (f32::from(c) * 0.55) as u8);
            let edge = match (solid.moves, piece.lines) {
                (true, true) => Stroke::solid(dark, 0.7),
                (false, true) => Stroke::solid([190, 190, 186], 0.7),
                (_, false) => Stroke::solid(piece.colour, 0.5),
            };
            match &piece.outline {
                Outline::Face(points) => {
                    let points = self.clipped(points.iter().map(|p| self.pixels(p)).collect());
                    if points.len() >= 3 {
                        shapes.push(Shape::Face { points, colour: piece.colour, edge });
                    }
                }
                Outline::Disk(centre, radius) => {
                    let centre = self.pixels(centre);
                    if self.holds(&centre) {
                        let radius = (radius * self.scale) as f32;
                        shapes.push(Shape::Disk { centre: centre.into(), radius, colour: piece.colour, edge });
                    }
                }
                Outline::Line(points) => {
                    let points: Vec<Vector2<f32>> = points.iter().map(|p| self.pixels(p)).collect();
                    let stroke = Stroke::solid(if solid.moves { dark } else { [120, 120, 116] }, 1.0);
                    for pair in points.windows(2).filter(|pair| pair.iter().all(|p| self.holds(p))) {
                        shapes.push(Shape::Polyline { points: pair.iter().map(|p| (*p).into()).collect(), stroke });
                    }
                }
            }
        }
    }

    fn holds(&self, p: &Vector2<f32>) -> bool {
        (self.left..=self.left + self.size.x).contains(&p.x) && (self.upper..=self.upper + self.size.y).contains(&p.y)
    }

    /// What of a polygon lies in the panel [Sutherland and Hodgman, *Reentrant polygon clipping*, CACM 17, 1974].
    fn clipped(&self, mut polygon: Vec<Vector2<f32>>) -> Vec<[f32; 2]> {
        let (right, lower) = (self.left + self.size.x, self.upper + self.size.y);
        // inside is where s (p_axis − bound) ≥ 0
        for (axis, bound, s) in [(0, self.left, 1.0), (0, right, -1.0), (1, self.upper, 1.0), (1, lower, -1.0)] {
            let height = |p: &Vector2<f32>| s * (p[axis] - bound);
            let mut kept = Vec::with_capacity(polygon.len() + 2);
            for (k, p) in polygon.iter().enumerate() {
                let last = &polygon[(k + polygon.len() - 1) % polygon.len()];
                let (a, b) = (height(last), height(p));
                if (a < 0.0) != (b < 0.0) {
                    kept.push(last + (p - last) * (a / (a - b)));
                }
                if b >= 0.0 {
                    kept.push(*p);
                }
            }
            polygon = kept;
        }
        polygon.into_iter().map(Into::into).collect()
    }
}
