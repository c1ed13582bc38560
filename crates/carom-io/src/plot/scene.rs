//! What a picture consists of, in pixels from the upper left corner.

/// A picture.
pub(super) struct Scene {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) shapes: Vec<Shape>,
}

/// Red, green, blue.
pub(super) type Colour = [u8; 3];

/// A part of a picture.
pub(super) enum Shape {
    Polyline {
        points: Vec<[f32; 2]>,
        stroke: Stroke,
    },
    /// A filled area with a thin white edge, so that marks on top of each other stay apart.
    Polygon {
        points: Vec<[f32; 2]>,
        colour: Colour,
    },
    /// A filled area with an edge of its own.
    Face {
        points: Vec<[f32; 2]>,
        colour: Colour,
        edge: Stroke,
    },
    /// A filled circle with an edge of its own.
    Disk {
        centre: [f32; 2],
        radius: f32,
        colour: Colour,
        edge: Stroke,
    },
    /// A filled rectangle without an edge.
    Area {
        from: [f32; 2],
        to: [f32; 2],
        colour: Colour,
    },
    Text(Text),
}

/// How a line looks.
#[derive(Clone, Copy)]
pub(super) struct Stroke {
    pub(super) colour: Colour,
    pub(super) width: f32,
    /// Lengths of dash and gap; both zero for a solid line.
    pub(super) dash: [f32; 2],
}

impl Stroke {
    pub(super) fn solid(colour: Colour, width: f32) -> Self {
        Stroke { colour, width, dash: [0.0; 2] }
    }

    pub(super) fn is_dashed(&self) -> bool {
        self.dash[0] > 0.0
    }
}

/// A line of text; `at` is on its baseline.
pub(super) struct Text {
    pub(super) at: [f32; 2],
    pub(super) text: String,
    pub(super) size: f32,
    pub(super) colour: Colour,
    pub(super) anchor: Anchor,
    /// Written upwards.
    pub(super) upwards: bool,
}

/// Which end of the text is at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}
