//! Memory of large models, reading the file and running included: 2 kB per body and 1 kB per contact.

use carom::Simulation;
use carom::dynamics::recording::NoRecorder;
use carom::dynamics::strategies::{Continue, Ending};

/// Grains in columns, apart by `gap` of their own size, above the floor of a wide vessel.
fn grains(n: usize, side: f64, gap: f64) -> String {
    format!(
        r#"
        [[generate]]
        kind = "container"
        size = [{side}, {side}, 50]
        [[generate]]
        kind = "packing"
        name = "grain"
        count = {n}
        seed = 1
        size = [{side}, {side}]
        pitch = {pitch}
        gap = {height}
        position = [0, 0, {height}]
        body = {{ shape = {{ kind = "sphere", radius = {{ min = 0.029, max = 0.03 }} }}, density = 2000 }}
        [simulation]
        end = 0.02
        step = 0.002
        "#,
        pitch = 0.0601 + gap,
        height = 0.0001 + gap,
    )
}

/// The most bytes in use at any time while the model is read and run, and the most contacts of a step.
fn measure(text: &str) -> (f64, f64) {
    // the counter counts for its own thread: all work is done here
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
    let mut contacts = 0;
    let counted = allocation_counter::measure(|| {
        pool.install(|| {
            let mut simulation = Simulation::from_text(text).unwrap();
            let outcome = simulation.run(&mut NoRecorder, &mut |_| Continue::Yes);
            assert!(matches!(outcome.ending, Ending::Finished));
            contacts = outcome.certificate.max_active;
        });
    });
    (counted.bytes_max as f64, contacts as f64)
}

/// What 2000 bodies more need: on a thread of its own, so that its pool ends with it.
fn of_two_thousand_more(gap: f64) -> (f64, f64) {
    let of = |n: usize| {
        // as many layers, twice as many columns
        let text = grains(n, (n as f64 / 10.0).sqrt() * (0.0602 + gap), gap);
        std::thread::spawn(move || measure(&text)).join().unwrap()
    };
    let (few, many) = (of(2000), of(4000));
    (many.0 - few.0, many.1 - few.1)
}

#[test]
fn bodies_in_flight_need_two_kilobytes_each() {
    let (bytes, contacts) = of_two_thousand_more(0.03);
    assert_eq!(contacts, 0.0);
    println!("{} bytes per body", bytes / 2000.0);
    assert!(bytes < 2000.0 * 2000.0, "{} bytes per body", bytes / 2000.0);
}

/// Beyond 2 kB per body; what the solver needs for bodies that touch (0.5 kB each) counts here as contacts.
#[test]
fn contacts_need_one_kilobyte_each() {
    let (bytes, contacts) = of_two_thousand_more(0.0);
    assert!(contacts > 1.5 * 2000.0, "{contacts} contacts");
    let per_contact = (bytes - 2000.0 * 2000.0) / contacts;
    println!("{per_contact} bytes per contact, {} contacts per body", contacts / 2000.0);
    assert!(per_contact < 1000.0, "{per_contact} bytes per contact");
}
