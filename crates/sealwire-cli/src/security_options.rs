//! Mechanism and keys on the command line.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sealwire::auth::{AllowAnyone, AllowedKeysFile, Authenticator, PasswordFile};
use sealwire::{CurveServer, Endpoint, Generate as _, KeyPair, PublicKey, Security, keys};

use crate::exit::{Code, Failure};
use crate::passwords;
use crate::report::ReportOptions;
use crate::secret_source::SecretSource;

/// How connections are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mechanism {
    /// Not at all: anyone on the path reads and writes.
    Null,
    /// BLAKE3ZMQ: encrypted and authenticated, peers know each other's keys.
    Blake3,
    /// CURVE, which libzmq speaks: encrypted and authenticated, peers know each other's keys.
    Curve,
    /// A username and a password that anyone on the path reads, with all the rest.
    Plain,
}

impl Mechanism {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mechanism::Null => "null",
            Mechanism::Blake3 => "blake3",
            Mechanism::Curve => "curve",
            Mechanism::Plain => "plain",
        }
    }
}

/// What the options of one socket say, whatever their prefix.
#[derive(Debug)]
pub(crate) struct SecurityChoice<'a> {
    prefix: &'static str,
    mechanism: Option<Mechanism>,
    server_key: Option<&'a str>,
    secret_key: Option<SecretSource<'a>>,
    additional_secret_key: Option<SecretSource<'a>>,
    server: bool,
    allow: Option<&'a Path>,
    allow_anyone: bool,
    username: Option<&'a str>,
    password_file: Option<&'a Path>,
    passwords: Option<&'a Path>,
}

/// Declares the options of one socket. clap flattens a struct only once into a command; the proxy
/// has several sockets, so their options differ by a prefix.
macro_rules! security_options {
    ($(#[$attribute:meta])* $name:ident, $heading:literal, $prefix:literal) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Args)]
        #[command(next_help_heading = $heading)]
        pub(crate) struct $name {
            /// How connections are protected [default: blake3 when a key option is given, else
            /// null, for endpoints that do not leave the machine]
            #[arg(
                id = concat!($prefix, "mechanism"),
                long = concat!($prefix, "mechanism"),
                value_name = "MECHANISM",
                value_enum
            )]
            mechanism: Option<Mechanism>,

            /// As client: the server's public key, in Z85 (40 characters), hex (64) or a file
            #[arg(
                id = concat!($prefix, "server-key"),
                long = concat!($prefix, "server-key"),
                value_name = "KEY"
            )]
            server_key: Option<String>,

            /// Our own secret key: STEM.key as keygen writes it, or a CZMQ certificate. A client
            /// without one stays anonymous
            #[arg(
                id = concat!($prefix, "secret-key-file"),
                long = concat!($prefix, "secret-key-file"),
                value_name = "FILE"
            )]
            secret_key_file: Option<PathBuf>,

            /// The same from a command of the shell that prints what the file would hold, within 60 s
            #[arg(
                id = concat!($prefix, "secret-key-command"),
                long = concat!($prefix, "secret-key-command"),
                value_name = "COMMAND",
                conflicts_with = concat!($prefix, "secret-key-file")
            )]
            secret_key_command: Option<String>,

            /// As server: another secret key by which clients may know us, while keys are changed
            #[arg(
                id = concat!($prefix, "additional-secret-key-file"),
                long = concat!($prefix, "additional-secret-key-file"),
                value_name = "FILE",
                requires = concat!($prefix, "server")
            )]
            additional_secret_key_file: Option<PathBuf>,

            /// The same from a command
            #[arg(
                id = concat!($prefix, "additional-secret-key-command"),
                long = concat!($prefix, "additional-secret-key-command"),
                value_name = "COMMAND",
                requires = concat!($prefix, "server"),
                conflicts_with = concat!($prefix, "additional-secret-key-file")
            )]
            additional_secret_key_command: Option<String>,

            /// Be the server of the mechanism, whichever side binds
            #[arg(id = concat!($prefix, "server"), long = concat!($prefix, "server"))]
            server: bool,

            /// As server: let in the keys of this file (a key and a name per line) or directory
            /// (a .pub file per client). Keys that are added count at once; those that are taken off
            /// are refused, and disconnected, about a second later
            #[arg(
                id = concat!($prefix, "allow"),
                long = concat!($prefix, "allow"),
                value_name = "FILE_OR_DIR"
            )]
            allow: Option<PathBuf>,

            /// As server: let in everybody who knows our public key
            #[arg(id = concat!($prefix, "allow-anyone"), long = concat!($prefix, "allow-anyone"))]
            allow_anyone: bool,

            /// As client of PLAIN: who we are
            #[arg(
                id = concat!($prefix, "username"),
                long = concat!($prefix, "username"),
                value_name = "NAME",
                requires = concat!($prefix, "password-file")
            )]
            username: Option<String>,

            /// As client of PLAIN: a file whose first line is our password, which only its owner may
            /// be able to read
            #[arg(
                id = concat!($prefix, "password-file"),
                long = concat!($prefix, "password-file"),
                value_name = "FILE",
                requires = concat!($prefix, "username")
            )]
            password_file: Option<PathBuf>,

            /// As server of PLAIN: a file with a username and a password per line, which only its
            /// owner may be able to read; read again when it changes
            #[arg(
                id = concat!($prefix, "passwords"),
                long = concat!($prefix, "passwords"),
                value_name = "FILE"
            )]
            passwords: Option<PathBuf>,
        }

        impl $name {
            pub(crate) fn choice(&self) -> SecurityChoice<'_> {
                SecurityChoice {
                    prefix: $prefix,
                    mechanism: self.mechanism,
                    server_key: self.server_key.as_deref(),
                    secret_key: SecretSource::of(
                        self.secret_key_file.as_deref(),
                        self.secret_key_command.as_deref(),
                    ),
                    additional_secret_key: SecretSource::of(
                        self.additional_secret_key_file.as_deref(),
                        self.additional_secret_key_command.as_deref(),
                    ),
                    server: self.server,
                    allow: self.allow.as_deref(),
                    allow_anyone: self.allow_anyone,
                    username: self.username.as_deref(),
                    password_file: self.password_file.as_deref(),
                    passwords: self.passwords.as_deref(),
                }
            }
        }
    };
}

security_options!(
    /// Options of the only socket.
    SecurityOptions,
    "Security",
    ""
);
security_options!(
    /// Options of a proxy's frontend.
    FrontendSecurityOptions,
    "Frontend security",
    "frontend-"
);
security_options!(
    /// Options of a proxy's backend.
    BackendSecurityOptions,
    "Backend security",
    "backend-"
);

security_options!(
    /// Options of what sees a proxy's messages.
    CaptureSecurityOptions,
    "Capture security",
    "capture-"
);
security_options!(
    /// Options of what steers a proxy.
    ControlSecurityOptions,
    "Control security",
    "control-"
);

impl SecurityChoice<'_> {
    /// An error where an option was given, because there is no socket that it could be for.
    pub(crate) fn must_be_empty(&self) -> Result<(), Failure> {
        if self.mechanism.is_some() || self.has_key_options() || self.has_password_options() {
            let socket = self.prefix.trim_end_matches('-');
            return Err(Failure::usage(format!(
                "options of --{socket} need --{socket} ENDPOINT"
            )));
        }
        Ok(())
    }

    /// Reads the keys and makes sense of the options, for a socket with these endpoints.
    pub(crate) fn security<'a>(
        &self,
        endpoints: impl IntoIterator<Item = &'a Endpoint>,
    ) -> Result<Security, Failure> {
        let security = self.chosen()?;
        let was_named = self.mechanism.is_some() || self.has_key_options();
        match exposed(&security, endpoints).first() {
            Some(endpoint) if !was_named => Err(self.usage(&format!(
                "{endpoint} leaves this machine, and nothing says how it is protected: give keys \
                 for encryption (--{{}}server-key KEY as client; --{{}}server, \
                 --{{}}secret-key-file FILE and --{{}}allow FILE_OR_DIR as server), or \
                 --{{}}mechanism null if anyone on the way may read and change everything"
            ))),
            _ => Ok(security),
        }
    }

    fn chosen(&self) -> Result<Security, Failure> {
        match self.mechanism {
            Some(Mechanism::Plain) => self.plain(),
            _ if self.has_password_options() => Err(self.usage(
                "a username and passwords are for PLAIN, which encrypts nothing: add \
                 --{}mechanism plain if that is what you want",
            )),
            Some(Mechanism::Null) if self.has_key_options() => Err(self.usage(
                "--{}mechanism null uses no keys: leave the mechanism or the key options out",
            )),
            Some(Mechanism::Null) => Ok(Security::plain_text()),
            None if !self.has_key_options() => Ok(Security::plain_text()),
            _ if self.server => self.server(),
            _ => self.client(),
        }
    }

    fn has_key_options(&self) -> bool {
        self.server_key.is_some()
            || self.secret_key.is_some()
            || self.additional_secret_key.is_some()
            || self.server
            || self.allow.is_some()
            || self.allow_anyone
    }

    fn has_password_options(&self) -> bool {
        self.username.is_some() || self.password_file.is_some() || self.passwords.is_some()
    }

    fn plain(&self) -> Result<Security, Failure> {
        let keys = self.server_key.is_some()
            || self.secret_key.is_some()
            || self.additional_secret_key.is_some()
            || self.allow.is_some()
            || self.allow_anyone;
        if keys {
            return Err(self.usage("--{}mechanism plain uses no keys: leave the key options out"));
        }
        match (self.passwords, self.username, self.password_file) {
            (Some(file), None, None) => Ok(Security::plain_server(PasswordFile::open(file)?)),
            (None, Some(username), Some(file)) if !self.server => {
                let password = passwords::read_password(file)?;
                Ok(Security::plain_client(username, &password[..]))
            }
            (None, ..) if self.server => {
                Err(self.usage("a PLAIN server must be told whom to let in: --{}passwords FILE"))
            }
            _ => Err(self.usage(
                "PLAIN needs --{}username NAME and --{}password-file FILE, or as server \
                 --{}passwords FILE",
            )),
        }
    }

    fn is_curve(&self) -> bool {
        self.mechanism == Some(Mechanism::Curve)
    }

    fn server_for(
        &self,
        keys: KeyPair,
        additional: Option<KeyPair>,
        authenticator: impl Authenticator,
    ) -> Security {
        if self.is_curve() {
            let server = CurveServer::new(keys, authenticator);
            match additional {
                Some(additional) => server.with_additional_key(additional).into(),
                None => server.into(),
            }
        } else {
            let server = Security::blake3_server(keys, authenticator);
            match additional {
                Some(additional) => server.with_additional_keys(additional).into(),
                None => server.into(),
            }
        }
    }

    fn server(&self) -> Result<Security, Failure> {
        if self.server_key.is_some() {
            return Err(self.usage("--{}server-key is for clients, --{}server makes a server"));
        }
        let Some(secret_key) = self.secret_key else {
            return Err(self.usage(
                "a server needs its key: --{}secret-key-file FILE ('sealwire keygen --out server' \
                 makes one)",
            ));
        };
        let keys = secret_key.key_pair()?;
        let additional = self.additional_secret_key.map(SecretSource::key_pair);
        let additional = additional.transpose()?;
        match (self.allow, self.allow_anyone) {
            (Some(list), false) => {
                Ok(self.server_for(keys, additional, AllowedKeysFile::open(list)?))
            }
            (None, true) => Ok(self.server_for(keys, additional, AllowAnyone)),
            (None, false) => Err(self.usage(
                "a server must be told whom to let in: --{}allow FILE_OR_DIR, or --{}allow-anyone",
            )),
            (Some(_), true) => Err(self.usage("give either --{}allow or --{}allow-anyone")),
        }
    }

    fn client(&self) -> Result<Security, Failure> {
        if self.allow.is_some() || self.allow_anyone {
            return Err(self.usage("only a server lets others in: add --{}server"));
        }
        let Some(server_key) = self.server_key else {
            return Err(self.usage(
                "a client needs the server's public key: --{}server-key KEY (or be the server \
                 with --{}server)",
            ));
        };
        let server_key = read_server_key(server_key)?;
        let keys = self.secret_key.map(SecretSource::key_pair).transpose()?;
        if self.is_curve() {
            let keys = keys.unwrap_or_else(KeyPair::generate);
            return Ok(Security::curve_client(server_key, keys));
        }
        Ok(match keys {
            Some(keys) => Security::blake3_client_with_keys(server_key, keys).into(),
            None => Security::blake3_client(server_key).into(),
        })
    }

    /// `{}` stands for the prefix of the options.
    fn usage(&self, message: &str) -> Failure {
        Failure::usage(message.replace("{}", self.prefix))
    }
}

/// A key as text, or else a file with one.
fn read_server_key(text: &str) -> Result<PublicKey, Failure> {
    let is_there = Path::new(text).exists();
    match text.parse() {
        // Nobody but the user says which is meant: a stranger's file may have the name of a key.
        Ok(_) if is_there => Err(Failure::new(
            Code::Usage,
            format!(
                "'{text}' is a public key and the path of a file: write the key in hexadecimal, or \"./\" or another \"/\" in the path"
            ),
        )),
        Ok(key) => Ok(key),
        Err(_) if is_there => Ok(keys::read_public_key(text)?),
        Err(error) => Err(Failure::new(
            Code::Usage,
            format!("'{text}' is neither a file nor a public key: {error}"),
        )),
    }
}

/// Tells of each endpoint at which anyone on the path can read and write.
pub(crate) fn warn_of_plain_text<'a>(
    report: ReportOptions,
    security: &Security,
    endpoints: impl IntoIterator<Item = &'a Endpoint>,
) {
    for endpoint in exposed(security, endpoints) {
        report.warn(format!(
            "{endpoint} without encryption: anyone on the path can read and write (see 'Security' \
             in --help)"
        ));
    }
}

/// Endpoints at which a socket without encryption can be read and written to from elsewhere.
fn exposed<'a>(
    security: &Security,
    endpoints: impl IntoIterator<Item = &'a Endpoint>,
) -> Vec<&'a Endpoint> {
    if security.mechanisms().all(sealwire::Mechanism::encrypts) {
        return Vec::new();
    }
    endpoints
        .into_iter()
        .filter(|endpoint| endpoint.leaves_the_machine() && !endpoint.has_transport_encryption())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice() -> SecurityChoice<'static> {
        SecurityChoice {
            prefix: "backend-",
            mechanism: None,
            server_key: None,
            secret_key: None,
            additional_secret_key: None,
            server: false,
            allow: None,
            allow_anyone: false,
            username: None,
            password_file: None,
            passwords: None,
        }
    }

    #[test]
    fn passwords_are_for_plain_alone() {
        let shown = SecurityChoice {
            username: Some("me"),
            password_file: Some(Path::new("unread")),
            ..choice()
        };
        let message = format!("{:?}", shown.security([]).unwrap_err());
        assert!(message.contains("--backend-mechanism plain"), "{message}");
    }

    fn names(security: &Security) -> Vec<&'static str> {
        let mechanisms = security.mechanisms();
        mechanisms.map(sealwire::Mechanism::name).collect()
    }

    #[test]
    fn the_mechanism_follows_from_the_options() {
        const KEY: &str = "0000000000000000000000000000000000000001";
        assert_eq!(names(&choice().security([]).unwrap()), ["NULL"]);
        let client = SecurityChoice {
            server_key: Some(KEY),
            ..choice()
        };
        assert_eq!(names(&client.security([]).unwrap()), ["BLAKE3"]);
        let explicit = SecurityChoice {
            mechanism: Some(Mechanism::Null),
            ..client
        };
        assert!(explicit.security([]).is_err());
    }

    #[test]
    fn mistakes_name_the_option_with_its_prefix() {
        let server = SecurityChoice {
            server: true,
            ..choice()
        };
        let message = format!("{:?}", server.security([]).unwrap_err());
        assert!(message.contains("--backend-secret-key-file"), "{message}");
        let bare = SecurityChoice {
            mechanism: Some(Mechanism::Blake3),
            ..choice()
        };
        let message = format!("{:?}", bare.security([]).unwrap_err());
        assert!(message.contains("--backend-server-key"), "{message}");
    }

    #[test]
    fn plain_text_leaves_the_machine_by_name_only() {
        let network: Endpoint = "tcp://*:1".parse().unwrap();
        let here: Endpoint = "tcp://localhost:1".parse().unwrap();
        let message = format!("{:?}", choice().security([&here, &network]).unwrap_err());
        assert!(
            message.contains("tcp://*:1 leaves this machine"),
            "{message}"
        );
        assert!(message.contains("--backend-mechanism null"), "{message}");
        assert!(message.contains("--backend-server-key"), "{message}");
        assert!(choice().security([&here]).is_ok());
        let named = SecurityChoice {
            mechanism: Some(Mechanism::Null),
            ..choice()
        };
        assert_eq!(names(&named.security([&network]).unwrap()), ["NULL"]);
    }

    #[test]
    fn only_readable_transports_that_leave_the_machine_are_exposed() {
        let null = Security::plain_text();
        for (endpoint, is_exposed) in [
            ("tcp://[::ffff:127.0.0.1]:1", false),
            ("tcp://192.0.2.1:1", true),
            ("ws://192.0.2.1:1", true),
            ("wss://192.0.2.1:1", false),
        ] {
            let endpoint: Endpoint = endpoint.parse().unwrap();
            assert_eq!(
                !exposed(&null, [&endpoint]).is_empty(),
                is_exposed,
                "{endpoint}"
            );
        }
    }
}
