//! Variational inequalities.

mod extragradient;
mod fixed_point;
mod semismooth_newton;

pub use extragradient::Extragradient;
pub use fixed_point::FixedPoint;
pub use semismooth_newton::SemismoothNewton;

/// A variational inequality.
#[derive(Debug, Default)]
pub struct VariationalInequality {}
