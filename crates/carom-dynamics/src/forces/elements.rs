//! The force elements of a model.

use super::body_force::{ForceElement, ForcePart};
use super::bushing::{Bushing, BushingSource};
use super::drag::{Drag, DragSource};
use super::load::{Load, LoadSource};
use super::relation_spring::RelationSpring;
use super::spring::{PointSpring, PointSpringSource};
use super::spring_law::SpringSource;
use crate::block_diagonal::{BlockLayout, keep_positive_part};
use crate::error::{ModelError, NonFinite};
use crate::relations::Relation;
use crate::systems::{Instant, JacobianFactors, Scratch, SystemSet};

/// What a force element is built from.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceSource {
    /// A force or torque on a body by formula.
    Load(LoadSource),
    /// A spring and damper between two points.
    Spring(PointSpringSource),
    /// A six-component spring and damper between two frames.
    Bushing(BushingSource),
    /// Drag of a fluid.
    Drag(DragSource),
}

impl ForceSource {
    /// The kinds as model files name them, each with what it does.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("force", "a force on a body at a point or its centre, constant or by formula, in axes of the world or of the body"),
        ("torque", "a torque on a body, constant or by formula, in axes of the world or of the body"),
        ("spring", "spring and damper between two points of bodies or the ground; linear, of one sense, or by formula of length and rate"),
        ("bushing", "linear springs and dampers over the six relative displacements of two bodies"),
        ("drag", "linear and quadratic drag on translation and rotation of any number of bodies, with wind by formula"),
    ];

    fn build(&self, name: &str, systems: &SystemSet, q: &[f64]) -> Result<Box<dyn ForceElement>, ModelError> {
        Ok(match self {
            ForceSource::Load(source) => Box::new(Load::new(name, source, systems, q)?),
            ForceSource::Spring(source) => Box::new(PointSpring::new(name, source, systems, q)?),
            ForceSource::Bushing(source) => Box::new(Bushing::new(name, source, systems, q)?),
            ForceSource::Drag(source) => Box::new(Drag::new(name, source, systems)?),
        })
    }
}

/// The force elements of a model, in order, with their names.
#[derive(Default)]
pub struct ForceElements {
    list: Vec<(String, Box<dyn ForceElement>)>,
}

impl ForceElements {
    /// Adds an element; its points and axes are those at the coordinates `q`.
    ///
    /// # Errors
    /// [`ModelError`]: a body that does not exist, a formula that cannot be read, a number out of range.
    pub(crate) fn add(&mut self, name: &str, source: &ForceSource, systems: &SystemSet, q: &[f64]) -> Result<(), ModelError> {
        self.list.push((name.to_owned(), source.build(name, systems, q)?));
        Ok(())
    }

    /// Adds a spring over a relation of one row.
    ///
    /// # Errors
    /// As [`ForceElements::add`]; a relation of more rows.
    pub(crate) fn add_over_relation(
        &mut self,
        name: &str,
        relation: Box<dyn Relation>,
        source: &SpringSource,
        (t, q): (f64, &[f64]),
    ) -> Result<(), ModelError> {
        self.list.push((name.to_owned(), Box::new(RelationSpring::new(name, relation, source, t, q)?)));
        Ok(())
    }

    /// Adds an element of one's own.
    pub(crate) fn push(&mut self, name: &str, element: Box<dyn ForceElement>) {
        self.list.push((name.to_owned(), element));
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Name and element, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &dyn ForceElement)> {
        self.list.iter().map(|(name, element)| (name.as_str(), &**element))
    }

    /// The element with this number.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&dyn ForceElement> {
        self.list.get(index).map(|(_, element)| &**element)
    }

    /// No force depends on the state.
    pub(crate) fn are_constant(&self) -> bool {
        self.list.iter().all(|(_, element)| element.is_constant())
    }

    /// Some force has a part without potential.
    pub(crate) fn are_applied(&self) -> bool {
        self.list.iter().any(|(_, element)| element.is_applied())
    }

    /// Adds all forces, or their part.
    pub(crate) fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        part: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.list.iter().try_for_each(|(_, element)| element.add_force(systems, at, part, force, scratch))
    }

    /// Σ V \[J\].
    pub(crate) fn potential(&self, systems: &SystemSet, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        self.list.iter().map(|(_, element)| element.potential(systems, t, q, scratch)).sum()
    }

    /// Σ ∂V/∂t \[W\].
    pub(crate) fn explicit_power(&self, systems: &SystemSet, at: Instant<'_>, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        self.list.iter().map(|(_, element)| element.explicit_power(systems, at, scratch)).sum()
    }

    /// Gives c_v C + c_q K of all elements whole, entry by entry: row, column, value.
    pub(crate) fn visit_entries(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<(), NonFinite> {
        self.list.iter().filter(|(_, element)| !element.is_constant()).try_for_each(|(_, element)| {
            element.visit_jacobians(systems, at, factors, scratch, &mut |velocities, values| {
                for (line, &i) in values.chunks_exact(velocities.len().max(1)).zip(velocities) {
                    line.iter().zip(velocities).filter(|(x, _)| **x != 0.0).for_each(|(x, &j)| visit(i, j, *x));
                }
            })
        })
    }

    /// Adds the diagonal blocks of c_v C + c_q K, enlarged for what they leave out: see the [module](super). Of an element with `stiff` rows
    /// (number => rows and their κ) the part Σ κ G_sᵀ G_s is elsewhere.
    pub(crate) fn add_to_iteration<'a>(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        (matrix, stiff): (&mut [f64], impl Fn(usize) -> Option<(&'a [f64], &'a [f64])>),
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let layout = systems.layout();
        let mut rest = std::mem::take(&mut scratch.beside);
        let done =
            self.list.iter().enumerate().filter(|(_, (_, element))| !element.is_constant()).try_for_each(|(number, (_, element))| {
                element.visit_jacobians(systems, at, factors, scratch, &mut |velocities, values| {
                    rest.clear();
                    rest.extend_from_slice(values);
                    if let Some((rows, kappas)) = stiff(number) {
                        subtract_rows(&mut rest, velocities.len(), rows, kappas);
                        keep_positive_runs(layout, velocities, &mut rest);
                    }
                    let mut coupled = 0.0;
                    each_block(layout, velocities, &rest, &mut |_, full| coupled += f64::from(u8::from(full)));
                    let factor = f64::max(1.0, 0.5 * coupled);
                    add_blocks(layout, velocities, &rest, factor, matrix);
                })
            });
        scratch.beside = rest;
        done
    }

    /// Adds the diagonal blocks of c_v C + c_q K of elements that act on single bodies, as they are: those between bodies, whose other half would be
    /// missing, are left out.
    pub(crate) fn add_uncoupled(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let layout = systems.layout();
        self.list.iter().filter(|(_, element)| !(element.is_constant() || element.couples_bodies())).try_for_each(|(_, element)| {
            element.visit_jacobians(systems, at, factors, scratch, &mut |velocities, values| {
                add_blocks(layout, velocities, values, 1.0, matrix);
            })
        })
    }
}

/// A −= Σ κ Gᵀ G for a matrix of n × n.
fn subtract_rows(matrix: &mut [f64], n: usize, rows: &[f64], kappas: &[f64]) {
    for (row, kappa) in rows.chunks_exact(n.max(1)).zip(kappas).filter(|(_, kappa)| **kappa > 0.0) {
        for (line, left) in matrix.chunks_exact_mut(n).zip(row).filter(|(_, left)| **left != 0.0) {
            line.iter_mut().zip(row).for_each(|(x, right)| *x -= kappa * left * right);
        }
    }
}

/// Replaces the parts of a matrix within each block by their positive part: what is left of a stiff element may be of either sign.
fn keep_positive_runs(layout: &BlockLayout, velocities: &[usize], values: &mut [f64]) {
    let (n, mut from) = (velocities.len(), 0);
    while from < n {
        let end = layout.rows[layout.block_of_row(velocities[from]) + 1];
        let size = velocities[from..].iter().take_while(|&&v| v < end).count();
        let mut block = [0.0; 9];
        if size == 3 {
            (0..9).for_each(|k| block[k] = values[(from + k / 3) * n + from + k % 3]);
            keep_positive_part(3, &mut block);
        }
        for i in 0..size {
            for j in 0..size {
                values[(from + i) * n + from + j] = if size == 3 { block[3 * i + j] } else { 0.0 };
            }
        }
        from += size;
    }
}

/// A block of the layout and the velocities `from..to` of a list that lie in it.
struct Run {
    block: usize,
    from: usize,
    to: usize,
}

/// Calls `visit` with each run of velocities that lie in one block, and says if its part of the matrix is not zero.
fn each_block(layout: &BlockLayout, velocities: &[usize], values: &[f64], visit: &mut dyn FnMut(&Run, bool)) {
    let (n, mut from) = (velocities.len(), 0);
    while from < n {
        let block = layout.block_of_row(velocities[from]);
        let end = layout.rows[block + 1];
        let to = from + velocities[from..].iter().take_while(|&&v| v < end).count();
        let is_full = (from..to).any(|i| values[i * n + from..i * n + to].iter().any(|x| *x != 0.0));
        visit(&Run { block, from, to }, is_full);
        from = to;
    }
}

fn add_blocks(layout: &BlockLayout, velocities: &[usize], values: &[f64], factor: f64, matrix: &mut [f64]) {
    let n = velocities.len();
    each_block(layout, velocities, values, &mut |run, full| {
        if !full {
            return;
        }
        let (first, size, start) = (layout.rows[run.block], layout.size(run.block), layout.values[run.block]);
        for i in run.from..run.to {
            for j in run.from..run.to {
                matrix[start + (velocities[i] - first) * size + velocities[j] - first] += factor * values[i * n + j];
            }
        }
    });
}
