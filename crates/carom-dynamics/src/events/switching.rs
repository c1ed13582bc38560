//! Functions at whose changes of sign the equations of a model have a kink or a jump.

use crate::error::NonFinite;
use crate::forces::{Attraction, CompliantContact, CompliantLaw, Damping, ForceElement};
use crate::model::Model;
use crate::relations::Rows;
use crate::systems::{Instant, Sample, Scratch, StateFunction};

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
    /// Of the force of the penalised contact with this number.
    Contact(usize, Kink),
    /// Of the force element with this number, by the number of its kink.
    Element(usize, usize),
}

/// Where the force of a penalised contact has a kink or a jump. While it is open, only the gap counts: the others are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kink {
    /// g: the force begins.
    Gap,
    /// K yⁿ + d ẏ: the force would pull.
    Cut,
    /// ‖u_T‖ − v_s: friction becomes full.
    Slip,
}

impl Kink {
    /// Those of a law.
    fn of(law: &CompliantLaw) -> impl Iterator<Item = Kink> + use<> {
        let cut = law.damping != Damping::None && law.attraction != Attraction::Allowed;
        [(true, Kink::Gap), (cut, Kink::Cut), (law.friction > 0.0, Kink::Slip)].into_iter().filter(|kink| kink.0).map(|kink| kink.1)
    }

    fn name(self) -> &'static str {
        match self {
            Kink::Gap => "gap",
            Kink::Cut => "pull",
            Kink::Slip => "full friction",
        }
    }

    fn sample(self, contact: &CompliantContact, at: Instant<'_>, scratch: &mut Scratch) -> Result<Sample, NonFinite> {
        let (relation, law, gap) = (contact.relation(), contact.law(), contact.gap(at.t, at.q, scratch)?);
        if gap > 0.0 && self != Kink::Gap {
            return Ok(Sample { value: 1.0, rate: None });
        }
        let (n, rows) = (relation.velocities().len(), relation.n_rows());
        let (mut jacobian, mut u) = (vec![0.0; rows * n], vec![0.0; rows]);
        relation.jacobian(at.t, at.q, Rows { jacobian: &mut jacobian, bias: &mut u }, scratch)?;
        for (u, row) in u.iter_mut().zip(jacobian.chunks_exact(n)) {
            *u += relation.velocities().iter().zip(row).map(|(&i, g)| g * at.v[i]).sum::<f64>();
        }
        Ok(match self {
            Kink::Gap => Sample { value: gap, rate: Some(u[0]) },
            Kink::Cut => Sample { value: law.elastic(gap) - law.damping_factor(gap) * u[0], rate: None },
            Kink::Slip => Sample { value: u[1..].iter().map(|u| u * u).sum::<f64>().sqrt() - law.slip_velocity, rate: None },
        })
    }
}

impl SwitchingFunction {
    /// Those of a model: from the formulas of its systems, its interactions and its penalised contacts, equal ones once; then those of the
    /// forces of penalised contacts (their gaps, pulls that are cut off, full friction) and of force elements.
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
        let of_contact = |(k, contact): (usize, &CompliantContact)| {
            let name = contact.name().to_owned();
            Kink::of(contact.law())
                .map(move |kink| SwitchingFunction { name: format!("{} of \"{name}\"", kink.name()), kind: Kind::Contact(k, kink) })
        };
        let of_element = |(k, (_, element)): (usize, (&str, &dyn ForceElement))| {
            let names = element.switches().into_iter().enumerate();
            names.map(move |(switch, name)| SwitchingFunction { name, kind: Kind::Element(k, switch) })
        };
        let elements = model.force_elements().iter().enumerate().flat_map(of_element);
        formulas.chain(compliant.iter().enumerate().flat_map(of_contact)).chain(elements).collect()
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
            Kind::Contact(k, kink) => kink.sample(&model.compliant_contacts()[*k], at, scratch),
            Kind::Element(k, switch) => {
                let value = match model.force_elements().get(*k) {
                    Some(element) => element.switch_value(model.systems(), at, *switch, scratch)?,
                    None => 1.0,
                };
                Ok(Sample { value, rate: None })
            }
        }
    }
}
