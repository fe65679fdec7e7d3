//! All rules, and the decision about one endpoint.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use sealwire::{Endpoint, Security, SocketType};

use crate::document::{Table, parse};
use crate::fault::Fault;
use crate::pattern::Subject;
use crate::protection::{Named, Protection};
use crate::rule::{Role, Rule, is_network};

/// The rules of a process.
#[derive(Debug)]
pub struct Policy {
    rules: Vec<Rule>,
    /// Network endpoints that no rule names are as the program sets them.
    plain_by_default: bool,
    /// It stays in force where the environment names another file.
    locked: bool,
    /// Where it is written, as people are told.
    place: String,
    /// For an endpoint that no rule names: where the socket binds, and where it connects.
    remedies: [String; 2],
}

/// The mechanism that a program has set by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// None: NULL.
    Nothing,
    /// PLAIN, which encrypts nothing.
    Plain,
    /// CURVE.
    Curve,
    /// BLAKE3ZMQ.
    Blake3,
}

impl Own {
    fn name(self) -> &'static str {
        match self {
            Own::Nothing => "NULL",
            Own::Plain => "PLAIN",
            Own::Curve => "CURVE",
            Own::Blake3 => "BLAKE3",
        }
    }
}

/// What counts for an endpoint.
#[derive(Debug, Clone, Copy)]
pub enum Ruling<'a> {
    /// What the program has set.
    AsProgram,
    /// The mechanism and keys of this rule.
    Keys {
        /// The rule.
        rule: &'a Rule,
        /// What it gives.
        security: &'a Security,
    },
}

/// Why an endpoint is refused, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{endpoint} refused: {reason}")]
pub struct Refusal {
    endpoint: String,
    reason: String,
}

/// Gives each rule a place that no other has, though several are on one line.
fn distinguish(rules: &mut [Rule]) {
    let mut places = HashSet::new();
    for (index, rule) in rules.iter_mut().enumerate() {
        if !places.insert(rule.place.clone()) {
            rule.place = format!("{} (rule {})", rule.place, index + 1);
        }
    }
}

impl Policy {
    pub(crate) fn of_variables(
        rules: Vec<Rule>,
        place: impl Into<String>,
        remedies: [String; 2],
    ) -> Self {
        Policy {
            rules,
            plain_by_default: false,
            locked: false,
            place: place.into(),
            remedies,
        }
    }

    /// Parses the text of the file at `path`, and reads the files that its rules name. `of_system` is for the file
    /// that counts for the whole machine.
    ///
    /// # Errors
    ///
    /// The first fault that is found.
    pub fn parse(path: &Path, text: &str, of_system: bool) -> Result<Self, Fault> {
        let entries = parse(path, text)?;
        let root = Table::root(path, text, &entries);
        let mut known = vec!["version", "default", "rule"];
        if of_system {
            known.push("locked");
        }
        root.check_keys(&known)?;
        match root.number("version")? {
            None => {
                return Err(Fault::new(
                    path.display(),
                    "has no version; begin it with version = 1",
                ));
            }
            Some(version) if version.value != 1 => {
                return Err(root.fault(
                    version.line,
                    format!(
                        "version {} is not known; this library reads version 1",
                        version.value
                    ),
                ));
            }
            Some(_) => {}
        }
        let plain_by_default = match root.text("default")? {
            None => false,
            Some(default) => match default.value {
                "refuse" => false,
                "plain-text" => true,
                _ => {
                    return Err(root.fault(
                        default.line,
                        "default is neither \"refuse\" nor \"plain-text\"",
                    ));
                }
            },
        };
        let locked = root.flag("locked")?.is_some_and(|placed| placed.value);
        let folder = path.parent().unwrap_or(Path::new(""));
        let tables = root.tables("rule")?;
        let rules = tables.iter().map(|table| Rule::read(table, path, folder));
        let mut rules: Vec<Rule> = rules.collect::<Result<_, _>>()?;
        distinguish(&mut rules);
        Ok(Policy {
            rules,
            plain_by_default,
            locked,
            place: path.display().to_string(),
            remedies: [(), ()].map(|()| "add one, or default = \"plain-text\"".into()),
        })
    }

    /// Returns whether it stays in force where the environment names another file.
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// Returns the place where it is written: a path, or the names of variables.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the rules in their order; the first that names an endpoint counts.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Decides what counts for an endpoint of a socket of this type, where the program has set `own`.
    ///
    /// # Errors
    ///
    /// Where nothing does, so that the endpoint is not to be used.
    pub fn decide(
        &self,
        role: Role,
        endpoint: &Endpoint,
        socket_type: SocketType,
        own: Own,
    ) -> Result<Ruling<'_>, Refusal> {
        let refuse = |reason: String| {
            Err(Refusal {
                endpoint: endpoint.to_string(),
                reason,
            })
        };
        if matches!(endpoint, Endpoint::Inproc(_)) {
            return Ok(Ruling::AsProgram);
        }
        let subject = Subject::of(endpoint);
        let named = self.rules.iter().find_map(|rule| {
            let fits = rule.fits(role, &subject, socket_type);
            let fits = fits.map_err(|error| (rule, error));
            fits.map(|fits| fits.then_some(rule)).transpose()
        });
        let named = match named.transpose() {
            Ok(named) => named,
            Err((rule, error)) => {
                return refuse(format!(
                    "{}: the rule may be for it, and nobody can say where its path leads: {error}; give the program the \
                     path of the file itself",
                    rule.place
                ));
            }
        };
        let Some(rule) = named else {
            if self.plain_by_default || !is_network(endpoint) {
                return Ok(Ruling::AsProgram);
            }
            let [on_bind, on_connect] = &self.remedies;
            let (does, remedy) = match role {
                Role::Bind => ("binds", on_bind),
                Role::Connect => ("connects", on_connect),
            };
            return refuse(format!(
                "no rule of {} names it for a {} that {does}; {remedy}",
                self.place,
                socket_type.name(),
            ));
        };
        let at = &rule.place;
        if socket_type == SocketType::Stream && !matches!(rule.protection, Protection::PlainText) {
            return refuse(format!(
                "{at}: STREAM cannot be encrypted; add a rule before it with types = [\"STREAM\"] and plain-text, if that may be"
            ));
        }
        if matches!(endpoint, Endpoint::Udp { .. })
            && !matches!(rule.protection, Protection::PlainText)
        {
            return refuse(format!(
                "{at}: udp cannot be encrypted; write rules to a file, with plain-text for this endpoint, if that may be"
            ));
        }
        match (&rule.protection, own) {
            // PLAIN shows a password and encrypts nothing: it is plain text, of the program's making.
            (Protection::PlainText, Own::Nothing | Own::Plain)
            | (Protection::Own(Named::Curve), Own::Curve)
            | (Protection::Own(Named::Blake3), Own::Blake3) => Ok(Ruling::AsProgram),
            (Protection::PlainText, _) => refuse(format!(
                "{at}: the program has set {} and the rule says plain text; write mechanism = \"{}\" and no keys",
                own.name(),
                own.name().to_ascii_lowercase()
            )),
            (Protection::Own(named), _) => refuse(format!(
                "{at}: the rule leaves {} to the program, which has set {}; give the rule keys",
                named.name(),
                own.name()
            )),
            (Protection::Keys { security, .. }, own) if own == Own::Nothing || rule.overrides => {
                Ok(Ruling::Keys { rule, security })
            }
            (Protection::Keys { .. }, _) => refuse(format!(
                "{at}: the program has set {} by itself; say override = true to put the rule's keys in its place",
                own.name()
            )),
        }
    }
}

/// What it does, for people: a line for each rule, and one for the rest.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            writeln!(f, "{rule}")?;
        }
        let rest = match self.plain_by_default {
            true => "as the program sets them, plain text where it sets nothing",
            false => "refused",
        };
        write!(f, "{}: other network endpoints: {rest}", self.place)
    }
}
