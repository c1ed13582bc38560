//! What joints are built from: their kind, bodies and place.

use nalgebra::Vector3;

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// All rotations about a point.
    Spherical,
    /// Rotation about an axis.
    Revolute,
    /// Rotation about an axis of the first body and a perpendicular one of the second.
    Universal,
    /// Rotation about and translation along an axis.
    Cylindrical,
    /// Translation along an axis.
    Prismatic,
    /// Nothing.
    Fixed,
    /// All but the distance of two points.
    Distance,
    /// All rotations, and translation along an axis of the first body.
    PointOnLine,
    /// Translation in the plane across an axis of the first body, and rotation about that axis.
    Planar,
    /// Rotation about an axis, with the translation along it that its thread dictates.
    Screw,
    /// All rotations, and translation in the plane across an axis of the first body.
    PointInPlane,
}

/// All joints of model files by name with one line on what each is, as `carom list joints` shows them.
pub const JOINTS: &[(&str, &str)] = &[
    ("revolute", "turn about an axis, a pin in the plane; limits, clearance (journal bearing with friction)"),
    ("prismatic", "slide along an axis; limits; in the plane clearance of a slider in its guide"),
    ("cylindrical", "turn about and slide along an axis; limits of both"),
    ("screw", "turn about an axis with the slide its pitch dictates; limits"),
    ("spherical", "all turns about a point; limit of the swing by a cone, friction about any axis, clearance (ball in a socket)"),
    (
        "universal",
        "turns about an axis of the first body and a perpendicular one of the second; limits, motors, springs and friction of both",
    ),
    ("planar", "slides across an axis and turn about it; friction of both"),
    ("fixed", "nothing moves"),
    ("distance", "two points keep their distance"),
    ("rope", "the distance of two points is at most a length; restitution where it tightens"),
    ("point-on-line", "a point of the second body stays on a line of the first; limits (a ball in a slot)"),
    ("point-in-plane", "a point of the second body stays in a plane of the first; friction"),
    ("point-on-curve", "a point of the second body stays on a curve of the first, given by formulas of a parameter"),
    ("gear", "the turns of two joints in a fixed ratio, or by teeth"),
    ("rack", "the slide of one joint by the turn of another: rack and pinion"),
];

impl JointKind {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, JointKind); 11] = [
        ("spherical", JointKind::Spherical),
        ("revolute", JointKind::Revolute),
        ("universal", JointKind::Universal),
        ("cylindrical", JointKind::Cylindrical),
        ("prismatic", JointKind::Prismatic),
        ("fixed", JointKind::Fixed),
        ("distance", JointKind::Distance),
        ("point-on-line", JointKind::PointOnLine),
        ("planar", JointKind::Planar),
        ("screw", JointKind::Screw),
        ("point-in-plane", JointKind::PointInPlane),
    ];

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(other, _)| *other == name).map(|(_, kind)| *kind)
    }

    /// Number of axes it needs in space.
    #[must_use]
    pub fn n_axes(self) -> usize {
        match self {
            JointKind::Spherical | JointKind::Fixed | JointKind::Distance => 0,
            JointKind::Revolute
            | JointKind::Cylindrical
            | JointKind::Prismatic
            | JointKind::PointOnLine
            | JointKind::Planar
            | JointKind::Screw
            | JointKind::PointInPlane => 1,
            JointKind::Universal => 2,
        }
    }

    /// It has an angle about its axis: the bodies may turn about it, or could if a thread did not bind them.
    #[must_use]
    pub fn turns(self) -> bool {
        matches!(self, JointKind::Revolute | JointKind::Universal | JointKind::Cylindrical | JointKind::Planar | JointKind::Screw)
    }

    /// It has an angle about the axis of the second body too.
    #[must_use]
    pub fn turns_twice(self) -> bool {
        self == JointKind::Universal
    }

    /// Its points slide across its axis in any direction.
    #[must_use]
    pub fn slides_across(self) -> bool {
        matches!(self, JointKind::Planar | JointKind::PointInPlane)
    }

    /// It has a displacement along its axis.
    #[must_use]
    pub fn slides(self) -> bool {
        matches!(self, JointKind::Prismatic | JointKind::Cylindrical | JointKind::PointOnLine | JointKind::Screw)
    }
}

/// Where a joint lies when it is built, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointPlacement {
    /// Its point on the first and on the second body \[m\]; they differ for a distance only.
    pub points: [Vector3<f64>; 2],
    /// Its axis on the first and on the second body, of any length; they differ for a universal joint only.
    pub axes: [Vector3<f64>; 2],
    /// Angle about the axis that the joint has where it is built \[rad\]: that of the second body relative to the first.
    pub turn: f64,
    /// Displacement along the axis that the joint has where it is built \[m\]: that of the second body relative to the first.
    pub slide: f64,
    /// Advance per turn of a screw \[m\], positive for a right-handed thread.
    pub pitch: f64,
}

impl JointPlacement {
    /// At one point, with the z axis.
    #[must_use]
    pub fn at(point: Vector3<f64>) -> Self {
        JointPlacement { points: [point; 2], axes: [Vector3::z(); 2], turn: 0.0, slide: 0.0, pitch: 0.0 }
    }

    /// With this axis.
    #[must_use]
    pub fn along(self, axis: Vector3<f64>) -> Self {
        JointPlacement { axes: [axis; 2], ..self }
    }

    /// With this axis on the second body.
    #[must_use]
    pub fn crossing(self, axis: Vector3<f64>) -> Self {
        JointPlacement { axes: [self.axes[0], axis], ..self }
    }

    /// With this point on the second body.
    #[must_use]
    pub fn to(self, point: Vector3<f64>) -> Self {
        JointPlacement { points: [self.points[0], point], ..self }
    }

    /// With these values of the joint's angle \[rad\] and displacement \[m\] where it is built.
    #[must_use]
    pub fn starting(self, turn: f64, slide: f64) -> Self {
        JointPlacement { turn, slide, ..self }
    }

    /// With this advance per turn \[m\].
    #[must_use]
    pub fn pitched(self, pitch: f64) -> Self {
        JointPlacement { pitch, ..self }
    }
}

/// What a joint is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSource {
    /// What it leaves free.
    pub kind: JointKind,
    /// Names of the two bodies; `None` is the ground.
    pub bodies: [Option<String>; 2],
    /// Where it lies.
    pub placement: JointPlacement,
}
