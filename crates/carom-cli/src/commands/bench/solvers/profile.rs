//! The performance profile as a picture.

use super::summary::{Column, Runs};
use crate::failure::Failure;
use carom::io::plot::{PlotOptions, Scale, Series, draw as draw_series};
use std::path::{Path, PathBuf};

/// Draws ρ_s(τ) of all solvers that solve something, as SVG and PNG, the best first in the legend.
pub fn draw(runs: &Runs, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut columns: Vec<&Column> = runs.columns.iter().filter(|c| c.n_solved() > 0).collect();
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let largest = columns.iter().flat_map(|c| runs.ratios(c)).filter(|r| r.is_finite()).fold(10.0_f64, f64::max);
    // the area below the curve over log τ
    let area = |column: &Column| {
        let solved = runs.ratios(column).into_iter().filter(|r| r.is_finite());
        solved.map(|ratio| (1.2 * largest / ratio).ln()).sum::<f64>()
    };
    columns.sort_by(|a, b| area(b).total_cmp(&area(a)));
    let series: Vec<Series> = columns.iter().map(|column| steps(runs, column, 1.2 * largest)).collect();
    let options = PlotOptions {
        title: format!("Performance profile, tolerance {:e}, {} problems", runs.tolerance, runs.problems.len()),
        height: Some(560),
        x_label: "τ: time / time of the fastest solver".into(),
        x_scale: Scale::Logarithmic,
        y_label: "share of problems solved within τ".into(),
        ..PlotOptions::default()
    };
    let mut paths = Vec::new();
    for extension in ["svg", "png"] {
        let path = folder.join(format!("profile-{:e}.{extension}", runs.tolerance));
        draw_series(&series, &options, &path).map_err(|error| Failure::Input(error.to_string()))?;
        paths.push(path);
    }
    Ok(paths)
}

/// The curve from τ = 1 to `end`: constant but for a jump at each ratio.
fn steps(runs: &Runs, column: &Column, end: f64) -> Series {
    let mut ratios: Vec<f64> = runs.ratios(column).into_iter().filter(|r| r.is_finite()).collect();
    ratios.sort_by(f64::total_cmp);
    let n = runs.problems.len().max(1) as f64;
    let (mut x, mut y, mut share) = (vec![1.0], vec![0.0], 0.0);
    for (k, ratio) in ratios.iter().enumerate() {
        x.extend([*ratio, *ratio]);
        y.push(share);
        share = (k + 1) as f64 / n;
        y.push(share);
    }
    x.push(end);
    y.push(share);
    Series { label: column.solver.clone(), x, y, ..Series::default() }
}
