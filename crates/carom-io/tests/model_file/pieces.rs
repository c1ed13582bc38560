//! Constraints and contacts made of pieces in model files.

use carom_dynamics::relations::{CornerLaw, Relation};
use carom_dynamics::systems::Scratch;
use carom_io::model_file::{ModelFile, ModelFileError, parse};
use std::path::Path;

/// A point in the plane with this section.
fn point(section: &str) -> Result<ModelFile, ModelFileError> {
    let text = format!(
        "[parameters]\na = 0.5\n\
         [linear]\ncoordinates = [\"x\", \"y\", \"th\"]\nmass = 1.0\n\
         {section}\n\
         [simulation]\nend = 1\nstep = 0.01\n"
    );
    parse(&text, Path::new("point.toml"))
}

fn gap(relation: &dyn Relation, q: &[f64]) -> f64 {
    let mut g = vec![0.0; relation.n_rows()];
    relation.position(0.0, q, &mut g, &mut Scratch::default()).unwrap();
    g[0]
}

#[test]
fn reads_pieces() {
    let file = point(
        "[[contact]]\nname = \"road\"\nfriction = 0.3\ncorner = \"impact\"\npieces = [\n\
         { when = \"x >= 0 and x < 2\", gap = \"y - a*x^2\", tangent = \"x\" },\n\
         { gap = \"y\", tangent = \"x\" },\n]\n\
         [[constraint]]\npieces = [{ when = \"x > a\", equation = \"th\" }, { when = \"x <= a\", equations = [\"th - x + a\"] }]\n",
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let [constraint, contact] = file.model.interactions() else { panic!("two") };
    let road = contact.relation();
    assert_eq!((road.n_pieces(), road.n_rows(), road.velocities(), road.corner()), (2, 2, &[0, 1][..], CornerLaw::Impact));
    assert_eq!((gap(road, &[1.0, 0.0, 0.0]), gap(road, &[2.5, 1.0, 0.0]), gap(road, &[-1.0, 1.0, 0.0])), (-0.5, 1.0, 1.0));
    assert!(constraint.is_bilateral() && constraint.relation().n_pieces() == 2);
    assert_eq!(gap(constraint.relation(), &[0.25, 0.0, 0.0]), 0.25);
}

#[test]
fn reads_chains() {
    let section = "[[contact]]\nname = \"road\"\npoint = [\"x\", \"y + a\"]\nradius = \"a/5\"\nangle = \"th\"\nfriction = 0.2\nchain = [\n\
         [[-3, 1], [-1, 1], [0, 0], [1, 0]],\n\
         { centre = [1, 1], radius = \"2*a\", from = \"-pi/2\", to = 0 },\n\
         [[2, 1], [2, 3]],\n]\n";
    let file = point(section).unwrap_or_else(|e| panic!("{e}"));
    let road = file.model.interactions()[0].relation();
    // three segments, a vertex for the disc, an arc, a segment
    assert_eq!((road.n_pieces(), road.n_rows(), road.velocities()), (6, 2, &[0, 1, 2][..]));
    assert!((gap(road, &[-2.0, 1.5, 0.0]) - 0.9).abs() < 1e-15);
    // without friction there is no tangent; a penalised contact takes a chain as well
    let file = point(&section.replace("friction = 0.2\n", "")).unwrap();
    assert_eq!(file.model.interactions()[0].relation().n_rows(), 1);
    let file = point(&section.replace("friction = 0.2", "compliant = { stiffness = 1e4 }")).unwrap();
    assert_eq!(file.model.compliant_contacts().len(), 1);
}

/// Each mistake is shown at the text it is in.
#[test]
fn mistakes_in_pieces() {
    let contact = |keys: &str| format!("[[contact]]\nname = \"road\"\n{keys}");
    let constraint = |keys: &str| format!("[[constraint]]\nname = \"wire\"\n{keys}");
    let two = "{ when = \"x > 0\", gap = \"y\" }, { when = \"x <= 0\", gap = \"y\" }";
    let chain = "point = [\"x\", \"y\"]\nchain = ";
    for (section, wanted, at) in [
        (contact("friction = 0.1"), "no gap, or several kinds", "[[contact]]"),
        (contact(&format!("gap = \"y\"\npieces = [{two}]")), "no gap, or several kinds", "[[contact]]"),
        (contact("pieces = [{ gap = \"y\" }]"), "piece 1 has no condition", "[{ gap"),
        (contact("pieces = [{ when = \"x > 0\", gap = \"y\" }]"), "at least two are needed", "[{ when"),
        (contact("pieces = [{ when = \"x\", gap = \"y\" }, { gap = \"y\" }]"), "no comparison", "\"x\", gap"),
        (contact("pieces = [{ when = \"x == 1\", gap = \"y\" }, { gap = \"y\" }]"), "no comparison", "\"x == 1"),
        (contact("pieces = [{ when = \"z > 1\", gap = \"y\" }, { gap = \"y\" }]"), "no `z`", "z > 1"),
        (contact("pieces = [{ when = \"x > 1\", gap = \"y\" }, { gap = \"w\" }]"), "no `w`", "w\""),
        (contact("pieces = [{ when = \"x > 1\" }, { gap = \"y\" }]"), "missing field `gap`", "{ when"),
        (contact("pieces = [{ wen = \"x > 1\", gap = \"y\" }, { gap = \"y\" }]"), "did you mean `when`", "wen"),
        (contact("pieces = [{ when = \"x > 1\", gap = \"y\", tangent = \"x\" }, { gap = \"y\" }]"), "all need the same number", "[{ when"),
        (contact(&format!("pieces = [{two}]\nfriction = 0.1")), "has friction but no tangent", "0.1"),
        (contact(&format!("pieces = [{two}]\ntangent = \"x\"")), "give each piece its tangent", "\"x\""),
        (contact(&format!("pieces = [{two}]\ncorner = \"reflexion\"")), "did you mean \"reflection\"", "\"reflexion"),
        (contact(&format!("pieces = [{two}]\ncorner = \"reflection\"")), "needs the instant", "\"reflection"),
        (
            contact(&format!("pieces = [{two}]\ncompliant = {{ stiffness = 1e4 }}\ncorner = \"impact\"")),
            "`corner` beside `compliant`",
            "\"impact",
        ),
        (contact("gap = \"y\"\ncorner = \"impact\""), "it has no corners", "\"impact"),
        (contact("gap = \"y\"\npoint = [\"x\", \"y\"]"), "belongs to a chain", "[\"x\""),
        (constraint("equation = \"y\"\ncorner = \"impact\""), "it has no corners", "\"impact"),
        (constraint("equation = \"y\"\npieces = [{ when = \"x > 0\", equation = \"y\" }]"), "equations beside them", "[[constraint]]"),
        (constraint("pieces = [{ when = \"x > 0\" }, { equation = \"y\" }]"), "piece 1 of \"wire\" has no equation", "{ when"),
        (constraint("pieces = [{ when = \"x > 0\", equation = \"1\" }, { equation = \"y\" }]"), "depends on no coordinate", "[{ when"),
        (contact("chain = [[[0, 0], [1, 0], [1, 1]]]"), "no point that touches it", "[[[0"),
        (contact("point = [\"x\"]\nchain = [[[0, 0], [1, 0], [1, 1]]]"), "has 1 formulas", "[\"x\"]"),
        (contact("point = [\"x\", \"z\"]\nchain = [[[0, 0], [1, 0], [1, 1]]]"), "no `z`", "z\""),
        (contact(&format!("{chain}[[[0, 0], [1, 0]]]")), "two are needed", "[[[0"),
        (contact(&format!("{chain}[[[0, 0], [1, 0]], [[1, 1], [2, 1]]]")), "ends at (1, 0) and primitive 2 begins at (1, 1)", "[[[0"),
        (contact(&format!("{chain}[[[0, 0], [0, 0], [1, 1]]]")), "has no length", "[[[0"),
        (contact(&format!("{chain}[[[0, 0], [1, 0], [0.5, 0]]]")), "turns back on itself", "[[[0"),
        (contact(&format!("{chain}[[[0, 0]]]")), "one point or none", "[[0, 0]]"),
        (contact(&format!("{chain}[[[0, 0], [1, 0, 2]]]")), "has 3 entries", "[1, 0, 2]"),
        (contact(&format!("{chain}[{{ centre = [0, 0], radius = 1, from = 0 }}]")), "has no `to`", "{ centre"),
        (contact(&format!("{chain}[{{ center = [0, 0], radius = 1, from = 0, to = 1 }}]")), "did you mean \"centre\"", "center"),
        (contact(&format!("{chain}[{{ centre = [0, 0], radius = -1, from = 0, to = 1 }}]")), "a positive number", "-1"),
        (contact(&format!("{chain}[3]")), "a list of points", "3"),
        (
            contact(&format!("radius = 2\n{chain}[[[0, 0], [1, 0]], {{ centre = [1, 1], radius = 1, from = \"-pi/2\", to = 0 }}]")),
            "does not fit into the arc 2",
            "[[[0",
        ),
        (contact(&format!("{chain}[[[0, 0], [1, 0], [1, 1]]]\ntangent = \"x\"")), "has its own tangent", "\"x\""),
    ] {
        let Err(error) = point(&section) else { panic!("{section} is taken") };
        let message = error.to_string();
        let place = error.diagnostics[0].span.as_ref().map(|span| &error.text[span.start..]);
        assert!(message.contains(wanted), "{section}: {message}");
        assert!(place.is_some_and(|text| text.starts_with(at)), "{section}: {message}: {place:?}");
    }
}
