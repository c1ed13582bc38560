//! The flyball governor: a stiff mechanism without constraints.
//!
//! Benchmark A05 of the IFToMM library of multibody problems (González, Dopico, Lugrís, Cuadrado, *A benchmarking system for MBS
//! simulation software*, 2006): a shaft turns freely about the vertical z; two rods, hinged to it at (±0.05, 0, 1) m, carry tip masses; a
//! slider moves on the shaft, joined to the middle of each rod by a strong spring and damper that ends at (±0.05, 0, s). By symmetry both
//! rods make the angle α with the horizontal.
//!
//! ```text
//! T = ½ J(α) ψ̇² + ½ I α̇² + ½ m_s ṡ²,     V = 2 g (m_r z_m + m_t z_t) + m_s g s + K (ℓ − ℓ₀)²,     Q = −2 C ℓ̇ ∂ℓ/∂(α, s)
//! ```
//!
//! Rods, shaft and slider are solid boxes of density 3000 kg/m³ (1 × 0.01 × 0.01 m, and a cube of 0.1 m), tip masses are points. The
//! springs make it stiff: the mode of the slider decays at 8.1e3 1/s, the motion takes seconds.

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use super::mechanisms::{Mechanism, Reference};
use crate::error::ModelError;
use crate::model::Model;
use crate::state::State;
use crate::systems::{Lagrangian, LagrangianText};
use std::f64::consts::PI;

/// The governor, released with the springs at rest, ψ̇ = 2π rad/s and α = 30°; coordinates ψ, α, s. References at 1, 5 and 10 s agree
/// between two independent methods to 7e-13.
///
/// # Errors
/// None for these parameters.
pub fn flyball() -> Result<Mechanism, ModelError> {
    let (density, length, side, cube) = (3000.0, 1.0, 0.01, 0.1);
    let (rod, slider) = (density * length * side * side, density * cube * cube * cube);
    let (along, across) = (rod * side * side / 6.0, rod * (length * length + side * side) / 12.0);
    let parameters = [
        ("g", 9.81),
        ("m", rod),
        ("m_tip", 5.0),
        ("m_slider", slider),
        // the shaft about its axis, and the cube about z
        ("j", along + slider * cube * cube / 6.0),
        ("along", along),
        ("across", across),
        ("k", 8e5),
        ("c", 4e4),
    ];
    // spring from (0.05 + 0.5 cos α, 1 − 0.5 sin α) to (0.05, s): ℓ² = 0.25 cos² α + (1 − 0.5 sin α − s)²
    let spring = "sqrt(0.25*cos(alpha)^2 + (1 - 0.5*sin(alpha) - s)^2)";
    // ℓ ∂ℓ/∂α and ℓ ∂ℓ/∂s
    let by_alpha = "(-0.25*cos(alpha)*sin(alpha) - 0.5*cos(alpha)*(1 - 0.5*sin(alpha) - s))";
    let by_s = "(-(1 - 0.5*sin(alpha) - s))";
    let damping = |slope: &str| format!("-2*c*({by_alpha}*alpha_dot + {by_s}*s_dot)*{slope}/{spring}^2");
    let text = LagrangianText {
        coordinates: ["psi", "alpha", "s"].map(String::from).to_vec(),
        parameters: parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        kinetic: "0.5*psi_dot^2*(j + 2*(m*(0.05 + 0.5*cos(alpha))^2 + m_tip*(0.05 + cos(alpha))^2 \
                  + along*sin(alpha)^2 + across*cos(alpha)^2)) + alpha_dot^2*(across + 0.25*m + m_tip) + 0.5*m_slider*s_dot^2"
            .into(),
        potential: format!("g*(2*(m*(1 - 0.5*sin(alpha)) + m_tip*(1 - sin(alpha))) + m_slider*s) + k*({spring} - 0.5)^2"),
        forces: vec![("alpha".into(), damping(by_alpha)), ("s".into(), damping(by_s))],
    };
    let model = Model::new(vec![Box::new(Lagrangian::new(&text)?)])?;
    let state = State { t: 0.0, q: vec![0.0, PI / 6.0, 0.5], v: vec![2.0 * PI, 0.0, 0.0], ..State::default() };
    let at = |t: f64, q: [f64; 3], v: [f64; 3]| Reference { t, q: q.to_vec(), v: v.to_vec(), lambda: Vec::new() };
    let references = vec![
        at(1.0, [5.5863469658690095, 0.521833301625545, 0.501420922379569], [6.271125741876546, 0.1408855794795277, -0.12215149289774668]),
        at(5.0, [27.94253199104301, 0.4828745765869395, 0.5355631037216434], [6.022496499758456, 0.613917047388921, -0.5436826902778976]),
        at(
            10.0,
            [55.93540990910262, 0.39007370184464046, 0.6196229170613701],
            [5.548203622654906, 0.8084670513455862, -0.7476033541643287],
        ),
    ];
    Ok(Mechanism { model, state, references })
}
