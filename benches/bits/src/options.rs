//! The command line.

use std::path::PathBuf;

/// How to call it.
pub const USAGE: &str = "usage: carom-bits OLD NEW [MODELS] [--steps N] [--set KEY=VALUE] [--set-old KEY=VALUE] [--set-new KEY=VALUE]

  OLD, NEW     two carom binaries
  MODELS       names of models or scenes, or parts of them (default: all)
  --steps N    steps of each model of the gallery (default 50)
  --set …      passed to both binaries; --set-old, --set-new: to one of them";

/// What to compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The two binaries.
    pub binaries: [PathBuf; 2],
    /// Parts of the names of cases; empty for all.
    pub names: Vec<String>,
    /// Steps of each model of the gallery.
    pub steps: usize,
    /// Overrides for each of the binaries.
    pub overrides: [Vec<String>; 2],
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options { steps: 50, ..Options::default() };
        let (mut words, mut arguments) = (Vec::new(), arguments);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--steps" => options.steps = value()?.parse().map_err(|_| "--steps needs a whole number".to_owned())?,
                "--set" => {
                    let one = value()?;
                    options.overrides.iter_mut().for_each(|list| list.push(one.clone()));
                }
                "--set-old" => options.overrides[0].push(value()?),
                "--set-new" => options.overrides[1].push(value()?),
                other if other.starts_with('-') => return Err(format!("no option {other}")),
                _ => words.push(argument),
            }
        }
        let mut words = words.into_iter();
        match (words.next(), words.next()) {
            (Some(old), Some(new)) => options.binaries = [old.into(), new.into()],
            _ => return Err("two binaries are needed".to_owned()),
        }
        options.names = words.collect();
        Ok(options)
    }

    /// The case of this name is asked for.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}
