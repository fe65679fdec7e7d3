//! The plot of a run: memory of both processes, descriptors, connections and messages a second, over time.

use std::fmt::Write as _;

use crate::sample::Sample;

const WIDTH: f64 = 890.0;
const PANEL: f64 = 130.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 26.0;
/// Samples that a rate is taken over.
const OVER: usize = 12;

struct Line {
    name: &'static str,
    colour: &'static str,
    values: Vec<f64>,
}

fn line(
    name: &'static str,
    colour: &'static str,
    samples: &[Sample],
    of: impl Fn(&Sample) -> u64,
) -> Line {
    let values = samples.iter().map(|it| of(it) as f64).collect();
    Line {
        name,
        colour,
        values,
    }
}

/// Messages a second.
fn rates(samples: &[Sample]) -> Vec<f64> {
    let rate = |at: usize| {
        let (from, to) = (&samples[at.saturating_sub(OVER)], &samples[at]);
        let seconds = to.seconds.saturating_sub(from.seconds).max(1);
        to.arrived.saturating_sub(from.arrived) as f64 / seconds as f64
    };
    (0..samples.len()).map(rate).collect()
}

pub(crate) fn plot(samples: &[Sample]) -> String {
    let panels: [(&str, Vec<Line>); 4] = [
        (
            "MiB in memory",
            vec![
                line("server", "#c1121f", samples, |it| {
                    it.server.resident / 1_024
                }),
                line("clients", "#1d4e89", samples, |it| {
                    it.clients.resident / 1_024
                }),
            ],
        ),
        (
            "descriptors, connections",
            vec![
                line("descriptors of the server", "#c1121f", samples, |it| {
                    it.server.descriptors
                }),
                line("descriptors of the clients", "#1d4e89", samples, |it| {
                    it.clients.descriptors
                }),
                line("connections", "#2a9d4a", samples, |it| it.connections),
            ],
        ),
        (
            "threads",
            vec![
                line("server", "#c1121f", samples, |it| it.server.threads),
                line("clients", "#1d4e89", samples, |it| it.clients.threads),
            ],
        ),
        (
            "messages a second to the server",
            vec![Line {
                name: "over a minute",
                colour: "#c1121f",
                values: rates(samples),
            }],
        ),
    ];
    let end = samples.last().map_or(1, |it| it.seconds.max(1)) as f64;
    let height = panels.len() as f64 * (PANEL + TOP) + 30.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (index, (title, lines)) in panels.iter().enumerate() {
        let top = index as f64 * (PANEL + TOP) + TOP;
        panel(&mut svg, title, lines, samples, (top, end));
    }
    for part in 0..=6 {
        let (x, minute) = (
            LEFT + (WIDTH - LEFT - RIGHT) * f64::from(part) / 6.0,
            end * f64::from(part) / 360.0,
        );
        let _ = writeln!(
            svg,
            "<text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{minute:.0} min</text>",
            height - 10.0
        );
    }
    svg += "</svg>\n";
    svg
}

fn panel(
    svg: &mut String,
    title: &str,
    lines: &[Line],
    samples: &[Sample],
    (top, end): (f64, f64),
) {
    let highest = lines
        .iter()
        .flat_map(|it| &it.values)
        .fold(1.0_f64, |most, it| most.max(*it));
    let (right, bottom) = (WIDTH - RIGHT, top + PANEL - 20.0);
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.0}\" font-weight=\"bold\">{title}</text>",
        top - 8.0
    );
    for part in [0.0, 0.5, 1.0] {
        let y = bottom - (bottom - top) * part;
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.0}\" y2=\"{y:.0}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{:.0}</text>",
            LEFT - 6.0,
            y + 4.0,
            highest * part
        );
    }
    // Where the names stand, from the right.
    let mut at = right;
    for Line {
        name,
        colour,
        values,
    } in lines.iter().rev()
    {
        let points: Vec<_> = samples
            .iter()
            .zip(values)
            .map(|(sample, value)| {
                let x = LEFT + (right - LEFT) * sample.seconds as f64 / end;
                format!("{x:.1},{:.1}", bottom - (bottom - top) * value / highest)
            })
            .collect();
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.3\" points=\"{}\"/>\n\
             <text x=\"{at:.0}\" y=\"{:.0}\" text-anchor=\"end\" fill=\"{colour}\">{name}</text>",
            points.join(" "),
            top - 8.0
        );
        at -= 8.0 * name.len() as f64;
    }
}
