//! Draws line and point charts as SVG.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Where the legend goes.
#[derive(Clone, Copy)]
pub enum Legend {
    /// Below the curves, which rise.
    Below,
    /// Above the curves, which fall.
    Above,
}

/// A chart of named lines (x, y), as an SVG document. Lines without points are left out.
pub fn lines(
    title: &str,
    (x, y): (&str, &str),
    legend: Legend,
    lines: &[(String, Vec<(f64, f64)>)],
) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 600)).into_drawing_area();
        // Writing to a string cannot fail; a chart without points stays empty.
        let _ = draw(&root, title, (x, y), legend, lines);
        let _ = root.present();
    }
    svg
}

/// A colour as `#rrggbb`, which every program that reads SVG knows. `hue` is in degrees, the others from 0 to 1.
pub fn hsl(hue: f64, saturation: f64, lightness: f64) -> String {
    let (red, green, blue) =
        HSLColor(hue.rem_euclid(360.0) / 360.0, saturation, lightness).to_backend_color().rgb;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// How a y-axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By factors; only numbers above 0 have a place.
    Log,
}

/// A line of means with the range of one standard deviation around it.
#[derive(Clone, Debug)]
pub struct Band {
    /// Name in the legend.
    pub name: String,
    /// x, mean and standard deviation.
    pub points: Vec<(f64, f64, f64)>,
}

/// Draws lines with bands, and horizontal dashed lines at the named `marks`, as an SVG document.
pub fn bands(
    title: &str,
    (x, y): (&str, &str),
    scale: Scale,
    bands: &[Band],
    marks: &[(String, f64)],
) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 540)).into_drawing_area();
        let values = bands.iter().flat_map(|b| &b.points).flat_map(|p| [p.1 - p.2, p.1, p.1 + p.2]);
        let values = values.chain(marks.iter().map(|m| m.1)).filter(|v| scale == Scale::Linear || *v > 0.0);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let last = bands.iter().filter_map(|b| b.points.last()).fold(1.0, |most: f64, p| most.max(p.0));
        // Writing to a string cannot fail; a chart without points stays empty.
        let _ = match scale {
            _ if low > high => Ok(()),
            // A logarithmic axis has numbers at powers of ten only.
            _ if scale == Scale::Linear || high < 20.0 * low => {
                let room = (0.04 * (high - low)).max(1e-9);
                draw_bands(&root, title, (x, y), (last, low - room, low - room..high + room), bands, marks)
            }
            _ => {
                let range = (0.85 * low..1.15 * high).log_scale();
                draw_bands(&root, title, (x, y), (last, 0.85 * low, range), bands, marks)
            }
        };
        let _ = root.present();
    }
    svg
}

/// Colours of bands, which differ for most readers, in print too.
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

fn draw_bands<Y>(
    root: &Area<'_>,
    title: &str,
    (x, y): (&str, &str),
    (last, floor, range): (f64, f64, Y),
    bands: &[Band],
    marks: &[(String, f64)],
) -> Result<(), Box<dyn std::error::Error>>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..last, range)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.1))
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&|v| short(*v))
        .y_label_formatter(&|v| short(*v))
        .draw()?;
    for (i, band) in bands.iter().enumerate() {
        let (red, green, blue) = COLOURS[i % COLOURS.len()];
        let colour = RGBColor(red, green, blue).to_rgba();
        if let [point] = &band.points[..] {
            chart.draw_series([Circle::new((point.0, point.1), 3, colour.filled())])?;
        }
        if band.points.iter().any(|p| p.2 > 0.0) {
            let upper = band.points.iter().map(|p| (p.0, p.1 + p.2));
            let lower = band.points.iter().rev().map(|p| (p.0, (p.1 - p.2).max(floor)));
            let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
            chart.draw_series([Polygon::new(outline, colour.mix(0.2).filled())])?;
        }
        chart
            .draw_series(LineSeries::new(band.points.iter().map(|p| (p.0, p.1)), colour.stroke_width(2)))?
            .label(&band.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    for (i, (name, value)) in marks.iter().enumerate() {
        let colour = if i == 0 { BLACK.mix(0.45) } else { BLACK.mix(0.8) };
        chart
            .draw_series(DashedLineSeries::new(
                [(0.0, *value), (last, *value)],
                6,
                4,
                colour.stroke_width(1),
            ))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(1)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::MiddleRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

/// A number for an axis: thousands as k and millions as M, else without trailing zeros.
fn short(v: f64) -> String {
    match v.abs() {
        a if a >= 1e6 => format!("{} M", (v / 1e4).round() / 100.0),
        a if a >= 1e4 => format!("{} k", (v / 10.0).round() / 100.0),
        a if a > 0.0 && a < 1e-3 => format!("{v:.0e}"),
        _ => format!("{}", (v * 1e4).round() / 1e4),
    }
}

/// The highest y drawn in a chart of clouds, as a multiple of the lowest.
pub const HIGHEST: f64 = 10.0;

/// Named points.
pub struct Cloud {
    /// Name in the legend.
    pub name: String,
    /// x and y.
    pub points: Vec<(f64, f64)>,
}

/// Draws points (x, y), all finite and above 0, on logarithmic scales, as an SVG document. A line joins the
/// points of a cloud that have no other point of it to the left and below. Points above [`HIGHEST`] times the
/// lowest y are left out, because one bad run would flatten all others.
pub fn clouds(title: &str, (x, y): (&str, &str), clouds: &[Cloud]) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 600)).into_drawing_area();
        // Writing to a string cannot fail.
        let _ = draw_clouds(&root, title, (x, y), clouds);
        let _ = root.present();
    }
    svg
}

fn draw_clouds(
    root: &Area<'_>,
    title: &str,
    (x, y): (&str, &str),
    clouds: &[Cloud],
) -> Result<(), Box<dyn std::error::Error>> {
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
        .x_desc(x)
        .y_desc(y)
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

/// The points without another point to the left and below, from left to right.
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

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(
    root: &Area<'_>,
    title: &str,
    (x, y): (&str, &str),
    legend: Legend,
    lines: &[(String, Vec<(f64, f64)>)],
) -> Result<(), Box<dyn std::error::Error>> {
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
    chart.configure_mesh().x_desc(x).y_desc(y).draw()?;
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
