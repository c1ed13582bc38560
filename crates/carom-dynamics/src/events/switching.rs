//! Functions at whose changes of sign the equations of a model have a kink or a jump.

use super::location::Sample;
use super::state_function::StateFunction;
use crate::error::NonFinite;
use crate::model::Model;
use crate::relations::Rows;
use crate::systems::{Instant, Scratch};

/// A switching function of a model: the equations of motion are smooth while it keeps its sign.
#[derive(Clone, Debug)]
pub struct SwitchingFunction {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The argument of `abs`, `sign`, `step`, or the difference of what `if`, `min`, `max` compare.
    Formula(StateFunction),
    /// The gap of the penalised contact with this number, whose force begins at zero.
    Gap(usize),
}

impl SwitchingFunction {
    /// Those of a model: from the formulas of its systems, its interactions and its penalised contacts, equal ones once; then the gaps of the
    /// penalised contacts.
    #[must_use]
    pub fn of(model: &Model) -> Vec<Self> {
        let relations = model.interactions().iter().map(|interaction| interaction.relation());
        let compliant = model.compliant_contacts();
        let of_relations = relations.chain(compliant.iter().map(|contact| contact.relation())).flat_map(|relation| relation.switches());
        let mut all: Vec<StateFunction> = Vec::new();
        for function in model.systems().switches().into_iter().chain(of_relations) {
            if !all.iter().any(|other| other.is_same(&function)) {
                all.push(function);
            }
        }
        let formulas =
            all.into_iter().map(|function| SwitchingFunction { name: function.text().to_owned(), kind: Kind::Formula(function) });
        let gap = |(k, name): (usize, &str)| SwitchingFunction { name: format!("gap of \"{name}\""), kind: Kind::Gap(k) };
        formulas.chain(compliant.iter().map(|contact| contact.name()).enumerate().map(gap)).collect()
    }

    /// The formula, or the contact.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rate needs v̇.
    #[must_use]
    pub fn needs_acceleration(&self) -> bool {
        matches!(&self.kind, Kind::Formula(function) if function.needs_acceleration())
    }

    /// Value and rate at an instant of the model it is of: see [`StateFunction::sample`].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn sample(&self, model: &Model, at: Instant<'_>, acceleration: Option<&[f64]>, scratch: &mut Scratch) -> Result<Sample, NonFinite> {
        match &self.kind {
            Kind::Formula(function) => function.sample(model.systems(), at, acceleration, scratch),
            Kind::Gap(k) => {
                let contact = &model.compliant_contacts()[*k];
                let (relation, value) = (contact.relation(), contact.gap(at.t, at.q, scratch)?);
                let (n, rows) = (relation.velocities().len(), relation.n_rows());
                let (mut jacobian, mut bias) = (vec![0.0; rows * n], vec![0.0; rows]);
                relation.jacobian(at.t, at.q, Rows { jacobian: &mut jacobian, bias: &mut bias }, scratch)?;
                let rate = relation.velocities().iter().zip(&jacobian).map(|(&i, g)| g * at.v[i]).sum::<f64>() + bias[0];
                Ok(Sample { value, rate: Some(rate) })
            }
        }
    }
}
