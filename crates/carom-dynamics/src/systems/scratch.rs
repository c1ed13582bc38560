//! Work arrays of evaluations; they keep their capacity.

/// Work arrays that a system or relation may use while it evaluates; they keep their capacity.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Inputs of a tape.
    pub inputs: Vec<f64>,
    /// Registers of a tape.
    pub registers: Vec<f64>,
    /// Outputs of a tape.
    pub outputs: Vec<f64>,
    /// Rows of a force between systems.
    pub rows: Vec<f64>,
    /// How the frames that a force element sees move with the velocities.
    pub frames: Vec<f64>,
    /// Matrix of a force element without its stiff rows.
    pub beside: Vec<f64>,
    /// Of laws of control that use the model's equations.
    pub(crate) laws: LawWork,
}

/// Work arrays of laws of control that use the model's equations.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelBasedWork {
    pub mass: Vec<f64>,
    pub acceleration: Vec<f64>,
    pub reference: Vec<f64>,
    pub argument: Vec<f64>,
    pub force: Vec<f64>,
    pub torque: Vec<f64>,
}

/// Work arrays of such laws in continuous time.
#[derive(Clone, Debug, Default)]
pub(crate) struct LawWork {
    pub work: ModelBasedWork,
    /// τ of all laws, one after the other.
    pub torques: Vec<f64>,
    /// c_v ∂τ/∂q̇ + c_q ∂τ/∂q of each law, row-major, one after the other.
    pub slopes: Vec<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}
