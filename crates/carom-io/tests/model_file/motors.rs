//! Motors and friction of joints in model files: what they become, and mistakes with their help.

use super::read;
use carom_dynamics::recording::NoRecorder;
use carom_dynamics::strategies::{Continue, Observers};
use carom_dynamics::{BoundedLaw, BoundedRole, JointLoad, Law, StepMemory};

/// A wheel on a revolute joint about the y axis, whose joint has these keys.
fn wheel(keys: &str) -> String {
    joint("revolute", "axis = [0, 1, 0]", keys)
}

fn joint(kind: &str, axis: &str, keys: &str) -> String {
    format!(
        "[parameters]\nmost = 4\n[[body]]\nname = \"wheel\"\nmass = 2.0\ninertia = [0.5, 0.5, 0.5]\nposition = [0, 0, 0]\n\
         [[joint]]\nname = \"hub\"\nkind = \"{kind}\"\nbodies = [\"ground\", \"wheel\"]\npoint = [0, 0, 0]\n{axis}\n{keys}\n"
    )
}

fn mistakes(text: &str) -> String {
    let error = read(text).map(|_| ()).unwrap_err();
    error.diagnostics.iter().map(|d| format!("{} ({})\n", d.message, d.help.as_deref().unwrap_or(""))).collect()
}

/// Names and laws of the interactions after the joint.
fn laws(text: &str) -> Vec<(String, BoundedLaw)> {
    let file = read(text).unwrap_or_else(|e| panic!("{e}"));
    let bounded = file.model.interactions().iter().skip(1).map(|i| (i.name().to_owned(), *i.law().bounded().unwrap()));
    assert_eq!(*file.model.interactions()[0].law(), Law::Bilateral);
    bounded.collect()
}

#[test]
fn all_forms_are_read() {
    let motor = laws(&wheel("motor = { kind = \"velocity\", speed = \"2*sin(t)\", max_effort = \"2*most\" }"));
    assert_eq!(motor, [("hub motor".to_owned(), BoundedLaw::motor(8.0))]);
    let servo = laws(&wheel("motor = { kind = \"position\", target = 0.3, gain = 20 }"));
    assert_eq!(servo, [("hub motor".to_owned(), BoundedLaw::motor(f64::INFINITY).with_gain(20.0))]);
    let load = |rows, factor| JointLoad { joint: 0, rows, factor };
    let friction = laws(&wheel("friction = { coefficient = 0.1, radius = 0.02 }\nfriction_torque = 0.5"));
    assert_eq!(friction, [("hub friction".to_owned(), BoundedLaw::friction(0.5).with_load(load(3, 0.1 * 0.02)))]);
    assert_eq!(friction[0].1.role, BoundedRole::Friction);
    let slide = laws(&joint("prismatic", "axis = [1, 0, 0]", "friction = { coefficient = 0.1 }\nfriction_force = 2"));
    assert_eq!(slide, [("hub sliding friction".to_owned(), BoundedLaw::friction(2.0).with_load(load(2, 0.1)))]);
    let both = laws(&joint("cylindrical", "axis = [1, 0, 0]", "friction = { coefficient = 0.1, radius = 0.5 }"));
    assert_eq!(both.len(), 2);
    let along = laws(&joint("cylindrical", "axis = [1, 0, 0]", "motor = { kind = \"velocity\", speed = 1, along = \"slide\" }"));
    assert_eq!(along.len(), 1);
    let axes = "axes = [[0, 1, 0], [1, 0, 0]]";
    let cross = laws(&joint("universal", axes, "friction = { coefficient = 0.1, radius = 0.02 }\nfriction_torque = 0.5"));
    let of_either = BoundedLaw::friction(0.5).with_load(load(3, 0.1 * 0.02));
    assert_eq!(cross, [("hub friction".to_owned(), of_either), ("hub second friction".to_owned(), of_either)]);
    let second = laws(&joint("universal", axes, "motor = { kind = \"velocity\", speed = 1, along = \"second-turn\" }"));
    assert_eq!(second.len(), 1);
    let plane = laws(&joint("point-in-plane", "axis = [0, 0, 1]", "friction = { coefficient = 0.1 }"));
    assert_eq!(plane, [("hub sliding friction".to_owned(), BoundedLaw::friction(0.0).with_load(load(1, 0.1)))]);
    let curve = "curve = [\"s\", \"0\", \"0\"]\nrange = [-1, 1]";
    let wire = laws(&joint("point-on-curve", curve, "friction = { coefficient = 0.1 }\nfriction_force = 2"));
    assert_eq!(wire, [("hub sliding friction".to_owned(), BoundedLaw::friction(2.0).with_load(load(2, 0.1)))]);
    let both = laws(&joint("planar", "axis = [0, 0, 1]", "friction = { coefficient = 0.1, radius = 0.5 }\nfriction_force = 2"));
    assert_eq!(both.len(), 2);
    let limits =
        "turn_limits = [-1, 1]\nsecond_turn_limits = [-0.5, 2]\nrestitution = 0.3\nspring = { of = \"second-turn\", stiffness = 2 }";
    let file = read(&joint("universal", axes, limits)).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = file.model.interactions().iter().map(|i| i.name()).collect();
    assert_eq!(
        names,
        ["hub", "hub turn lower limit", "hub turn upper limit", "hub second turn lower limit", "hub second turn upper limit"]
    );
    // an effort is a force element, not an interaction
    assert!(laws(&wheel("motor = { kind = \"effort\", value = \"3*cos(t)\", max_effort = 2 }")).is_empty());
}

/// Angular velocity about y after 1 s from rest.
fn spun(keys: &str) -> f64 {
    let mut file = read(&wheel(keys)).unwrap_or_else(|e| panic!("{e}"));
    let mut memory = StepMemory::new(&file.model, &file.run.solver).unwrap();
    let strategy = file.run.strategy(file.record);
    let outcome =
        strategy.run(&file.model, &mut file.state, &mut memory, Observers { recorder: &mut NoRecorder, watch: &mut |_: &_| Continue::Yes });
    assert!(matches!(outcome.ending, carom_dynamics::strategies::Ending::Finished), "{:?}", outcome.ending);
    file.state.v[4]
}

#[test]
fn motors_do_what_they_say() {
    // J = 0.5: 4 N m for 1 s gives 8 rad/s, cut off at 1 N m it gives 2 rad/s; a velocity motor stops at its speed
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-8, "{a} {b}"); // the tolerance of the solver over the steps
    near(spun("motor = { kind = \"effort\", value = \"most\" }"), 8.0);
    near(spun("motor = { kind = \"effort\", value = \"-most\", max_effort = 1 }"), -2.0);
    near(spun("motor = { kind = \"velocity\", speed = 3, max_effort = 4 }"), 3.0);
    near(spun("motor = { kind = \"velocity\", speed = -30, max_effort = 4 }"), -8.0);
    near(spun("motor = { kind = \"effort\", value = 3 }\nfriction_torque = 1"), 4.0);
    near(spun("motor = { kind = \"effort\", value = 3 }\nfriction_torque = 5"), 0.0);
    // μ r m g = 0.5 · 0.1 · 2 · 9.81 = 0.981 N m
    near(spun("motor = { kind = \"effort\", value = 3 }\nfriction = { coefficient = 0.5, radius = 0.1 }"), 2.0 * (3.0 - 0.981));
}

#[test]
fn mistakes_say_what_to_do() {
    let cases = [
        (wheel("motor = { speed = 3 }"), "no `kind`", "velocity, position, effort"),
        (wheel("motor = { kind = \"velocty\", speed = 3 }"), "no kind \"velocty\"", "velocity"),
        (wheel("motor = { kind = \"velocity\", sped = 3 }"), "no `sped`", "speed"),
        (wheel("motor = { kind = \"velocity\" }"), "no `speed`", "speed = "),
        (wheel("motor = { kind = \"position\", target = 1 }"), "no `gain`", "gain = "),
        (wheel("motor = { kind = \"velocity\", speed = \"2*u\" }"), "speed", ""),
        (wheel("motor = { kind = \"effort\", value = \"2*\" }"), "value", ""),
        (wheel("motor = { kind = \"velocity\", speed = 1, max_effort = -1 }"), "max_effort", "positive"),
        (wheel("motor = { kind = \"velocity\", speed = 1, along = \"slid\" }"), "along", "slide"),
        (wheel("motor = { kind = \"velocity\", speed = 1, along = \"slide\" }"), "no displacement", ""),
        (wheel("friction = { coefficient = 0.1 }"), "no `radius`", "metres"),
        (wheel("friction = { radius = 0.1 }"), "no `coefficient`", "coefficient"),
        (wheel("friction = { coefficient = 0.1, radius = 0.1, radus = 1 }"), "no `radus`", "radius"),
        (wheel("friction_torque = -1"), "friction_torque", "≥ 0"),
        (wheel("friction_force = 1"), "does not slide", "prismatic"),
        (joint("fixed", "", "friction_torque = 1"), "does not turn about an axis", "revolute"),
        (joint("fixed", "", "friction = { coefficient = 0.1, radius = 0.1 }"), "not known for this kind", "revolute"),
        (joint("spherical", "", "motor = { kind = \"velocity\", speed = 1 }"), "no coordinate", "revolute"),
        (joint("prismatic", "axis = [1, 0, 0]", "friction = { coefficient = 0.1, radius = 1 }"), "does not turn", "remove"),
        (wheel("motor = { kind = \"velocity\", speed = 1, along = \"second-turn\" }"), "no second angle", ""),
        (wheel("second_turn_limits = [0, 1]"), "no `second_turn_limits`", "universal"),
        (joint("universal", "axes = [[0, 1, 0], [1, 0, 0]]", "spring = { stiffness = 1 }"), "two coordinates", "second-turn"),
    ];
    for (text, message, help) in cases {
        let found = mistakes(&text);
        assert!(found.contains(message) && found.contains(help), "{text}\n{found}");
    }
}
