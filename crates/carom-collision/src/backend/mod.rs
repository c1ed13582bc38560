//! The only place that knows parry and its algebra types: the bounding volume tree.

pub(crate) mod tree;

use nalgebra::Vector3;
use parry3d_f64::math::Vector;

fn to_glam(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}
