//! The only place that knows parry and its algebra types: convex hulls, the bounding volume tree and the contact
//! manifolds of the convex pairs that have no closed formula here.

pub(crate) mod manifold;
pub(crate) mod tree;

use nalgebra::Vector3;
use parry3d_f64::math::Vector;

fn to_glam(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn from_glam(v: Vector) -> Vector3<f64> {
    Vector3::new(v.x, v.y, v.z)
}
