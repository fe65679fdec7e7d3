//! What the reader of the screen chose: the view, the order, how far it is scrolled.

/// The views.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Tab {
    #[default]
    Sockets,
    Peers,
    Failures,
    Numbers,
}

impl Tab {
    pub(super) const ALL: [Tab; 4] = [Tab::Sockets, Tab::Peers, Tab::Failures, Tab::Numbers];

    pub(super) fn title(self) -> &'static str {
        match self {
            Tab::Sockets => "Sockets",
            Tab::Peers => "Peers",
            Tab::Failures => "Failures",
            Tab::Numbers => "Numbers",
        }
    }
}

/// By what lines are ordered, the most first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// As they come.
    #[default]
    Given,
    Rate,
    Queued,
    Lost,
    Name,
}

impl Order {
    pub(super) fn title(self) -> &'static str {
        match self {
            Order::Given => "as they came",
            Order::Rate => "by rate",
            Order::Queued => "by queue",
            Order::Lost => "by drops",
            Order::Name => "by name",
        }
    }

    fn next(self) -> Self {
        match self {
            Order::Given => Order::Rate,
            Order::Rate => Order::Queued,
            Order::Queued => Order::Lost,
            Order::Lost => Order::Name,
            Order::Name => Order::Given,
        }
    }
}

/// A key that has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Show(Tab),
    NextTab,
    Order,
    Pause,
    Up,
    Down,
    PageUp,
    PageDown,
    Quit,
}

/// All that was chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) tab: Tab,
    pub(super) order: Order,
    pub(super) is_paused: bool,
    /// Lines of the table above the first one that is shown.
    pub(super) scrolled: usize,
    pub(super) is_over: bool,
}

impl State {
    /// Applies a key. A page has this number of lines, and the table that.
    pub(super) fn apply(&mut self, key: Key, page: usize, lines: usize) {
        let most = lines.saturating_sub(page);
        match key {
            Key::Show(tab) => self.show(tab),
            Key::NextTab => {
                let at = Tab::ALL.iter().position(|tab| *tab == self.tab);
                self.show(Tab::ALL[(at.unwrap_or_default() + 1) % Tab::ALL.len()]);
            }
            Key::Order => self.order = self.order.next(),
            Key::Pause => self.is_paused = !self.is_paused,
            Key::Up => self.scrolled = self.scrolled.min(most).saturating_sub(1),
            Key::Down => self.scrolled = (self.scrolled + 1).min(most),
            Key::PageUp => self.scrolled = self.scrolled.min(most).saturating_sub(page),
            Key::PageDown => self.scrolled = (self.scrolled + page).min(most),
            Key::Quit => self.is_over = true,
        }
    }

    fn show(&mut self, tab: Tab) {
        if self.tab != tab {
            self.tab = tab;
            self.scrolled = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolling_stays_within_the_table() {
        let mut state = State::default();
        let mut press = |key, scrolled| {
            state.apply(key, 10, 25);
            assert_eq!(state.scrolled, scrolled, "{key:?}");
        };
        press(Key::Up, 0);
        press(Key::Down, 1);
        press(Key::PageDown, 11);
        press(Key::PageDown, 15);
        press(Key::Down, 15);
        press(Key::PageUp, 5);
        press(Key::PageUp, 0);
        // The table has become shorter.
        state.scrolled = 15;
        state.apply(Key::Up, 10, 12);
        assert_eq!(state.scrolled, 1);
    }

    #[test]
    fn views_and_orders_come_round() {
        let mut state = State::default();
        let mut seen = Vec::new();
        for _ in Tab::ALL {
            seen.push(state.tab);
            state.scrolled = 3;
            state.apply(Key::NextTab, 10, 20);
            assert_eq!(state.scrolled, 0);
        }
        assert_eq!((seen, state.tab), (Tab::ALL.to_vec(), Tab::Sockets));
        for _ in 0..5 {
            state.apply(Key::Order, 10, 20);
        }
        assert_eq!(state.order, Order::Given);
        state.apply(Key::Pause, 10, 20);
        assert!(state.is_paused);
        state.apply(Key::Pause, 10, 20);
        state.apply(Key::Quit, 10, 20);
        assert!(state.is_over && !state.is_paused);
    }
}
