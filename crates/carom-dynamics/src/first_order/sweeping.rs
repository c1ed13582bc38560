//! Sweeping processes −u̇ ∈ N_{C(t)}(u) + f(t, u), as first-order systems.
//!
//! C(t) = {u : c_i(t, u) ≥ 0} is an intersection of moving sets. Its normal cone is spanned by the gradients of the constraints that hold with equality, so that
//!
//! ```text
//! u̇ = −f(t, u) + Σ λ_i ∇c_i(t, u),     0 ≤ c_i(t, u) ⟂ λ_i ≥ 0
//! ```
//!
//! is the process [Moreau1999, (1) and §3.3]. Backward Euler on it is the catching-up algorithm u_{k+1} = prox(C(t_{k+1}), u_k − h f): its equations are those of the
//! nearest point, gradients taken at the end of the step [Moreau1999, §4]. Jumps of C(t) need nothing else: u⁺ = prox(C⁺, u⁻) is the jump law (§6).
//!
//! With a stiffness κ the process is that of Yosida's regularisation, drawn to the nearest point n of the whole set [Moreau1999, (18)]:
//!
//! ```text
//! u̇ = −f(t, u) − κ (u − n),     n = prox(C(t), u):     n = u + Σ λ_i ∇c_i(t, n)/κ,     0 ≤ c_i(t, n) ⟂ λ_i ≥ 0
//! ```
//!
//! (not the sum of the penalties of single constraints, which differs at corners). Backward Euler is its stiff integrator. The coordinates of n are called `near.STATE`: formulas of u and λ where all constraints are affine
//! in u, unknowns of their own otherwise.
//!
//! Normals and gradients of half-spaces, boxes and polytopes are made of unit length, and balls are measured by (R² − |u − a|²)/(2R), of unit slope on the boundary: λ is the size of what the face does to u̇.

use super::law::MultiplierLaw;
use super::source::{FirstOrderSource, RelationSource};
use crate::error::ModelError;
use crate::formula::{Expr, Graph, Scope};
use crate::systems::Coordinate;
use crate::systems::formula_force::parse;

/// A set that may move, by formulas of t and parameters (and of the states, for [`MovingSet::Inequality`]).
#[derive(Clone, Debug, PartialEq)]
pub enum MovingSet {
    /// {u : normal · (u − translation) ≤ offset}; the normal may move too.
    HalfSpace {
        /// Outward normal, one formula per state, not zero.
        normal: Vec<String>,
        /// Offset.
        offset: String,
    },
    /// {u : |u − translation − centre| ≤ radius}.
    Ball {
        /// Centre, one formula per state.
        centre: Vec<String>,
        /// Radius > 0.
        radius: String,
    },
    /// {u : lower ≤ u − translation ≤ upper}; `None` where there is no bound.
    Box {
        /// Lower bounds, one per state.
        lower: Vec<Option<String>>,
        /// Upper bounds, one per state.
        upper: Vec<Option<String>>,
    },
    /// {u : G (u − translation) ≤ g}.
    Polytope {
        /// Rows of G.
        facets: Vec<Vec<f64>>,
        /// g.
        bounds: Vec<String>,
    },
    /// {u : c(t, u) ≥ 0}, convex or not.
    Inequality {
        /// c.
        formula: String,
    },
}

/// A moving set with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSet {
    /// Name; its multipliers are called so, with `_1`, `_2` … where there are several.
    pub name: String,
    /// The set.
    pub set: MovingSet,
    /// How it is carried along, one formula per state; empty for not at all.
    pub translation: Vec<String>,
}

/// The text of a sweeping process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepingSource {
    /// The components of u.
    pub states: Vec<Coordinate>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
    /// −f by state: what u̇ is inside the set; empty for zero.
    pub rates: Vec<String>,
    /// The sets whose intersection is C(t).
    pub sets: Vec<NamedSet>,
    /// κ > 0 of the penalised process \[1/s\]; `None` for the process itself.
    pub stiffness: Option<f64>,
}

impl SweepingSource {
    /// The process as a first-order system.
    ///
    /// # Errors
    /// [`ModelError`] for formulas that cannot be read and numbers of entries that do not fit.
    pub fn system(&self) -> Result<FirstOrderSource, ModelError> {
        let n = self.states.len();
        let mut rates = if self.rates.is_empty() { vec!["0".to_owned(); n] } else { self.rates.clone() };
        let names: Vec<String> = match self.stiffness {
            None => self.states.iter().map(|state| state.name.clone()).collect(),
            Some(_) => self.states.iter().map(|state| format!("near.{}", state.name)).collect(),
        };
        let (mut relations, mut reactions, mut is_affine) = (Vec::new(), vec![Vec::new(); n], true);
        for named in &self.sets {
            let constraints = self.constraints(named)?;
            let label = |k: usize| if constraints.len() == 1 { named.name.clone() } else { format!("{}_{}", named.name, k + 1) };
            let multipliers: Vec<String> = (0..constraints.len()).map(label).collect();
            let mut outputs = Vec::new();
            for (multiplier, constraint) in multipliers.iter().zip(&constraints) {
                let face = self.face(&named.name, constraint, &names)?;
                for (reaction, slope) in reactions.iter_mut().zip(&face.slopes).filter(|(_, slope)| *slope != "0") {
                    reaction.push(format!("{multiplier}*({slope})"));
                }
                is_affine &= face.is_affine;
                outputs.push(face.output);
            }
            relations.push(RelationSource {
                name: named.name.clone(),
                multipliers,
                outputs,
                law: MultiplierLaw::Complementarity,
                compliance: 0.0,
            });
        }
        let sum = |terms: &[String]| if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        let mut inputs = Vec::new();
        if let Some(stiffness) = self.stiffness {
            let nearest: Vec<String> = self
                .states
                .iter()
                .zip(&reactions)
                .map(|(state, terms)| format!("{} + ({})/{stiffness:e}", state.name, sum(terms)))
                .collect();
            match is_affine {
                true => inputs = names.into_iter().zip(nearest).collect(),
                false => relations.push(nearest_point(names, &nearest)),
            }
        }
        for (rate, terms) in rates.iter_mut().zip(&reactions).filter(|(_, terms)| !terms.is_empty()) {
            *rate = format!("({rate}) + {}", sum(terms));
        }
        let (states, parameters) = (self.states.clone(), self.parameters.clone());
        Ok(FirstOrderSource { states, parameters, rates, inputs, relations, ..FirstOrderSource::default() })
    }

    /// c_i of a set as formulas.
    fn constraints(&self, named: &NamedSet) -> Result<Vec<String>, ModelError> {
        let n = self.states.len();
        let check = |what: &str, found: usize| match found == n {
            true => Ok(()),
            false => Err(ModelError::WrongLength { what: format!("the {what} of \"{}\"", named.name), expected: n, found }),
        };
        if !named.translation.is_empty() {
            check("translation", named.translation.len())?;
        }
        let moved = |i: usize| match named.translation.get(i) {
            Some(a) => format!("({} - ({a}))", self.states[i].name),
            None => self.states[i].name.clone(),
        };
        let product =
            |normal: &dyn Fn(usize) -> String| (0..n).map(|i| format!("({})*{}", normal(i), moved(i))).collect::<Vec<_>>().join(" + ");
        Ok(match &named.set {
            MovingSet::HalfSpace { normal, offset } => {
                check("normal", normal.len())?;
                let length = normal.iter().map(|x| format!("({x})^2")).collect::<Vec<_>>().join(" + ");
                vec![format!("(({offset}) - ({}))/sqrt({length})", product(&|i| normal[i].clone()))]
            }
            MovingSet::Ball { centre, radius } => {
                check("centre", centre.len())?;
                let square: Vec<String> = (0..n).map(|i| format!("({} - ({}))^2", moved(i), centre[i])).collect();
                vec![format!("(({radius})^2 - ({}))/(2*({radius}))", square.join(" + "))]
            }
            MovingSet::Box { lower, upper } => {
                check("list of lower bounds", lower.len())?;
                check("list of upper bounds", upper.len())?;
                let lower = lower.iter().enumerate().filter_map(|(i, b)| Some(format!("{} - ({})", moved(i), b.as_ref()?)));
                let upper = upper.iter().enumerate().filter_map(|(i, b)| Some(format!("({}) - {}", b.as_ref()?, moved(i))));
                lower.chain(upper).collect()
            }
            MovingSet::Polytope { facets, bounds } => {
                if bounds.len() != facets.len() {
                    let what = format!("the list of bounds of \"{}\"", named.name);
                    return Err(ModelError::WrongLength { what, expected: facets.len(), found: bounds.len() });
                }
                let mut all = Vec::new();
                for (facet, bound) in facets.iter().zip(bounds) {
                    check("facet", facet.len())?;
                    let length = facet.iter().map(|x| x * x).sum::<f64>().sqrt();
                    all.push(format!("(({bound}) - ({}))/{length:e}", product(&|i| format!("{:e}", facet[i]))));
                }
                all
            }
            MovingSet::Inequality { formula } => {
                if !named.translation.is_empty() {
                    let what = format!("the translation of \"{}\"", named.name);
                    return Err(ModelError::WrongLength { what, expected: 0, found: named.translation.len() });
                }
                vec![formula.clone()]
            }
        })
    }

    /// c and ∂c/∂u as formulas, with these names for the components of u.
    fn face(&self, name: &str, constraint: &str, names: &[String]) -> Result<Face, ModelError> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for (name, value) in &self.parameters {
            scope.constant(name, *value);
        }
        let t = graph.symbol("t");
        scope.symbol("t", t);
        let symbols: Vec<Expr> = names.iter().map(|name| graph.symbol(name)).collect();
        for (state, &symbol) in self.states.iter().zip(&symbols) {
            scope.symbol(&state.name, symbol);
        }
        let c = parse(&mut graph, &format!("set \"{name}\""), constraint, &scope)?;
        if !graph.depends_on(c, &symbols) {
            return Err(ModelError::NoCoordinate { what: format!("set \"{name}\"") });
        }
        let slopes: Vec<Expr> = symbols.iter().map(|&symbol| graph.derivative(c, symbol)).collect();
        Ok(Face {
            // the user's own text where the names are the states
            output: if self.stiffness.is_none() { constraint.to_owned() } else { graph.to_string(c) },
            is_affine: slopes.iter().all(|&slope| !graph.depends_on(slope, &symbols)),
            slopes: slopes.into_iter().map(|slope| graph.to_string(slope)).collect(),
        })
    }
}

/// One inequality c ≥ 0 of C(t).
struct Face {
    /// c.
    output: String,
    /// ∂c/∂u, by components.
    slopes: Vec<String>,
    /// ∂c/∂u does not depend on u.
    is_affine: bool,
}

/// The equations of the nearest point, with its coordinates as their multipliers.
fn nearest_point(names: Vec<String>, nearest: &[String]) -> RelationSource {
    let outputs = names.iter().zip(nearest).map(|(name, formula)| format!("{name} - ({formula})")).collect();
    RelationSource { name: "nearest point".to_owned(), multipliers: names, outputs, law: MultiplierLaw::Equality, compliance: 0.0 }
}
