//! Wrong model files: each mistake is an error of its own, at its place, with exit status 2, and nothing is written.

use crate::support::{BALL, BODIES, Folder};

/// (what to replace, by what, words of the message, text at the place it points to).
type Case = (&'static str, &'static str, &'static [&'static str], &'static str);

const BALL_CASES: &[Case] = &[
    ("mass = 1.0", "mass = nan", &["mass", "NaN", "finite"], "nan"),
    ("mass = 1.0", "mass = inf", &["mass", "inf"], "inf"),
    ("mass = 1.0", "mass = 0.0", &["mass matrix", "positive definite"], "0.0"),
    ("mass = 1.0", "mass = -2", &["mass matrix", "positive definite"], "-2"),
    ("mass = 1.0", "mass = [[1, 2]]", &["row", "2 entries", "1 numbers"], "[[1"),
    ("mass = 1.0", "mas = 1.0", &["unknown field `mas`", "did you mean `mass`"], "mas"),
    ("mass = 1.0\n", "", &["missing field `mass`"], "[linear]"),
    ("restitution = 0.9", "restitution = 1.5", &["restitution", "1.5", "0 to 1"], "1.5"),
    ("restitution = 0.9", "restitution = -0.1", &["restitution", "-0.1"], "-0.1"),
    ("restitution = 0.9", "friction = 0.5", &["friction but no tangent", "tangent ="], "0.5"),
    ("restitution = 0.9", "friction = -0.5\ntangent = \"y\"", &["friction", "-0.5", "≥ 0"], "-0.5"),
    ("gap = \"y\"", "gap = \"x - 1\"", &["no `x` here", "y"], "x - 1"),
    ("gap = \"y\"", "gap = \"hieght - y\"", &["hieght", "height"], "hieght"),
    ("gap = \"y\"", "gap = \"y +\"", &["gap", "ends"], ""),
    ("gap = \"y\"", "gap = \"sine(y)\"", &["sine", "sin"], "sine"),
    ("gap = \"y\"", "gap = \"height\"", &["no coordinate"], "\"height\""),
    ("step = 0.005", "step = 0", &["step", "positive"], "0"),
    ("step = 0.005", "step = -1e-3", &["step", "positive"], "-1e-3"),
    ("step = 0.005", "step = \"1/0\"", &["step", "inf"], "\"1/0\""),
    ("step = 0.005", "step = 0.005\nstrategy = \"time-steping\"", &["time-steping", "time-stepping"], "\"time-steping\""),
    ("step = 0.005", "step = 0.005\nscheme = \"moreau-jan\"", &["moreau-jan", "moreau-jean"], "\"moreau-jan\""),
    ("step = 0.005", "step = 0.005\nscheme = { theta = 2.0 }", &["theta", "[0, 1]"], "{ theta"),
    ("step = 0.005", "step = 0.005\nscheme = { thta = 0.5 }", &["thta", "theta"], "{ thta"),
    ("step = 0.005", "step = 0.005\nsolver = { tolerance = -1.0 }", &["tolerance"], "{ tol"),
    ("step = 0.005", "step = 0.005\non_failure = \"halt\"", &["halt", "stop"], "\"halt\""),
    ("end = 1.0", "end = -1.0", &["end", "before"], "-1.0"),
    ("height = 1.0", "height = \"depth + 1\"\ndepth = \"height\"", &["depends on itself"], ""),
    ("height = 1.0", "pi = 3", &["pi", "cannot name"], "pi"),
    ("position = { y = \"height\" }", "position = { z = 1 }", &["no coordinate \"z\"", "y"], "z"),
    ("coordinates = [\"y\"]", "coordinates = [\"y\", \"y\"]", &["twice"], "\"y\"]"),
    ("coordinates = [\"y\"]", "coordinates = [\"2y\"]", &["2y", "cannot name"], "\"2y\""),
    ("[simulation]", "[simulaton]", &["unknown field `simulaton`", "simulation"], "simulaton"),
    ("title = \"Ball\"", "title = \"Ball", &[], ""),
    ("[initial]", "[[contact]]\nname = \"floor\"\ngap = \"1 - y\"\n[initial]", &["two interactions", "floor"], ""),
];

const BODY_CASES: &[Case] = &[
    ("density = 1000", "density = -1000", &["density", "-1000", "positive"], "-1000"),
    ("density = 1000", "mass = 0", &["mass", "positive"], "0"),
    ("density = 1000\n", "", &["no mass", "density"], "[[body]]"),
    ("density = 1000", "density = 1000\nmass = 1", &["both mass and density"], "1000"),
    ("inertia = [1.0, 1.0, 1.5]", "inertia = [1.0, 1.0, 2.5]", &["inertia", "sum of the other two"], "[1.0"),
    ("inertia = [1.0, 1.0, 1.5]", "inertia = [1.0, -1.0, 1.5]", &["inertia", "positive"], "[1.0"),
    ("inertia = [1.0, 1.0, 1.5]", "inertia = [1.0, 1.0]", &["2 entries", "3"], "[1.0"),
    ("orientation = [1, 0, 0, 0]", "orientation = [0, 0, 0, 0]", &["zero quaternion", "[1, 0, 0, 0]"], "[0, 0, 0, 0]"),
    ("orientation = [1, 0, 0, 0]", "orientation = [1, 0, nan, 0]", &["NaN"], "[1, 0, nan"),
    ("friction = 0.3", "friction = -0.3", &["friction", "-0.3", "≥ 0"], "-0.3"),
    ("restitution = 0.1", "restitution = 1.1", &["restitution", "1.1"], "1.1"),
    ("material = \"rubber\"", "material = \"ruber\"", &["ruber", "did you mean \"rubber\""], "\"ruber\""),
    ("name = \"top\"", "name = \"ball\"", &["name \"ball\"", "twice"], "\"ball\""),
    ("kind = \"sphere\", radius = 0.1", "kind = \"spere\", radius = 0.1", &["spere", "sphere"], "\"spere\""),
    ("radius = 0.1", "radius = 0.0", &["radius", "positive"], "0.0"),
    ("radius = 0.1", "size = 0.1", &["sphere has no `size`", "radius"], "0.1"),
    ("position = [5, 0, 3]", "position = [5, 0]", &["position", "2 entries", "3"], "[5, 0]"),
    ("position = [5, 0, 3]", "shape = { kind = \"plane\" }", &["plane", "fixed"], "{ kind = \"plane\" }"),
];

fn check_cases(model: &str, cases: &[Case]) {
    for (from, to, words, place) in cases {
        assert!(model.contains(from), "{from}");
        let text = model.replacen(from, to, 1);
        let folder = Folder::new();
        folder.write("model.toml", &text);
        let run = folder.carom(&["run", "model.toml"]);
        assert_eq!(run.code, 2, "{to}: {}{}", run.out, run.err);
        assert!(!run.err.contains("panicked"), "{to}: {}", run.err);
        assert_eq!(folder.files(), ["model.toml"], "{to}");
        let check = folder.carom(&["check", "model.toml", "--json"]);
        assert_eq!(check.code, 2, "{to}");
        let json = check.json();
        let mistake = &json["mistakes"][0];
        let message = format!("{} {}", mistake["message"].as_str().unwrap(), mistake["help"].as_str().unwrap_or_default());
        for word in *words {
            assert!(message.contains(word), "{to}: \"{word}\" is not in: {message}");
        }
        if !place.is_empty() {
            let (line, column) = (mistake["line"].as_u64().expect(to) as usize, mistake["column"].as_u64().unwrap() as usize);
            let rest: String = text.lines().nth(line - 1).unwrap().chars().skip(column - 1).collect();
            assert!(rest.starts_with(place), "{to}: points to {rest:?}");
        }
    }
}

#[test]
fn mistakes_in_a_formula_model() {
    check_cases(BALL, BALL_CASES);
}

#[test]
fn mistakes_in_a_model_of_bodies() {
    check_cases(BODIES, BODY_CASES);
}

#[test]
fn right_models_pass_the_check() {
    for model in [BALL, BODIES] {
        let folder = Folder::new();
        folder.write("model.toml", model);
        let check = folder.carom(&["check", "."]);
        assert_eq!(check.code, 0, "{}", check.err);
        assert!(check.out.contains("right"));
        assert_eq!(folder.carom(&["run", "model.toml", "--no-record"]).code, 0);
    }
}

/// For people, the message shows the line with a caret.
#[test]
fn the_line_is_shown() {
    let folder = Folder::new();
    folder.write("model.toml", &BALL.replace("gap = \"y\"", "gap = \"hieght - y\""));
    let check = folder.carom(&["check", "model.toml"]);
    assert_eq!(check.code, 2);
    for part in ["model.toml:14:8", "gap = \"hieght - y\"", "──", "height"] {
        assert!(check.err.contains(part), "{part}: {}", check.err);
    }
}

#[test]
fn missing_and_empty_files() {
    let folder = Folder::new();
    folder.write("empty.toml", "");
    folder.write("binary.toml", "\u{0}\u{1}");
    for (file, word) in [("nowhere", "nowhere"), ("empty.toml", "nothing"), ("binary.toml", "binary.toml"), (".", "model.toml")] {
        let run = folder.carom(&["run", file]);
        assert_eq!(run.code, 2, "{file}");
        assert!(run.err.contains(word) && !run.err.contains("panicked"), "{file}: {}", run.err);
    }
    assert_eq!(folder.files(), ["binary.toml", "empty.toml"]);
}

/// Hostile formulas are refused, not followed.
#[test]
fn hostile_formulas_are_refused() {
    let folder = Folder::new();
    let (deep, long) = (format!("{}y{}", "(".repeat(5000), ")".repeat(5000)), vec!["y"; 8000].join("+"));
    for formula in [deep.as_str(), long.as_str(), "y; import os", "y^^2", "1e999", "\u{202e}y", "if(y)", "y..z"] {
        folder.write("model.toml", &BALL.replace("gap = \"y\"", &format!("gap = \"{formula}\"")));
        let run = folder.carom(&["check", "model.toml"]);
        assert_eq!(run.code, 2, "{}", &formula[..formula.len().min(40)]);
        assert!(!run.err.contains("panicked"), "{}", run.err);
    }
}
