//! STL, ASCII and binary.

use super::{MAX_TRIANGLES, MeshData, MeshError, Welder};

/// Bytes before the triangles of a binary file, and of each triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn read(bytes: &[u8]) -> Result<MeshData, MeshError> {
    // binary files may begin with "solid" too: their length gives them away
    let announced = bytes.get(80..84).and_then(|n| n.try_into().ok()).map(u32::from_le_bytes);
    if let Some(n) = announced
        && bytes.len() as u64 == HEADER as u64 + TRIANGLE as u64 * u64::from(n)
    {
        return binary(&bytes[HEADER..]);
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.trim_start().starts_with("solid"));
    match (text, announced) {
        (Some(text), _) => ascii(text),
        (None, Some(n)) => {
            let expected = HEADER as u64 + TRIANGLE as u64 * u64::from(n);
            Err(MeshError::Length { triangles: u64::from(n), expected, found: bytes.len() as u64 })
        }
        (None, None) => Err(MeshError::Line { line: 1, reason: "an STL file begins with \"solid\", or has at least 84 bytes".into() }),
    }
}

fn binary(bytes: &[u8]) -> Result<MeshData, MeshError> {
    if bytes.len() / TRIANGLE > MAX_TRIANGLES {
        return Err(MeshError::TooLarge { limit: MAX_TRIANGLES });
    }
    let mut mesh = Builder::default();
    for triangle in bytes.chunks_exact(TRIANGLE) {
        // a normal of three numbers, which the corners give as well, then the corners
        let number = |k: usize| f64::from(f32::from_le_bytes([triangle[k], triangle[k + 1], triangle[k + 2], triangle[k + 3]]));
        let corner = |k: usize| [0, 1, 2].map(|axis| number(12 + 12 * k + 4 * axis));
        mesh.push([corner(0), corner(1), corner(2)])?;
    }
    Ok(mesh.finish())
}

fn ascii(text: &str) -> Result<MeshData, MeshError> {
    let mut mesh = Builder::default();
    let mut corners: Vec<[f64; 3]> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |reason: String| MeshError::Line { line: number + 1, reason };
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("vertex") => {
                let coordinates: Vec<f64> =
                    words.map(|word| word.parse().map_err(|_| wrong(format!("\"{word}\" is not a number")))).collect::<Result<_, _>>()?;
                let found = coordinates.len();
                corners.push(coordinates.try_into().map_err(|_| wrong(format!("a vertex has 3 coordinates, not {found}")))?);
            }
            Some("endfacet") => {
                let [a, b, c] = corners[..] else {
                    return Err(wrong(format!("a facet has 3 vertices, not {}", corners.len())));
                };
                mesh.push([a, b, c])?;
                corners.clear();
            }
            None | Some("solid" | "facet" | "outer" | "endloop" | "endsolid") => {}
            Some(word) => return Err(wrong(format!("\"{word}\" does not belong into an STL file"))),
        }
    }
    if !corners.is_empty() {
        return Err(MeshError::Line { line: text.lines().count(), reason: "the file ends within a facet".into() });
    }
    Ok(mesh.finish())
}

#[derive(Default)]
struct Builder {
    welder: Welder,
    triangles: Vec<[u32; 3]>,
    n_seen: usize,
}

impl Builder {
    /// Takes a triangle; one with two equal corners has no area and is left out.
    fn push(&mut self, corners: [[f64; 3]; 3]) -> Result<(), MeshError> {
        self.n_seen += 1;
        if self.n_seen > MAX_TRIANGLES {
            return Err(MeshError::TooLarge { limit: MAX_TRIANGLES });
        }
        if corners.iter().flatten().any(|x| !x.is_finite()) {
            return Err(MeshError::NonFinite { triangle: self.n_seen });
        }
        let [a, b, c] = corners.map(|corner| self.welder.number(corner));
        if a != b && b != c && c != a {
            self.triangles.push([a, b, c]);
        }
        Ok(())
    }

    fn finish(self) -> MeshData {
        MeshData { vertices: self.welder.vertices, triangles: self.triangles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: &str = "solid t
facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet
facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet
facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet
facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 -0 1e0\nendloop\nendfacet
endsolid t\n";

    /// The same in binary, with a header that begins as the text does.
    pub(crate) fn to_binary(mesh: &MeshData) -> Vec<u8> {
        let mut bytes = b"solid but binary".to_vec();
        bytes.resize(80, b' ');
        bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
        for triangle in &mesh.triangles {
            bytes.extend([0; 12]);
            for &corner in triangle {
                mesh.vertices[corner as usize].iter().for_each(|x| bytes.extend((*x as f32).to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn text_and_binary_give_the_same_mesh_with_shared_corners() {
        let mesh = read(TETRAHEDRON.as_bytes()).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
        assert_eq!(mesh.triangles[3], [2, 1, 3]);
        assert_eq!(read(&to_binary(&mesh)).unwrap(), mesh);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        let broken = |from: &str, to: &str| message(TETRAHEDRON.replacen(from, to, 1).as_bytes());
        assert_eq!(broken("vertex 0 1 0", "vertex 0 x 0"), "line 5: \"x\" is not a number");
        assert_eq!(broken("vertex 0 1 0\n", ""), "line 7: a facet has 3 vertices, not 2");
        assert_eq!(broken("vertex 0 1 0", "vertex 0 1"), "line 5: a vertex has 3 coordinates, not 2");
        assert_eq!(broken("vertex 0 1 0", "vertex 0 inf 0"), "triangle 1 has a corner that is not finite");
        assert!(broken("endloop\nendfacet\nendsolid t\n", "").contains("within a facet"));
        let mut bytes = to_binary(&read(TETRAHEDRON.as_bytes()).unwrap());
        bytes[0] = 0xff;
        bytes.truncate(200);
        assert_eq!(message(&bytes), "the file announces 4 triangles, which need 284 bytes, but has 200");
        assert!(message(b"").contains("84 bytes"));
    }
}
