//! Velocity constraints in model files.

use carom_io::model_file::{ModelFile, ModelFileError, parse};
use std::path::Path;

/// A blade on an incline with this `[[constraint]]`.
fn blade(constraint: &str) -> Result<ModelFile, ModelFileError> {
    let text = format!(
        "[parameters]\nw = 1.5\n\
         [lagrangian]\ncoordinates = [\"x\", \"y\", \"th\"]\n\
         kinetic = \"x_dot^2 + y_dot^2 + 0.05*th_dot^2\"\npotential = \"-9.81*x\"\n\
         [[constraint]]\nname = \"blade\"\n{constraint}\n\
         [initial.velocity]\nth = \"w\"\n\
         [simulation]\nend = 1\nstep = 0.01\n"
    );
    parse(&text, Path::new("blade.toml"))
}

/// One row or several; they are nonholonomic, over the velocities they use and those that move their coordinates.
#[test]
fn reads_velocity_constraints() {
    let one = blade("velocity = \"x_dot*sin(th) - y_dot*cos(th)\"").unwrap();
    let relation = one.model.interactions()[0].relation();
    assert!(!relation.is_holonomic() && one.model.interactions()[0].is_bilateral());
    assert_eq!((one.model.interactions()[0].name(), relation.n_rows(), relation.velocities()), ("blade", 1, &[0, 1, 2][..]));
    let two = blade("velocities = [\"x_dot*sin(th) - y_dot*cos(th)\", \"th_dot - w\"]").unwrap();
    assert_eq!(two.model.interactions()[0].relation().n_rows(), 2);
    assert!(blade("equation = \"x\"").unwrap().model.interactions()[0].relation().is_holonomic());
}

/// Velocities of bodies by their names in files.
#[test]
fn reads_velocities_of_bodies() {
    let text = "[[body]]\nname = \"ball\"\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n\
                [[constraint]]\nvelocities = [\"ball.vx - 0.2*ball.wy\", \"ball.vy + 0.2*ball.wx\"]\n\
                [simulation]\nend = 1\nstep = 0.01\n";
    let file = parse(text, Path::new("ball.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(file.model.interactions()[0].relation().velocities(), &[0, 1, 3, 4, 5]);
}

/// Each mistake is shown at the text it is in.
#[test]
fn mistakes_in_velocity_constraints() {
    for (constraint, wanted, at) in [
        ("velocity = \"x_dot^2 - 1\"", "not affine in the rates", "\"x_dot^2"),
        ("velocities = [\"th_dot - w\", \"x_dot*y_dot\"]", "not affine in the rates", "\"x_dot*y_dot"),
        ("velocity = \"x - y\"", "depends on no rate", "\"x - y"),
        ("velocity = \"z_dot\"", "z_dot", "z_dot"),
        ("velocity = \"x_dot\"\nequation = \"x\"", "two kinds of them", "[[constraint]]"),
        ("velocity = \"x_dot\"\nvelocities = [\"y_dot\"]", "both one velocity and a list", "[[constraint]]"),
        ("velocities = []", "there are 0 equations", "[]"),
        ("velocty = \"x_dot\"", "did you mean `velocity`", "velocty"),
    ] {
        let Err(error) = blade(constraint) else { panic!("{constraint} is taken") };
        let message = error.to_string();
        let place = error.diagnostics[0].span.as_ref().map(|span| &error.text[span.start..]);
        assert!(message.contains(wanted), "{constraint}: {message}");
        assert!(place.is_some_and(|text| text.starts_with(at)), "{constraint}: {place:?}");
    }
}
