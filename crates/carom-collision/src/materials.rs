//! Materials of surfaces and how two of them make the law of a contact.

use carom_dynamics::ModelError;
use carom_dynamics::laws::{ContactLaw, Friction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// Rule that makes one coefficient of two.
///
/// When the two materials of a contact name different rules, the later one in this list wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// (a + b)/2.
    Average,
    /// The smaller one.
    Minimum,
    /// a b.
    Product,
    /// √(a b).
    GeometricMean,
    /// The larger one.
    Maximum,
}

impl Combination {
    /// The combined coefficient.
    #[must_use]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Combination::Average => 0.5 * (a + b),
            Combination::Minimum => a.min(b),
            Combination::Product => a * b,
            // Equal coefficients stay as they are, to the last bit.
            Combination::GeometricMean if a == b => a,
            Combination::GeometricMean => (a * b).sqrt(),
            Combination::Maximum => a.max(b),
        }
    }
}

/// Surface properties of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Material {
    /// Coulomb's friction coefficient μ ≥ 0. Default 0.5.
    pub friction: f64,
    /// Newton's normal coefficient of restitution e ∈ [0, 1]. Default 0.
    pub restitution: f64,
    /// Tangential coefficient of restitution e_T ∈ [0, 1]. Default 0.
    pub tangential_restitution: f64,
    /// Stiffness during impacts, positive; only ratios matter where all exponents are equal. Default 1. Contacts have the harmonic mean.
    pub stiffness: f64,
    /// Exponent of the contact force during impacts, ≥ 1. Default 1; 3/2 is Hertz's. Contacts have the larger one.
    pub exponent: f64,
    /// Rolling resistance \[m\], ≥ 0. Default 0.
    pub rolling: f64,
    /// Spinning resistance \[m\], ≥ 0. Default 0.
    pub spinning: f64,
    /// Rule for friction, rolling and spinning resistance. Default: geometric mean.
    pub friction_combination: Combination,
    /// Rule for both coefficients of restitution. Default: maximum.
    pub restitution_combination: Combination,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            friction: 0.5,
            restitution: 0.0,
            tangential_restitution: 0.0,
            stiffness: 1.0,
            exponent: 1.0,
            rolling: 0.0,
            spinning: 0.0,
            friction_combination: Combination::GeometricMean,
            restitution_combination: Combination::Maximum,
        }
    }
}

/// A coefficient outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{coefficient} = {value} is outside {range}")]
pub struct MaterialError {
    /// Name of the coefficient.
    pub coefficient: &'static str,
    /// Its value.
    pub value: f64,
    /// The allowed range.
    pub range: &'static str,
}

impl Material {
    /// Checks the coefficients.
    ///
    /// # Errors
    /// The first coefficient outside its range (NaN included).
    pub fn validate(&self) -> Result<(), MaterialError> {
        let checks = [
            ("friction", self.friction, f64::MAX, "[0, ∞)"),
            ("restitution", self.restitution, 1.0, "[0, 1]"),
            ("tangential restitution", self.tangential_restitution, 1.0, "[0, 1]"),
            ("rolling", self.rolling, f64::MAX, "[0, ∞)"),
            ("spinning", self.spinning, f64::MAX, "[0, ∞)"),
        ];
        if !(self.stiffness > 0.0 && self.stiffness.is_finite()) {
            return Err(MaterialError { coefficient: "stiffness", value: self.stiffness, range: "(0, ∞)" });
        }
        if !(self.exponent >= 1.0 && self.exponent.is_finite()) {
            return Err(MaterialError { coefficient: "exponent", value: self.exponent, range: "[1, ∞)" });
        }
        match checks.iter().find(|(_, value, upper, _)| !(0.0..=*upper).contains(value)) {
            Some(&(coefficient, value, _, range)) => Err(MaterialError { coefficient, value, range }),
            None => Ok(()),
        }
    }
}

/// The contact law of two materials by their combination rules; symmetric in its arguments.
#[must_use]
pub fn combine(a: &Material, b: &Material) -> ContactLaw {
    let friction = a.friction_combination.max(b.friction_combination);
    let restitution = a.restitution_combination.max(b.restitution_combination);
    let law = ContactLaw::coulomb(friction.apply(a.friction, b.friction), restitution.apply(a.restitution, b.restitution));
    ContactLaw {
        tangential_restitution: restitution.apply(a.tangential_restitution, b.tangential_restitution),
        rolling: friction.apply(a.rolling, b.rolling),
        spinning: friction.apply(a.spinning, b.spinning),
        ..law.with_stiffness(series(a.stiffness, b.stiffness), a.exponent.max(b.exponent))
    }
}

/// Stiffness of two springs in series relative to that of two equal ones: the harmonic mean.
fn series(a: f64, b: f64) -> f64 {
    if a == b { a } else { 2.0 * a * b / (a + b) }
}

/// Laws given outright for pairs of materials; they take precedence over [`combine`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairLaws {
    laws: BTreeMap<(u32, u32), ContactLaw>,
}

impl PairLaws {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the law of two materials (by index, in either order) and returns the one set before. The frame of elliptic friction is that of
    /// the order given here.
    ///
    /// # Errors
    /// A coefficient outside its range; the table is then unchanged.
    pub fn set(&mut self, a: u32, b: u32, law: ContactLaw) -> Result<Option<ContactLaw>, ModelError> {
        law.validate(&format!("materials {a} and {b}"))?;
        let mut law = law;
        if let (true, Friction::Elliptic { frame, .. }) = (a > b, &mut law.friction) {
            *frame = frame.exchanged();
        }
        Ok(self.laws.insert((a.min(b), a.max(b)), law))
    }

    /// The law of two materials, in either order, if one was set.
    #[must_use]
    pub fn law(&self, a: u32, b: u32) -> Option<ContactLaw> {
        if self.laws.is_empty() {
            return None;
        }
        self.laws.get(&(a.min(b), a.max(b))).copied()
    }

    /// The largest material index that the table mentions.
    #[must_use]
    pub(crate) fn largest_index(&self) -> Option<u32> {
        self.laws.keys().map(|&(_, b)| b).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_take_the_geometric_mean_and_the_maximum() {
        let a = Material { friction: 0.2, restitution: 0.3, ..Material::default() };
        let b = Material { friction: 0.8, restitution: 0.1, ..Material::default() };
        let law = combine(&a, &b);
        // One square root of a rounded product.
        assert!((law.friction.at(0.0) - 0.4).abs() < 1e-15);
        assert_eq!((law.restitution.at(0.0), law.tangential_restitution), (0.3, 0.0));
        assert_eq!(law, combine(&b, &a));
        assert_eq!(combine(&a, &a).friction.at(0.0), 0.2);
    }

    #[test]
    fn rules_and_their_precedence() {
        assert_eq!(Combination::Average.apply(0.2, 0.4), 0.5 * (0.2 + 0.4));
        assert_eq!(Combination::Minimum.apply(0.2, 0.4), 0.2);
        assert_eq!(Combination::Product.apply(0.5, 0.5), 0.25);
        assert_eq!(Combination::Maximum.apply(0.2, 0.4), 0.4);
        let order = [Combination::Average, Combination::Minimum, Combination::Product, Combination::GeometricMean, Combination::Maximum];
        let with = |rule| Material { friction: 0.5, friction_combination: rule, ..Material::default() };
        let other = |rule| Material { friction: 0.3, friction_combination: rule, ..Material::default() };
        for (i, first) in order.into_iter().enumerate() {
            for (j, second) in order.into_iter().enumerate() {
                let law = combine(&with(first), &other(second));
                assert_eq!(law.friction.at(0.0), order[i.max(j)].apply(0.5, 0.3));
            }
        }
    }

    #[test]
    fn pair_laws_are_symmetric_and_checked() {
        let law = ContactLaw::coulomb(0.9, 0.5).with_tangential_restitution(0.1);
        let mut table = PairLaws::new();
        assert_eq!(table.set(3, 1, law), Ok(None));
        assert_eq!(table.law(1, 3), Some(law));
        assert_eq!(table.law(1, 1), None);
        assert_eq!(table.largest_index(), Some(3));
        let wrong = table.set(0, 0, ContactLaw::coulomb(0.9, 1.5)).unwrap_err();
        assert!(wrong.to_string().contains("restitution"), "{wrong}");
    }

    #[test]
    fn coefficients_outside_their_range_are_refused() {
        let check = |material: Material| material.validate().map_err(|e| e.coefficient);
        assert_eq!(check(Material::default()), Ok(()));
        assert_eq!(check(Material { friction: -0.1, ..Material::default() }), Err("friction"));
        assert_eq!(check(Material { friction: f64::NAN, ..Material::default() }), Err("friction"));
        assert_eq!(check(Material { friction: f64::INFINITY, ..Material::default() }), Err("friction"));
        assert_eq!(check(Material { restitution: 1.1, ..Material::default() }), Err("restitution"));
    }
}
