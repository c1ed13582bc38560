//! The list of all solvers: one line each.
//!
//! A line gives the variant of the kind, the name in model files and on the command line, the constructor and
//! when to use it. The kinds (`FrictionSolverKind`, …), their names and the constructors follow from the tables.

use crate::error::SolveError;
use crate::friction_contact::{self as friction, FrictionContact};
use crate::friction_contact_global::{self as global, GlobalFrictionContact};
use crate::lcp::{self, Lcp};
use crate::mlcp::{self, Mlcp};
use crate::parameters::{
    FrictionSolverParams, GlobalSolverParams, LcpSolverParams, MlcpSolverParams, QpSolverParams, ViSolverParams, nearest_name,
};
use crate::qp::{self, ConvexQp};
use crate::vi::{self, VariationalInequality};
use crate::{BoxedSolver, OneStepSolver};

/// The kinds of one-step problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// [`FrictionContact`].
    FrictionContact,
    /// [`GlobalFrictionContact`].
    GlobalFrictionContact,
    /// [`Lcp`].
    Lcp,
    /// [`Mlcp`].
    Mlcp,
    /// [`ConvexQp`].
    Qp,
    /// [`VariationalInequality`].
    Vi,
}

impl ProblemKind {
    /// All kinds.
    pub const ALL: [ProblemKind; 6] = [
        ProblemKind::FrictionContact,
        ProblemKind::GlobalFrictionContact,
        ProblemKind::Lcp,
        ProblemKind::Mlcp,
        ProblemKind::Qp,
        ProblemKind::Vi,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::FrictionContact => "friction contact",
            ProblemKind::GlobalFrictionContact => "friction contact, global form",
            ProblemKind::Lcp => "LCP",
            ProblemKind::Mlcp => "mixed LCP",
            ProblemKind::Qp => "convex QP",
            ProblemKind::Vi => "variational inequality",
        }
    }

    /// Its solvers.
    pub fn solvers(self) -> &'static [SolverEntry] {
        match self {
            ProblemKind::FrictionContact => FrictionSolverKind::ENTRIES,
            ProblemKind::GlobalFrictionContact => GlobalSolverKind::ENTRIES,
            ProblemKind::Lcp => LcpSolverKind::ENTRIES,
            ProblemKind::Mlcp => MlcpSolverKind::ENTRIES,
            ProblemKind::Qp => QpSolverKind::ENTRIES,
            ProblemKind::Vi => ViSolverKind::ENTRIES,
        }
    }
}

/// One line of the registry.
#[derive(Clone, Copy, Debug)]
pub struct SolverEntry {
    /// Name, as in a model file.
    pub name: &'static str,
    /// When to use it.
    pub summary: &'static str,
}

/// The solvers of one kind of problem: an enum of their kinds, their names, and the constructor.
macro_rules! solvers {
    (
        $(#[$doc:meta])*
        $kind:ident of $problem:ty, $constructor:ident($params:ty) {
            $($variant:ident = $name:literal, $new:expr, $summary:literal;)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum $kind {
            $(#[doc = $summary] $variant,)+
        }

        impl Default for $kind {
            fn default() -> Self {
                $kind::ALL[0]
            }
        }

        impl $kind {
            /// All kinds, in the order of the registry; the first is the default.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// The lines of the registry, in the same order.
            pub const ENTRIES: &'static [SolverEntry] = &[$(SolverEntry { name: $name, summary: $summary }),+];

            /// Name in model files and in the registry.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name),+ }
            }
        }

        impl std::str::FromStr for $kind {
            type Err = SolveError;

            fn from_str(name: &str) -> Result<Self, SolveError> {
                match name {
                    $($name => Ok($kind::$variant),)+
                    _ => Err(SolveError::UnknownSolver { name: name.to_owned(), nearest: nearest_name(name, &[$($name),+]) }),
                }
            }
        }

        impl TryFrom<String> for $kind {
            type Error = SolveError;

            fn try_from(name: String) -> Result<Self, SolveError> {
                name.parse()
            }
        }

        impl From<$kind> for String {
            fn from(kind: $kind) -> String {
                kind.name().to_owned()
            }
        }

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
                    debug_assert_eq!(OneStepSolver::<$problem>::name(&solver), $name);
                    Box::new(solver)
                })+
            })
        }
    };
}

solvers! {
    /// The solvers of friction contact problems.
    FrictionSolverKind of FrictionContact, friction_solver_of_cones(FrictionSolverParams) {
        Auto = "auto", friction::Auto::new, "the default: sweeps, then pivots, ADMM, Newton steps or the interior point, by structure and progress";
        Nsgs = "nsgs", friction::Nsgs::new, "many contacts with friction, moderate mass ratios; cheap sweeps, warm start";
        ProximalNewton = "proximal-newton", friction::ProximalNewton::new, "stacks, walls and other hyperstatic contacts to a tight tolerance";
        NewtonAlartCurnier = "newton-alart-curnier", friction::NonsmoothNewton::alart_curnier, "flexible bodies (W of full rank) to a tight tolerance";
        NewtonJeanMoreau = "newton-jean-moreau", friction::NonsmoothNewton::jean_moreau, "as newton-alart-curnier, with the bound of friction taken from the impulse; often the more robust";
        NewtonFischerBurmeister = "newton-fischer-burmeister", friction::NonsmoothNewton::fischer_burmeister, "smooth merit function on the second-order cone; small problems of full rank";
        Admm = "admm", friction::Admm::new, "large or redundant problems to moderate accuracy; one factorisation, cheap iterations";
        InteriorPoint = "interior-point", friction::InteriorPoint::new, "the most robust: hyperstatic contacts, large mass ratios; few iterations, no warm start";
        Tresca = "tresca", friction::Tresca::new, "reference: friction bounds fixed, a convex problem, bounds updated";
        Panagiotopoulos = "panagiotopoulos", friction::Panagiotopoulos::new, "reference: normal and tangential problems in turn";
        Aclm = "aclm", friction::Aclm::new, "robust on rank-deficient W: second-order cone programs with the slip term fixed";
        DeSaxce = "de-saxce", friction::DeSaxce::new, "reference: projections with a fixed step per contact";
        Extragradient = "extragradient", friction::Extragradient::new, "robust and slow: projections with a self-adaptive step";
        FixedPoint = "fixed-point", friction::FixedPoint::new, "one projection per iteration with a self-adaptive step";
        ProjectedGradient = "projected-gradient", friction::ProjectedGradient::new, "the convex relaxation (sliding contacts lift off); large piles, by explicit choice only";
        StewartTrinkle = "stewart-trinkle", friction::Polyhedral::stewart_trinkle, "polyhedral cones (2k facets) as an LCP by Lemke; approximate in space, exact in the plane";
        AnitescuPotra = "anitescu-potra", friction::Polyhedral::anitescu_potra, "the same LCP as stewart-trinkle: the forms differ in what q contains";
        Lemke = "lemke", friction::ViaLcp::lemke, "few contacts, frictionless or planar, redundant or ill-conditioned; finite and exact";
        Enumeration = "enumeration", friction::Enumeration::new, "at most 10 planar contacts: every combination of modes, all solutions";
        Pgs = "pgs", friction::ViaLcp::pgs, "many frictionless contacts where a moderate accuracy is enough";
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
    /// The solvers of friction contact problems in global form.
    GlobalSolverKind of GlobalFrictionContact, global_solver(GlobalSolverParams) {
        Reduction = "reduction", global::Reduction::new, "the default: W = Hᵀ M⁻¹ H by sparse factorisation, then a solver of the local form";
        Admm = "admm", global::Admm::new, "large M with many contacts: one sparse factorisation of M + ρ H Hᵀ, W never formed";
        Nsgs = "nsgs", global::Nsgs::new, "rigid bodies (M in blocks): sweeps that update velocities, memory in proportion to H";
        InteriorPoint = "interior-point", global::InteriorPoint::new, "hyperstatic problems to a tight tolerance; sparse systems in (v, r)";
    }
}

solvers! {
    /// The solvers of linear complementarity problems.
    LcpSolverKind of Lcp, lcp_solver(LcpSolverParams) {
        Auto = "auto", lcp::Auto::new, "the default: pivots when small, Newton on the min map when large or sparse, Lemke when that fails";
        Lemke = "lemke", lcp::Lemke::new, "small or degenerate LCP, up to 2000 rows; detects rays";
        PrincipalPivoting = "principal-pivoting", lcp::PrincipalPivoting::new, "symmetric positive semidefinite M; row after row as in Dantzig's and Baraff's algorithms, warm start";
        Murty = "murty", lcp::Murty::new, "P-matrices, sparse ones too; finite: blocks of rows change sides, one at a time where that cycles";
        Katzenelson = "katzenelson", lcp::Katzenelson::new, "piecewise-linear homotopy from q ≥ 0 to q; circuits, P-matrices";
        Enumeration = "enumeration", lcp::Enumeration::new, "at most 20 rows: every active set; all basic solutions";
        NewtonMin = "newton-min", lcp::NewtonMin::new, "large sparse or banded M; a few active-set steps";
        NewtonFischerBurmeister = "newton-fischer-burmeister", lcp::NewtonFischerBurmeister::new, "as newton-min with a smooth merit function and line search; more robust";
        Mangasarian = "mangasarian", lcp::Mangasarian::new, "smooth equation form for Newton's method; reference";
        InteriorPoint = "interior-point", lcp::InteriorPoint::new, "large monotone M, degenerate or not; some 10 to 30 iterations";
        ProjectedCg = "projected-cg", lcp::ProjectedCg::new, "large symmetric positive (semi)definite M, sparse products only";
        Pgs = "pgs", lcp::Pgs::new, "large LCP with positive diagonal and a good guess";
    }
}

solvers! {
    /// The solvers of mixed linear complementarity problems.
    MlcpSolverKind of Mlcp, mlcp_solver(MlcpSolverParams) {
        Elimination = "elimination", mlcp::Elimination::new, "the default: rank-revealing elimination of the equations, then an LCP solver";
        Lemke = "lemke", mlcp::Lemke::new, "pivots with free variables in the basis; detects rays";
        NewtonFischerBurmeister = "newton-fischer-burmeister", mlcp::NewtonFischerBurmeister::new, "large and sparse, equations and complementarity together";
        Pgs = "pgs", mlcp::Pgs::new, "large, positive diagonal, moderate accuracy";
        Enumeration = "enumeration", mlcp::Enumeration::new, "at most 20 complementarity rows: every active set";
    }
}

solvers! {
    /// The solvers of convex quadratic programs.
    QpSolverKind of ConvexQp, qp_solver(QpSolverParams) {
        ActiveSet = "active-set", qp::ActiveSet::new, "small strictly convex programs and sequences of them: exact, warm start";
        InteriorPoint = "interior-point", qp::InteriorPoint::new, "convex programs of any size, semidefinite ones too; some 10 to 30 iterations";
    }
}

solvers! {
    /// The solvers of variational inequalities and nonlinear complementarity problems.
    ViSolverKind of VariationalInequality, vi_solver(ViSolverParams) {
        SemismoothNewton = "semismooth-newton", vi::SemismoothNewton::new, "smooth F with its Jacobian: quadratic convergence, line search";
        Extragradient = "extragradient", vi::Extragradient::new, "monotone F without Jacobian: two projections per iteration, self-adaptive step";
        FixedPoint = "fixed-point", vi::FixedPoint::new, "strongly monotone F without Jacobian: one projection per iteration, self-adaptive step";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways_and_mistakes_are_answered() {
        for kind in FrictionSolverKind::ALL {
            assert_eq!(kind.name().parse::<FrictionSolverKind>().unwrap(), *kind);
        }
        let error = "ngs".parse::<FrictionSolverKind>().unwrap_err();
        assert_eq!(error, SolveError::UnknownSolver { name: "ngs".into(), nearest: "nsgs" });
    }

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
