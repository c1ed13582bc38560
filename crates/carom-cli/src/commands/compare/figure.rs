//! The comparison as pictures.

use super::scheme_table::SchemeTable;
use super::strategy_table::StrategyTable;
use super::table::{Row, Table};
use crate::failure::Failure;
use carom::io::plot::{PlotOptions, Scale, Series, draw};
use std::path::Path;

/// Relative errors above this are lost solutions: they have no place among precisions.
const LOST: f64 = 10.0;

/// Relative errors below this are round-off; strategies that reach the same rest are equal up to it, and are drawn here.
const ROUND_OFF: f64 = 1e-16;

/// The work–precision diagram: CPU time against the true error, one curve per method.
pub fn work_precision(table: &Table, title: &str, path: &Path) -> Result<(), Failure> {
    let error = |row: &Row| row.errors.map(|e| e.largest()).filter(|error| *error < LOST).unwrap_or(f64::NAN);
    let series = by_method(table, error, |row| row.measured.cpu_time);
    let options = work_against("work and precision", title, "error at the end (largest of q and v, relative to max(1, |value|))");
    picture(&series, &options, path)
}

/// The work–precision diagram of schemes: CPU time against the mean error of positions, one curve per scheme.
pub fn schemes(table: &SchemeTable, title: &str, path: &Path) -> Result<(), Failure> {
    let known = table.rows.iter().filter_map(|row| Some((row, row.errors.filter(|errors| errors.mean < LOST)?)));
    let series = curves(known.map(|(row, errors)| (row.method.as_str(), errors.mean, row.cpu_time)));
    let options = work_against("work and precision of schemes", title, "mean error of positions over time (relative to max(1, |value|))");
    picture(&series, &options, path)
}

/// The work–precision diagram of strategies: CPU time against the error at the end, one curve per strategy.
pub fn strategies(table: &StrategyTable, title: &str, path: &Path) -> Result<(), Failure> {
    let known = table.rows.iter().filter_map(|row| Some((row, row.errors?.largest()))).filter(|(_, error)| *error < LOST);
    let series = curves(known.map(|(row, error)| (row.strategy.as_str(), error.max(ROUND_OFF), row.cpu_time)));
    let options =
        work_against("work and precision of strategies", title, "error at the end (largest of q and v, relative to max(1, |value|))");
    picture(&series, &options, path)
}

/// Average step, steps and drift against the tolerance, as Haddouni2015, figure 3.3.
pub fn steps(table: &Table, title: &str, path: &Path) -> Result<(), Failure> {
    type Get = fn(&Row) -> f64;
    let panels: [(&str, &str, Get); 5] = [
        ("average step", "s", Row::average_step),
        ("accepted steps", "", |row| row.measured.statistics.accepted as f64),
        ("rejected steps", "", |row| row.measured.statistics.rejected as f64),
        ("largest |g|", "", |row| row.largest_drift(0)),
        ("largest |dg/dt|", "", |row| row.largest_drift(1)),
    ];
    let mut series = Vec::new();
    for (quantity, unit, get) in panels {
        let curves = by_method(table, |row| row.tolerance, get);
        // a panel in which nothing can be drawn on a logarithmic scale is left out
        if curves.iter().any(|s| s.y.iter().any(|y| *y > 0.0 && y.is_finite())) {
            series.extend(curves.into_iter().map(|s| Series { quantity: quantity.to_owned(), unit: unit.to_owned(), ..s }));
        }
    }
    let options = PlotOptions {
        title: format!("{title}: steps and drift"),
        height: None,
        x_label: "tolerance".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        markers: true,
        ..PlotOptions::default()
    };
    picture(&series, &options, path)
}

/// CPU time against an error, both logarithmic.
fn work_against(what: &str, title: &str, error: &str) -> PlotOptions {
    PlotOptions {
        title: format!("{title}: {what}"),
        height: Some(620),
        x_label: error.into(),
        x_scale: Scale::Logarithmic,
        y_label: "CPU time [s]".into(),
        y_scale: Scale::Logarithmic,
        markers: true,
        ..PlotOptions::default()
    }
}

/// One series per method; failed runs have no point.
fn by_method(table: &Table, x: impl Fn(&Row) -> f64, y: impl Fn(&Row) -> f64) -> Vec<Series> {
    let finished = table.rows.iter().filter(|row| row.measured.failure.is_none());
    curves(finished.map(|row| (row.method.as_str(), x(row), y(row))))
}

/// One series per name, in the order in which they come.
fn curves<'a>(points: impl Iterator<Item = (&'a str, f64, f64)>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (name, x, y) in points {
        let place = series.iter().position(|s| s.label == name).unwrap_or_else(|| {
            series.push(Series { label: name.to_owned(), ..Series::default() });
            series.len() - 1
        });
        series[place].x.push(x);
        series[place].y.push(y);
    }
    series
}

fn picture(series: &[Series], options: &PlotOptions, path: &Path) -> Result<(), Failure> {
    if series.is_empty() {
        return Err(Failure::Run(format!("{} was not drawn: no run reached the end", path.display())));
    }
    draw(series, options, path).map_err(|error| Failure::Input(error.to_string()))?;
    eprintln!("drawn: {}", path.display());
    Ok(())
}
