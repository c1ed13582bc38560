//! One line of a netlist as an element.

use super::NetlistMistake;
use super::tokens::{Token, TokenKind};
use super::values::value;
use super::waveforms::waveform;
use carom_dynamics::circuits::{Element, ElementKind, Polarity};

/// Letters with what they stand for, how the line is written, and the number of its nodes.
const LETTERS: [(char, &str, &str, usize); 15] = [
    ('R', "resistor", "R1 a b resistance", 2),
    ('C', "capacitor", "C1 a b capacitance [IC=voltage]", 2),
    ('L', "coil", "L1 a b inductance [IC=current]", 2),
    ('K', "coupling", "K1 L1 L2 factor", 0),
    ('V', "voltage source", "V1 a b value", 2),
    ('I', "current source", "I1 a b value", 2),
    ('E', "voltage by voltage", "E1 a b c d gain", 4),
    ('G', "current by voltage", "G1 a b c d gain", 4),
    ('H', "voltage by current", "H1 a b ELEMENT gain", 2),
    ('F', "current by current", "F1 a b ELEMENT gain", 2),
    ('D', "diode", "D1 anode cathode [VF=voltage] [RON=resistance]", 2),
    ('Z', "Zener diode", "Z1 anode cathode voltage [VF=voltage] [RON=resistance]", 2),
    ('S', "switch", "S1 a b {formula} [VMAX=voltage] [RON=resistance]", 2),
    ('T', "transformer", "T1 a b c d ratio", 4),
    ('Q', "transistor", "Q1 collector base emitter [NPN] [BF=gain] [BR=gain] [VF=voltage] [RB=resistance]", 3),
];

/// Largest voltage of an open switch \[V\] where none is given.
const MAX_VOLTAGE: f64 = 1e3;

/// Resistance of a closed switch \[Ω\] where none is given.
const ON_RESISTANCE: f64 = 1e-3;

/// How the lines of all elements are written, with what they are, as `carom list elements` shows them.
pub fn list() -> Vec<(&'static str, &'static str)> {
    LETTERS.iter().map(|&(_, what, form, _)| (form, what)).collect()
}

/// A line behind its name: nodes are taken already.
struct Rest<'a, 'b> {
    name: &'b Token<'a>,
    /// How to write the line.
    form: &'static str,
    words: Vec<Token<'a>>,
    /// KEY=value.
    keys: Vec<(Token<'a>, Token<'a>)>,
    parameters: &'b [(String, f64)],
}

/// The element of a line.
pub(super) fn element(line: &[Token<'_>], parameters: &[(String, f64)]) -> Result<Element, NetlistMistake> {
    let name = &line[0];
    let letter = name.text.chars().next().map_or(' ', |c| c.to_ascii_uppercase());
    let Some(&(_, what, form, n_nodes)) = LETTERS.iter().find(|(known, ..)| *known == letter) else {
        let letters: Vec<String> = LETTERS.iter().map(|(letter, what, ..)| format!("{letter} ({what})")).collect();
        let message = format!("no element begins with \"{letter}\": {}", name.text);
        return Err(NetlistMistake::new(name.span.clone(), message, format!("the first letter says what it is: {}", letters.join(", "))));
    };
    let given = line[1..].iter().take_while(|token| token.kind == TokenKind::Word).count();
    if given < n_nodes {
        let message = format!("the {what} {} has {given} nodes, {n_nodes} are needed", name.text);
        return Err(NetlistMistake::new(name.span.start..line[line.len() - 1].span.end, message, format!("write {form}")));
    }
    let nodes = line[1..=n_nodes].iter().map(|token| token.text.to_owned()).collect();
    let mut rest = Rest { name, form, words: Vec::new(), keys: Vec::new(), parameters };
    rest.split(&line[n_nodes + 1..])?;
    let kind = rest.kind(letter)?;
    Ok(Element { name: name.text.to_owned(), nodes, kind })
}

impl<'a> Rest<'a, '_> {
    fn split(&mut self, tokens: &[Token<'a>]) -> Result<(), NetlistMistake> {
        let mut at = 0;
        while at < tokens.len() {
            let is_key = tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Equals);
            match (is_key, tokens.get(at + 2)) {
                (true, Some(value)) => {
                    self.keys.push((tokens[at].clone(), value.clone()));
                    at += 3;
                }
                (true, None) => return Err(self.wrong(&tokens[at], "has no value behind =".to_owned())),
                (false, _) => {
                    self.words.push(tokens[at].clone());
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, at: &Token<'_>, message: String) -> NetlistMistake {
        NetlistMistake::new(at.span.clone(), format!("{}: \"{}\" {message}", self.name.text, at.text), format!("write {}", self.form))
    }

    /// The values without a key, as many as the line has.
    fn values<const N: usize>(&self, what: [&str; N]) -> Result<[f64; N], NetlistMistake> {
        let mut out = [0.0; N];
        self.count(N, &what)?;
        for (out, word) in out.iter_mut().zip(&self.words) {
            *out = value(word, self.parameters)?;
        }
        Ok(out)
    }

    fn count(&self, n: usize, what: &[&str]) -> Result<(), NetlistMistake> {
        if let Some(extra) = self.words.get(n) {
            return Err(self.wrong(extra, "is one word too many".to_owned()));
        }
        match what.get(self.words.len()) {
            Some(missing) => {
                let message = format!("{} has no {missing}", self.name.text);
                Err(NetlistMistake::new(self.name.span.clone(), message, format!("write {}", self.form)))
            }
            None => Ok(()),
        }
    }

    /// Values with a key; those that are left out have their defaults.
    fn keyed<const N: usize>(&self, keys: [(&str, f64); N]) -> Result<[f64; N], NetlistMistake> {
        let mut out = keys.map(|(_, default)| default);
        let mut seen = [false; N];
        for (key, given) in &self.keys {
            let Some(k) = keys.iter().position(|(known, _)| known.eq_ignore_ascii_case(key.text)) else {
                return Err(self.wrong(key, "is not known here".to_owned()));
            };
            if std::mem::replace(&mut seen[k], true) {
                return Err(self.wrong(key, "is given twice".to_owned()));
            }
            out[k] = value(given, self.parameters)?;
        }
        Ok(out)
    }

    fn kind(&self, letter: char) -> Result<ElementKind, NetlistMistake> {
        let no_keys = || self.keyed([]).map(|[]| ());
        Ok(match letter {
            'R' => {
                no_keys()?;
                let [resistance] = self.values(["resistance"])?;
                ElementKind::Resistor { resistance }
            }
            'C' => {
                let ([capacitance], [initial]) = (self.values(["capacitance"])?, self.keyed([("IC", 0.0)])?);
                ElementKind::Capacitor { capacitance, initial }
            }
            'L' => {
                let ([inductance], [initial]) = (self.values(["inductance"])?, self.keyed([("IC", 0.0)])?);
                ElementKind::Inductor { inductance, initial }
            }
            'K' => {
                no_keys()?;
                self.count(3, &["first coil", "second coil", "factor"])?;
                let coils = [self.words[0].text.to_owned(), self.words[1].text.to_owned()];
                ElementKind::Coupling { coils, factor: value(&self.words[2], self.parameters)? }
            }
            'V' | 'I' => {
                no_keys()?;
                let value = waveform(self.name, &self.words, self.parameters)?;
                if letter == 'V' { ElementKind::VoltageSource { value } } else { ElementKind::CurrentSource { value } }
            }
            'E' | 'G' | 'T' => {
                no_keys()?;
                let [gain] = self.values([if letter == 'T' { "ratio" } else { "gain" }])?;
                match letter {
                    'E' => ElementKind::VoltageByVoltage { gain },
                    'G' => ElementKind::CurrentByVoltage { gain },
                    _ => ElementKind::Transformer { ratio: gain },
                }
            }
            'H' | 'F' => {
                no_keys()?;
                self.count(2, &["element whose current controls it", "gain"])?;
                let (of, gain) = (self.words[0].text.to_owned(), value(&self.words[1], self.parameters)?);
                if letter == 'H' { ElementKind::VoltageByCurrent { gain, of } } else { ElementKind::CurrentByCurrent { gain, of } }
            }
            'D' => {
                let ([], [forward, resistance]) = (self.values([])?, self.keyed([("VF", 0.0), ("RON", 0.0)])?);
                ElementKind::Diode { forward, resistance }
            }
            'Z' => {
                let ([breakdown], [forward, resistance]) = (self.values(["voltage"])?, self.keyed([("VF", 0.0), ("RON", 0.0)])?);
                ElementKind::Zener { breakdown, forward, resistance }
            }
            'S' => {
                self.count(1, &["control"])?;
                let [max_voltage, resistance] = self.keyed([("VMAX", MAX_VOLTAGE), ("RON", ON_RESISTANCE)])?;
                ElementKind::Switch { closed: self.words[0].text.to_owned(), max_voltage, resistance }
            }
            _ => self.transistor()?,
        })
    }

    fn transistor(&self) -> Result<ElementKind, NetlistMistake> {
        let polarity = match self.words.first() {
            None => Polarity::Npn,
            Some(word) if word.text.eq_ignore_ascii_case("npn") => Polarity::Npn,
            Some(word) if word.text.eq_ignore_ascii_case("pnp") => Polarity::Pnp,
            Some(word) => return Err(self.wrong(word, "is neither NPN nor PNP".to_owned())),
        };
        self.count(self.words.len().min(1), &[])?;
        let [forward_gain, reverse_gain, forward, base_resistance] = self.keyed([("BF", 100.0), ("BR", 1.0), ("VF", 0.0), ("RB", 0.0)])?;
        Ok(ElementKind::Transistor { polarity, gains: [forward_gain, reverse_gain], forward, base_resistance })
    }
}
