//! Force elements in model files.

use super::read;
use carom_dynamics::systems::Scratch;
use carom_io::model_file::ModelFile;

/// Two bodies, a planar one and a fixed one, with these sections.
fn bodies(sections: &str) -> String {
    format!(
        "[parameters]\nk = 40\n\
         [[body]]\nname = \"a\"\nmass = 2\ninertia = 0.1\n\
         [[body]]\nname = \"b\"\nmass = 3\ninertia = 0.1\nposition = [1, 0, 0]\n\
         [[body]]\nname = \"wall\"\nfixed = true\nshape = {{ kind = \"sphere\", radius = 0.1 }}\nposition = [0, 0, 9]\n\
         {sections}\n"
    )
}

fn planar(sections: &str) -> String {
    format!("[parameters]\nk = 40\n[[planar_body]]\nname = \"disk\"\nmass = 2\ninertia = 0.5\n{sections}\n")
}

/// What the elements add to the forces of gravity.
fn added(file: &ModelFile) -> Vec<f64> {
    let (state, model) = (&file.state, &file.model);
    let mut force = vec![0.0; state.v.len()];
    for (_, element) in model.force_elements().iter() {
        let at = carom_dynamics::systems::Instant { t: 0.5, q: &state.q, v: &state.v };
        element.add_force(model.systems(), at, carom_dynamics::forces::ForcePart::All, &mut force, &mut Scratch::default()).unwrap();
    }
    force
}

fn force_of(text: &str) -> Vec<f64> {
    added(&read(text).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn loads_are_read() {
    let force = force_of(&bodies("[[force]]\nkind = \"force\"\nbody = \"b\"\nforce = [\"k*x\", -2, \"a.x + t\"]"));
    assert_eq!(force[6..9], [40.0, -2.0, 0.5]);
    let force = force_of(&bodies("[[force]]\nkind = \"force\"\nbody = \"b\"\nforce = [0, 0, 3]\npoint = [1, 2, 0]\naxes = \"body\""));
    assert_eq!(force[6..12], [0.0, 0.0, 3.0, 6.0, 0.0, 0.0]);
    let force = force_of(&bodies("[[force]]\nkind = \"torque\"\nbody = \"a\"\ntorque = [0, \"2*t\", 0]"));
    assert_eq!(force[3..6], [0.0, 1.0, 0.0]);
    let force = force_of(&planar(
        "[[force]]\nkind = \"torque\"\nbody = \"disk\"\ntorque = \"2*t\"\n[[force]]\nkind = \"force\"\nbody = \"disk\"\nforce = [\"k\", 1]\npoint = [0, 1]",
    ));
    assert_eq!(force, [40.0, 1.0, 1.0 - 40.0]);
}

#[test]
fn springs_bushings_and_drag_are_read() {
    let force =
        force_of(&bodies("[[force]]\nkind = \"spring\"\nbodies = [\"a\", \"b\"]\nstiffness = \"k\"\nrest = 0.5\ndamping = 1\npreload = 2"));
    assert_eq!((force[0], force[6]), (22.0, -22.0));
    let force = force_of(&bodies(
        "[[force]]\nkind = \"spring\"\nbodies = [\"wall\", \"a\"]\npoints = [[0, 0, 9], [0, 0, 0]]\nforce = \"k*length + rate\"",
    ));
    assert_eq!(force[2], 360.0);
    let rope = "[[force]]\nkind = \"spring\"\nbodies = [\"a\", \"b\"]\nstiffness = 5\nrest = 2\nsense = \"tension-only\"";
    assert_eq!(force_of(&bodies(rope)), [0.0; 12]);
    assert_eq!(force_of(&bodies(&rope.replace("tension", "compression")))[0], -5.0);
    let still =
        "[[force]]\nkind = \"bushing\"\nbodies = [\"a\", \"b\"]\npoint = [0.5, 0, 0]\nstiffness = [1, 2, 3]\nrotational_damping = 4";
    assert_eq!(force_of(&bodies(still)), [0.0; 12]);
    let drag = force_of(&bodies("[[force]]\nkind = \"drag\"\nbodies = \"all\"\nlinear = 2\nwind = [\"x\", 1, 0]"));
    assert_eq!((drag[0], drag[1], drag[6], drag[7]), (0.0, 2.0, 2.0, 2.0));
    let file = read(&bodies("[[force]]\nkind = \"drag\"\nbodies = [\"b\"]\nquadratic = 2\nwind = [0, 3, 0]")).unwrap();
    assert_eq!(added(&file)[7], 18.0);
    assert!(!file.model.is_affine() && file.model.exchanges_energy());
}

#[test]
fn springs_of_joints_are_read() {
    let joint = |kind: &str, spring: &str| {
        bodies(&format!(
            "[[joint]]\nname = \"j\"\nkind = \"{kind}\"\nbodies = [\"ground\", \"a\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\nspring = {spring}"
        ))
    };
    assert_eq!(force_of(&joint("revolute", "{ stiffness = \"k\", damping = 1, rest = 0.5 }"))[5], 20.0);
    assert_eq!(force_of(&joint("prismatic", "{ stiffness = 10, rest = -0.5 }"))[2], -5.0);
    assert_eq!(force_of(&joint("cylindrical", "{ of = \"turn\", force = \"sin(coordinate) + 2\" }"))[5], -2.0);
    let mistake = |kind: &str, spring: &str| read(&joint(kind, spring)).map(|_| ()).unwrap_err().to_string();
    assert!(mistake("cylindrical", "{ stiffness = 1 }").contains("does not say which (give `of = \"turn\"`"));
    assert!(mistake("revolute", "{ of = \"slide\", stiffness = 1 }").contains("there is no coordinate of this joint \"slide\""));
    assert!(mistake("revolute", "{ rest = 1 }").contains("the spring \"j spring\" has no force (give `stiffness` [N m/rad]"));
    assert!(mistake("revolute", "{ stifness = 1 }").contains("did you mean `stiffness`?"));
    assert!(mistake("revolute", "{ force = \"length\" }").contains("length"));
    let ball = joint("spherical", "{ stiffness = 1 }").replace("axis = [0, 0, 1]\n", "");
    assert!(read(&ball).map(|_| ()).unwrap_err().to_string().contains("\"j\" has no coordinate for a spring"));
}

#[test]
fn mistakes_are_told_with_help() {
    for (keys, message, help) in [
        ("kind = \"sprung\"", "there is no force \"sprung\"", "did you mean \"spring\"?"),
        ("kind = \"force\"\nforce = [0, 0, 1]", "\"force 1\" has no `body`", "`body = \"…\"`"),
        ("kind = \"force\"\nbody = \"a\"", "\"force 1\" has no `force`", "[x, y, z]"),
        ("kind = \"force\"\nbody = \"wall\"\nforce = [0, 0, 1]", "\"wall\", which does not move", "name a body that moves"),
        ("kind = \"force\"\nbody = \"c\"\nforce = [0, 0, 1]", "acts on \"c\", which is no body", "a, b, ground"),
        ("kind = \"force\"\nbody = \"a\"\nforce = [0, 1]", "has not the right form", "[x, y, z]"),
        ("kind = \"force\"\nbody = \"a\"\nforce = [0, \"b.xx\", 1]", "the force of \"force 1\"", "b.x"),
        ("kind = \"force\"\nbody = \"a\"\nforce = [0, 0, 1]\nwind = [0, 0, 1]", "is a force and has no `wind`", "body, force, point, axes"),
        ("kind = \"torque\"\nbody = \"a\"\ntorque = [0, 0, 1]\naxes = \"own\"", "there is no kind of axes \"own\"", "world, body"),
        ("kind = \"spring\"\nstiffness = 1", "has no `bodies`", "ground"),
        ("kind = \"spring\"\nbodies = [\"a\"]\nstiffness = 1", "\"force 1\" has 1 bodies", "ground"),
        ("kind = \"spring\"\nbodies = [\"a\", \"ground\"]\nstiffness = 1", "ends on the ground and has no `points`", "points"),
        ("kind = \"spring\"\nbodies = [\"a\", \"b\"]", "the spring \"force 1\" has no force", "N/m"),
        ("kind = \"spring\"\nbodies = [\"a\", \"b\"]\nstiffness = -1", "`stiffness` of \"force 1\" is -1", "≥ 0"),
        ("kind = \"spring\"\nbodies = [\"a\", \"b\"]\nforce = \"k\"\nrest = 1", "has both `force` and `rest`", "whole force"),
        ("kind = \"spring\"\nbodies = [\"a\", \"b\"]\nforce = \"k*lenght\"", "the force of \"force 1\"", "length"),
        (
            "kind = \"spring\"\nbodies = [\"a\", \"b\"]\nstiffness = 1\nsense = \"pull\"",
            "there is no sense of a spring \"pull\"",
            "tension-only",
        ),
        ("kind = \"spring\"\nbodies = [\"a\", \"b\"]\ndamping = 1\nsense = \"tension-only\"", "acts in one sense only", "positive"),
        ("kind = \"spring\"\nbodies = [\"a\", \"a\"]\nstiffness = 1", "two different bodies", ""),
        ("kind = \"bushing\"\nbodies = [\"a\", \"b\"]\nstiffness = 1", "has no `point`", "point"),
        ("kind = \"bushing\"\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]", "\"force 1\" does nothing", "stiffness"),
        ("kind = \"bushing\"\nbodies = [\"a\", \"b\"]\npoint = [0, 0, 0]\nstiffness = [1, -1, 1]", "has a negative entry", "≥ 0"),
        ("kind = \"drag\"\nlinear = 1", "on which bodies", "all"),
        ("kind = \"drag\"\nbodies = \"everything\"\nlinear = 1", "on which bodies", "all"),
        ("kind = \"drag\"\nbody = \"a\"", "has no coefficient", "linear"),
        ("kind = \"drag\"\nbody = \"a\"\nlinear = 1\nwind = 3", "the wind of \"force 1\" has not the right form", "t, x, y, z"),
    ] {
        let error = read(&bodies(&format!("[[force]]\n{keys}"))).map(|_| ()).expect_err(keys);
        let text: String = error.diagnostics.iter().map(|d| format!("{} ({})\n", d.message, d.help.as_deref().unwrap_or(""))).collect();
        assert!(text.contains(message) && text.contains(help), "{keys}\n{text}");
        assert!(error.diagnostics.iter().all(|d| error.position(d).is_some_and(|at| at.line >= 17)), "{error}");
    }
}
