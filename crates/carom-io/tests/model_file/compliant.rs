//! Penalised contacts in model files.

use super::read;
use carom_dynamics::forces::{Attraction, CompliantLaw, Damping};
use carom_io::model_file::{Override, apply_overrides};

/// A particle above a floor whose contact has these keys.
fn particle(keys: &str) -> String {
    format!(
        "[linear]\ncoordinates = [\"x\", \"y\"]\nmass = 1.0\n[parameters]\nk = 1e5\n\
         [[contact]]\nname = \"floor\"\ngap = \"y\"\ntangent = \"x\"\n{keys}\n"
    )
}

fn law(keys: &str) -> CompliantLaw {
    let file = read(&particle(keys)).unwrap_or_else(|e| panic!("{e}"));
    assert!(file.model.interactions().is_empty(), "a force, not an interaction");
    *file.model.compliant_contacts()[0].law()
}

fn mistake(keys: &str) -> String {
    let error = read(&particle(keys)).map(|_| ()).unwrap_err();
    // within the contact, which begins in line 6
    assert!(error.diagnostics.iter().all(|d| error.position(d).unwrap().line >= 6), "{error}");
    error.diagnostics.iter().map(|d| format!("{} ({})\n", d.message, d.help.as_deref().unwrap_or(""))).collect()
}

#[test]
fn all_forms_are_read() {
    assert_eq!(law("compliant = { stiffness = 1e5 }"), CompliantLaw::spring(1e5, 1.0));
    let full =
        law("friction = 0.3\ncompliant = { stiffness = \"2*k\", exponent = 1.5, damping = { kind = \"constant\", coefficient = 20.0 }, \
         attraction = \"allowed\", slip_velocity = 1e-2 }");
    let expected = CompliantLaw {
        stiffness: 2e5,
        exponent: 1.5,
        damping: Damping::Constant { coefficient: 20.0 },
        attraction: Attraction::Allowed,
        friction: 0.3,
        slip_velocity: 1e-2,
    };
    assert_eq!(full, expected);
    let damping = |text: &str| law(&format!("compliant = {{ stiffness = 1.0, damping = {text} }}")).damping;
    assert_eq!(damping("{ kind = \"none\" }"), Damping::None);
    assert_eq!(damping("20.0"), Damping::Constant { coefficient: 20.0 });
    assert_eq!(damping("{ kind = \"step\", coefficient = 50, depth = 1e-3 }"), Damping::Step { coefficient: 50.0, depth: 1e-3 });
    assert_eq!(damping("{ kind = \"elastic\", coefficient = 0.2 }"), Damping::Elastic { coefficient: 0.2 });
    assert_eq!(damping("{ kind = \"root\", coefficient = 400 }"), Damping::Root { coefficient: 400.0 });
    let critical = Damping::Critical { coefficient: 0.1, mass: 1.0, load: 9.81 };
    assert_eq!(damping("{ kind = \"critical\", coefficient = 0.1, mass = 1, load = 9.81 }"), critical);
    assert_eq!(law("compliant = { stiffness = 1.0, attraction = \"reversed\" }").attraction, Attraction::Reversed);
    assert_eq!(law("[contact.compliant]\nstiffness = 3.0\n"), CompliantLaw::spring(3.0, 1.0));
}

#[test]
fn overrides_reach_the_law() {
    let text = particle("compliant = { stiffness = 1e5, damping = { kind = \"constant\", coefficient = 20.0 } }");
    let set: Vec<Override> = ["contact.floor.compliant.stiffness=1e6", "contact.floor.compliant.damping.coefficient=5"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let file = read(&apply_overrides(&text, &set).unwrap().text).unwrap();
    let law = file.model.compliant_contacts()[0].law();
    assert_eq!((law.stiffness, law.damping), (1e6, Damping::Constant { coefficient: 5.0 }));
}

#[test]
fn mistakes_are_told_with_help() {
    for (keys, message, help) in [
        ("compliant = { exponent = 1.5 }", "\"floor\" has no `stiffness`", "N/m"),
        ("compliant = { stiffness = 0 }", "`stiffness` of the compliant contact \"floor\" is 0", "positive"),
        ("compliant = { stiffness = 1, exponent = 0.5 }", "`exponent` of the compliant contact \"floor\" is 0.5", "≥ 1"),
        ("compliant = { stiffness = 1, exponant = 1.5 }", "unknown field `exponant`", "did you mean `exponent`?"),
        ("compliant = { stiffness = 1, slip_velocity = 0 }", "`slip_velocity` of the compliant contact \"floor\" is 0", "positive"),
        (
            "compliant = { stiffness = 1, damping = { kind = \"viscous\" } }",
            "has no kind \"viscous\"",
            "constant, step, elastic, root, critical",
        ),
        ("compliant = { stiffness = 1, damping = { coefficient = 1 } }", "has no `kind`", "constant"),
        ("compliant = { stiffness = 1, damping = { kind = \"step\", coefficient = 1 } }", "has no `depth`", "depth"),
        ("compliant = { stiffness = 1, damping = { kind = \"root\", coefficient = -1 } }", "is -1", "≥ 0"),
        ("compliant = { stiffness = 1, damping = { kind = \"root\", depth = 1 } }", "has no `depth`", "coefficient"),
        ("compliant = { stiffness = 1, attraction = \"allow\" }", "is \"allow\"", "did you mean \"allowed\"?"),
        ("friction = -1\ncompliant = { stiffness = 1 }", "friction coefficient of \"floor\" is -1", "≥ 0"),
        ("friction = { kind = \"coulomb\", coefficient = 1 }\ncompliant = { stiffness = 1 }", "\"floor\" is a table", "one coefficient"),
        ("restitution = 0.5\ncompliant = { stiffness = 1 }", "`restitution` beside `compliant`", "damping"),
        ("tangential_restitution = 0.5\ncompliant = { stiffness = 1 }", "`tangential_restitution` beside `compliant`", "damping"),
        ("cohesion = { kind = \"constant\", force = 1 }\ncompliant = { stiffness = 1 }", "`cohesion` beside `compliant`", "attraction"),
        ("stiffness = 5\ncompliant = { stiffness = 1 }", "`stiffness` beside `compliant`", "within"),
        ("exponent = 2\ncompliant = { stiffness = 1 }", "`exponent` beside `compliant`", "within"),
        ("rolling = 2\ncompliant = { stiffness = 1 }", "`rolling` beside `compliant`", "bodies"),
    ] {
        let told = mistake(keys);
        assert!(told.contains(message) && told.contains(help), "{keys}: {told}");
        assert_eq!(told.lines().count(), 1, "{keys}: {told}");
    }
    // friction needs a direction; a formula is shown where it is wrong
    let no_tangent = particle("friction = 0.2\ncompliant = { stiffness = 1 }").replace("tangent = \"x\"\n", "");
    assert!(read(&no_tangent).map(|_| ()).unwrap_err().to_string().contains("\"floor\" has friction but no tangent"));
    let wrong = particle("compliant = { stiffness = 1 }").replace("gap = \"y\"", "gap = \"y + zz\"");
    let error = read(&wrong).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("test.toml:8:12"), "{error}");
    // one name for all contacts
    let twice = particle("compliant = { stiffness = 1 }\n[[contact]]\nname = \"floor\"\ngap = \"x\"");
    assert!(read(&twice).map(|_| ()).unwrap_err().to_string().contains("floor"));
}
