//! Materials and laws of pairs of them in a model file.

use super::bodies::check_names;
use super::error::suggestion;
use super::impact::spring;
use super::numbers::{Must, Reader};
use super::schema::{MaterialPairSchema, MaterialSchema};
use super::value::Value;
use carom_collision::{Combination, Material, PairLaws};
use carom_dynamics::ContactLaw;
use toml::Spanned;

/// Surface properties by name.
pub(super) struct Materials {
    names: Vec<String>,
    pub list: Vec<Material>,
    pub pairs: PairLaws,
}

impl Materials {
    /// Reads `[[material]]` and `[[material_pair]]`.
    pub fn read(reader: &mut Reader<'_>, sections: &[Spanned<MaterialSchema>], pairs: &[Spanned<MaterialPairSchema>]) -> Self {
        check_names(reader, sections.iter().map(|s| &s.get_ref().name), "material");
        let mut materials = Materials { names: Vec::new(), list: Vec::new(), pairs: PairLaws::new() };
        for section in sections {
            let s = section.get_ref();
            let name = s.name.get_ref();
            let default = Material::default();
            let values = coefficients(reader, name, (&s.friction, &s.restitution, &s.tangential_restitution), default.friction);
            let friction_combination = combination(reader, s.friction_combination.as_ref(), default.friction_combination);
            let restitution_combination = combination(reader, s.restitution_combination.as_ref(), default.restitution_combination);
            let (stiffness, exponent) = spring(reader, name, s.stiffness.as_ref(), s.exponent.as_ref()).unwrap_or((1.0, 1.0));
            let (friction, restitution, tangential_restitution) = values.unwrap_or_default();
            materials.names.push(name.clone());
            materials.list.push(Material {
                friction,
                restitution,
                tangential_restitution,
                stiffness,
                exponent,
                friction_combination,
                restitution_combination,
            });
        }
        if materials.list.is_empty() {
            materials.names.push("default".into());
            materials.list.push(Material::default());
        }
        for section in pairs {
            materials.read_pair(reader, section);
        }
        materials
    }

    fn read_pair(&mut self, reader: &mut Reader<'_>, section: &Spanned<MaterialPairSchema>) {
        let s = section.get_ref();
        let [a, b] = s.materials.get_ref().as_slice() else {
            reader.wrong(s.materials.span(), "a material pair names two materials", "give `materials = [\"a\", \"b\"]`");
            return;
        };
        let (Some(first), Some(second)) = (self.find(reader, Some(a)), self.find(reader, Some(b))) else { return };
        let name = format!("{}–{}", a.get_ref(), b.get_ref());
        let spring = spring(reader, &name, s.stiffness.as_ref(), s.exponent.as_ref());
        if let Some((friction, restitution, tangential)) =
            coefficients(reader, &name, (&s.friction, &s.restitution, &s.tangential_restitution), 0.0)
            && let Some((stiffness, exponent)) = spring
            && let law = ContactLaw::coulomb(friction, restitution).with_tangential_restitution(tangential)
            && let Ok(Some(_)) = self.pairs.set(first, second, law.with_stiffness(stiffness, exponent))
        {
            reader.wrong(section.span(), format!("the pair {name} is given twice"), "give each pair once");
        }
    }

    /// Index of a material by name; the first material when none is named.
    pub fn find(&self, reader: &mut Reader<'_>, name: Option<&Spanned<String>>) -> Option<u32> {
        let Some(name) = name else { return Some(0) };
        let found = self.names.iter().position(|other| other == name.get_ref());
        if found.is_none() {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            reader.wrong(name.span(), format!("there is no material \"{}\"", name.get_ref()), suggestion(name.get_ref(), &names));
        }
        found.map(|i| i as u32)
    }
}

type Coefficients<'a> = (&'a Option<Spanned<Value>>, &'a Option<Spanned<Value>>, &'a Option<Spanned<Value>>);

fn coefficients(reader: &mut Reader<'_>, name: &str, values: Coefficients<'_>, default_friction: f64) -> Option<(f64, f64, f64)> {
    let friction =
        reader.number_or(values.0.as_ref(), default_friction, &format!("the friction coefficient of \"{name}\""), Must::NotBeNegative);
    let restitution = reader.number_or(values.1.as_ref(), 0.0, &format!("the restitution of \"{name}\""), Must::LieInUnitInterval);
    let tangential =
        reader.number_or(values.2.as_ref(), 0.0, &format!("the tangential restitution of \"{name}\""), Must::LieInUnitInterval);
    Some((friction?, restitution?, tangential?))
}

fn combination(reader: &mut Reader<'_>, name: Option<&Spanned<String>>, default: Combination) -> Combination {
    const RULES: [(&str, Combination); 5] = [
        ("average", Combination::Average),
        ("minimum", Combination::Minimum),
        ("maximum", Combination::Maximum),
        ("product", Combination::Product),
        ("geometric-mean", Combination::GeometricMean),
    ];
    let Some(name) = name else { return default };
    match RULES.iter().find(|(rule, _)| rule == name.get_ref()) {
        Some((_, rule)) => *rule,
        None => {
            let names: Vec<&str> = RULES.iter().map(|(rule, _)| *rule).collect();
            reader.wrong(name.span(), format!("there is no combination rule \"{}\"", name.get_ref()), suggestion(name.get_ref(), &names));
            default
        }
    }
}
