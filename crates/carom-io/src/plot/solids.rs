//! Bodies at one time as a camera sees them, in metres of the picture, from the farthest to the nearest.

use super::camera::Camera;
use super::scene::Colour;
use carom_collision::planar::{PlanarCollider, PlanarShape};
use carom_collision::{Collider, Shape};
use nalgebra::{Isometry3, Rotation2, UnitQuaternion, Vector2, Vector3};
use std::f64::consts::TAU;

/// Sides of round shapes.
const SIDES: usize = 24;
/// Half the angle of the cap that marks a sphere \[rad\].
const CAP: f64 = 0.7;
/// A plane is seen from its edge when the cosine between its normal and the line of sight is below this.
const EDGE_ON: f64 = 0.02;
/// Ground, walls and other bodies that no contact moves.
const FIXED: Colour = [232, 232, 228];
/// Colours of moving bodies in turn: Okabe and Ito's, lightened.
const BODIES: [Colour; 6] = [[110, 170, 214], [232, 158, 104], [106, 196, 168], [222, 172, 202], [158, 212, 240], [240, 200, 110]];

/// Something to draw.
pub(super) enum Outline {
    Face(Vec<Vector2<f64>>),
    Disk(Vector2<f64>, f64),
    /// A line without area.
    Line(Vec<Vector2<f64>>),
}

/// An outline with its colour.
pub(super) struct Piece {
    pub outline: Outline,
    pub colour: Colour,
    /// Faces of one round surface have no lines between them.
    pub lines: bool,
}

/// The pieces of one shape.
pub(super) struct Solid {
    pub moves: bool,
    depth: f64,
    pub pieces: Vec<Piece>,
}

impl Solid {
    /// The smallest and largest coordinates of a solid.
    pub(super) fn bounds(&self) -> Option<(Vector2<f64>, Vector2<f64>)> {
        let mut bounds: Option<(Vector2<f64>, Vector2<f64>)> = None;
        let mut include = |p: &Vector2<f64>, r: f64| {
            let (low, high) = (p.add_scalar(-r), p.add_scalar(r));
            bounds = Some(bounds.map_or((low, high), |(l, u)| (l.inf(&low), u.sup(&high))));
        };
        for piece in &self.pieces {
            match &piece.outline {
                Outline::Disk(centre, radius) => include(centre, *radius),
                Outline::Face(points) | Outline::Line(points) => points.iter().for_each(|p| include(p, 0.0)),
            }
        }
        bounds
    }
}

/// Sorts solids for drawing one over the other: fixed ones behind all others, then the nearer over the farther.
///
/// Bodies are compared by their middles, which is right for convex ones of similar size and may be wrong where a long one leans over others.
pub(super) fn sort(solids: &mut [Solid]) {
    solids.sort_by(|a, b| a.moves.cmp(&b.moves).then(a.depth.total_cmp(&b.depth)));
}

/// The ground to draw for planes: half of its width \[m\] about a point of the world.
#[derive(Clone, Copy)]
pub(super) struct Ground {
    pub middle: Vector3<f64>,
    pub half_width: f64,
}

/// How shapes in space are looked at.
pub(super) struct Look<'a> {
    pub camera: &'a Camera,
    /// `None` where planes are left out.
    pub ground: Option<Ground>,
    /// Spheres have a cap about their z axis, which shows how they turn.
    pub caps: bool,
}

/// A shape at its pose.
pub(super) fn spatial(look: &Look<'_>, collider: &Collider, pose: Isometry3<f64>) -> Solid {
    let (place, turn) = (pose.translation.vector, pose.rotation);
    let (camera, base) = (look.camera, colour(collider.body));
    let pieces = match &collider.shape {
        Shape::Sphere { radius } => {
            let ball = Piece { outline: Outline::Disk(camera.project(&place), *radius), colour: base, lines: true };
            let mut pieces = vec![ball];
            pieces.extend(look.caps.then(|| cap(camera, &place, turn, *radius)).flatten().map(|outline| Piece {
                outline,
                colour: shaded(base, 0.0, 0.4),
                lines: true,
            }));
            pieces
        }
        Shape::Plane { normal } => look.ground.map_or_else(Vec::new, |ground| plane(camera, &place, &(turn * normal), ground)),
        shape => {
            let round = matches!(shape, Shape::Cylinder { .. } | Shape::Cone { .. } | Shape::Capsule { .. });
            let mut facets: Vec<(f64, Piece)> = Vec::new();
            for facet in shape.facets(SIDES) {
                let corners: Vec<Vector3<f64>> = facet.iter().map(|p| place + turn * p).collect();
                let Some(normal) = area(&corners).try_normalize(0.0).filter(|n| n.dot(&camera.towards) > 0.0) else { continue };
                let outline = Outline::Face(corners.iter().map(|p| camera.project(p)).collect());
                let middle = corners.iter().sum::<Vector3<f64>>() / corners.len() as f64;
                let lines = !round || corners.len() > 4;
                // walls are drawn faintly
                let contrast = if collider.body.is_some() { 0.32 } else { 0.1 };
                facets.push((camera.depth(&middle), Piece { outline, colour: shaded(base, camera.light(&normal), contrast), lines }));
            }
            facets.sort_by(|a, b| a.0.total_cmp(&b.0));
            facets.into_iter().map(|(_, piece)| piece).collect()
        }
    };
    Solid { moves: collider.body.is_some(), depth: camera.depth(&place), pieces }
}

/// What is seen of the cap of a sphere about its z axis; its part behind the rim is drawn along the rim.
fn cap(camera: &Camera, place: &Vector3<f64>, turn: UnitQuaternion<f64>, radius: f64) -> Option<Outline> {
    let rim = |k: usize| {
        let angle = TAU * k as f64 / SIDES as f64;
        turn * Vector3::new(CAP.sin() * angle.cos(), CAP.sin() * angle.sin(), CAP.cos())
    };
    let circle: Vec<Vector3<f64>> = (0..SIDES).map(rim).collect();
    if circle.iter().all(|p| camera.depth(p) <= 0.0) {
        return None;
    }
    let seen = |p: &Vector3<f64>| {
        let flat = camera.project(p);
        let flat = if camera.depth(p) < 0.0 { flat.try_normalize(1e-9).unwrap_or(flat) } else { flat };
        camera.project(place) + flat * radius
    };
    Some(Outline::Face(circle.iter().map(seen).collect()))
}

/// Twice the area of a plane polygon, along its normal.
fn area(corners: &[Vector3<f64>]) -> Vector3<f64> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).fold(Vector3::zeros(), |sum, (a, b)| sum + (a - corners[0]).cross(&(b - corners[0])))
}

/// A square of a plane, or what lies below one that is seen from its edge; nothing if it is seen from below.
fn plane(camera: &Camera, place: &Vector3<f64>, normal: &Vector3<f64>, ground: Ground) -> Vec<Piece> {
    let (w, middle) = (ground.half_width, ground.middle - normal * normal.dot(&(ground.middle - place)));
    let facing = normal.dot(&camera.towards);
    let corners: Vec<Vector2<f64>> = if facing.abs() <= EDGE_ON {
        let (line, n) = (camera.project(&middle), camera.project(normal));
        let along = Vector2::new(-n.y, n.x) * w;
        vec![line - along, line + along, line + along - n * w, line - along - n * w]
    } else if facing > 0.0 {
        let aside =
            normal.cross(&camera.unproject(&Vector2::new(0.0, 1.0))).try_normalize(1e-9).unwrap_or_else(|| camera.unproject(&Vector2::x()));
        let ahead = normal.cross(&aside);
        [(-w, -w), (w, -w), (w, w), (-w, w)].map(|(a, b)| camera.project(&(middle + aside * a + ahead * b))).to_vec()
    } else {
        return Vec::new();
    };
    vec![Piece { outline: Outline::Face(corners), colour: FIXED, lines: true }]
}

/// A planar shape at its pose; `reach` is how far a half-plane is drawn.
pub(super) fn planar(collider: &PlanarCollider, (place, angle): (Vector2<f64>, f64), reach: Option<f64>) -> Solid {
    let (base, turn) = (colour(collider.body), Rotation2::new(angle));
    let at = |p: Vector2<f64>| place + turn * p;
    let piece = |outline: Outline| Piece { outline, colour: base, lines: true };
    let pieces = match &collider.shape {
        PlanarShape::Disk { radius } => {
            // a spoke shows how it turns
            let spoke = Outline::Line(vec![place, at(Vector2::new(*radius, 0.0))]);
            vec![piece(Outline::Disk(place, *radius)), piece(spoke)]
        }
        PlanarShape::Capsule { radius, half_length } => {
            let rim = |k: usize| {
                let (s, c) = (TAU * (k as f64 + 0.5) / (2 * SIDES) as f64).sin_cos();
                at(Vector2::new(half_length.copysign(c) + radius * c, radius * s))
            };
            vec![piece(Outline::Face((0..2 * SIDES).map(rim).collect()))]
        }
        PlanarShape::Polygon(polygon) => vec![piece(Outline::Face(polygon.vertices().iter().map(|p| at(*p)).collect()))],
        PlanarShape::Chain(chain) => {
            let mut line: Vec<Vector2<f64>> = chain.vertices().iter().map(|p| at(*p)).collect();
            line.extend(chain.is_closed().then(|| line[0]));
            vec![piece(Outline::Line(line))]
        }
        PlanarShape::Segment { ends } => vec![piece(Outline::Line(ends.map(at).to_vec()))],
        PlanarShape::HalfPlane { normal } => reach.map_or_else(Vec::new, |w| {
            let n = turn * normal.normalize();
            let along = Vector2::new(-n.y, n.x) * w;
            vec![piece(Outline::Face(vec![place - along, place + along, place + along - n * w, place - along - n * w]))]
        }),
    };
    Solid { moves: collider.body.is_some(), depth: 0.0, pieces }
}

fn colour(body: Option<u32>) -> Colour {
    body.map_or(FIXED, |body| BODIES[body as usize % BODIES.len()])
}

fn shaded(colour: Colour, light: f64, contrast: f64) -> Colour {
    colour.map(|c| (f64::from(c) * (1.0 - contrast * (1.0 - light))).round() as u8)
}
