//! The values of a socket's options, in libzmq's units.

use libc::c_int;

use super::addresses::AddressRange;
use super::number;
use super::table::{Access, Entry, Kind, TABLE};
use crate::errno::Errno;

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Int(c_int),
    Long(i64),
    Bits(u64),
    Bytes(Vec<u8>),
    Key([u8; 32]),
    Numbers(Vec<c_int>),
    Addresses(Vec<AddressRange>),
    Properties(Vec<(String, Vec<u8>)>),
}

/// The values of all options.
#[derive(Clone)]
pub(crate) struct Settings {
    values: Vec<Value>,
}

impl Default for Settings {
    fn default() -> Self {
        let default = |entry: &Entry| match entry.kind {
            Kind::Int(_, _, default) | Kind::Flag(default) => Value::Int(default),
            Kind::Long(default) => Value::Long(default),
            Kind::Bits(default) => Value::Bits(default),
            Kind::Bytes(..) | Kind::Text(_) | Kind::Action => Value::Bytes(Vec::new()),
            Kind::Key => Value::Key([0; 32]),
            Kind::Numbers => Value::Numbers(Vec::new()),
            Kind::Addresses => Value::Addresses(Vec::new()),
            Kind::Property => Value::Properties(Vec::new()),
        };
        Settings {
            values: TABLE.iter().map(default).collect(),
        }
    }
}

impl Settings {
    fn index(option: c_int) -> Option<usize> {
        TABLE.iter().position(|entry| entry.number == option)
    }

    fn value(&self, option: c_int) -> Option<&Value> {
        self.values.get(Self::index(option)?)
    }

    /// The number that an option has; 0 for one that is no number.
    pub(crate) fn int(&self, option: c_int) -> c_int {
        match self.value(option) {
            Some(Value::Int(value)) => *value,
            _ => 0,
        }
    }

    pub(crate) fn flag(&self, option: c_int) -> bool {
        self.int(option) != 0
    }

    pub(crate) fn long(&self, option: c_int) -> i64 {
        match self.value(option) {
            Some(Value::Long(value)) => *value,
            _ => 0,
        }
    }

    pub(crate) fn bytes(&self, option: c_int) -> &[u8] {
        match self.value(option) {
            Some(Value::Bytes(value)) => value,
            _ => &[],
        }
    }

    pub(crate) fn key(&self, option: c_int) -> [u8; 32] {
        match self.value(option) {
            Some(Value::Key(value)) => *value,
            _ => [0; 32],
        }
    }

    pub(crate) fn numbers(&self, option: c_int) -> &[c_int] {
        match self.value(option) {
            Some(Value::Numbers(values)) => values,
            _ => &[],
        }
    }

    pub(crate) fn addresses(&self, option: c_int) -> &[AddressRange] {
        match self.value(option) {
            Some(Value::Addresses(values)) => values,
            _ => &[],
        }
    }

    pub(crate) fn properties(&self) -> &[(String, Vec<u8>)] {
        match self.value(number::METADATA) {
            Some(Value::Properties(values)) => values,
            _ => &[],
        }
    }

    pub(crate) fn put(&mut self, option: c_int, value: Value) {
        if let Some(index) = Self::index(option) {
            self.values[index] = value;
        }
    }

    /// Takes a value as a program gives it: `given` is `None` for a null pointer.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an option that there is not, or that cannot be set, and for values out of its range.
    pub(crate) fn set(&mut self, option: c_int, given: Option<&[u8]>) -> Result<(), Errno> {
        let entry = Entry::of(option).filter(|entry| entry.access != Access::Get);
        let entry = entry.ok_or(Errno::INVAL)?;
        let value = match entry.kind {
            Kind::Numbers => self.with_number(option, given),
            Kind::Addresses => self.with_addresses(option, given),
            Kind::Property => self.with_property(option, given),
            kind => read(kind, given),
        };
        let value = value.ok_or(Errno::INVAL)?;
        match option {
            // One is the opposite of the other.
            number::IPV4ONLY | number::IPV6 => {
                let other = number::IPV4ONLY + number::IPV6 - option;
                self.put(other, Value::Int(c_int::from(value == Value::Int(0))));
            }
            // What it was set to may be all zeros, which is not to be told from what was not set.
            number::CURVE_SERVERKEY => self.put(number::CURVE_SERVER, Value::Int(0)),
            _ => {}
        }
        self.put(option, value);
        Ok(())
    }

    /// The numbers of an option with one more, or none.
    fn with_number(&self, option: c_int, given: Option<&[u8]>) -> Option<Value> {
        let Some(given) = given.filter(|given| !given.is_empty()) else {
            return Some(Value::Numbers(Vec::new()));
        };
        let number = c_int::from_ne_bytes(given.try_into().ok()?);
        let mut numbers = self.numbers(option).to_vec();
        numbers.push(number);
        Some(Value::Numbers(numbers))
    }

    /// The ranges of an option with one more, or none.
    fn with_addresses(&self, option: c_int, given: Option<&[u8]>) -> Option<Value> {
        let Some(given) = given.filter(|given| !given.is_empty()) else {
            return Some(Value::Addresses(Vec::new()));
        };
        let text = std::str::from_utf8(given).ok()?;
        let mut ranges = self.addresses(option).to_vec();
        ranges.push(text.trim_end_matches('\0').parse().ok()?);
        Some(Value::Addresses(ranges))
    }

    /// The properties with one more. Neither its name nor its value is empty.
    fn with_property(&self, option: c_int, given: Option<&[u8]>) -> Option<Value> {
        let given = given?;
        let colon = given.iter().position(|octet| *octet == b':')?;
        let (name, value) = (&given[..colon], &given[colon + 1..]);
        if name.is_empty() || value.is_empty() || option != number::METADATA {
            return None;
        }
        let name = std::str::from_utf8(name).ok()?.to_owned();
        let mut properties = self.properties().to_vec();
        properties.push((name, value.to_vec()));
        Some(Value::Properties(properties))
    }

    /// The bytes that answer the question for an option whose value is kept, for a buffer of `room` bytes.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an option that there is not, or that cannot be asked for, and for too little room.
    pub(crate) fn get(&self, option: c_int, room: usize) -> Result<Vec<u8>, Errno> {
        let entry = Entry::of(option).filter(|entry| entry.access != Access::Set);
        let entry = entry.ok_or(Errno::INVAL)?;
        let value = self.value(option).ok_or(Errno::INVAL)?;
        Ok(match value {
            Value::Int(value) => value.to_ne_bytes().to_vec(),
            Value::Long(value) => value.to_ne_bytes().to_vec(),
            Value::Bits(value) => value.to_ne_bytes().to_vec(),
            Value::Bytes(value) => {
                let mut value = value.clone();
                if matches!(entry.kind, Kind::Text(_)) {
                    value.push(0);
                }
                value
            }
            Value::Key(key) => match room {
                32 => key.to_vec(),
                41 => {
                    let mut text = sealwire_zmtp::keys::z85::encode(key).into_bytes();
                    text.push(0);
                    text
                }
                _ => return Err(Errno::INVAL),
            },
            Value::Numbers(_) | Value::Addresses(_) | Value::Properties(_) => {
                return Err(Errno::INVAL);
            }
        })
    }
}

/// The value of an option from the bytes of a program; `None` where it does not take them.
fn read(kind: Kind, given: Option<&[u8]>) -> Option<Value> {
    let int = || Some(c_int::from_ne_bytes(given?.try_into().ok()?));
    match kind {
        Kind::Int(least, most, _) => {
            let value = int()?;
            (least..=most).contains(&value).then_some(Value::Int(value))
        }
        Kind::Flag(_) => {
            let value = int()?;
            matches!(value, 0 | 1).then_some(Value::Int(value))
        }
        Kind::Long(_) => Some(Value::Long(i64::from_ne_bytes(given?.try_into().ok()?))),
        Kind::Bits(_) => Some(Value::Bits(u64::from_ne_bytes(given?.try_into().ok()?))),
        Kind::Bytes(most, empty) => match given {
            None | Some([]) => empty.then(|| Value::Bytes(Vec::new())),
            Some(bytes) => (bytes.len() <= most).then(|| Value::Bytes(bytes.to_vec())),
        },
        Kind::Text(most) => match given {
            None | Some([]) => Some(Value::Bytes(Vec::new())),
            // A zero octet at the end belongs to the text of C.
            Some(bytes) => {
                let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                (bytes.len() <= most).then(|| Value::Bytes(text.to_vec()))
            }
        },
        Kind::Key => {
            let given = given?;
            if let Ok(key) = given.try_into() {
                return Some(Value::Key(key));
            }
            let text = match given {
                text if text.len() == 40 => text,
                [text @ .., 0] if text.len() == 40 => text,
                _ => return None,
            };
            let text = std::str::from_utf8(text).ok()?;
            sealwire_zmtp::keys::z85::decode(text).ok().map(Value::Key)
        }
        Kind::Numbers | Kind::Addresses | Kind::Property | Kind::Action => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_answers_what_it_was_set_to_and_refuses_what_is_out_of_its_range() {
        for entry in TABLE {
            let mut settings = Settings::default();
            let (good, bad): (Vec<Vec<u8>>, Vec<Vec<u8>>) = match entry.kind {
                Kind::Int(least, most, _) => (
                    [least, most].map(|it| it.to_ne_bytes().to_vec()).into(),
                    match least.checked_sub(1) {
                        Some(less) => vec![less.to_ne_bytes().to_vec(), vec![0; 3]],
                        None => vec![vec![0; 3]],
                    },
                ),
                Kind::Flag(_) => (
                    [0, 1].map(|it: c_int| it.to_ne_bytes().to_vec()).into(),
                    vec![2_i32.to_ne_bytes().to_vec(), vec![1], vec![0; 8]],
                ),
                Kind::Long(_) | Kind::Bits(_) => (vec![vec![7; 8]], vec![vec![7; 4]]),
                Kind::Bytes(most, _) => (
                    vec![b"bytes".to_vec()],
                    if most < 1_000 {
                        vec![vec![1; most + 1]]
                    } else {
                        vec![]
                    },
                ),
                Kind::Text(most) => (vec![b"text".to_vec(), vec![]], vec![vec![b'a'; most + 1]]),
                Kind::Key => (vec![vec![9; 32]], vec![vec![9; 31], vec![b'!'; 42]]),
                Kind::Numbers => (vec![vec![], vec![7; 4]], vec![vec![7; 3], vec![7; 8]]),
                Kind::Addresses => (
                    [&b"127.0.0.1"[..], b"10.0.0.0/8", b"::1/128"]
                        .map(<[u8]>::to_vec)
                        .into(),
                    [&b"nowhere"[..], b"10.0.0.0/33", b"::/129", b"10.0.0.0/x"]
                        .map(<[u8]>::to_vec)
                        .into(),
                ),
                Kind::Property => (
                    vec![b"X-Name:value".to_vec(), b"X-Name:a:b".to_vec()],
                    [&b"X-Name"[..], b":value", b"X-Name:", b""]
                        .map(<[u8]>::to_vec)
                        .into(),
                ),
                Kind::Action => continue,
            };
            for value in good {
                let set = settings.set(entry.number, Some(&value));
                if entry.access == Access::Get {
                    assert_eq!(set, Err(Errno::INVAL), "{}", entry.name);
                    continue;
                }
                assert_eq!(set, Ok(()), "{} to {value:?}", entry.name);
                let answer = settings.get(entry.number, 32);
                match entry.access {
                    Access::Set => assert_eq!(answer, Err(Errno::INVAL), "{}", entry.name),
                    _ => assert!(
                        answer.as_ref().is_ok_and(|it| it.starts_with(&value)),
                        "{}: {answer:?}",
                        entry.name
                    ),
                }
            }
            for value in bad {
                let set = settings.set(entry.number, Some(&value));
                assert_eq!(set, Err(Errno::INVAL), "{} to {value:?}", entry.name);
            }
        }
    }

    #[test]
    fn numbers_are_in_order_and_none_comes_twice() {
        assert!(TABLE.windows(2).all(|pair| pair[0].number < pair[1].number));
        let mut settings = Settings::default();
        for number in [-1, 0, 1, 41, 62, 1_000, c_int::MIN, c_int::MAX] {
            assert_eq!(settings.set(number, Some(&[0; 4])), Err(Errno::INVAL));
            assert_eq!(settings.get(number, 100), Err(Errno::INVAL));
        }
    }

    #[test]
    fn keys_come_back_in_both_forms() {
        let mut settings = Settings::default();
        let text = sealwire_zmtp::keys::z85::encode(&[5; 32]);
        let option = number::CURVE_PUBLICKEY;
        settings.set(option, Some(text.as_bytes())).unwrap();
        assert_eq!(settings.get(option, 32).unwrap(), [5; 32]);
        let with_zero = [text.as_bytes(), &[0]].concat();
        assert_eq!(settings.get(option, 41).unwrap(), with_zero);
        settings.set(option, Some(&with_zero)).unwrap();
        assert_eq!(settings.get(option, 40), Err(Errno::INVAL));
    }
}
