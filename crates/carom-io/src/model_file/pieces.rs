//! What gives a contact its gap and tangents, or a constraint its equations: formulas, pieces with conditions, a chain of segments and arcs.

use super::error::{Diagnostic, suggestion};
use super::numbers::{Must, Reader};
use super::schema::{ConstraintPieceSchema, ConstraintSchema, ContactSchema, Schema};
use super::value::{ChainValue, Table, Value};
use carom_dynamics::relations::{ChainSource, CornerLaw, PieceSource, PiecewiseSource, Primitive};
use carom_dynamics::strategies::StrategyKind;
use std::ops::Range;
use toml::Spanned;

type Text = Spanned<String>;

/// The source of a relation, with the texts it comes from.
pub(super) enum Geometry<'a> {
    Formulas { texts: Vec<&'a Text>, rows: Vec<(String, String)> },
    Pieces { texts: Vec<&'a Text>, source: PiecewiseSource, place: Range<usize> },
    Chain { texts: Vec<&'a Text>, source: ChainSource, place: Range<usize> },
}

impl<'a> Geometry<'a> {
    pub fn texts(&self) -> &[&'a Text] {
        match self {
            Geometry::Formulas { texts, .. } | Geometry::Pieces { texts, .. } | Geometry::Chain { texts, .. } => texts,
        }
    }

    /// Where mistakes that are in no single formula are shown.
    pub fn place(&self) -> Option<Range<usize>> {
        match self {
            Geometry::Formulas { .. } => None,
            Geometry::Pieces { place, .. } | Geometry::Chain { place, .. } => Some(place.clone()),
        }
    }

    /// Rows after the first.
    pub fn n_tangents(&self) -> usize {
        let rows = match self {
            Geometry::Formulas { rows, .. } => rows.len(),
            Geometry::Pieces { source, .. } => source.pieces.first().map_or(0, |piece| piece.rows.len()),
            Geometry::Chain { source, .. } => 1 + usize::from(source.tangent),
        };
        rows.saturating_sub(1)
    }

    /// Whether a chain, which knows its tangent, needs it.
    pub(crate) fn use_tangent(&mut self, needed: bool) {
        if let Geometry::Chain { source, .. } = self {
            source.tangent = needed;
        }
    }
}

/// The geometry of a `[[contact]]`.
pub(super) fn contact<'a>(reader: &mut Reader<'_>, (name, span): (&str, Range<usize>), s: &'a ContactSchema) -> Option<Geometry<'a>> {
    let before = reader.mistakes.len();
    let geometry = match (&s.gap, &s.pieces, &s.chain) {
        (Some(gap), None, None) => {
            let tangents = tangents(reader, s.tangent.as_ref(), s.tangents.as_ref())?;
            let (texts, rows) = contact_rows(name, "", gap, &tangents);
            Some(Geometry::Formulas { texts, rows })
        }
        (None, Some(list), None) => {
            let mut texts = Vec::new();
            let mut pieces = Vec::new();
            for (i, piece) in list.get_ref().iter().enumerate() {
                let p = piece.get_ref();
                let tangents = tangents(reader, p.tangent.as_ref(), p.tangents.as_ref())?;
                let (own, rows) = contact_rows(name, &format!("piece {} of ", i + 1), &p.gap, &tangents);
                texts.extend(own.into_iter().chain(&p.when));
                pieces.push(PieceSource { when: when(name, i, p.when.as_ref()), rows });
            }
            let source =
                PiecewiseSource { name: name.to_owned(), pieces, parameters: reader.parameters.clone(), corner: corner(reader, &s.corner) };
            Some(Geometry::Pieces { texts, source, place: list.span() })
        }
        (None, None, Some(list)) => chain(reader, name, s, list),
        _ => {
            let help =
                "give one of `gap = \"…\"`, `pieces = [{ when = \"…\", gap = \"…\" }, …]` and `chain = […]` with `point = [\"…\", \"…\"]`";
            reader.wrong(span, format!("\"{name}\" has no gap, or several kinds of it"), help);
            None
        }
    };
    if let (None, Some(key)) = (&s.gap, s.tangent.as_ref().map(Spanned::span).or(s.tangents.as_ref().map(Spanned::span))) {
        let help = if s.chain.is_some() { "a chain has its own tangent: leave it out" } else { "give each piece its tangent" };
        reader.wrong(key, format!("\"{name}\" has a tangent, but no gap that it belongs to"), help);
    }
    if s.chain.is_none() {
        let keys = [
            ("point", s.point.as_ref().map(Spanned::span)),
            ("radius", s.radius.as_ref().map(Spanned::span)),
            ("angle", s.angle.as_ref().map(Spanned::span)),
        ];
        for (key, span) in keys.into_iter().filter_map(|(key, span)| span.map(|span| (key, span))) {
            reader.wrong(
                span,
                format!("`{key}` of \"{name}\" belongs to a chain, and there is none"),
                "give `chain = […]`, or leave it out",
            );
        }
    }
    if let (Some(_), Some(corner)) = (&s.gap, &s.corner) {
        corner_of_nothing(reader, name, corner);
    }
    geometry.filter(|_| reader.mistakes.len() == before)
}

/// The pieces of a `[[constraint]]`.
pub(super) fn constraint<'a>(
    reader: &mut Reader<'_>,
    (name, span): (&str, Range<usize>),
    s: &'a ConstraintSchema,
    list: &'a Spanned<Vec<Spanned<ConstraintPieceSchema>>>,
) -> Option<Geometry<'a>> {
    let before = reader.mistakes.len();
    if s.equation.is_some() || s.equations.is_some() || s.velocity.is_some() || s.velocities.is_some() {
        reader.wrong(span, format!("\"{name}\" has pieces and equations beside them"), "put the equations into the pieces");
    }
    let (mut texts, mut pieces) = (Vec::new(), Vec::new());
    for (i, piece) in list.get_ref().iter().enumerate() {
        let p = piece.get_ref();
        let equations: Vec<&Text> = match (&p.equation, &p.equations) {
            (Some(one), None) => vec![one],
            (None, Some(many)) if (1..=6).contains(&many.get_ref().len()) => many.get_ref().iter().collect(),
            _ => {
                let help = "give `equation = \"…\"`, or `equations = [\"…\", …]` with 1 to 6 of them";
                reader.wrong(piece.span(), format!("piece {} of \"{name}\" has no equation, or too many", i + 1), help);
                continue;
            }
        };
        let rows = equations.iter().map(|e| (format!("equation of piece {} of \"{name}\"", i + 1), e.get_ref().clone())).collect();
        pieces.push(PieceSource { when: when(name, i, p.when.as_ref()), rows });
        texts.extend(equations.into_iter().chain(&p.when));
    }
    let source =
        PiecewiseSource { name: name.to_owned(), pieces, parameters: reader.parameters.clone(), corner: corner(reader, &s.corner) };
    (reader.mistakes.len() == before).then_some(Geometry::Pieces { texts, source, place: list.span() })
}

fn when(name: &str, i: usize, text: Option<&Text>) -> Option<(String, String)> {
    text.map(|text| (format!("condition of piece {} of \"{name}\"", i + 1), text.get_ref().clone()))
}

/// The tangents of a contact or piece; `None` for a mistake.
fn tangents<'a>(reader: &mut Reader<'_>, one: Option<&'a Text>, many: Option<&'a Spanned<Vec<Text>>>) -> Option<Vec<&'a Text>> {
    match (one, many) {
        (None, None) => Some(Vec::new()),
        (Some(one), None) => Some(vec![one]),
        (None, Some(many)) if (1..=2).contains(&many.get_ref().len()) => Some(many.get_ref().iter().collect()),
        (None, Some(many)) => {
            reader.wrong(many.span(), format!("there are {} tangents", many.get_ref().len()), "give one (2D) or two (3D)");
            None
        }
        (Some(_), Some(many)) => {
            reader.wrong(many.span(), "both `tangent` and `tangents` are given", "give one of them");
            None
        }
    }
}

/// The formulas of a contact or piece and its rows: the gap, then the tangents.
fn contact_rows<'a>(name: &str, piece: &str, gap: &'a Text, tangents: &[&'a Text]) -> (Vec<&'a Text>, Vec<(String, String)>) {
    let mut rows = vec![(format!("gap of {piece}\"{name}\""), gap.get_ref().clone())];
    rows.extend(tangents.iter().map(|t| (format!("tangent of {piece}\"{name}\""), t.get_ref().clone())));
    (std::iter::once(gap).chain(tangents.iter().copied()).collect(), rows)
}

/// The law of corners, an impact unless another is named.
fn corner(reader: &mut Reader<'_>, text: &Option<Text>) -> CornerLaw {
    let Some(text) = text else { return CornerLaw::Impact };
    CornerLaw::from_name(text.get_ref()).unwrap_or_else(|| {
        let names: Vec<&str> = CornerLaw::LIST.iter().map(|(name, _)| *name).collect();
        reader.wrong(text.span(), format!("there is no law of corners \"{}\"", text.get_ref()), suggestion(text.get_ref(), &names));
        CornerLaw::Impact
    })
}

/// Refuses a law of corners where nothing has corners.
pub(super) fn corner_of_nothing(reader: &mut Reader<'_>, name: &str, corner: &Text) {
    reader.wrong(
        corner.span(),
        format!("\"{name}\" is one piece: it has no corners"),
        "`corner` goes with `pieces` or `chain`; leave it out",
    );
}

/// Refuses laws of corners that the strategy does not follow.
pub(super) fn check_corners(reader: &mut Reader<'_>, schema: &Schema, strategy: StrategyKind) {
    if strategy.locates_events() {
        return;
    }
    let constraints = schema.constraints.iter().filter_map(|c| c.get_ref().corner.as_ref());
    for corner in constraints.chain(schema.contacts.iter().filter_map(|c| c.get_ref().corner.as_ref())) {
        if matches!(CornerLaw::from_name(corner.get_ref()), Some(CornerLaw::TimeScaling | CornerLaw::Reflection)) {
            let message = format!("corner = \"{}\" needs the instant at which a corner is passed", corner.get_ref());
            let help = "use strategy = \"event-driven\", or leave `corner` out: steps in time know impacts only";
            reader.mistakes.push(Diagnostic::refusal(corner.span(), message).help(help));
        }
    }
}

/// The contact of a point or disc with a chain.
fn chain<'a>(
    reader: &mut Reader<'_>,
    name: &str,
    s: &'a ContactSchema,
    list: &'a Spanned<Vec<Spanned<ChainValue>>>,
) -> Option<Geometry<'a>> {
    let mut chain = Vec::new();
    let mut complete = true;
    for part in list.get_ref() {
        complete &= primitives(reader, name, part, &mut chain).is_some();
    }
    let point = match &s.point {
        Some(point) if point.get_ref().len() == 2 => Some(point.get_ref()),
        Some(point) => {
            reader.wrong(
                point.span(),
                format!("the point of \"{name}\" has {} formulas", point.get_ref().len()),
                "give two: `point = [\"x\", \"y\"]`",
            );
            None
        }
        None => {
            reader.wrong(
                list.span(),
                format!("the chain of \"{name}\" has no point that touches it"),
                "give its formulas: `point = [\"x\", \"y\"]`",
            );
            None
        }
    };
    let radius = reader.number_or(s.radius.as_ref(), 0.0, &format!("the radius of \"{name}\""), Must::NotBeNegative);
    let corner = corner(reader, &s.corner);
    let (point, radius) = (point?, radius?);
    if !complete {
        return None;
    }
    let named = |what: &str, text: &Text| (format!("{what} of \"{name}\""), text.get_ref().clone());
    let texts = point.iter().chain(&s.angle).collect();
    let source = ChainSource {
        name: name.to_owned(),
        point: [named("first coordinate of the point", &point[0]), named("second coordinate of the point", &point[1])],
        radius,
        angle: s.angle.as_ref().map(|angle| named("angle", angle)),
        tangent: true,
        chain,
        parameters: reader.parameters.clone(),
        corner,
    };
    Some(Geometry::Chain { texts, source, place: list.span() })
}

/// The segments between points, or an arc.
fn primitives(reader: &mut Reader<'_>, name: &str, part: &Spanned<ChainValue>, chain: &mut Vec<Primitive>) -> Option<()> {
    match part.get_ref() {
        ChainValue::Points(points) if points.len() >= 2 => {
            let what = format!("a point of the chain of \"{name}\"");
            let points: Option<Vec<[f64; 2]>> = points.iter().map(|point| reader.vector::<2>(point, &what)).collect();
            chain.extend(points?.windows(2).map(|pair| Primitive::Segment { from: pair[0], to: pair[1] }));
            Some(())
        }
        ChainValue::Points(_) => {
            reader.wrong(
                part.span(),
                format!("a segment of the chain of \"{name}\" has one point or none"),
                "give at least two: [[x, y], [x, y]]",
            );
            None
        }
        ChainValue::Arc(table) => {
            chain.push(arc(reader, name, part.span(), table)?);
            Some(())
        }
    }
}

fn arc(reader: &mut Reader<'_>, name: &str, span: Range<usize>, table: &Table<Spanned<Value>>) -> Option<Primitive> {
    const KEYS: [&str; 4] = ["centre", "radius", "from", "to"];
    for (key, _) in &table.0 {
        if !KEYS.contains(&key.get_ref().as_str()) {
            let message = format!("an arc of the chain of \"{name}\" has no `{}`", key.get_ref());
            reader.wrong(key.span(), message, suggestion(key.get_ref(), &KEYS));
            return None;
        }
    }
    let mut value = |wanted: &str| {
        let found = table.0.iter().find(|(key, _)| key.get_ref() == wanted).map(|(_, value)| value);
        if found.is_none() {
            let help =
                "give { centre = [x, y], radius = …, from = …, to = … }, angles in radians; to a larger angle it goes counter-clockwise";
            reader.wrong(span.clone(), format!("an arc of the chain of \"{name}\" has no `{wanted}`"), help);
        }
        found
    };
    let (centre, radius, from, to) = (value("centre"), value("radius"), value("from"), value("to"));
    let (centre, radius, from, to) = (centre?, radius?, from?, to?);
    let what = |key: &str| format!("`{key}` of an arc of the chain of \"{name}\"");
    let centre = reader.vector::<2>(centre, &what("centre"));
    let radius = reader.number(radius, &what("radius"), Must::BePositive);
    let from = reader.number(from, &what("from"), Must::BeFinite);
    let to = reader.number(to, &what("to"), Must::BeFinite);
    Some(Primitive::Arc { centre: centre?, radius: radius?, from: from?, to: to? })
}
