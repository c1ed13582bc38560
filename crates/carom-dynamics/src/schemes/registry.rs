//! The schemes by name: settings, what each is for, which laws each knows.

use super::*;
use crate::detection::ContactDetector;
use crate::error::ModelError;
use crate::laws::{Cohesion, ContactLaw, Friction, Law, Restitution};
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// What a model may ask of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Joints and constraints.
    Constraints,
    /// Coefficients of restitution above zero.
    Restitution,
    /// Coulomb friction, constant or elliptic.
    Friction,
    /// Tangential restitution.
    TangentialRestitution,
    /// Friction coefficients that depend on the sliding speed.
    VariableFriction,
    /// Rolling and spinning resistance.
    Rolling,
    /// Cohesion.
    Cohesion,
    /// Contacts of rigid bodies found by collision detection.
    DetectedContacts,
    /// Obstacles in space that move as prescribed, or whose surface does.
    MovingObstacles,
    /// Contacts of planar bodies found by collision detection.
    PlanarContacts,
    /// Motors and friction of known bound: forces between bounds.
    BoundedForces,
    /// Impact laws other than Newton's and the inelastic one.
    ImpactLaws,
    /// First-order systems.
    FirstOrder,
    /// Mechanical systems.
    Mechanics,
}

impl Feature {
    /// In words, for messages.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Feature::Constraints => "constraints",
            Feature::Restitution => "restitution",
            Feature::Friction => "friction",
            Feature::TangentialRestitution => "tangential restitution",
            Feature::VariableFriction => "friction that depends on the sliding speed",
            Feature::Rolling => "rolling or spinning resistance",
            Feature::Cohesion => "cohesion",
            Feature::DetectedContacts => "contacts between shapes",
            Feature::MovingObstacles => "obstacles that move in space",
            Feature::PlanarContacts => "contacts between planar shapes",
            Feature::BoundedForces => "motors or friction with bounds on their effort",
            Feature::ImpactLaws => "impact laws other than \"newton\" and \"inelastic\"",
            Feature::FirstOrder => "first-order systems",
            Feature::Mechanics => "mechanical systems",
        }
    }
}

/// All features of mechanics.
const ALL: &[Feature] = &[
    Feature::Mechanics,
    Feature::Constraints,
    Feature::Restitution,
    Feature::Friction,
    Feature::TangentialRestitution,
    Feature::VariableFriction,
    Feature::Rolling,
    Feature::Cohesion,
    Feature::DetectedContacts,
    Feature::MovingObstacles,
    Feature::PlanarContacts,
    Feature::BoundedForces,
    Feature::ImpactLaws,
];

/// All but contacts of planar shapes.
const SPATIAL: &[Feature] = &[
    Feature::Mechanics,
    Feature::Constraints,
    Feature::Restitution,
    Feature::Friction,
    Feature::TangentialRestitution,
    Feature::VariableFriction,
    Feature::Rolling,
    Feature::Cohesion,
    Feature::DetectedContacts,
    Feature::MovingObstacles,
    Feature::BoundedForces,
    Feature::ImpactLaws,
];

/// A scheme, as `carom list schemes` shows it.
#[derive(Clone, Copy, Debug)]
pub struct SchemeEntry {
    /// Name in model files.
    pub name: &'static str,
    /// One line on what it is for.
    pub summary: &'static str,
    /// What it can do.
    pub accepts: &'static [Feature],
}

/// A scheme's settings, `kind` first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SchemeParams {
    /// [`MoreauJean`].
    MoreauJean(MoreauJeanParams),
    /// [`MoreauGap`].
    MoreauGap(MoreauGapParams),
    /// [`MoreauMidpoint`].
    MoreauMidpoint(MoreauMidpointParams),
    /// [`ThetaGap`].
    ThetaGap(ThetaGapParams),
    /// [`DirectProjection`].
    DirectProjection(DirectProjectionParams),
    /// [`CombinedProjection`].
    CombinedProjection(CombinedProjectionParams),
    /// [`SchatzmanPaoli`].
    SchatzmanPaoli(SchatzmanPaoliParams),
    /// [`StewartTrinkle`].
    StewartTrinkle(StewartTrinkleParams),
    /// [`AnitescuPotra`].
    AnitescuPotra(AnitescuPotraParams),
    /// [`Lotstedt`].
    Lotstedt(LotstedtParams),
    /// [`NonsmoothAlpha`].
    NonsmoothAlpha(NonsmoothAlphaParams),
    /// [`D1Minus`].
    D1Minus(D1MinusParams),
    /// [`Prox`].
    Prox(ProxParams),
    /// [`EulerMoreau`].
    EulerMoreau(EulerMoreauParams),
    /// [`ZeroOrderHold`].
    ZeroOrderHold(ZeroOrderHoldParams),
}

impl Default for SchemeParams {
    fn default() -> Self {
        SchemeParams::MoreauJean(MoreauJeanParams::default())
    }
}

/// The schemes, in the order of [`SchemeParams::all`].
pub const SCHEMES: &[SchemeEntry] = &[
    SchemeEntry {
        name: "moreau-jean",
        summary: "velocity–impulse θ-scheme, implicit contact, order 1 across impacts, 2 in free motion at θ = 1/2; passes accumulations of impacts; the default",
        accepts: ALL,
    },
    SchemeEntry {
        name: "moreau-gap",
        summary: "bodies in contact: gaps close and not more, impacts at their time in the step; exact cone, many bodies without W; the default where there are shapes",
        accepts: ALL,
    },
    SchemeEntry {
        name: "moreau-midpoint",
        summary: "Moreau's explicit midpoint scheme: one evaluation of forces per step, elastic impacts keep the energy exactly",
        accepts: ALL,
    },
    SchemeEntry {
        name: "theta-gap",
        summary: "θ-method with the contact condition on the discretised gap (θ, θ-Euler or modified θ): deformable bodies",
        accepts: &[
            Feature::Mechanics,
            Feature::Constraints,
            Feature::Friction,
            Feature::VariableFriction,
            Feature::Rolling,
            Feature::DetectedContacts,
            Feature::BoundedForces,
        ],
    },
    SchemeEntry {
        name: "direct-projection",
        summary: "Moreau–Jean, then the positions are projected on joints and closed contacts: no drift of joints, at little cost",
        accepts: SPATIAL,
    },
    SchemeEntry {
        name: "combined-projection",
        summary: "Moreau–Jean and projection iterated until they agree on the closed contacts (GGL): no drift and no penetration beyond the tolerance",
        accepts: SPATIAL,
    },
    SchemeEntry {
        name: "schatzman-paoli",
        summary: "two-step scheme in positions with restitution in the projected mean: convergence is proved for it",
        accepts: &[Feature::Mechanics, Feature::Constraints, Feature::Restitution],
    },
    SchemeEntry {
        name: "stewart-trinkle",
        summary: "contacts and joints on the positions at the end of the step (no drift), friction by a polyhedral cone (LCP) or the exact one; inelastic",
        accepts: &[
            Feature::Mechanics,
            Feature::Constraints,
            Feature::Friction,
            Feature::VariableFriction,
            Feature::Rolling,
            Feature::DetectedContacts,
            Feature::BoundedForces,
        ],
    },
    SchemeEntry {
        name: "anitescu-potra",
        summary: "linearly implicit velocity scheme, always solvable, polyhedral or exact cone, Poisson's compression and decompression at impacts",
        accepts: &[
            Feature::Mechanics,
            Feature::Constraints,
            Feature::Restitution,
            Feature::Friction,
            Feature::TangentialRestitution,
            Feature::VariableFriction,
            Feature::Rolling,
            Feature::DetectedContacts,
            Feature::MovingObstacles,
            Feature::PlanarContacts,
            Feature::BoundedForces,
            Feature::ImpactLaws,
        ],
    },
    SchemeEntry {
        name: "lotstedt",
        summary: "Lötstedt's Adams–Bashforth/BDF 1 or 2 with complementarity on velocities: second order between impacts",
        accepts: &[Feature::Mechanics, Feature::Constraints, Feature::Restitution, Feature::Friction],
    },
    SchemeEntry {
        name: "nonsmooth-alpha",
        summary: "generalized-α with impulses split off, velocity level or position and velocity levels (GGL): second order between impacts, flexible mechanisms",
        accepts: &[Feature::Mechanics, Feature::Constraints, Feature::Restitution, Feature::Friction],
    },
    SchemeEntry {
        name: "d1-minus",
        summary: "time-discontinuous Galerkin, half-explicit: contact forces and impacts separated, second order between impacts",
        accepts: &[Feature::Mechanics, Feature::Constraints, Feature::Restitution, Feature::Friction],
    },
    SchemeEntry {
        name: "prox",
        summary: "half-explicit Euler with the laws as proximal points, solved by fixed-point iterations (augmented Lagrangian) of Förg, Pfeiffer and Ulbrich",
        accepts: &[
            Feature::Mechanics,
            Feature::Constraints,
            Feature::Restitution,
            Feature::Friction,
            Feature::TangentialRestitution,
            Feature::Rolling,
            Feature::DetectedContacts,
        ],
    },
    SchemeEntry {
        name: "euler-moreau",
        summary: "first-order systems: implicit θ–γ scheme, relays without chattering, catching-up on sweeping processes; linear systems factored once; mixed models in one problem; the default there",
        accepts: &[
            Feature::FirstOrder,
            Feature::Mechanics,
            Feature::Constraints,
            Feature::Restitution,
            Feature::Friction,
            Feature::DetectedContacts,
            Feature::PlanarContacts,
            Feature::BoundedForces,
        ],
    },
    SchemeEntry {
        name: "zero-order-hold",
        summary: "linear first-order systems, exact by the matrix exponential while inputs and multipliers are constant: sampled control",
        accepts: &[Feature::FirstOrder],
    },
];

impl SchemeParams {
    /// All schemes with their default settings.
    #[must_use]
    pub fn all() -> Vec<SchemeParams> {
        vec![
            SchemeParams::MoreauJean(MoreauJeanParams::default()),
            SchemeParams::MoreauGap(MoreauGapParams::default()),
            SchemeParams::MoreauMidpoint(MoreauMidpointParams::default()),
            SchemeParams::ThetaGap(ThetaGapParams::default()),
            SchemeParams::DirectProjection(DirectProjectionParams::default()),
            SchemeParams::CombinedProjection(CombinedProjectionParams::default()),
            SchemeParams::SchatzmanPaoli(SchatzmanPaoliParams::default()),
            SchemeParams::StewartTrinkle(StewartTrinkleParams::default()),
            SchemeParams::AnitescuPotra(AnitescuPotraParams::default()),
            SchemeParams::Lotstedt(LotstedtParams::default()),
            SchemeParams::NonsmoothAlpha(NonsmoothAlphaParams::default()),
            SchemeParams::D1Minus(D1MinusParams::default()),
            SchemeParams::Prox(ProxParams::default()),
            SchemeParams::EulerMoreau(EulerMoreauParams::default()),
            SchemeParams::ZeroOrderHold(ZeroOrderHoldParams::default()),
        ]
    }

    /// The scheme with these settings.
    #[must_use]
    pub fn build(&self) -> Box<dyn Scheme> {
        match *self {
            SchemeParams::MoreauJean(params) => Box::new(MoreauJean { params }),
            SchemeParams::MoreauGap(params) => Box::new(MoreauGap { params }),
            SchemeParams::MoreauMidpoint(params) => Box::new(MoreauMidpoint { params }),
            SchemeParams::ThetaGap(params) => Box::new(ThetaGap { params }),
            SchemeParams::DirectProjection(params) => Box::new(DirectProjection { params }),
            SchemeParams::CombinedProjection(params) => Box::new(CombinedProjection { params }),
            SchemeParams::SchatzmanPaoli(params) => Box::new(SchatzmanPaoli { params }),
            SchemeParams::StewartTrinkle(params) => Box::new(StewartTrinkle { params }),
            SchemeParams::AnitescuPotra(params) => Box::new(AnitescuPotra { params }),
            SchemeParams::Lotstedt(params) => Box::new(Lotstedt { params }),
            SchemeParams::NonsmoothAlpha(params) => Box::new(NonsmoothAlpha { params }),
            SchemeParams::D1Minus(params) => Box::new(D1Minus { params }),
            SchemeParams::Prox(params) => Box::new(Prox { params }),
            SchemeParams::EulerMoreau(params) => Box::new(EulerMoreau { params }),
            SchemeParams::ZeroOrderHold(_) => Box::new(ZeroOrderHold),
        }
    }

    /// Checks the ranges of the settings.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the setting.
    pub fn validate(&self) -> Result<(), ModelError> {
        match self {
            SchemeParams::MoreauJean(params) => params.validate(),
            SchemeParams::MoreauGap(params) => params.validate(),
            SchemeParams::MoreauMidpoint(params) => params.validate(),
            SchemeParams::ThetaGap(params) => params.validate(),
            SchemeParams::DirectProjection(params) => params.validate(),
            SchemeParams::CombinedProjection(params) => params.validate(),
            SchemeParams::SchatzmanPaoli(params) => params.validate(),
            SchemeParams::StewartTrinkle(params) => params.validate(),
            SchemeParams::AnitescuPotra(params) => params.validate(),
            SchemeParams::Lotstedt(params) => params.validate(),
            SchemeParams::NonsmoothAlpha(params) => params.validate(),
            SchemeParams::D1Minus(params) => params.validate(),
            SchemeParams::Prox(params) => params.validate(),
            SchemeParams::EulerMoreau(params) => params.validate(),
            SchemeParams::ZeroOrderHold(_) => Ok(()),
        }
    }

    /// Its entry in [`SCHEMES`].
    #[must_use]
    pub fn entry(&self) -> &'static SchemeEntry {
        let place = match self {
            SchemeParams::MoreauJean(_) => 0,
            SchemeParams::MoreauGap(_) => 1,
            SchemeParams::MoreauMidpoint(_) => 2,
            SchemeParams::ThetaGap(_) => 3,
            SchemeParams::DirectProjection(_) => 4,
            SchemeParams::CombinedProjection(_) => 5,
            SchemeParams::SchatzmanPaoli(_) => 6,
            SchemeParams::StewartTrinkle(_) => 7,
            SchemeParams::AnitescuPotra(_) => 8,
            SchemeParams::Lotstedt(_) => 9,
            SchemeParams::NonsmoothAlpha(_) => 10,
            SchemeParams::D1Minus(_) => 11,
            SchemeParams::Prox(_) => 12,
            SchemeParams::EulerMoreau(_) => 13,
            SchemeParams::ZeroOrderHold(_) => 14,
        };
        &SCHEMES[place]
    }
}

/// Refuses a model that asks for what a scheme cannot do.
///
/// # Errors
/// [`ModelError::SchemeRefuses`], with the schemes that can.
pub fn check_scheme(entry: &SchemeEntry, model: &Model) -> Result<(), ModelError> {
    if entry.accepts.contains(&Feature::FirstOrder) && model.first_order().is_none() {
        let able = SCHEMES.iter().filter(|other| !other.accepts.contains(&Feature::FirstOrder)).map(|other| other.name);
        return Err(ModelError::SchemeRefuses {
            scheme: entry.name,
            feature: "models without a first-order part",
            by: "the model".into(),
            alternatives: able.collect::<Vec<_>>().join(", "),
        });
    }
    for (feature, by) in features(model) {
        if !entry.accepts.contains(&feature) {
            let able = SCHEMES.iter().filter(|other| other.accepts.contains(&feature)).map(|other| other.name);
            return Err(ModelError::SchemeRefuses {
                scheme: entry.name,
                feature: feature.words(),
                by,
                alternatives: able.collect::<Vec<_>>().join(", "),
            });
        }
    }
    check_impact_law(model)
}

/// Refuses a model that the scheme with these settings cannot follow: a relative degree, a system that is not linear.
///
/// # Errors
/// As [`check_scheme`]; [`ModelError`] of the first-order part.
pub fn check_settings(params: &SchemeParams, model: &Model, state: &State) -> Result<(), ModelError> {
    check_scheme(params.entry(), model)?;
    let alone = model.first_order().filter(|set| !set.is_coupled());
    let degrees = |weights: (f64, f64)| alone.map_or(Ok(()), |set| crate::first_order::require_degrees(set, state, weights));
    match params {
        SchemeParams::EulerMoreau(params) => {
            euler_moreau::check_explicit(params, model)?;
            euler_moreau::check_mixed(params, model)?;
            degrees((params.theta, params.gamma))
        }
        SchemeParams::ZeroOrderHold(_) => {
            zero_order_hold::check_linear(model)?;
            degrees((1.0, 1.0))
        }
        _ => Ok(()),
    }
}

/// Refuses an impact law with settings out of range, and contacts with coefficients that it does not know.
fn check_impact_law(model: &Model) -> Result<(), ModelError> {
    let law = model.impact_law();
    law.validate()?;
    let refuse = |by: String| Err(ModelError::ImpactLawRefuses { law: law.name(), by });
    for interaction in model.interactions() {
        if interaction.law().contact().is_some_and(|contact| !law.knows(contact)) {
            return refuse(format!("\"{}\"", interaction.name()));
        }
    }
    if model.detector().is_some_and(|detector| detector.laws().iter().any(|contact| !law.knows(contact))) {
        return refuse("the materials".to_owned());
    }
    Ok(())
}

/// What a model asks for, each with the name of an interaction that does.
fn features(model: &Model) -> Vec<(Feature, String)> {
    let mut found: Vec<(Feature, String)> = Vec::new();
    let mut add = |feature: Feature, by: &str| {
        if !found.iter().any(|(other, _)| *other == feature) {
            found.push((feature, by.to_owned()));
        }
    };
    if !model.systems().velocities().is_empty() {
        add(Feature::Mechanics, "the coordinates");
    }
    if model.first_order().is_some() {
        add(Feature::FirstOrder, "[first_order]");
    }
    for interaction in model.interactions() {
        let name = format!("\"{}\"", interaction.name());
        match interaction.law() {
            Law::Bilateral => add(Feature::Constraints, &name),
            Law::Bounded(_) => add(Feature::BoundedForces, &name),
            Law::Contact(law) => of_contact(law).for_each(|feature| add(feature, &name)),
        }
    }
    if model.detector().is_some() {
        add(Feature::DetectedContacts, "the shapes");
    }
    if model.detector().is_some_and(ContactDetector::obstacles_move) {
        add(Feature::MovingObstacles, "the motion of an obstacle");
    }
    if model.planar_detector().is_some() {
        add(Feature::PlanarContacts, "the planar shapes");
    }
    model.collider_laws().iter().flat_map(of_contact).for_each(|feature| add(feature, "the materials"));
    if model.impact_law().is_separate() {
        add(Feature::ImpactLaws, "[impact]");
    }
    found
}

fn of_contact(law: &ContactLaw) -> impl Iterator<Item = Feature> + use<> {
    let elastic = !matches!(law.restitution, Restitution::Constant { coefficient: 0.0 });
    [
        (elastic, Feature::Restitution),
        (!law.friction.is_none(), Feature::Friction),
        (law.tangential_restitution > 0.0, Feature::TangentialRestitution),
        (matches!(law.friction, Friction::StaticKinetic { .. } | Friction::Stribeck { .. }), Feature::VariableFriction),
        (law.rolling > 0.0 || law.spinning > 0.0, Feature::Rolling),
        (law.cohesion != Cohesion::None, Feature::Cohesion),
    ]
    .into_iter()
    .filter_map(|(has, feature)| has.then_some(feature))
}
