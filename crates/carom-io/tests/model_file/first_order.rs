//! `[first_order]`, `[[relation]]`, `[[switch]]`, `[sweeping]` and `[[set]]`: what is read, and mistakes with their places.

use carom_dynamics::first_order::MultiplierLaw;
use carom_io::model_file::{ModelFile, parse};
use std::path::Path;

const CIRCUIT: &str = r#"[parameters]
L = 1e-2
C = 1e-6
R = 1e3

[first_order]
states = ["v", "i"]
units = { v = "V" }
A = [[0, "-1/C"], ["1/L", 0]]

[[relation]]
name = "diode"
law = "complementarity"
multipliers = ["d"]
B = ["-1/C", 0]
C = [-1, 0]
D = "R"

[initial]
state = { v = 10 }

[simulation]
end = 1e-3
step = 1e-5
"#;

fn read(text: &str) -> Result<ModelFile, String> {
    parse(text, Path::new("circuit.toml")).map_err(|error| error.to_string())
}

/// The circuit with one piece of text replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(CIRCUIT.contains(from), "{from}");
    read(&CIRCUIT.replace(from, to)).err().unwrap_or_default()
}

#[test]
fn matrices_and_formulas_give_the_same_system() {
    let by_matrices = read(CIRCUIT).unwrap();
    let formulas = CIRCUIT
        .replace("A = [[0, \"-1/C\"], [\"1/L\", 0]]", "rates = { v = \"-i/C - d/C\", i = \"v/L\" }")
        .replace("B = [\"-1/C\", 0]\nC = [-1, 0]\nD = \"R\"", "y = [\"-v + R*d\"]");
    let by_formulas = read(&formulas).unwrap();
    assert_eq!(by_matrices.state.x, [10.0, 0.0]);
    assert_eq!(by_matrices.run.scheme.entry().name, "euler-moreau");
    let sets = [&by_matrices, &by_formulas].map(|file| file.model.first_order().unwrap());
    assert_eq!((sets[0].states()[0].unit.as_str(), sets[0].rows()), ("V", &["d".to_owned()][..]));
    let parts = sets.map(|set| set.linear().unwrap());
    for (a, b) in [(&parts[0].a, &parts[1].a), (&parts[0].b, &parts[1].b), (&parts[0].c, &parts[1].c), (&parts[0].d, &parts[1].d)] {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-15 * a.abs()), "{a:?} {b:?}"); // 1/C once or twice rounded
    }
}

#[test]
fn laws_are_read() {
    let law = |text: &str, n: usize| {
        let names = ["a", "b", "c"].map(|name| format!("\"{name}\""))[..n].join(", ");
        let y = ["\"x\"", "\"z\"", "\"x\""][..n].join(", ");
        let file = read(&format!(
            "[first_order]\nstates = [\"x\", \"z\"]\nrates = {{ x = \"a\" }}\n[[relation]]\nlaw = {text}\nmultipliers = [{names}]\ny = [{y}]\n\
             [simulation]\nend = 1\nstep = 0.1\nscheme = \"euler-moreau\"\n"
        ));
        file.map(|file| file.model.first_order().unwrap().relations()[0].law.clone())
    };
    assert_eq!(law("{ kind = \"relay\", lower = -2, upper = 3 }", 1), Ok(MultiplierLaw::Relay { lower: -2.0, upper: 3.0 }));
    assert_eq!(law("\"ball\"", 2), Ok(MultiplierLaw::Ball { radius: 1.0 }));
    let square = "{ kind = \"polytope\", facets = [[1, 0], [0, 1]], bounds = [1, 2] }";
    let expected = MultiplierLaw::Polytope { facets: vec![vec![1.0, 0.0], vec![0.0, 1.0]], bounds: vec![1.0, 2.0] };
    assert_eq!(law(square, 2), Ok(expected));
    assert!(law("\"rely\"", 1).unwrap_err().contains("did you mean \"relay\"?"));
    assert!(law("{ kind = \"relay\", low = 1 }", 1).unwrap_err().contains("does not know `low`"));
    assert!(law("{ kind = \"polytope\", facets = [[1]], bounds = [1] }", 2).unwrap_err().contains("2 numbers are needed"));
    assert!(law("{ radius = 1 }", 1).unwrap_err().contains("has no kind"));
}

#[test]
fn mistakes_have_their_places() {
    for (from, to, place, message) in [
        ("C = [-1, 0]", "C = [-1, 0, 0]", "16:5", "the matrix C of \"diode\" has 3 entries in a flat list"),
        ("\"-1/C\"], [", "\"-1/K\"], [", "6:1", "there is no `K` here"),
        ("state = { v = 10 }", "state = { u = 10 }", "20:11", "\"u\" is not a state"),
        ("multipliers = [\"d\"]", "multipliers = [\"v\"]", "6:1", "two multipliers are called \"v\""),
        ("D = \"R\"", "y = [\"v\"]", "11:1", "has both `y` and matrices"),
        ("B = [\"-1/C\", 0]\nC = [-1, 0]\nD = \"R\"", "C = [-1, 0]", "11:1", "no multiplier acts on the output of d in \"diode\""),
        ("step = 1e-5", "strategy = \"hybrid\"", "24:12", "does not know first-order systems"),
        (
            "step = 1e-5",
            "strategy = \"adaptive\"\nadaptive = \"high-order\"",
            "24:12",
            "control = high-order\" does not know first-order systems",
        ),
        ("step = 1e-5", "step = 1e-5\nscheme = \"moreau-jean\"", "25:10", "does not know first-order systems"),
    ] {
        let error = changed(from, to);
        assert!(error.contains(message) && error.contains(place), "{to}: {error}");
    }
    // step halving controls states
    assert_eq!(changed("step = 1e-5", "strategy = \"adaptive\""), "");
    let singular = changed("A = [[0, \"-1/C\"], [\"1/L\", 0]]", "A = [[0, 1], [0, 1]]\nmass = 0");
    // at [first_order], where the equations are
    assert!(singular.contains("6:1") && singular.contains("the pencil s M − A of the states v, i is singular"), "{singular}");
}

#[test]
fn sweeping_processes_are_read() {
    let text = |set: &str| {
        format!(
            "[sweeping]\nstates = [\"u\", \"w\"]\n[[set]]\nname = \"C\"\n{set}\n[initial]\nstate = {{ u = 0.5 }}\n[simulation]\nend = 1\nstep = 0.1\n"
        )
    };
    let rows = |set: &str| read(&text(set)).map(|file| file.model.first_order().unwrap().rows().to_vec());
    assert_eq!(rows("kind = \"ball\"\ncentre = [0, 0]\nradius = 1\ntranslation = [\"t\", 0]").unwrap(), ["C"]);
    assert_eq!(rows("kind = \"box\"\nlower = [-1, \"-inf\"]\nupper = [1, \"2 - t\"]").unwrap(), ["C_1", "C_2", "C_3"]);
    assert_eq!(rows("kind = \"polytope\"\nfacets = [[1, 1], [-1, 2]]\nbounds = [1, \"t\"]").unwrap(), ["C_1", "C_2"]);
    assert_eq!(rows("kind = \"inequality\"\nformula = \"1 - u^2 - w^2\"").unwrap(), ["C"]);
    assert!(rows("kind = \"sphere\"").unwrap_err().contains("there is no kind of set \"sphere\""));
    assert!(rows("kind = \"ball\"\ncentre = [0]").unwrap_err().contains("has no `radius`"));
    assert!(rows("kind = \"ball\"\ncentre = [0]\nradius = 1").unwrap_err().contains("has 1 entries"));
    assert!(rows("kind = \"half-space\"\nnormal = [1, 0]\nradius = 1").unwrap_err().contains("a half-space has no `radius`"));
    assert!(rows("kind = \"inequality\"\nformula = \"1 - t\"").unwrap_err().contains("depends on no coordinate"));
}

#[test]
fn switches_and_mixed_models_are_read() {
    let text = r#"
        [linear]
        coordinates = ["y"]
        mass = 1
        [first_order]
        states = ["i"]
        rates = { i = "1 - i - y_dot" }
        forces = { y = "i + side" }
        [[switch]]
        name = "side"
        surface = "y_dot"
        above = { i = "1" }
        [simulation]
        end = 1
        step = 0.1
    "#;
    let file = read(text).unwrap();
    let set = file.model.first_order().unwrap();
    assert!(set.is_coupled() && set.linear().is_none());
    assert_eq!(set.rows(), ["side"]);
    let wrong = read(&text.replace("forces = { y =", "forces = { z =")).err().unwrap_or_default();
    assert!(wrong.contains("force \"z\": there is no velocity of this name"), "{wrong}");
    let wrong = read(&text.replace("above = { i", "above = { k")).err().unwrap_or_default();
    assert!(wrong.contains("\"k\" cannot name a state of the system"), "{wrong}");
}
