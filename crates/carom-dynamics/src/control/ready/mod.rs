//! Controllers that everybody needs, written as controllers by formula.

mod observer;
mod pid;
mod sliding;

pub use observer::ObserverSource;
pub use pid::PidSource;
pub use sliding::{SlidingSource, TwistingSource};

/// The kinds as model files name them, each with what it does.
pub const LIST: &[(&str, &str)] = &[
    ("formula", "outputs, states and modes by formula, sampled or in continuous time"),
    ("pid", "proportional, integral, derivative, with filtered derivative, limits and anti-windup"),
    ("computed-torque", "feedback linearisation by the model's own mass matrix and forces: e'' + kd e' + kp e = 0"),
    ("passivity", "tracking by the law of Slotine and Li, with the model's own equations"),
    ("sliding-mode", "u = equivalent − gain sign(s): explicit (sampled, chatters) or implicit (solved with the step, does not)"),
    ("twisting", "u = −k1 sign(s) − k2 sign(s'): explicit or implicit"),
    ("observer", "Luenberger observer of a linear system, sampled (exact discretisation) or in continuous time"),
];
