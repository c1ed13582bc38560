//! Laws of contacts in model files: all forms, overrides, and mistakes with their help.

use super::read;
use carom_dynamics::laws::DirectionFrame;
use carom_dynamics::{Cohesion, ContactLaw, Friction, Restitution};
use carom_io::model_file::{Override, apply_overrides};

/// A particle on a floor whose contact has these keys.
fn particle(keys: &str) -> String {
    format!(
        "[linear]\ncoordinates = [\"x\", \"y\", \"z\"]\nmass = 1.0\n[parameters]\nmu = 0.25\n\
         [[contact]]\nname = \"floor\"\ngap = \"z\"\ntangents = [\"x\", \"y\"]\n{keys}\n"
    )
}

/// Two bodies with shapes and materials a and b.
fn bodies(keys: &str) -> String {
    let mut text = String::new();
    for name in ["a", "b"] {
        text += &format!("[[material]]\nname = \"{name}\"\n");
    }
    for (name, z) in [("a", 0), ("b", 5)] {
        text += &format!(
            "[[body]]\nname = \"{name}\"\nmass = 1.0\nshape = {{ kind = \"sphere\", radius = 1.0 }}\nmaterial = \"{name}\"\nposition = [0, 0, {z}]\n"
        );
    }
    format!("{text}{keys}\n")
}

fn law(text: &str) -> ContactLaw {
    let file = read(text).unwrap_or_else(|e| panic!("{e}"));
    *file.model.interactions()[0].law().contact().unwrap()
}

/// The one law of the pairs that differs from the default combination.
fn pair_law(text: &str) -> ContactLaw {
    let file = read(text).unwrap_or_else(|e| panic!("{e}"));
    // pairs (a, a), (a, b), (b, b)
    file.model.detector().unwrap().laws()[1]
}

fn mistakes(text: &str) -> String {
    let error = read(text).map(|_| ()).unwrap_err();
    error.diagnostics.iter().map(|d| format!("{} ({})\n", d.message, d.help.as_deref().unwrap_or(""))).collect()
}

#[test]
fn all_forms_are_read() {
    let friction = |text: &str| law(&particle(&format!("friction = {text}"))).friction;
    assert_eq!(friction("0.5"), Friction::Coulomb { coefficient: 0.5 });
    assert_eq!(friction("\"2*mu\""), Friction::Coulomb { coefficient: 0.5 });
    assert_eq!(friction("{ kind = \"coulomb\", coefficient = \"mu\" }"), Friction::Coulomb { coefficient: 0.25 });
    assert_eq!(friction("{ kind = \"elliptic\", coefficients = [0.2, \"mu\"] }"), Friction::elliptic(0.2, 0.25));
    let kinetic = Friction::StaticKinetic { at_rest: 0.4, sliding: 0.2 };
    assert_eq!(friction("{ kind = \"static-kinetic\", at_rest = 0.4, sliding = 0.2 }"), kinetic);
    let stribeck = |exponent| Friction::Stribeck { at_rest: 0.4, sliding: 0.2, velocity: 0.01, exponent };
    assert_eq!(friction("{ kind = \"stribeck\", at_rest = 0.4, sliding = 0.2, velocity = 0.01 }"), stribeck(2.0));
    assert_eq!(friction("{ kind = \"stribeck\", at_rest = 0.4, sliding = 0.2, velocity = 0.01, exponent = 1 }"), stribeck(1.0));
    let restitution = |text: &str| law(&particle(&format!("restitution = {text}"))).restitution;
    assert_eq!(restitution("0.3"), Restitution::Constant { coefficient: 0.3 });
    assert_eq!(restitution("{ kind = \"viscoelastic\", coefficient = 1.5 }"), Restitution::Viscoelastic { coefficient: 1.5 });
    let threshold = Restitution::Threshold { coefficient: 0.5, velocity: 0.1 };
    assert_eq!(restitution("{ kind = \"threshold\", coefficient = 0.5, velocity = 0.1 }"), threshold);
    let power = Restitution::PowerLaw { coefficient: 0.5, velocity: 0.1, exponent: 0.25 };
    assert_eq!(restitution("{ kind = \"power-law\", coefficient = 0.5, velocity = 0.1 }"), power);
    let cohesion = |text: &str| law(&particle(&format!("cohesion = {text}"))).cohesion;
    assert_eq!(cohesion("{ kind = \"constant\", force = 2.0 }"), Cohesion::Constant { force: 2.0, reach: 1e-6 });
    let zone = Cohesion::Zone { strength: 2.0, opening: 1e-3 };
    assert_eq!(cohesion("{ kind = \"zone\", strength = 2.0, opening = 1e-3 }"), zone);
}

#[test]
fn pairs_of_materials_take_every_law() {
    let pair = |keys: &str| pair_law(&bodies(&format!("[[material_pair]]\nmaterials = [\"b\", \"a\"]\n{keys}")));
    let rolling = pair("friction = 0.3\nrolling = 0.01\nspinning = 0.002");
    assert_eq!((rolling.friction.at(0.0), rolling.rolling, rolling.spinning), (0.3, 0.01, 0.002));
    // the table keeps the materials in the order a, b: b is the second one
    let elliptic = pair("friction = { kind = \"elliptic\", coefficients = [0.2, 0.8], direction = [1, 1, 0], frame = \"b\" }");
    let expected = Friction::Elliptic { coefficients: [0.2, 0.8], direction: [1.0, 1.0, 0.0], frame: DirectionFrame::Second };
    assert_eq!(elliptic.friction, expected);
    assert_eq!(pair("cohesion = { kind = \"zone\", strength = 1, opening = 0.1 }").cohesion.reach(), 0.1);
    let materials = bodies("").replace("name = \"a\"\n[[material]]", "name = \"a\"\nrolling = 0.04\n[[material]]");
    let materials = materials.replace("name = \"b\"\n[[body]]", "name = \"b\"\nrolling = 0.01\n[[body]]");
    assert!((pair_law(&materials).rolling - 0.02).abs() < 1e-15, "the geometric mean");
}

#[test]
fn overrides_change_simple_laws_and_tables() {
    let set = |text: &str, value: &str| law(&apply_overrides(text, &[value.parse::<Override>().unwrap()]).unwrap().text).friction;
    assert_eq!(set(&particle("friction = 0.1"), "contact.floor.friction=0.5"), Friction::Coulomb { coefficient: 0.5 });
    let table = particle("friction = { kind = \"static-kinetic\", at_rest = 0.4, sliding = 0.2 }");
    assert_eq!(set(&table, "contact.floor.friction.sliding=0.3"), Friction::StaticKinetic { at_rest: 0.4, sliding: 0.3 });
    assert_eq!(set(&table, "contact.floor.friction=0.5"), Friction::Coulomb { coefficient: 0.5 });
}

#[test]
fn mistakes_say_what_and_how_to_mend() {
    let contact = |keys: &str| mistakes(&particle(keys));
    let pair = |keys: &str| mistakes(&bodies(&format!("[[material_pair]]\nmaterials = [\"a\", \"b\"]\n{keys}")));
    for (found, parts) in [
        (contact("friction = { kind = \"coulom\" }"), ["no kind \"coulom\"", "coulomb, elliptic, static-kinetic, stribeck"]),
        (contact("friction = { coefficient = 0.5 }"), ["has no `kind`", "coulomb, elliptic"]),
        (contact("friction = { kind = \"stribeck\", at_rest = 0.4, sliding = 0.2 }"), ["has no `velocity`", "give `velocity = …`"]),
        (contact("friction = { kind = \"coulomb\", coeficient = 0.5 }"), ["has no `coeficient`", "did you mean \"coefficient\"?"]),
        (contact("friction = { kind = \"elliptic\", coefficients = [0.5] }"), ["has 1 entries", "2 numbers are needed"]),
        (contact("friction = { kind = \"elliptic\", coefficients = [0.5, 0] }"), ["elliptic friction", "a positive number"]),
        (contact("friction = { kind = \"static-kinetic\", at_rest = 0.2, sliding = 0.4 }"), ["ratio of sliding to static", "mend"]),
        (contact("friction = -1"), ["the friction coefficient of \"floor\" is -1", "≥ 0"]),
        (contact("restitution = { kind = \"constant\", coefficient = 1.5 }"), ["`coefficient` of the restitution", "from 0 to 1"]),
        (contact("rolling = 0.1"), ["no rolling or spinning resistance", "[[material_pair]]"]),
        (contact("cohesion = 2.0"), ["one number", "kind = \"constant\""]),
        (contact("cohesion = { kind = \"zone\", strength = 1 }"), ["has no `opening`", "give"]),
        (pair("friction = { kind = \"elliptic\", coefficients = [0.2, 0.8], frame = \"c\" }"), ["neither a material", "\"world\""]),
        (
            mistakes(&bodies("").replace("name = \"a\"\n[[material]]", "name = \"a\"\nfriction = { kind = \"coulomb\" }\n[[material]]")),
            ["is a table", "[[material_pair]]"],
        ),
        (
            mistakes(
                &particle("friction = { kind = \"elliptic\", coefficients = [0.2, 0.8] }").replace("\"x\", \"y\"]\nfric", "\"x\"]\nfric"),
            ),
            ["one tangent", "give both"],
        ),
        (
            mistakes(
                &particle("friction = { kind = \"static-kinetic\", at_rest = 0.2, sliding = 0.1 }")
                    .replace("tangents = [\"x\", \"y\"]\n", ""),
            ),
            ["friction but no tangent", "tangent = "],
        ),
    ] {
        assert!(parts.iter().all(|part| found.contains(part)), "{parts:?} in {found}");
    }
}
