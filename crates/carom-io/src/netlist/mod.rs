//! Netlists: circuits as text, one element per line, as SPICE writes them.
//!
//! ```text
//! * a comment
//! V1 in 0 SIN(0 10 50)
//! D1 in out            ; ideal
//! C1 out 0 100u IC=0
//! R1 out 0 {R}
//! + a line that begins with + goes on with the one before
//! ```
//!
//! | line | element |
//! |---|---|
//! | `R… a b value` | resistor \[Ω\] |
//! | `C… a b value [IC=v]`, `L… a b value [IC=i]` | capacitor \[F\], coil \[H\], with their initial voltage or current |
//! | `K… L1 L2 k` | coupling of two coils, \|k\| < 1 |
//! | `V… a b source`, `I… a b source` | source: `5`, `DC 5`, `SIN(offset amplitude frequency [delay [damping]])`, `PULSE(low high [delay rise fall width [period]])`, or a formula `{…}` |
//! | `E… a b c d gain`, `G… a b c d gain` | voltage or current by the voltage between c and d |
//! | `H… a b ELEMENT gain`, `F… a b ELEMENT gain` | voltage or current by the current of an element |
//! | `D… anode cathode [VF=v] [RON=r]` | ideal diode |
//! | `Z… anode cathode voltage [VF=v] [RON=r]` | Zener diode |
//! | `S… a b {formula} [VMAX=v] [RON=r]` | switch, closed where the formula is positive |
//! | `T… a b c d ratio` | ideal transformer, N₁/N₂ |
//! | `Q… collector base emitter [NPN] [PNP] [BF=…] [BR=…] [VF=v] [RB=r]` | bipolar transistor |
//!
//! Numbers have the suffixes f p n u m k meg g t and, after them, a unit that is only read over (`10uF`). A value may be the name of a parameter or a formula `{…}` of parameters.
//! Names of nodes and elements are the same in capital and small letters.

mod elements;
mod tokens;
mod values;
mod waveforms;

pub use elements::list;

use carom_dynamics::circuits::Element;
use std::ops::Range;

/// The elements of a netlist and where they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Netlist {
    /// The elements, in order.
    pub elements: Vec<Element>,
    /// Bytes of each element's line.
    pub places: Vec<Range<usize>>,
}

/// A mistake in a netlist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetlistMistake {
    /// Bytes it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl NetlistMistake {
    fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        NetlistMistake { span, message: message.into(), help: help.into() }
    }
}

/// Reads a netlist with the parameters that its values may use.
///
/// # Errors
/// All lines that cannot be read.
pub fn read(text: &str, parameters: &[(String, f64)]) -> Result<Netlist, Vec<NetlistMistake>> {
    let (mut netlist, mut mistakes, mut spellings) = (Netlist::default(), Vec::new(), Vec::new());
    let lines = match tokens::lines(text) {
        Ok(lines) => lines,
        Err(mistake) => return Err(vec![mistake]),
    };
    for line in lines {
        match elements::element(&line, parameters) {
            Ok(mut element) => {
                element.nodes.iter_mut().for_each(|node| *node = spelled(node, &mut spellings));
                netlist.elements.push(element);
                netlist.places.push(line[0].span.start..line[line.len() - 1].span.end);
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() { Ok(netlist) } else { Err(mistakes) }
}

/// A node as it was first written.
fn spelled(node: &str, spellings: &mut Vec<String>) -> String {
    if let Some(first) = spellings.iter().find(|first| first.eq_ignore_ascii_case(node)) {
        return first.clone();
    }
    spellings.push(node.to_owned());
    node.to_owned()
}
