//! Figures as text: tables on a terminal, and tables and plots in a document.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::cells::{PLANS, Plan, Unit};
use crate::contender::{Contender, Library};
use crate::results::{Figure, Results};
use crate::targets::TARGETS;
use crate::{Outcome, svg};

const BEGIN: &str = "<!-- sockets: begin -->\n";
const END: &str = "<!-- sockets: end -->\n";

/// The columns of a plan that were measured.
pub(crate) fn measured_columns(plan: &Plan, results: &Results) -> Vec<usize> {
    let slug = plan.slug();
    let measured = |column: &usize| {
        results
            .figures
            .iter()
            .any(|figure| figure.table == slug && figure.column == *column)
    };
    plan.columns.iter().copied().filter(measured).collect()
}

/// Whether documents show it. omq 0.13 is measured, but 93k messages of 64 B a second are a bad case of an
/// old release: omq's own BLAKE3 of 0.18 had 1.5M on an Intel machine.
pub(crate) fn is_published(contender: Contender) -> bool {
    contender.client() != Library::OmqBlake3
}

/// Medians of the contenders that are `shown`, for a terminal as well as for Markdown.
pub(crate) fn table(plan: &Plan, results: &Results, shown: impl Fn(Contender) -> bool) -> String {
    let columns = measured_columns(plan, results);
    let mut text = String::new();
    if columns.is_empty() {
        return text;
    }
    let contenders = || {
        plan.contenders
            .iter()
            .filter(|contender| shown(**contender))
    };
    let names = contenders().map(|name| name.to_string().len());
    let width = names.fold(first_heading(plan).len(), usize::max);
    let _ = write!(text, "| {:<width$}", first_heading(plan));
    for &column in &columns {
        let _ = write!(text, " | {:>15}", plan.column_name(column));
    }
    text += " |\n|---|";
    text += &"---:|".repeat(columns.len());
    text.push('\n');
    for contender in contenders() {
        let name = contender.to_string();
        let cells: Vec<_> = columns
            .iter()
            .map(|&column| results.find(&plan.slug(), column, &name))
            .collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let _ = write!(text, "| {name:<width$}");
        for cell in cells {
            let figure = cell.map_or_else(|| "-".to_owned(), |figure| worded(figure, plan.unit()));
            let _ = write!(text, " | {figure:>15}");
        }
        text += " |\n";
    }
    text.push('\n');
    text
}

fn first_heading(plan: &Plan) -> &'static str {
    match plan.unit() {
        Unit::PerSecond => "a second",
        Unit::Microseconds => "p50 (p99), us",
        Unit::Bytes => "fresh (used), B",
    }
}

fn worded(figure: &Figure, unit: Unit) -> String {
    let median = figure.median();
    match unit {
        Unit::PerSecond => format!("{} ±{:.0}%", count(median), 100.0 * figure.spread()),
        Unit::Microseconds => {
            format!(
                "{median:.1} ({:.1})",
                figure.second_median().unwrap_or_default()
            )
        }
        Unit::Bytes => {
            format!(
                "{median:.0} ({:.0})",
                figure.second_median().unwrap_or_default()
            )
        }
    }
}

fn count(number: f64) -> String {
    match number {
        0.0..1e4 => format!("{number:.0}"),
        1e4..1e6 => format!("{:.0}k", number / 1e3),
        _ => format!("{:.2}M", number / 1e6),
    }
}

/// What the project set itself, with what was reached.
pub(crate) fn ratios(results: &Results) -> String {
    let mut text = String::from(
        "| table | column | ours | against | target | now | |\n|---|---|---|---|---:|---:|---|\n",
    );
    for target in TARGETS {
        let Some(plan) = PLANS.iter().find(|plan| plan.slug() == target.table) else {
            continue;
        };
        for &column in target.columns {
            let ours = results.find(target.table, column, &target.ours.to_string());
            let better = |figure: &Figure| match plan.unit() {
                Unit::PerSecond => figure.median(),
                Unit::Microseconds | Unit::Bytes => 1.0 / figure.median(),
            };
            let peers = target.against.iter();
            let best = peers
                .filter_map(|peer| results.find(target.table, column, &peer.to_string()))
                .max_by(|a, b| better(a).total_cmp(&better(b)));
            let (Some(ours), Some(best)) = (ours, best) else {
                continue;
            };
            let ratio = better(ours) / better(best);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {:.2} | {ratio:.2} | {} |",
                target.table,
                plan.column_name(column),
                target.ours,
                best.contender,
                target.ratio,
                if ratio < target.ratio { "missed" } else { "" },
            );
        }
    }
    text
}

/// Replaces what stands between the markers, and draws the plots beside the document.
pub(crate) fn render(figures: &Path, document: &Path) -> Outcome<()> {
    let results = Results::load(figures)?;
    let text = fs::read_to_string(document)?;
    let (before, rest) = text
        .split_once(BEGIN)
        .ok_or("the document has no markers")?;
    let (_, after) = rest
        .split_once(END)
        .ok_or("the document has no end marker")?;
    let plots = document.with_extension("");
    fs::create_dir_all(&plots)?;
    let directory = plots.file_name().unwrap_or_default().to_string_lossy();

    let mut section = format!(
        "{}; {}. {}.\n\n",
        results.machine,
        results.date,
        results.versions.join(", "),
    );
    for plan in PLANS {
        let columns = measured_columns(plan, &results);
        if columns.is_empty() || !plan.table.is_published() {
            continue;
        }
        let heading = plan.heading();
        let mut about = plan.about.to_owned();
        if columns.len() > 2 {
            let file = format!("{}.svg", plan.slug());
            fs::write(plots.join(&file), svg::plot(plan, &columns, &results))?;
            let _ = write!(about, " [Plot]({directory}/{file}).");
        }
        let table = table(plan, &results, is_published);
        let _ = write!(section, "### {heading}\n\n{about}\n\n{table}");
    }
    fs::write(document, format!("{before}{BEGIN}\n{section}{END}{after}"))?;
    Ok(())
}
