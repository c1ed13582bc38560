//! The part of a velocity normal to the constraints, in the metric of the mass.

use crate::error::IntegrationError;
use crate::smooth::{Equations, Kkt, MotionPoint};

/// Finds e with M e = Gᵀν and G e = r at a point; e = 0 where the constraints are singular there. Cost: one factorisation of the complement.
#[derive(Default)]
pub(super) struct NormalPart {
    kkt: Kkt,
    mass: Vec<f64>,
    g: Vec<f64>,
    explicit: Vec<f64>,
    right: Vec<f64>,
    multiplier: Vec<f64>,
    none: Vec<f64>,
    /// The result.
    pub part: Vec<f64>,
}

impl NormalPart {
    /// Sizes the arrays for the rows in use.
    pub fn resize(&mut self, equations: &Equations<'_>) {
        let (n, m) = (equations.n_v(), equations.n_rows());
        self.mass.resize(equations.layout().n_values(), 0.0);
        self.g.resize(equations.rows().n_values(), 0.0);
        [&mut self.explicit, &mut self.right, &mut self.multiplier].into_iter().for_each(|array| array.resize(m, 0.0));
        [&mut self.none, &mut self.part].into_iter().for_each(|array| array.resize(n, 0.0));
    }

    /// Writes the part of `v` for r = G v + c b.
    pub fn find(&mut self, equations: &mut Equations<'_>, point: &MotionPoint, v: &[f64], c: f64) -> Result<(), IntegrationError> {
        let layout = equations.layout();
        self.part.fill(0.0);
        if equations.n_rows() == 0 {
            return Ok(());
        }
        equations.mass(point.t, &point.q, &mut self.mass)?;
        equations.jacobian(point.t, &point.q, &mut self.g, &mut self.explicit)?;
        equations.rows().multiply(&self.g, v, &mut self.right);
        self.right.iter_mut().zip(&self.explicit).for_each(|(right, b)| *right += c * b);
        equations.statistics.factorisations += 1;
        equations.statistics.solves += 1;
        if self.kkt.factorise(layout, equations.rows(), &self.mass, &self.g, None).is_ok() {
            self.kkt.solve(layout, equations.rows(), &self.none, &self.right, &mut self.part, &mut self.multiplier);
        }
        Ok(())
    }
}
