//! One rule: which endpoints it names, and what it gives them.

use std::fmt;
use std::io;
use std::path::Path;

use sealwire::{Endpoint, SocketType};

use crate::document::Table;
use crate::fault::Fault;
use crate::pattern::{Pattern, Subject};
use crate::protection::Protection;

/// What a socket does with an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It binds.
    Bind,
    /// It connects.
    Connect,
}

impl Role {
    /// The key of a rule for it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Role::Bind => "bind",
            Role::Connect => "connect",
        }
    }
}

/// One rule of a policy.
#[derive(Debug)]
pub struct Rule {
    role: Role,
    names: Names,
    /// `None` for all.
    types: Option<Vec<SocketType>>,
    pub(crate) protection: Protection,
    /// It takes the place of a mechanism that the program has set.
    pub(crate) overrides: bool,
    /// Where it is written, as people are told.
    pub(crate) place: String,
}

/// The endpoints of a rule.
#[derive(Debug)]
enum Names {
    Pattern(Pattern),
    /// All that can carry a mechanism and leave the machine.
    Network,
}

/// The keys of a rule.
const KEYS: [&str; 10] = [
    "bind",
    "connect",
    "types",
    "mechanism",
    "secret_key_file",
    "additional_secret_key_file",
    "server_key_file",
    "allow",
    "anonymous",
    "override",
];

impl Rule {
    /// A rule for all network endpoints, as variables make one.
    pub(crate) fn of_network(role: Role, protection: Protection, place: &str) -> Self {
        Rule {
            role,
            names: Names::Network,
            types: None,
            protection,
            overrides: false,
            place: place.into(),
        }
    }

    /// Reads a rule and the files that it names.
    pub(crate) fn read(table: &Table<'_>, path: &Path, folder: &Path) -> Result<Self, Fault> {
        table.check_keys(&KEYS)?;
        let (role, endpoint) = match (table.text("bind")?, table.text("connect")?) {
            (Some(endpoint), None) => (Role::Bind, endpoint),
            (None, Some(endpoint)) => (Role::Connect, endpoint),
            (Some(_), Some(endpoint)) => {
                return Err(table.fault(
                    endpoint.line,
                    "a rule is for bind or for connect; write a rule for each",
                ));
            }
            (None, None) => {
                return Err(table.fault(
                    table.line,
                    "the rule names no endpoint; write bind = \"tcp://*:5555\" or connect = \"tcp://HOST:5555\"",
                ));
            }
        };
        let pattern: Pattern = (endpoint.value.parse())
            .map_err(|error| table.fault(endpoint.line, format!("{}: {error}", role.key())))?;
        if role == Role::Connect && !pattern.can_be_connected_to() {
            return Err(table.fault(
                endpoint.line,
                "connect: nobody listens at port 0; write the port, or :* for any",
            ));
        }
        let types = table.texts("types")?;
        let protection = Protection::read(table, folder)?;
        let plain = matches!(protection, Protection::PlainText);
        if !plain && !pattern.carries_mechanisms() {
            return Err(table.fault(
                endpoint.line,
                "udp cannot be encrypted; write mechanism = \"plain-text\", or take the rule out",
            ));
        }
        let types = match types {
            None => None,
            Some(names) => {
                let fault = |message: String| table.fault(names.line, message);
                Some(
                    types_of(&names.value, plain)
                        .map_err(|error| fault(format!("types: {error}")))?,
                )
            }
        };
        let overrides = table.flag("override")?;
        if let Some(placed) = overrides.filter(|placed| placed.value)
            && !matches!(protection, Protection::Keys { .. })
        {
            return Err(table.fault(
                placed.line,
                "a program's own mechanism gives way to keys only; take override out",
            ));
        }
        Ok(Rule {
            role,
            names: Names::Pattern(pattern),
            types,
            protection,
            overrides: overrides.is_some_and(|placed| placed.value),
            place: format!("{}, line {}", path.display(), table.line),
        })
    }

    /// Returns the place where it is written, which no other rule has.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether it is for this endpoint.
    ///
    /// # Errors
    ///
    /// Where nobody can say which file that is.
    pub(crate) fn fits<'a>(
        &self,
        role: Role,
        subject: &'a Subject<'_>,
        socket_type: SocketType,
    ) -> Result<bool, &'a io::Error> {
        let types = self.types.as_ref();
        if self.role != role || !types.is_none_or(|types| types.contains(&socket_type)) {
            return Ok(false);
        }
        match &self.names {
            Names::Pattern(pattern) => {
                let strictly = matches!(self.protection, Protection::PlainText);
                pattern.fits(subject, strictly)
            }
            Names::Network => Ok(is_network(subject.endpoint())),
        }
    }
}

/// Whether an endpoint is reached through the network, if only through that of this machine.
pub(crate) fn is_network(endpoint: &Endpoint) -> bool {
    !matches!(
        endpoint,
        Endpoint::Ipc(_) | Endpoint::IpcAbstract(_) | Endpoint::Inproc(_)
    )
}

fn types_of(names: &[&str], plain: bool) -> Result<Vec<SocketType>, String> {
    let types = names.iter().map(|name| {
        let known = SocketType::ALL.into_iter().find(|one| one.name() == *name);
        match known {
            None => Err(format!("{name:?} is not a socket type; write \"ROUTER\", \"SUB\" and so on")),
            Some(SocketType::Stream) if !plain => Err(
                "STREAM speaks to programs that know no ZeroMQ and cannot be encrypted; take it out".into(),
            ),
            Some(SocketType::Dgram) if !plain => Err(
                "DGRAM sends plain datagrams, which cannot be encrypted; take it out".into(),
            ),
            Some(known) => Ok(known),
        }
    });
    types.collect()
}

/// What it does, for people: one line.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ", self.place, self.role.key())?;
        match &self.names {
            Names::Pattern(pattern) => write!(f, "{pattern}")?,
            Names::Network => f.write_str("any network endpoint")?,
        }
        if let Some(types) = &self.types {
            let names: Vec<_> = types.iter().map(|one| one.name()).collect();
            write!(f, " ({})", names.join(", "))?;
        }
        match &self.protection {
            Protection::PlainText => f.write_str(": plain text"),
            Protection::Own(named) => write!(f, ": the program's own {}", named.name()),
            Protection::Keys { named, summary, .. } => {
                write!(f, ": {} {summary}", named.name())?;
                match self.overrides {
                    true => f.write_str("; in place of what the program sets"),
                    false => Ok(()),
                }
            }
        }
    }
}
