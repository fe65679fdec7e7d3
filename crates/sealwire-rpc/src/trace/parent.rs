//! `traceparent`: the trace, the caller's span, and whether the trace is recorded (Trace Context, section 3.2).

use std::str::FromStr;
use std::{fmt, io};

use super::{Hex, TRACEPARENT, TRACESTATE, TraceState};
use crate::proto::{Metadata, MetadataError};

/// The flag of a caller that may have recorded trace data.
const SAMPLED: u8 = 1;
/// Characters of version 00.
const LENGTH: usize = 55;

/// The trace that a call belongs to, and the span that it is made from.
///
/// It parses from the text of a `traceparent` and displays as one of version 00, without the
/// [`state`](TraceContext::state), which is text of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    parent_id: [u8; 8],
    sampled: bool,
    state: TraceState,
}

/// A text that is not a `traceparent`, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTraceParent {
    /// It is shorter than version 00 is, or longer and of version 00.
    #[error("a traceparent has 55 characters, and those of later versions have a '-' behind them")]
    Length,
    /// A field has other characters than 0 to 9 and a to f, or is not separated by '-'.
    #[error("the fields of a traceparent are digits 0-9 and a-f with '-' between them")]
    Form,
    /// Version ff is forbidden.
    #[error("version ff of traceparent is not allowed")]
    Version,
    /// The identifier of the trace or of the span is zero.
    #[error("a trace and a span have identifiers other than 0")]
    Zero,
}

impl TraceContext {
    /// Makes the context of a span; `None` if one of both identifiers is zero, which stands for none.
    pub fn new(trace_id: [u8; 16], parent_id: [u8; 8], sampled: bool) -> Option<Self> {
        let valid = trace_id != [0; 16] && parent_id != [0; 8];
        valid.then_some(TraceContext {
            trace_id,
            parent_id,
            sampled,
            state: TraceState::default(),
        })
    }

    /// Reads the context that metadata carries. As the standard says, `None` unless there is exactly one
    /// `traceparent` and it is valid; a `tracestate` that is not valid is left out. Several entries `tracestate`
    /// are one list.
    pub fn of(metadata: &Metadata<'_>) -> Option<Self> {
        let mut context = Self::parent_of(metadata)?;
        let lists = metadata.get_all(TRACESTATE).map(std::str::from_utf8);
        let lists: Result<Vec<_>, _> = lists.collect();
        let list = lists.map(|lists| lists.join(",")).unwrap_or_default();
        context.state = list.parse().unwrap_or_default();
        Some(context)
    }

    /// The same without the state.
    pub(super) fn parent_of(metadata: &Metadata<'_>) -> Option<Self> {
        let mut parents = metadata.get_all(TRACEPARENT);
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        std::str::from_utf8(parent).ok()?.parse().ok()
    }

    /// Writes the context into metadata, in the place of one that is there. Of a state for which there is no room
    /// 512 characters are written, as the standard says: without members of more than 128, and then without the
    /// last.
    ///
    /// # Errors
    ///
    /// [`MetadataError`] if the metadata has no room for it. It may carry the `traceparent` then, without
    /// `tracestate`.
    pub fn write(&self, metadata: &mut Metadata<'_>) -> Result<(), MetadataError> {
        metadata.remove(TRACESTATE);
        metadata.insert(TRACEPARENT, self.to_string())?;
        if !self.state.is_empty() {
            let whole = metadata.append(TRACESTATE, self.state.as_str());
            whole.or_else(|_| metadata.append(TRACESTATE, self.state.shortened()))?;
        }
        Ok(())
    }

    /// Returns the context of a span of this side in the same trace, for calls that are made from it. `span_id` is
    /// its identifier, other than 0.
    #[must_use]
    pub fn child(&self, span_id: [u8; 8]) -> Self {
        TraceContext {
            parent_id: span_id,
            ..self.clone()
        }
    }

    /// Returns [`child`](TraceContext::child), or `None` for a `span_id` of 0, which stands for none.
    pub fn checked_child(&self, span_id: [u8; 8]) -> Option<Self> {
        (span_id != [0; 8]).then(|| self.child(span_id))
    }

    /// Returns [`child`](TraceContext::child) with a random identifier, for a side without a tracer, which passes
    /// the trace on.
    ///
    /// # Errors
    ///
    /// An [`io::Error`] if the operating system has no randomness.
    pub fn random_child(&self) -> io::Result<Self> {
        loop {
            let mut span_id = [0; 8];
            getrandom::fill(&mut span_id).map_err(io::Error::other)?;
            if let Some(child) = self.checked_child(span_id) {
                return Ok(child);
            }
        }
    }

    /// Returns the context with this state.
    #[must_use]
    pub fn with_state(mut self, state: TraceState) -> Self {
        self.state = state;
        self
    }

    /// Returns the identifier of the trace.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// Returns the identifier of the caller's span.
    pub fn parent_id(&self) -> [u8; 8] {
        self.parent_id
    }

    /// Returns whether the caller may have recorded the trace.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// Returns what tracing systems say beside it.
    pub fn state(&self) -> &TraceState {
        &self.state
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, parent) = (Hex(&self.trace_id), Hex(&self.parent_id));
        write!(f, "00-{trace}-{parent}-{:02x}", u8::from(self.sampled))
    }
}

impl FromStr for TraceContext {
    type Err = InvalidTraceParent;

    /// Reads a `traceparent` of version 00, or what a later version has in common with it. Of the flags only that
    /// of sampling is kept: no other has a meaning in version 00.
    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        let (head, rest) = text
            .as_bytes()
            .split_first_chunk::<LENGTH>()
            .ok_or(InvalidTraceParent::Length)?;
        if [head[2], head[35], head[52]] != [b'-'; 3] {
            return Err(InvalidTraceParent::Form);
        }
        let [version] = hex(&head[..2])?;
        let trace_id = hex(&head[3..35])?;
        let parent_id = hex(&head[36..52])?;
        let [flags] = hex(&head[53..])?;
        match (version, rest.first()) {
            (0xff, _) => return Err(InvalidTraceParent::Version),
            (_, None) | (1.., Some(b'-')) => {}
            _ => return Err(InvalidTraceParent::Length),
        }
        TraceContext::new(trace_id, parent_id, flags & SAMPLED != 0).ok_or(InvalidTraceParent::Zero)
    }
}

/// Twice as many digits as octets.
fn hex<const N: usize>(digits: &[u8]) -> Result<[u8; N], InvalidTraceParent> {
    let mut octets = [0; N];
    for (octet, pair) in octets.iter_mut().zip(digits.chunks_exact(2)) {
        *octet = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(octets)
}

fn digit(character: u8) -> Result<u8, InvalidTraceParent> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(InvalidTraceParent::Form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Examples of the Recommendation: sections 3.2.2.2 ("traceparent"), 3.3.1.5 ("tracestate").
    const SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const NOT_SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    const STATE: &str = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE";

    fn parsed(text: &str) -> Result<TraceContext, InvalidTraceParent> {
        text.parse()
    }

    fn metadata(entries: &[(&str, &str)]) -> Metadata<'static> {
        let mut metadata = Metadata::new();
        for (key, value) in entries {
            metadata.append(key, value).unwrap();
        }
        metadata
    }

    #[test]
    fn the_examples_of_the_standard_are_read_and_written() {
        for (text, sampled) in [(SAMPLED, true), (NOT_SAMPLED, false)] {
            let context = parsed(text).unwrap();
            let trace = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128;
            assert_eq!(u128::from_be_bytes(context.trace_id()), trace);
            let parent = 0x00f0_67aa_0ba9_02b7_u64;
            assert_eq!(u64::from_be_bytes(context.parent_id()), parent);
            assert_eq!(context.is_sampled(), sampled);
            assert_eq!(context.to_string(), text);
        }
    }

    /// Of unknown flags a participant sends zeros.
    #[test]
    fn of_the_flags_only_that_of_sampling_is_kept() {
        for flags in 0..=u8::MAX {
            let text = format!("{}{flags:02x}", &SAMPLED[..53]);
            let context = parsed(&text).unwrap();
            assert_eq!(context.is_sampled(), flags & 1 == 1);
            let written = if flags & 1 == 1 { SAMPLED } else { NOT_SAMPLED };
            assert_eq!(context.to_string(), written);
        }
    }

    #[test]
    fn later_versions_are_read_as_far_as_they_are_known() {
        for version in 1..=0xfe {
            for end in ["", "-", "-anything behind"] {
                let text = format!("{version:02x}{}{end}", &SAMPLED[2..]);
                let context = parsed(&text).unwrap();
                assert_eq!(context.to_string(), SAMPLED, "written as version 00");
            }
            let text = format!("{version:02x}{}.", &SAMPLED[2..]);
            assert_eq!(parsed(&text), Err(InvalidTraceParent::Length));
        }
    }

    #[test]
    fn everything_else_is_invalid() {
        let with = |at: usize, text: &str| {
            let mut all = SAMPLED.to_owned();
            all.replace_range(at..at + text.len(), text);
            all
        };
        use InvalidTraceParent::{Form, Length, Version, Zero};
        for (text, reason) in [
            (String::new(), Length),
            (SAMPLED[..54].to_owned(), Length),
            // Version 00 has nothing behind it.
            (format!("{SAMPLED}-"), Length),
            (format!("{SAMPLED}-what-the-future-will-be-like"), Length),
            (format!("{SAMPLED} "), Length),
            (format!(" {}", &SAMPLED[..54]), Form),
            (with(0, "ff"), Version),
            (with(0, "FE"), Form),
            (with(0, ".0"), Form),
            (with(3, &"0".repeat(32)), Zero),
            (with(36, &"0".repeat(16)), Zero),
            (with(3, "4B"), Form),
            (with(36, "0g"), Form),
            (with(53, "0F"), Form),
            (with(53, ".1"), Form),
            (with(2, "_"), Form),
            (with(35, "_"), Form),
            (with(52, "_"), Form),
            (with(3, "é"), Form),
            (with(53, "é"), Form),
        ] {
            assert_eq!(parsed(&text), Err(reason), "{text:?}");
        }
        for at in 0..LENGTH {
            if ![2, 35, 52].contains(&at) {
                for wrong in ["A", "g", "-", " ", "+", "\u{7f}"] {
                    assert_eq!(parsed(&with(at, wrong)), Err(Form), "{at} {wrong:?}");
                }
            }
        }
    }

    #[test]
    fn metadata_carries_it() {
        let context = TraceContext::of(&metadata(&[
            ("traceparent", SAMPLED),
            ("tracestate", STATE),
        ]));
        let context = context.unwrap();
        assert_eq!(context.state().as_str(), STATE);
        let mut written = metadata(&[
            ("tracestate", "old=1"),
            ("traceparent", "x"),
            ("other", "y"),
        ]);
        let child = context.child([7; 8]);
        child.write(&mut written).unwrap();
        assert_eq!(written.len(), 3);
        assert_eq!(TraceContext::of(&written), Some(child));
        let parsed = TraceContext::of(&written).unwrap();
        assert_eq!(parsed.trace_id(), context.trace_id());
        assert_eq!((parsed.parent_id(), parsed.is_sampled()), ([7; 8], true));
        // Without a state none is left.
        let bare = context.with_state(TraceState::default());
        bare.write(&mut written).unwrap();
        assert_eq!(written.get("tracestate"), None);
    }

    #[test]
    fn of_a_state_without_room_the_standard_says_what_stays() {
        let large = |n: usize| format!("k{n}={}", "v".repeat(256));
        let small = |n: usize| format!("s{n}={}", "v".repeat(100));
        let members: Vec<_> = (0..20)
            .flat_map(|n| [large(n), small(n)])
            .take(32)
            .collect();
        let state: TraceState = members.join(",").parse().unwrap();
        let context = parsed(SAMPLED).unwrap().with_state(state);
        let mut metadata = Metadata::new();
        context.write(&mut metadata).unwrap();
        assert_eq!(TraceContext::of(&metadata).unwrap(), context);

        let mut metadata = Metadata::new();
        metadata.append("other", vec![0; 4_000]).unwrap();
        context.write(&mut metadata).unwrap();
        let read = TraceContext::of(&metadata).unwrap();
        assert_eq!(read.state().as_str(), [0, 1, 2, 3].map(small).join(","));

        // Exactly 512 characters, and one more; a member of 128 is not one of those that go first.
        let member = |key: &str, length: usize| format!("{key}={}", "v".repeat(length - 2));
        for (last, stays) in [(125, 4), (126, 3)] {
            let members = [("a", 128), ("b", 128), ("c", 128), ("d", last), ("e", 100)];
            let members = members.map(|(key, length)| member(key, length));
            let state: TraceState = members.join(",").parse().unwrap();
            assert_eq!(state.shortened(), members[..stays].join(","));
        }

        let mut metadata = Metadata::new();
        metadata.append("other", vec![0; 8_100]).unwrap();
        context.write(&mut metadata).unwrap_err();
        let bare = parsed(SAMPLED).unwrap();
        assert_eq!(TraceContext::of(&metadata), Some(bare));
    }

    #[test]
    fn several_lists_are_one() {
        let entries = [
            ("tracestate", "rojo=00f067aa0ba902b7"),
            ("traceparent", SAMPLED),
            ("tracestate", "congo=t61rcWkgMzE"),
        ];
        let context = TraceContext::of(&metadata(&entries)).unwrap();
        assert_eq!(context.state().as_str(), STATE);
    }

    /// A state that cannot be read spoils no parent, and without a parent there is no state.
    #[test]
    fn what_is_invalid_is_ignored() {
        let context = TraceContext::of(&metadata(&[("traceparent", SAMPLED), ("tracestate", "?")]));
        assert!(context.unwrap().state().is_empty());
        let mut binary = metadata(&[("traceparent", SAMPLED)]);
        binary.append("tracestate", [0xff]).unwrap();
        assert!(TraceContext::of(&binary).unwrap().state().is_empty());
        for entries in [
            &[][..],
            &[("tracestate", STATE)],
            &[("traceparent", "00"), ("tracestate", STATE)],
            &[("traceparent", SAMPLED), ("traceparent", SAMPLED)],
        ] {
            assert_eq!(TraceContext::of(&metadata(entries)), None);
        }
        let mut binary = Metadata::new();
        binary.append("traceparent", [0xff; LENGTH]).unwrap();
        assert_eq!(TraceContext::of(&binary), None);
        assert_eq!(TraceContext::new([0; 16], [1; 8], true), None);
        assert_eq!(TraceContext::new([1; 16], [0; 8], true), None);
    }

    #[test]
    fn children_have_identifiers_of_their_own() {
        let caller: TraceContext = SAMPLED.parse().unwrap();
        let caller = caller.with_state(STATE.parse().unwrap());
        assert_eq!(caller.checked_child([0; 8]), None);
        assert_eq!(caller.checked_child([7; 8]), Some(caller.child([7; 8])));
        let (one, other) = (
            caller.random_child().unwrap(),
            caller.random_child().unwrap(),
        );
        assert_ne!(one.parent_id(), other.parent_id());
        for child in [one, other] {
            assert_ne!(child.parent_id(), caller.parent_id());
            assert_eq!(child.child(caller.parent_id()), caller);
        }
    }
}
