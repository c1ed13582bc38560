//! The first root of watched functions in a step, against roots known beforehand.

use carom_dynamics::RunError;
use carom_dynamics::events::{Location, LocationSettings, Search, Watched, first_event};
use carom_dynamics::systems::Sample;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

type Function<'f> = &'f dyn Fn(f64) -> f64;

/// Functions, their rates where given, one threshold.
struct Functions<'f> {
    list: Vec<(Function<'f>, Option<Function<'f>>)>,
    threshold: f64,
}

impl Watched for Functions<'_> {
    fn n(&self) -> usize {
        self.list.len()
    }

    fn sample(&mut self, t: f64, out: &mut [Sample]) -> Result<(), RunError> {
        for ((f, rate), out) in self.list.iter().zip(out) {
            *out = Sample { value: f(t), rate: rate.map(|rate| rate(t)) };
        }
        Ok(())
    }

    fn threshold(&self, _: usize) -> f64 {
        self.threshold
    }
}

fn search(list: Vec<(Function<'_>, Option<Function<'_>>)>, threshold: f64, samples: usize) -> Search {
    let settings = LocationSettings { time: 1e-13, samples, ..LocationSettings::default() };
    first_event(&mut Functions { list, threshold }, (0.0, 1.0), &settings).unwrap()
}

/// The event of one function with its rate, and without.
fn both(f: Function<'_>, rate: Function<'_>, threshold: f64, samples: usize) -> [Search; 2] {
    [search(vec![(f, Some(rate))], threshold, samples), search(vec![(f, None)], threshold, samples)]
}

fn time(search: &Search) -> f64 {
    search.event.as_ref().map_or_else(|| panic!("no event in {search:?}"), |event| event.t)
}

#[test]
fn the_first_of_several_roots_is_found() {
    let f = |t: f64| -(t - 0.2) * (t - 0.55) * (t - 0.9);
    // positive at the start: falls at 0.2
    let rate = |t: f64| -((t - 0.55) * (t - 0.9) + (t - 0.2) * (t - 0.9) + (t - 0.2) * (t - 0.55));
    for found in both(&|t| f(t), &rate, 1e-9, 8) {
        assert!((time(&found) - 0.2).abs() < 1e-15, "{found:?}");
        assert!(found.grazing.is_empty() && found.evaluations <= 9 + 1 + 10, "{found:?}");
    }
    assert_eq!(search(vec![(&|t| 1.0 + t, Some(&|_| 1.0))], 1e-9, 8).event, None);
}

#[test]
fn two_roots_between_samples_are_not_missed() {
    // (t − a)(t − a − d), d a thousandth and a millionth of the step, wherever they lie between the samples
    for distance in [1e-3, 1e-6] {
        for k in 0..40 {
            let a = 0.01 + 0.024 * f64::from(k);
            let f = |t: f64| (t - a) * (t - a - distance) * (1.0 + 0.5 * t);
            let rate = |t: f64| (2.0 * t - 2.0 * a - distance) * (1.0 + 0.5 * t) + 0.5 * (t - a) * (t - a - distance);
            for (with, found) in both(&f, &rate, 1e-15, 4).iter().enumerate() {
                // values have an error of about 1e-17 where the slope is d
                assert!((time(found) - a).abs() < 1e-15 + 1e-16 / distance, "{with}: a = {a}, d = {distance}: {found:?}");
            }
        }
    }
}

#[test]
fn double_roots_graze() {
    for k in 0..40 {
        let a = 0.01 + 0.0245 * f64::from(k);
        let f = |t: f64| (t - a) * (t - a) * (2.0 - t);
        let rate = |t: f64| 2.0 * (t - a) * (2.0 - t) - (t - a) * (t - a);
        for (with, found) in both(&f, &rate, 1e-12, 16).iter().enumerate() {
            assert_eq!(found.event, None, "{with}: a = {a}");
            assert_eq!(found.grazing.len(), 1, "{with}: a = {a}: {found:?}");
            // without rates the time has half of the digits
            assert!((found.grazing[0].t - a).abs() < [1e-12, 1e-8][with] && found.grazing[0].value.abs() <= 1e-12, "{with}: {found:?}");
        }
    }
    // a sample in the pit of a touch below zero
    let f = |t: f64| (t - 0.5) * (t - 0.5) - 1e-10;
    for found in both(&f, &|t| 2.0 * (t - 0.5), 1e-9, 4) {
        assert_eq!(found.event, None);
        assert!((found.grazing[0].t - 0.5).abs() < 1e-8, "{found:?}");
    }
    // and one that is deep enough
    for found in both(&f, &|t| 2.0 * (t - 0.5), 1e-11, 4) {
        assert!((time(&found) - 0.5 + 1e-5).abs() < 1e-11, "{found:?}");
    }
}

#[test]
fn touches_before_the_event_are_told() {
    let f = |t: f64| (t - 0.3) * (t - 0.3) * (0.8 - t);
    let rate = |t: f64| 2.0 * (t - 0.3) * (0.8 - t) - (t - 0.3) * (t - 0.3);
    for found in both(&f, &rate, 1e-12, 7) {
        assert!((time(&found) - 0.8).abs() < 1e-15 && found.grazing.len() == 1, "{found:?}");
    }
    // not those behind it
    let found = search(vec![(&f, Some(&rate)), (&|t| 0.25 - t, Some(&|_| -1.0))], 1e-12, 2);
    assert!(found.grazing.is_empty() && (time(&found) - 0.25).abs() < 1e-15, "{found:?}");
}

#[test]
fn several_functions_make_one_event() {
    let (a, b, c) = (|t: f64| 0.4 - t, |t: f64| 0.16 - t * t, |t: f64| 0.4 + 1e-9 - t);
    let found = search(vec![(&a, None), (&c, None), (&b, Some(&|t| -2.0 * t)), (&|_| 1.0, None)], 1e-12, 8);
    assert_eq!(found.event.as_ref().unwrap().functions, [0, 2]);
    assert!((time(&found) - 0.4).abs() < 1e-15);
    // on both sides of a sample
    let (a, b) = (|t: f64| 0.5 - 4e-14 - t, |t: f64| 0.5 + 4e-14 - t);
    let found = search(vec![(&a, Some(&|_| -1.0)), (&b, Some(&|_| -1.0))], 0.0, 2);
    assert_eq!(found.event.unwrap().functions, [0, 1]);
}

#[test]
fn starts_at_zero_are_no_events() {
    // after an impact, to round-off; after detachment
    for start in [-1e-17, 0.0, 1e-17, -5e-10, 5e-10] {
        for found in both(&|t| start + 3.0 * t - t * t, &|t| 3.0 - 2.0 * t, 1e-9, 4) {
            assert_eq!(found.event, None, "{start}: {found:?}");
        }
        for found in both(&|t| start + 0.5 * t * t, &|t| t, 1e-9, 4) {
            assert_eq!((found.event, found.grazing.len()), (None, 0), "{start}");
        }
        for found in both(&|_| start, &|_| 0.0, 1e-9, 4) {
            assert_eq!((found.event, found.grazing.len()), (None, 0), "{start}");
        }
    }
    // worse than round-off, and rising
    for found in both(&|t| -3e-9 + 0.5 * t * t, &|t| t, 1e-9, 4) {
        assert_eq!(found.event, None, "{found:?}");
    }
    // worse than round-off, and falling
    for found in both(&|t| -3e-9 - t, &|_| -1.0, 1e-9, 4) {
        assert_eq!(time(&found), 0.0);
    }
}

#[test]
fn hops_of_any_height_end_at_their_root() {
    // g = u t − 5 t²: height u²/20, root u/5
    for u in [1.0, 1e-2, 1e-4, 1e-5, 1e-7] {
        for start in [0.0, 1e-17, -1e-17] {
            for samples in [1, 4, 7] {
                let f = |t: f64| start + u * t - 5.0 * t * t;
                for (with, found) in both(&f, &|t| u - 10.0 * t, 1e-9, samples).iter().enumerate() {
                    // the start moves the root by start/u
                    let exact = u / 5.0 + start / u;
                    assert!((time(found) - exact).abs() < 1e-15 + 1e-17 / u, "u = {u}, start {start}, {samples}, {with}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn what_leaves_zero_downwards_is_not_lost() {
    // from above zero: at the root; from below: when −τ is passed
    for found in both(&|t| 5e-10 - t, &|_| -1.0, 1e-9, 4) {
        // times up to 1 have this round-off
        assert!((time(&found) - 5e-10).abs() < 1e-15, "{found:?}");
    }
    for found in both(&|t| -5e-10 - t * t, &|t| -2.0 * t, 1e-9, 4) {
        assert!((time(&found) - 5e-10_f64.sqrt()).abs() < 1e-12, "{found:?}");
    }
    // slowly, over many steps
    let f = |t: f64| 3e-9 - 1e-9 * t;
    let mut watched = Functions { list: vec![(&f, Some(&|_| -1e-9))], threshold: 1e-9 };
    let found = (0..10).find_map(|k| {
        let span = (f64::from(k) * 0.7, f64::from(k + 1) * 0.7);
        first_event(&mut watched, span, &LocationSettings::default()).unwrap().event
    });
    let t = found.unwrap().t;
    assert!((3.0..=4.0 + 1e-9).contains(&t), "{t}");
}

#[test]
fn indicators_are_bisected() {
    let f = |t: f64| if t < 0.123 { 1.0 } else { -1.0 };
    let found = search(vec![(&f, None), (&|t| 0.5 - t, None)], 0.0, 8);
    let event = found.event.unwrap();
    assert!(event.t >= 0.123 && event.t - 0.123 <= 1e-13 && event.functions == [0], "{event:?}");
    // 1/8 in 1e-13 parts: 41 halvings
    assert!(found.evaluations < 9 + 50, "{}", found.evaluations);
    // one that is already negative, and one that is back at the end of the step but seen by a sample
    assert_eq!(time(&search(vec![(&|_| -1.0, None)], 0.0, 8)), 0.0);
    let window = |t: f64| if (0.3..0.6).contains(&t) { -1.0 } else { 1.0 };
    assert!((time(&search(vec![(&window, None)], 0.0, 8)) - 0.3).abs() <= 1e-13);
}

#[test]
fn either_side_is_watched_from_where_a_function_is() {
    let sample = |value: f64, rate: Option<f64>| Sample { value, rate };
    for (value, rate, side) in
        [(2.0, Some(-1.0), 1.0), (-2.0, Some(1.0), -1.0), (1e-12, Some(-1.0), -1.0), (-1e-12, None, -1.0), (0.0, None, 1.0)]
    {
        assert_eq!(sample(value, rate).side(1e-9), side, "{value}, {rate:?}");
    }
    assert_eq!(sample(2.0, Some(-3.0)).scaled(-1.0), sample(-2.0, Some(3.0)));
}

#[test]
fn not_a_number_is_an_error() {
    let mut watched = Functions { list: vec![(&|t| (0.5 - t).sqrt() - 0.1, None)], threshold: 1e-9 };
    let error = first_event(&mut watched, (0.0, 1.0), &LocationSettings::default()).unwrap_err().to_string();
    assert!(error.contains("watched function 0") && error.contains("NaN"), "{error}");
}

#[test]
fn random_cubics_cross_where_their_factors_say() {
    let config = Config { cases: 2000, rng_seed: RngSeed::Fixed(6), failure_persistence: None, ..Config::default() };
    // three real roots, or one and a pair c ± i d
    let roots = prop_oneof![
        (-0.5..1.5, -0.5..1.5, -0.5..1.5, Just(true)),
        (-0.5..1.5, -0.5..1.5, 0.01..1.0, Just(false)),
        (-0.5..1.5, -0.5..1.5, 0.0001..0.01, Just(false)),
    ];
    let strategy = (roots, 0.1..10.0, any::<bool>());
    let run = TestRunner::new(config).run(&strategy, |((r, c, d, real), scale, with_rate): ((f64, f64, f64, bool), f64, bool)| {
        let (quadratic, slope) = (
            move |t: f64| if real { (t - c) * (t - d) } else { (t - c) * (t - c) + d * d },
            move |t: f64| if real { 2.0 * t - c - d } else { 2.0 * (t - c) },
        );
        let sign = f64::signum(-r * quadratic(0.0));
        let f = move |t: f64| sign * scale * (t - r) * quadratic(t);
        let rate = move |t: f64| sign * scale * (quadratic(t) + (t - r) * slope(t));
        let mut roots = if real { vec![r, c, d] } else { vec![r] };
        roots.retain(|t| (0.0..1.0).contains(t));
        roots.sort_by(f64::total_cmp);
        let threshold = 1e-12;
        // roots within the threshold of each other or of the start are for other tests
        // and so are three roots in one part of the step, or two where no rate is given
        let part = |t: f64| (8.0 * t).floor();
        let together = roots.windows(if with_rate { 3 } else { 2 }).any(|near| part(near[0]) == part(near[near.len() - 1]));
        let clear = !together && f(0.0) > 1e-9 && f(1.0).abs() > 1e-9 && roots.windows(2).all(|pair| pair[1] - pair[0] > 1e-5);
        prop_assume!(clear);
        let rates: Option<Function<'_>> = if with_rate { Some(&rate) } else { None };
        let found = search(vec![(&f, rates)], threshold, 8);
        match (roots.first(), &found.event) {
            (Some(first), Some(event)) => {
                let exact_to = 1e-13 + 1e-14 / rate(*first).abs();
                prop_assert!((event.t - first).abs() < exact_to, "{} instead of {first}, rate {}", event.t, rate(*first));
                prop_assert!(found.evaluations <= 9 + 45, "{} evaluations", found.evaluations);
            }
            (None, None) => {}
            other => prop_assert!(false, "{other:?}"),
        }
        Ok(())
    });
    run.unwrap();
}

/// Errors of a method on spans of length h around the root 0.7 of a smooth function.
fn errors(method: Location, precision: impl Fn(f64) -> f64, steps: &[f64]) -> Vec<f64> {
    let root = 0.7_f64;
    let f = |t: f64| (2.0 * root).sin().exp() - (2.0 * t).sin().exp() + 3.0 * (root - t);
    let rate = |t: f64| -2.0 * (2.0 * t).cos() * (2.0 * t).sin().exp() - 3.0;
    let errors = steps.iter().map(|&h| {
        let settings = LocationSettings { method, precision: precision(h), ..LocationSettings::default() };
        let mut watched = Functions { list: vec![(&f, Some(&rate))], threshold: 1e-9 };
        let found = first_event(&mut watched, (root - 0.37 * h, root + 0.63 * h), &settings).unwrap();
        (found.event.unwrap().t - root).abs()
    });
    errors.collect()
}

#[test]
fn interpolations_have_their_orders() {
    let steps = [0.1, 0.05, 0.025, 0.0125, 0.00625];
    for (method, order) in [(Location::Im1, 2.0), (Location::Im2, 3.0)] {
        let errors = errors(method, |_| 0.0, &steps);
        let measured = (errors[0] / errors[4]).log2() / 4.0;
        assert!((measured - order).abs() < 0.1, "{method:?}: order {measured}, {errors:?}");
    }
    let errors_of_bisection = errors(Location::Im3, |h| h.powi(4), &steps);
    assert!(errors_of_bisection.iter().zip(steps).all(|(error, h)| *error <= h.powi(4)), "{errors_of_bisection:?}");
    assert!(errors(Location::Bracketing, |_| 0.0, &steps).iter().all(|error| *error < 5e-16));
}

#[test]
fn interpolations_start_at_zero_too() {
    let f = |t: f64| 0.3 * t - 0.5 * t * t;
    let rate = |t: f64| 0.3 - t;
    for method in [Location::Im1, Location::Im2, Location::Im3] {
        let settings = LocationSettings { method, precision: 1e-10, ..LocationSettings::default() };
        let mut watched = Functions { list: vec![(&f, Some(&rate))], threshold: 1e-9 };
        assert_eq!(first_event(&mut watched, (0.0, 0.5), &settings).unwrap().event, None);
        let found = first_event(&mut watched, (0.0, 1.0), &settings).unwrap().event.unwrap();
        assert!((found.t - 0.6).abs() <= 1e-10, "{method:?}: {found:?}");
    }
}
