//! carom with its default settings for bodies with shapes.

use crate::engine::{Engine, Proof};
use carom::dynamics::schemes::{MoreauGap, Scheme, take_step};
use carom::dynamics::report::StepReport;
use carom::dynamics::{Model, State, StepMemory};
use carom::scenes::Scene;
use carom::solvers::FrictionSolverParams;
use std::error::Error;

/// A run of carom.
pub struct CaromEngine {
    scheme: MoreauGap,
    model: Model,
    state: State,
    memory: StepMemory,
    h: f64,
    steps: usize,
    last: StepReport,
    residual: f64,
    unconverged: usize,
    iterations: usize,
}

impl CaromEngine {
    /// The scene at its start.
    pub fn new(scene: &Scene) -> Result<Self, Box<dyn Error>> {
        let scheme = MoreauGap::default();
        let (model, state) = scene.model()?;
        let mut memory = StepMemory::new(&model, &scheme.solver().unwrap_or_else(FrictionSolverParams::default))?;
        scheme.start(&model, &state, &mut memory)?;
        Ok(Self {
            scheme,
            model,
            state,
            memory,
            h: scene.step,
            steps: 0,
            last: StepReport::default(),
            residual: 0.0,
            unconverged: 0,
            iterations: 0,
        })
    }
}

impl Engine for CaromEngine {
    fn name(&self) -> &'static str {
        "carom"
    }

    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        self.last = take_step(&self.scheme, &self.model, &mut self.state, &mut self.memory, self.h)?;
        self.scheme.accept(&self.model, &self.state, &mut self.memory);
        self.steps += 1;
        self.state.t = self.steps as f64 * self.h;
        Ok(())
    }

    fn account(&mut self) {
        if let Some(solve) = &self.last.solve {
            self.residual = self.residual.max(solve.residual_normalised);
            self.iterations += solve.iterations;
        }
        self.unconverged += usize::from(!self.last.converged());
    }

    fn trace(&self) -> Option<String> {
        let solve = self.last.solve.as_ref()?;
        let deepest = self.last.violations.penetration;
        Some(format!("{} {} {} {:.2e} {deepest:.2e} m", self.last.n_active, solve.solver, solve.iterations, solve.residual_normalised))
    }

    fn read(&self, state: &mut State) {
        state.clone_from(&self.state);
    }

    fn proof(&self) -> Option<Proof> {
        let iterations = self.iterations as f64 / self.steps.max(1) as f64;
        Some(Proof { residual: self.residual, unconverged: self.unconverged, iterations })
    }
}
