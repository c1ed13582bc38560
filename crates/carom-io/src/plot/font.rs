//! The compiled-in font: widths of texts and outlines of letters.

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// DejaVu Sans, which has the Greek letters, superscripts and signs that units need.
pub(super) struct Font {
    /// `None` if the font could not be read, which a test excludes; texts are then left out.
    face: Option<Face<'static>>,
}

impl Font {
    pub(super) fn new() -> Self {
        Font { face: Face::parse(dejavu::sans::regular(), 0).ok() }
    }

    /// Width of `text` in pixels in letters of `size` pixels.
    pub(super) fn width(&self, text: &str, size: f32) -> f32 {
        self.glyphs(text, size).last().map_or(0.0, |(_, x, advance)| x + advance)
    }

    /// `text`, cut with an ellipsis if it is wider than `room`.
    pub(super) fn fitted(&self, text: &str, size: f32, room: f32) -> String {
        if self.width(text, size) <= room {
            return text.into();
        }
        let mut kept = text.to_string();
        while kept.pop().is_some() {
            let short = format!("{}…", kept.trim_end());
            if self.width(&short, size) <= room {
                return short;
            }
        }
        String::new()
    }

    /// Outline of `text`, beginning at the origin of `transform`.
    pub(super) fn outline(&self, text: &str, size: f32, transform: Transform) -> Option<Path> {
        let face = self.face.as_ref()?;
        let scale = size / f32::from(face.units_per_em());
        let mut outline = Outline { path: PathBuilder::new(), scale, x: 0.0 };
        for (glyph, x, _) in self.glyphs(text, size) {
            outline.x = x;
            face.outline_glyph(glyph, &mut outline);
        }
        outline.path.finish()?.transform(transform)
    }

    /// Glyph, position and advance of every character.
    fn glyphs(&self, text: &str, size: f32) -> Vec<(GlyphId, f32, f32)> {
        let Some(face) = &self.face else {
            return Vec::new();
        };
        let scale = size / f32::from(face.units_per_em());
        let mut x = 0.0;
        let place = |character| {
            let glyph = face.glyph_index(character).unwrap_or(GlyphId(0));
            let advance = scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
            x += advance;
            (glyph, x - advance, advance)
        };
        text.chars().map(place).collect()
    }
}

/// Collects outlines in pixels, y downwards.
struct Outline {
    path: PathBuilder,
    scale: f32,
    x: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, -self.scale * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_the_labels_exists() {
        let font = Font::new();
        let face = font.face.as_ref().expect("the font can be read");
        for sign in "azAZ09 −–+×·⁻⁰¹²³⁴⁵⁶⁷⁸⁹…[]/.µθω°".chars() {
            assert!(face.glyph_index(sign).is_some(), "no glyph for {sign}");
        }
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        let font = Font::new();
        let text = "a very long label that has no room";
        let cut = font.fitted(text, 12.0, 100.0);
        assert!(cut.ends_with('…') && font.width(&cut, 12.0) <= 100.0, "{cut}");
        assert_eq!(font.fitted(text, 12.0, 1000.0), text);
    }
}
