//! A plot of a table: both axes logarithmic, a line for each contender.
//!
//! Written by hand and not by `plotters`: lines, dashes and text are all there is, an SVG of a few
//! elements shows in a diff which figure moved, and the library would be the largest dependency of the
//! benchmark apart from its contenders.

use std::fmt::Write as _;

use crate::cells::Plan;
use crate::contender::{Contender, Library, Mechanism, Sides};
use crate::render::is_published;
use crate::results::Results;

const WIDTH: f64 = 890.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 40.0;

/// One colour for each library, one kind of line for each mechanism. A pair has its client's colour,
/// and a broken line where its sides differ.
fn style(contender: Contender) -> (&'static str, &'static str) {
    let colour = match contender.client() {
        Library::Sealwire => "#c1121f",
        Library::SealwireBatches => "#780000",
        Library::Libzmq => "#1d4e89",
        Library::SealwireAsLibzmq => "#6a4c93",
        Library::Omq | Library::OmqBlake3 => "#2a9d4a",
        Library::ZmqRs => "#8a5a00",
        Library::Tcp | Library::Tls => "#666666",
    };
    let dashes = match (contender.sides, contender.mechanism) {
        (Sides::Pair { client, server }, _) if client == server => "none",
        (Sides::Same(_), Mechanism::Blake3) => "none",
        (Sides::Pair { .. }, _) | (Sides::Same(_), Mechanism::Curve) => "8 4",
        (Sides::Same(_), Mechanism::Null) => "2 4",
    };
    (colour, dashes)
}

pub(crate) fn plot(plan: &Plan, columns: &[usize], results: &Results) -> String {
    let slug = plan.slug();
    let lines: Vec<(Contender, Vec<(usize, f64)>)> = plan
        .contenders
        .iter()
        .filter(|contender| is_published(**contender))
        .map(|&contender| {
            let name = contender.to_string();
            let point = |(index, &column): (usize, &usize)| {
                results
                    .find(&slug, column, &name)
                    .map(|figure| (index, figure.median()))
            };
            (
                contender,
                columns.iter().enumerate().filter_map(point).collect(),
            )
        })
        .collect();
    let values = lines
        .iter()
        .flat_map(|(_, points)| points.iter().map(|point| point.1));
    let lowest = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
    let highest = values.fold(0.0, f64::max).log10().ceil();
    let x = |index: usize| {
        LEFT + (WIDTH - LEFT - RIGHT) * index as f64 / (columns.len() - 1).max(1) as f64
    };
    let y = |value: f64| {
        let part = (value.log10() - lowest) / (highest - lowest).max(1.0);
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part
    };

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{}</text>\n",
        plan.heading(),
    );
    for exponent in lowest as i32..=highest as i32 {
        let value = 10_f64.powi(exponent);
        let height = y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{height:.1}\" x2=\"{:.1}\" y2=\"{height:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            height + 4.0,
            power_of_ten(exponent),
        );
    }
    for (index, &column) in columns.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(index),
            HEIGHT - BOTTOM + 20.0,
            plan.column_name(column),
        );
    }
    let drawn = lines.iter().filter(|(_, points)| !points.is_empty());
    for (row, (contender, points)) in drawn.enumerate() {
        let (colour, dashes) = style(*contender);
        let path: Vec<_> = points
            .iter()
            .map(|&(index, value)| format!("{:.1},{:.1}", x(index), y(value)))
            .collect();
        let (legend_x, legend_y) = (WIDTH - RIGHT + 14.0, TOP + 20.0 * row as f64 + 8.0);
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\n\
             <line x1=\"{legend_x}\" y1=\"{legend_y}\" x2=\"{}\" y2=\"{legend_y}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\n\
             <text x=\"{}\" y=\"{}\">{contender}</text>",
            path.join(" "),
            legend_x + 26.0,
            legend_x + 32.0,
            legend_y + 4.0,
        );
    }
    svg += "</svg>\n";
    svg
}

fn power_of_ten(exponent: i32) -> String {
    match exponent {
        0..=2 => format!("{}", 10_i32.pow(exponent as u32)),
        3..=5 => format!("{}k", 10_i32.pow(exponent as u32 - 3)),
        6..=8 => format!("{}M", 10_i32.pow(exponent as u32 - 6)),
        _ => format!("10^{exponent}"),
    }
}
