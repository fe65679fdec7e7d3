//! `tracestate`: what tracing systems say beside the parent (Trace Context, section 3.3).

use std::fmt;
use std::str::FromStr;

/// Members of a list.
const MAX_MEMBERS: usize = 32;
/// Characters of a key, and of a value.
const MAX_LENGTH: usize = 256;
/// Characters of the part of a key in front of '@', and behind it.
const MAX_TENANT: usize = 241;
const MAX_SYSTEM: usize = 14;
/// Characters that are passed on where there is no room for all.
const LEAST_PASSED_ON: usize = 512;
/// Characters of members that go first then.
const LARGE_MEMBER: usize = 128;

/// What tracing systems say about a trace: a list of at most 32 keys and values, of which the first is that of the
/// system that wrote last. It parses from the text of a `tracestate`, at most 16,543 characters; the default is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceState {
    /// Members with a comma between them, without blanks and empty ones.
    list: String,
}

/// A text that is not a `tracestate`, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTraceState {
    /// A member is not `key=value`, or has characters that keys or values do not have, or too many.
    #[error(
        "a member of tracestate is key=value: a key of a-z, 0-9, '_', '-', '*', '/' and one '@', a value of \
         printable ASCII without ',' and '=', each at most 256 characters"
    )]
    Member,
    /// A key comes twice.
    #[error("a key of tracestate comes once")]
    Duplicate,
    /// There are more members than there may be.
    #[error("a tracestate has at most 32 members")]
    TooManyMembers,
}

impl TraceState {
    /// Returns the list as it is sent.
    pub fn as_str(&self) -> &str {
        &self.list
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        members(&self.list).filter_map(|member| member.split_once('='))
    }

    /// Returns the value of this key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut members = self.iter();
        members.find_map(|(other, value)| (other == key).then_some(value))
    }

    /// Sets the value of a key and puts it in front, as the standard says for the system that writes. Of 32 other
    /// members the last is dropped.
    ///
    /// # Errors
    ///
    /// [`InvalidTraceState::Member`] if the key or the value has another form. Nothing has changed then.
    pub fn insert(&mut self, key: &str, value: &str) -> Result<(), InvalidTraceState> {
        if !is_key(key) || !is_value(value) {
            return Err(InvalidTraceState::Member);
        }
        let others = self.iter().filter(|(other, _)| *other != key);
        let mut list = format!("{key}={value}");
        for (key, value) in others.take(MAX_MEMBERS - 1) {
            list.extend([",", key, "=", value]);
        }
        self.list = list;
        Ok(())
    }
}

impl TraceState {
    /// The part that is passed on where there is no room for all (section 3.3.1.5, "Limits").
    pub(super) fn shortened(&self) -> String {
        let mut list = String::new();
        for member in members(&self.list).filter(|member| member.len() <= LARGE_MEMBER) {
            let comma = if list.is_empty() { "" } else { "," };
            if list.len() + comma.len() + member.len() > LEAST_PASSED_ON {
                break;
            }
            list.extend([comma, member]);
        }
        list
    }
}

impl fmt::Display for TraceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list)
    }
}

impl FromStr for TraceState {
    type Err = InvalidTraceState;

    fn from_str(text: &str) -> Result<Self, InvalidTraceState> {
        let mut state = TraceState::default();
        for (index, member) in members(text).enumerate() {
            if index == MAX_MEMBERS {
                return Err(InvalidTraceState::TooManyMembers);
            }
            let (key, value) = member.split_once('=').ok_or(InvalidTraceState::Member)?;
            if !is_key(key) || !is_value(value) {
                return Err(InvalidTraceState::Member);
            }
            if state.get(key).is_some() {
                return Err(InvalidTraceState::Duplicate);
            }
            if index > 0 {
                state.list.push(',');
            }
            state.list.push_str(member);
        }
        Ok(state)
    }
}

/// The members of a list, which may have blanks around them or be empty.
fn members(list: &str) -> impl Iterator<Item = &str> {
    let trimmed = list
        .split(',')
        .map(|member| member.trim_matches([' ', '\t']));
    trimmed.filter(|member| !member.is_empty())
}

fn is_key(key: &str) -> bool {
    match key.split_once('@') {
        None => {
            is_name(key, MAX_LENGTH) && key.starts_with(|first: char| first.is_ascii_lowercase())
        }
        Some((tenant, system)) => {
            is_name(tenant, MAX_TENANT)
                && tenant
                    .starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
                && is_name(system, MAX_SYSTEM)
                && system.starts_with(|first: char| first.is_ascii_lowercase())
        }
    }
}

fn is_name(name: &str, most: usize) -> bool {
    let allowed = |octet| matches!(octet, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/');
    name.len() <= most && name.bytes().all(allowed)
}

/// Printable, without what separates, and not blank at its end.
fn is_value(value: &str) -> bool {
    let allowed = |octet| matches!(octet, b' '..=b'~') && octet != b',' && octet != b'=';
    (1..=MAX_LENGTH).contains(&value.len()) && value.bytes().all(allowed) && !value.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<TraceState, InvalidTraceState> {
        text.parse()
    }

    // Examples of the Recommendation, section 3.3.1, among others.
    #[test]
    fn lists_are_read_without_blanks_and_empty_members() {
        let vendors = "vendorname1=opaqueValue1,vendorname2=opaqueValue2";
        for (text, list) in [
            ("", ""),
            (" \t ", ""),
            (",, ,", ""),
            ("rojo=00f067aa0ba902b7", "rojo=00f067aa0ba902b7"),
            (vendors, vendors),
            (
                "vendorname1=opaqueValue1 ,\t,vendorname2=opaqueValue2 ",
                vendors,
            ),
            ("a= b,c=d e", "a= b,c=d e"),
            ("fw529a3039@dt=FfffffffIw==", ""),
            ("0tenant/*_-@sys=!~", "0tenant/*_-@sys=!~"),
        ] {
            match parsed(text) {
                Ok(state) => assert_eq!(state.as_str(), list, "{text:?}"),
                // A value has no '='.
                Err(error) => assert_eq!((error, list), (InvalidTraceState::Member, "")),
            }
        }
        let state = parsed(vendors).unwrap();
        assert_eq!(state.get("vendorname2"), Some("opaqueValue2"));
        assert_eq!(state.get("vendorname"), None);
        assert_eq!(state.iter().count(), 2);
    }

    #[test]
    fn members_have_a_form() {
        let long = |length| "k".repeat(length);
        for key in [
            "a".to_owned(),
            long(256),
            format!("{}@{}", long(241), long(14)),
            "1@s".to_owned(),
            "a1_-*/".to_owned(),
        ] {
            assert!(parsed(&format!("{key}=1")).is_ok(), "{key}");
        }
        for key in [
            String::new(),
            long(257),
            format!("{}@{}", long(242), long(14)),
            format!("{}@{}", long(241), long(15)),
            "1".to_owned(),
            "A".to_owned(),
            "é".to_owned(),
            "a b".to_owned(),
            "a@".to_owned(),
            "@s".to_owned(),
            "a@1s".to_owned(),
            "a@s@t".to_owned(),
            "_a".to_owned(),
            "_@s".to_owned(),
        ] {
            assert_eq!(
                parsed(&format!("{key}=1")),
                Err(InvalidTraceState::Member),
                "{key}"
            );
        }
        for value in ["", " ", "a=b", "\u{7f}", "é", "\u{1}", &long(257)] {
            assert_eq!(
                parsed(&format!("a={value}")),
                Err(InvalidTraceState::Member),
                "{value}"
            );
        }
        assert!(parsed(&format!("a={}", long(256))).is_ok());
        assert_eq!(parsed("a"), Err(InvalidTraceState::Member));
    }

    #[test]
    fn a_list_has_each_key_once_and_32_members() {
        assert_eq!(parsed("a=1,b=2,a=3"), Err(InvalidTraceState::Duplicate));
        let list = |members| {
            (0..members)
                .map(|n| format!("k{n}=v"))
                .collect::<Vec<_>>()
                .join(",")
        };
        assert_eq!(parsed(&list(32)).unwrap().iter().count(), 32);
        assert_eq!(parsed(&list(33)), Err(InvalidTraceState::TooManyMembers));
    }

    #[test]
    fn the_system_that_writes_comes_first() {
        let mut state = parsed("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE").unwrap();
        state.insert("congo", "ucfJifl5GOE").unwrap();
        assert_eq!(state.as_str(), "congo=ucfJifl5GOE,rojo=00f067aa0ba902b7");
        for wrong in [("Congo", "1"), ("congo", "1,2")] {
            let refused = state.insert(wrong.0, wrong.1);
            assert_eq!(refused, Err(InvalidTraceState::Member));
        }
        for n in 0..40 {
            state.insert(&format!("k{n}"), "v").unwrap();
        }
        assert_eq!(state.iter().count(), 32);
        assert_eq!(state.iter().next(), Some(("k39", "v")));
        assert_eq!(parsed(state.as_str()), Ok(state.clone()));
        let mut first = TraceState::default();
        first.insert("a", "b").unwrap();
        assert_eq!(first.to_string(), "a=b");
    }
}
