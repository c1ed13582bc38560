//! The joints of a tree: their coordinates and velocities.

/// A name and its unit.
type Named = (&'static str, &'static str);

/// What moves a body against its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeJoint {
    /// Nothing.
    Fixed,
    /// Rotation about an axis: `angle` \[rad\].
    Revolute,
    /// Translation along an axis: `shift` \[m\].
    Prismatic,
    /// Both: `shift` \[m\], `angle` \[rad\].
    Cylindrical,
    /// Rotation about a point: quaternion `qw`, `qx`, `qy`, `qz`.
    Spherical,
    /// All: `x`, `y`, `z` \[m\] in the directions of the body at zero coordinates, then the quaternion.
    Floating,
}

impl TreeJoint {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, TreeJoint); 6] = [
        ("fixed", TreeJoint::Fixed),
        ("revolute", TreeJoint::Revolute),
        ("prismatic", TreeJoint::Prismatic),
        ("cylindrical", TreeJoint::Cylindrical),
        ("spherical", TreeJoint::Spherical),
        ("floating", TreeJoint::Floating),
    ];

    /// Number of velocities.
    #[must_use]
    pub fn n_velocities(self) -> usize {
        match self {
            TreeJoint::Fixed => 0,
            TreeJoint::Revolute | TreeJoint::Prismatic => 1,
            TreeJoint::Cylindrical => 2,
            TreeJoint::Spherical => 3,
            TreeJoint::Floating => 6,
        }
    }

    /// Number of coordinates.
    #[must_use]
    pub(crate) fn n_coordinates(self) -> usize {
        self.n_velocities() + usize::from(self.quaternion_at().is_some())
    }

    /// It has an axis.
    #[must_use]
    pub fn has_axis(self) -> bool {
        matches!(self, TreeJoint::Revolute | TreeJoint::Prismatic | TreeJoint::Cylindrical)
    }

    /// Its coordinates at the zero position: zeros, and the identity for a quaternion.
    #[must_use]
    pub fn zero(self) -> Vec<f64> {
        let mut q = vec![0.0; self.n_coordinates()];
        if let Some(at) = self.quaternion_at() {
            q[at] = 1.0;
        }
        q
    }

    /// Place of the quaternion among the coordinates.
    pub(super) fn quaternion_at(self) -> Option<usize> {
        match self {
            TreeJoint::Spherical => Some(0),
            TreeJoint::Floating => Some(3),
            _ => None,
        }
    }

    /// Names and units of coordinates and velocities.
    pub(super) fn names(self) -> (Vec<Named>, Vec<Named>) {
        let (angle, shift) = (("angle", "rad"), ("shift", "m"));
        let (quaternion, turning) = ([("qw", ""), ("qx", ""), ("qy", ""), ("qz", "")], [("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s")]);
        match self {
            TreeJoint::Fixed => (Vec::new(), Vec::new()),
            TreeJoint::Revolute => (vec![angle], vec![("angle", "rad/s")]),
            TreeJoint::Prismatic => (vec![shift], vec![("shift", "m/s")]),
            TreeJoint::Cylindrical => (vec![shift, angle], vec![("shift", "m/s"), ("angle", "rad/s")]),
            TreeJoint::Spherical => (quaternion.to_vec(), turning.to_vec()),
            TreeJoint::Floating => (
                [&[("x", "m"), ("y", "m"), ("z", "m")][..], &quaternion[..]].concat(),
                [&[("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s")][..], &turning[..]].concat(),
            ),
        }
    }
}
