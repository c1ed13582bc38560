//! Materials and laws of pairs of them in a model file.

use super::bodies::check_names;
use super::error::suggestion;
use super::impact::spring;
use super::laws::{LawKeys, contact_law, simple};
use super::numbers::{Must, Reader};
use super::schema::{MaterialPairSchema, MaterialSchema};
use super::value::Value;
use carom_collision::{Combination, Material, PairLaws};
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
            let what = |what: &str| format!("the {what} of \"{name}\"");
            let mut at_least_zero =
                |value: Option<&Spanned<Value>>, text: &str| reader.number_or(value, 0.0, &what(text), Must::NotBeNegative);
            let (rolling, spinning) =
                (at_least_zero(s.rolling.as_ref(), "rolling resistance"), at_least_zero(s.spinning.as_ref(), "spinning resistance"));
            let friction = simple(reader, s.friction.as_ref(), default.friction, &what("friction coefficient"), Must::NotBeNegative);
            let restitution = simple(reader, s.restitution.as_ref(), 0.0, &what("restitution"), Must::LieInUnitInterval);
            let tangential =
                reader.number_or(s.tangential_restitution.as_ref(), 0.0, &what("tangential restitution"), Must::LieInUnitInterval);
            let (stiffness, exponent) = spring(reader, name, s.stiffness.as_ref(), s.exponent.as_ref()).unwrap_or((1.0, 1.0));
            materials.names.push(name.clone());
            materials.list.push(Material {
                friction: friction.unwrap_or_default(),
                restitution: restitution.unwrap_or_default(),
                tangential_restitution: tangential.unwrap_or_default(),
                rolling: rolling.unwrap_or_default(),
                spinning: spinning.unwrap_or_default(),
                stiffness,
                exponent,
                friction_combination: combination(reader, s.friction_combination.as_ref(), default.friction_combination),
                restitution_combination: combination(reader, s.restitution_combination.as_ref(), default.restitution_combination),
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
        let keys = LawKeys {
            friction: s.friction.as_ref(),
            restitution: s.restitution.as_ref(),
            tangential_restitution: s.tangential_restitution.as_ref(),
            rolling: s.rolling.as_ref(),
            spinning: s.spinning.as_ref(),
            cohesion: s.cohesion.as_ref(),
            stiffness: s.stiffness.as_ref(),
            exponent: s.exponent.as_ref(),
            materials: Some([a.get_ref(), b.get_ref()]),
        };
        let Some(law) = contact_law(reader, &name, &keys) else { return };
        match self.pairs.set(first, second, law) {
            Ok(None) => {}
            Ok(Some(_)) => reader.wrong(section.span(), format!("the pair {name} is given twice"), "give each pair once"),
            Err(error) => reader.wrong(section.span(), error.to_string(), "mend the coefficients of this pair"),
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
