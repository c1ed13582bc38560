//! Pictures as PNG.

use super::font::Font;
use super::scene::{Anchor, Colour, Scene, Shape, Stroke, Text};
use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash, Transform};

/// The PNG file.
pub(super) fn encode(scene: &Scene) -> Result<Vec<u8>, String> {
    let mut pixmap = Pixmap::new(scene.width, scene.height).ok_or("there is no memory for the picture")?;
    pixmap.fill(Color::WHITE);
    let font = Font::new();
    for shape in &scene.shapes {
        match shape {
            Shape::Polyline { points, stroke } => draw_line(&mut pixmap, points, *stroke),
            Shape::Polygon { points, colour } => draw_polygon(&mut pixmap, points, *colour, Stroke::solid([255, 255, 255], 0.8)),
            Shape::Face { points, colour, edge } => draw_polygon(&mut pixmap, points, *colour, *edge),
            Shape::Disk { centre, radius, colour, edge } => {
                if let Some(path) = PathBuilder::from_circle(centre[0], centre[1], *radius) {
                    fill(&mut pixmap, &path, *colour, *edge);
                }
            }
            Shape::Area { from, to, colour } => draw_area(&mut pixmap, *from, *to, *colour),
            Shape::Text(text) => draw_text(&mut pixmap, text, &font),
        }
    }
    pixmap.encode_png().map_err(|error| error.to_string())
}

fn paint([r, g, b]: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint.anti_alias = true;
    paint
}

fn draw_line(pixmap: &mut Pixmap, points: &[[f32; 2]], stroke: Stroke) {
    let mut builder = PathBuilder::new();
    for (i, [x, y]) in points.iter().enumerate() {
        if i == 0 { builder.move_to(*x, *y) } else { builder.line_to(*x, *y) }
    }
    let Some(path) = builder.finish() else { return };
    let dash = stroke.is_dashed().then(|| StrokeDash::new(stroke.dash.to_vec(), 0.0)).flatten();
    let pen = tiny_skia::Stroke { width: stroke.width, line_join: LineJoin::Round, dash, ..Default::default() };
    pixmap.stroke_path(&path, &paint(stroke.colour), &pen, Transform::identity(), None);
}

fn draw_polygon(pixmap: &mut Pixmap, points: &[[f32; 2]], colour: Colour, edge: Stroke) {
    let mut builder = PathBuilder::new();
    for (i, [x, y]) in points.iter().enumerate() {
        if i == 0 { builder.move_to(*x, *y) } else { builder.line_to(*x, *y) }
    }
    builder.close();
    if let Some(path) = builder.finish() {
        fill(pixmap, &path, colour, edge);
    }
}

fn fill(pixmap: &mut Pixmap, path: &Path, colour: Colour, edge: Stroke) {
    pixmap.fill_path(path, &paint(colour), FillRule::Winding, Transform::identity(), None);
    let pen = tiny_skia::Stroke { width: edge.width, line_join: LineJoin::Round, ..Default::default() };
    pixmap.stroke_path(path, &paint(edge.colour), &pen, Transform::identity(), None);
}

fn draw_area(pixmap: &mut Pixmap, from: [f32; 2], to: [f32; 2], colour: Colour) {
    if let Some(area) = Rect::from_ltrb(from[0], from[1], to[0], to[1]) {
        pixmap.fill_rect(area, &paint(colour), Transform::identity(), None);
    }
}

fn draw_text(pixmap: &mut Pixmap, text: &Text, font: &Font) {
    let width = font.width(&text.text, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let [x, y] = text.at;
    let transform =
        if text.upwards { Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y + before) } else { Transform::from_translate(x - before, y) };
    if let Some(outline) = font.outline(&text.text, text.size, transform) {
        pixmap.fill_path(&outline, &paint(text.colour), FillRule::Winding, Transform::identity(), None);
    }
}
