//! The constructors of all solvers: one line each, the variant of the kind and the constructor.
//!
//! Names and uses stand in `kinds.rs`. Solvers that need another kind of solver inside are handed its constructor here.

use crate::error::SolveError;
use crate::friction_contact::{self as friction, FrictionContact, FrictionSolverParams};
use crate::friction_contact_global::{self as global, GlobalFrictionContact, GlobalSolverParams};
use crate::kinds::{FrictionSolverKind, GlobalSolverKind, LcpSolverKind, MlcpSolverKind, QpSolverKind, ViSolverKind};
use crate::lcp::{self, Lcp, LcpSolverParams};
use crate::mlcp::{self, Mlcp, MlcpSolverParams};
use crate::qp::{self, ConvexQp, QpSolverParams};
use crate::vi::{self, VariationalInequality, ViSolverParams};
use crate::{BoxedSolver, OneStepSolver};

/// The constructor of the solvers of one kind of problem.
macro_rules! solvers {
    (
        $kind:ident of $problem:ty, $constructor:ident($params:ty) {
            $($variant:ident = $new:expr;)+
        }
    ) => {
        /// Constructs the solver the parameters name.
        ///
        /// # Errors
        /// [`SolveError::BadParameter`] for a parameter outside its range.
        pub fn $constructor(params: &$params) -> Result<BoxedSolver<$problem>, SolveError> {
            params.validate()?;
            Ok(match params.kind {
                $($kind::$variant => {
                    #[allow(clippy::redundant_closure_call)]
                    let solver = $new(params);
                    debug_assert_eq!(OneStepSolver::<$problem>::name(&solver), params.kind.name());
                    Box::new(solver)
                })+
            })
        }
    };
}

solvers! {
    FrictionSolverKind of FrictionContact, friction_solver_of_cones(FrictionSolverParams) {
        Auto = friction::Auto::new;
        Nsgs = friction::Nsgs::new;
        ProximalNewton = friction::ProximalNewton::new;
        NewtonAlartCurnier = friction::NonsmoothNewton::alart_curnier;
        NewtonJeanMoreau = friction::NonsmoothNewton::jean_moreau;
        NewtonFischerBurmeister = friction::NonsmoothNewton::fischer_burmeister;
        Admm = friction::Admm::new;
        InteriorPoint = friction::InteriorPoint::new;
        Tresca = friction::Tresca::new;
        Panagiotopoulos = friction::Panagiotopoulos::new;
        Aclm = friction::Aclm::new;
        DeSaxce = friction::DeSaxce::new;
        Extragradient = friction::Extragradient::new;
        FixedPoint = friction::FixedPoint::new;
        ProjectedGradient = friction::ProjectedGradient::new;
        StewartTrinkle = friction::Polyhedral::stewart_trinkle;
        AnitescuPotra = friction::Polyhedral::anitescu_potra;
        Lemke = friction::ViaLcp::lemke;
        Enumeration = friction::Enumeration::new;
        Pgs = friction::ViaLcp::pgs;
    }
}

/// Constructs the solver the parameters name. Those that do not know [`crate::Block::Ball`] refuse problems with it.
///
/// # Errors
/// [`SolveError::BadParameter`] for a parameter outside its range.
pub fn friction_contact_solver(params: &FrictionSolverParams) -> Result<BoxedSolver<FrictionContact>, SolveError> {
    let solver = friction_solver_of_cones(params)?;
    let knows_balls = matches!(params.kind, FrictionSolverKind::Auto | FrictionSolverKind::Nsgs);
    Ok(if knows_balls { solver } else { Box::new(friction::WithoutBalls::new(solver)) })
}

solvers! {
    GlobalSolverKind of GlobalFrictionContact, global_solver(GlobalSolverParams) {
        Reduction = |params: &GlobalSolverParams| global::Reduction::new(params, friction_contact_solver);
        Admm = global::Admm::new;
        Nsgs = global::Nsgs::new;
        InteriorPoint = global::InteriorPoint::new;
    }
}

solvers! {
    LcpSolverKind of Lcp, lcp_solver(LcpSolverParams) {
        Auto = lcp::Auto::new;
        Lemke = lcp::Lemke::new;
        PrincipalPivoting = lcp::PrincipalPivoting::new;
        Murty = lcp::Murty::new;
        Katzenelson = lcp::Katzenelson::new;
        Enumeration = lcp::Enumeration::new;
        NewtonMin = lcp::NewtonMin::new;
        NewtonFischerBurmeister = lcp::NewtonFischerBurmeister::new;
        Mangasarian = lcp::Mangasarian::new;
        InteriorPoint = lcp::InteriorPoint::new;
        ProjectedCg = lcp::ProjectedCg::new;
        Pgs = lcp::Pgs::new;
    }
}

solvers! {
    MlcpSolverKind of Mlcp, mlcp_solver(MlcpSolverParams) {
        Elimination = |params: &MlcpSolverParams| mlcp::Elimination::new(params, lcp_solver);
        Lemke = mlcp::Lemke::new;
        NewtonFischerBurmeister = mlcp::NewtonFischerBurmeister::new;
        Pgs = mlcp::Pgs::new;
        Enumeration = mlcp::Enumeration::new;
    }
}

solvers! {
    QpSolverKind of ConvexQp, qp_solver(QpSolverParams) {
        ActiveSet = qp::ActiveSet::new;
        InteriorPoint = qp::InteriorPoint::new;
    }
}

solvers! {
    ViSolverKind of VariationalInequality, vi_solver(ViSolverParams) {
        SemismoothNewton = vi::SemismoothNewton::new;
        Extragradient = vi::Extragradient::new;
        FixedPoint = vi::FixedPoint::new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_constructs_the_solver_of_its_name() {
        for &kind in FrictionSolverKind::ALL {
            let solver = friction_contact_solver(&FrictionSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.name(), kind.name());
        }
        for &kind in GlobalSolverKind::ALL {
            let solver = global_solver(&GlobalSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.name(), kind.name());
        }
        for &kind in LcpSolverKind::ALL {
            let solver = lcp_solver(&LcpSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.name(), kind.name());
        }
        for &kind in MlcpSolverKind::ALL {
            let solver = mlcp_solver(&MlcpSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.name(), kind.name());
        }
        for &kind in QpSolverKind::ALL {
            let solver = qp_solver(&QpSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.name(), kind.name());
        }
        for &kind in ViSolverKind::ALL {
            let solver = vi_solver(&ViSolverParams { kind, ..Default::default() }).unwrap();
            assert_eq!(solver.name(), kind.name());
        }
    }
}
