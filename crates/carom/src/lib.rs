//! carom: a simulator for mechanics that is not smooth.
//!
//! Bodies that touch, part, collide, stick and slide; joints with play; piles and mechanisms. One model, written in a
//! text file or in Rust, is run by the methods of the literature, and every result carries the proof of how well it
//! satisfies the equations: its [`Certificate`](prelude::Certificate).
//!
//! ```
//! use carom::{Simulation, prelude::*};
//!
//! let text = r#"
//!     [linear]
//!     coordinates = ["y"]
//!     mass = 1.0
//!     force = [-9.81]
//!
//!     [[contact]]
//!     name = "floor"
//!     gap = "y"
//!     restitution = 0.9
//!
//!     [initial]
//!     position = { y = 1.0 }
//!
//!     [simulation]
//!     end = 2.0
//!     step = 0.005
//! "#;
//! let mut simulation = Simulation::from_text(text)?;
//! let outcome = simulation.run(&mut NoRecorder, &mut |_| Continue::Yes);
//! assert!(matches!(outcome.ending, Ending::Finished));
//! assert!(outcome.certificate.max_penetration < 0.03);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is stable
//!
//! What this page names: [`Simulation`], [`prelude`], [`files`], [`problems`] and [`scenes`]. Names change here with a line in the change log only. The crates
//! underneath (`carom-solvers`, `carom-dynamics`, `carom-collision`, `carom-io`) are carom's own parts, split so that the compiler checks their layers: what
//! they export besides may change with every version.

pub mod scenes;
pub mod simulation;

#[doc(hidden)]
pub use carom_collision as collision;
#[doc(hidden)]
pub use carom_dynamics as dynamics;
#[doc(hidden)]
pub use carom_io as io;
#[doc(hidden)]
pub use carom_solvers as solvers;
pub use simulation::Simulation;

/// Model files in, recorded runs out and in again.
pub mod files {
    pub use carom_io::model_file::{
        Diagnostic, ModelFile, ModelFileError, Overridden, Override, RecordSettings, RunSettings, apply_overrides, parse, read,
    };
    pub use carom_io::recording::{CsvRecorder, Hdf5Options, Hdf5Recorder, MultiRecorder, RecordingError, RunFile, RunInfo};
}

/// One-step problems by themselves, with their solvers.
pub mod problems {
    pub use carom_solvers::fclib;
    pub use carom_solvers::registry::{friction_contact_solver, global_solver, lcp_solver, mlcp_solver, qp_solver, vi_solver};
    pub use carom_solvers::{
        Block, BlockSparse, BoxedSolver, ConvexQp, Delassus, DenseMatrix, FrictionContact, FrictionSolverKind, FrictionSolverParams,
        GlobalFrictionContact, GlobalSolverParams, Lcp, LcpSolverParams, Matrix, Mlcp, MlcpSolverParams, OneStepSolver, QpSolverParams,
        Solution, SolveError, SolveReport, SolveStatus, SparseMatrix, VariationalInequality, ViSolverParams,
    };
}

/// What most programs need.
pub mod prelude {
    pub use crate::Simulation;
    pub use carom_dynamics::diagnostics::Certificate;
    pub use carom_dynamics::events::EventParams;
    pub use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
    pub use carom_dynamics::recording::{Frame, NoRecorder, Recorder};
    pub use carom_dynamics::report::{ContactMode, Energy, Event, EventKind};
    pub use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams, Scheme, SchemeParams};
    pub use carom_dynamics::strategies::{
        Adaptive, AdaptiveParams, Continue, Ending, EventDriven, Hybrid, HybridParams, Observers, OnFailure, Outcome, Smooth, Strategy,
        StrategyKind, TimeStepping,
    };
    pub use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear, PlanarBodies, PlanarBody, RigidBodies, RigidBody};
    pub use carom_dynamics::{Cohesion, ContactLaw, Friction, Law, Model, Restitution, State, StepMemory};
    pub use carom_solvers::FrictionSolverParams;
}

/// Version of carom, as records keep it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
