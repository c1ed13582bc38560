//! The woodpecker toy [Glocker and Studer 2005; Leine, Glocker and van Campen 2003].
//!
//! Coordinates (y, φ_M, φ_S): height of the sleeve, angles of sleeve and bird. Three frictional contacts: the beak
//! against the pole, the lower and the upper edge of the sleeve. Reference: published end state of a Moreau–Jean run,
//! θ = 1/2, h = 2e-5 s, t = 0.29998 s.

use super::{Problem, Solution};
use crate::error::ModelError;
use crate::laws::{ContactLaw, Law};
use crate::model::Model;
use crate::relations::FormulaSource;
use crate::state::State;
use crate::systems::Linear;

/// The published case.
///
/// # Errors
/// None for these parameters.
pub fn problem() -> Result<Problem, ModelError> {
    let (m_m, m_s, j_m, j_s, c_phi, g) = (3e-4, 4.5e-3, 5e-9, 7e-7, 0.0056, 9.81);
    let (l_m, l_g) = (0.010, 0.015);
    let mass = vec![
        m_s + m_m,
        m_s * l_m,
        m_s * l_g,
        m_s * l_m,
        j_m + m_s * l_m * l_m,
        m_s * l_m * l_g,
        m_s * l_g,
        m_s * l_m * l_g,
        j_s + m_s * l_g * l_g,
    ];
    let stiffness = vec![0.0, 0.0, 0.0, 0.0, c_phi, -c_phi, 0.0, -c_phi, c_phi];
    let names = ["y", "phi_m", "phi_s"].map(String::from).to_vec();
    let force = vec![-g * (m_s + m_m), -g * m_s * l_m, -g * m_s * l_g];
    let system = Linear::new(names, mass, vec![0.0; 9], stiffness)?.with_force(force)?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let parameters: Vec<(String, f64)> =
        [("r_o", 0.0025), ("r_m", 0.0031), ("h_m", 0.0058), ("l_m", l_m), ("l_g", l_g), ("h_s", 0.02), ("l_s", 0.0201)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
    let contacts = [
        ("beak", "l_m + l_g - l_s - r_o - h_s*phi_s", "y + l_m*phi_m + (l_g - l_s)*phi_s", 0.5),
        ("lower edge", "r_m - r_o + h_m*phi_m", "y + r_m*phi_m", 0.0),
        ("upper edge", "r_m - r_o - h_m*phi_m", "y + r_m*phi_m", 0.0),
    ];
    for (name, gap, tangent, restitution) in contacts {
        let rows = vec![(format!("gap of \"{name}\""), gap.to_owned()), (format!("tangent of \"{name}\""), tangent.to_owned())];
        let law = Law::Contact(ContactLaw::coulomb(0.3, restitution));
        model.add_formula(name, &FormulaSource { rows, parameters: parameters.clone() }, law)?;
    }
    let state = State { t: 0.0, q: vec![0.0, -0.1036, -0.2788], v: vec![-0.3411, 4.8572e-15, -7.4583], ..State::default() };
    let solution = Solution::AtEnd(
        vec![-4.134_818_676_833_654e-2, -0.103_468_468_271_736_1, -0.340_933_975_550_430_1],
        vec![-0.260_137_330_791_377_1, 0.0, -8.327_555_353_239_312],
    );
    Ok(Problem { model, state, end: 0.29998, solution })
}
