//! OBJ: vertices and faces; polygons are cut into triangles, everything else is passed over.

use super::{MAX_TRIANGLES, MeshData, MeshError};
use nalgebra::Vector3;

pub(super) fn read(bytes: &[u8]) -> Result<MeshData, MeshError> {
    let text = std::str::from_utf8(bytes).map_err(|_| MeshError::Line { line: 1, reason: "the file is not a text in UTF-8".into() })?;
    let mut mesh = MeshData::default();
    for (number, line) in text.lines().enumerate() {
        let wrong = |reason: String| MeshError::Line { line: number + 1, reason };
        let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut coordinate = || {
                    let word = words.next().ok_or_else(|| wrong("a vertex has 3 coordinates".into()))?;
                    word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| wrong(format!("\"{word}\" is not a finite number")))
                };
                let vertex = Vector3::new(coordinate()?, coordinate()?, coordinate()?);
                mesh.vertices.push(vertex);
            }
            Some("f") => {
                let corners: Vec<u32> = words.map(|word| index(word, mesh.vertices.len()).map_err(&wrong)).collect::<Result<_, _>>()?;
                if corners.len() < 3 {
                    return Err(wrong(format!("a face has at least 3 corners, not {}", corners.len())));
                }
                // Those that repeat a corner go along: they are counted, and touch nothing.
                mesh.triangles.extend((1..corners.len() - 1).map(|k| [corners[0], corners[k], corners[k + 1]]));
            }
            // texture, normals, groups, materials, and lines that only graphics need
            _ => {}
        }
        if mesh.triangles.len() > MAX_TRIANGLES || mesh.vertices.len() > MAX_TRIANGLES {
            return Err(MeshError::TooLarge { limit: MAX_TRIANGLES });
        }
    }
    Ok(mesh)
}

/// The vertex of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`: from 1, or from the end if negative.
fn index(word: &str, n: usize) -> Result<u32, String> {
    let text = word.split('/').next().unwrap_or_default();
    let given: i64 = text.parse().map_err(|_| format!("\"{word}\" is not the number of a vertex"))?;
    let index = if given < 0 { n as i64 + given } else { given - 1 };
    match usize::try_from(index) {
        Ok(i) if i < n => Ok(i as u32),
        _ => Err(format!("there is no vertex {given}: {n} are given before this line")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_cut_and_indices_checked() {
        let text = "# a square\no thing\nv 0 0 0\nv 1 0 0 # corner\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1/1/1 2//1 3 -1\n";
        let mesh = read(text.as_bytes()).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        let message = |from: &str, to: &str| read(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
        assert_eq!(message("3 -1", "3 5"), "line 8: there is no vertex 5: 4 are given before this line");
        assert_eq!(message("3 -1", "3 -5"), "line 8: there is no vertex -5: 4 are given before this line");
        assert_eq!(message("3 -1", "0"), "line 8: there is no vertex 0: 4 are given before this line");
        assert_eq!(message("3 -1", "x"), "line 8: \"x\" is not the number of a vertex");
        assert_eq!(message(" 3 -1", ""), "line 8: a face has at least 3 corners, not 2");
        assert_eq!(message("v 1 1 0", "v 1 nan 0"), "line 5: \"nan\" is not a finite number");
        assert_eq!(message("v 1 1 0", "v 1 1"), "line 5: a vertex has 3 coordinates");
    }
}
