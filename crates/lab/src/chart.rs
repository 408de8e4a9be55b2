//! Line and point charts as SVG.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Position of the legend.
#[derive(Clone, Copy)]
pub enum Legend {
    /// Below the curves, which rise.
    Below,
    /// Above the curves, which fall.
    Above,
}

/// The labels of two axes.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// Of the horizontal axis.
    pub x: &'a str,
    /// Of the vertical axis.
    pub y: &'a str,
}

/// Draws named lines (x, y) as an SVG document. Lines without points are omitted.
pub fn lines(title: &str, axes: Axes<'_>, legend: Legend, lines: &[(String, Vec<(f64, f64)>)]) -> String {
    document(600, |root| draw(root, title, axes, legend, lines))
}

/// An SVG document of this height. A chart without points stays empty.
fn document(height: u32, draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, height)).into_drawing_area();
        // Writing to a string cannot fail.
        let _ = draw(&root);
        let _ = root.present();
    }
    svg
}

/// Converts a colour to `#rrggbb`, which every SVG program supports. `hue` is in degrees, the others are from 0 to 1.
pub fn hsl(hue: f64, saturation: f64, lightness: f64) -> String {
    let (red, green, blue) =
        HSLColor(hue.rem_euclid(360.0) / 360.0, saturation, lightness).to_backend_color().rgb;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Scale of a y-axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Evenly.
    Linear,
    /// Logarithmic, for positive numbers.
    Log,
}

/// Means with a band of one standard deviation.
#[derive(Clone, Debug)]
pub(crate) struct Band {
    /// Name in the legend.
    pub(crate) name: String,
    /// x, mean and standard deviation.
    pub(crate) points: Vec<(f64, f64, f64)>,
}

/// A horizontal dashed line at a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Name in the legend.
    pub name: String,
    /// The value.
    pub value: f64,
}

/// The visible range of a y-axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Lowest value.
    pub low: f64,
    /// Highest value.
    pub high: f64,
}

impl Range {
    /// The range of the curves. A mark near them extends it; a mark farther away than a sixth of their height is
    /// omitted, because it would compress them. `None` if there is nothing to draw.
    pub(crate) fn around(scale: Scale, bands: &[Band], marks: &[Mark]) -> Option<Self> {
        let points = || bands.iter().flat_map(|band| &band.points);
        let place = |v: f64| if scale == Scale::Log { v.ln() } else { v };
        let is_drawn = |v: f64| v.is_finite() && (scale == Scale::Linear || v > 0.0);
        let mut range: Option<(f64, f64)> = None;
        let mut widen = |v: f64| {
            if is_drawn(v) {
                let (low, high) = range.unwrap_or((v, v));
                range = Some((low.min(v), high.max(v)));
            }
        };
        for (_, mean, sd) in points() {
            widen(*mean);
            widen(mean + sd);
            // Below half of a mean, a logarithmic scale mostly shows noise of the deviation.
            widen(if scale == Scale::Log { (mean - sd).max(0.5 * mean) } else { mean - sd });
        }
        let (low, high) = range?;
        let room = (place(high) - place(low)) / 6.0;
        let is_near = |v: &f64| (place(low) - room..=place(high) + room).contains(&place(*v));
        let near = marks.iter().map(|mark| mark.value).filter(|v| is_drawn(*v)).filter(is_near);
        let (low, high) = near.fold((low, high), |(low, high), v| (low.min(v), high.max(v)));
        Some(Self { low, high })
    }

    /// Whether the range contains a value.
    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The legend of a mark: its name, and its value if it is outside the range.
    pub(crate) fn legend(&self, mark: &Mark) -> String {
        match mark.value {
            v if v < self.low => format!("{} (below)", mark.name),
            v if v > self.high => format!("{} (above)", mark.name),
            _ => mark.name.clone(),
        }
    }
}

/// Draws means with bands and horizontal dashed lines at `marks` as an SVG document. [`Range::around`] chooses the
/// y-range; the legend names marks outside it.
pub(crate) fn bands(title: &str, axes: Axes<'_>, scale: Scale, bands: &[Band], marks: &[Mark]) -> String {
    let last = bands.iter().filter_map(|b| b.points.last()).fold(1.0, |most: f64, p| most.max(p.0));
    document(540, |root| match Range::around(scale, bands, marks) {
        None => Ok(()),
        // A logarithmic axis only has labels at powers of ten.
        Some(range) if scale == Scale::Linear || range.high < 20.0 * range.low => {
            let room = (0.04 * (range.high - range.low)).max(1e-9);
            let axis = range.low - room..range.high + room;
            draw_bands(root, title, axes, Frame { last, floor: axis.start, axis }, &range, bands, marks)
        }
        Some(range) => {
            let axis = 0.85 * range.low..1.15 * range.high;
            let frame = Frame { last, floor: axis.start, axis: axis.log_scale() };
            draw_bands(root, title, axes, frame, &range, bands, marks)
        }
    })
}

/// Colours of bands, distinguishable for most readers, also in print.
const COLOURS: [(u8, u8, u8); 8] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (90, 60, 150),
    (230, 159, 0),
    (86, 180, 233),
    (80, 80, 80),
];

/// The part of the plane that a chart shows.
struct Frame<Y> {
    /// The end of the horizontal axis, which begins at 0.
    last: f64,
    /// The lowest value of the vertical axis.
    floor: f64,
    /// The vertical axis.
    axis: Y,
}

fn draw_bands<Y>(
    root: &Area<'_>,
    title: &str,
    axes: Axes<'_>,
    frame: Frame<Y>,
    range: &Range,
    bands: &[Band],
    marks: &[Mark],
) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let Frame { last, floor, axis } = frame;
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..last, axis)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .x_desc(axes.x)
        .y_desc(axes.y)
        .x_label_formatter(&|v| short(*v))
        .y_label_formatter(&|v| short(*v))
        .draw()?;
    for (i, band) in bands.iter().enumerate() {
        let (red, green, blue) = COLOURS[i % COLOURS.len()];
        let colour = RGBColor(red, green, blue).to_rgba();
        if let [point] = &band.points[..] {
            chart.draw_series([Circle::new((point.0, point.1.max(floor)), 3, colour.filled())])?;
        }
        if band.points.iter().any(|p| p.2 > 0.0) {
            let upper = band.points.iter().map(|p| (p.0, (p.1 + p.2).max(floor)));
            let lower = band.points.iter().rev().map(|p| (p.0, (p.1 - p.2).max(floor)));
            let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
            chart.draw_series([Polygon::new(outline, colour.mix(0.2).filled())])?;
        }
        chart
            .draw_series(LineSeries::new(
                band.points.iter().map(|p| (p.0, p.1.max(floor))),
                colour.stroke_width(2),
            ))?
            .label(&band.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    for (i, mark) in marks.iter().enumerate() {
        let colour = if i == 0 { BLACK.mix(0.45) } else { BLACK.mix(0.8) };
        let shown = range.contains(mark.value);
        let line = [(0.0, mark.value), (last, mark.value)].into_iter().filter(move |_| shown);
        chart
            .draw_series(DashedLineSeries::new(line, 6, 4, colour.stroke_width(1)))?
            .label(range.legend(mark))
            // A mark outside the range has no line in the legend.
            .legend(move |(x, y)| {
                let end = if shown { x + 18 } else { x };
                plotters::element::DashedPathElement::new([(x, y), (end, y)], 5, 3, colour.stroke_width(1))
            });
    }
    chart
        .configure_series_labels()
        .position(legend_at(bands))
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

/// The corner that the lines leave free, depending on whether they rise or fall.
fn legend_at(bands: &[Band]) -> SeriesLabelPosition {
    let ends = bands.iter().filter_map(|band| Some((band.points.first()?.1, band.points.last()?.1)));
    match ends.map(|(first, last)| last - first).sum::<f64>() > 0.0 {
        true => SeriesLabelPosition::LowerRight,
        false => SeriesLabelPosition::UpperRight,
    }
}

/// Formats a number of an axis: thousands as k and millions as M, otherwise without trailing zeros.
fn short(v: f64) -> String {
    match v.abs() {
        a if a >= 1e6 => format!("{} M", (v / 1e4).round() / 100.0),
        a if a >= 1e4 => format!("{} k", (v / 10.0).round() / 100.0),
        a if a > 0.0 && a < 1e-3 => format!("{v:.0e}"),
        _ => format!("{}", (v * 1e4).round() / 1e4),
    }
}

/// Largest y in a chart of clouds, as a multiple of the smallest.
pub const HIGHEST: f64 = 10.0;

/// A named set of points.
pub struct Cloud {
    /// Name in the legend.
    pub name: String,
    /// x and y.
    pub points: Vec<(f64, f64)>,
}

/// Draws points (x, y), all finite and positive, on logarithmic scales, as an SVG document. A line joins the Pareto
/// frontier of each cloud: points without another one to the left and below. Points above [`HIGHEST`] times the
/// smallest y are omitted, because one bad run would flatten all others.
pub fn clouds(title: &str, axes: Axes<'_>, clouds: &[Cloud]) -> String {
    document(600, |root| draw_clouds(root, title, axes, clouds))
}

fn draw_clouds(root: &Area<'_>, title: &str, axes: Axes<'_>, clouds: &[Cloud]) -> Drawn {
    root.fill(&WHITE)?;
    let lowest = clouds.iter().flat_map(|c| &c.points).map(|p| p.1).fold(f64::INFINITY, f64::min);
    let shown = |p: &&(f64, f64)| p.1 <= HIGHEST * lowest;
    let points = || clouds.iter().flat_map(|c| &c.points).filter(shown);
    if points().next().is_none() {
        return Ok(());
    }
    let range = |f: fn(&(f64, f64)) -> f64| {
        let (low, high) = points().map(f).fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
        (0.85 * low..1.15 * high).log_scale()
    };
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(range(|p| p.0), range(|p| p.1))?;
    let short = |v: &f64| format!("{v}");
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .x_labels(12)
        .y_labels(20)
        .x_desc(axes.x)
        .y_desc(axes.y)
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .draw()?;
    for (i, cloud) in clouds.iter().enumerate() {
        let colour = Palette99::pick(i).to_rgba();
        chart.draw_series(cloud.points.iter().filter(shown).map(|p| Circle::new(*p, 3, colour.filled())))?;
        chart
            .draw_series(LineSeries::new(
                frontier(cloud.points.iter().filter(shown)),
                colour.stroke_width(2),
            ))?
            .label(&cloud.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

/// The Pareto frontier, from left to right.
fn frontier<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points.copied().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut best = f64::INFINITY;
    sorted.retain(|p| {
        p.1 < best && {
            best = p.1;
            true
        }
    });
    sorted
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(
    root: &Area<'_>,
    title: &str,
    axes: Axes<'_>,
    legend: Legend,
    lines: &[(String, Vec<(f64, f64)>)],
) -> Drawn {
    root.fill(&WHITE)?;
    let points = || lines.iter().flat_map(|l| &l.1);
    let range = |f: fn(&(f64, f64)) -> f64| {
        let (low, high) =
            points().map(f).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low < high { low..high } else { low - 0.5..low + 0.5 }
    };
    if points().next().is_none() {
        return Ok(());
    }
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(range(|p| p.0), range(|p| p.1))?;
    chart.configure_mesh().x_desc(axes.x).y_desc(axes.y).draw()?;
    for (i, (name, points)) in lines.iter().enumerate() {
        let colour = Palette99::pick(i).to_rgba();
        chart
            .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(match legend {
            Legend::Below => SeriesLabelPosition::LowerRight,
            Legend::Above => SeriesLabelPosition::UpperRight,
        })
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(points: &[(f64, f64)]) -> Band {
        Band { name: "learner".into(), points: points.iter().map(|&(x, y)| (x, y, 0.0)).collect() }
    }

    fn mark(name: &str, value: f64) -> Mark {
        Mark { name: name.into(), value }
    }

    #[test]
    fn the_axis_begins_where_the_lines_are() {
        let lines = [band(&[(0.0, 0.5), (10.0, 0.6)])];
        let marks = [mark("random play", -0.76), mark("best possible", 0.61)];
        let range = Range::around(Scale::Linear, &lines, &marks).unwrap();
        assert_eq!((range.low, range.high), (0.5, 0.61));
        assert_eq!(range.legend(&marks[0]), "random play (below)");
        assert_eq!(range.legend(&marks[1]), "best possible");

        let drawn = bands("game", Axes { x: "games", y: "equity" }, Scale::Linear, &lines, &marks);
        assert!(drawn.contains("random play (below)") && drawn.contains("best possible\n"), "{drawn}");
        // A mark inside the range is dashed in the drawing and in the legend; one outside is not.
        let only = |marks: &[Mark]| {
            bands("game", Axes { x: "games", y: "equity" }, Scale::Linear, &lines, marks)
                .matches("<polyline")
                .count()
        };
        assert_eq!(only(&marks[..1]), only(&[]));
        assert!(only(&marks[1..]) > only(&[]) + 20);
    }

    #[test]
    fn a_logarithmic_axis_has_room_for_zero_and_for_wide_bands() {
        let lines = [Band {
            name: "learner".into(),
            points: vec![(0.0, 1.0, 0.1), (1.0, 0.01, 0.01), (2.0, 0.0, 0.0)],
        }];
        let range = Range::around(Scale::Log, &lines, &[mark("exact", 0.0)]).unwrap();
        assert_eq!((range.low, range.high), (0.005, 1.1));
        let drawn = bands("game", Axes { x: "games", y: "error" }, Scale::Log, &lines, &[mark("exact", 0.0)]);
        assert!(
            drawn.contains("exact (below)") && !drawn.contains("NaN") && !drawn.contains("inf"),
            "{drawn}"
        );
        assert_eq!(Range::around(Scale::Log, &[band(&[(0.0, 0.0)])], &[]), None);
    }
}
