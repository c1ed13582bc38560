//! Walls of bricks, arches, towers of planks, and containers.

use super::super::numbers::{Must, Reader};
use super::template::Template;
use super::{MAX_BODIES, Making};
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use toml::Spanned;

fn block(size: [f64; 3]) -> Shape {
    Shape::Box { half_extents: Vector3::from(size) / 2.0 }
}

/// Bricks in running bond along x: odd rows are shifted by half a brick and have half bricks at both ends.
pub(super) fn wall(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let rows = making.number_of(reader, s.rows.as_ref(), "rows", 1)?;
    let columns = making.number_of(reader, s.columns.as_ref(), "columns", 1)?;
    too_many(reader, making, rows.saturating_mul(columns + 1))?;
    let [length, depth, height] = making.size(reader, "give `size = [length, depth, height]` of a brick [m]")?;
    let gap = making.at_least_zero(reader, s.gap.as_ref(), "gap")?;
    if gap >= length {
        reader.wrong(s.gap.as_ref().map(Spanned::span), format!("the gap {gap} is not smaller than the bricks"), "give a small gap [m]");
        return None;
    }
    let whole = template.with_shape(reader, block([length, depth, height]))?;
    // two halves and their gap are as long as a brick
    let half_length = 0.5 * (length - gap);
    let half = template.with_shape(reader, block([half_length, depth, height]))?;
    let step = length + gap;
    let start = -0.5 * (columns as f64 * step - gap);
    for row in 0..rows {
        let z = (row as f64 + 0.5) * height + row as f64 * gap;
        let mut push = |body: &super::Body, left: f64, width: f64| {
            making.push(body.clone(), Vector3::new(left + 0.5 * width, 0.0, z), UnitQuaternion::identity());
        };
        if row % 2 == 0 {
            (0..columns).for_each(|k| push(&whole, start + k as f64 * step, length));
        } else {
            push(&half, start, half_length);
            (0..columns - 1).for_each(|k| push(&whole, start + half_length + gap + k as f64 * step, length));
            push(&half, start + half_length + gap + (columns - 1) as f64 * step, half_length);
        }
    }
    Some(())
}

/// Voussoirs between two circles about `position` in the x-z plane: hexahedra with radial joints and no gaps, numbered from −x to +x.
pub(super) fn arch(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let count = making.number_of(reader, s.count.as_ref(), "count", 1)?;
    let inner = making.positive(reader, s.inner_radius.as_ref(), "inner_radius")?;
    let outer = making.positive(reader, s.outer_radius.as_ref(), "outer_radius")?;
    let depth = making.positive(reader, s.depth.as_ref(), "depth")?;
    let angle = reader.number_or(s.angle.as_ref(), PI, "the angle of the arch", Must::BePositive)?;
    if inner >= outer {
        let message = format!("the outer radius {outer} is not larger than the inner radius {inner}");
        reader.wrong(s.outer_radius.as_ref().map(Spanned::span), message, "the difference is the arch's thickness");
        return None;
    }
    if angle > TAU || angle / count as f64 >= PI {
        let help = "at most a full circle, and less than half of one for each voussoir: give a smaller angle or a larger count";
        reader.wrong(
            s.angle.as_ref().map_or_else(|| making.span(), Spanned::span),
            format!("an angle of {angle} for {count} voussoirs"),
            help,
        );
        return None;
    }
    // corners are computed once and shared, so that joints have no gaps
    let corner = |k: usize, radius: f64| {
        let at = FRAC_PI_2 + angle * (0.5 - k as f64 / count as f64);
        Vector3::new(radius * at.cos(), 0.0, radius * at.sin())
    };
    for k in 0..count {
        let section = [corner(k, inner), corner(k + 1, inner), corner(k + 1, outer), corner(k, outer)];
        let centre = section.iter().sum::<Vector3<f64>>() / 4.0;
        let side = |y: f64| section.map(|p| p - centre + Vector3::new(0.0, y, 0.0));
        let vertices = [side(-depth / 2.0), side(depth / 2.0)].concat();
        let body = template.with_shape(reader, Shape::Convex { vertices })?;
        making.push(body, centre, UnitQuaternion::identity());
    }
    Some(())
}

/// Layers of parallel planks, each across the one below; `position` is the middle of the base.
pub(super) fn tower(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let layers = making.number_of(reader, s.layers.as_ref(), "layers", 1)?;
    let planks = match &s.planks {
        Some(_) => making.number_of(reader, s.planks.as_ref(), "planks", 2)?,
        None => 2,
    };
    too_many(reader, making, layers.saturating_mul(planks))?;
    let [length, width, thickness] = making.size(reader, "give `size = [length, width, thickness]` of a plank [m]")?;
    let gap = making.at_least_zero(reader, s.gap.as_ref(), "gap")?;
    if planks as f64 * width > length * (1.0 + 1e-12) {
        let message = format!("{planks} planks of width {width} m do not fit side by side on a length of {length} m");
        reader.wrong(s.planks.as_ref().map_or_else(|| making.span(), Spanned::span), message, "use fewer or narrower planks");
        return None;
    }
    let plank = template.with_shape(reader, block([length, width, thickness]))?;
    let (room, turn) = (length - width, UnitQuaternion::from_axis_angle(&Vector3::z_axis(), FRAC_PI_2));
    for layer in 0..layers {
        let z = (layer as f64 + 0.5) * thickness + layer as f64 * gap;
        for k in 0..planks {
            let aside = room * (k as f64 / (planks - 1) as f64 - 0.5);
            match layer % 2 {
                0 => making.push(plank.clone(), Vector3::new(0.0, aside, z), UnitQuaternion::identity()),
                _ => making.push(plank.clone(), Vector3::new(aside, 0.0, z), turn),
            }
        }
    }
    Some(())
}

/// A floor and four walls of fixed boxes around a room of the given size; `position` is the middle of the floor's top.
pub(super) fn container(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let size = making.size(reader, "give `size = [x, y, z]` of the room inside [m]")?;
    let [x, y, z] = size;
    let thickness = match &s.thickness {
        Some(_) => making.positive(reader, s.thickness.as_ref(), "thickness")?,
        None => 0.25 * x.max(y).max(z),
    };
    let (wide, across, along) = (y + 2.0 * thickness, 0.5 * (x + thickness), 0.5 * (y + thickness));
    let sides: [(&str, [f64; 3], [f64; 3]); 5] = [
        ("floor", [x + 2.0 * thickness, wide, thickness], [0.0, 0.0, -0.5 * thickness]),
        ("wall1", [thickness, wide, z], [-across, 0.0, 0.5 * z]),
        ("wall2", [thickness, wide, z], [across, 0.0, 0.5 * z]),
        ("wall3", [x, thickness, z], [0.0, -along, 0.5 * z]),
        ("wall4", [x, thickness, z], [0.0, along, 0.5 * z]),
    ];
    for (name, size, position) in sides {
        let mut body = template.with_shape(reader, block(size))?;
        body.position = position.into();
        making.push_named(format!("{}_{name}", making.name), true, body);
    }
    Some(())
}

fn too_many(reader: &mut Reader<'_>, making: &Making<'_>, n: usize) -> Option<()> {
    if n <= MAX_BODIES {
        return Some(());
    }
    reader.wrong(making.span(), format!("\"{}\" would be {n} bodies", making.name), format!("at most {MAX_BODIES} are made"));
    None
}
