//! Random formulas and random text.

use carom_dynamics::formula::Tape;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::Setting;

/// A random expression that can be written as a formula and computed without the library.
#[derive(Clone, Debug)]
enum Tree {
    X,
    Y,
    Number(f64),
    Call(usize, Vec<Tree>),
}

type Operation = (&'static str, usize, fn(&[f64]) -> f64);

/// Smooth on all reals but for kinks; `A`, `B`, `C`, `D` stand for the operands.
const OPERATIONS: &[Operation] = &[
    ("(A + B)", 2, |v| v[0] + v[1]),
    ("(A - B)", 2, |v| v[0] - v[1]),
    ("(A * B)", 2, |v| v[0] * v[1]),
    ("(A / (1 + B^2))", 2, |v| v[0] / (1.0 + v[1] * v[1])),
    ("(-A)", 1, |v| -v[0]),
    ("A^2", 1, |v| v[0] * v[0]),
    ("A^3", 1, |v| v[0] * v[0] * v[0]),
    ("(2 + sin(A))^-2", 1, |v| (2.0 + v[0].sin()).powi(-2)),
    ("(1 + A^2)^(B/4)", 2, |v| (1.0 + v[0] * v[0]).powf(v[1] / 4.0)),
    ("(1 + A^2)^0.7", 1, |v| (1.0 + v[0] * v[0]).powf(0.7)),
    ("sin(A)", 1, |v| v[0].sin()),
    ("cos(A)", 1, |v| v[0].cos()),
    ("tan(sin(A))", 1, |v| v[0].sin().tan()),
    ("asin(sin(A)/2)", 1, |v| (v[0].sin() / 2.0).asin()),
    ("acos(sin(A)/2)", 1, |v| (v[0].sin() / 2.0).acos()),
    ("atan(A)", 1, |v| v[0].atan()),
    ("atan2(A, 1 + B^2)", 2, |v| v[0].atan2(1.0 + v[1] * v[1])),
    ("sinh(A)", 1, |v| v[0].sinh()),
    ("cosh(A)", 1, |v| v[0].cosh()),
    ("tanh(A)", 1, |v| v[0].tanh()),
    ("exp(A)", 1, |v| v[0].exp()),
    ("ln(1 + A^2)", 1, |v| (1.0 + v[0] * v[0]).ln()),
    ("log10(2 + cos(A))", 1, |v| (2.0 + v[0].cos()).log10()),
    ("sqrt(1 + A^2)", 1, |v| (1.0 + v[0] * v[0]).sqrt()),
    ("hypot(A, 1 + B^2)", 2, |v| v[0].hypot(1.0 + v[1] * v[1])),
    ("abs(A)", 1, |v| v[0].abs()),
    ("min(A, B)", 2, |v| v[0].min(v[1])),
    ("max(A, B)", 2, |v| v[0].max(v[1])),
    ("clamp(A, -1, 1)", 1, |v| v[0].clamp(-1.0, 1.0)),
    ("if(A < B, C, D)", 4, |v| if v[0] < v[1] { v[2] } else { v[3] }),
    ("if(A > 0 and not B >= 1, C, D)", 4, |v| if v[0] > 0.0 && v[1] < 1.0 { v[2] } else { v[3] }),
    ("sign(A)*B", 2, |v| if v[0] == 0.0 { 0.0 } else { v[0].signum() * v[1] }),
    ("(step(A) + B)", 2, |v| v[1] + if v[0] >= 0.0 { 1.0 } else { 0.0 }),
];

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::X => "x".to_owned(),
            Tree::Y => "y".to_owned(),
            Tree::Number(x) => x.to_string(),
            Tree::Call(operation, operands) => {
                let texts: Vec<String> = operands.iter().map(Tree::text).collect();
                let letters = OPERATIONS[*operation].0.chars();
                letters
                    .map(|c| match c {
                        'A'..='D' => format!("({})", texts[usize::from(c as u8 - b'A')]),
                        other => other.to_string(),
                    })
                    .collect()
            }
        }
    }

    /// The value; `peak` becomes the largest magnitude on the way.
    fn value(&self, x: f64, y: f64, peak: &mut f64) -> f64 {
        let value = match self {
            Tree::X => x,
            Tree::Y => y,
            Tree::Number(number) => *number,
            Tree::Call(operation, operands) => {
                let values: Vec<f64> = operands.iter().map(|e| e.value(x, y, peak)).collect();
                (OPERATIONS[*operation].2)(&values)
            }
        };
        *peak = if value.is_finite() { peak.max(value.abs()) } else { f64::INFINITY };
        value
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => Just(Tree::X),
        2 => Just(Tree::Y),
        1 => (-8_i32..=8).prop_map(|n| Tree::Number(f64::from(n) / 4.0)),
    ];
    (0..3).fold(leaf.clone().boxed(), |inner, _| {
        let call = (0..OPERATIONS.len()).prop_flat_map(move |operation| {
            prop::collection::vec(inner.clone(), OPERATIONS[operation].1).prop_map(move |operands| Tree::Call(operation, operands))
        });
        prop_oneof![1 => leaf.clone(), 5 => call].boxed()
    })
}

/// Central differences of three steps, extrapolated twice; an estimate of the error, which is large where the slopes to
/// the left and to the right differ as they do at a kink.
fn difference(f: impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let [coarse, middle, fine] = [4e-3, 2e-3, 1e-3].map(central);
    let (first, second) = ((4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0);
    let best = (16.0 * second - first) / 15.0;
    // a smooth function's one-sided slopes differ in proportion to the step, a kinked one's do not
    let gap = |h: f64| (f(x + h) - 2.0 * f(x) + f(x - h)).abs() / h;
    let kink = if gap(1e-3) > 0.7 * gap(4e-3) { gap(1e-3) } else { 0.0 };
    (best, (best - second).abs() + (second - first).abs() + kink)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, rng_seed: RngSeed::Fixed(20_261_115), failure_persistence: None, ..ProptestConfig::default() })]

    /// Values, first and second derivatives of random expressions.
    ///
    /// With all magnitudes below 100 an operation amplifies errors by at most about 100, the nested
    /// ones (three levels, up to two deep each) by far less than 1e8 in all, seen from 1e-16: values agree to 1e-8. A difference quotient adds its own
    /// error estimate (in full, though extrapolation is better) and that of the values, typically
    /// 1e-14, over the step. Points so near a kink or jump that the estimate is poor are left out.
    #[test]
    fn random_expressions(tree in trees(), x in -2.0..2.0_f64, y in -2.0..2.0_f64) {
        let mut peak = 1.0;
        let expected = tree.value(x, y, &mut peak);
        prop_assume!(peak < 100.0);
        let text = tree.text();
        let mut setting = Setting::new();
        let e = setting.read(&text);
        let value = setting.value(e, x, y);
        prop_assert!((value - expected).abs() < 1e-8, "{text}: {value} for {expected}");

        let slope = setting.graph.derivative(e, setting.x);
        let (numeric, error) = difference(|x| tree.value(x, y, &mut 1.0), x);
        prop_assume!(error < 1e-3 * (1.0 + numeric.abs()));
        let symbolic = setting.value(slope, x, y);
        prop_assert!((symbolic - numeric).abs() < error + 1e-8 * peak, "{text}: {symbolic} for {numeric}");

        for variable in [setting.x, setting.y] {
            let second = setting.graph.derivative(slope, variable);
            let along = |s: f64| {
                if variable == setting.x { setting.value(slope, s, y) } else { setting.value(slope, x, s) }
            };
            let (numeric, error) = difference(along, if variable == setting.x { x } else { y });
            prop_assume!(error < 1e-3 * (1.0 + numeric.abs()));
            let symbolic = setting.value(second, x, y);
            // Slopes can exceed the values by the amplification above.
            let scale = peak + numeric.abs() + setting.value(slope, x, y).abs();
            prop_assert!((symbolic - numeric).abs() < error + 1e-8 * scale, "{text}: {symbolic} for {numeric}");
        }
    }

    /// Printing loses nothing.
    #[test]
    fn printed_expressions_parse_to_themselves(tree in trees()) {
        let mut setting = Setting::new();
        let e = setting.read(&tree.text());
        let slope = setting.graph.derivative(e, setting.x);
        for e in [e, slope] {
            let printed = setting.graph.to_string(e);
            let is_finite = !printed.contains("inf") && !printed.contains("NaN");
            if is_finite && !printed.ends_with("...") {
                let again = setting.read(&printed);
                prop_assert_eq!(again, e, "{}", printed);
            }
        }
    }

    /// Any text is read or refused with a span inside it.
    #[test]
    fn arbitrary_text_is_safe(text in "\\PC{0,60}") {
        check_safety(&text)?;
    }

    /// As before with text that looks like formulas.
    #[test]
    fn token_soup_is_safe(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        check_safety(&words.concat())?;
        check_safety(&words.join(" "))?;
    }
}

const WORDS: &[&str] = &[
    "x", "y", "ball.x", "ball.", "pi", "(", ")", "(", ")", ",", "+", "-", "*", "/", "^", "**", "<", "<=", "==", "!=", "!", "and", "or",
    "not", "&&", "||", "sin(", "if(", "max(", "clamp(", "pow(", "1", "0", "2.5", ".5", "1e", "1e-3", "1e308", ".", "=", "\u{3c0}", "log(",
    "exp(",
];

fn check_safety(text: &str) -> Result<(), TestCaseError> {
    let mut setting = Setting::new();
    match setting.parse(text) {
        Ok(e) => {
            let slope = setting.graph.derivative(e, setting.x);
            let inputs = [setting.x, setting.y, setting.ball];
            prop_assert!(Tape::compile(&setting.graph, &inputs, &[e, slope]).is_ok());
        }
        Err(error) => {
            prop_assert!(error.span.start <= error.span.end && text.get(error.span.clone()).is_some());
            prop_assert!(!error.to_string().is_empty());
        }
    }
    Ok(())
}
