//! Circuits in model files: what they become, and their mistakes.

use carom_io::model_file::{ModelFile, ModelFileError, parse};
use std::path::Path;

fn read(netlist: &str) -> Result<ModelFile, ModelFileError> {
    let text = format!("[parameters]\nload = 1e3\n[circuit]\nnetlist = '''\n{netlist}\n'''\n[simulation]\nend = 1e-3\nstep = 1e-6\n");
    parse(&text, Path::new("circuit.toml"))
}

/// The first mistake as the command shows it: place, message, help. The netlist begins in line 5.
fn mistake(netlist: &str) -> String {
    match read(netlist) {
        Ok(_) => panic!("\"{netlist}\" was read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn states_laws_and_signals_have_the_names_of_elements() {
    let file =
        read("V1 in 0 SIN(0 10 50)\nD1 in out\nC1 out 0 100u IC=2\nL1 out x 1m IC=0.5\nR1 x 0 {load/2}").unwrap_or_else(|e| panic!("{e}"));
    let set = file.model.first_order().unwrap();
    assert_eq!(set.states().iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["C1.v", "L1.i"]);
    assert_eq!(file.state.x, [2.0, 0.5]);
    assert_eq!(set.relations().iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["D1"]);
    let signals: Vec<&str> = set.signals().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(signals, ["v.in", "v.out", "v.x", "i.V1", "i.D1", "i.C1", "i.L1", "i.R1"]);
    let parts = set.linear().unwrap();
    // C v̇ = i_D − i_L, L i̇ = v − R i
    assert_eq!(parts.a, [0.0, -1e4, 1e3, -500.0 / 1e-3]);
    assert_eq!(parts.b, [1e4, 0.0]);
}

#[test]
fn initial_states_can_be_given_in_the_file() {
    let text =
        "[circuit]\nnetlist = \"C1 a 0 1u IC=2\\nR1 a 0 1k\"\n[initial]\nstate = { \"C1.v\" = 7 }\n[simulation]\nend = 1\nstep = 0.1\n";
    assert_eq!(parse(text, Path::new("c.toml")).unwrap_or_else(|e| panic!("{e}")).state.x, [7.0]);
}

/// Mistakes in lines are told at their words.
#[test]
fn mistakes_in_lines_have_their_place() {
    for (netlist, place, words) in [
        ("R1 a 0 1k\nX1 a 0 5", "circuit.toml:6:1:", ["begins with \"X\"", "the first letter"]),
        ("R1 a 0 1x", "circuit.toml:5:8:", ["\"1x\" is not a number", "4.7k"]),
        ("R1 a 0 laod", "circuit.toml:5:8:", ["laod", "did you mean the parameter \"load\"?"]),
        ("C1 a 0 1M", "circuit.toml:5:8:", ["1M", "meg"]),
        ("R1 a 0", "circuit.toml:5:1:", ["R1 has no resistance", "write R1 a b"]),
        ("R1 a", "circuit.toml:5:1:", ["1 nodes, 2 are needed", "write R1 a b"]),
        ("C1 a 0 1u IC=2 ID=3", "circuit.toml:5:16:", ["\"ID\" is not known", "IC=voltage"]),
        ("R1 a 0 1k 2k", "circuit.toml:5:11:", ["one word too many", "write R1"]),
        ("V1 a 0 SIN(0 1)", "circuit.toml:5:8:", ["2 values", "3 to 5"]),
        ("V1 a 0 {sin(t}\nR1 a b 1\nC1 b 0 1u", "circuit.toml:5:", ["the formula of V1", "v(NODE)"]),
        (".tran 1u 1m", "circuit.toml:5:1:", ["directive", "[simulation]"]),
        ("D1 a 0 VF=", "circuit.toml:5:8:", ["no value behind =", "D1"]),
        ("Q1 c b e BJT", "circuit.toml:5:10:", ["neither NPN nor PNP", "Q1"]),
        ("V1 a 0 {1", "circuit.toml:5:8:", ["not closed", "}"]),
    ] {
        let told = mistake(netlist);
        assert!(told.starts_with(place), "{netlist}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{netlist}: {told}");
    }
}

/// Circuits that cannot be simulated name their elements and nodes.
#[test]
fn impossible_circuits_are_told_by_their_elements() {
    for (netlist, line, words) in [
        ("R1 a b 1k\nC1 a b 1u", 4, &["ground", "node 0"][..]),
        ("V1 in 0 5\nR1 in out 1k\nC1 out 0 1u\nR2 outt 0 1k", 8, &["outt", "R2", "did you mean \"out\"?"]),
        ("V1 in 0 5\nR1 in 0 1k\nC1 in 0 1u", 7, &["loop", "V1, C1", "resistor in series with C1"]),
        ("V1 a 0 5\nV2 a 0 6\nC1 a b 1u\nR1 b 0 1", 6, &["loop of voltage sources", "V1, V2"]),
        ("I1 0 a 1m\nI2 a 0 1m\nC1 b 0 1u\nR1 b 0 1", 5, &["node a is reached by current sources only", "I1, I2"]),
        ("I1 0 a 1m\nL1 a 0 1m\nC1 b 0 1u\nR1 b 0 1", 5, &["I1, L1", "resistor across I1"]),
        ("V1 a 0 1\nR1 a b 1\nC1 b 0 1u\nT1 a 0 c d 2\nR2 c d 1", 8, &["floats", "large resistor"]),
        ("R1 a 0 0\nC1 a 0 1u", 5, &["resistance [Ω] of R1 is 0", "> 0"]),
        ("R1 a 0 1\nC1 a 0 -1u", 6, &["capacitance [F] of C1", "> 0"]),
        ("R1 a 0 1\nR1 a 0 2\nC1 a 0 1u", 6, &["two elements R1 and R1"]),
        ("R1 a a 1\nC1 a 0 1u", 5, &["both ends of R1"]),
        ("V1 a 0 1\nR1 a 0 1", 4, &["neither capacitors nor coils"]),
        ("F1 a 0 R9 2\nR1 a 0 1\nC1 a 0 1u", 5, &["no element \"R9\"", "R1"]),
        ("S1 a 0 {v(b) > 1}\nR1 a 0 1\nC1 a 0 1u", 5, &["S1 compares", "difference"]),
        ("V1 a 0 {v(c)}\nR1 a b 1\nC1 b 0 1u", 5, &["no node \"c\""]),
        ("V1 a 0 {foo*t}\nR1 a b 1\nC1 b 0 1u", 5, &["V1", "foo"]),
        ("L1 a 0 1m\nL2 b 0 1m\nK1 L1 L2 1\nR1 a b 1", 7, &["coupling factor of K1", "transformer"]),
        ("L1 a 0 1m\nK1 L1 L3 0.5\nR1 a 0 1", 6, &["no coil \"L3\""]),
    ] {
        let told = mistake(netlist);
        assert!(told.starts_with(&format!("circuit.toml:{line}:")), "{netlist}: {told}");
        assert!(words.iter().all(|word| told.contains(word)), "{netlist}: {told}");
    }
}

/// A netlist in a file, confined to the model's folder; its mistakes have its own lines.
#[test]
fn netlists_can_be_files() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.toml");
    let text = "[circuit]\nfile = \"rc.cir\"\n[simulation]\nend = 1e-3\nstep = 1e-6\n";
    std::fs::write(folder.path().join("rc.cir"), "* RC\nR1 a 0 1k\nC1 a 0 1u IC=1\n.end\n").unwrap();
    assert!(parse(text, &model).is_ok());
    std::fs::write(folder.path().join("rc.cir"), "R1 a 0 1k\nC1 a 0 1q\n").unwrap();
    let told = parse(text, &model).err().unwrap().to_string();
    assert!(told.contains("rc.cir:2:8: \"1q\" is not a number"), "{told}");
    let outside = parse(&text.replace("rc.cir", "../rc.cir"), &model).err().unwrap().to_string();
    assert!(outside.contains("outside"), "{outside}");
}
