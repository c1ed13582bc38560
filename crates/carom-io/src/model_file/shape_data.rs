//! Shapes given by many numbers: vertices and triangles, in the model file or in files of their own.

use super::error::Diagnostic;
use super::numbers::{Must, Reader};
use super::schema::ShapeSchema;
use super::value::Value;
use crate::meshes::{MeshData, NumberTable, read_mesh, read_table};
use carom_collision::Shape;
use nalgebra::Vector3;
use toml::Spanned;

/// Largest file of a shape \[bytes\].
const MAX_BYTES: u64 = 256 << 20;

/// `convex`: the hull of vertices.
pub(super) fn convex(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>) -> Option<Shape> {
    let MeshData { vertices, .. } = mesh_data(reader, section)?;
    Some(Shape::Convex { vertices })
}

/// `mesh`: a surface of triangles.
pub(super) fn mesh(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>) -> Option<Shape> {
    let MeshData { vertices, triangles } = mesh_data(reader, section)?;
    if triangles.is_empty() {
        reader.wrong(section.span(), "the mesh has no triangles", "give `triangles = [[i, j, k], …]`, vertices counted from 0");
        return None;
    }
    Some(Shape::Mesh { vertices: vertices.into(), triangles: triangles.into() })
}

/// `height-field`: heights over a grid, rows along y.
pub(super) fn height_field(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>) -> Option<Shape> {
    let s = section.get_ref();
    let help = "give `heights = [[z, z, …], …]` [m], rows along x, or `file = \"….csv\"`";
    let mut table = match (&s.file, &s.heights) {
        (Some(file), None) => {
            let bytes = reader.file(file, MAX_BYTES)?;
            let text = String::from_utf8_lossy(&bytes);
            let wrong = |error: crate::meshes::MeshError| Diagnostic::new(file.span(), format!("\"{}\": {error}", file.get_ref()));
            read_table(&text).map_err(|error| reader.mistakes.push(wrong(error))).ok()?
        }
        (None, Some(heights)) => {
            let rows = match heights.get_ref() {
                Value::List(rows) => rows.as_slice(),
                _ => &[],
            };
            let columns = rows.first().map_or(0, |row| if let Value::List(row) = row { row.len() } else { 0 });
            let even = columns > 0 && rows.iter().all(|row| matches!(row, Value::List(row) if row.len() == columns));
            if !even {
                reader.wrong(heights.span(), "the heights are not a list of rows of equal length", help);
                return None;
            }
            let mut values = Vec::with_capacity(rows.len() * columns);
            for row in rows {
                values.extend(reader.numbers(row, heights.span(), columns, "the heights")?);
            }
            NumberTable { columns, values }
        }
        _ => {
            reader.wrong(section.span(), "a height field has either `heights` or `file`", help);
            return None;
        }
    };
    let Some(spacing) = &s.spacing else {
        reader.wrong(section.span(), "the height field has no spacing", "give `spacing` [m], a number or [dx, dy]");
        return None;
    };
    let spacing = match spacing.get_ref() {
        Value::List(_) => reader.vector::<2>(spacing, "the spacing")?,
        _ => [reader.number(spacing, "the spacing", Must::BePositive)?; 2],
    };
    if let Some(scale) = &s.scale {
        let scale = reader.number(scale, "the scale of the heights", Must::BePositive)?;
        table.values.iter_mut().for_each(|z| *z *= scale);
    }
    Some(Shape::HeightField { heights: table.values.into(), columns: table.columns, spacing })
}

/// Vertices and triangles from `file` or from the keys.
fn mesh_data(reader: &mut Reader<'_>, section: &Spanned<ShapeSchema>) -> Option<MeshData> {
    let s = section.get_ref();
    let kind = s.kind.get_ref().as_str();
    let help = if kind == "mesh" {
        "give `vertices = [[x, y, z], …]` [m] and `triangles = [[i, j, k], …]`, or `file = \"….stl\"`"
    } else {
        "give `vertices = [[x, y, z], …]` [m], or `file = \"….stl\"`"
    };
    let mut mesh = match (&s.file, &s.vertices) {
        (Some(file), None) => {
            if let Some(triangles) = &s.triangles {
                reader.wrong(triangles.span(), format!("the {kind} has both `file` and `triangles`"), "give one of them");
                return None;
            }
            let bytes = reader.file(file, MAX_BYTES)?;
            match read_mesh(file.get_ref(), &bytes) {
                Ok(mesh) => mesh,
                Err(error) => {
                    reader.mistakes.push(Diagnostic::new(file.span(), format!("\"{}\": {error}", file.get_ref())));
                    return None;
                }
            }
        }
        (None, Some(vertices)) => {
            let vertices = points(reader, vertices, "vertices", help)?;
            let triangles = s.triangles.as_ref().map(|list| triangles(reader, list, vertices.len()));
            MeshData { vertices, triangles: triangles.unwrap_or(Some(Vec::new()))? }
        }
        (Some(_), Some(vertices)) => {
            reader.wrong(vertices.span(), format!("the {kind} has both `file` and `vertices`"), "give one of them");
            return None;
        }
        (None, None) => {
            reader.wrong(section.span(), format!("the {kind} shape has no vertices"), help);
            return None;
        }
    };
    if let Some(scale) = &s.scale {
        let scale = match scale.get_ref() {
            Value::List(_) => reader.vector::<3>(scale, "the scale")?,
            _ => [reader.number(scale, "the scale", Must::BePositive)?; 3],
        };
        if scale.iter().any(|x| *x <= 0.0) {
            reader.wrong(s.scale.as_ref().map(Spanned::span), format!("the scale is {scale:?}"), "positive numbers are needed");
            return None;
        }
        mesh.vertices.iter_mut().for_each(|v| v.component_mul_assign(&Vector3::from(scale)));
    }
    Some(mesh)
}

fn points(reader: &mut Reader<'_>, value: &Spanned<Value>, what: &str, help: &str) -> Option<Vec<Vector3<f64>>> {
    let Value::List(points) = value.get_ref() else {
        reader.wrong(value.span(), format!("the {what} are not a list"), help);
        return None;
    };
    points.iter().map(|p| reader.entries::<3>(p, value.span(), "a vertex").map(Vector3::from)).collect()
}

/// Triples of vertex numbers from 0.
fn triangles(reader: &mut Reader<'_>, value: &Spanned<Value>, n: usize) -> Option<Vec<[u32; 3]>> {
    let Value::List(list) = value.get_ref() else {
        reader.wrong(value.span(), "the triangles are not a list", "give `triangles = [[i, j, k], …]`, vertices counted from 0");
        return None;
    };
    let mut triangles = Vec::with_capacity(list.len());
    for (k, triangle) in list.iter().enumerate() {
        let corners = reader.entries::<3>(triangle, value.span(), "a triangle")?;
        if let Some(bad) = corners.iter().find(|i| i.fract() != 0.0 || **i < 0.0 || **i >= n as f64) {
            let help = format!("the vertices are numbered from 0 to {}", n.saturating_sub(1));
            reader.wrong(value.span(), format!("triangle {} has the corner {bad}", k + 1), help);
            return None;
        }
        triangles.push(corners.map(|i| i as u32));
    }
    Some(triangles)
}
