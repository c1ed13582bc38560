//! From texts to tapes: parsing, differentiation, detection of linear systems.

use super::law::MultiplierLaw;
use super::passivity::{Passivity, passivity};
use super::set::{FirstOrderSet, Jacobian, LinearParts, Mass, RelationRows, Variable};
use super::source::{FirstOrderSource, PowerSource, RelationSource};
use crate::error::ModelError;
use crate::formula::{Expr, Graph, Scope, Tape, is_reserved_name, is_valid_name};
use crate::systems::SystemSet;
use crate::systems::formula_force::{compile as compile_tape, parse};
use std::collections::HashSet;

/// The symbols of all formulas.
struct Symbols {
    t: Expr,
    x: Vec<Expr>,
    lambda: Vec<Expr>,
    held: Vec<Expr>,
    q: Vec<Expr>,
    v: Vec<Expr>,
}

impl Symbols {
    fn inputs(&self) -> Vec<Expr> {
        let parts = [&self.x, &self.lambda, &self.held, &self.q, &self.v];
        std::iter::once(self.t).chain(parts.into_iter().flatten().copied()).collect()
    }

    /// With what each is a derivative by.
    fn variables(&self) -> Vec<(Expr, Variable)> {
        let x = self.x.iter().enumerate().map(|(i, &e)| (e, Variable::State(i)));
        let lambda = self.lambda.iter().enumerate().map(|(i, &e)| (e, Variable::Multiplier(i)));
        let q = self.q.iter().enumerate().map(|(i, &e)| (e, Variable::Coordinate(i)));
        let v = self.v.iter().enumerate().map(|(i, &e)| (e, Variable::Velocity(i)));
        x.chain(lambda).chain(q).chain(v).collect()
    }
}

/// The expressions of a system.
struct Expressions {
    mass: Vec<Expr>,
    drift: Vec<Expr>,
    action: Vec<Expr>,
    output: Vec<Expr>,
}

pub(super) fn compile(source: &FirstOrderSource, systems: &SystemSet) -> Result<FirstOrderSet, ModelError> {
    check_sizes(source)?;
    let relations = place_relations(source);
    let rows = row_names(source);
    check_names(source, systems)?;
    let mut graph = Graph::new();
    let (symbols, scope) = scope_of(&mut graph, source, systems, &rows)?;
    let expressions = read(&mut graph, source, &symbols, &scope)?;
    let inputs = symbols.inputs();
    let n = source.states.len();
    let mass = match expressions.mass.as_slice() {
        [] => Mass::Identity,
        entries => match entries.iter().map(|&e| graph.as_constant(e)).collect::<Option<Vec<f64>>>() {
            Some(values) => Mass::Constant(values),
            None => Mass::Varying(compile_tape(&graph, &inputs, entries)),
        },
    };
    let drift_jacobian = differentiate(&mut graph, &symbols, &expressions.drift);
    let action_jacobian = differentiate(&mut graph, &symbols, &expressions.action);
    let output_jacobian = differentiate(&mut graph, &symbols, &expressions.output);
    // held values of control are coordinates that nothing moves: they are inputs, not mechanics
    let moving = symbols.q.iter().enumerate().filter(|(c, _)| !systems.velocities_of(&[*c]).is_empty()).map(|(_, e)| e);
    let mechanical: Vec<Expr> = moving.chain(&symbols.v).copied().collect();
    let uses_mechanics =
        [&expressions.drift, &expressions.action, &expressions.output].into_iter().flatten().any(|&e| graph.depends_on(e, &mechanical));
    let is_coupled = uses_mechanics || !source.forces.is_empty();
    let linear = match is_coupled || matches!(mass, Mass::Varying(_)) {
        true => None,
        false => linear_parts(&mut graph, &symbols, &expressions, &mass, n),
    };
    let rates_of_outputs: Vec<Expr> = expressions.output.iter().map(|&e| graph.derivative(e, symbols.t)).collect();
    let multiplied: Vec<Expr> = expressions.action.iter().chain(&expressions.output).copied().collect();
    let affine_in_multipliers = multiplied.iter().all(|&e| {
        let smooth = graph.switches(e).into_iter().all(|switch| !graph.depends_on(switch, &symbols.lambda));
        let slopes: Vec<Expr> = symbols.lambda.iter().map(|&lambda| graph.derivative(e, lambda)).collect();
        smooth && slopes.iter().all(|&slope| !graph.depends_on(slope, &symbols.lambda))
    });
    let mut texts = |list: &mut dyn Iterator<Item = (String, &str)>| -> Result<Tape, ModelError> {
        let read: Vec<Expr> = list.map(|(what, text)| parse(&mut graph, &what, text, &scope)).collect::<Result<_, _>>()?;
        Ok(compile_tape(&graph, &inputs, &read))
    };
    let signal_tape = texts(&mut source.signals.iter().map(|(signal, text)| (format!("signal {}", signal.name), text.as_str())))?;
    let powers = match &source.powers {
        None => None,
        Some(PowerSource { supplied, dissipated }) => {
            let named = [("supplied power", supplied), ("dissipated power", dissipated)];
            Some(texts(&mut named.into_iter().map(|(what, text)| (what.to_owned(), text.as_str())))?)
        }
    };
    let forces = source.forces.iter().map(|(name, _)| velocity_number(systems, name)).collect::<Result<_, _>>()?;
    let mut set = FirstOrderSet {
        states: source.states.clone(),
        sets: source.relations.iter().flat_map(|relation| relation.law.sets(relation.multipliers.len())).collect(),
        relations,
        rows,
        held: source.held.iter().map(|held| (held.name.clone(), held.initial)).collect(),
        mass,
        drift: compile_tape(&graph, &inputs, &expressions.drift),
        action: compile_tape(&graph, &inputs, &expressions.action),
        output: compile_tape(&graph, &inputs, &expressions.output),
        output_rate: compile_tape(&graph, &inputs, &rates_of_outputs),
        affine_in_multipliers,
        drift_jacobian: drift_jacobian.tape(&graph, &inputs),
        action_jacobian: action_jacobian.tape(&graph, &inputs),
        output_jacobian: output_jacobian.tape(&graph, &inputs),
        linear,
        storage: source.storage.clone(),
        storage_is_derived: false,
        passivity: None,
        signals: source.signals.iter().map(|(signal, _)| signal.clone()).collect(),
        signal_tape,
        powers,
        forces,
        pulls: (0..systems.coordinates().len()).map(|c| systems.velocities_of(&[c])).collect(),
        is_coupled,
    };
    set.passivity = set.linear.as_ref().and_then(|parts| passivity(&set, parts));
    if let (true, Some(Passivity::Passive { storage, .. })) = (set.storage.is_empty(), &set.passivity) {
        set.storage.clone_from(storage);
        set.storage_is_derived = true;
    }
    Ok(set)
}

fn check_sizes(source: &FirstOrderSource) -> Result<(), ModelError> {
    let n = source.states.len();
    let wrong = |what: String, expected: usize, found: usize| Err(ModelError::WrongLength { what, expected, found });
    if source.rates.len() != n {
        return wrong("the list of rates".into(), n, source.rates.len());
    }
    if !source.mass.is_empty() && source.mass.len() != n * n {
        return wrong("the matrix M".into(), n * n, source.mass.len());
    }
    if !source.storage.is_empty() && source.storage.len() != n * n {
        return wrong("the storage matrix P".into(), n * n, source.storage.len());
    }
    for relation in &source.relations {
        let (m, found) = (relation.multipliers.len(), relation.outputs.len());
        if m != found {
            return wrong(format!("the list of outputs of \"{}\"", relation.name), m, found);
        }
        if m == 0 {
            return wrong(format!("the list of multipliers of \"{}\"", relation.name), 1, 0);
        }
        if !(relation.compliance >= 0.0 && relation.compliance.is_finite()) {
            let what = format!("the compliance of \"{}\"", relation.name);
            return Err(ModelError::OutOfRange { what, value: relation.compliance, expected: "a finite number ≥ 0 is needed" });
        }
        relation.law.validate(&relation.name, m)?;
    }
    Ok(())
}

/// Names of the rows: multipliers, and behind those of a polytope the multipliers of its facets.
fn row_names(source: &FirstOrderSource) -> Vec<String> {
    let of_relation = |relation: &RelationSource| {
        let facets = (1..=n_facets(&relation.law)).map(|k| format!("{}.facet{k}", relation.name));
        relation.multipliers.iter().cloned().chain(facets).collect::<Vec<_>>()
    };
    source.relations.iter().flat_map(of_relation).collect()
}

fn n_facets(law: &MultiplierLaw) -> usize {
    if let MultiplierLaw::Polytope { facets, .. } = law { facets.len() } else { 0 }
}

fn place_relations(source: &FirstOrderSource) -> Vec<RelationRows> {
    let mut start = 0;
    let place = |relation: &RelationSource| {
        let end = start + relation.multipliers.len() + n_facets(&relation.law);
        let rows = start..end;
        start = end;
        RelationRows { name: relation.name.clone(), rows, law: relation.law.clone() }
    };
    source.relations.iter().map(place).collect()
}

/// Every name once, and none that formulas cannot use.
fn check_names(source: &FirstOrderSource, systems: &SystemSet) -> Result<(), ModelError> {
    let coordinates: Vec<String> = systems.coordinates().names().collect();
    let mut seen: HashSet<&str> = coordinates.iter().map(String::as_str).collect();
    let states = source.states.iter().map(|s| ("state", s.name.as_str()));
    let multipliers = source.relations.iter().flat_map(|r| r.multipliers.iter().map(|name| ("multiplier", name.as_str())));
    let inputs = source.inputs.iter().map(|(name, _)| ("input", name.as_str()));
    let held = source.held.iter().map(|held| ("held input", held.name.as_str()));
    let parameters = source.parameters.iter().map(|(name, _)| ("parameter", name.as_str()));
    for (what, name) in parameters.chain(states).chain(multipliers).chain(inputs).chain(held) {
        if !is_valid_name(name) || is_reserved_name(name) || name == "t" {
            return Err(ModelError::BadName { what, name: name.to_owned() });
        }
        if !seen.insert(name) {
            return Err(ModelError::DuplicateName { what, name: name.to_owned() });
        }
    }
    let mut signals = HashSet::new();
    if let Some((signal, _)) = source.signals.iter().find(|(signal, _)| !signals.insert(signal.name.as_str())) {
        return Err(ModelError::DuplicateName { what: "signal", name: signal.name.clone() });
    }
    let mut relations = HashSet::new();
    match source.relations.iter().find(|relation| !relations.insert(relation.name.as_str())) {
        Some(relation) => Err(ModelError::DuplicateName { what: "relation", name: relation.name.clone() }),
        None => Ok(()),
    }
}

fn scope_of(graph: &mut Graph, source: &FirstOrderSource, systems: &SystemSet, rows: &[String]) -> Result<(Symbols, Scope), ModelError> {
    let mut scope = Scope::new();
    for (name, value) in &source.parameters {
        scope.constant(name, *value);
    }
    let t = graph.symbol("t");
    scope.symbol("t", t);
    let mut declare = |graph: &mut Graph, name: &str| {
        let symbol = graph.symbol(name);
        scope.symbol(name, symbol);
        symbol
    };
    let q: Vec<Expr> = systems.coordinates().names().map(|name| declare(graph, &name)).collect();
    let v: Vec<Expr> = velocity_names(systems).iter().map(|name| declare(graph, name)).collect();
    let x: Vec<Expr> = source.states.iter().map(|s| declare(graph, &s.name)).collect();
    let lambda: Vec<Expr> = rows.iter().map(|name| declare(graph, name)).collect();
    let held: Vec<Expr> = source.held.iter().map(|held| declare(graph, &held.name)).collect();
    for (name, text) in &source.inputs {
        let input = parse(graph, &format!("input \"{name}\""), text, &scope)?;
        scope.constant(name, input);
    }
    Ok((Symbols { t, x, lambda, held, q, v }, scope))
}

/// Names of the velocities in formulas: `NAME_dot` where q̇ = v, their own otherwise.
fn velocity_names(systems: &SystemSet) -> Vec<String> {
    let mut names: Vec<String> = systems.velocities().names().collect();
    for (i, coordinate) in systems.coordinates().iter().enumerate() {
        if let (true, [v]) = (systems.is_flat(i), systems.velocities_of(&[i]).as_slice()) {
            names[*v] = format!("{}_dot", coordinate.name);
        }
    }
    names
}

/// The velocity of this name, or of the coordinate of this name.
fn velocity_number(systems: &SystemSet, name: &str) -> Result<usize, ModelError> {
    systems
        .velocity_of_name(name)
        .ok_or_else(|| ModelError::Force { force: name.to_owned(), reason: "there is no velocity of this name to act on".to_owned() })
}

/// Reads all formulas. f is what is left of the rates where all multipliers are zero, g the rest.
fn read(graph: &mut Graph, source: &FirstOrderSource, symbols: &Symbols, scope: &Scope) -> Result<Expressions, ModelError> {
    let mut read = |what: String, text: &str| parse(graph, &what, text, scope);
    let n = source.states.len();
    let entry = |k: usize| format!("entry ({}, {}) of M", k / n + 1, k % n + 1);
    let mass: Vec<Expr> = source.mass.iter().enumerate().map(|(k, text)| read(entry(k), text)).collect::<Result<_, _>>()?;
    let rates = source.states.iter().zip(&source.rates).map(|(state, text)| read(format!("rate of {}", state.name), text));
    let mut rates: Vec<Expr> = rates.collect::<Result<_, _>>()?;
    // forces on the mechanical part follow the rates
    for (name, text) in &source.forces {
        rates.push(read(format!("force on {name}"), text)?);
    }
    let mut outputs = Vec::new();
    for relation in &source.relations {
        for (name, text) in relation.multipliers.iter().zip(&relation.outputs) {
            outputs.push(read(format!("output of {name} in \"{}\"", relation.name), text)?);
        }
    }
    let multipliers: HashSet<Expr> = symbols.lambda.iter().copied().collect();
    let drift: Vec<Expr> = rates.iter().map(|&rate| graph.with_zeros(rate, &multipliers)).collect();
    let action = rates.iter().zip(&drift).map(|(&rate, &drift)| action_of(graph, symbols, rate, drift)).collect();
    let output = complete_outputs(graph, source, symbols, &outputs);
    Ok(Expressions { mass, drift, action, output })
}

/// g of one rate: Σ (∂rate/∂λ) λ where that is exact, without the cancellation of a difference.
fn action_of(graph: &mut Graph, symbols: &Symbols, rate: Expr, drift: Expr) -> Expr {
    let is_smooth = graph.switches(rate).into_iter().all(|switch| !graph.depends_on(switch, &symbols.lambda));
    let slopes: Vec<Expr> = symbols.lambda.iter().map(|&lambda| graph.derivative(rate, lambda)).collect();
    if !is_smooth || slopes.iter().any(|&slope| graph.depends_on(slope, &symbols.lambda)) {
        return graph.sub(rate, drift);
    }
    let mut sum = graph.constant(0.0);
    for (&slope, &lambda) in slopes.iter().zip(&symbols.lambda) {
        let term = graph.mul(slope, lambda);
        sum = graph.add(sum, term);
    }
    sum
}

/// Outputs of all rows: those of the user with their compliance, y + Gᵀμ on a polytope, g − G λ on its facets.
fn complete_outputs(graph: &mut Graph, source: &FirstOrderSource, symbols: &Symbols, given: &[Expr]) -> Vec<Expr> {
    let (mut all, mut given) = (Vec::new(), given.iter().copied());
    for relation in &source.relations {
        let (start, m) = (all.len(), relation.multipliers.len());
        for k in 0..m {
            let compliance = graph.constant(relation.compliance);
            let give = graph.mul(compliance, symbols.lambda[start + k]);
            let own = given.next().unwrap_or(give);
            all.push(graph.add(own, give));
        }
        if let MultiplierLaw::Polytope { facets, bounds } = &relation.law {
            for (f, (facet, bound)) in facets.iter().zip(bounds).enumerate() {
                let mut gap = graph.constant(*bound);
                for (k, &slope) in facet.iter().enumerate() {
                    let slope = graph.constant(slope);
                    let pull = graph.mul(slope, symbols.lambda[start + m + f]);
                    all[start + k] = graph.add(all[start + k], pull);
                    let part = graph.mul(slope, symbols.lambda[start + k]);
                    gap = graph.sub(gap, part);
                }
                all.push(gap);
            }
        }
    }
    all
}

/// Derivatives that are not identically zero.
struct Derivatives {
    places: Vec<(usize, Variable)>,
    entries: Vec<Expr>,
}

impl Derivatives {
    fn tape(self, graph: &Graph, inputs: &[Expr]) -> Jacobian {
        Jacobian { places: self.places, tape: compile_tape(graph, inputs, &self.entries) }
    }
}

fn differentiate(graph: &mut Graph, symbols: &Symbols, rows: &[Expr]) -> Derivatives {
    let mut found = Derivatives { places: Vec::new(), entries: Vec::new() };
    for (i, &row) in rows.iter().enumerate() {
        for (symbol, variable) in symbols.variables() {
            let derivative = graph.derivative(row, symbol);
            if !graph.is_zero(derivative) {
                found.places.push((i, variable));
                found.entries.push(derivative);
            }
        }
    }
    found
}

/// The matrices, where all derivatives are constant.
fn linear_parts(graph: &mut Graph, symbols: &Symbols, expressions: &Expressions, mass: &Mass, n: usize) -> Option<LinearParts> {
    let mut matrix = |rows: &[Expr], by: &[Expr]| -> Option<Vec<f64>> {
        let mut values = Vec::with_capacity(rows.len() * by.len());
        for &row in rows {
            for &symbol in by {
                let derivative = graph.derivative(row, symbol);
                values.push(graph.as_constant(derivative)?);
            }
        }
        Some(values)
    };
    let a = matrix(&expressions.drift, &symbols.x)?;
    let b = matrix(&expressions.action, &symbols.lambda)?;
    // g must be B λ alone
    if matrix(&expressions.action, &symbols.x)?.iter().any(|&x| x != 0.0) {
        return None;
    }
    let c = matrix(&expressions.output, &symbols.x)?;
    let d = matrix(&expressions.output, &symbols.lambda)?;
    let mass = match mass {
        Mass::Identity => (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect(),
        Mass::Constant(values) => values.clone(),
        Mass::Varying(_) => return None,
    };
    // a constant derivative is that of an affine function only where there are no steps
    let unknowns: Vec<Expr> = symbols.x.iter().chain(&symbols.lambda).copied().collect();
    let all: Vec<Expr> = expressions.drift.iter().chain(&expressions.action).chain(&expressions.output).copied().collect();
    for &e in &all {
        if graph.switches(e).into_iter().any(|switch| graph.depends_on(switch, &unknowns)) {
            return None;
        }
    }
    let zeros: HashSet<Expr> = unknowns.into_iter().collect();
    let offsets: Vec<Expr> = expressions.drift.iter().chain(&expressions.output).map(|&e| graph.with_zeros(e, &zeros)).collect();
    let inputs: Vec<Expr> = std::iter::once(symbols.t).chain(symbols.held.iter().chain(&symbols.q).copied()).collect();
    let is_autonomous = !offsets.iter().any(|&e| graph.depends_on(e, &inputs));
    let is_held = offsets.iter().any(|&e| graph.depends_on(e, &inputs[1..]));
    let forcing = Tape::compile(graph, &inputs, &offsets).ok()?;
    Some(LinearParts { mass, a, b, c, d, forcing, is_autonomous, is_held })
}
