//! Mistakes in sensors, controllers and actuators: each has its place and says how to mend it.

use super::read;
use carom_io::model_file::parse;
use std::path::Path;

const PLANT: &str = "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"0.5*(x_dot^2 + y_dot^2 + x_dot*y_dot)\"\n";

/// The first mistake of a model with these sections: the text it is about, message and help.
fn mistake(sections: &str) -> (String, String) {
    let text = format!("{PLANT}{sections}\n");
    let error = read(&text).map(|_| ()).expect_err("the model is wrong");
    let first = &error.diagnostics[0];
    let place = first.span.clone().and_then(|span| error.text.get(span)).unwrap_or_default().to_owned();
    (place, format!("{} ({})", first.message, first.help.as_deref().unwrap_or_default()))
}

fn controller(keys: &str) -> String {
    format!("[[controller]]\nname = \"c\"\n{keys}\n")
}

#[test]
fn every_mistake_has_its_place() {
    let pid = |keys: &str| controller(&format!("kind = \"pid\"\nerror = \"-x\"\n{keys}"));
    let torque = |keys: &str| controller(&format!("kind = \"computed-torque\"\n{keys}"));
    let actuator = |keys: &str| format!("[[actuator]]\nname = \"a\"\n{keys}\n");
    for (sections, place, words) in [
        (pid("kp = 1\nperiod = 0"), "0", "period"),
        (pid("kp = 1\nperiod = -0.1"), "-0.1", "positive"),
        (pid("kp = 1\nphase = 0.1"), "0.1", "no period"),
        (pid("period = 0.1"), "", "no gains"),
        (pid("kd = 1"), "", "filter"),
        (pid("kp = 1\nsurface = \"x\""), "\"x\"", "its keys are"),
        (controller("kind = \"pit\""), "\"pit\"", "did you mean \"pid\""),
        (controller("kind = \"pid\"\nkp = 1"), "", "`error`"),
        (controller("outputs = { u = \"z\" }"), "z", "there is no `z`"),
        (controller("states = { i = { rate = \"x\" } }\noutputs = { u = \"i\" }\nperiod = 0.1"), "", "`update`"),
        (controller("states = { i = { update = \"x\" } }\noutputs = { u = \"i\" }"), "", "`rate`"),
        (controller("period = 0.1"), "", "`outputs`"),
        (torque("period = 0.1\ncoordinates = [\"x\"]\ndesired = [\"0\"]\nkp = 1\nkd = 1"), "", "name it among the coordinates"),
        (torque("period = 0.1\ncoordinates = [\"x\", \"y\"]\ndesired = [\"0\", \"0\"]\nkp = 1"), "", "`kd`"),
        (torque("period = 0.1\ncoordinates = [\"x\", \"y\"]\ndesired = [\"0\"]\nkp = 1\nkd = 1"), "[\"0\"]", "one formula of t"),
        (torque("period = 0.1\ncoordinates = [\"x\", \"y\"]\ndesired = [\"0\", \"0\"]\nkp = [1, 2, 3]\nkd = 1"), "[1, 2, 3]", "`kp`"),
        (
            format!(
                "[first_order]\nstates = [\"z\"]\nrates = {{ z = \"-z\" }}\n{}",
                torque("coordinates = [\"x\", \"y\"]\ndesired = [\"0\", \"0\"]\nkp = 1\nkd = 1")
            ),
            "",
            "give it a `period`",
        ),
        (
            format!(
                "{}[[controller]]\nname = \"d\"\noutputs = {{ u = \"1\" }}\n[[controller.mode]]\nname = \"on\"\n[[controller.mode.transition]]\nto = \"on\"\nwhen = \"c.x > 1\"\n",
                torque("coordinates = [\"x\", \"y\"]\ndesired = [\"0\", \"0\"]\nkp = 1\nkd = 1")
            ),
            "",
            "write the guard in coordinates",
        ),
        (controller("kind = \"sliding-mode\"\nform = \"explicit\"\nsurface = \"x\"\ngain = 1"), "", "`period`"),
        (controller("kind = \"sliding-mode\"\nsurface = \"x\""), "", "`gain`"),
        (controller("kind = \"twisting\"\nsurface = \"x\"\nrate = \"x_dot\"\ngains = [1, 2]"), "[1, 2]", "k1 > k2"),
        (
            controller("kind = \"observer\"\nestimates = [\"p\"]\nmeasured = [\"x\"]\nA = [[0, 1]]\nC = 1\nL = 1"),
            "[[0, 1]]",
            "a row of the matrix A",
        ),
        (actuator("signal = \"1\"\ncoordinate = \"z\""), "", "no coordinate or velocity \"z\""),
        (actuator("signal = \"c.u\"\ncoordinate = \"x\""), "c.u", "there is no `c.u`"),
        (actuator("signal = \"1\"\ncoordinate = \"x\"\nlimits = [2, 1]"), "[2, 1]", "smaller one first"),
        (actuator("signal = \"1\"\ninput = \"u\""), "", "no held input \"u\""),
        (actuator("signal = \"1\"\nbody = \"b\"\nforce = [1, 0, 0]"), "", "`period`"),
        (actuator("signal = \"1\"\nperiod = 0.1\njoint = \"hinge\""), "\"hinge\"", "no joint"),
        ("[[sensor]]\nname = \"s\"\n".to_owned(), "", "measures nothing"),
        ("[[sensor]]\nname = \"s\"\nvalue = \"x\"\nnoise = 0.1\n".to_owned(), "", "give it a period"),
        ("[[sensor]]\nname = \"s\"\ncontact = \"floor\"\n".to_owned(), "", "no contact by formula \"floor\""),
    ] {
        let (found, message) = mistake(&sections);
        assert!(message.contains(words), "{sections}: {message}");
        if place.is_empty() {
            assert!(found.starts_with("[[") || found.contains("name = "), "{sections}: points to `{found}`");
        } else {
            assert_eq!(found, place, "{sections}: {message}");
        }
    }
}

#[test]
fn an_algebraic_loop_is_refused_and_a_remembered_value_breaks_it() {
    let two = |first: &str| {
        format!(
            "[[controller]]\nname = \"a\"\nperiod = 0.1\n{first}\n[[controller]]\nname = \"b\"\nperiod = 0.1\noutputs = {{ u = \"2*a.u + x\" }}\n"
        )
    };
    let (_, message) = mistake(&two("outputs = { u = \"b.u\" }"));
    assert!(message.contains("algebraic loop") && message.contains("a ← b ← a"), "{message}");
    let broken = two("states = { before = { update = \"b.u\" } }\noutputs = { u = \"before\" }");
    assert!(read(&format!("{PLANT}{broken}")).is_ok());
}

#[test]
fn modes_know_each_other() {
    let mode = |to: &str, set: &str| {
        controller(&format!(
            "states = {{ k = {{ initial = 2 }} }}\noutputs = {{ u = \"k\" }}\n[[controller.mode]]\nname = \"on\"\n\
             [[controller.mode.transition]]\nto = \"{to}\"\nwhen = \"x > 1\"\nset = {{ {set} = \"t\" }}\n[[controller.mode]]\nname = \"off\"\noutputs = {{ u = \"0\" }}"
        ))
    };
    assert!(mistake(&mode("of", "k")).1.contains("none of its modes on, off"));
    assert!(mistake(&mode("off", "j")).1.contains("\"j\", which is no state"));
    let file = read(&format!("{PLANT}{}", mode("off", "k"))).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<String> = file.model.systems().coordinates().names().collect();
    assert_eq!(names, ["x", "y", "control.c.k", "control.c.u", "control.c.mode"]);
    assert_eq!(file.state.q[2], 2.0);
}

#[test]
fn adaptive_steps_do_not_stop_at_samples() {
    let text = format!("{PLANT}{}[simulation]\nend = 1\nstrategy = \"adaptive\"\n", controller("period = 0.1\noutputs = { u = \"x\" }"));
    let error = carom_io::model_file::parse(&text, std::path::Path::new("test.toml")).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("controllers") || error.diagnostics[0].message.contains("controllers"), "{error}");
}

const CIRCUIT: &str =
    "[circuit]\nheld = { u = 0 }\nnetlist = \"\"\"\nV1 in 0 {u}\nR1 in out 1\nC1 out 0 1m\n\"\"\"\n[simulation]\nend = 0.01\n";

/// Beside a circuit nothing is silently without effect, and what cannot be is told with its place.
#[test]
fn mistakes_of_controllers_of_circuits_have_their_place() {
    let sampled = "step = 1e-3\n[[sensor]]\nname = \"s\"\nperiod = 1e-3\n";
    for (sections, place, words) in [
        (format!("{sampled}value = \"v(out)\"\n"), "v", "take the voltage from a capacitor"),
        (format!("{sampled}value = \"i.R1\"\n"), "i.R1", "the current from a coil"),
        (
            "step = 1e-3\n[[actuator]]\nname = \"a\"\ncoordinate = \"C1.v\"\nsignal = \"1\"\nperiod = 1e-3\n".into(),
            "[[actuator]]",
            "write state = \"C1.v\"",
        ),
        (
            "strategy = \"event-driven\"\n[[actuator]]\nname = \"a\"\ninput = \"u\"\nsignal = \"1\"\nperiod = 1e-3\n".into(),
            "\"event-driven\"",
            "controllers of first-order systems",
        ),
    ] {
        let error = parse(&format!("{CIRCUIT}{sections}"), Path::new("circuit.toml")).map(|_| ()).expect_err("the model is wrong");
        let first = &error.diagnostics[0];
        let told = format!("{} ({})", first.message, first.help.as_deref().unwrap_or_default());
        assert!(told.contains(words), "{sections}: {told}");
        assert_eq!(first.span.clone().and_then(|span| error.text.get(span)), Some(place), "{told}");
    }
    // an actuator on the rate of a state acts through the circuit
    let acting = format!("{CIRCUIT}step = 1e-3\n[[actuator]]\nname = \"a\"\nstate = \"C1.v\"\nsignal = \"2\"\nperiod = 1e-3\n");
    assert!(parse(&acting, Path::new("circuit.toml")).is_ok());
}
