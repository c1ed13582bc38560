//! Planar bodies and obstacles in a model file.

use super::Diagnostic;
use super::bodies::{Placed, check_names};
use super::materials::Materials;
use super::numbers::{Must, Reader};
use super::planar_shapes::{Part, motion, shape};
use super::schema::{GridSchema, ObstacleSchema, PlanarBodySchema};
use carom_collision::planar::{PlanarCollider, PlanarMass, PlanarShapes};
use carom_dynamics::systems::{PlanarBodies, PlanarBody};
use carom_solvers::random::SplitMix64;
use nalgebra::{Rotation2, Vector2};
use toml::Spanned;

/// Most bodies that one grid makes.
const MAX_GRID: f64 = 1e6;

/// The `[[planar_body]]` entries as one system, all with a shape and the obstacles in a detector.
pub(super) struct Planar {
    pub bodies: Placed<PlanarBodies>,
    pub detector: Option<PlanarShapes>,
}

/// What the entries have filled in.
#[derive(Default)]
struct Parts {
    bodies: Vec<PlanarBody>,
    q: Vec<f64>,
    v: Vec<f64>,
    colliders: Vec<PlanarCollider>,
}

/// Reads planar bodies and obstacles.
pub(super) fn planar(
    reader: &mut Reader<'_>,
    sections: &[Spanned<PlanarBodySchema>],
    obstacles: &[Spanned<ObstacleSchema>],
    materials: &Materials,
    gravity: [f64; 2],
) -> Option<Planar> {
    let mut parts = Parts::default();
    check_names(reader, sections.iter().map(|s| &s.get_ref().name), "body");
    check_names(reader, obstacles.iter().map(|s| &s.get_ref().name), "obstacle");
    for section in sections {
        read_body(reader, section, materials, &mut parts);
    }
    for section in obstacles {
        parts.colliders.extend(read_obstacle(reader, section, materials).unwrap_or_default());
    }
    if !reader.mistakes.is_empty() {
        return None;
    }
    let span = sections.first()?.span();
    let mut wrong = |message: String| reader.mistakes.push(Diagnostic::new(span.clone(), message));
    let Parts { bodies, q, v, colliders } = parts;
    let system = PlanarBodies::new(bodies, gravity).map_err(|e| wrong(e.to_string())).ok()?;
    let detector = match colliders.is_empty() {
        true => None,
        false => Some(PlanarShapes::new(colliders, &materials.list, &materials.pairs).map_err(|e| wrong(e.to_string())).ok()?),
    };
    Some(Planar { bodies: Placed { system, q, v }, detector })
}

fn read_body(reader: &mut Reader<'_>, section: &Spanned<PlanarBodySchema>, materials: &Materials, parts: &mut Parts) -> Option<()> {
    let s = section.get_ref();
    let name = s.name.get_ref();
    let before = reader.mistakes.len();
    let pieces = s.shape.as_ref().and_then(|schema| shape(reader, schema, name)).unwrap_or_default();
    if let (Some(found), Some(schema)) = (pieces.iter().find(|piece| !piece.shape.can_move_freely()), &s.shape) {
        let help = "only obstacles can: use [[obstacle]]; bodies are disks, capsules, boxes, polygons, chains and compounds";
        reader.wrong(schema.span(), format!("the moving body \"{name}\" has the shape of a {}", found.shape.name()), help);
    }
    let material = materials.find(reader, s.material.as_ref());
    if let (Some(material), None) = (&s.material, &s.shape) {
        reader.wrong(material.span(), format!("\"{name}\" has a material but no shape"), "give it a shape: nothing touches it otherwise");
    }
    let position = reader.vector_or_zero::<2>(s.position.as_ref(), &format!("the position of \"{name}\""));
    let velocity = reader.vector_or_zero::<2>(s.velocity.as_ref(), &format!("the velocity of \"{name}\""));
    let angle = reader.number_or(s.angle.as_ref(), 0.0, &format!("the angle of \"{name}\""), Must::BeFinite);
    let rate = reader.number_or(s.angular_velocity.as_ref(), 0.0, &format!("the angular velocity of \"{name}\""), Must::BeFinite);
    let places = s.grid.as_ref().map(|grid| read_grid(reader, grid, name));
    if reader.mistakes.len() > before {
        return None;
    }
    let PlanarMass { mass, centre, inertia } = read_mass(reader, section, &pieces)?;
    let ([x, y], [vx, vy], material, angle, rate) = (position?, velocity?, material?, angle?, rate?);
    // the file gives the place and the velocity of the shape's origin, the state those of the centre of mass
    let arm = Rotation2::new(angle) * centre;
    let ([x, y], [vx, vy]) = ([x + arm.x, y + arm.y], [vx - rate * arm.y, vy + rate * arm.x]);
    let copies = match places {
        None => vec![(name.clone(), [0.0; 2])],
        Some(places) => places?.into_iter().enumerate().map(|(k, place)| (format!("{name}_{}", k + 1), place)).collect(),
    };
    for (name, [dx, dy]) in copies {
        for Part { shape, position, angle } in &pieces {
            let collider = PlanarCollider::new(name.clone(), Some(parts.bodies.len() as u32), shape.clone());
            parts.colliders.push(PlanarCollider { material, position: position - centre, angle: *angle, ..collider });
        }
        parts.q.extend_from_slice(&[x + dx, y + dy, angle]);
        parts.v.extend_from_slice(&[vx, vy, rate]);
        parts.bodies.push(PlanarBody { name, mass, inertia });
    }
    Some(())
}

/// Mass of one kilogram spread evenly over the areas of all parts, or along their lines where none has an area; `None` without a shape, or
/// where parts with and without area are mixed.
fn unit_mass(pieces: &[Part]) -> Option<PlanarMass> {
    let at = |p: PlanarMass, piece: &Part| p.placed(piece.position, piece.angle);
    let by_area: Option<Vec<PlanarMass>> = pieces.iter().map(|piece| piece.shape.mass(1.0).map(|p| at(p, piece))).collect();
    let total = match (by_area, pieces) {
        (Some(list), _) => PlanarMass::sum(&list)?,
        (None, [one]) => at(one.shape.unit_mass()?, one),
        (None, _) => return None,
    };
    Some(PlanarMass { mass: 1.0, inertia: total.inertia / total.mass, ..total })
}

/// Mass, centre of mass and inertia from `mass`, `density`, `inertia` and the parts of the shape.
fn read_mass(reader: &mut Reader<'_>, section: &Spanned<PlanarBodySchema>, pieces: &[Part]) -> Option<PlanarMass> {
    let s = section.get_ref();
    let name = s.name.get_ref();
    let unit = unit_mass(pieces);
    let of_shape = |density: f64| {
        let masses: Option<Vec<PlanarMass>> = pieces.iter().map(|piece| piece.shape.mass(density)).collect();
        let mass: f64 = masses?.iter().map(|p| p.mass).sum();
        unit.map(|p| (mass, p.inertia * mass))
    };
    let (mass, from_shape) = match (&s.mass, &s.density) {
        (Some(mass), None) => {
            let mass = reader.number(mass, &format!("the mass of \"{name}\""), Must::BePositive)?;
            // the inertia is proportional to the mass
            (mass, unit.map(|p| p.inertia * mass))
        }
        (None, Some(density)) => {
            let value = reader.number(density, &format!("the density of \"{name}\""), Must::BePositive)?;
            let Some((mass, inertia)) = of_shape(value) else {
                let help = "give a shape with an area, or `mass` and `inertia`";
                reader.wrong(density.span(), format!("\"{name}\" has a density but no shape with an area"), help);
                return None;
            };
            (mass, Some(inertia))
        }
        (Some(_), Some(density)) => {
            reader.wrong(density.span(), format!("\"{name}\" has both mass and density"), "give one of them");
            return None;
        }
        (None, None) => {
            let help = "give `mass` [kg], or `density` [kg/m²] and a shape";
            reader.wrong(section.span(), format!("the body \"{name}\" has no mass"), help);
            return None;
        }
    };
    let inertia = match (&s.inertia, from_shape) {
        (Some(value), _) => reader.number(value, &format!("the inertia of \"{name}\""), Must::BePositive)?,
        (None, Some(inertia)) => inertia,
        (None, None) => {
            let help = "give `inertia` [kg m²], or a shape with an area";
            reader.wrong(section.span(), format!("the body \"{name}\" has no inertia"), help);
            return None;
        }
    };
    Some(PlanarMass { mass, centre: unit.map_or_else(Vector2::zeros, |p| p.centre), inertia })
}

/// The places of a grid relative to its first body, row by row from below.
fn read_grid(reader: &mut Reader<'_>, section: &Spanned<GridSchema>, name: &str) -> Option<Vec<[f64; 2]>> {
    let s = section.get_ref();
    let counts = reader.vector::<2>(&s.counts, &format!("the counts of the grid of \"{name}\""));
    let spacing = reader.vector::<2>(&s.spacing, &format!("the spacing of the grid of \"{name}\""));
    let jitter = reader.number_or(s.jitter.as_ref(), 0.0, &format!("the jitter of the grid of \"{name}\""), Must::NotBeNegative);
    let ([columns, rows], [dx, dy], jitter) = (counts?, spacing?, jitter?);
    if !([columns, rows].iter().all(|n| *n >= 1.0 && n.fract() == 0.0) && columns * rows <= MAX_GRID) {
        let help = format!("two whole numbers are needed, at most {MAX_GRID:e} bodies in all");
        reader.wrong(s.counts.span(), format!("the counts of the grid of \"{name}\" are {columns} and {rows}"), help);
        return None;
    }
    let mut random = SplitMix64::new(s.seed.as_ref().map_or(0, |seed| *seed.get_ref()) as u64);
    let mut shift = || jitter * random.symmetric();
    let places = (0..rows as usize).flat_map(|row| (0..columns as usize).map(move |column| (row, column)));
    Some(places.map(|(row, column)| [column as f64 * dx + shift(), row as f64 * dy + shift()]).collect())
}

fn read_obstacle(reader: &mut Reader<'_>, section: &Spanned<ObstacleSchema>, materials: &Materials) -> Option<Vec<PlanarCollider>> {
    let s = section.get_ref();
    let name = s.name.get_ref();
    let pieces = shape(reader, &s.shape, name);
    let material = materials.find(reader, s.material.as_ref());
    let position = reader.vector_or_zero::<2>(s.position.as_ref(), &format!("the position of \"{name}\""));
    let angle = reader.number_or(s.angle.as_ref(), 0.0, &format!("the angle of \"{name}\""), Must::BeFinite);
    let motion = match &s.motion {
        None => None,
        Some(schema) => Some(motion(reader, schema, name)?),
    };
    let (position, angle, material) = (Vector2::from(position?), angle?, material?);
    let collider = |piece: Part| {
        // a motion turns an obstacle about its origin
        let place = position + Rotation2::new(angle) * piece.position;
        let collider = PlanarCollider::new(name.clone(), None, piece.shape);
        PlanarCollider { position: place, angle: angle + piece.angle, motion: motion.clone(), pivot: Some(position), material, ..collider }
    };
    Some(pieces?.into_iter().map(collider).collect())
}
