//! The command line.

use carom::scenes::Scene;

/// How to call it.
pub const USAGE: &str = "usage: carom-peers (s1 | s2) NUMBER [--steps N] [--threads N] [--default] [--sleep] [--trace] [--alone]

  s1, s2       pile of spheres, pile of boxes; NUMBER of them
  --steps N    number of steps (default: 3 s of them, 600)
  --threads N  threads (default 1; rapier has more than one only with `--features parallel`)
  --default    rapier also with its default settings
  --sleep      bodies of rapier may fall asleep (default: no, carom's do not)
  --trace      tell contacts, iterations, residual, penetration, change of energy and CPU time of each step of carom on standard error
  --alone      carom only, with the memory it took";

/// Which pile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pile {
    /// Spheres.
    S1,
    /// Boxes.
    S2,
}

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The pile.
    pub pile: Pile,
    /// Number of bodies.
    pub n_bodies: usize,
    /// Number of steps, if given.
    pub steps: Option<usize>,
    /// Number of threads.
    pub threads: usize,
    /// Run rapier's default settings, too.
    pub default: bool,
    /// Let rapier's bodies sleep.
    pub sleep: bool,
    /// Tell of each step.
    pub trace: bool,
    /// Run carom only.
    pub alone: bool,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let pile = match arguments.next().as_deref() {
            Some("s1") => Pile::S1,
            Some("s2") => Pile::S2,
            Some(other) => return Err(format!("there is no scene `{other}`: choose s1 or s2")),
            None => return Err("a scene is needed: s1 or s2".to_owned()),
        };
        let n_bodies = positive("the number of bodies", arguments.next())?;
        let mut options = Options { pile, n_bodies, steps: None, threads: 1, default: false, sleep: false, trace: false, alone: false };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--steps" => options.steps = Some(positive("--steps", arguments.next())?),
                "--threads" => options.threads = positive("--threads", arguments.next())?,
                "--default" => options.default = true,
                "--sleep" => options.sleep = true,
                "--trace" => options.trace = true,
                "--alone" => options.alone = true,
                other => return Err(format!("there is no option `{other}`")),
            }
        }
        Ok(options)
    }

    /// The scene.
    pub fn scene(&self) -> Scene {
        match self.pile {
            Pile::S1 => Scene::spheres(self.n_bodies),
            Pile::S2 => Scene::boxes(self.n_bodies),
        }
    }

    /// The scene in words.
    pub fn title(&self) -> String {
        match self.pile {
            Pile::S1 => format!("s1: {} spheres", self.n_bodies),
            Pile::S2 => format!("s2: {} boxes", self.n_bodies),
        }
    }
}

/// A positive whole number.
fn positive(what: &str, value: Option<String>) -> Result<usize, String> {
    let value = value.ok_or_else(|| format!("{what}: a whole number is missing"))?;
    value.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("{what}: `{value}` is not a whole number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_or_refused() {
        let expected = Options { pile: Pile::S2, n_bodies: 500, steps: Some(30), threads: 2, default: true, sleep: false, trace: false, alone: false };
        assert_eq!(parse("s2 500 --steps 30 --threads 2 --default"), Ok(expected));
        for wrong in ["", "s3 10", "s1", "s1 0", "s1 ten", "s1 10 --steps", "s1 10 --fast"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
