//! From series to shapes: panels by unit above one time axis.

use super::axis::{Axis, Scale};
use super::decimate::{decimate, straighten};
use super::font::Font;
use super::marker::marker;
use super::scene::{Anchor, Colour, Scene, Shape, Stroke, Text};
use super::{PlotOptions, Series};

const INK: Colour = [40, 40, 40];
const FRAME: Colour = [110, 110, 110];
const GRID: Colour = [228, 228, 228];
const ZERO: Colour = [185, 185, 185];
/// Okabe and Ito's palette, distinguishable with any colour vision; its yellow is too pale for lines.
const PALETTE: [Colour; 7] = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [60, 60, 60]];
/// When the colours are used up they come again, dashed.
const DASHES: [[f32; 2]; 3] = [[0.0, 0.0], [7.0, 3.0], [2.0, 2.5]];

pub(super) const TICK_SIZE: f32 = 12.0;
pub(super) const LABEL_SIZE: f32 = 13.0;
pub(super) const TITLE_SIZE: f32 = 16.0;
pub(super) const LEGEND_ROW: f32 = 18.0;
const LEGEND_SAMPLE: f32 = 22.0;
const MAX_LEGEND_ROWS: usize = 4;
pub(super) const EDGE: f32 = 14.0;
/// Least and usual height of a panel's field.
const PANEL_HEIGHT: (f32, f32) = (40.0, 190.0);

/// Series of one unit.
struct Panel<'a> {
    series: Vec<&'a Series>,
    axis: Axis,
    legend: Vec<LegendEntry>,
    n_legend_rows: usize,
}

struct LegendEntry {
    x: f32,
    row: usize,
    text: String,
    /// `None` for the remark that some are left out.
    curve: Option<usize>,
}

/// Rectangle of a panel's curves.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) left: f32,
    pub(super) right: f32,
    pub(super) top: f32,
    pub(super) bottom: f32,
}

impl Field {
    pub(super) fn x(&self, place: f32) -> f32 {
        self.left + place * (self.right - self.left)
    }

    fn y(&self, place: f32) -> f32 {
        self.bottom - place * (self.bottom - self.top)
    }
}

/// Lays out the whole picture.
pub(super) fn compose(series: &[Series], options: &PlotOptions) -> Scene {
    let mut canvas = Canvas { markers: options.markers, ..Canvas::new() };
    let width = options.width as f32;
    let top = if options.title.is_empty() { EDGE } else { EDGE + TITLE_SIZE + 12.0 };
    let foot = 8.0 + TICK_SIZE + 8.0 + LABEL_SIZE + EDGE;
    let groups = if options.y_label.is_empty() { by_unit(series) } else { vec![series.iter().collect()] };

    // Legends need the left margin, the margin the tick labels, those the height: so height first, with legends estimated.
    let n_panels = groups.len() as f32;
    let fields_height = |legend_rows: usize| {
        let fixed = top + foot + LEGEND_ROW * legend_rows as f32 + 8.0 * n_panels;
        options.height.map_or(PANEL_HEIGHT.1, |height| ((height as f32 - fixed) / n_panels).max(PANEL_HEIGHT.0))
    };
    let estimate = fields_height(groups.len());
    let mut panels: Vec<Panel> = groups
        .into_iter()
        .map(|series| {
            let values = series.iter().flat_map(|s| s.y.iter().copied());
            let n_ticks = f64::from(estimate / 40.0);
            let axis = match options.y_scale {
                Scale::Linear => Axis::over(values, 0.05, n_ticks),
                Scale::Logarithmic => Axis::logarithmic(widened(values, 0.04), n_ticks),
            };
            Panel { series, axis, legend: Vec::new(), n_legend_rows: 0 }
        })
        .collect();
    let tick_labels = panels.iter().flat_map(|panel| panel.axis.ticks.iter());
    let label_width = tick_labels.map(|(_, label)| canvas.font.width(label, TICK_SIZE)).fold(24.0, f32::max);
    let left = EDGE + LABEL_SIZE + 10.0 + label_width + 8.0;
    let right = width - EDGE - 12.0;
    for panel in &mut panels {
        lay_out_legend(panel, &canvas.font, left, right);
    }
    let panel_height = fields_height(panels.iter().map(|p| p.n_legend_rows).sum());
    let x_values = series.iter().flat_map(|s| s.x.iter().copied());
    let n_ticks = f64::from((right - left) / 100.0);
    let x_axis = match options.x_scale {
        Scale::Linear => Axis::over(x_values, if options.markers { 0.02 } else { 0.0 }, n_ticks),
        Scale::Logarithmic if options.markers => Axis::logarithmic(widened(x_values, 0.04), n_ticks),
        Scale::Logarithmic => Axis::logarithmic(x_values, n_ticks),
    };

    if !options.title.is_empty() {
        canvas.title(&options.title, width);
    }
    let mut y = top;
    let mut field = Field { left, right, top: y, bottom: y };
    for panel in &panels {
        y += LEGEND_ROW * panel.n_legend_rows as f32 + 4.0;
        field = Field { left, right, top: y.round(), bottom: (y + panel_height).round() };
        let label = if options.y_label.is_empty() { axis_label(panel) } else { (options.y_label.clone(), String::new()) };
        canvas.panel(panel, label, &x_axis, field);
        y += panel_height + 4.0;
    }
    canvas.x_labels(&x_axis, field, &options.x_label);
    let height = options.height.unwrap_or((y + foot).ceil() as u32);
    Scene { width: options.width, height, shapes: canvas.shapes }
}

/// The values, with the ends of their range moved out by a part of its logarithm, so that marks do not lie on the frame.
fn widened(values: impl Iterator<Item = f64> + Clone, part: f64) -> impl Iterator<Item = f64> {
    let positive = values.clone().filter(|v| *v > 0.0 && v.is_finite());
    let (min, max) = positive.fold((f64::INFINITY, 0.0_f64), |(min, max), v| (min.min(v), max.max(v)));
    let factor = (max / min).powf(part);
    values.chain([min / factor, max * factor])
}

/// Groups series by unit, pure numbers by the first part of their label, in order of appearance.
fn by_unit(series: &[Series]) -> Vec<Vec<&Series>> {
    let key = |s: &Series| {
        if !s.quantity.is_empty() {
            format!("\0\0{}", s.quantity)
        } else if s.unit.is_empty() {
            format!("\0{}", root(&s.label))
        } else {
            s.unit.clone()
        }
    };
    let mut groups: Vec<Vec<&Series>> = Vec::new();
    for one in series {
        match groups.iter_mut().find(|group| key(group[0]) == key(one)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// `energy` of `energy.kinetic`.
fn root(label: &str) -> &str {
    label.split_once('.').map_or(label, |(root, _)| root)
}

/// Puts the names of several curves in rows above the field, after the axis' note; a single curve is named at the axis.
fn lay_out_legend(panel: &mut Panel<'_>, font: &Font, left: f32, right: f32) {
    let note_width = if panel.axis.note.is_empty() { 0.0 } else { font.width(&panel.axis.note, TICK_SIZE) + 24.0 };
    panel.n_legend_rows = usize::from(note_width > 0.0 || panel.series.len() > 1);
    if panel.series.len() < 2 {
        return;
    }
    let start = left + note_width;
    let (mut x, mut row) = (start, 0);
    for (i, series) in panel.series.iter().enumerate() {
        let text = font.fitted(&series.label, TICK_SIZE, right - start - LEGEND_SAMPLE - 6.0);
        let width = LEGEND_SAMPLE + 6.0 + font.width(&text, TICK_SIZE);
        if x > start && x + width > right {
            (x, row) = (start, row + 1);
        }
        // The last row that is allowed keeps room for the remark.
        let n_left = panel.series.len() - i;
        let remark = format!("… and {n_left} more");
        let room = right - font.width(&remark, TICK_SIZE) - 18.0;
        if row + 1 == MAX_LEGEND_ROWS && x + width > room && n_left > 1 {
            panel.legend.push(LegendEntry { x, row, text: remark, curve: None });
            break;
        }
        panel.legend.push(LegendEntry { x, row, text, curve: Some(i) });
        x += width + 18.0;
    }
    panel.n_legend_rows = row + 1;
}

/// Name and unit at the vertical axis.
fn axis_label(panel: &Panel<'_>) -> (String, String) {
    let first = panel.series[0];
    let name = if !first.quantity.is_empty() {
        first.quantity.as_str()
    } else if panel.series.len() == 1 {
        first.label.as_str()
    } else if panel.series.iter().all(|s| root(&s.label) == root(&first.label)) {
        root(&first.label)
    } else {
        ""
    };
    let unit = if first.unit.is_empty() { String::new() } else { format!(" [{}]", first.unit) };
    (name.into(), unit)
}

fn curve_stroke(i: usize) -> Stroke {
    let dash = DASHES[i / PALETTE.len() % DASHES.len()];
    Stroke { colour: PALETTE[i % PALETTE.len()], width: 1.6, dash }
}

/// Collects shapes.
pub(super) struct Canvas {
    pub(super) font: Font,
    pub(super) shapes: Vec<Shape>,
    markers: bool,
}

impl Canvas {
    pub(super) fn new() -> Self {
        Canvas { font: Font::new(), shapes: Vec::new(), markers: false }
    }

    /// The title in the middle of a picture of this width.
    pub(super) fn title(&mut self, title: &str, width: f32) {
        let room = width - 2.0 * EDGE;
        let size = self.size_for(title, TITLE_SIZE, room);
        let title = self.font.fitted(title, size, room);
        self.text([width / 2.0, EDGE + TITLE_SIZE - 2.0], title, size, Anchor::Middle);
    }

    pub(super) fn text(&mut self, at: [f32; 2], text: String, size: f32, anchor: Anchor) {
        self.shapes.push(Shape::Text(Text { at, text, size, colour: INK, anchor, upwards: false }));
    }

    /// `usual` size, or down to three quarters of it if `text` needs that to fit into `room`.
    fn size_for(&self, text: &str, usual: f32, room: f32) -> f32 {
        let width = self.font.width(text, usual).max(1.0);
        (usual * room / width).clamp(0.75 * usual, usual)
    }

    pub(super) fn line(&mut self, from: [f32; 2], to: [f32; 2], stroke: Stroke) {
        // Lines along pixels are sharp when they run through pixel centres.
        let sharp = |p: [f32; 2]| [p[0].floor() + 0.5, p[1].floor() + 0.5];
        self.shapes.push(Shape::Polyline { points: vec![sharp(from), sharp(to)], stroke });
    }

    /// `name` and `unit` are written at the vertical axis.
    fn panel(&mut self, panel: &Panel<'_>, (name, unit): (String, String), x_axis: &Axis, field: Field) {
        self.grid(&panel.axis, x_axis, field);
        for (i, series) in panel.series.iter().enumerate() {
            self.curve(series, i, (x_axis, &panel.axis), field);
        }
        self.frame(field);
        for (value, label) in &panel.axis.ticks {
            let y = field.y(panel.axis.place(*value));
            self.text([field.left - 8.0, y + 0.36 * TICK_SIZE], label.clone(), TICK_SIZE, Anchor::End);
        }
        let legend_top = field.top - 4.0 - LEGEND_ROW * panel.n_legend_rows as f32;
        let baseline = |row: usize| legend_top + LEGEND_ROW * (row as f32 + 1.0) - 4.0;
        if !panel.axis.note.is_empty() {
            self.text([field.left, baseline(0)], panel.axis.note.clone(), TICK_SIZE, Anchor::Start);
        }
        for entry in &panel.legend {
            let y = baseline(entry.row);
            let mut x = entry.x;
            if let Some(curve) = entry.curve {
                let stroke = Stroke { width: 2.4, ..curve_stroke(curve) };
                let sample = y - 0.36 * TICK_SIZE;
                let points = vec![[x, sample], [x + LEGEND_SAMPLE, sample]];
                self.shapes.push(Shape::Polyline { points, stroke });
                if self.markers {
                    self.shapes.push(marker(curve, [x + 0.5 * LEGEND_SAMPLE, sample], stroke.colour));
                }
                x += LEGEND_SAMPLE + 6.0;
            }
            self.text([x, y], entry.text.clone(), TICK_SIZE, Anchor::Start);
        }
        let room = field.bottom - field.top + 8.0;
        let size = self.size_for(&format!("{name}{unit}"), LABEL_SIZE, room);
        let room = room - self.font.width(&unit, size);
        let text = format!("{}{unit}", self.font.fitted(&name, size, room)).trim_start().to_string();
        let at = [EDGE + LABEL_SIZE - 2.0, (field.top + field.bottom) / 2.0];
        self.shapes.push(Shape::Text(Text { at, text, size, colour: INK, anchor: Anchor::Middle, upwards: true }));
    }

    fn grid(&mut self, y_axis: &Axis, x_axis: &Axis, field: Field) {
        self.grid_of(x_axis, field);
        for (value, _) in &y_axis.ticks {
            let y = field.y(y_axis.place(*value));
            let colour = if *value == 0.0 { ZERO } else { GRID };
            self.line([field.left, y], [field.right, y], Stroke::solid(colour, 1.0));
        }
    }

    /// The lines at the ticks of the abscissa.
    pub(super) fn grid_of(&mut self, x_axis: &Axis, field: Field) {
        for (value, _) in &x_axis.ticks {
            let x = field.x(x_axis.place(*value));
            self.line([x, field.top], [x, field.bottom], Stroke::solid(GRID, 1.0));
        }
    }

    pub(super) fn frame(&mut self, field: Field) {
        let Field { left, right, top, bottom } = field;
        for [from, to] in
            [[[left, top], [right, top]], [[left, bottom], [right, bottom]], [[left, top], [left, bottom]], [[right, top], [right, bottom]]]
        {
            self.line(from, to, Stroke::solid(FRAME, 1.0));
        }
    }

    fn curve(&mut self, series: &Series, number: usize, (x_axis, y_axis): (&Axis, &Axis), field: Field) {
        let stroke = curve_stroke(number);
        let place = |(x, y): (&f64, &f64)| [x_axis.coordinate(*x), y_axis.coordinate(*y)];
        let points: Vec<[f64; 2]> = series.x.iter().zip(&series.y).map(place).collect();
        let is_finite = |p: &[f64; 2]| p[0].is_finite() && p[1].is_finite();
        let n_columns = (field.right - field.left) as usize;
        for piece in points.chunk_by(|a, b| is_finite(a) == is_finite(b)).filter(|piece| is_finite(&piece[0])) {
            let thinned = decimate(piece, x_axis.range(), n_columns);
            let to_pixels = |p: &[f64; 2]| [field.x(x_axis.place_coordinate(p[0])), field.y(y_axis.place_coordinate(p[1]))];
            if self.markers {
                self.shapes.push(Shape::Polyline { points: piece.iter().map(to_pixels).collect(), stroke });
                self.shapes.extend(piece.iter().map(|p| marker(number, to_pixels(p), stroke.colour)));
                continue;
            }
            let mut points = straighten(&thinned.iter().map(to_pixels).collect::<Vec<_>>(), 0.05);
            if let [[x, y]] = points[..] {
                // A lone point is drawn as a dot.
                points = vec![[x - 1.5, y], [x + 1.5, y]];
            }
            self.shapes.push(Shape::Polyline { points, stroke });
        }
    }

    pub(super) fn x_labels(&mut self, axis: &Axis, field: Field, label: &str) {
        for (value, text) in &axis.ticks {
            let x = field.x(axis.place(*value));
            self.line([x, field.bottom], [x, field.bottom + 4.0], Stroke::solid(FRAME, 1.0));
            self.text([x, field.bottom + 8.0 + TICK_SIZE], text.clone(), TICK_SIZE, Anchor::Middle);
        }
        let label = if axis.note.is_empty() { label.into() } else { format!("{label}   ({})", axis.note) };
        let at = [(field.left + field.right) / 2.0, field.bottom + 8.0 + TICK_SIZE + 8.0 + LABEL_SIZE];
        self.text(at, label, LABEL_SIZE, Anchor::Middle);
    }
}
