//! The challenge of Brogliato2002, §1: Andrews' mechanism with fifteen contacts with friction, by all strategies.

use crate::located::{Located, final_modes, print_events};
use crate::support::{distance, run_scheme};
use carom_dynamics::problems::seven_body_contacts;
use carom_dynamics::schemes::{MoreauJeanParams, SchemeParams};

#[test]
fn explore() {
    let (model, state) = seven_body_contacts::model().unwrap();
    let end: f64 = std::env::var("END").ok().and_then(|x| x.parse().ok()).unwrap_or(0.03);
    let a = Located::events(1e-9).try_run(&model, &state, end);
    match &a {
        Ok(done) => {
            print_events(done);
            println!("{:?} {:?}", done.state, final_modes(done));
        }
        Err(e) => println!("{e:?}"),
    }
    for how in [Located::events(1e-11), Located::events(1e-7), Located::hybrid(1e-9)] {
        match how.try_run(&model, &state, end) {
            Ok(done) => {
                let c = &done.certificate;
                println!("{:.12?} {:?} energy {:.1e} penetration {:.1e} {:?}", done.state.q, final_modes(&done), c.energy_error(), c.max_penetration, c.event_driven);
                if let Ok(a) = &a {
                    println!("difference {:.1e} {:.1e}", distance(&done.state.q, &a.state.q), distance(&done.state.v, &a.state.v));
                }
            }
            Err(e) => println!("{e:?}"),
        }
    }
    let h = 4e-6;
    let done = run_scheme(&model, &state, end, h, &SchemeParams::MoreauJean(MoreauJeanParams::default()));
    println!("{:?}", done.state.q);
}
