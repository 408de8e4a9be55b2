//! Line charts as SVG.

use plotters::prelude::*;

/// Where curves leave room for their names.
#[derive(Clone, Copy)]
pub(crate) enum Legend {
    /// They rise.
    Below,
    /// They fall.
    Above,
}

/// A chart of named lines (x, y), as an SVG document. Lines without points are left out.
pub(crate) fn lines(
    title: &str,
    (x, y): (&str, &str),
    legend: Legend,
    lines: &[(String, Vec<(f64, f64)>)],
) -> String {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (960, 600)).into_drawing_area();
        // Drawing into a string cannot fail; a chart without points stays empty.
        let _ = draw(&root, title, (x, y), legend, lines);
        let _ = root.present();
    }
    svg
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
