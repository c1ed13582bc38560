//! Pictures as SVG text.

use super::scene::{Anchor, Colour, Scene, Shape, Text};
use std::fmt::Write;

/// The SVG document.
pub(super) fn encode(scene: &Scene) -> String {
    let (w, h) = (scene.width, scene.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\" fill=\"none\" \
         stroke-linejoin=\"round\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
    );
    for shape in &scene.shapes {
        match shape {
            Shape::Polyline { points, stroke } => {
                svg.push_str("<polyline points=\"");
                push_points(&mut svg, points);
                let _ = write!(svg, "\" stroke=\"{}\" stroke-width=\"{}\"", hex(stroke.colour), pixel(stroke.width));
                if stroke.is_dashed() {
                    let _ = write!(svg, " stroke-dasharray=\"{} {}\"", stroke.dash[0], stroke.dash[1]);
                }
                svg.push_str("/>\n");
            }
            Shape::Polygon { points, colour } => {
                svg.push_str("<polygon points=\"");
                push_points(&mut svg, points);
                let _ = writeln!(svg, "\" fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.8\"/>", hex(*colour));
            }
            Shape::Face { points, colour, edge } => {
                svg.push_str("<polygon points=\"");
                push_points(&mut svg, points);
                let (line, width) = (hex(edge.colour), pixel(edge.width));
                let _ = writeln!(svg, "\" fill=\"{}\" stroke=\"{line}\" stroke-width=\"{width}\"/>", hex(*colour));
            }
            Shape::Disk { centre, radius, colour, edge } => {
                let ([x, y], r) = (centre.map(pixel), pixel(*radius));
                let (line, width) = (hex(edge.colour), pixel(edge.width));
                let fill = hex(*colour);
                let _ =
                    writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"{width}\"/>");
            }
            Shape::Area { from, to, colour } => {
                let [x, y, w, h] = [from[0], from[1], to[0] - from[0], to[1] - from[1]].map(pixel);
                let _ = writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{}\"/>", hex(*colour));
            }
            Shape::Text(text) => push_text(&mut svg, text),
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn push_points(svg: &mut String, points: &[[f32; 2]]) {
    for (i, [x, y]) in points.iter().enumerate() {
        svg.push_str(if i == 0 { "" } else { " " });
        let _ = write!(svg, "{},{}", pixel(*x), pixel(*y));
    }
}

fn push_text(svg: &mut String, text: &Text) {
    let [x, y] = text.at.map(pixel);
    let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"", pixel(text.size), hex(text.colour));
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => svg.push_str(" text-anchor=\"middle\""),
        Anchor::End => svg.push_str(" text-anchor=\"end\""),
    }
    if text.upwards {
        let _ = write!(svg, " transform=\"rotate(-90 {x} {y})\"");
    }
    let _ = writeln!(svg, ">{}</text>", escaped(&text.text));
}

/// A length with two decimals at most.
fn pixel(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text with XML's special characters replaced, and characters that XML does not allow left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
