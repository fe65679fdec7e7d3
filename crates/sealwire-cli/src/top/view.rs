//! Draws a view: a function of two snapshots, a state and a size.
//!
//! ```text
//! pull, process 4711, up 12s, I/O busy 3%                       title
//!  1 Sockets 2 Peers 3 Failures 4 Numbers    by rate, paused    tabs
//! SOCKET, ENDPOINTS        PEERS  IN/s OUT/s ...                 table
//! q quit ...                                                     keys
//! ```

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row, Table as Drawn};

use super::amounts::time;
use super::rows::{self, Table};
use super::state::{State, Tab};
use crate::snapshot::Snapshot;
use crate::untrusted::printable;

/// Characters that the first column of a table keeps, whatever goes for it: on a narrow screen, and on a wide one.
const LEAST_NAME: u16 = 20;
const ENOUGH_NAME: u16 = 36;

/// The contents of the screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    /// The snapshot that rates are counted from.
    pub(super) before: Option<&'a Snapshot>,
    pub(super) now: Option<&'a Snapshot>,
    /// Why there is none, or no newer one.
    pub(super) problem: Option<&'a str>,
    pub(super) state: State,
}

impl Shown<'_> {
    fn table(&self) -> Table {
        let State { tab, order, .. } = self.state;
        let table = self
            .now
            .map(|now| rows::table(tab, self.before, now, order));
        table.unwrap_or_default()
    }

    /// Lines of its table, and how many of them a screen of this height has.
    pub(super) fn extent(&self, height: u16) -> (usize, usize) {
        let page = usize::from(height.saturating_sub(4)).max(1);
        (self.table().rows.len(), page)
    }
}

/// Draws all of the frame.
pub(super) fn draw(frame: &mut Frame<'_>, shown: &Shown<'_>) {
    let lines = [1, 1, 0, 1].map(|height| match height {
        0 => Constraint::Min(0),
        height => Constraint::Length(height),
    });
    let [title, tabs, table, keys] = Layout::vertical(lines).areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(title_of(shown)).style(bold), title);
    frame.render_widget(Paragraph::new(tabs_of(shown)), tabs);
    draw_table(frame, table, shown);
    let help = "q quit  1-4 view  s order  p pause  arrows scroll";
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Paragraph::new(help).style(dim), keys);
}

/// The command, and how busy it is.
fn title_of(shown: &Shown<'_>) -> String {
    let Some(now) = shown.now else {
        let problem = shown.problem.unwrap_or("waiting for the first snapshot");
        return printable(problem).to_string();
    };
    // A problem is said first: the line may be short.
    let mut title = match shown.problem {
        Some(_) => "NO ANSWER, ".to_owned(),
        None => String::new(),
    };
    title += &format!(
        "{}, process {}, up {}",
        printable(&now.command),
        now.process,
        time(now.age)
    );
    let grown = shown.before.filter(|before| before.process == now.process);
    if let Some(before) = grown
        && now.age > before.age
        && !now.busy.is_empty()
    {
        title += ", I/O busy";
        for (old, new) in before.busy.iter().zip(&now.busy) {
            let share = (new - old) / (now.age - before.age);
            title += &format!(" {:.0}%", (100.0 * share).clamp(0.0, 100.0));
        }
    }
    if let Some(problem) = shown.problem {
        title += &format!(": {}", printable(problem));
    }
    title
}

fn tabs_of(shown: &Shown<'_>) -> Line<'static> {
    let mut spans = Vec::new();
    for (number, tab) in (1..).zip(Tab::ALL) {
        let style = match tab == shown.state.tab {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new(),
        };
        spans.push(Span::styled(format!(" {number} {} ", tab.title()), style));
    }
    let paused = if shown.state.is_paused { "PAUSED " } else { "" };
    let order = shown.state.order.title();
    spans.push(Span::raw(format!("  {paused}{order}")));
    Line::from(spans)
}

/// The columns that there is room for, and the table from the line that it is scrolled to.
fn draw_table(frame: &mut Frame<'_>, area: Rect, shown: &Shown<'_>) {
    let table = shown.table();
    let mut room = {
        // Two fifths between these.
        let name = (area.width / 5 * 2).clamp(LEAST_NAME, ENOUGH_NAME);
        area.width.saturating_sub(name)
    };
    let fitting = table.columns.iter().skip(1).take_while(|column| {
        let taken = column.width + 1;
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    });
    let columns = (1 + fitting.count()).min(table.columns.len());
    let page = usize::from(area.height.saturating_sub(1)).max(1);
    let most = table.rows.len().saturating_sub(page);
    let first = shown.state.scrolled.min(most);
    let widths = table.columns.iter().take(columns).enumerate();
    let widths = widths.map(|(at, column)| match at {
        0 => Constraint::Fill(1),
        _ => Constraint::Length(column.width),
    });
    let right = |at: usize, text: String| {
        let line = Line::from(text);
        match at {
            0 => line,
            _ => line.right_aligned(),
        }
    };
    let titles = table.columns.iter().take(columns).enumerate();
    let titles = titles.map(|(at, column)| right(at, column.title.to_owned()));
    let header = Row::new(titles).style(Style::new().add_modifier(Modifier::UNDERLINED));
    // A text alone in its line, such as the message of a failure, has all of it.
    let (mut whole, mut lines) = (Vec::new(), Vec::new());
    for (at, row) in table.rows.into_iter().skip(first).take(page).enumerate() {
        if row.len() == 1 && columns > 1 {
            whole.extend(row.into_iter().map(|text| (at, text)));
            lines.push(Row::default());
        } else {
            let cells = row.into_iter().take(columns).enumerate();
            lines.push(Row::new(cells.map(|(at, text)| right(at, text))));
        }
    }
    let drawn = Drawn::new(lines, widths).header(header).column_spacing(1);
    frame.render_widget(drawn, area);
    for (at, text) in whole {
        let at = u16::try_from(at).unwrap_or(u16::MAX).saturating_add(1);
        if at < area.height {
            let line = Rect::new(area.x, area.y + at, area.width, 1);
            frame.render_widget(Paragraph::new(text), line);
        }
    }
}

#[cfg(test)]
mod tests;
