//! Lattices and stacks.

use super::super::numbers::Reader;
use super::super::value::Value;
use super::template::{Template, bounds};
use super::{MAX_BODIES, Making};
use nalgebra::{UnitQuaternion, Vector3};
use toml::Spanned;

/// `counts` bodies along x, y and z, at multiples of `spacing` from the first one, each moved by up to `jitter`.
pub(super) fn lattice(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let Some(counts) = &s.counts else { return making.missing(reader, "counts", "give `counts = [nx, ny, nz]`") };
    let n = reader.vector::<3>(counts, &format!("the counts of \"{}\"", making.name))?;
    if !(n.iter().all(|n| *n >= 1.0 && n.fract() == 0.0) && n.iter().product::<f64>() <= MAX_BODIES as f64) {
        let help = format!("three whole numbers are needed, at most {MAX_BODIES} bodies in all");
        reader.wrong(counts.span(), format!("the counts of \"{}\" are {}, {} and {}", making.name, n[0], n[1], n[2]), help);
        return None;
    }
    let Some(spacing) = &s.spacing else { return making.missing(reader, "spacing", "give `spacing` [m], a number or [dx, dy, dz]") };
    let step = one_or_three(reader, spacing, "the spacing")?;
    making.all_positive(reader, spacing, &step)?;
    let jitter = s.jitter.as_ref().map_or(Some([0.0; 3]), |value| one_or_three(reader, value, "the jitter"))?;
    for k in 0..n[2] as usize {
        for j in 0..n[1] as usize {
            for i in 0..n[0] as usize {
                let body = template.draw(reader, &mut making.random)?;
                let mut place = |axis: usize, index: usize| index as f64 * step[axis] + jitter[axis] * making.random.symmetric();
                let position = Vector3::new(place(0, i), place(1, j), place(2, k));
                making.push(body, position, UnitQuaternion::identity());
            }
        }
    }
    Some(())
}

/// One number for all axes, or one for each.
fn one_or_three(reader: &mut Reader<'_>, value: &Spanned<Value>, what: &str) -> Option<[f64; 3]> {
    match value.get_ref() {
        Value::List(_) => reader.vector::<3>(value, what),
        _ => reader.number(value, what, super::super::numbers::Must::NotBeNegative).map(|x| [x; 3]),
    }
}

/// `count` bodies on top of each other, each turned by up to `yaw` and moved by up to `jitter` in x and y; `offset` leans the stack.
pub(super) fn stack(reader: &mut Reader<'_>, making: &mut Making<'_>, template: &Template<'_>) -> Option<()> {
    let s = making.keys();
    let count = making.number_of(reader, s.count.as_ref(), "count", 1)?;
    let gap = making.at_least_zero(reader, s.gap.as_ref(), "gap")?;
    let jitter = making.at_least_zero(reader, s.jitter.as_ref(), "jitter")?;
    let yaw = making.at_least_zero(reader, s.yaw.as_ref(), "yaw")?;
    let offset = reader.vector_or_zero::<2>(s.offset.as_ref(), "the offset")?;
    let mut base = 0.0;
    for k in 0..count {
        let body = template.draw(reader, &mut making.random)?;
        let (lower, upper) = bounds(&body);
        let mut shift = |axis: usize| k as f64 * offset[axis] + jitter * making.random.symmetric();
        let position = Vector3::new(shift(0), shift(1), base - lower.z);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw * making.random.symmetric());
        making.push(body, position, turn);
        base += upper.z - lower.z + gap;
    }
    Some(())
}
