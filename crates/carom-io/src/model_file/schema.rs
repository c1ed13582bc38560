//! The keys of a model file, as the TOML reader fills them in.

use super::control::schema::{ActuatorSchema, ControllerSchema, SensorSchema};
use super::error::Diagnostic;
use super::generate::GenerateSchema;
use super::value::{ChainValue, Component, LawValue, Names, Table, Value};
use carom_dynamics::nearest::nearest;
use serde::Deserialize;
use std::collections::HashSet;
use toml::Spanned;
use toml::de::DeTable;

type Number = Spanned<Value>;
type Text = Spanned<String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Schema {
    pub title: Option<String>,
    #[serde(rename = "description")]
    pub _description: Option<String>,
    pub gravity: Option<Number>,
    #[serde(default)]
    pub parameters: Table<Number>,
    pub lagrangian: Option<Spanned<LagrangianSchema>>,
    pub linear: Option<Spanned<LinearSchema>>,
    #[serde(default, rename = "planar_body")]
    pub planar_bodies: Vec<Spanned<PlanarBodySchema>>,
    #[serde(default, rename = "obstacle")]
    pub obstacles: Vec<Spanned<ObstacleSchema>>,
    #[serde(default, rename = "body")]
    pub bodies: Vec<Spanned<BodySchema>>,
    #[serde(default, rename = "generate")]
    pub generate: Vec<Spanned<GenerateSchema>>,
    #[serde(default, rename = "material")]
    pub materials: Vec<Spanned<MaterialSchema>>,
    #[serde(default, rename = "material_pair")]
    pub material_pairs: Vec<Spanned<MaterialPairSchema>>,
    pub tree: Option<Spanned<TreeSchema>>,
    pub natural: Option<Spanned<NaturalSchema>>,
    #[serde(default, rename = "joint")]
    pub joints: Vec<Spanned<JointSchema>>,
    #[serde(default, rename = "force")]
    pub forces: Vec<Spanned<ForceSchema>>,
    #[serde(default, rename = "constraint")]
    pub constraints: Vec<Spanned<ConstraintSchema>>,
    #[serde(default, rename = "contact")]
    pub contacts: Vec<Spanned<ContactSchema>>,
    #[serde(default, rename = "event")]
    pub events: Vec<Spanned<EventSchema>>,
    pub impact: Option<Spanned<toml::Table>>,
    pub first_order: Option<Spanned<FirstOrderSchema>>,
    pub circuit: Option<Spanned<CircuitSchema>>,
    #[serde(default, rename = "relation")]
    pub relations: Vec<Spanned<RelationSchema>>,
    #[serde(default, rename = "switch")]
    pub switches: Vec<Spanned<SwitchSchema>>,
    #[serde(default, rename = "sensor")]
    pub sensors: Vec<Spanned<SensorSchema>>,
    #[serde(default, rename = "controller")]
    pub controllers: Vec<Spanned<ControllerSchema>>,
    #[serde(default, rename = "actuator")]
    pub actuators: Vec<Spanned<ActuatorSchema>>,
    pub sweeping: Option<Spanned<SweepingSchema>>,
    #[serde(default, rename = "set")]
    pub sets: Vec<Spanned<SetSchema>>,
    #[serde(default)]
    pub initial: InitialSchema,
    pub simulation: Option<Spanned<SimulationSchema>>,
    #[serde(default)]
    pub record: RecordSchema,
    /// Names of the bodies that do not move, known once they are read.
    #[serde(skip)]
    pub fixed: HashSet<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LagrangianSchema {
    pub coordinates: Spanned<Vec<Text>>,
    #[serde(default)]
    pub parameters: Table<Number>,
    #[serde(default)]
    pub units: Table<Text>,
    pub kinetic: Text,
    pub potential: Option<Text>,
    #[serde(default)]
    pub forces: Table<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinearSchema {
    pub coordinates: Spanned<Vec<Text>>,
    #[serde(default)]
    pub parameters: Table<Number>,
    #[serde(default)]
    pub units: Table<Text>,
    pub mass: Number,
    pub damping: Option<Number>,
    pub stiffness: Option<Number>,
    pub force: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanarBodySchema {
    pub name: Text,
    pub shape: Option<Spanned<PlanarShapeSchema>>,
    pub density: Option<Number>,
    pub mass: Option<Number>,
    pub inertia: Option<Number>,
    pub material: Option<Text>,
    pub position: Option<Number>,
    pub angle: Option<Number>,
    pub velocity: Option<Number>,
    pub angular_velocity: Option<Number>,
    pub grid: Option<Spanned<GridSchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanarShapeSchema {
    pub kind: Text,
    pub radius: Option<Number>,
    pub length: Option<Number>,
    pub size: Option<Number>,
    pub vertices: Option<Number>,
    pub closed: Option<Spanned<bool>>,
    pub side: Option<Text>,
    pub ends: Option<Number>,
    pub normal: Option<Number>,
    pub parts: Option<Spanned<Vec<Spanned<PlanarShapeSchema>>>>,
    /// Of a part in its body.
    pub position: Option<Number>,
    pub angle: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GridSchema {
    pub counts: Number,
    pub spacing: Number,
    pub jitter: Option<Number>,
    pub seed: Option<Spanned<i64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObstacleSchema {
    pub name: Text,
    pub shape: Spanned<PlanarShapeSchema>,
    pub material: Option<Text>,
    pub position: Option<Number>,
    pub angle: Option<Number>,
    pub motion: Option<Spanned<MotionSchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MotionSchema {
    pub x: Option<Text>,
    pub y: Option<Text>,
    pub angle: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodySchema {
    pub name: Text,
    #[serde(default)]
    pub fixed: bool,
    pub shape: Option<Spanned<ShapeSchema>>,
    pub density: Option<Number>,
    pub mass: Option<Number>,
    pub centre: Option<Number>,
    pub inertia: Option<Number>,
    pub material: Option<Text>,
    pub groups: Option<Spanned<Vec<Text>>>,
    pub collides_with: Option<Spanned<Vec<Text>>>,
    pub position: Option<Number>,
    pub orientation: Option<Number>,
    pub rotation: Option<Spanned<RotationSchema>>,
    pub rotation_coordinates: Option<Text>,
    pub velocity: Option<Number>,
    pub angular_velocity: Option<Number>,
    #[serde(default)]
    pub continuous: bool,
    pub motion: Option<Spanned<BodyMotionSchema>>,
    pub surface: Option<Spanned<SurfaceSchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyMotionSchema {
    pub x: Option<Number>,
    pub y: Option<Number>,
    pub z: Option<Number>,
    pub angle: Option<Number>,
    pub axis: Option<Number>,
    pub centre: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SurfaceSchema {
    pub velocity: Option<Number>,
    pub spin: Option<Number>,
    pub axis: Option<Number>,
    pub centre: Option<Number>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RotationSchema {
    pub axis: Number,
    pub angle: Number,
}

/// A shape; sizes are numbers, or in templates ranges to draw them from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShapeSchema<Size = Number> {
    pub kind: Text,
    pub radius: Option<Size>,
    pub size: Option<Size>,
    pub half_extents: Option<Size>,
    pub length: Option<Size>,
    pub height: Option<Size>,
    pub normal: Option<Number>,
    pub vertices: Option<Number>,
    pub triangles: Option<Number>,
    pub heights: Option<Number>,
    pub spacing: Option<Number>,
    pub file: Option<Text>,
    pub scale: Option<Number>,
    pub parts: Option<Vec<Spanned<ShapeSchema>>>,
    pub position: Option<Number>,
    pub orientation: Option<Number>,
    pub rotation: Option<Spanned<RotationSchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaterialSchema {
    pub name: Text,
    pub friction: Option<Spanned<LawValue>>,
    pub restitution: Option<Spanned<LawValue>>,
    pub tangential_restitution: Option<Number>,
    pub stiffness: Option<Number>,
    pub exponent: Option<Number>,
    pub rolling: Option<Number>,
    pub spinning: Option<Number>,
    pub friction_combination: Option<Text>,
    pub restitution_combination: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaterialPairSchema {
    pub materials: Spanned<Vec<Text>>,
    pub friction: Option<Spanned<LawValue>>,
    pub restitution: Option<Spanned<LawValue>>,
    pub tangential_restitution: Option<Number>,
    pub stiffness: Option<Number>,
    pub exponent: Option<Number>,
    pub rolling: Option<Number>,
    pub spinning: Option<Number>,
    pub cohesion: Option<Spanned<LawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeSchema {
    #[serde(rename = "body")]
    pub bodies: Vec<Spanned<TreeBodySchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeBodySchema {
    pub name: Text,
    pub parent: Option<Text>,
    pub joint: Text,
    pub point: Option<Number>,
    pub axis: Option<Number>,
    pub mass: Number,
    pub inertia: Number,
    pub position: Number,
    pub orientation: Option<Number>,
    pub rotation: Option<Spanned<RotationSchema>>,
    pub coordinates: Option<Number>,
    pub rates: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NaturalSchema {
    #[serde(default)]
    pub planar: bool,
    #[serde(default, rename = "point")]
    pub points: Vec<Spanned<NaturalPointSchema>>,
    #[serde(default, rename = "vector")]
    pub vectors: Vec<Spanned<NaturalVectorSchema>>,
    #[serde(default, rename = "bar")]
    pub bars: Vec<Spanned<NaturalBarSchema>>,
    #[serde(default, rename = "body")]
    pub bodies: Vec<Spanned<NaturalBodySchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NaturalPointSchema {
    pub name: Text,
    pub position: Number,
    #[serde(default)]
    pub fixed: bool,
    pub velocity: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NaturalVectorSchema {
    pub name: Text,
    pub direction: Number,
    pub velocity: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NaturalBarSchema {
    pub name: Text,
    pub points: Spanned<Vec<Text>>,
    pub mass: Number,
    pub centre: Option<Number>,
    pub inertia: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NaturalBodySchema {
    pub name: Text,
    pub points: Spanned<Vec<Text>>,
    pub vectors: Spanned<Vec<Text>>,
    pub mass: Number,
    pub centre: Number,
    pub inertia: Number,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointSchema {
    pub name: Option<Text>,
    pub kind: Text,
    pub bodies: Option<Spanned<Vec<Text>>>,
    pub joints: Option<Spanned<Vec<Text>>>,
    pub point: Option<Number>,
    pub points: Option<Number>,
    pub axis: Option<Number>,
    pub axes: Option<Number>,
    pub turn: Option<Number>,
    pub slide: Option<Number>,
    pub limits: Option<Number>,
    pub turn_limits: Option<Number>,
    pub second_turn_limits: Option<Number>,
    pub slide_limits: Option<Number>,
    pub cone: Option<Number>,
    pub restitution: Option<Spanned<LawValue>>,
    pub clearance: Option<Spanned<LawValue>>,
    pub length: Option<Number>,
    pub pitch: Option<Number>,
    pub ratio: Option<Number>,
    pub teeth: Option<Number>,
    pub radius: Option<Number>,
    pub curve: Option<Spanned<Vec<Text>>>,
    pub parameter: Option<Text>,
    pub range: Option<Number>,
    #[serde(default)]
    pub collide: bool,
    pub motor: Option<Spanned<Table<Number>>>,
    pub friction: Option<Spanned<Table<Number>>>,
    pub friction_torque: Option<Number>,
    pub friction_force: Option<Number>,
    pub spring: Option<Spanned<JointSpringSchema>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointSpringSchema {
    pub of: Option<Text>,
    pub force: Option<Number>,
    pub stiffness: Option<Number>,
    pub damping: Option<Number>,
    pub rest: Option<Number>,
    pub preload: Option<Number>,
    pub sense: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForceSchema {
    pub name: Option<Text>,
    pub kind: Text,
    pub body: Option<Text>,
    pub bodies: Option<Spanned<Names>>,
    pub point: Option<Number>,
    pub points: Option<Number>,
    pub axes: Option<Text>,
    pub orientation: Option<Number>,
    pub rotation: Option<Spanned<RotationSchema>>,
    pub force: Option<Number>,
    pub torque: Option<Number>,
    pub stiffness: Option<Number>,
    pub damping: Option<Number>,
    pub rest: Option<Number>,
    pub preload: Option<Number>,
    pub sense: Option<Text>,
    pub rotational_stiffness: Option<Number>,
    pub rotational_damping: Option<Number>,
    pub linear: Option<Number>,
    pub quadratic: Option<Number>,
    pub rotational: Option<Number>,
    pub rotational_quadratic: Option<Number>,
    pub wind: Option<Number>,
}

impl ForceSchema {
    /// The keys that are given beside `name` and `kind`, with their places.
    pub fn given(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
        let numbers = [
            ("point", &self.point),
            ("points", &self.points),
            ("orientation", &self.orientation),
            ("force", &self.force),
            ("torque", &self.torque),
            ("stiffness", &self.stiffness),
            ("damping", &self.damping),
            ("rest", &self.rest),
            ("preload", &self.preload),
            ("rotational_stiffness", &self.rotational_stiffness),
            ("rotational_damping", &self.rotational_damping),
            ("linear", &self.linear),
            ("quadratic", &self.quadratic),
            ("rotational", &self.rotational),
            ("rotational_quadratic", &self.rotational_quadratic),
            ("wind", &self.wind),
        ];
        let words = [("body", &self.body), ("axes", &self.axes), ("sense", &self.sense)];
        let numbers = numbers.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.span())));
        let words = words.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.span())));
        let others = [("bodies", self.bodies.as_ref().map(Spanned::span)), ("rotation", self.rotation.as_ref().map(Spanned::span))];
        numbers.chain(words).chain(others.into_iter().filter_map(|(key, span)| Some((key, span?)))).collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintSchema {
    pub name: Option<Text>,
    pub equation: Option<Text>,
    pub equations: Option<Spanned<Vec<Text>>>,
    pub velocity: Option<Text>,
    pub velocities: Option<Spanned<Vec<Text>>>,
    pub pieces: Option<Spanned<Vec<Spanned<ConstraintPieceSchema>>>>,
    pub corner: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintPieceSchema {
    pub when: Option<Text>,
    pub equation: Option<Text>,
    pub equations: Option<Spanned<Vec<Text>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContactSchema {
    pub name: Option<Text>,
    pub gap: Option<Text>,
    pub tangent: Option<Text>,
    pub tangents: Option<Spanned<Vec<Text>>>,
    pub pieces: Option<Spanned<Vec<Spanned<ContactPieceSchema>>>>,
    pub chain: Option<Spanned<Vec<Spanned<ChainValue>>>>,
    pub point: Option<Spanned<Vec<Text>>>,
    pub radius: Option<Number>,
    pub angle: Option<Text>,
    pub corner: Option<Text>,
    pub friction: Option<Spanned<LawValue>>,
    pub restitution: Option<Spanned<LawValue>>,
    pub tangential_restitution: Option<Number>,
    pub stiffness: Option<Number>,
    pub exponent: Option<Number>,
    pub rolling: Option<Number>,
    pub spinning: Option<Number>,
    pub cohesion: Option<Spanned<LawValue>>,
    pub compliant: Option<Spanned<CompliantSchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContactPieceSchema {
    pub when: Option<Text>,
    pub gap: Text,
    pub tangent: Option<Text>,
    pub tangents: Option<Spanned<Vec<Text>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CompliantSchema {
    pub stiffness: Option<Number>,
    pub exponent: Option<Number>,
    pub damping: Option<Spanned<LawValue>>,
    pub attraction: Option<Text>,
    pub slip_velocity: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventSchema {
    pub name: Option<Text>,
    pub when: Option<Text>,
    pub direction: Option<Text>,
    pub action: Option<Text>,
    pub at: Option<Number>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InitialSchema {
    pub time: Option<Number>,
    #[serde(default)]
    pub position: Table<Number>,
    #[serde(default)]
    pub velocity: Table<Number>,
    #[serde(default)]
    pub state: Table<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FirstOrderSchema {
    pub states: Spanned<Vec<Text>>,
    #[serde(default)]
    pub parameters: Table<Number>,
    #[serde(default)]
    pub units: Table<Text>,
    #[serde(default)]
    pub rates: Table<Text>,
    pub mass: Option<Number>,
    #[serde(rename = "A")]
    pub a_matrix: Option<Number>,
    #[serde(rename = "E")]
    pub e_matrix: Option<Number>,
    #[serde(rename = "a")]
    pub a_vector: Option<Number>,
    #[serde(default)]
    pub inputs: Table<Text>,
    #[serde(default)]
    pub held: Table<Number>,
    pub storage: Option<Number>,
    #[serde(default)]
    pub forces: Table<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CircuitSchema {
    pub netlist: Option<Text>,
    pub file: Option<Text>,
    #[serde(default)]
    pub parameters: Table<Number>,
    pub leak: Option<Number>,
    #[serde(default)]
    pub held: Table<Number>,
    #[serde(default)]
    pub forces: Table<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SwitchSchema {
    pub name: Text,
    pub surface: Text,
    #[serde(default)]
    pub above: Table<Text>,
    #[serde(default)]
    pub below: Table<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepingSchema {
    pub states: Spanned<Vec<Text>>,
    #[serde(default)]
    pub parameters: Table<Number>,
    #[serde(default)]
    pub units: Table<Text>,
    #[serde(default)]
    pub rates: Table<Text>,
    pub stiffness: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetSchema {
    pub name: Option<Text>,
    pub kind: Text,
    pub normal: Option<Number>,
    pub offset: Option<Number>,
    pub centre: Option<Number>,
    pub radius: Option<Number>,
    pub lower: Option<Number>,
    pub upper: Option<Number>,
    pub facets: Option<Number>,
    pub bounds: Option<Number>,
    pub formula: Option<Text>,
    pub translation: Option<Number>,
}

impl SetSchema {
    /// The keys that are given beside `name`, `kind` and `translation`, with their places.
    pub fn given(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
        let numbers = [
            ("normal", &self.normal),
            ("offset", &self.offset),
            ("centre", &self.centre),
            ("radius", &self.radius),
            ("lower", &self.lower),
            ("upper", &self.upper),
            ("facets", &self.facets),
            ("bounds", &self.bounds),
        ];
        let numbers = numbers.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.span())));
        numbers.chain(self.formula.iter().map(|text| ("formula", text.span()))).collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationSchema {
    pub name: Option<Text>,
    pub law: Spanned<LawValue>,
    pub multipliers: Spanned<Vec<Text>>,
    #[serde(rename = "y")]
    pub outputs: Option<Spanned<Vec<Text>>>,
    #[serde(rename = "B")]
    pub b_matrix: Option<Number>,
    #[serde(rename = "C")]
    pub c_matrix: Option<Number>,
    #[serde(rename = "D")]
    pub d_matrix: Option<Number>,
    #[serde(rename = "F")]
    pub f_matrix: Option<Number>,
    #[serde(rename = "b")]
    pub b_vector: Option<Number>,
    pub compliance: Option<Number>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SimulationSchema {
    pub end: Number,
    pub step: Option<Number>,
    pub strategy: Option<Text>,
    pub adaptive: Option<Spanned<Component>>,
    pub events: Option<Spanned<toml::Table>>,
    pub hybrid: Option<Spanned<toml::Table>>,
    pub integrator: Option<Spanned<Component>>,
    pub scheme: Option<Spanned<Component>>,
    pub solver: Option<Spanned<Component>>,
    pub on_failure: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordSchema {
    pub every: Option<Spanned<i64>>,
    pub interval: Option<Number>,
    pub precision: Option<Text>,
    pub contacts: Option<bool>,
}

/// Reads the tables of the files into the schema.
pub(super) fn parse(table: Spanned<DeTable<'_>>) -> Result<Schema, Diagnostic> {
    Schema::deserialize(toml::Deserializer::from(table)).map_err(|error| {
        let message = error.message().to_owned();
        let diagnostic = Diagnostic::new(error.span(), message.trim_end());
        match suggest_key(&message) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    })
}

/// For "unknown field `x`, expected one of `a`, `b`", or a variant: the nearest of those named.
pub(super) fn suggest_key(message: &str) -> Option<String> {
    let mut quoted = message.lines().next()?.strip_prefix("unknown ")?.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    nearest(name, quoted).map(|best| format!("did you mean `{best}`?"))
}
