//! A study as a picture: the measures against the last key that varies, one curve per combination of the others.

use super::table::Table;
use crate::failure::Failure;
use carom::io::plot::{PlotOptions, Scale, Series};
use std::path::Path;

/// Values that span more than this are drawn on a logarithmic scale.
const WIDE: f64 = 30.0;

pub fn draw(table: &Table<'_>, path: &Path) -> Result<(), Failure> {
    let plan = table.plan;
    let Some(last) = plan.vary.last() else { return Ok(()) };
    let numbers: Option<Vec<f64>> = last.values.iter().map(|value| value.parse().ok()).collect();
    let Some(x) = numbers else {
        return Err(Failure::Input(format!("{} was not drawn: the values of {} are no numbers", path.display(), last.key)));
    };
    let mut series = Vec::new();
    for (k, measure) in plan.measures.iter().enumerate() {
        for rows in table.rows.chunks(x.len()) {
            let names = plan.vary.iter().zip(&rows[0].case).take(plan.vary.len() - 1);
            let names: Vec<String> =
                names.map(|(v, value)| format!("{} = {value}", v.key.rsplit('.').next().unwrap_or_default())).collect();
            let label = if names.is_empty() { measure.name.clone() } else { names.join(", ") };
            let y = rows.iter().map(|row| if row.failure.is_some() { f64::NAN } else { row.values[k] }).collect();
            series.push(Series { label, quantity: measure.name.clone(), x: x.clone(), y, ..Series::default() });
        }
    }
    let (least, most) = x.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    let options = PlotOptions {
        title: format!("{} by {}", plan.measures.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", "), last.key),
        x_label: last.key.clone(),
        x_scale: if least > 0.0 && most > WIDE * least { Scale::Logarithmic } else { Scale::Linear },
        markers: true,
        ..PlotOptions::default()
    };
    carom::io::plot::draw(&series, &options, path).map_err(|error| Failure::Input(error.to_string()))?;
    eprintln!("drawn: {}", path.display());
    Ok(())
}
