//! BLAKE3 as a program sets it by itself.

use sealwire::account::is_exhaustion;
use sealwire::auth::{AllowAnyone, AllowedKeys, AllowedKeysFile, Authenticator, Client, Decision};
use sealwire::keys::KeyFileError;
use sealwire::{KeyPair, PublicKey, SecretKey, Security};

use super::{Mechanism, Settings, number};
use crate::errno::Errno;

/// The clients that a program names: in options, and in a file.
struct Listed {
    keys: AllowedKeys,
    file: Option<AllowedKeysFile>,
}

impl Authenticator for Listed {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        match (self.keys.authenticate(client), &self.file) {
            (Decision::Refuse { .. }, Some(file)) => file.authenticate(client),
            (decision, _) => decision,
        }
    }

    fn revision(&self) -> Option<u64> {
        self.file.as_ref().and_then(Authenticator::revision)
    }

    fn allows_nobody(&self) -> bool {
        self.keys.is_empty() && self.file.as_ref().is_none_or(Authenticator::allows_nobody)
    }

    fn may_block(&self) -> bool {
        self.file.is_some()
    }
}

/// The line about options for BLAKE3 that are not complete.
pub(crate) const INCOMPLETE: &str = "options for BLAKE3 are not complete, or contradict each other: a server has \
    ZMQ_BLAKE3_SECRETKEY, and either ZMQ_BLAKE3_ALLOW and ZMQ_BLAKE3_ALLOW_FILE, or ZMQ_BLAKE3_ANYONE, or ZMQ_ZAP_DOMAIN; \
    a client has ZMQ_BLAKE3_SERVERKEY";

/// The number for a list that cannot be read: the system's where it has no descriptor for that.
fn unread(error: &KeyFileError) -> Errno {
    match error {
        KeyFileError::Read { source, .. } if is_exhaustion(source) => Errno::of(source),
        _ => Errno::INVAL,
    }
}

impl Settings {
    /// Whether nobody but a ZAP handler says who may come.
    pub(super) fn leaves_blake3_to_zap(&self) -> bool {
        self.mechanism() == Mechanism::Blake3
            && self.is_server()
            && !self.flag(number::BLAKE3_ANYONE)
            && self.keys(number::BLAKE3_ALLOW).is_empty()
            && self.bytes(number::BLAKE3_ALLOW_FILE).is_empty()
            && !self.bytes(number::ZAP_DOMAIN).is_empty()
    }

    /// The socket's own keys, where it has any.
    pub(super) fn blake3_keys(&self) -> Option<KeyPair> {
        let secret = self.key(number::BLAKE3_SECRETKEY);
        let given = *secret != [0; 32];
        given.then(|| KeyPair::from_secret(SecretKey::from_bytes(*secret)))
    }

    /// # Errors
    ///
    /// `EINVAL` for keys that are missing, or are none, and a server that does not say who may come.
    pub(super) fn blake3(&self) -> Result<Security, Errno> {
        let own = self.blake3_keys();
        if !self.is_server() {
            let server = self.key(number::BLAKE3_SERVERKEY);
            // Where none was set. It would be taken for a key.
            if *server == [0; 32] {
                return Err(Errno::INVAL);
            }
            let server = PublicKey::from_bytes(*server).map_err(|_| Errno::INVAL)?;
            return Ok(match own {
                None => Security::blake3_client(server).into(),
                Some(own) => Security::blake3_client_with_keys(server, own).into(),
            });
        }
        let own = own.ok_or(Errno::INVAL)?;
        let allow = self.keys(number::BLAKE3_ALLOW).iter();
        let keys = allow.map(|key| PublicKey::from_bytes(**key).map_err(|_| Errno::INVAL));
        let keys = keys.collect::<Result<AllowedKeys, _>>()?;
        let file = match self.bytes(number::BLAKE3_ALLOW_FILE) {
            [] => None,
            path => {
                let path = std::str::from_utf8(path).map_err(|_| Errno::INVAL)?;
                Some(AllowedKeysFile::open(path).map_err(|error| unread(&error))?)
            }
        };
        let lists = !keys.is_empty() || file.is_some();
        let mut server = match (lists, self.flag(number::BLAKE3_ANYONE)) {
            (true, false) => Security::blake3_server(own, Listed { keys, file }),
            (false, true) => Security::blake3_server(own, AllowAnyone),
            (false, false) if self.leaves_blake3_to_zap() => {
                Security::blake3_server(own, AllowAnyone)
            }
            _ => return Err(Errno::INVAL),
        };
        for key in self.keys(number::BLAKE3_ADDITIONAL_SECRETKEY) {
            server =
                server.with_additional_keys(KeyPair::from_secret(SecretKey::from_bytes(**key)));
        }
        Ok(server.into())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ON: [u8; 4] = 1_i32.to_ne_bytes();
    const OFF: [u8; 4] = 0_i32.to_ne_bytes();

    /// Whether these options make a server or client of BLAKE3.
    fn is_complete(options: &[(libc::c_int, &[u8])]) -> bool {
        let mut settings = Settings::default();
        for (option, value) in options {
            settings.set(*option, Some(value)).unwrap();
        }
        assert_eq!(settings.mechanism(), Mechanism::Blake3);
        match settings.security() {
            Ok(security) => {
                let mechanisms: Vec<_> = security.mechanisms().collect();
                assert_eq!(mechanisms, [sealwire::Mechanism::Blake3]);
                true
            }
            Err(error) => {
                assert_eq!(error, Errno::INVAL);
                false
            }
        }
    }

    #[test]
    fn a_server_has_a_key_and_says_who_may_come_and_a_client_knows_its_server() {
        use number::{
            BLAKE3_ADDITIONAL_SECRETKEY as ADDITIONAL, BLAKE3_ALLOW as ALLOW,
            BLAKE3_ALLOW_FILE as FILE, BLAKE3_ANYONE as ANYONE, BLAKE3_SECRETKEY as SECRET,
            BLAKE3_SERVER as SERVER, BLAKE3_SERVERKEY as SERVERKEY, ZAP_DOMAIN,
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clients");
        fs::write(&path, "").unwrap();
        let path = path.to_str().unwrap().as_bytes();
        let key = [5; 32];
        let server: [(libc::c_int, &[u8]); 2] = [(SERVER, &ON), (SECRET, &key)];
        for (more, complete) in [
            (&[][..], false),
            (&[(ALLOW, &key[..])], true),
            (&[(FILE, path)], true),
            (&[(FILE, path), (ALLOW, &key)], true),
            (&[(FILE, b"/nowhere/at/all")], false),
            (&[(ANYONE, &ON)], true),
            (&[(ZAP_DOMAIN, b"domain")], true),
            (&[(ALLOW, &key), (ALLOW, b"")], false),
            (&[(ALLOW, &key), (ANYONE, &ON)], false),
            (&[(ANYONE, &ON), (ADDITIONAL, &key)], true),
        ] {
            let options = [&server[..], more].concat();
            assert_eq!(is_complete(&options), complete, "{more:?}");
        }
        for (options, complete) in [
            (&[(SERVER, &ON[..]), (ANYONE, &ON)][..], false),
            (&[(SECRET, &key)], false),
            (&[(SECRET, &key), (SERVERKEY, &key)], true),
            (&[(SERVERKEY, &key)], true),
            // Half of a server is never plain text, and options of other mechanisms that are off change nothing.
            (&[(ALLOW, &key)], false),
            (&[(FILE, path)], false),
            (&[(ANYONE, &ON)], false),
            (&[(ADDITIONAL, &key)], false),
            (&[(SECRET, &key), (SERVER, &OFF)], false),
            (&[(SERVERKEY, &key), (SERVER, &OFF)], true),
            (&[(SERVERKEY, &key), (number::PLAIN_SERVER, &OFF)], true),
            (&[(SERVERKEY, &key), (number::CURVE_SERVER, &OFF)], true),
            (
                &[
                    (SERVERKEY, &key),
                    (number::CURVE_SERVER, &ON),
                    (number::CURVE_SERVER, &OFF),
                ],
                true,
            ),
            (
                &[
                    (ALLOW, &key),
                    (number::PLAIN_SERVER, &ON),
                    (number::PLAIN_SERVER, &OFF),
                ],
                false,
            ),
        ] {
            assert_eq!(is_complete(options), complete, "{options:?}");
        }
    }

    #[test]
    fn what_is_off_says_nothing_of_other_mechanisms() {
        let mut settings = Settings::default();
        for (option, value) in [
            (number::BLAKE3_SERVER, &OFF[..]),
            (number::BLAKE3_ANYONE, &OFF),
            (number::BLAKE3_ALLOW, b""),
        ] {
            settings.set(option, Some(value)).unwrap();
            assert_eq!(settings.mechanism(), Mechanism::Null);
        }
        settings.set(number::CURVE_SERVER, Some(&ON)).unwrap();
        settings.set(number::BLAKE3_SERVER, Some(&OFF)).unwrap();
        assert_eq!(settings.mechanism(), Mechanism::Curve);
    }

    #[test]
    fn the_public_key_is_that_of_the_secret_one_which_cannot_be_read() {
        let mut settings = Settings::default();
        let public = number::BLAKE3_PUBLICKEY;
        assert_eq!(settings.get(public, 32), Err(Errno::INVAL));
        settings
            .set(number::BLAKE3_SECRETKEY, Some(&[5; 32]))
            .unwrap();
        let expected = KeyPair::from_secret(SecretKey::from_bytes([5; 32])).public();
        assert_eq!(
            settings.get(public, 32).unwrap()[..],
            expected.as_bytes()[..]
        );
        let text = [expected.to_z85().as_bytes(), &[0]].concat();
        assert_eq!(*settings.get(public, 41).unwrap(), text);
        assert_eq!(
            settings.get(number::BLAKE3_SECRETKEY, 32),
            Err(Errno::INVAL)
        );
    }

    #[test]
    fn clients_say_whether_there_are_any_and_where_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::from_secret(SecretKey::from_bytes([5; 32])).public();
        let file = |name, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            AllowedKeysFile::open(path).unwrap()
        };
        let one = || AllowedKeys::new().allow(key);
        let listed = || file("one", &key.to_string());
        for (keys, file, nobody) in [
            (AllowedKeys::new(), None, true),
            (one(), None, false),
            (AllowedKeys::new(), Some(file("empty", "")), true),
            (one(), Some(file("none", "")), false),
            (AllowedKeys::new(), Some(listed()), false),
            (one(), Some(listed()), false),
        ] {
            let reads = file.is_some();
            let clients = Listed { keys, file };
            assert_eq!(clients.allows_nobody(), nobody);
            assert_eq!(clients.may_block(), reads);
            assert_eq!(clients.revision().is_some(), reads);
        }
    }
}
