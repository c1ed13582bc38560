//! A simple polygon as convex parts: triangles by cutting ears, merged across diagonals while they stay convex (Hertel and Mehlhorn's rule:
//! at most four times as many parts as needed).

use nalgebra::Vector2;

/// The parts as loops of vertex numbers, counter-clockwise; `None` where no ear is left, which a simple outline does not do.
pub(super) fn convex_parts(outline: &[Vector2<f64>]) -> Option<Vec<Vec<usize>>> {
    let mut parts = triangles(outline)?;
    // the first pair that can be merged is, until none can
    let mut i = 0;
    while i < parts.len() {
        let merged = (0..parts.len()).filter(|&j| j != i).find_map(|j| merge(outline, &parts[i], &parts[j]).map(|m| (j, m)));
        match merged {
            Some((j, both)) => {
                parts[i] = both;
                parts.remove(j);
                i = 0;
            }
            None => i += 1,
        }
    }
    Some(parts)
}

/// Twice the signed area.
fn cross(outline: &[Vector2<f64>], a: usize, b: usize, c: usize) -> f64 {
    (outline[b] - outline[a]).perp(&(outline[c] - outline[a]))
}

fn triangles(outline: &[Vector2<f64>]) -> Option<Vec<Vec<usize>>> {
    let mut left: Vec<usize> = (0..outline.len()).collect();
    let mut found = Vec::with_capacity(outline.len() - 2);
    while left.len() > 3 {
        let n = left.len();
        let corner = |i: usize| (left[(i + n - 1) % n], left[i], left[(i + 1) % n]);
        let is_clear = |i: usize| {
            let (a, b, c) = corner(i);
            let inside = |p: usize| cross(outline, a, b, p) >= 0.0 && cross(outline, b, c, p) >= 0.0 && cross(outline, c, a, p) >= 0.0;
            left.iter().all(|&p| p == a || p == b || p == c || !inside(p))
        };
        let area = |i: usize| {
            let (a, b, c) = corner(i);
            cross(outline, a, b, c)
        };
        // a vertex that has become straight goes without a triangle
        let ear = (0..n).find(|&i| area(i) > 0.0 && is_clear(i)).or_else(|| (0..n).find(|&i| area(i) == 0.0))?;
        if area(ear) > 0.0 {
            let (a, b, c) = corner(ear);
            found.push(vec![a, b, c]);
        }
        left.remove(ear);
    }
    found.push(left);
    Some(found)
}

/// Two loops that share an edge as one, if it is convex.
fn merge(outline: &[Vector2<f64>], p: &[usize], q: &[usize]) -> Option<Vec<usize>> {
    for i in 0..p.len() {
        let (u, v) = (p[i], p[(i + 1) % p.len()]);
        let Some(j) = (0..q.len()).find(|&j| q[j] == v && q[(j + 1) % q.len()] == u) else { continue };
        // p from v round to u, then q after u to before v
        let mut both: Vec<usize> = (0..p.len()).map(|k| p[(i + 1 + k) % p.len()]).collect();
        both.extend((0..q.len() - 2).map(|k| q[(j + 2 + k) % q.len()]));
        let n = both.len();
        // strictly convex: a straight vertex would be touched as one
        let is_convex = (0..n).all(|k| {
            let (a, b, c) = (outline[both[(k + n - 1) % n]], outline[both[k]], outline[both[(k + 1) % n]]);
            (b - a).perp(&(c - b)) > 1e-12 * (b - a).norm() * (c - b).norm()
        });
        return is_convex.then_some(both);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::polygon::Polygon;
    use super::*;

    fn area_of(parts: &[Polygon]) -> f64 {
        parts.iter().map(Polygon::area).sum()
    }

    #[test]
    fn letters_and_stars() {
        let l = [[0., 0.], [3., 0.], [3., 1.], [1., 1.], [1., 4.], [0., 4.]].map(Vector2::from);
        let parts = Polygon::parts(&l).unwrap();
        assert_eq!((parts.len(), area_of(&parts)), (2, 6.0));
        // one edge of each part lies between them
        assert!(parts.iter().all(|p| p.internal().iter().filter(|x| **x).count() == 1));
        let comb = [[0., 0.], [5., 0.], [5., 3.], [4., 3.], [4., 1.], [3., 1.], [3., 3.], [2., 3.], [2., 1.], [1., 1.], [1., 3.], [0., 3.]];
        let parts = Polygon::parts(&comb.map(Vector2::from)).unwrap();
        assert!((area_of(&parts) - 11.0).abs() < 1e-14 && parts.len() <= 6, "{}", parts.len());
        let star: Vec<Vector2<f64>> = (0..50)
            .map(|k| {
                let (r, angle) = (if k % 2 == 0 { 1.0 } else { 0.4 }, std::f64::consts::TAU * f64::from(k) / 50.0);
                Vector2::new(r * angle.cos(), r * angle.sin())
            })
            .collect();
        let parts = Polygon::parts(&star).unwrap();
        let exact = 25.0 * 0.4 * (std::f64::consts::TAU / 50.0).sin();
        assert!((area_of(&parts) - exact).abs() < 1e-13, "{} {exact}", area_of(&parts));
        let outer: usize = parts.iter().map(|p| p.internal().iter().filter(|x| !**x).count()).sum();
        assert_eq!(outer, 50, "every edge of the outline belongs to one part");
    }

    #[test]
    fn a_convex_polygon_is_one_part() {
        let hexagon: Vec<Vector2<f64>> = (0..6).map(|k| Vector2::new(f64::from(k).cos(), f64::from(k).sin())).collect();
        let parts = Polygon::parts(&hexagon).unwrap();
        assert_eq!(parts.len(), 1);
        assert!(parts[0].internal().iter().all(|x| !x));
    }
}
