//! From links and joints to bodies in the world: the tree, the poses at given joint values, links that are held together.

use super::read::{Inertial, Joint, JointKind, Link, LinkShape, Robot};
use super::{ImportOptions, UrdfError};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use std::collections::HashMap;

/// The bodies of a robot, parents before children.
pub(super) struct PlacedRobot<'a> {
    pub bodies: Vec<PlacedBody<'a>>,
    /// Joints that can move, with the numbers of their bodies and their frame in the world at the given value.
    pub joints: Vec<PlacedJoint<'a>>,
}

/// A link with all that fixed joints hold to it.
pub(super) struct PlacedBody<'a> {
    /// The first is the one whose frame is the body's.
    pub links: Vec<&'a Link>,
    pub fixed: bool,
    pub pose: Isometry3<f64>,
    pub shapes: Vec<(&'a LinkShape, Isometry3<f64>)>,
    pub inertial: Option<Inertial>,
}

pub(super) struct PlacedJoint<'a> {
    pub joint: &'a Joint,
    /// Numbers of the parent's and the child's body.
    pub bodies: [usize; 2],
    pub value: f64,
    pub point: Vector3<f64>,
    pub axis: Vector3<f64>,
}

pub(super) fn place<'a>(robot: &'a Robot, options: &ImportOptions) -> Result<PlacedRobot<'a>, UrdfError> {
    let numbers: HashMap<&str, usize> = robot.links.iter().enumerate().map(|(k, link)| (link.name.as_str(), k)).collect();
    let mut parent_joint: Vec<Option<&Joint>> = vec![None; robot.links.len()];
    let mut children: Vec<Vec<&Joint>> = vec![Vec::new(); robot.links.len()];
    for joint in &robot.joints {
        let find = |name: &str| {
            let help = "name a <link> of the file";
            numbers.get(name).copied().ok_or_else(|| {
                UrdfError::new(Some(joint.line), format!("the joint {:?} joins {name:?}, which is no link", joint.name), help)
            })
        };
        let (parent, child) = (find(&joint.parent)?, find(&joint.child)?);
        if let Some(other) = parent_joint[child].replace(joint) {
            let message = format!("the link {:?} is the child of both {:?} and {:?}", joint.child, other.name, joint.name);
            return Err(UrdfError::new(Some(joint.line), message, "a URDF is a tree: close loops in the model file, with a [[joint]]"));
        }
        children[parent].push(joint);
    }
    let values = positions(robot, options)?;
    let roots: Vec<usize> = (0..robot.links.len()).filter(|&k| parent_joint[k].is_none()).collect();
    let [root] = roots[..] else {
        let message = match roots.is_empty() {
            true => "no link is without a parent".to_owned(),
            false => format!("{} links have no parent", roots.len()),
        };
        let line = roots.get(1).map(|&k| robot.links[k].line);
        return Err(UrdfError::new(line, message, "a URDF is one tree: join all links to one root"));
    };
    let mut placed = PlacedRobot { bodies: Vec::new(), joints: Vec::new() };
    placed.bodies.push(PlacedBody::new(&robot.links[root], Isometry3::identity(), !options.floating_base));
    placed.bodies[0].hold(&robot.links[root], &Isometry3::identity());
    // link, its body, and its frame in the world
    let mut waiting = vec![(root, 0, Isometry3::identity())];
    let mut n_reached = 0;
    while let Some((link, body, frame)) = waiting.pop() {
        n_reached += 1;
        for joint in children[link].iter().rev() {
            let (child, value) = (numbers[joint.child.as_str()], values.get(joint.name.as_str()).copied().unwrap_or(0.0));
            let at_zero = frame * joint.origin;
            let moved = at_zero * motion(joint, value);
            let child_link = &robot.links[child];
            if joint.kind == JointKind::Fixed {
                let relative = placed.bodies[body].pose.inv_mul(&moved);
                placed.bodies[body].hold(child_link, &relative);
                placed.bodies[body].links.push(child_link);
                waiting.push((child, body, moved));
                continue;
            }
            let number = placed.bodies.len();
            placed.bodies.push(PlacedBody::new(child_link, moved, false));
            placed.bodies[number].hold(child_link, &Isometry3::identity());
            let (point, axis) = (moved.translation.vector, moved.rotation * joint.axis);
            placed.joints.push(PlacedJoint { joint, bodies: [body, number], value, point, axis });
            waiting.push((child, number, moved));
        }
    }
    if n_reached < robot.links.len() {
        return Err(UrdfError::new(
            None,
            "some links are joined in a circle, away from the root",
            "a URDF is one tree: join all links to one root",
        ));
    }
    for body in placed.bodies.iter().filter(|body| !body.fixed) {
        let massive = body.inertial.as_ref().is_some_and(|inertial| inertial.mass > 0.0);
        if !massive && (body.shapes.is_empty() || body.inertial.is_some()) {
            let message = format!("the link {:?} moves, but has no mass", body.links[0].name);
            return Err(UrdfError::new(
                Some(body.links[0].line),
                message,
                "give it an <inertial>, or hold it to a link that has one by a fixed joint",
            ));
        }
    }
    Ok(placed)
}

/// The values asked for, by joint.
fn positions<'a>(robot: &Robot, options: &'a ImportOptions) -> Result<HashMap<&'a str, f64>, UrdfError> {
    let mut values = HashMap::new();
    for (name, value) in &options.positions {
        let Some(joint) = robot.joints.iter().find(|joint| joint.name == *name) else {
            let known: Vec<&str> = robot.joints.iter().map(|joint| joint.name.as_str()).collect();
            return Err(UrdfError::new(None, format!("there is no joint {name:?} to set"), format!("choose from: {}", known.join(", "))));
        };
        if !matches!(joint.kind, JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic) {
            let message = format!("the {} joint {name:?} has no single value", joint.kind.name());
            return Err(UrdfError::new(Some(joint.line), message, "set revolute, continuous and prismatic joints only"));
        }
        if !value.is_finite() || joint.limits.is_some_and(|[a, b]| !(a..=b).contains(value)) {
            let range = joint.limits.map_or_else(String::new, |[a, b]| format!(" from {a} to {b}"));
            return Err(UrdfError::new(
                Some(joint.line),
                format!("the joint {name:?} cannot be at {value}"),
                format!("give a finite value{range}"),
            ));
        }
        values.insert(name.as_str(), *value);
    }
    Ok(values)
}

fn motion(joint: &Joint, value: f64) -> Isometry3<f64> {
    match joint.kind {
        JointKind::Revolute | JointKind::Continuous => {
            Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_scaled_axis(joint.axis * value))
        }
        JointKind::Prismatic => Isometry3::from_parts(Translation3::from(joint.axis * value), UnitQuaternion::identity()),
        _ => Isometry3::identity(),
    }
}

impl<'a> PlacedBody<'a> {
    fn new(link: &'a Link, pose: Isometry3<f64>, fixed: bool) -> Self {
        PlacedBody { links: vec![link], fixed, pose, shapes: Vec::new(), inertial: None }
    }

    /// Adds the shapes and the inertia of a link whose frame is `relative` to the body's.
    fn hold(&mut self, link: &'a Link, relative: &Isometry3<f64>) {
        self.shapes.extend(link.shapes.iter().map(|shape| (shape, relative * shape.origin)));
        let Some(more) = &link.inertial else { return };
        let turn = relative.rotation.to_rotation_matrix();
        let centre = relative.rotation * more.centre + relative.translation.vector;
        let turned = turn * more.inertia * turn.transpose();
        let more = Inertial { mass: more.mass, centre, inertia: 0.5 * (turned + turned.transpose()) };
        self.inertial = Some(match self.inertial.take() {
            None => more,
            Some(old) => together(&old, &more),
        });
    }
}

/// Two masses as one body: parallel axes about the common centre of mass.
fn together(a: &Inertial, b: &Inertial) -> Inertial {
    let mass = a.mass + b.mass;
    if mass <= 0.0 {
        return Inertial { mass, centre: a.centre, inertia: a.inertia + b.inertia };
    }
    let centre = (a.centre * a.mass + b.centre * b.mass) / mass;
    let shifted = |one: &Inertial| {
        let arm = one.centre - centre;
        one.inertia + (Matrix3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose()) * one.mass
    };
    Inertial { mass, centre, inertia: shifted(a) + shifted(b) }
}
