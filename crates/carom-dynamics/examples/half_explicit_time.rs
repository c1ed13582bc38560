//! Time of the four-bar linkage over 2 s at tolerance 1e-10: `cargo run --release -p carom-dynamics --example half_explicit_time`.

use carom_dynamics::error::IntegrationError;
use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams};
use carom_dynamics::problems::mechanisms::four_bar;
use std::time::Instant;

fn main() -> Result<(), IntegrationError> {
    let mechanism = four_bar()?;
    for kind in [IntegratorKind::Hem5, IntegratorKind::Phem56] {
        let params = IntegratorParams { kind, tolerance: 1e-10, ..IntegratorParams::default() };
        let (mut best, mut steps) = (f64::INFINITY, 0);
        for _ in 0..50 {
            let start = Instant::now();
            let mut integration = Integration::new(&mechanism.model, &mechanism.state, &params)?;
            while integration.point().t < 2.0 {
                integration.step(2.0)?;
            }
            best = best.min(1e3 * start.elapsed().as_secs_f64());
            steps = integration.statistics().accepted;
        }
        println!("{:<8}{steps:>6} steps{best:>8.2} ms", kind.name());
    }
    Ok(())
}
