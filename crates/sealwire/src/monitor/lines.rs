//! The log as lines of text, for programs that are not written in Rust.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{self, Interest};
use tracing::{Event, Level, Metadata, Subscriber};

/// Takes the log of Sealwire's crates as lines.
pub trait LogLines: Send + Sync + 'static {
    /// Whether a line of this target and level is wanted. Asked for each line, as that may change.
    fn wants(&self, target: &str, level: Level) -> bool;

    /// Takes one: the message, then the other fields by their names. Must not wait. What peers chose of it is not
    /// escaped.
    fn take(&self, level: Level, line: String);
}

/// Makes all lines of this process go there. `false` where `tracing` has a subscriber already.
pub fn log_to(lines: impl LogLines) -> bool {
    subscriber::set_global_default(Lines(lines)).is_ok()
}

struct Lines<L>(L);

impl<L: LogLines> Subscriber for Lines<L> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        metadata.is_event()
            && target.starts_with("sealwire")
            && self.0.wants(target, *metadata.level())
    }

    /// Asked again for each line.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let Text { message, fields } = text;
        self.0.take(*event.metadata().level(), message + &fields);
    }

    // Spans have no lines.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<(Level, String)>>>);

    impl LogLines for Kept {
        fn wants(&self, target: &str, level: Level) -> bool {
            target != "sealwire::left_out" && level <= Level::INFO
        }

        fn take(&self, level: Level, line: String) {
            self.0.lock().unwrap().push((level, line));
        }
    }

    #[test]
    fn lines_are_those_of_our_targets_that_are_wanted_with_their_fields() {
        let kept = Kept::default();
        subscriber::with_default(Lines(kept.clone()), || {
            let _span = tracing::error_span!(target: "sealwire", "a span").entered();
            tracing::warn!(target: "sealwire", cause = "timed_out", count = 3, "no {}", "answer");
            tracing::info!(target: "sealwire::connections", "ready");
            tracing::debug!(target: "sealwire", "too much");
            tracing::error!(target: "sealwire::left_out", "not wanted");
            tracing::error!(target: "another", "of others");
        });
        let lines = kept.0.lock().unwrap();
        let expected = [
            (Level::WARN, r#"no answer cause="timed_out" count=3"#),
            (Level::INFO, "ready"),
        ];
        assert_eq!(*lines, expected.map(|(level, text)| (level, text.into())));
    }
}
