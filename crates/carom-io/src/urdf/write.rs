//! The model file of a placed robot.

use super::read::{Geometry, Joint, JointKind, Robot};
use super::tree::{PlacedBody, PlacedJoint, PlacedRobot};
use super::{ImportOptions, Imported};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use std::fmt::Write;

/// The name of the world in model files.
const GROUND: &str = "ground";

pub(super) fn model(robot: &Robot, placed: &PlacedRobot<'_>, options: &ImportOptions) -> Imported {
    let mut out = Writer { text: String::new(), notes: Vec::new() };
    out.line(&format!("# converted from the URDF of the robot {:?}", robot.name));
    out.line(&format!("title = {}", quoted(&robot.name)));
    robot.notes.iter().for_each(|note| out.note(note.clone()));
    for body in &placed.bodies {
        out.body(body, options);
    }
    for joint in &placed.joints {
        out.joint(joint, placed);
    }
    out.line("\n[simulation]\nend = 1.0\nstep = 1e-3");
    Imported { model: out.text, notes: out.notes }
}

struct Writer {
    text: String,
    notes: Vec<String>,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Something that is not as in the URDF: a comment and a note.
    fn note(&mut self, note: String) {
        self.line(&format!("# {note}"));
        self.notes.push(note);
    }

    fn body(&mut self, body: &PlacedBody<'_>, options: &ImportOptions) {
        let name = body_name(body);
        let shapes = self.shapes(body);
        if body.fixed && shapes.is_empty() {
            // a link that nothing can touch and that does not move is the ground
            self.line(&format!("\n# the root link {:?} is the ground", body.links[0].name));
            return;
        }
        self.line("\n[[body]]");
        let held: Vec<String> = body.links[1..].iter().map(|link| format!("{:?}", link.name)).collect();
        if !held.is_empty() {
            self.line(&format!("# with the links that fixed joints hold to it: {}", held.join(", ")));
        }
        self.line(&format!("name = {}", quoted(&name)));
        if name != body.links[0].name {
            self.note(format!("the link {:?} is called {name:?}: the other name is taken by the world", body.links[0].name));
        }
        if body.fixed {
            self.line("fixed = true");
        }
        self.line(&format!("position = {}", vector(&body.pose.translation.vector)));
        self.line(&format!("orientation = {}", rotation(&body.pose.rotation)));
        if !body.fixed {
            match &body.inertial {
                Some(inertial) => {
                    self.line(&format!("mass = {:?}", inertial.mass));
                    self.line(&format!("centre = {}", vector(&inertial.centre)));
                    let rows: Vec<String> = (0..3).map(|i| vector(&inertial.inertia.row(i).transpose())).collect();
                    self.line(&format!("inertia = [{}]", rows.join(", ")));
                }
                None => {
                    self.note(format!(
                        "the link {:?} has no <inertial>: its mass is that of its shapes at a density of {}",
                        body.links[0].name, options.density
                    ));
                    self.line(&format!("density = {:?}", options.density));
                }
            }
        }
        match shapes.as_slice() {
            [] => {}
            [one] => self.line(&format!("shape = {one}")),
            many => self.line(&format!("shape = {{ kind = \"compound\", parts = [\n    {},\n] }}", many.join(",\n    "))),
        }
    }

    /// The shapes of a body as inline tables.
    fn shapes(&mut self, body: &PlacedBody<'_>) -> Vec<String> {
        let mut shapes = Vec::new();
        for (shape, place) in &body.shapes {
            let keys = match &shape.geometry {
                Geometry::Box(size) => format!("kind = \"box\", size = {}", vector(size)),
                Geometry::Sphere(radius) => format!("kind = \"sphere\", radius = {radius:?}"),
                Geometry::Cylinder { radius, length } => format!("kind = \"cylinder\", radius = {radius:?}, length = {length:?}"),
                Geometry::Capsule { radius, length } => format!("kind = \"capsule\", radius = {radius:?}, length = {length:?}"),
                Geometry::Mesh { file, scale } => {
                    let Some(keys) = self.mesh(file, scale, &body.links[0].name) else { continue };
                    keys
                }
            };
            shapes.push(format!("{{ {keys}{} }}", place_keys(place)));
        }
        shapes
    }

    fn mesh(&mut self, file: &str, scale: &Vector3<f64>, link: &str) -> Option<String> {
        let lower = file.to_ascii_lowercase();
        if !(lower.ends_with(".stl") || lower.ends_with(".obj")) {
            self.note(format!("the mesh {file:?} of the link {link:?} is left out: STL and OBJ files are read; convert it"));
            return None;
        }
        if scale.min() <= 0.0 {
            self.note(format!("the mesh {file:?} of the link {link:?} is left out: its scale {:?} is not positive", scale.as_slice()));
            return None;
        }
        // package://name/meshes/part.stl lies in meshes/part.stl of the package
        let path = file.strip_prefix("package://").and_then(|rest| rest.split_once('/')).map_or(file, |(_, path)| path);
        let path = path.strip_prefix("file://").unwrap_or(path).trim_start_matches('/');
        if path != file {
            self.note(format!("the mesh {file:?} is expected as {path:?} in the folder of the model file"));
        }
        let scale = if *scale == Vector3::repeat(1.0) { String::new() } else { format!(", scale = {}", vector(scale)) };
        Some(format!("kind = \"mesh\", file = {}{scale}", quoted(path)))
    }

    fn joint(&mut self, placed: &PlacedJoint<'_>, robot: &PlacedRobot<'_>) {
        let PlacedJoint { joint, bodies, value, point, axis } = placed;
        let names = bodies.map(|k| {
            let body = &robot.bodies[k];
            if body.fixed && body.shapes.is_empty() { GROUND.to_owned() } else { body_name(body) }
        });
        self.text.push('\n');
        let kind = match joint.kind {
            JointKind::Revolute | JointKind::Continuous => "revolute",
            JointKind::Prismatic => "prismatic",
            JointKind::Planar => "planar",
            JointKind::Floating | JointKind::Fixed => {
                self.line(&format!("# the joint {:?} is floating: {:?} moves freely", joint.name, joint.child));
                return;
            }
        };
        self.line("[[joint]]");
        self.line(&format!("name = {}", quoted(&joint.name)));
        self.line(&format!("kind = \"{kind}\""));
        self.line(&format!("bodies = [{}, {}]", quoted(&names[0]), quoted(&names[1])));
        self.line(&format!("point = {}", vector(point)));
        self.line(&format!("axis = {}", vector(axis)));
        let slides = joint.kind == JointKind::Prismatic;
        if *value != 0.0 {
            self.line(&format!("{} = {value:?}", if slides { "slide" } else { "turn" }));
        }
        if let Some([lower, upper]) = joint.limits {
            self.line(&format!("limits = [{lower:?}, {upper:?}]"));
        }
        if joint.kind == JointKind::Planar && (joint.friction != 0.0 || joint.damping != 0.0) {
            self.note(format!(
                "friction {} and damping {} of the planar joint {:?} are left out",
                joint.friction, joint.damping, joint.name
            ));
        } else {
            if joint.friction != 0.0 {
                self.line(&format!("{} = {:?}", if slides { "friction_force" } else { "friction_torque" }, joint.friction));
            }
            if joint.damping != 0.0 {
                self.line(&format!("spring = {{ damping = {:?} }}", joint.damping));
            }
        }
        self.left_out(joint);
    }

    /// What of a joint has no counterpart.
    fn left_out(&mut self, joint: &Joint) {
        let name = &joint.name;
        if let Some(other) = &joint.mimic {
            self.note(format!("the joint {name:?} mimics {other:?}: this is left out, it moves by itself; couple the two by hand"));
        }
        let bounds = [("effort", joint.effort), ("velocity", joint.velocity)].into_iter().filter_map(|(what, x)| Some((what, x?)));
        let bounds: Vec<String> = bounds.filter(|(_, x)| *x != 0.0).map(|(what, x)| format!("{what} {x}")).collect();
        if !bounds.is_empty() {
            self.note(format!(
                "limits of the drive of {name:?} are left out ({}): a joint has no motor unless `motor` is given",
                bounds.join(", ")
            ));
        }
        for tag in &joint.other {
            self.note(format!("<{tag}> of the joint {name:?} is left out"));
        }
    }
}

fn body_name(body: &PlacedBody<'_>) -> String {
    let name = &body.links[0].name;
    if name == GROUND { format!("{name}_link") } else { name.clone() }
}

/// `, position = […], orientation = […]`, where they are not those of the body.
fn place_keys(place: &Isometry3<f64>) -> String {
    let mut keys = String::new();
    if place.translation.vector != Vector3::zeros() {
        let _ = write!(keys, ", position = {}", vector(&place.translation.vector));
    }
    if place.rotation.into_inner() != Quaternion::identity() {
        let _ = write!(keys, ", orientation = {}", rotation(&place.rotation));
    }
    keys
}

fn vector(v: &Vector3<f64>) -> String {
    // −0 reads badly
    format!("[{:?}, {:?}, {:?}]", v.x + 0.0, v.y + 0.0, v.z + 0.0)
}

fn rotation(r: &UnitQuaternion<f64>) -> String {
    format!("[{:?}, {:?}, {:?}, {:?}]", r.w + 0.0, r.i + 0.0, r.j + 0.0, r.k + 0.0)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
