//! Loose packings without overlaps: columns of bodies, or random places.

use super::super::bodies::Body;
use super::super::error::suggestion;
use super::super::numbers::Reader;
use super::Making;
use super::template::{Template, bounds, reach};
use carom_solvers::random::SplitMix64;
use nalgebra::{UnitQuaternion, Vector2, Vector3};
use std::f64::consts::{PI, TAU};
use toml::Spanned;

/// Random places tried for one body before it counts as one that does not fit.
const TRIES: usize = 5000;

/// The room to fill; its base is centred at the origin.
#[derive(Clone, Copy)]
enum Room {
    Box([f64; 2]),
    Cylinder(f64),
}

/// `count` bodies in a box (`size`) or a cylinder (`radius`, `height`), by the method of columns or at random.
pub(super) fn packing(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let count = making.number_of(reader, s.count.as_ref(), "count", 1)?;
    let (room, height) = room(reader, making)?;
    let gap = making.at_least_zero(reader, s.gap.as_ref(), "gap")?;
    let bodies: Option<Vec<Body>> = (0..count).map(|_| template.draw(reader, &mut making.random)).collect();
    let bodies = bodies?;
    match s.method.as_ref().map_or("columns", |method| method.get_ref().as_str()) {
        "columns" => columns(reader, making, bodies, room, height, gap),
        "random" => match height {
            Some(height) => random(reader, making, bodies, room, height, gap),
            None => making.missing(reader, "height", "the method \"random\" needs it: give `height`, or `size = [x, y, z]`"),
        },
        other => {
            let span = s.method.as_ref().map(Spanned::span);
            reader.wrong(span, format!("there is no method \"{other}\""), suggestion(other, &["columns", "random"]));
            None
        }
    }
}

fn room(reader: &mut Reader<'_>, making: &Making<'_>) -> Option<(Room, Option<f64>)> {
    let s = making.keys();
    let height = s.height.as_ref().map(|value| making.positive(reader, Some(value), "height"));
    match (&s.size, &s.radius) {
        (Some(size), None) => {
            let three = matches!(size.get_ref(), super::super::value::Value::List(list) if list.len() == 3);
            let what = format!("the size of \"{}\"", making.name);
            let (base, above) = if three {
                let [x, y, z] = reader.vector::<3>(size, &what)?;
                ([x, y], Some(z))
            } else {
                (reader.vector::<2>(size, &what)?, None)
            };
            making.all_positive(reader, size, &[base[0], base[1], above.unwrap_or(1.0)])?;
            if let (Some(_), Some(value)) = (above, &s.height) {
                reader.wrong(value.span(), "the height is given twice", "`size` has a third number: leave `height` out");
                return None;
            }
            Some((Room::Box(base), above.or(height.unwrap_or(None))))
        }
        (None, Some(radius)) => {
            let radius = making.positive(reader, Some(radius), "radius")?;
            Some((Room::Cylinder(radius), height.unwrap_or(None)))
        }
        (Some(_), Some(radius)) => {
            reader.wrong(radius.span(), "a packing has either `size` or `radius`", "give one: a box or a cylinder");
            None
        }
        (None, None) => {
            making.missing(reader, "size", "give `size = [x, y]` or [x, y, z] of a box, or `radius` and `height` of a cylinder")
        }
    }
}

/// Bodies go to columns of a square lattice in turn, each on top of the last one of its column, anywhere within its column's width.
fn columns(reader: &mut Reader<'_>, making: &mut Making<'_>, bodies: Vec<Body>, room: Room, height: Option<f64>, gap: f64) -> Option<()> {
    let s = making.keys();
    let all: Vec<(Vector3<f64>, Vector3<f64>)> = bodies.iter().map(bounds).collect();
    let width = |(lower, upper): &(Vector3<f64>, Vector3<f64>)| (upper - lower).xy().max();
    let widest = all.iter().map(width).fold(0.0, f64::max);
    let pitch = match &s.pitch {
        Some(value) => making.positive(reader, Some(value), "pitch")?,
        None => widest + gap,
    };
    if widest > pitch {
        let help = format!("give a `pitch` of at least {widest:.6} m, or smaller bodies");
        reader.wrong(s.pitch.as_ref().map(Spanned::span), format!("a body is {widest:.6} m wide, but the pitch is {pitch} m"), help);
        return None;
    }
    let places = column_places(room, pitch);
    if places.is_empty() {
        let message = format!("no column of {pitch:.6} m fits into the room of \"{}\"", making.name);
        reader.wrong(making.span(), message, "enlarge the room, or make the bodies smaller");
        return None;
    }
    let mut tops = vec![0.0; places.len()];
    for (k, (body, (lower, upper))) in bodies.into_iter().zip(all).enumerate() {
        let column = k % places.len();
        let free = (Vector2::repeat(pitch) - (upper - lower).xy()) / 2.0;
        let shift = Vector2::new(free.x * making.random.symmetric(), free.y * making.random.symmetric());
        // the middle of the body's bounds goes to the middle of its column, then aside
        let xy = places[column] + shift - (upper + lower).xy() / 2.0;
        making.push(body, Vector3::new(xy.x, xy.y, tops[column] - lower.z), UnitQuaternion::identity());
        tops[column] += upper.z - lower.z + gap;
    }
    let top = tops.iter().fold(0.0, |a: f64, b| a.max(*b)) - gap;
    if let Some(height) = height.filter(|height| top > *height) {
        let message = format!("the columns of \"{}\" are {top:.6} m high, but the room only {height} m", making.name);
        reader.wrong(making.span(), message, "raise or widen the room, or make fewer or smaller bodies");
        return None;
    }
    Some(())
}

/// Middles of the columns that lie within the room, row by row.
fn column_places(room: Room, pitch: f64) -> Vec<Vector2<f64>> {
    let across = match room {
        Room::Box(size) => size,
        Room::Cylinder(radius) => [2.0 * radius; 2],
    };
    // a room of exactly n columns has n, whatever round-off says
    let n = across.map(|length| (length / pitch * (1.0 + 1e-12)).floor().min(1e7) as usize);
    let middle = |index: usize, n: usize| (index as f64 - 0.5 * (n as f64 - 1.0)) * pitch;
    let all = (0..n[1]).flat_map(|j| (0..n[0]).map(move |i| Vector2::new(middle(i, n[0]), middle(j, n[1]))));
    all.filter(|p| match room {
        Room::Box(_) => true,
        Room::Cylinder(radius) => p.abs().add_scalar(0.5 * pitch).norm() <= radius,
    })
    .collect()
}

/// Random sequential addition of the balls around the bodies, the largest first: uniform places, kept when they overlap no other.
fn random(reader: &mut Reader<'_>, making: &mut Making<'_>, bodies: Vec<Body>, room: Room, height: f64, gap: f64) -> Option<()> {
    let radii: Vec<f64> = bodies.iter().map(|body| reach(body) + 0.5 * gap).collect();
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    order.sort_by(|a, b| radii[*b].total_cmp(&radii[*a]));
    let largest = order.first().map_or(1.0, |k| radii[*k]);
    let mut cells = Cells::new(room, height, 2.0 * largest);
    let mut places = vec![Vector3::zeros(); bodies.len()];
    for (done, &k) in order.iter().enumerate() {
        let found = (0..TRIES).find_map(|_| {
            let p = draw_place(room, height, radii[k], &mut making.random)?;
            cells.is_free(&p, radii[k]).then_some(p)
        });
        let Some(p) = found else {
            let balls: f64 = order[..done].iter().map(|&k| 4.0 / 3.0 * PI * radii[k].powi(3)).sum();
            let volume = height
                * match room {
                    Room::Box([x, y]) => x * y,
                    Room::Cylinder(radius) => PI * radius * radius,
                };
            let message = format!(
                "only {done} of the {} bodies of \"{}\" find a place at random: the balls around them fill {:.0} % of the room",
                bodies.len(),
                making.name,
                100.0 * balls / volume
            );
            reader.wrong(making.span(), message, "random places fill about 30 %: enlarge the room, or use method = \"columns\"");
            return None;
        };
        cells.add(p, radii[k]);
        places[k] = p;
    }
    for (body, place) in bodies.into_iter().zip(places) {
        making.push(body, place, UnitQuaternion::identity());
    }
    Some(())
}

/// A place for the middle of a ball within the room; `None` if it is too large.
fn draw_place(room: Room, height: f64, radius: f64, random: &mut SplitMix64) -> Option<Vector3<f64>> {
    let (u, v, w) = (random.uniform(), random.uniform(), random.uniform());
    let z = radius + (height - 2.0 * radius) * w;
    let [x, y] = match room {
        Room::Box([lx, ly]) if lx >= 2.0 * radius && ly >= 2.0 * radius => {
            [(lx - 2.0 * radius) * (u - 0.5), (ly - 2.0 * radius) * (v - 0.5)]
        }
        Room::Cylinder(outer) if outer >= radius => {
            let r = (outer - radius) * u.sqrt();
            [r * (TAU * v).cos(), r * (TAU * v).sin()]
        }
        _ => return None,
    };
    (height >= 2.0 * radius).then_some(Vector3::new(x, y, z))
}

/// Balls by the cell that holds their middle, for questions about neighbours.
struct Cells {
    side: f64,
    origin: Vector3<f64>,
    n: [usize; 3],
    /// First ball of each cell and the next of each ball; `u32::MAX` for none.
    first: Vec<u32>,
    next: Vec<u32>,
    balls: Vec<(Vector3<f64>, f64)>,
}

impl Cells {
    fn new(room: Room, height: f64, side: f64) -> Self {
        let [x, y] = match room {
            Room::Box(size) => size,
            Room::Cylinder(radius) => [2.0 * radius; 2],
        };
        // large rooms with few small bodies need no more cells than this
        let side = side.max((x * y * height / 4e6).cbrt());
        let n = [x, y, height].map(|length| (length / side).ceil().max(1.0) as usize);
        let first = vec![u32::MAX; n[0] * n[1] * n[2]];
        Cells { side, origin: Vector3::new(-x / 2.0, -y / 2.0, 0.0), n, first, next: Vec::new(), balls: Vec::new() }
    }

    fn cell(&self, p: &Vector3<f64>) -> [usize; 3] {
        let r = (p - self.origin) / self.side;
        [0, 1, 2].map(|axis| (r[axis].max(0.0) as usize).min(self.n[axis] - 1))
    }

    fn is_free(&self, p: &Vector3<f64>, radius: f64) -> bool {
        let near = self.cell(p).map(|i| i.saturating_sub(1)..i + 2);
        let [xs, ys, zs] = [0, 1, 2].map(|axis| near[axis].start..near[axis].end.min(self.n[axis]));
        for z in zs {
            for y in ys.clone() {
                for x in xs.clone() {
                    let mut ball = self.first[(z * self.n[1] + y) * self.n[0] + x];
                    while let Some((place, other)) = self.balls.get(ball as usize) {
                        if (place - p).norm_squared() < (radius + other).powi(2) {
                            return false;
                        }
                        ball = self.next[ball as usize];
                    }
                }
            }
        }
        true
    }

    fn add(&mut self, p: Vector3<f64>, radius: f64) {
        let [x, y, z] = self.cell(&p);
        let cell = &mut self.first[(z * self.n[1] + y) * self.n[0] + x];
        self.next.push(*cell);
        *cell = self.balls.len() as u32;
        self.balls.push((p, radius));
    }
}
