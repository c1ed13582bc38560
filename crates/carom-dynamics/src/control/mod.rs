//! Control: sensors, controllers with discrete or continuous state and modes, actuators.
//!
//! Everything a controller remembers is a *held value*: a coordinate that nothing moves between samples ([`HeldValues`]). Held values lie at the end of q, so
//! that every strategy carries, restores and records them as any other coordinate, and every formula of the model may use them: `sensor.NAME`,
//! `control.NAME.OUTPUT`, `control.NAME.mode`, `actuator.NAME`.
//!
//! ```text
//! sensor       s_k = h(t_k, q, v, x, y, λ), quantised, noisy, arriving τ later         t_k = phase + k period
//! controller   u_k = k(t_k, s, ξ_k),  ξ_{k+1} = f(t_k, s, ξ_k, u_k)                    sampled, or u = k(t, q, v, ξ), ξ̇ = f in continuous time
//! modes        in mode m, when a guard holds: m := m', ξ := reset                      a hybrid automaton
//! actuator     F_j = clamp(u, lower, upper), or an input of a first-order system       held between samples when u is
//! ```
//!
//! **Sample instants** fall anywhere. Time-stepping shortens steps so that they end there; smooth and located motion stop and restart there. Between samples a step sees
//! constant held values, so that it can be tried again; they change in `ControlSet::sample` and `ControlSet::after_step` only.
//!
//! **Order at one instant**: delayed measurements arrive, sensors measure, laws that use the model's equations act, controllers act in the order of their dependence (outputs first, with the
//! states of before; then the states), actuators are set. A circle of outputs has no order: it is an algebraic loop and refused.
//!
//! | file | what it holds |
//! |---|---|
//! | `source.rs` | what a user gives |
//! | `clock.rs`, `held_values.rs` | sample instants; the coordinates that remember |
//! | `ready/` | PID, sliding modes, twisting, observers, written as controllers by formula |
//! | `model_based.rs` | computed torque, Slotine–Li; sampled, or evaluated wherever forces are |
//! | `order.rs` | who uses whose outputs; algebraic loops |
//! | `signals.rs`, `compile.rs` | names and tapes |
//! | `sensor.rs`, `automaton.rs`, `contact_sensor.rs`, `set.rs` | what happens at instants |
//! | `actuation.rs`, `joint_actuation.rs` | forces |
//! | `first_order_part.rs` | continuous states and set-valued laws, in the first-order part |

mod actuation;
mod automaton;
mod clock;
mod compile;
mod contact_sensor;
mod first_order_part;
mod held_values;
mod joint_actuation;
mod model_based;
mod order;
pub mod ready;
mod sensor;
mod set;
mod signals;
mod source;

pub use clock::Clock;
pub(crate) use compile::{Plant, compile};
pub use held_values::HeldValues;
pub use joint_actuation::JointEffort;
pub use model_based::{ModelBasedKind, ModelBasedSource};
pub(crate) use set::{AtInstant, ControlWork};
pub use set::{ControlSet, Sight};
pub use source::{
    ActuatorSource, ActuatorTarget, ContactSensorSource, ControlSource, ControllerSource, ModeSource, SensorSource, SetValuedSource,
    StateSource, TransitionSource,
};
