//! The constraints and closed contacts of a model at one instant, and the two problems that are solved there.
//!
//! ```text
//! M(q) a = F + Gᵀλ,      u = G v + b,      u̇ = G a + (dG/dt) v + db/dt,      W = G M⁻¹ Gᵀ
//! ```
//!
//! The rows of G are those of all constraints of the model, then those of the contacts that were given, then those of the model's efforts between bounds. [`ClosedSet::impact`] takes v⁻ to v⁺,
//! [`ClosedSet::accelerate`] finds the accelerations and with them the modes in which the motion goes on.

use crate::active_set::{ActiveSet, ActiveSource};
use crate::block_diagonal::{BlockFactor, BlockLayout};
use crate::error::{IntegrationError, NonFinite};
use crate::interactions::Interaction;
use crate::laws::{BoundedLaw, Cohesion, ContactLaw, Law};
use crate::model::Model;
use crate::relations::Rows;
use crate::smooth::InteractionRef;
use crate::systems::{Instant, Scratch};
use carom_solvers::{BlockSparse, Delassus};

/// All constraints of a model and some contacts at one instant: M, G, b, u, W.
///
/// Rows of elliptic friction are stretched inside, so that their cones are circular; everything that is returned is in the tangents of the
/// relation.
pub struct ClosedSet {
    pub(super) t: f64,
    pub(super) v: Vec<f64>,
    pub(super) layout: BlockLayout,
    /// Constraints, then contacts, then efforts between bounds.
    pub(super) active: ActiveSet,
    /// Number of constraints.
    pub(super) n_constraints: usize,
    /// Number of efforts between bounds.
    pub(super) n_efforts: usize,
    pub(super) w: Delassus,
    /// u by rows, in the tangents of the relations; of a servo u + k g.
    pub(super) velocity: Vec<f64>,
    /// (dG/dt) v + db/dt by rows, stretched.
    pub(super) rate: Vec<f64>,
    /// M⁻¹ F.
    pub(super) free: Vec<f64>,
    /// Σ |G_ij (M⁻¹F)_j| + |(dG/dt) v + db/dt|, the largest row of each interaction: the accelerations at hand.
    pub(super) size: Vec<f64>,
}

impl ClosedSet {
    /// Evaluates and factorises; cost O(rows × block size² + rows²).
    ///
    /// # Errors
    /// [`IntegrationError`] for values that are not finite, a mass matrix without inverse, and laws whose events are not known: rolling and
    /// spinning resistance, cohesion.
    pub fn new(model: &Model, at: Instant<'_>, contacts: &[InteractionRef<'_>]) -> Result<Self, IntegrationError> {
        ClosedSet::with_pieces(model, at, &[], contacts)
    }

    /// The same with the piece in use of each interaction of the model, instead of the one that holds at the instant.
    ///
    /// # Errors
    /// As [`ClosedSet::new`].
    pub fn with_pieces(
        model: &Model,
        at: Instant<'_>,
        pieces: &[usize],
        contacts: &[InteractionRef<'_>],
    ) -> Result<Self, IntegrationError> {
        let in_use = |interaction: &Interaction| {
            let place = || model.interactions().iter().position(|other| std::ptr::eq(other, interaction));
            (interaction.relation().n_pieces() > 1).then(place).flatten().and_then(|i| pieces.get(i).copied())
        };
        let (systems, layout, mut scratch) = (model.systems(), model.systems().layout(), Scratch::default());
        let located = |source: NonFinite| IntegrationError::NonFinite { t: at.t, source };
        let (mut mass, mut factor) = (vec![0.0; layout.n_values()], BlockFactor::default());
        systems.mass(at.t, at.q, &mut mass, &mut scratch).map_err(located)?;
        factor.factorise(layout, &mass).map_err(|singular| IntegrationError::SingularMass {
            t: at.t,
            system: systems.velocities().name(layout.rows[singular.block]),
        })?;
        let (mut force, mut free) = (vec![0.0; at.v.len()], vec![0.0; at.v.len()]);
        model.force(at.t, at.q, at.v, &mut force, &mut scratch).map_err(located)?;
        factor.solve(layout, &force, &mut free);
        let mut set = ClosedSet {
            t: at.t,
            v: at.v.to_vec(),
            layout: layout.clone(),
            active: ActiveSet::default(),
            n_constraints: 0,
            n_efforts: 0,
            w: Delassus::BlockSparse(BlockSparse::default()),
            velocity: Vec::new(),
            rate: Vec::new(),
            free,
            size: Vec::new(),
        };
        for (i, constraint) in model.interactions().iter().enumerate().filter(|(_, interaction)| interaction.is_bilateral()) {
            set.push(ActiveSource::Interaction(i), (constraint, in_use(constraint)), at, &mut scratch).map_err(located)?;
            set.n_constraints += 1;
        }
        for (k, contact) in contacts.iter().enumerate() {
            refuse_unknown(contact)?;
            set.push(ActiveSource::Contact(k), (contact, in_use(contact)), at, &mut scratch).map_err(located)?;
        }
        for (i, effort) in model.interactions().iter().enumerate().filter(|(_, interaction)| interaction.law().bounded().is_some()) {
            set.push(ActiveSource::Interaction(i), (effort, in_use(effort)), at, &mut scratch).map_err(located)?;
            set.n_efforts += 1;
        }
        set.active.compute_response(layout, &factor);
        let mut w = BlockSparse::default();
        set.active.assemble_delassus(layout, &mut w);
        set.w = Delassus::BlockSparse(w);
        Ok(set)
    }

    /// Evaluates the rows of one more interaction.
    fn push(
        &mut self,
        source: ActiveSource,
        (interaction, piece): (&Interaction, Option<usize>),
        at: Instant<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let whole = interaction.relation();
        let relation = piece.and_then(|piece| whole.piece(piece)).unwrap_or(whole);
        let (dim, columns) = (relation.n_rows(), relation.velocities());
        let (mut jacobian, mut bias, mut rate) = (vec![0.0; dim * columns.len()], vec![0.0; dim], vec![0.0; dim]);
        relation.jacobian(at.t, at.q, Rows { jacobian: &mut jacobian, bias: &mut bias }, scratch)?;
        relation.acceleration_bias(at.t, at.q, at.v, &mut rate, scratch)?;
        let gain = interaction.law().bounded().map_or(0.0, |law| law.gain);
        if gain != 0.0 {
            // u + k g of a servo, which has one row
            rate[0] += gain * (bias[0] + jacobian.iter().zip(columns).map(|(g, &j)| g * at.v[j]).sum::<f64>());
            let mut g = [0.0];
            relation.position(at.t, at.q, &mut g, scratch)?;
            bias[0] += gain * g[0];
        }
        let mut size = 0.0_f64;
        let item = self.active.push(source, *interaction.law(), 0.0, dim, interaction.blocks().iter().copied(), &self.layout);
        let (rows, biases, velocities) = self.active.rows_mut(item);
        interaction.spread(&jacobian, rows);
        biases.copy_from_slice(&bias);
        for (k, row) in jacobian.chunks_exact(columns.len()).enumerate() {
            velocities[k] = bias[k] + row.iter().zip(columns).map(|(g, &j)| g * at.v[j]).sum::<f64>();
            size = size.max(rate[k].abs() + row.iter().zip(columns).map(|(g, &j)| (g * self.free[j]).abs()).sum::<f64>());
        }
        self.velocity.extend_from_slice(velocities);
        self.active.bind(item, false);
        for (k, factor) in self.active.items()[item].stretched_rows() {
            rate[k] *= factor;
        }
        self.rate.extend_from_slice(&rate);
        self.size.push(size);
        Ok(())
    }

    /// u̇_N of contact k without any contact or constraint force [m/s²].
    #[must_use]
    pub(crate) fn free_acceleration(&self, k: usize) -> f64 {
        let item = self.n_constraints + k;
        self.rate[self.active.items()[item].rows.start] + self.active.first_row_product(&self.layout, item, &self.free)
    }

    /// Number of contacts.
    #[must_use]
    pub fn n_contacts(&self) -> usize {
        self.active.items().len() - self.n_constraints - self.n_efforts
    }

    /// Number of constraints: their rows come before those of the contacts in an [`crate::impacts::ImpactOutcome`].
    #[must_use]
    pub fn n_constraints(&self) -> usize {
        self.n_constraints
    }

    /// u of contact k: (N), (N, T) or (N, T₁, T₂) \[m/s\].
    #[must_use]
    pub fn velocity(&self, k: usize) -> &[f64] {
        &self.velocity[self.rows(k)]
    }

    /// Number of efforts between bounds.
    #[must_use]
    pub fn n_efforts(&self) -> usize {
        self.n_efforts
    }

    /// The law of effort e.
    pub(super) fn effort_law(&self, e: usize) -> Option<&BoundedLaw> {
        self.active.items()[self.n_constraints + self.n_contacts() + e].law.bounded()
    }

    /// u + k g of effort e \[m/s or rad/s\].
    #[must_use]
    pub(crate) fn effort_velocity(&self, e: usize) -> &[f64] {
        &self.velocity[self.rows(self.n_contacts() + e)]
    }

    /// Rows of contact k; efforts are numbered after the contacts.
    pub(super) fn rows(&self, k: usize) -> std::ops::Range<usize> {
        self.active.items()[self.n_constraints + k].rows.clone()
    }

    /// Law of contact k.
    pub(super) fn law(&self, k: usize) -> ContactLaw {
        // contacts only: see `refuse_unknown`
        self.active.items()[self.n_constraints + k].law.contact().copied().unwrap_or_default()
    }

    /// Factor of the second tangent of contact k.
    pub(super) fn stretch(&self, k: usize) -> f64 {
        self.active.items()[self.n_constraints + k].stretch
    }

    /// Writes velocities or accelerations, and impulses or forces, of stretched rows in the tangents of the relations.
    pub(super) fn unstretch(&self, velocities: &mut [f64], impulses: &mut [f64]) {
        for item in self.active.items() {
            for (k, factor) in item.stretched_rows() {
                velocities[item.rows.start + k] /= factor;
                impulses[item.rows.start + k] *= factor;
            }
        }
    }
}

/// Refuses what the problems do not know.
fn refuse_unknown(contact: &Interaction) -> Result<(), IntegrationError> {
    let refuse = |what: &str| {
        let reason = format!("\"{}\" has {what}, whose events are not known; use strategy = \"time-stepping\"", contact.name());
        Err(IntegrationError::Unsupported { integrator: "event-driven", reason })
    };
    match contact.law() {
        Law::Bilateral => refuse("a bilateral law, not that of a contact"),
        Law::Bounded(_) => refuse("a bound on its effort, and is not a contact"),
        Law::Contact(law) if law.rolling > 0.0 || law.spinning > 0.0 => refuse("rolling or spinning resistance"),
        Law::Contact(law) if law.cohesion != Cohesion::None => refuse("cohesion"),
        Law::Contact(_) => Ok(()),
    }
}
