//! A scheme with its settings, as written on the command line: `moreau-jean:theta=0.55`, `theta-gap:gap=theta-euler`.

use carom::dynamics::nearest::nearest;
use carom::dynamics::schemes::{SCHEMES, SchemeParams};
use serde_json::{Value, json};

/// One of the schemes to compare.
#[derive(Clone, Debug)]
pub struct SchemeVariant {
    /// As written.
    pub label: String,
    /// Its settings.
    pub params: SchemeParams,
}

impl SchemeVariant {
    /// Reads a variant; the model's own scheme keeps the settings of the model.
    ///
    /// # Errors
    /// In words, with the nearest name.
    pub fn parse(text: &str, own: &SchemeParams) -> Result<Self, String> {
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        if !SCHEMES.iter().any(|entry| entry.name == name) {
            let names = SCHEMES.iter().map(|entry| entry.name);
            let help =
                nearest(name, names).map_or_else(|| "see `carom list schemes`".to_owned(), |best| format!("did you mean \"{best}\"?"));
            return Err(format!("there is no scheme \"{name}\": {help}"));
        }
        let mut settings = if own.entry().name == name { json!(own) } else { json!({"kind": name}) };
        for part in parts {
            let (key, value) = part.split_once('=').ok_or_else(|| format!("{text}: give settings as key=value"))?;
            let value = value.trim();
            settings[key.trim()] = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        }
        let params: SchemeParams = serde_json::from_value(settings).map_err(|error| format!("{text}: {error}"))?;
        params.validate().map_err(|error| format!("{text}: {error}"))?;
        Ok(SchemeVariant { label: text.to_owned(), params })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_read_and_mistakes_are_told() {
        let own: SchemeParams = serde_json::from_value(json!({"kind": "moreau-jean", "theta": 0.6})).unwrap();
        let theta = |text: &str| json!(SchemeVariant::parse(text, &own).unwrap().params)["theta"].as_f64();
        assert_eq!((theta("moreau-jean"), theta("moreau-jean:theta=0.75")), (Some(0.6), Some(0.75)));
        for (wrong, word) in [
            ("moreau-jan", "moreau-jean"),
            ("moreau-jean:theta", "key=value"),
            ("moreau-jean:thta=1", "thta"),
            ("moreau-jean:theta=2", "theta"),
        ] {
            let error = SchemeVariant::parse(wrong, &own).unwrap_err();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }
}
