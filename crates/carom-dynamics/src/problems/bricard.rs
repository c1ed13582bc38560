//! Bricard's mechanism: five rods and the ground in a closed loop of six revolute joints that moves only because its axes are placed so.
//!
//! Five rods of 1 m and 1 kg with a square section of 0.1 m along the edges of a cube; joints at (0,0,0), (1,0,0), (1,−1,0), (1,−1,1),
//! (0,−1,1), (0,0,1) with the axes −y, z, x, −y, z, x; the ground joins the last and the first. Gravity acts along −y, the start is at rest.
//! Of the 30 equations of the joints 29 are independent, so one degree of freedom remains. Benchmark A05 of the IFToMM library of
//! computational multibody dynamics.
//!
//! The references of the point P₃ (the third joint) come from integration in relative coordinates by extrapolation; an explicit method of
//! order 8 agrees to 1e-14 at 1 s, 2e-12 at 5 s and 8e-12 at 10 s. The energy drift of the reference over 10 s is 2e-11 J.

use crate::error::ModelError;
use crate::model::Model;
use crate::relations::{JointKind, JointPlacement, JointSource};
use crate::state::State;
use crate::systems::{RigidBodies, RigidBody, rigid_bodies};
use nalgebra::{Matrix3, Vector3};

/// The joints: point and axis.
const JOINTS: [([f64; 3], [f64; 3]); 6] = [
    ([0.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
    ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
    ([1.0, -1.0, 0.0], [1.0, 0.0, 0.0]),
    ([1.0, -1.0, 1.0], [0.0, -1.0, 0.0]),
    ([0.0, -1.0, 1.0], [0.0, 0.0, 1.0]),
    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
];

/// Rank of the 30 rows of the joints.
pub const RANK: usize = 29;

/// Bricard's mechanism with its initial state and references.
pub struct Bricard {
    /// Five rigid bodies and six revolute joints.
    pub model: Model,
    /// At rest.
    pub state: State,
    /// P₃ at 1 s, 5 s and 10 s \[m\].
    pub references: [(f64, [f64; 3]); 3],
}

/// Builds the mechanism of rigid bodies and joints.
///
/// # Errors
/// None for these parameters.
pub fn bricard() -> Result<Bricard, ModelError> {
    let (mut bodies, mut q) = (Vec::new(), Vec::new());
    for (i, ends) in JOINTS.windows(2).enumerate() {
        let (start, end) = (Vector3::from(ends[0].0), Vector3::from(ends[1].0));
        // edges of 1 m along the rod and 0.1 m across
        let edges = (end - start).map(|x| if x == 0.0 { 0.01 } else { 1.0 });
        let inertia = Matrix3::from_diagonal(&Vector3::new(edges.y + edges.z, edges.x + edges.z, edges.x + edges.y)) / 12.0;
        bodies.push(RigidBody { name: format!("rod{}", i + 1), mass: 1.0, inertia });
        let centre = (start + end) / 2.0;
        q.extend_from_slice(&[centre.x, centre.y, centre.z, 1.0, 0.0, 0.0, 0.0]);
    }
    let v = vec![0.0; 6 * bodies.len()];
    let mut model = Model::new(vec![Box::new(RigidBodies::new(bodies, Vector3::new(0.0, -9.81, 0.0))?)])?;
    for (i, (point, axis)) in JOINTS.into_iter().enumerate() {
        let rod = |number: usize| (1..=5).contains(&number).then(|| format!("rod{number}"));
        let placement = JointPlacement::at(point.into()).along(axis.into());
        let source = JointSource { kind: JointKind::Revolute, bodies: [rod(i), rod(i + 1)], placement };
        model.add_joint(&format!("joint{}", i + 1), &source, &q)?;
    }
    let references = [
        (1.0, [0.274_481_319_264_618_55, -0.886_707_938_734_663, -0.462_330_002_687_358_6]),
        (5.0, [0.999_932_742_302_098_4, -0.999_999_997_738_353_1, -6.725_543_739_430_729e-5]),
        (10.0, [0.999_730_987_305_789_8, -0.999_999_963_825_817_8, -2.689_765_041_511_133e-4]),
    ];
    Ok(Bricard { model, state: State { t: 0.0, q, v, ..State::default() }, references })
}

/// P₃: the end of the second rod \[m\].
#[must_use]
pub fn third_joint(q: &[f64]) -> Vector3<f64> {
    rigid_bodies::centre(q, 1) + rigid_bodies::orientation(q, 1) * Vector3::new(0.0, -0.5, 0.0)
}
