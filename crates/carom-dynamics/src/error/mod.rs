//! What can go wrong while a model is built or run.

mod edge;
mod integration;
mod record;
mod run;

pub use edge::EdgeError;
pub use integration::{IntegrationError, Violation};
pub use record::RecordError;
pub use run::RunError;

use crate::formula::FormulaError;
use carom_solvers::SolveError;

/// A value that is not finite, with the name of what gave it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {value}")]
pub struct NonFinite {
    /// The formula or quantity.
    pub what: String,
    /// Its value: NaN or an infinity.
    pub value: f64,
}

/// A model that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A formula cannot be read.
    #[error("{what}: {error}")]
    Formula {
        /// Which formula.
        what: String,
        /// Its text.
        text: String,
        /// What is wrong, and where in the text.
        error: Box<FormulaError>,
    },
    /// The kinetic energy is not quadratic in the rates.
    #[error("the kinetic energy is not quadratic in the rates: ∂²T/∂{first}∂{second} still depends on {rate}")]
    NotQuadratic {
        /// First rate.
        first: String,
        /// Second rate.
        second: String,
        /// The rate that should not appear.
        rate: String,
    },
    /// A constraint or contact that nothing can influence.
    #[error("the {what} depends on no coordinate")]
    NoCoordinate {
        /// The formula.
        what: String,
    },
    /// A velocity constraint that is not affine in the rates.
    #[error(
        "the {what} is not affine in the rates: its derivative by {rate} still depends on rates; only A(t,q) q̇ + b(t,q) = 0 can be a constraint"
    )]
    NotAffine {
        /// The formula.
        what: String,
        /// Its text.
        text: String,
        /// The rate.
        rate: String,
    },
    /// A velocity constraint without velocities.
    #[error("the {what} depends on no rate: give it as an equation of positions, or use rates such as x_dot or ball.vx")]
    NoRate {
        /// The formula.
        what: String,
        /// Its text.
        text: String,
    },
    /// A scheme that does not know what the model asks for.
    #[error("the scheme \"{scheme}\" does not know {feature}, needed by {by}; schemes that do: {alternatives}")]
    SchemeRefuses {
        /// The scheme.
        scheme: &'static str,
        /// What it does not know.
        feature: &'static str,
        /// What asks for it.
        by: String,
        /// Schemes that know it.
        alternatives: String,
    },
    /// A strategy that does not know what the model asks for.
    #[error("the strategy \"{strategy}\" does not know {feature}, needed by {by}; strategies that do: {alternatives}")]
    StrategyRefuses {
        /// The strategy.
        strategy: &'static str,
        /// What it does not know.
        feature: &'static str,
        /// What asks for it.
        by: String,
        /// Strategies that know it.
        alternatives: &'static str,
    },
    /// A law that acts on rows which the relation does not have.
    #[error("\"{name}\" has {rows} row(s); {law} needs {needed}")]
    LawNeedsRows {
        /// The contact.
        name: String,
        /// The law.
        law: &'static str,
        /// Rows of the relation.
        rows: usize,
        /// What the law needs.
        needed: &'static str,
    },
    /// A number out of its range.
    #[error("{what} = {value}: {expected}")]
    OutOfRange {
        /// The quantity.
        what: String,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// An array of the wrong length.
    #[error("{what} has {found} entries, {expected} are needed")]
    WrongLength {
        /// The array.
        what: String,
        /// Entries needed.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// A body's inertia cannot belong to a body.
    #[error("body \"{body}\": inertia with principal moments ({0:.6}, {1:.6}, {2:.6}) is not physical: each must be positive and none larger than the sum of the other two", .moments[0], .moments[1], .moments[2])]
    Inertia {
        /// The body.
        body: String,
        /// Principal moments [kg m²].
        moments: [f64; 3],
    },
    /// Two things with one name.
    #[error("two {what}s are called \"{name}\"")]
    DuplicateName {
        /// What they are.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A condition that says nothing about where a piece holds.
    #[error("the {what} is no comparison: write for example `x >= 0`, or `x >= 0 and x < 2`; `==` and `!=` bound no piece")]
    Condition {
        /// The condition.
        what: String,
        /// Its text.
        text: String,
    },
    /// Pieces that make no relation.
    #[error("the pieces of \"{name}\": {reason}")]
    Pieces {
        /// The constraint or contact.
        name: String,
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A joint that cannot be built.
    #[error("joint \"{joint}\": {reason}")]
    Joint {
        /// The joint.
        joint: String,
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A force element that cannot be built.
    #[error("force \"{force}\": {reason}")]
    Force {
        /// The element.
        force: String,
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A sensor, controller or actuator that cannot be built.
    #[error("{part}: {reason}")]
    Control {
        /// Which one.
        part: String,
        /// What is wrong and how to mend it.
        reason: String,
    },
    /// A matrix that should be symmetric positive definite is not.
    #[error("the mass matrix of {system} is not symmetric positive definite at the initial state")]
    MassNotPositive {
        /// The system.
        system: String,
    },
    /// An initial state that is not one.
    #[error("initial state of {system}: {reason}")]
    BadState {
        /// The system.
        system: String,
        /// What is wrong.
        reason: String,
    },
    /// A contact with a coefficient that the impact law does not know.
    #[error("the impact law \"{law}\" has no tangential restitution, and {by} asks for it; use \"newton\" or \"sequential\"")]
    ImpactLawRefuses {
        /// The law.
        law: &'static str,
        /// The contact that asks for it.
        by: String,
    },
    /// Contacts in a model for a strategy that cannot follow them.
    #[error(
        "the strategy \"smooth\" cannot follow contacts, and the model has {names}; use strategy = \"time-stepping\", or leave the contacts out"
    )]
    HasContacts {
        /// The contacts, in words.
        names: String,
    },
    /// A name that formulas cannot use.
    #[error("\"{name}\" cannot name a {what}: use letters, digits and _; not t, pi, and, or, not")]
    BadName {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An output too far from its multiplier for the scheme.
    #[error(
        "the output of {row} in \"{relation}\" has relative degree {degree} (its multiplier acts on its derivative of order {degree}): {}", degree_advice(*.degree)
    )]
    RelativeDegree {
        /// The relation.
        relation: String,
        /// The row.
        row: String,
        /// Its relative degree.
        degree: u32,
    },
    /// An output on which no multiplier acts.
    #[error(
        "no multiplier acts on the output of {row} in \"{relation}\", directly or through the states: its law cannot be obeyed. Let the multiplier act on a state that the output depends on"
    )]
    NoInfluence {
        /// The relation.
        relation: String,
        /// The row.
        row: String,
    },
    /// A multiplier that pushes its own output the wrong way.
    #[error(
        "the multiplier of {row} in \"{relation}\" lowers its own output (by {slope:.3e} per unit, over a step): 0 ≤ y ⟂ λ ≥ 0 then has two solutions or none{passivity}. Turn the sign of the multiplier in the rates or in the output, \
         add a resistance to the output, or use a smaller step if one is there already"
    )]
    NotSolvable {
        /// The relation.
        relation: String,
        /// The row.
        row: String,
        /// The diagonal entry of the one-step matrix.
        slope: f64,
        /// What is known of the passivity of the system, in brackets.
        passivity: String,
    },
    /// s M − A is singular for every s.
    #[error(
        "the pencil s M − A of the states {states} is singular: some combination of the equations leaves a state undetermined. Give every state an equation of its own (a row of M or A that is independent of the others)"
    )]
    SingularPencil {
        /// The states.
        states: String,
    },
    /// A scheme that needs a linear system.
    #[error("the scheme \"{scheme}\" needs a linear first-order system (constant M, A, B, C, D), and {why}; use \"euler-moreau\"")]
    NotLinear {
        /// The scheme.
        scheme: &'static str,
        /// What is not linear.
        why: &'static str,
    },
    /// A value that is not finite at the initial state.
    #[error("at the initial state, {0}")]
    NonFinite(#[from] NonFinite),
}

/// What to do about a relative degree.
fn degree_advice(degree: u32) -> &'static str {
    if degree == 2 {
        "with theta < 1 or gamma < 1 its state would bounce or oscillate after a jump; use theta = 1 and gamma = 1 (backward Euler, inelastic), or a mechanical model with an impact law"
    } else {
        "time-stepping does not converge there (Brogliato2002, §6.2: backward Euler diverges as the step shrinks); reduce the degree by an output that is a derivative of this one, or by a multiplier that acts more directly"
    }
}

/// A step that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A model that the scheme cannot start.
    #[error(transparent)]
    Refused(#[from] ModelError),
    /// A matrix of the first-order part has no inverse.
    #[error(
        "at t = {t:.9} s, the matrix {matrix} of the first-order system is singular at the state {state}: is its equation missing, or the same as another?"
    )]
    SingularFirstOrder {
        /// Time \[s\].
        t: f64,
        /// The state with the vanishing pivot.
        state: String,
        /// The matrix.
        matrix: &'static str,
    },
    /// Initial data from which no jump leads to admissible ones.
    #[error(
        "at t = {t:.9} s, the initial states break the law of {place} and no jump leads to states that obey it (residual {residual:.3e}): choose other initial states, or check the signs of B, C and D"
    )]
    NoConsistentStart {
        /// Time \[s\].
        t: f64,
        /// The relation and its row in which the problem is worst, where this is known.
        place: String,
        /// What is left of the problem.
        residual: f64,
    },
    /// A quantity is not finite.
    #[error("at t = {t:.9} s, {source}")]
    NonFinite {
        /// Time \[s\].
        t: f64,
        /// What is not finite.
        source: NonFinite,
    },
    /// The iteration matrix M + hθC + h²θ²K of a system has no inverse.
    #[error(
        "at t = {t:.9} s, the iteration matrix of {system} (block {block}) is singular: is a mass zero, or does it turn too far in a step?"
    )]
    SingularIterationMatrix {
        /// Time \[s\].
        t: f64,
        /// Name of the first coordinate of the block.
        system: String,
        /// Number of the block.
        block: usize,
    },
    /// The solver refused the one-step problem.
    #[error("at t = {t:.9} s, {source}")]
    Solve {
        /// Time \[s\].
        t: f64,
        /// Why.
        source: SolveError,
    },
}
