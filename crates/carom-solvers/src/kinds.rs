//! The kinds of problems and of solvers: the name and the use of each solver, one line each.
//!
//! A line gives the variant of the kind, the name in model files and on the command line, and when to use it. Who constructs them is the
//! registry.

use crate::error::SolveError;
use crate::parameters::nearest_name;

/// The kinds of one-step problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// [`crate::FrictionContact`].
    FrictionContact,
    /// [`crate::GlobalFrictionContact`].
    GlobalFrictionContact,
    /// [`crate::Lcp`].
    Lcp,
    /// [`crate::Mlcp`].
    Mlcp,
    /// [`crate::ConvexQp`].
    Qp,
    /// [`crate::VariationalInequality`].
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

/// The solvers of one kind of problem: an enum of their kinds and their names.
macro_rules! kinds {
    (
        $(#[$doc:meta])*
        $kind:ident {
            $($variant:ident = $name:literal, $summary:literal;)+
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
    };
}

kinds! {
    /// The solvers of friction contact problems.
    FrictionSolverKind {
        Auto = "auto", "the default: sweeps, then pivots, ADMM, Newton steps or the interior point, by structure and progress";
        Nsgs = "nsgs", "many contacts with friction, moderate mass ratios; cheap sweeps, warm start";
        ProximalNewton = "proximal-newton", "stacks, walls and other hyperstatic contacts to a tight tolerance";
        NewtonAlartCurnier = "newton-alart-curnier", "flexible bodies (W of full rank) to a tight tolerance";
        NewtonJeanMoreau = "newton-jean-moreau", "as newton-alart-curnier, with the bound of friction taken from the impulse; often the more robust";
        NewtonFischerBurmeister = "newton-fischer-burmeister", "smooth merit function on the second-order cone; small problems of full rank";
        Admm = "admm", "large or redundant problems to moderate accuracy; one factorisation, cheap iterations";
        InteriorPoint = "interior-point", "the most robust: hyperstatic contacts, large mass ratios; few iterations, no warm start";
        Tresca = "tresca", "reference: friction bounds fixed, a convex problem, bounds updated";
        Panagiotopoulos = "panagiotopoulos", "reference: normal and tangential problems in turn";
        Aclm = "aclm", "robust on rank-deficient W: second-order cone programs with the slip term fixed";
        DeSaxce = "de-saxce", "reference: projections with a fixed step per contact";
        Extragradient = "extragradient", "robust and slow: projections with a self-adaptive step";
        FixedPoint = "fixed-point", "one projection per iteration with a self-adaptive step";
        ProjectedGradient = "projected-gradient", "the convex relaxation (sliding contacts lift off); large piles, by explicit choice only";
        StewartTrinkle = "stewart-trinkle", "polyhedral cones (2k facets) as an LCP by Lemke; approximate in space, exact in the plane";
        AnitescuPotra = "anitescu-potra", "the same LCP as stewart-trinkle: the forms differ in what q contains";
        Lemke = "lemke", "few contacts, frictionless or planar, redundant or ill-conditioned; finite and exact";
        Enumeration = "enumeration", "at most 10 planar contacts: every combination of modes, all solutions";
        Pgs = "pgs", "many frictionless contacts where a moderate accuracy is enough";
    }
}

kinds! {
    /// The solvers of friction contact problems in global form.
    GlobalSolverKind {
        Reduction = "reduction", "the default: W = Hᵀ M⁻¹ H by sparse factorisation, then a solver of the local form";
        Admm = "admm", "large M with many contacts: one sparse factorisation of M + ρ H Hᵀ, W never formed";
        Nsgs = "nsgs", "rigid bodies (M in blocks): sweeps that update velocities, memory in proportion to H";
        InteriorPoint = "interior-point", "hyperstatic problems to a tight tolerance; sparse systems in (v, r)";
    }
}

kinds! {
    /// The solvers of linear complementarity problems.
    LcpSolverKind {
        Auto = "auto", "the default: pivots when small, Newton on the min map when large or sparse, Lemke when that fails";
        Lemke = "lemke", "small or degenerate LCP, up to 2000 rows; detects rays";
        PrincipalPivoting = "principal-pivoting", "symmetric positive semidefinite M; row after row as in Dantzig's and Baraff's algorithms, warm start";
        Murty = "murty", "P-matrices, sparse ones too; finite: blocks of rows change sides, one at a time where that cycles";
        Katzenelson = "katzenelson", "piecewise-linear homotopy from q ≥ 0 to q; circuits, P-matrices";
        Enumeration = "enumeration", "at most 20 rows: every active set; all basic solutions";
        NewtonMin = "newton-min", "large sparse or banded M; a few active-set steps";
        NewtonFischerBurmeister = "newton-fischer-burmeister", "as newton-min with a smooth merit function and line search; more robust";
        Mangasarian = "mangasarian", "smooth equation form for Newton's method; reference";
        InteriorPoint = "interior-point", "large monotone M, degenerate or not; some 10 to 30 iterations";
        ProjectedCg = "projected-cg", "large symmetric positive (semi)definite M, sparse products only";
        Pgs = "pgs", "large LCP with positive diagonal and a good guess";
    }
}

kinds! {
    /// The solvers of mixed linear complementarity problems.
    MlcpSolverKind {
        Elimination = "elimination", "the default: rank-revealing elimination of the equations, then an LCP solver";
        Lemke = "lemke", "pivots with free variables in the basis; detects rays";
        NewtonFischerBurmeister = "newton-fischer-burmeister", "large and sparse, equations and complementarity together";
        Pgs = "pgs", "large, positive diagonal, moderate accuracy";
        Enumeration = "enumeration", "at most 20 complementarity rows: every active set";
    }
}

kinds! {
    /// The solvers of convex quadratic programs.
    QpSolverKind {
        ActiveSet = "active-set", "small strictly convex programs and sequences of them: exact, warm start";
        InteriorPoint = "interior-point", "convex programs of any size, semidefinite ones too; some 10 to 30 iterations";
    }
}

kinds! {
    /// The solvers of variational inequalities and nonlinear complementarity problems.
    ViSolverKind {
        SemismoothNewton = "semismooth-newton", "smooth F with its Jacobian: quadratic convergence, line search";
        Extragradient = "extragradient", "monotone F without Jacobian: two projections per iteration, self-adaptive step";
        FixedPoint = "fixed-point", "strongly monotone F without Jacobian: one projection per iteration, self-adaptive step";
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
}
