//! Contacts and multipliers over time: one lane each, coloured by mode, with marks at events.

use super::axis::Axis;
use super::chart::{Canvas, EDGE, Field, LABEL_SIZE, LEGEND_ROW, TICK_SIZE, TITLE_SIZE};
use super::lanes::{Lane, LaneMode, Timeline};
use super::scene::{Anchor, Colour, Scene, Shape, Stroke};
use carom_dynamics::MultiplierMode;
use carom_dynamics::report::ContactMode;

/// Height of a lane and of the bands in it.
const LANE: f32 = 26.0;
const BAND: f32 = 14.0;
const THIN_BAND: f32 = 6.0;
/// Most lanes of a picture.
const MAX_LANES: usize = 60;
/// Widest name of a contact.
const MAX_NAME: f32 = 220.0;
const SAMPLE: f32 = 22.0;

const LINE: Colour = [150, 150, 150];
const IMPACT: Colour = [40, 40, 40];
const OTHER: Colour = [213, 94, 0];
const PHASE: Colour = [120, 120, 120];
/// Behind every other lane.
const SHADE: Colour = [246, 246, 246];

/// Colour of a mode: Okabe and Ito's palette, distinguishable with any colour vision.
fn colour(mode: LaneMode) -> Colour {
    match mode {
        LaneMode::Contact(ContactMode::Open) | LaneMode::Multiplier(MultiplierMode::Unknown | MultiplierMode::Free) => LINE,
        LaneMode::Contact(ContactMode::Touching) | LaneMode::Multiplier(MultiplierMode::AtLower) => [86, 180, 233],
        LaneMode::Contact(ContactMode::Closed) | LaneMode::Multiplier(MultiplierMode::Held | MultiplierMode::Equation) => [0, 114, 178],
        LaneMode::Contact(ContactMode::Sticking) | LaneMode::Effort { held: true } | LaneMode::Multiplier(MultiplierMode::Inside) => {
            [0, 158, 115]
        }
        LaneMode::Contact(ContactMode::Sliding) | LaneMode::Effort { held: false } | LaneMode::Multiplier(MultiplierMode::Sliding) => {
            [230, 159, 0]
        }
        LaneMode::Multiplier(MultiplierMode::AtUpper | MultiplierMode::OnBoundary) => [204, 121, 167],
    }
}

/// Half the height of its band; `None` for a thin line.
fn half_height(mode: LaneMode) -> Option<f32> {
    match mode {
        LaneMode::Contact(ContactMode::Open) | LaneMode::Multiplier(MultiplierMode::Unknown | MultiplierMode::Free) => None,
        LaneMode::Contact(ContactMode::Touching) => Some(THIN_BAND / 2.0),
        _ => Some(BAND / 2.0),
    }
}

/// How an event is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// A line across the lane.
    Impact,
    Accumulation,
    Grazing,
    Edge,
    Reversal,
    /// Watched functions and named times.
    User,
    /// What needs attention: an impact without collision, energy created, no convergence.
    Warning,
}

impl Mark {
    const ALL: [Mark; 7] = [Mark::Impact, Mark::Accumulation, Mark::Grazing, Mark::Edge, Mark::Reversal, Mark::User, Mark::Warning];

    /// That of a kind of event; changes of mode are seen without one.
    fn of(kind: &str) -> Option<Mark> {
        Some(match kind {
            "impact" => Mark::Impact,
            "accumulation" => Mark::Accumulation,
            "grazing" => Mark::Grazing,
            "edge-crossed" => Mark::Edge,
            "slip-reversed" => Mark::Reversal,
            "user-event" | "time-event" => Mark::User,
            "impact-without-collision" | "energy-created" | "solve-not-converged" => Mark::Warning,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Mark::Impact => "impact",
            Mark::Accumulation => "accumulation",
            Mark::Grazing => "grazing",
            Mark::Edge => "edge crossed",
            Mark::Reversal => "slip reversed",
            Mark::User => "event of the model",
            Mark::Warning => "paradox or failure",
        }
    }

    /// Corners of its sign around the origin; `None` for the line of an impact.
    fn sign(self) -> Option<Vec<[f32; 2]>> {
        let turned = |n: usize, first: f32, r: f32| -> Vec<[f32; 2]> {
            let angle = |k: usize| first + std::f32::consts::TAU * k as f32 / n as f32;
            (0..n).map(|k| [r * angle(k).cos(), r * angle(k).sin()]).collect()
        };
        let quarter = std::f32::consts::FRAC_PI_2;
        Some(match self {
            Mark::Impact => return None,
            Mark::Accumulation => turned(4, 0.0, 5.0),
            Mark::Grazing => turned(16, 0.0, 4.0),
            Mark::Edge => turned(4, 0.5 * quarter, 5.0),
            Mark::Reversal => turned(3, -quarter, 5.2),
            Mark::User => turned(3, quarter, 5.2),
            Mark::Warning => vec![[-1.5, -5.0], [1.5, -5.0], [1.5, 5.0], [-1.5, 5.0]],
        })
    }

    fn colour(self) -> Colour {
        match self {
            Mark::Impact => IMPACT,
            Mark::Grazing | Mark::Edge | Mark::Reversal => [204, 121, 167],
            Mark::User => IMPACT,
            Mark::Accumulation | Mark::Warning => OTHER,
        }
    }
}

/// Lays out the whole picture.
pub(super) fn compose(timeline: &Timeline, title: &str, width: u32) -> Scene {
    let mut canvas = Canvas::new();
    let names = timeline.lanes.iter().take(MAX_LANES).map(|lane| canvas.font.width(&lane.name, TICK_SIZE).min(MAX_NAME));
    let left = (EDGE + names.fold(60.0, f32::max) + 10.0).round();
    let right = width as f32 - EDGE - 12.0;
    let mut y = EDGE;
    if !title.is_empty() {
        canvas.title(title, width as f32);
        y += TITLE_SIZE + 12.0;
    }
    y = legend(&mut canvas, timeline, [left, right], y) + 6.0;

    let shown = timeline.lanes.len().min(MAX_LANES);
    let n_rows = shown + usize::from(timeline.time_stepping.is_some()) + usize::from(!timeline.marks.is_empty());
    let field = Field { left, right, top: y.round(), bottom: y.round() + LANE * n_rows as f32 };
    let axis = Axis::over(timeline.range.into_iter(), 0.0, f64::from((right - left) / 100.0));
    for row in (1..n_rows).step_by(2) {
        let top = field.top + LANE * row as f32;
        canvas.area([left, top], [right, top + LANE], SHADE);
    }
    canvas.grid_of(&axis, field);
    let mut row = 0..n_rows;
    let mut next = || field.top + LANE * (row.next().unwrap_or(0) as f32 + 0.5);
    for lane in &timeline.lanes[..shown] {
        let middle = next();
        draw_lane(&mut canvas, lane, &axis, field, middle);
    }
    if let Some(phases) = &timeline.time_stepping {
        let middle = next();
        canvas.name("strategy", left, middle);
        canvas.line([left, middle], [right, middle], Stroke::solid(LINE, 1.0));
        for (start, end) in phases {
            let [a, b] = [start, end].map(|t| field.x(axis.place(*t)));
            canvas.area([a, middle - THIN_BAND / 2.0], [b.max(a + 2.0), middle + THIN_BAND / 2.0], PHASE);
        }
    }
    if !timeline.marks.is_empty() {
        let middle = next();
        canvas.name("events", left, middle);
        marks(&mut canvas, &timeline.marks, &axis, field, middle);
    }
    canvas.frame(field);
    canvas.x_labels(&axis, field, "t [s]");
    let mut bottom = field.bottom + 8.0 + TICK_SIZE + 8.0 + LABEL_SIZE + EDGE;
    let left_out = timeline.lanes.len() - shown;
    if left_out > 0 {
        canvas.text([left, bottom], format!("… and {left_out} more: choose some by name"), TICK_SIZE, Anchor::Start);
        bottom += TICK_SIZE + EDGE;
    }
    // a picture of few lanes is not too low to be written
    Scene { width, height: (bottom.ceil() as u32).max(super::SIZE_RANGE.0), shapes: canvas.shapes }
}

fn draw_lane(canvas: &mut Canvas, lane: &Lane, axis: &Axis, field: Field, middle: f32) {
    canvas.name(&lane.name, field.left, middle);
    for (a, b, mode) in columns(lane, axis, field) {
        match half_height(mode) {
            None => canvas.line([a, middle], [b, middle], Stroke::solid(LINE, 1.0)),
            Some(half) => canvas.area([a, middle - half], [b, middle + half], colour(mode)),
        }
    }
    marks(canvas, &lane.marks, axis, field, middle);
}

/// The spans in pixels. Those that are too short to be seen give way to the mode that holds longest in their half pixel.
fn columns(lane: &Lane, axis: &Axis, field: Field) -> Vec<(f32, f32, LaneMode)> {
    let all: Vec<LaneMode> = LaneMode::all().collect();
    let mut held = vec![0.0; all.len()];
    let n = 2 * (field.right - field.left) as usize;
    let at = |column: usize| axis.min + (axis.max - axis.min) * column as f64 / n as f64;
    let (mut out, mut first): (Vec<(usize, usize, LaneMode)>, usize) = (Vec::new(), 0);
    for column in 0..n {
        let (start, end) = (at(column), at(column + 1));
        while lane.spans.get(first).is_some_and(|span| span.1 <= start) {
            first += 1;
        }
        let inside = lane.spans[first..].iter().take_while(|span| span.0 < end);
        held.fill(0.0);
        for &(a, b, mode) in inside {
            held[all.iter().position(|other| *other == mode).unwrap_or(0)] += b.min(end) - a.max(start);
        }
        let Some((place, _)) = held.iter().enumerate().filter(|(_, held)| **held > 0.0).max_by(|a, b| a.1.total_cmp(b.1)) else { continue };
        let mode = all[place];
        match out.last_mut() {
            Some(last) if last.1 == column && last.2 == mode => last.1 = column + 1,
            _ => out.push((column, column + 1, mode)),
        }
    }
    out.into_iter().map(|(a, b, mode)| (field.left + 0.5 * a as f32, field.left + 0.5 * b as f32, mode)).collect()
}

/// Marks of events, one of a sort per pixel; lines of impacts first, so that signs lie on them.
fn marks(canvas: &mut Canvas, events: &[(f64, String)], axis: &Axis, field: Field, middle: f32) {
    let mut places: Vec<(Mark, i32)> =
        events.iter().filter_map(|(t, kind)| Some((Mark::of(kind)?, field.x(axis.place(*t)).round() as i32))).collect();
    places.sort_unstable();
    places.dedup();
    for (mark, x) in places {
        draw_mark(canvas, mark, [x as f32, middle]);
    }
}

fn draw_mark(canvas: &mut Canvas, mark: Mark, [x, y]: [f32; 2]) {
    match mark.sign() {
        None => canvas.line([x, y - LANE / 2.0 + 2.0], [x, y + LANE / 2.0 - 3.0], Stroke::solid(mark.colour(), 1.0)),
        Some(sign) => {
            let points = sign.into_iter().map(|[dx, dy]| [x + dx, y + dy]).collect();
            canvas.shapes.push(Shape::Polygon { points, colour: mark.colour() });
        }
    }
}

/// What colours and marks mean, of those that occur; returns where it ends.
fn legend(canvas: &mut Canvas, timeline: &Timeline, [left, right]: [f32; 2], top: f32) -> f32 {
    enum Entry {
        Mode(LaneMode),
        Mark(Mark),
        Phase,
    }
    let modes = LaneMode::all().filter(|mode| timeline.lanes.iter().any(|lane| lane.spans.iter().any(|span| span.2 == *mode)));
    let events = || timeline.lanes.iter().flat_map(|lane| &lane.marks).chain(&timeline.marks);
    let marks = Mark::ALL.into_iter().filter(|mark| events().any(|(_, kind)| Mark::of(kind) == Some(*mark)));
    let phase = timeline.time_stepping.iter().map(|_| Entry::Phase);
    let entries: Vec<Entry> = modes.map(Entry::Mode).chain(marks.map(Entry::Mark)).chain(phase).collect();
    let (mut x, mut y) = (left, top + LEGEND_ROW / 2.0);
    for entry in entries {
        let name = match entry {
            Entry::Mode(mode) => mode.name(),
            Entry::Mark(mark) => mark.name(),
            Entry::Phase => "time-stepping",
        };
        let width = SAMPLE + 6.0 + canvas.font.width(name, TICK_SIZE);
        if x > left && x + width > right {
            (x, y) = (left, y + LEGEND_ROW);
        }
        match entry {
            Entry::Mode(mode) => match half_height(mode) {
                None => canvas.line([x, y], [x + SAMPLE, y], Stroke::solid(LINE, 1.0)),
                Some(half) => canvas.area([x, y - half.min(5.0)], [x + SAMPLE, y + half.min(5.0)], colour(mode)),
            },
            Entry::Phase => canvas.area([x, y - THIN_BAND / 2.0], [x + SAMPLE, y + THIN_BAND / 2.0], PHASE),
            Entry::Mark(Mark::Impact) => {
                let at = x + SAMPLE / 2.0;
                canvas.line([at, y - 7.0], [at, y + 6.0], Stroke::solid(IMPACT, 1.0));
            }
            Entry::Mark(mark) => draw_mark(canvas, mark, [x + SAMPLE / 2.0, y]),
        }
        canvas.text([x + SAMPLE + 6.0, y + 0.36 * TICK_SIZE], name.to_owned(), TICK_SIZE, Anchor::Start);
        x += width + 18.0;
    }
    y + LEGEND_ROW / 2.0
}

impl Canvas {
    /// A filled rectangle.
    fn area(&mut self, [left, top]: [f32; 2], [right, bottom]: [f32; 2], colour: Colour) {
        self.shapes.push(Shape::Area { from: [left, top], to: [right, bottom], colour });
    }

    /// The name of a lane.
    fn name(&mut self, name: &str, left: f32, middle: f32) {
        let name = self.font.fitted(name, TICK_SIZE, MAX_NAME);
        self.text([left - 8.0, middle + 0.36 * TICK_SIZE], name, TICK_SIZE, Anchor::End);
    }
}
