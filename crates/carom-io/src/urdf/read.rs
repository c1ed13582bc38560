//! The elements of a URDF.

use super::UrdfError;
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use roxmltree::{Document, Node};
use std::collections::HashSet;

pub(super) struct Robot {
    pub name: String,
    pub links: Vec<Link>,
    pub joints: Vec<Joint>,
    /// Elements that are passed over, told once each.
    pub notes: Vec<String>,
}

pub(super) struct Link {
    pub name: String,
    pub line: u32,
    pub inertial: Option<Inertial>,
    pub shapes: Vec<LinkShape>,
}

pub(super) struct Inertial {
    pub mass: f64,
    pub centre: Vector3<f64>,
    /// About the centre of mass, in the axes of the link.
    pub inertia: Matrix3<f64>,
}

pub(super) struct LinkShape {
    pub origin: Isometry3<f64>,
    pub geometry: Geometry,
}

pub(super) enum Geometry {
    Box(Vector3<f64>),
    Sphere(f64),
    Cylinder { radius: f64, length: f64 },
    Capsule { radius: f64, length: f64 },
    Mesh { file: String, scale: Vector3<f64> },
}

pub(super) struct Joint {
    pub name: String,
    pub line: u32,
    pub kind: JointKind,
    pub parent: String,
    pub child: String,
    pub origin: Isometry3<f64>,
    pub axis: Vector3<f64>,
    pub limits: Option<[f64; 2]>,
    pub effort: Option<f64>,
    pub velocity: Option<f64>,
    pub damping: f64,
    pub friction: f64,
    pub mimic: Option<String>,
    pub other: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JointKind {
    Revolute,
    Continuous,
    Prismatic,
    Fixed,
    Floating,
    Planar,
}

const KINDS: [(&str, JointKind); 6] = [
    ("revolute", JointKind::Revolute),
    ("continuous", JointKind::Continuous),
    ("prismatic", JointKind::Prismatic),
    ("fixed", JointKind::Fixed),
    ("floating", JointKind::Floating),
    ("planar", JointKind::Planar),
];

impl JointKind {
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("?", |(name, _)| name)
    }
}

pub(super) fn robot(text: &str) -> Result<Robot, UrdfError> {
    // entities are refused: a few lines of them can stand for gigabytes
    let document = Document::parse(text).map_err(|error| {
        UrdfError::new(Some(error.pos().row), format!("the text is not XML that is read: {error}"), "mend it; document types are not read")
    })?;
    let root = document.root_element();
    if root.tag_name().name() != "robot" {
        let message = format!("the file is a <{}>, not a <robot>", root.tag_name().name());
        return Err(wrong(root, message, "give a URDF file; xacro files must be expanded first"));
    }
    let mut robot =
        Robot { name: root.attribute("name").unwrap_or("robot").to_owned(), links: Vec::new(), joints: Vec::new(), notes: Vec::new() };
    let mut ignored: Vec<(String, usize)> = Vec::new();
    for node in elements(root) {
        match node.tag_name().name() {
            "link" => robot.links.push(link(node)?),
            "joint" => robot.joints.push(joint(node)?),
            "material" => {}
            other => match ignored.iter_mut().find(|(name, _)| name == other) {
                Some((_, n)) => *n += 1,
                None => ignored.push((other.to_owned(), 1)),
            },
        }
    }
    robot.notes.extend(ignored.into_iter().map(|(name, n)| format!("{n} element(s) <{name}> have no counterpart and are left out")));
    let mut names = HashSet::new();
    for (what, name, line) in
        robot.links.iter().map(|l| ("link", &l.name, l.line)).chain(robot.joints.iter().map(|j| ("joint", &j.name, j.line)))
    {
        if !names.insert((what, name)) {
            return Err(UrdfError::new(Some(line), format!("the {what} {name:?} is given twice"), "give each its own name"));
        }
    }
    Ok(robot)
}

fn link(node: Node<'_, '_>) -> Result<Link, UrdfError> {
    let (mut inertial, mut shapes) = (None, Vec::new());
    for child in elements(node) {
        match child.tag_name().name() {
            "inertial" => inertial = Some(read_inertial(child)?),
            "collision" => shapes.push(LinkShape { origin: origin(child)?, geometry: geometry(child)? }),
            // what is seen does not move anything
            _ => {}
        }
    }
    Ok(Link { name: name_of(node)?, line: line(node), inertial, shapes })
}

fn read_inertial(node: Node<'_, '_>) -> Result<Inertial, UrdfError> {
    let mass = number(required(node, "mass")?, "value", None)?;
    let frame = origin(node)?;
    let inertia = required(node, "inertia")?;
    let entry = |key: &str| number(inertia, key, Some(0.0));
    let (xx, yy, zz) = (entry("ixx")?, entry("iyy")?, entry("izz")?);
    let (xy, xz, yz) = (entry("ixy")?, entry("ixz")?, entry("iyz")?);
    let turn = frame.rotation.to_rotation_matrix();
    // in the axes of the link: R I Rᵀ, symmetric but for round-off
    let turned = turn * Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * turn.transpose();
    Ok(Inertial { mass, centre: frame.translation.vector, inertia: 0.5 * (turned + turned.transpose()) })
}

fn geometry(collision: Node<'_, '_>) -> Result<Geometry, UrdfError> {
    let node = required(collision, "geometry")?;
    let Some(shape) = elements(node).next() else {
        return Err(wrong(node, "the geometry is empty", "give a <box>, <sphere>, <cylinder> or <mesh>"));
    };
    let positive = |key: &str| {
        let x = number(shape, key, None)?;
        if x > 0.0 { Ok(x) } else { Err(wrong(shape, format!("{key} is {x}"), "a positive length is needed")) }
    };
    Ok(match shape.tag_name().name() {
        "box" => {
            let size = vector(shape, "size", None)?;
            if size.min() <= 0.0 {
                return Err(wrong(shape, format!("the size of the box is {:?}", size.as_slice()), "positive lengths are needed"));
            }
            Geometry::Box(size)
        }
        "sphere" => Geometry::Sphere(positive("radius")?),
        "cylinder" => Geometry::Cylinder { radius: positive("radius")?, length: positive("length")? },
        "capsule" => Geometry::Capsule { radius: positive("radius")?, length: positive("length")? },
        "mesh" => {
            let file = shape.attribute("filename").ok_or_else(|| wrong(shape, "the mesh has no filename", "add filename=\"…\""))?;
            Geometry::Mesh { file: file.to_owned(), scale: vector(shape, "scale", Some(Vector3::repeat(1.0)))? }
        }
        other => return Err(wrong(shape, format!("there is no geometry <{other}>"), "use <box>, <sphere>, <cylinder> or <mesh>")),
    })
}

fn joint(node: Node<'_, '_>) -> Result<Joint, UrdfError> {
    let name = name_of(node)?;
    let text = node.attribute("type").unwrap_or_default();
    let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == text) else {
        let known = KINDS.map(|(name, _)| name).join(", ");
        return Err(wrong(node, format!("the joint {name:?} has the type {text:?}"), format!("choose from: {known}")));
    };
    let link_of = |tag: &str| {
        let end = required(node, tag)?;
        end.attribute("link").map(str::to_owned).ok_or_else(|| wrong(end, format!("<{tag}> names no link"), "add link=\"…\""))
    };
    let axis = match find(node, "axis") {
        Some(axis) => vector(axis, "xyz", Some(Vector3::x()))?,
        None => Vector3::x(),
    };
    let axis = axis.try_normalize(1e-300).ok_or_else(|| wrong(node, format!("the axis of {name:?} is zero"), "give a direction"))?;
    let limit = find(node, "limit");
    let optional = |key: &str| match limit.filter(|limit| limit.has_attribute(key)) {
        Some(limit) => number(limit, key, None).map(Some),
        None => Ok(None),
    };
    let limits = match (limit, kind) {
        (Some(limit), JointKind::Revolute | JointKind::Prismatic) => {
            let range = [number(limit, "lower", Some(0.0))?, number(limit, "upper", Some(0.0))?];
            if range[0] > range[1] {
                return Err(wrong(
                    limit,
                    format!("the limits of {name:?} are {} and {}", range[0], range[1]),
                    "lower must not exceed upper",
                ));
            }
            Some(range)
        }
        (None, JointKind::Revolute | JointKind::Prismatic) => {
            let help = "add <limit lower=\"…\" upper=\"…\" effort=\"…\" velocity=\"…\"/>, or make it continuous";
            return Err(wrong(node, format!("the {text} joint {name:?} has no <limit>"), help));
        }
        _ => None,
    };
    let dynamics = |key: &str| find(node, "dynamics").map_or(Ok(0.0), |dynamics| number(dynamics, key, Some(0.0)));
    let mimic = find(node, "mimic").map(|mimic| mimic.attribute("joint").unwrap_or_default().to_owned());
    let known = ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"];
    let other = elements(node).map(|e| e.tag_name().name()).filter(|tag| !known.contains(tag)).map(str::to_owned).collect();
    Ok(Joint {
        line: line(node),
        kind: *kind,
        parent: link_of("parent")?,
        child: link_of("child")?,
        origin: origin(node)?,
        axis,
        limits,
        effort: optional("effort")?,
        velocity: optional("velocity")?,
        damping: dynamics("damping")?,
        friction: dynamics("friction")?,
        mimic,
        other,
        name,
    })
}

/// `<origin xyz="…" rpy="…"/>`: R = R_z(yaw) R_y(pitch) R_x(roll).
fn origin(node: Node<'_, '_>) -> Result<Isometry3<f64>, UrdfError> {
    let Some(origin) = find(node, "origin") else { return Ok(Isometry3::identity()) };
    let (xyz, rpy) = (vector(origin, "xyz", Some(Vector3::zeros()))?, vector(origin, "rpy", Some(Vector3::zeros()))?);
    Ok(Isometry3::from_parts(Translation3::from(xyz), UnitQuaternion::from_euler_angles(rpy.x, rpy.y, rpy.z)))
}

fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

fn find<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Option<Node<'a, 'i>> {
    elements(node).find(|child| child.tag_name().name() == tag)
}

fn required<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Result<Node<'a, 'i>, UrdfError> {
    find(node, tag).ok_or_else(|| wrong(node, format!("<{}> has no <{tag}>", node.tag_name().name()), format!("add <{tag} …/>")))
}

fn name_of(node: Node<'_, '_>) -> Result<String, UrdfError> {
    let name = node.attribute("name").filter(|name| !name.is_empty());
    name.map(str::to_owned).ok_or_else(|| wrong(node, format!("a <{}> has no name", node.tag_name().name()), "add name=\"…\""))
}

fn number(node: Node<'_, '_>, key: &str, default: Option<f64>) -> Result<f64, UrdfError> {
    match (node.attribute(key), default) {
        (Some(text), _) => one(node, key, text),
        (None, Some(default)) => Ok(default),
        (None, None) => Err(wrong(node, format!("<{}> has no {key}", node.tag_name().name()), format!("add {key}=\"…\""))),
    }
}

fn one(node: Node<'_, '_>, key: &str, text: &str) -> Result<f64, UrdfError> {
    let value = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    value.ok_or_else(|| wrong(node, format!("{key}={text:?} is not a finite number"), "give a number"))
}

fn vector(node: Node<'_, '_>, key: &str, default: Option<Vector3<f64>>) -> Result<Vector3<f64>, UrdfError> {
    let Some(text) = node.attribute(key) else {
        return default.ok_or_else(|| wrong(node, format!("<{}> has no {key}", node.tag_name().name()), format!("add {key}=\"x y z\"")));
    };
    let numbers: Vec<f64> = text.split_ascii_whitespace().map(|word| one(node, key, word)).collect::<Result<_, _>>()?;
    match numbers[..] {
        [x, y, z] => Ok(Vector3::new(x, y, z)),
        _ => Err(wrong(node, format!("{key}={text:?} has {} numbers", numbers.len()), "three are needed")),
    }
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

fn wrong(node: Node<'_, '_>, message: impl Into<String>, help: impl Into<String>) -> UrdfError {
    UrdfError::new(Some(line(node)), message, help)
}
