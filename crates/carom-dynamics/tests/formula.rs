//! Formulas from text to numbers.

mod random;

use carom_dynamics::formula::{
    Expr, FormulaError, FormulaErrorKind, Graph, MAX_BYTES, MAX_DEPTH, MAX_NODES, Scope, Tape, TapeError, parse,
};

/// A graph with the variables x, y and `ball.x`.
struct Setting {
    graph: Graph,
    scope: Scope,
    x: Expr,
    y: Expr,
    ball: Expr,
}

impl Setting {
    fn new() -> Self {
        let mut graph = Graph::new();
        let [x, y, ball] = ["x", "y", "ball.x"].map(|name| graph.symbol(name));
        let mut scope = Scope::new();
        scope.symbol("x", x).symbol("y", y).symbol("ball.x", ball);
        scope.constant("mass", 2.5);
        Setting { graph, scope, x, y, ball }
    }

    fn parse(&mut self, text: &str) -> Result<Expr, FormulaError> {
        parse(&mut self.graph, text, &self.scope)
    }

    fn read(&mut self, text: &str) -> Expr {
        self.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// The value at x, y, with `ball.x` = 7.
    fn value(&self, e: Expr, x: f64, y: f64) -> f64 {
        let tape = Tape::compile(&self.graph, &[self.x, self.y, self.ball], &[e]).unwrap();
        evaluate(&tape, &[x, y, 7.0])[0]
    }

    /// The text of the derivative with respect to x.
    fn slope_text(&mut self, text: &str) -> String {
        let e = self.read(text);
        let slope = self.graph.derivative(e, self.x);
        self.graph.to_string(slope)
    }
}

fn evaluate(tape: &Tape, inputs: &[f64]) -> Vec<f64> {
    let mut outputs = vec![0.0; tape.n_outputs()];
    tape.evaluate(inputs, &mut Vec::new(), &mut outputs);
    outputs
}

type Reference = fn(f64, f64) -> f64;

const VALUES: &[(&str, Reference)] = &[
    ("1.5", |_, _| 1.5),
    (".5 + 1. + 1e-3 + 2.5E+4", |_, _| 25001.501),
    ("x - y - 1", |x, y| x - y - 1.0),
    ("x / y / 3", |x, y| x / y / 3.0),
    ("x + y * 2 ^ 3", |x, y| x + y * 8.0),
    ("-x^2", |x, _| -(x * x)),
    ("(-x)**2", |x, _| x * x),
    ("2^-1 + x*-y", |x, y| 0.5 - x * y),
    ("2^3^2 - +x", |x, _| 512.0 - x),
    ("--x", |x, _| x),
    ("ball.x * mass * pi", |_, _| 7.0 * 2.5 * std::f64::consts::PI),
    ("x^7 + x^-3 + x^-1", |x, _| x.powi(7) + x.powi(-3) + 1.0 / x),
    ("x^40 + x^1.5 + x^0.5", |x, _| x.powi(40) + x.powf(1.5) + x.sqrt()),
    ("x^y + pow(2, x)", |x, y| x.powf(y) + 2f64.powf(x)),
    ("sin(x) + cos(x) * tan(y)", |x, y| x.sin() + x.cos() * y.tan()),
    ("asin(x/9) + acos(x/9) * atan(y)", |x, y| (x / 9.0).asin() + (x / 9.0).acos() * y.atan()),
    ("atan2(y, x) - hypot(x, y)", |x, y| y.atan2(x) - x.hypot(y)),
    ("sinh(x) + cosh(x) + tanh(y)", |x, y| x.sinh() + x.cosh() + y.tanh()),
    ("exp(x) + ln(x) + log10(x)", |x, _| x.exp() + x.ln() + x.log10()),
    ("sqrt(x) * abs(y)", |x, y| x.sqrt() * y.abs()),
    ("sign(y) + sign(x - x)", |_, y| y.signum()),
    ("step(y) + step(0) + step(-1)", |_, y| 1.0 + if y >= 0.0 { 1.0 } else { 0.0 }),
    ("min(x, y, 1) + max(x, y, -1)", |x, y| x.min(y).min(1.0) + x.max(y).max(-1.0)),
    ("clamp(y, -1, 1)", |_, y| y.clamp(-1.0, 1.0)),
    ("if(x > y, x, y)", |x, y| x.max(y)),
    ("if(y < 0, sqrt(y), 2)", |_, y| if y < 0.0 { y.sqrt() } else { 2.0 }),
    ("(x < y) + 2*(x <= y) + 4*(x > y) + 8*(x >= y)", |x, y| if x < y { 3.0 } else { 12.0 }),
    ("(x == x) + (x != y)", |_, _| 2.0),
    ("not x > y", |x, y| if x > y { 0.0 } else { 1.0 }),
    ("!x + y", |_, y| y),
    ("x > 0 and y > 0 or x > 1e9", |_, y| if y > 0.0 { 1.0 } else { 0.0 }),
    ("x > 0 && !(y > 0) || 0", |_, y| if y > 0.0 { 0.0 } else { 1.0 }),
];

#[test]
fn values_equal_those_of_rust() {
    let mut setting = Setting::new();
    for (text, reference) in VALUES {
        let e = setting.read(text);
        for (x, y) in [(0.3, 0.7), (1.7, -0.4), (2.0, 1.0), (5.5, 3.25)] {
            let (value, expected) = (setting.value(e, x, y), reference(x, y));
            // A few operations, regrouped by simplification and by powers as products.
            let tolerance = 1e-14 * (1.0 + expected.abs());
            let is_same = value.is_nan() && expected.is_nan();
            assert!(is_same || (value - expected).abs() <= tolerance, "{text} at {x}, {y}: {value} for {expected}");
        }
    }
}

#[test]
fn expressions_are_simplified() {
    let mut setting = Setting::new();
    for (text, simple) in [
        ("0 + x", "x"),
        ("1 * x / 1", "x"),
        ("0 * x + 2*3", "6"),
        ("x - x", "0"),
        ("-(-x)", "x"),
        ("x ^ 1 + x ^ 0", "1 + x"),
        ("x * x", "x^2"),
        ("x*x*x - y*x", "x^3 - x*y"),
        ("2*x + 3*x", "5*x"),
        ("2*(3*x)*y", "6*(x*y)"),
        ("x + -y", "x - y"),
        ("-x - y", "-(x + y)"),
        ("x / 4", "0.25*x"),
        ("6*x/3", "2*x"),
        ("sin(-x) + cos(-x)", "cos(x) - sin(x)"),
        ("y + x", "x + y"),
        ("if(1 < 2, x, y)", "x"),
    ] {
        let e = setting.read(text);
        assert_eq!(setting.graph.to_string(e), simple, "{text}");
    }
}

#[test]
fn derivatives_are_written_as_by_hand() {
    let mut setting = Setting::new();
    for (text, slope) in [
        ("x^5", "5*x^4"),
        ("x^-2", "-2*x^-3"),
        ("x^2.5", "2.5*x^1.5"),
        ("sin(2*x)", "2*cos(2*x)"),
        ("abs(x)", "sign(x)"),
        ("sign(x) + step(x) + (x < 1)", "0"),
        ("max(x, 3*y)", "if(3*y <= x, 1, 0)"),
        ("if(y < 1, x^2, y)", "if(y < 1, 2*x, 0)"),
        ("ln(x)", "1/x"),
        ("sqrt(x)", "1/(2*sqrt(x))"),
        ("y*exp(x)", "y*exp(x)"),
        ("2^x", "0.6931471805599453*2^x"),
    ] {
        assert_eq!(setting.slope_text(text), slope, "{text}");
    }
}

#[test]
fn derivatives_at_zero_are_numbers() {
    let mut setting = Setting::new();
    for (text, slope) in [
        ("x^2", 0.0),
        ("x^1.5", 0.0),
        ("x^y", 0.0),
        ("(x^2)^(1 + x)", 0.0),
        ("abs(x)", 0.0),
        ("max(0, x)", 0.0),
        ("min(x, 0)", 1.0),
        ("clamp(x, -1, 1)", 1.0),
        ("if(x > 0, sqrt(x), 3*x)", 3.0),
        ("if(x == 0, 5*x, sin(x)/x)", 5.0),
    ] {
        let e = setting.read(text);
        let derivative = setting.graph.derivative(e, setting.x);
        assert_eq!(setting.value(derivative, 0.0, 2.0), slope, "{text}");
    }
    // Exponent 0 at base 0: x^0 is flat.
    let e = setting.read("x^y");
    let derivative = setting.graph.derivative(e, setting.x);
    assert_eq!(setting.value(derivative, 0.0, 0.0), 0.0);
}

#[test]
fn undefined_values_are_passed_on_unless_not_chosen() {
    let mut setting = Setting::new();
    for (text, is_nan) in [
        ("min(1, ln(x))", true),
        ("min(ln(x), 1)", true),
        ("max(1, ln(x))", true),
        ("0/0 + 1", true),
        ("max(ln(x), 1)", true),
        ("if(x < 0, 1, ln(x))", false),
        ("if(x < 0, ln(x), 1)", true),
        ("sign(ln(x))", true),
    ] {
        let e = setting.read(text);
        assert_eq!(setting.value(e, -1.0, 0.0).is_nan(), is_nan, "{text}");
    }
}

#[test]
fn the_graph_answers_questions() {
    let mut setting = Setting::new();
    let e = setting.read("sin(x) * ball.x + 0*y");
    assert!(setting.graph.depends_on(e, &[setting.y, setting.ball]));
    assert!(!setting.graph.depends_on(e, &[setting.y]));
    assert_eq!(setting.graph.symbols_of(e), [setting.x, setting.ball]);
    assert_eq!(setting.graph.symbol("ball.x"), setting.ball);
    assert_eq!(setting.graph.symbol_name(setting.ball), Some("ball.x"));
    assert_eq!(setting.graph.symbol_name(e), None);
    let zero = setting.read("y - y");
    assert!(setting.graph.is_zero(zero) && !setting.graph.is_zero(e));
    assert_eq!(setting.graph.as_constant(zero), Some(0.0));
}

#[test]
fn faults_are_placed() {
    use FormulaErrorKind as Kind;
    type Check = fn(&Kind) -> bool;
    let cases: &[(&str, std::ops::Range<usize>, Check)] = &[
        ("", 0..0, |k| *k == Kind::Empty),
        ("  \t", 0..3, |k| *k == Kind::Empty),
        ("x +", 3..3, |k| matches!(k, Kind::UnexpectedEnd { .. })),
        ("x + * y", 4..5, |k| matches!(k, Kind::UnexpectedToken { found, .. } if found == "*")),
        ("2 x", 2..3, |k| matches!(k, Kind::UnexpectedToken { found, .. } if found == "x")),
        ("2x", 1..2, |k| matches!(k, Kind::UnexpectedToken { .. })),
        ("(x)(y)", 3..4, |k| matches!(k, Kind::UnexpectedToken { .. })),
        ("x)", 1..2, |k| matches!(k, Kind::UnexpectedToken { found, .. } if found == ")")),
        ("1,5", 1..2, |k| matches!(k, Kind::UnexpectedToken { found, .. } if found == ",")),
        ("y*(x + (1)", 2..3, |k| *k == Kind::UnclosedParenthesis),
        ("max(x, 1", 3..4, |k| *k == Kind::UnclosedParenthesis),
        ("max(x,)", 6..7, |k| matches!(k, Kind::UnexpectedToken { found, .. } if found == ")")),
        ("x < y < 1", 6..7, |k| *k == Kind::ChainedComparison),
        ("1 + not x", 4..7, |k| matches!(k, Kind::UnexpectedToken { .. })),
        ("x and or y", 6..8, |k| matches!(k, Kind::UnexpectedToken { .. })),
        ("x = y", 2..3, |k| matches!(k, Kind::UnexpectedCharacter { character: '=', hint: Some(_) })),
        ("x \u{2212} y", 2..5, |k| matches!(k, Kind::UnexpectedCharacter { hint: Some(_), .. })),
        ("x # y", 2..3, |k| matches!(k, Kind::UnexpectedCharacter { character: '#', hint: None })),
        ("ball. + 1", 4..5, |k| matches!(k, Kind::UnexpectedCharacter { character: '.', .. })),
        ("x + 1.2.3", 4..9, |k| matches!(k, Kind::BadNumber { text } if text == "1.2.3")),
        ("1e999", 0..5, |k| matches!(k, Kind::BadNumber { .. })),
        ("1e", 1..2, |k| matches!(k, Kind::UnexpectedToken { found, .. } if found == "e")),
        ("2*bal.x", 2..7, |k| {
            matches!(k, Kind::UnknownName { name, nearest: Some(n), known }
                if name == "bal.x" && n == "ball.x" && known.join(" ") == "ball.x mass pi x y")
        }),
        ("q", 0..1, |k| matches!(k, Kind::UnknownName { nearest: None, .. })),
        ("1 + sine(x)", 4..8, |k| matches!(k, Kind::UnknownFunction { nearest: Some(n), .. } if n == "sin")),
        ("log(x)", 0..3, |k| k.to_string().contains("`ln`") && k.to_string().contains("`log10`")),
        ("x(1)", 0..1, |k| matches!(k, Kind::NotAFunction { .. })),
        ("sin x", 0..3, |k| *k == Kind::MissingArguments { function: "sin" }),
        ("1 + sin()", 4..9, |k| matches!(k, Kind::WrongArgumentCount { found: 0, .. })),
        ("if(x, 1)", 0..8, |k| matches!(k, Kind::WrongArgumentCount { function: "if", found: 2, .. })),
        ("max(1)", 0..6, |k| k.to_string() == "`max` takes 2 or more arguments, not 1"),
        ("\0", 0..1, |k| matches!(k, Kind::UnexpectedCharacter { .. })),
    ];
    let mut setting = Setting::new();
    for (text, span, is_right) in cases {
        let error = setting.parse(text).expect_err(text);
        assert_eq!(error.span, *span, "{text:?}: {error}");
        assert!(is_right(&error.kind), "{text:?}: {error:?}");
        assert!(error.to_string().len() > 15, "{text:?}: {error}");
    }
    let text = "\u{e9} + 1";
    assert_eq!(setting.parse(text).unwrap_err().column(text), 1);
    let text = "2*bal.x";
    assert_eq!(setting.parse(text).unwrap_err().column(text), 3);
}

#[test]
fn sizes_are_limited() {
    use FormulaErrorKind as Kind;
    let mut setting = Setting::new();
    let parentheses = |n: usize| format!("{}x{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(setting.read(&parentheses(MAX_DEPTH)), setting.x);
    for (text, kind, start) in [
        (parentheses(MAX_DEPTH + 1), Kind::TooDeep { limit: MAX_DEPTH }, MAX_DEPTH),
        ("-".repeat(MAX_DEPTH + 1) + "x", Kind::TooDeep { limit: MAX_DEPTH }, MAX_DEPTH),
        ("x^".repeat(MAX_DEPTH + 1) + "x", Kind::TooDeep { limit: MAX_DEPTH }, 2 * MAX_DEPTH + 2),
        ("sin(".repeat(MAX_DEPTH + 1), Kind::TooDeep { limit: MAX_DEPTH }, 4 * MAX_DEPTH + 3),
        ("(".repeat(MAX_BYTES), Kind::TooDeep { limit: MAX_DEPTH }, MAX_DEPTH),
        ("x+".repeat(MAX_NODES / 2) + "x", Kind::TooLarge { limit: MAX_NODES }, MAX_NODES),
        (" ".repeat(MAX_BYTES) + "x", Kind::TooLong { limit: MAX_BYTES }, 0),
    ] {
        let error = setting.parse(&text).unwrap_err();
        assert_eq!((error.kind, error.span.start), (kind, start), "{}", &text[..20]);
    }
    // A sum of 2500 terms is within the limits.
    let long = "sin(x)+".repeat(1249) + "x";
    let e = setting.read(&long);
    assert!((setting.value(e, 1.0, 0.0) - (1249.0 * 1f64.sin() + 1.0)).abs() < 1e-9);
}

/// The parser recurses, so its deepest recursion must fit into small stacks.
#[test]
fn the_deepest_nesting_needs_little_stack() {
    let text = "1 or 1 and 1 < 1 + 1 * (".repeat(MAX_DEPTH) + "1" + &")".repeat(MAX_DEPTH);
    let parsing = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let mut setting = Setting::new();
        setting.parse(&text).is_ok()
    });
    assert!(parsing.unwrap().join().unwrap());
}

/// Nothing behind the parser recurses: 200 000 nested functions would overflow any stack.
#[test]
fn deep_expressions_need_no_stack() {
    let mut setting = Setting::new();
    let mut e = setting.x;
    for _ in 0..100_000 {
        e = setting.graph.call(carom_dynamics::formula::Function::Sin, &[e]);
        e = setting.graph.add(e, setting.y);
    }
    let slope = setting.graph.derivative(e, setting.x);
    assert!(setting.value(slope, 0.1, 0.2).is_finite());
    assert!(setting.graph.depends_on(slope, &[setting.x]));
    assert!(setting.graph.to_string(slope).ends_with("..."));
}

#[test]
fn inputs_of_a_tape_are_checked() {
    let mut setting = Setting::new();
    let e = setting.read("x + ball.x");
    let compile = |inputs: &[Expr]| Tape::compile(&setting.graph, inputs, &[e]).err();
    let (x, ball) = (setting.x, setting.ball);
    assert_eq!(compile(&[x]), Some(TapeError::MissingInput { name: "ball.x".into() }));
    assert_eq!(compile(&[x, ball, x]), Some(TapeError::DuplicateInput { name: "x".into() }));
    assert_eq!(compile(&[x, e]), Some(TapeError::InputIsNoSymbol { index: 1 }));
    assert_eq!(compile(&[ball, x]), None);
}

#[test]
fn outputs_may_be_inputs_constants_or_repeated() {
    let mut setting = Setting::new();
    let (three, square) = (setting.read("3"), setting.read("x^2"));
    let outputs = [setting.y, three, square, square, setting.x];
    let tape = Tape::compile(&setting.graph, &[setting.x, setting.y], &outputs).unwrap();
    assert_eq!(evaluate(&tape, &[4.0, 5.0]), [5.0, 3.0, 16.0, 16.0, 4.0]);
    let empty = Tape::compile(&setting.graph, &[], &[]).unwrap();
    assert_eq!((empty.n_registers(), evaluate(&empty, &[]).len()), (0, 0));
}

#[test]
fn shared_parts_are_computed_once() {
    let mut setting = Setting::new();
    for (text, n_instructions) in [
        ("sin(x) + cos(x)", 2),               // sin_cos, add
        ("(x+y)*(x+y)*(y+x)", 3),             // add, square, times base
        ("x^4 + x^2", 3),                     // one square serves both
        ("x*y + 2", 1),                       // fused
        ("x - x^2", 1),                       // fused
        ("x*y + x*y*2", 2),                   // 3*(x*y)
        ("if(x < y, exp(x*y), sin(x*y))", 5), // one product
        ("x^-2", 2),                          // square, reciprocal
    ] {
        let e = setting.read(text);
        let tape = Tape::compile(&setting.graph, &[setting.x, setting.y], &[e]).unwrap();
        assert_eq!(tape.n_instructions(), n_instructions, "{text}");
    }
}

/// A double pendulum with angles a, b from the vertical: tape of M (4), Coriolis terms (2) and the
/// gradient of the tip's height (2).
fn double_pendulum() -> Tape {
    let mut graph = Graph::new();
    let q = ["a", "b"].map(|name| graph.symbol(name));
    let v = ["da", "db"].map(|name| graph.symbol(name));
    let mut scope = Scope::new();
    scope.symbol("a", q[0]).symbol("b", q[1]).symbol("da", v[0]).symbol("db", v[1]);
    scope.constant("m1", 1.5).constant("m2", 0.7).constant("l1", 1.2).constant("l2", 0.9);
    let kinetic = parse(
        &mut graph,
        "m1*((l1*cos(a)*da)^2 + (l1*sin(a)*da)^2)/2 + m2*((l1*cos(a)*da + l2*cos(b)*db)^2 \
         + (l1*sin(a)*da + l2*sin(b)*db)^2)/2",
        &scope,
    )
    .unwrap();
    let tip = parse(&mut graph, "3 - l1*cos(a) - l2*cos(b)", &scope).unwrap();
    let mut mass = [[tip; 2]; 2];
    for i in 0..2 {
        let momentum = graph.derivative(kinetic, v[i]);
        for j in 0..2 {
            mass[i][j] = graph.derivative(momentum, v[j]);
        }
    }
    // c_i = sum over j, k of (dM_ij/dq_k - dM_jk/dq_i / 2) v_j v_k
    let mut coriolis = [graph.constant(0.0); 2];
    let half = graph.constant(0.5);
    for i in 0..2 {
        for j in 0..2 {
            for k in 0..2 {
                let first = graph.derivative(mass[i][j], q[k]);
                let second = graph.derivative(mass[j][k], q[i]);
                let second = graph.mul(half, second);
                let symbol = graph.sub(first, second);
                let velocities = graph.mul(v[j], v[k]);
                let term = graph.mul(symbol, velocities);
                coriolis[i] = graph.add(coriolis[i], term);
            }
        }
    }
    let gradient = q.map(|q| graph.derivative(tip, q));
    let [[m11, m12], [m21, m22]] = mass;
    let outputs = [m11, m12, m21, m22, coriolis[0], coriolis[1], gradient[0], gradient[1]];
    Tape::compile(&graph, &[q[0], q[1], v[0], v[1]], &outputs).unwrap()
}

#[test]
fn the_double_pendulum_equals_the_textbook_and_shares_its_parts() {
    let tape = double_pendulum();
    let (m1, m2, l1, l2) = (1.5, 0.7, 1.2, 0.9);
    let (a, b, da, db) = (0.4_f64, -1.1_f64, 0.8, -0.3);
    let coupling = m2 * l1 * l2;
    let (sin, cos) = (a - b).sin_cos();
    let expected = [
        (m1 + m2) * l1 * l1,
        coupling * cos,
        coupling * cos,
        m2 * l2 * l2,
        coupling * sin * db * db,
        -coupling * sin * da * da,
        l1 * a.sin(),
        l2 * b.sin(),
    ];
    for (value, expected) in evaluate(&tape, &[a, b, da, db]).iter().zip(expected) {
        // All quantities are of order 1, a few dozen roundings.
        assert!((value - expected).abs() < 1e-14, "{value} for {expected}");
    }
    // Snapshot: more means that sharing got worse.
    assert_eq!((tape.n_instructions(), tape.n_registers()), (35, 49));
}
