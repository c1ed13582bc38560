//! The heavy top: a body with a fixed point under gravity, in the coordinates of a free body with three constraints.
//!
//! ```text
//! g = x − R X = 0,     m = 15 kg,  J = diag(0.234375, 0.46875, 0.234375) kg m²,  X = (0, 1, 0) m,  gravity −9.81 m/s² along z
//! R(0) = I,  Ω(0) = (0, 150, −4.61538) rad/s in the body frame
//! ```
//!
//! The benchmark of Brüls & Cardona, *On the use of Lie group time integrators in multibody dynamics* (2010). References at 1 s and 2 s: the
//! three-parameter equations of the fixed point in extended precision, two methods agreeing to 4e-13. Multipliers follow from them exactly:
//! λ = m (ẍ − g) with x × ẍ = (x × m g − J₂ Ω₂ ẋ)/(J₁ + m) and x · ẍ = −|ẋ|².

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use super::mechanisms::{Mechanism, Reference};
use crate::error::ModelError;
use crate::laws::Law;
use crate::model::Model;
use crate::relations::{ClosureRelation, Rows};
use crate::state::State;
use crate::systems::rigid_bodies::{angular, centre, orientation};
use crate::systems::{RigidBodies, RigidBody};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

const MASS: f64 = 15.0;
const MOMENTS: [f64; 3] = [0.234375, 0.46875, 0.234375];
const GRAVITY: f64 = 9.81;
/// The centre of mass from the fixed point, in the body frame \[m\].
const ARM: Vector3<f64> = Vector3::new(0.0, 1.0, 0.0);

/// The top with its references.
///
/// # Errors
/// None for these parameters.
pub fn heavy_top() -> Result<Mechanism, ModelError> {
    let body = RigidBody { name: "top".into(), mass: MASS, inertia: Matrix3::from_diagonal(&MOMENTS.into()) };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -GRAVITY))?)])?;
    model.add_interaction("fixed point", Box::new(fixed_point()), Law::Bilateral)?;
    let omega = Vector3::new(0.0, 150.0, -4.61538);
    let v = omega.cross(&ARM);
    let state =
        State { t: 0.0, q: vec![0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], v: [v.as_slice(), omega.as_slice()].concat(), ..State::default() };
    let references = vec![
        reference(
            1.0,
            [0.17334396409838565, 0.6400885920705692, -0.7484907911335811],
            [0.570825303425488, -4.5887282963349465, -3.791955154710041],
            [-0.8220781016827108, 150.0, -5.923291348117333],
            [0.22929964080360882, -0.7653407422046802, -0.6013943989171535],
        ),
        reference(
            2.0,
            [-0.15041682274564086, -0.7241655916368949, -0.6730222695604446],
            [-2.7491863125818834, -3.2027186355748967, 4.060523149756687],
            [0.12223321949738225, 150.0, -5.8556245892054575],
            [-0.48744908223626293, -0.5379397438441536, 0.6877602956117135],
        ),
    ];
    Ok(Mechanism { model, state, references })
}

/// A reference from the centre of mass (the second column of R), velocities, and the first column of R.
fn reference(t: f64, x: [f64; 3], v: [f64; 3], omega: [f64; 3], first: [f64; 3]) -> Reference {
    let (x, v, first) = (Vector3::from(x), Vector3::from(v), Vector3::from(first));
    let r = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[first, x, first.cross(&x)]));
    let r = UnitQuaternion::from_rotation_matrix(&r);
    let weight = Vector3::new(0.0, 0.0, -MASS * GRAVITY);
    let across = (x.cross(&weight) - MOMENTS[1] * omega[1] * v) / (MOMENTS[0] + MASS);
    let acceleration = across.cross(&x) - v.norm_squared() * x;
    let lambda = MASS * acceleration - weight;
    Reference {
        t,
        q: [x.as_slice(), &[r.w, r.i, r.j, r.k]].concat(),
        v: [v.as_slice(), &omega].concat(),
        lambda: lambda.as_slice().to_vec(),
    }
}

/// g = x − R X with G = (I, R X̃), (dG/dt) v = −R (Ω × (Ω × X)) and ∂(Gᵀλ)/∂q: −X̃ (Rᵀλ)~ on rotations.
fn fixed_point() -> ClosureRelation {
    let position = |_: f64, q: &[f64], g: &mut [f64]| {
        g.copy_from_slice((centre(q, 0) - orientation(q, 0) * ARM).as_slice());
    };
    let jacobian = |_: f64, q: &[f64], rows: Rows<'_>| {
        let turning = orientation(q, 0).to_rotation_matrix().matrix() * ARM.cross_matrix();
        for i in 0..3 {
            for j in 0..3 {
                rows.jacobian[6 * i + j] = if i == j { 1.0 } else { 0.0 };
                rows.jacobian[6 * i + 3 + j] = turning[(i, j)];
            }
        }
        rows.bias.fill(0.0);
    };
    let bias = |_: f64, q: &[f64], v: &[f64], out: &mut [f64]| {
        let omega = angular(v, 0);
        out.copy_from_slice((-(orientation(q, 0) * omega.cross(&omega.cross(&ARM)))).as_slice());
    };
    let curvature = |_: f64, q: &[f64], lambda: &[f64], matrix: &mut [f64]| {
        let force = orientation(q, 0).inverse() * Vector3::from_column_slice(lambda);
        let block = -ARM.cross_matrix() * force.cross_matrix();
        for i in 0..3 {
            for j in 0..3 {
                matrix[6 * (3 + i) + 3 + j] = block[(i, j)];
            }
        }
    };
    ClosureRelation::new(3, (0..6).collect(), position, jacobian, bias).with_curvature(curvature)
}
