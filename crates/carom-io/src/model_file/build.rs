//! From the keys of a model file to a model, its initial state and settings.

use super::bodies;
use super::error::{Diagnostic, suggestion};
use super::materials::Materials;
use super::numbers::{Must, Reader};
use super::schema::{InitialSchema, JointSchema, Schema};
use super::sources::Sources;
use super::value::Value;
use super::{
    BodyShapes, ModelFile, circuit, control, first_order, forces, formulas, impact, joint_couplings, joints, natural, pieces, planar,
    settings, simulation, tree, user_events,
};
use carom_dynamics::control::{ControlSource, HeldValues};
use carom_dynamics::systems::Scratch;
use carom_dynamics::systems::{Natural, System};
use carom_dynamics::{Model, State};
use nalgebra::Vector3;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// Standard gravity of models that do not say [m/s²], downwards: −z in space, −y in the plane.
const DEFAULT_GRAVITY: f64 = 9.81;

pub(super) fn build(mut schema: Schema, sources: &Sources, default_title: &str) -> Result<ModelFile, Vec<Diagnostic>> {
    let mut reader = Reader::new(sources);
    reader.add_parameters(&schema.parameters);
    let sections = schema.lagrangian.iter().map(|s| &s.get_ref().parameters).chain(schema.linear.iter().map(|s| &s.get_ref().parameters));
    let sections = sections.chain(schema.first_order.iter().map(|s| &s.get_ref().parameters));
    let sections = sections.chain(schema.sweeping.iter().map(|s| &s.get_ref().parameters));
    let sections = sections.chain(schema.circuit.iter().map(|s| &s.get_ref().parameters));
    sections.for_each(|table| reader.add_parameters(table));
    stop_if_wrong(&mut reader)?;

    let parts = systems(&mut reader, &schema);
    stop_if_wrong(&mut reader)?;
    let Some(mut parts) = parts else { return Err(reader.mistakes) };
    let control = control::source(&mut reader, &schema);
    stop_if_wrong(&mut reader)?;
    let Some(control) = control else { return Err(reader.mistakes) };
    parts.push_held(&control);
    schema.joints.append(&mut parts.joints);
    schema.fixed = parts.fixed.keys().cloned().collect();
    let mut model = Model::new(parts.systems).map_err(|e| vec![Diagnostic::new(None, e.to_string())])?;
    let jointed = joints::jointed_pairs(&schema, &model, &parts.fixed);
    let shapes = BodyShapes {
        spatial: parts.detector.as_ref().map(|detector| Arc::clone(detector.colliders())).unwrap_or_default(),
        planar: parts.planar_detector.as_ref().map(|detector| Arc::clone(detector.colliders())).unwrap_or_default(),
    };
    if let Some(mut detector) = parts.detector {
        jointed.exclude(&mut detector);
        model.set_detector(Box::new(detector));
    }
    if let Some(mut detector) = parts.planar_detector {
        detector.exclude_pairs(&jointed.planar.iter().map(|&(a, b)| (Some(a), Some(b))).collect::<Vec<_>>());
        model.set_planar_detector(Box::new(detector));
    }
    if let (Some(natural), Some(section)) = (&parts.natural, &schema.natural)
        && let Err(error) = natural.add_constraints(&mut model)
    {
        reader.mistakes.push(Diagnostic::new(section.span(), error.to_string()));
    }
    for (index, section) in schema.constraints.iter().enumerate() {
        formulas::constraint(&mut reader, &mut model, section, index);
    }
    for (index, section) in schema.contacts.iter().enumerate() {
        formulas::contact(&mut reader, &mut model, section, index);
    }
    let mut state = initial_state(&mut reader, &schema.initial, &model, parts.q, parts.v);
    let defaults = circuit::circuit(&mut reader, &mut model, &schema, &control);
    first_order::first_order(&mut reader, &mut model, &schema, &control);
    stop_if_wrong(&mut reader)?;
    (state.x, state.held) = first_order::initial(&mut reader, &schema.initial.state, &model, defaults);
    first_order::initial_of_control(&mut state.x, &model, &control);
    control::control(&mut reader, &mut model, &schema, &control);
    stop_if_wrong(&mut reader)?;
    for (index, section) in schema.joints.iter().enumerate() {
        joints::joint(&mut reader, &mut model, &schema, section, index, &state);
    }
    for (index, section) in schema.joints.iter().enumerate() {
        joint_couplings::coupling(&mut reader, &mut model, &schema, section, index, &state.q);
    }
    for (index, section) in schema.forces.iter().enumerate() {
        forces::force(&mut reader, &mut model, &schema, section, index, &state.q);
    }
    control::attach(&mut reader, &mut model, &schema, &state.q);
    for (index, section) in schema.events.iter().enumerate() {
        user_events::event(&mut reader, &mut model, section, index, state.t);
    }
    if let Some(law) = schema.impact.as_ref().and_then(|section| impact::impact(&mut reader, section)) {
        model.set_impact_law(law);
    }
    let run = match &schema.simulation {
        Some(section) => simulation::simulation(&mut reader, section, &model, &state),
        None => {
            reader.wrong(None, "the file has no [simulation]", "add [simulation] with `end`, and `step` for time-stepping, in seconds");
            None
        }
    };
    first_order::place_mistakes(&mut reader, &schema);
    if let Some(run) = &run {
        pieces::check_corners(&mut reader, &schema, run.strategy);
        user_events::note_unlocated(&mut reader, &schema.events, run.strategy);
    }
    let record = settings::record(&mut reader, &schema.record);
    stop_if_wrong(&mut reader)?;
    let Some(run) = run else { return Err(reader.mistakes) };
    model.check_state(&state).map_err(|e| vec![Diagnostic::new(None, e.to_string())])?;
    check_energy(&model, &state).map_err(|mistake| vec![mistake])?;
    Ok(ModelFile {
        title: schema.title.unwrap_or_else(|| default_title.to_owned()),
        text: String::new(),
        model,
        state,
        run,
        record,
        jointed,
        shapes,
        notes: reader.notes,
    })
}

fn stop_if_wrong(reader: &mut Reader<'_>) -> Result<(), Vec<Diagnostic>> {
    if reader.mistakes.is_empty() { Ok(()) } else { Err(std::mem::take(&mut reader.mistakes)) }
}

/// The systems with the initial values of the bodies among them (NaN where `[initial]` must say).
#[derive(Default)]
struct Parts {
    systems: Vec<Box<dyn System>>,
    detector: Option<carom_collision::Detector>,
    planar_detector: Option<carom_collision::planar::PlanarShapes>,
    natural: Option<Natural>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Joints that were generated.
    joints: Vec<Spanned<JointSchema>>,
    /// Bodies that do not move, with the numbers of their colliders.
    fixed: HashMap<String, Range<u32>>,
}

fn systems(reader: &mut Reader<'_>, schema: &Schema) -> Option<Parts> {
    let mut parts = Parts::default();
    if let Some(section) = &schema.lagrangian {
        parts.push_free(Box::new(formulas::lagrangian(reader, section)?));
    }
    if let Some(section) = &schema.linear {
        parts.push_free(Box::new(formulas::linear(reader, section)?));
    }
    let materials = Materials::read(reader, &schema.materials, &schema.material_pairs);
    if !schema.planar_bodies.is_empty() {
        let gravity = match &schema.gravity {
            None => [0.0, -DEFAULT_GRAVITY],
            Some(value) => reader.vector::<2>(value, "the gravity of planar bodies")?,
        };
        let planar = planar::planar(reader, &schema.planar_bodies, &schema.obstacles, &materials, gravity)?;
        parts.push_placed(Box::new(planar.bodies.system), &planar.bodies.q, &planar.bodies.v);
        parts.planar_detector = planar.detector;
    } else if let Some(obstacle) = schema.obstacles.first() {
        reader.wrong(obstacle.span(), "there are obstacles but no planar bodies", "obstacles stand in the way of [[planar_body]]");
    }
    if !schema.bodies.is_empty() || !schema.generate.is_empty() {
        let gravity = match &schema.gravity {
            None => [0.0, 0.0, -DEFAULT_GRAVITY],
            Some(value) => reader.vector::<3>(value, "the gravity of bodies")?,
        };
        let spatial = bodies::spatial(reader, schema, materials, Vector3::from(gravity))?;
        (parts.detector, parts.joints, parts.fixed) = (spatial.detector, spatial.joints, spatial.fixed);
        if let Some(moving) = spatial.moving {
            parts.push_placed(Box::new(moving.system), &moving.q, &moving.v);
        }
        for other in spatial.others {
            parts.push_placed(Box::new(other.system), &other.q, &other.v);
        }
    } else if let (Some(material), true) = (schema.materials.first(), schema.planar_bodies.is_empty()) {
        reader.wrong(
            material.span(),
            "there are materials but no bodies",
            "materials belong to [[body]] and [[planar_body]]; a [[contact]] has its own coefficients",
        );
    }
    if let Some(section) = &schema.tree {
        let gravity = match &schema.gravity {
            None => [0.0, 0.0, -DEFAULT_GRAVITY],
            Some(value) => reader.vector::<3>(value, "the gravity of a tree")?,
        };
        let placed = tree::tree(reader, section, Vector3::from(gravity))?;
        parts.push_placed(Box::new(placed.system), &placed.q, &placed.v);
    }
    if let Some(section) = &schema.natural {
        let gravity = match (&schema.gravity, section.get_ref().planar) {
            (None, true) => [0.0, -DEFAULT_GRAVITY, 0.0],
            (None, false) => [0.0, 0.0, -DEFAULT_GRAVITY],
            (Some(value), true) => reader.vector::<2>(value, "the gravity of points in the plane").map(|[x, y]| [x, y, 0.0])?,
            (Some(value), false) => reader.vector::<3>(value, "the gravity of points")?,
        };
        let (placed, natural) = natural::natural(reader, section, Vector3::from(gravity))?;
        parts.push_placed(Box::new(placed.system), &placed.q, &placed.v);
        parts.natural = Some(natural);
    }
    let no_bodies = schema.bodies.is_empty()
        && schema.generate.is_empty()
        && schema.planar_bodies.is_empty()
        && schema.tree.is_none()
        && schema.natural.is_none();
    if let (Some(gravity), true) = (&schema.gravity, no_bodies) {
        reader.wrong(gravity.span(), "gravity acts on bodies, and there are none", "put the weight into the potential or the force");
    }
    if parts.systems.is_empty()
        && schema.first_order.is_none()
        && schema.sweeping.is_none()
        && schema.circuit.is_none()
        && reader.mistakes.is_empty()
    {
        reader.wrong(
            None,
            "nothing in this model can move",
            "add [[body]], [[generate]], [[planar_body]], [tree], [natural], [lagrangian], [linear], [first_order], [sweeping] or [circuit]",
        );
    }
    Some(parts)
}

impl Parts {
    /// A system whose initial values `[initial]` gives.
    fn push_free(&mut self, system: Box<dyn System>) {
        self.q.resize(self.q.len() + system.coordinates().len(), f64::NAN);
        self.v.resize(self.v.len() + system.velocities().len(), f64::NAN);
        self.systems.push(system);
    }

    /// What controllers remember; behind all other systems.
    fn push_held(&mut self, control: &ControlSource) {
        let values = control.held_values();
        if values.is_empty() {
            return;
        }
        let (names, initial): (Vec<_>, Vec<f64>) = values.into_iter().unzip();
        self.push_placed(Box::new(HeldValues::new(names)), &initial, &[]);
    }

    fn push_placed(&mut self, system: Box<dyn System>, q: &[f64], v: &[f64]) {
        self.q.extend_from_slice(q);
        self.v.extend_from_slice(v);
        self.systems.push(system);
    }
}

/// Velocities whose squares leave the range of numbers would give results without a word.
fn check_energy(model: &Model, state: &State) -> Result<(), Diagnostic> {
    match model.energy(state.t, &state.q, &state.v, &mut Scratch::default()) {
        Ok((kinetic, _)) if !kinetic.is_finite() => {
            let fastest = (0..state.v.len()).max_by(|&i, &j| state.v[i].abs().total_cmp(&state.v[j].abs())).unwrap_or(0);
            let (name, speed) = (model.systems().velocities().name(fastest), state.v[fastest]);
            let message = format!("the kinetic energy at the start is not finite: the largest velocity, {name}, is {speed:e}");
            Err(Diagnostic { help: Some("give velocities whose squares are numbers".to_owned()), ..Diagnostic::new(None, message) })
        }
        // what formulas give that is not finite is found and named by the run
        _ => Ok(()),
    }
}

/// `[initial]`: values by coordinate; those of a Lagrangian or linear system that are left out are zero.
fn initial_state(reader: &mut Reader<'_>, section: &InitialSchema, model: &Model, mut q: Vec<f64>, mut v: Vec<f64>) -> State {
    let t = reader.number_or(section.time.as_ref(), 0.0, "the initial time", Must::BeFinite).unwrap_or(0.0);
    let systems = model.systems();
    for (table, names, values, what) in
        [(&section.position, systems.coordinates(), &mut q, "position"), (&section.velocity, systems.velocities(), &mut v, "velocity")]
    {
        let free: Vec<String> = (0..names.len()).filter(|&i| values[i].is_nan()).map(|i| names.name(i)).collect();
        let free: Vec<&str> = free.iter().map(String::as_str).collect();
        let given: Vec<Option<f64>> = table.0.iter().map(|(key, value)| initial_value(reader, key, value, &free, what)).collect();
        for ((key, _), x) in table.0.iter().zip(given) {
            if let (Some(x), Some(i)) = (x, names.position(key.get_ref())) {
                values[i] = x;
            }
        }
        values.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
    }
    State { t, q, v, ..State::default() }
}

fn initial_value(reader: &mut Reader<'_>, key: &Spanned<String>, value: &Spanned<Value>, free: &[&str], what: &str) -> Option<f64> {
    if free.contains(&key.get_ref().as_str()) {
        return reader.number(value, &format!("the initial {what} of {}", key.get_ref()), Must::BeFinite);
    }
    let help = if free.is_empty() { "bodies carry their own position and velocity".to_owned() } else { suggestion(key.get_ref(), free) };
    reader.wrong(key.span(), format!("there is no coordinate \"{}\" to give an initial {what}", key.get_ref()), help);
    None
}
