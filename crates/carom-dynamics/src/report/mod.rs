//! What a run reports: plain data that every module may read, and that knows no other module.

mod adaptive;
mod contact_mode;
mod energy;
mod event;
mod located;
mod step;
mod violations;

pub use adaptive::AdaptiveReport;
pub use contact_mode::ContactMode;
pub use energy::Energy;
pub use event::{Event, EventKind};
pub use located::EventReport;
pub(crate) use step::report_worse;
pub use step::{ImpactReport, ProjectionReport, StepReport};
pub use violations::Violations;
