//! The values of a socket's options, in libzmq's units.

use libc::c_int;
use sealwire_policy::Own;
use sealwire_zmtp::limits::MAX_ADDITIONAL_SERVER_KEYS;
use zeroize::Zeroizing;

use super::addresses::AddressRange;
use super::number;
use super::table::{Access, Entry, Kind, TABLE};
use crate::errno::Errno;

/// The value of an option. Secrets are among them: it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Int(c_int),
    Long(i64),
    Bits(u64),
    Bytes(Zeroizing<Vec<u8>>),
    Key(Zeroizing<[u8; 32]>),
    Keys(Vec<Zeroizing<[u8; 32]>>),
    Numbers(Vec<c_int>),
    Addresses(Vec<AddressRange>),
    Properties(Vec<(String, Vec<u8>)>),
}

/// The mechanism of a socket, with its number in `zmq.h` or `zmq_sealwire.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mechanism {
    Null = 0,
    Plain = 1,
    Curve = 2,
    /// Far from those that libzmq may add.
    Blake3 = 100,
}

/// The values of all options.
#[derive(Clone)]
pub(crate) struct Settings {
    values: Vec<Value>,
    /// As libzmq: the last option that was set for one decides. So keys alone mean CURVE, and never plain text.
    mechanism: Mechanism,
    as_server: bool,
    /// `as_server` as it was when BLAKE3 was last the mechanism.
    is_blake3_server: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let default = |entry: &Entry| match entry.kind {
            Kind::Int(_, _, default) | Kind::Flag(default) | Kind::Switch(default) => {
                Value::Int(default)
            }
            Kind::Long(default) => Value::Long(default),
            Kind::Bits(default) => Value::Bits(default),
            Kind::Bytes(..) | Kind::Text(_) | Kind::EmptyText(_) | Kind::Action => {
                Value::Bytes(Zeroizing::default())
            }
            Kind::Key => Value::Key(Zeroizing::default()),
            Kind::Keys => Value::Keys(Vec::new()),
            Kind::Numbers => Value::Numbers(Vec::new()),
            Kind::Addresses => Value::Addresses(Vec::new()),
            Kind::Property => Value::Properties(Vec::new()),
        };
        Settings {
            values: TABLE.iter().map(default).collect(),
            mechanism: Mechanism::Null,
            as_server: false,
            is_blake3_server: false,
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

    pub(crate) fn bits(&self, option: c_int) -> u64 {
        match self.value(option) {
            Some(Value::Bits(value)) => *value,
            _ => 0,
        }
    }

    pub(crate) fn bytes(&self, option: c_int) -> &[u8] {
        match self.value(option) {
            Some(Value::Bytes(value)) => value,
            _ => &[],
        }
    }

    /// Takes the routing id away that the next peer which is connected to is to have.
    pub(crate) fn take_routing_id_of_peer(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        let index = Self::index(number::CONNECT_ROUTING_ID)?;
        let none = Value::Bytes(Zeroizing::default());
        match std::mem::replace(&mut self.values[index], none) {
            Value::Bytes(chosen) if !chosen.is_empty() => Some(chosen),
            _ => None,
        }
    }

    /// Takes the descriptor away that the next endpoint which is bound is to listen on.
    pub(crate) fn take_descriptor(&mut self) -> Option<c_int> {
        let descriptor = self.int(number::USE_FD);
        self.put(number::USE_FD, Value::Int(-1));
        (descriptor != -1).then_some(descriptor)
    }

    /// A key; zeros where none was set.
    pub(crate) fn key(&self, option: c_int) -> Zeroizing<[u8; 32]> {
        match self.value(option) {
            Some(Value::Key(value)) => value.clone(),
            _ => Zeroizing::default(),
        }
    }

    pub(crate) fn keys(&self, option: c_int) -> &[Zeroizing<[u8; 32]>] {
        match self.value(option) {
            Some(Value::Keys(values)) => values,
            _ => &[],
        }
    }

    pub(crate) fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// The mechanism as rules know it, that come from outside of the program.
    pub(crate) fn own(&self) -> Own {
        match self.mechanism {
            Mechanism::Null => Own::Nothing,
            Mechanism::Plain => Own::Plain,
            Mechanism::Curve => Own::Curve,
            Mechanism::Blake3 => Own::Blake3,
        }
    }

    /// Whether the socket is the server of its mechanism.
    pub(crate) fn is_server(&self) -> bool {
        self.as_server
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
            Kind::Keys => self.with_key(option, given),
            Kind::Numbers => self.with_number(option, given),
            Kind::Addresses => self.with_addresses(option, given),
            Kind::Property => self.with_property(option, given),
            kind => read(kind, given),
        };
        let value = match value.ok_or(Errno::INVAL)? {
            // Peers are told in tenths of a second.
            Value::Int(milliseconds) if option == number::HEARTBEAT_TTL => {
                Value::Int(milliseconds - milliseconds % 100)
            }
            value => value,
        };
        self.note_mechanism(option, &value, given);
        if let number::IPV4ONLY | number::IPV6 = option {
            // One is the opposite of the other.
            let other = number::IPV4ONLY + number::IPV6 - option;
            self.put(other, Value::Int(c_int::from(value == Value::Int(0))));
        }
        // Of these libzmq has one state for two options.
        let other = match (option, value == Value::Int(0)) {
            (number::XPUB_VERBOSE, _) => Some(number::XPUB_VERBOSER),
            (number::XPUB_VERBOSER, true) => Some(number::XPUB_VERBOSE),
            (number::XPUB_MANUAL, true) => Some(number::XPUB_MANUAL_LAST_VALUE),
            (number::XPUB_MANUAL_LAST_VALUE, true) => Some(number::XPUB_MANUAL),
            _ => None,
        };
        if let Some(other) = other {
            self.put(other, Value::Int(0));
        }
        self.put(option, value);
        Ok(())
    }

    fn note_mechanism(&mut self, option: c_int, value: &Value, given: Option<&[u8]>) {
        let on = *value == Value::Int(1);
        let names = given.is_some_and(|given| !given.is_empty());
        let given = given.is_some();
        let is_blake3 = self.mechanism == Mechanism::Blake3;
        let (mechanism, as_server) = match option {
            number::PLAIN_SERVER if on => (Mechanism::Plain, true),
            number::CURVE_SERVER if on => (Mechanism::Curve, true),
            number::BLAKE3_SERVER if on => (Mechanism::Blake3, true),
            number::BLAKE3_SERVER if is_blake3 => (Mechanism::Blake3, false),
            // Says nothing of other mechanisms.
            number::BLAKE3_SERVER => {
                self.is_blake3_server = false;
                return;
            }
            number::PLAIN_USERNAME | number::PLAIN_PASSWORD if given => (Mechanism::Plain, false),
            number::PLAIN_SERVER | number::CURVE_SERVER => (Mechanism::Null, false),
            number::PLAIN_USERNAME | number::PLAIN_PASSWORD => (Mechanism::Null, self.as_server),
            number::CURVE_SERVERKEY => (Mechanism::Curve, false),
            number::BLAKE3_SERVERKEY => (Mechanism::Blake3, false),
            number::BLAKE3_SECRETKEY => (Mechanism::Blake3, self.as_server),
            // A program that names those who may come wants nobody else: without the rest of a server no endpoint is made.
            number::BLAKE3_ALLOW | number::BLAKE3_ALLOW_FILE if names => {
                (Mechanism::Blake3, self.as_server)
            }
            number::BLAKE3_ADDITIONAL_SECRETKEY if names => (Mechanism::Blake3, self.as_server),
            number::BLAKE3_ANYONE if on => (Mechanism::Blake3, self.as_server),
            number::CURVE_PUBLICKEY | number::CURVE_SECRETKEY => (Mechanism::Curve, self.as_server),
            _ => return,
        };
        (self.mechanism, self.as_server) = match mechanism {
            // libzmq's own options fall back to plain text. A program that has set some of BLAKE3 did not ask for that.
            Mechanism::Null if is_blake3 || self.has_blake3() => {
                (Mechanism::Blake3, self.is_blake3_server)
            }
            mechanism => (mechanism, as_server),
        };
        if self.mechanism == Mechanism::Blake3 {
            self.is_blake3_server = self.as_server;
        }
    }

    /// Whether a key, a list or a side of BLAKE3 is set.
    fn has_blake3(&self) -> bool {
        let keys = [number::BLAKE3_SECRETKEY, number::BLAKE3_SERVERKEY];
        let lists = [number::BLAKE3_ADDITIONAL_SECRETKEY, number::BLAKE3_ALLOW];
        let flags = [number::BLAKE3_SERVER, number::BLAKE3_ANYONE];
        keys.iter().any(|key| *self.key(*key) != [0; 32])
            || lists.iter().any(|list| !self.keys(*list).is_empty())
            || flags.iter().any(|flag| self.flag(*flag))
            || !self.bytes(number::BLAKE3_ALLOW_FILE).is_empty()
    }

    /// The keys of an option with one more, or none.
    fn with_key(&self, option: c_int, given: Option<&[u8]>) -> Option<Value> {
        let Some(given) = given.filter(|given| !given.is_empty()) else {
            return Some(Value::Keys(Vec::new()));
        };
        let mut keys = self.keys(option).to_vec();
        if option == number::BLAKE3_ADDITIONAL_SECRETKEY && keys.len() == MAX_ADDITIONAL_SERVER_KEYS
        {
            return None;
        }
        keys.push(key_of(given)?);
        Some(Value::Keys(keys))
    }

    /// The numbers of an option with one more, or none.
    fn with_number(&self, option: c_int, given: Option<&[u8]>) -> Option<Value> {
        let Some(given) = given else {
            return Some(Value::Numbers(Vec::new()));
        };
        let number = c_int::from_ne_bytes(given.try_into().ok()?);
        let mut numbers = self.numbers(option).to_vec();
        numbers.push(number);
        Some(Value::Numbers(numbers))
    }

    /// The ranges of an option with one more, or none.
    fn with_addresses(&self, option: c_int, given: Option<&[u8]>) -> Option<Value> {
        let Some(given) = given else {
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
        // As libzmq: other names are those of the protocol.
        if !name.starts_with(b"X-") || name.len() > 255 || value.is_empty() {
            return None;
        }
        debug_assert_eq!(option, number::METADATA);
        let name = std::str::from_utf8(name).ok()?.to_owned();
        let mut properties = self.properties().to_vec();
        if properties.iter().all(|(there, _)| *there != name) {
            properties.push((name, value.to_vec()));
        }
        Some(Value::Properties(properties))
    }

    /// The bytes that answer the question for an option whose value is kept, for a buffer of `room` bytes.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an option that there is not, or that cannot be asked for, and for too little room.
    pub(crate) fn get(&self, option: c_int, room: usize) -> Result<Zeroizing<Vec<u8>>, Errno> {
        let entry = Entry::of(option).filter(|entry| entry.access != Access::Set);
        let entry = entry.ok_or(Errno::INVAL)?;
        let server_of = match option {
            number::PLAIN_SERVER => Some(Mechanism::Plain),
            number::CURVE_SERVER => Some(Mechanism::Curve),
            number::BLAKE3_SERVER => Some(Mechanism::Blake3),
            _ => None,
        };
        if let Some(mechanism) = server_of {
            let is = self.as_server && self.mechanism == mechanism;
            return answer_of_number(&c_int::from(is).to_ne_bytes(), room);
        }
        if option == number::BLAKE3_PUBLICKEY {
            let keys = self.blake3_keys().ok_or(Errno::INVAL)?;
            return answer_of_key(keys.public().as_bytes(), room);
        }
        let value = self.value(option).ok_or(Errno::INVAL)?;
        match value {
            Value::Int(value) => answer_of_number(&value.to_ne_bytes(), room),
            Value::Long(value) => answer_of_number(&value.to_ne_bytes(), room),
            Value::Bits(value) => answer_of_number(&value.to_ne_bytes(), room),
            Value::Bytes(value) => {
                let mut value = value.to_vec();
                if matches!(entry.kind, Kind::Text(_) | Kind::EmptyText(_)) {
                    value.push(0);
                }
                Ok(value.into())
            }
            Value::Key(key) => answer_of_key(key, room),
            Value::Keys(_) | Value::Numbers(_) | Value::Addresses(_) | Value::Properties(_) => {
                Err(Errno::INVAL)
            }
        }
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
        Kind::Switch(_) => Some(Value::Int(c_int::from(int()? != 0))),
        Kind::Long(_) => Some(Value::Long(i64::from_ne_bytes(given?.try_into().ok()?))),
        Kind::Bits(_) => Some(Value::Bits(u64::from_ne_bytes(given?.try_into().ok()?))),
        Kind::Bytes(most, empty) => match given {
            None | Some([]) => empty.then(|| Value::Bytes(Zeroizing::default())),
            Some(bytes) => (bytes.len() <= most).then(|| Value::Bytes(bytes.to_vec().into())),
        },
        Kind::Text(most) | Kind::EmptyText(most) => match given {
            None => Some(Value::Bytes(Zeroizing::default())),
            Some([]) => {
                let empty = matches!(kind, Kind::EmptyText(_));
                empty.then(|| Value::Bytes(Zeroizing::default()))
            }
            // A zero octet at the end belongs to the text of C.
            Some(bytes) => {
                let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                (bytes.len() <= most).then(|| Value::Bytes(text.to_vec().into()))
            }
        },
        Kind::Key => key_of(given?).map(Value::Key),
        Kind::Keys | Kind::Numbers | Kind::Addresses | Kind::Property | Kind::Action => None,
    }
}

/// A key as 32 bytes, or 40 characters with a zero octet behind them or not.
fn key_of(given: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    if let Ok(key) = given.try_into() {
        return Some(Zeroizing::new(key));
    }
    let text = match given {
        text if text.len() == 40 => text,
        [text @ .., 0] if text.len() == 40 => text,
        _ => return None,
    };
    let text = std::str::from_utf8(text).ok()?;
    sealwire_zmtp::keys::z85::decode(text)
        .ok()
        .map(Zeroizing::new)
}

/// The bytes of a number. As libzmq: a buffer of another size is for another number.
pub(crate) fn answer_of_number(bytes: &[u8], room: usize) -> Result<Zeroizing<Vec<u8>>, Errno> {
    match room == bytes.len() {
        true => Ok(bytes.to_vec().into()),
        false => Err(Errno::INVAL),
    }
}

/// A key in one of its two forms, by the room for it.
fn answer_of_key(key: &[u8; 32], room: usize) -> Result<Zeroizing<Vec<u8>>, Errno> {
    match room {
        32 => Ok(Zeroizing::new(key.to_vec())),
        41 => {
            let mut text = sealwire_zmtp::keys::z85::encode(key).into_bytes();
            text.push(0);
            Ok(Zeroizing::new(text))
        }
        _ => Err(Errno::INVAL),
    }
}

#[cfg(test)]
mod tests;
