use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{CWD, FileType, Mode};
use sealwire::{Endpoint, Generate as _, KeyPair, SocketType, keys};
use tempfile::TempDir;

use super::*;
use crate::policy::{Own, Ruling};

struct Machine {
    folder: TempDir,
    keys: KeyPair,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyPair::generate();
        keys::write_key_pair(folder.path().join("own"), &keys).unwrap();
        fs::write(folder.path().join("clients"), "").unwrap();
        Machine { folder, keys }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// Sources with these variables; the file of the machine is `system`.
    fn sources(&self, variables: &[(&'static str, &str)]) -> Sources {
        Sources {
            variables: (variables.iter())
                .map(|(name, value)| (*name, OsString::from(value)))
                .collect(),
            ignored: None,
            mistyped: None,
            system_file: self.path("system").into(),
            system_owner: fs::metadata(self.folder.path()).unwrap().uid(),
        }
    }
}

fn fault(sources: &Sources) -> String {
    sources.read().expect_err("a fault").to_string()
}

const EMPTY: &str = "version = 1\n";

#[test]
fn a_process_without_any_has_no_policy() {
    assert!(Machine::new().sources(&[]).read().unwrap().is_none());
}

#[test]
fn a_file_that_is_named_has_to_be_there() {
    let machine = Machine::new();
    let path = machine.path("rules");
    let sources = machine.sources(&[(CONFIG, &path)]);
    let says = fault(&sources);
    assert!(
        says.starts_with(&path) && says.contains("no such file"),
        "{says}"
    );
    machine.write("rules", EMPTY, 0o644);
    assert_eq!(sources.read().unwrap().unwrap().place(), path);
    let says = fault(&machine.sources(&[(CONFIG, "")]));
    assert!(says.contains("SEALWIRE_CONFIG: is set and empty"), "{says}");
    // A folder.
    let says = fault(&machine.sources(&[(CONFIG, &machine.path(""))]));
    assert!(says.contains("is not a file"), "{says}");
    machine.write("rules", "\u{e9}", 0o644);
    fs::write(machine.path("rules"), [0xff, 0xfe]).unwrap();
    assert!(fault(&sources).contains("not text"));
    fs::write(machine.path("rules"), vec![b'#'; MAX_FILE as usize + 1]).unwrap();
    assert!(fault(&sources).contains("1048576 bytes"));
}

#[test]
fn a_file_that_others_may_change_does_not_count() {
    let machine = Machine::new();
    let sources = machine.sources(&[(CONFIG, &machine.path("rules"))]);
    for (mode, good) in [
        (0o644, true),
        (0o664, true),
        (0o400, true),
        (0o666, false),
        (0o602, false),
    ] {
        let _ = fs::remove_file(machine.path("rules"));
        machine.write("rules", EMPTY, mode);
        match good {
            true => assert!(sources.read().unwrap().is_some()),
            false => assert!(fault(&sources).contains("chmod o-w")),
        }
    }
}

#[test]
fn the_file_of_the_machine_belongs_to_its_owner_alone() {
    let machine = Machine::new();
    machine.write("system", EMPTY, 0o664);
    assert!(fault(&machine.sources(&[])).contains("chmod go-w"));
    machine.write("system", EMPTY, 0o644);
    let mut sources = machine.sources(&[]);
    assert_eq!(
        sources.read().unwrap().unwrap().place(),
        machine.path("system")
    );
    sources.system_owner += 1;
    assert!(fault(&sources).contains("belongs to user"));
}

#[test]
fn the_environment_overrides_the_file_of_the_machine_unless_that_is_locked() {
    let machine = Machine::new();
    let path = machine.path("rules");
    machine.write("rules", EMPTY, 0o644);
    let sources = machine.sources(&[(CONFIG, &path)]);
    for (text, place) in [
        (EMPTY, "rules"),
        ("version = 1\nlocked = false\n", "rules"),
        ("version = 1\nlocked = true\n", "system"),
    ] {
        machine.write("system", text, 0o644);
        assert_eq!(
            sources.read().unwrap().unwrap().place(),
            machine.path(place),
            "{text}"
        );
    }
    // Also where the environment has a fault.
    let sources = machine.sources(&[(CONFIG, "/nowhere"), (SECRET_KEY, "x")]);
    assert_eq!(
        sources.read().unwrap().unwrap().place(),
        machine.path("system")
    );
    // A file with a fault may have been locked.
    machine.write("system", "version = 1\nlocked = 1\n", 0o644);
    assert!(fault(&machine.sources(&[(CONFIG, &path)])).contains("locked is not true or false"));
    assert!(fault(&machine.sources(&[])).contains("locked"));
}

#[test]
fn a_process_with_rights_of_others_is_not_told_anything_by_its_environment() {
    let of = |secure, set: &[&str]| {
        let set = set.iter().map(|name| (OsString::from(name), "x".into()));
        Sources::of_environment(secure, set)
    };
    for (set, ignored) in [
        (&[][..], None),
        (&[CONFIG], Some(CONFIG)),
        (&[ALLOW], Some(ALLOW)),
        (&[SECRET_KEY, CONFIG], Some(CONFIG)),
    ] {
        let sources = of(true, set);
        assert_eq!((sources.variables.len(), sources.ignored()), (0, ignored));
        let sources = of(false, set);
        assert_eq!(
            (sources.variables.len(), sources.ignored()),
            (set.len(), None)
        );
    }
    let sources = Sources::of_process(true);
    assert_eq!(
        (sources.system_file.to_str(), sources.system_owner),
        (Some(SYSTEM_FILE), 0)
    );
}

#[test]
fn a_variable_that_has_nearly_the_name_of_one_is_a_fault() {
    let machine = Machine::new();
    let of = |secure, name: &str| {
        let mut sources = Sources::of_environment(secure, [(name.into(), "x".into())]);
        sources.system_file = machine.path("system").into();
        sources
    };
    for (name, meant) in [
        ("SEALWIRE_SERVERKEY", SERVER_KEY),
        ("SEALWIRE_SERVER_KEY_FILE", SERVER_KEY),
        ("SEALWIRE_SECRET_KEYFILE", SECRET_KEY_FILE),
        ("SEALWIRE_SECRET_KEY_PATH", SECRET_KEY),
        ("SEALWIRE_CONIFG", CONFIG),
        ("SEALWIRE_CONF", CONFIG),
        ("SEALWIRE_CONFIG_FILE", CONFIG),
        ("SEALWIER_CONFIG", CONFIG),
        ("sealwire_config", CONFIG),
        ("SEALWIRE_ALOW", ALLOW),
        ("SEALWIRE_ALLOWED", ALLOW),
    ] {
        let said = fault(&of(false, name));
        let expected = format!("{name}: no variable has this name, and {meant} has nearly");
        assert!(said.contains(&expected), "{said}");
        assert!(of(true, name).read().unwrap().is_none(), "{name}");
    }
    // Others have names of their own, as those that a cluster gives to a service of this name.
    for name in [
        "SEALWIRE_LOG",
        "SEALWIRE_VERIFY",
        "SEALWIRE_PORT",
        "SEALWIRE_SERVICE_HOST",
        "SEALWIRE_SERVER_PORT",
        "SEALWIRE_SEEDS",
        "PATH",
    ] {
        assert!(of(false, name).read().unwrap().is_none(), "{name}");
    }
}

#[test]
fn a_file_in_place_of_the_one_that_is_named_leaves_other_variables() {
    let machine = Machine::new();
    let (path, key) = (machine.path("rules"), machine.keys.public().to_string());
    machine.write("rules", EMPTY, 0o644);
    let sources = machine.sources(&[(CONFIG, "/nowhere")]).with_config(&path);
    assert_eq!(sources.read().unwrap().unwrap().place(), path);
    let said = fault(&machine.sources(&[(SERVER_KEY, &key)]).with_config(&path));
    assert!(
        said.contains("SEALWIRE_SERVER_KEY: is set beside"),
        "{said}"
    );
}

#[test]
fn only_a_file_holds_rules_and_no_other_is_waited_for() {
    let machine = Machine::new();
    let path = machine.path("pipe");
    let (pipe, folder) = (path.as_str(), machine.path(""));
    rustix::fs::mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    for file in [pipe, "/dev/null", &folder] {
        let said = fault(&machine.sources(&[(CONFIG, file)]));
        assert!(said.contains("is not a file"), "{said}");
    }
    let mut sources = machine.sources(&[]);
    let link = machine.path("link");
    for (to, file) in [
        (pipe, "link"),
        ("/dev/null", "link"),
        (&folder, "link"),
        ("/nowhere", "link"),
        ("/nowhere", "link/rules"),
    ] {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(to, &link).unwrap();
        sources.system_file = machine.path(file).into();
        let said = fault(&sources);
        assert!(said.contains("is not a file"), "{said}");
    }
    sources.system_file = machine.path("absent/rules").into();
    assert!(sources.read().unwrap().is_none());
}

#[test]
fn variables_stand_for_two_rules() {
    let machine = Machine::new();
    let key = machine.keys.public().to_string();
    let (own, clients) = (machine.path("own.key"), machine.path("clients"));
    let decided = |variables: &[(&'static str, &str)], role, endpoint: &str| {
        let policy = machine.sources(variables).read().unwrap().unwrap();
        let endpoint: Endpoint = endpoint.parse().unwrap();
        match policy.decide(role, &endpoint, SocketType::Dealer, Own::Nothing) {
            Ok(Ruling::AsProgram) => "program".to_owned(),
            Ok(Ruling::Keys { rule, .. }) => rule.to_string(),
            Err(refusal) => refusal.to_string(),
        }
    };
    let [client, known, server, all]: [&[(&str, &str)]; 4] = [
        &[(SERVER_KEY, &key)],
        &[(SERVER_KEY, &key), (SECRET_KEY_FILE, &own)],
        &[(SECRET_KEY_FILE, &own), (ALLOW, &clients)],
        &[
            (SERVER_KEY, &key),
            (SECRET_KEY_FILE, &own),
            (ALLOW, "anyone"),
        ],
    ];
    for (variables, role, endpoint, says) in [
        (client, Role::Connect, "tcp://a:1", "anonymously"),
        (client, Role::Connect, "ws://a:1", "anonymously"),
        (client, Role::Connect, "ipc:///a", "program"),
        (
            client,
            Role::Connect,
            "udp://a:1",
            "udp cannot be encrypted",
        ),
        (
            client,
            Role::Bind,
            "tcp://*:1",
            "no rule of SEALWIRE_SERVER_KEY names it for a DEALER that binds; set SEALWIRE_ALLOW",
        ),
        (
            known,
            Role::Connect,
            "tcp://a:1",
            &format!("client of the server {key}, as {key}"),
        ),
        (known, Role::Bind, "tcp://*:1", "no rule"),
        (
            server,
            Role::Bind,
            "tcp://*:1",
            &format!("lets in the keys in {clients}"),
        ),
        (server, Role::Bind, "ipc:///a", "program"),
        (
            server,
            Role::Connect,
            "tcp://a:1",
            "no rule of SEALWIRE_ALLOW names it for a DEALER that connects; set SEALWIRE_SERVER_KEY",
        ),
        (all, Role::Bind, "tcp://*:1", "lets in anyone"),
        (all, Role::Connect, "tcp://a:1", "client of the server"),
    ] {
        let said = decided(variables, role, endpoint);
        assert!(said.contains(says), "{variables:?} {endpoint}: {said}");
    }
}

#[test]
fn the_clients_that_a_variable_names_are_a_file_or_a_directory() {
    let machine = Machine::new();
    let (own, folder) = (machine.path("own.key"), machine.path("clients.d"));
    fs::create_dir(&folder).unwrap();
    let read = |allow: &str| {
        let policy = machine
            .sources(&[(SECRET_KEY_FILE, &own), (ALLOW, allow)])
            .read();
        policy.map(|policy| policy.unwrap().to_string())
    };
    let file = machine.path("own.pub");
    let (folder, file) = (folder.as_str(), file.as_str());
    for allow in [folder, file] {
        assert!(
            read(allow)
                .unwrap()
                .contains(&format!("lets in the keys in {allow}"))
        );
    }
    // One of its files holds none.
    machine.write("clients.d/broken.pub", "not a key\n", 0o644);
    let said = read(folder).unwrap_err().to_string();
    assert!(
        said.starts_with("SEALWIRE_ALLOW: ") && said.contains("broken.pub"),
        "{said}"
    );
}

#[test]
fn a_secret_that_others_may_read_is_not_taken_from_a_variable() {
    let machine = Machine::new();
    let (own, key) = (machine.path("own.key"), machine.keys.public().to_string());
    let secret = fs::read_to_string(&own).unwrap();
    machine.write("own.key", &secret, 0o640);
    for variables in [
        [(SECRET_KEY_FILE, own.as_str()), (ALLOW, "anyone")],
        [(SECRET_KEY_FILE, &own), (SERVER_KEY, &key)],
    ] {
        let said = fault(&machine.sources(&variables));
        assert!(
            said.starts_with("SEALWIRE_SECRET_KEY_FILE: ") && said.contains("chmod 600"),
            "{said}"
        );
    }
}

#[test]
fn variables_that_say_too_little_too_much_or_a_secret_are_a_fault() {
    let machine = Machine::new();
    let key = machine.keys.public().to_string();
    let secret = machine.keys.secret().to_z85().to_string();
    let (own, public) = (machine.path("own.key"), machine.path("own.pub"));
    let rules = machine.path("rules");
    machine.write("rules", EMPTY, 0o644);
    for (variables, says) in [
        (
            &[(SERVER_KEY, "db.pub")][..],
            "SEALWIRE_SERVER_KEY: is not a public key",
        ),
        (&[(SERVER_KEY, "")], "SEALWIRE_SERVER_KEY: is set and empty"),
        (
            &[(SERVER_KEY, &key), (SECRET_KEY_FILE, "/nowhere")],
            "SEALWIRE_SECRET_KEY_FILE: cannot read",
        ),
        (
            &[(SERVER_KEY, &key), (SECRET_KEY_FILE, &public)],
            "holds no secret key",
        ),
        (
            &[(SERVER_KEY, &key), (SECRET_KEY_FILE, &secret)],
            "is a key and not the path",
        ),
        (
            &[(SECRET_KEY_FILE, &own)],
            "SEALWIRE_SECRET_KEY_FILE: says nothing alone",
        ),
        (&[(ALLOW, "anyone")], "SEALWIRE_ALLOW: a server has no key"),
        (
            &[(SERVER_KEY, &key), (ALLOW, "anyone")],
            "SEALWIRE_ALLOW: a server has no key",
        ),
        (
            &[(SECRET_KEY_FILE, &own), (ALLOW, "/nowhere")],
            "SEALWIRE_ALLOW: cannot read",
        ),
        (
            &[(CONFIG, &rules), (SERVER_KEY, &key)],
            "SEALWIRE_SERVER_KEY: is set beside SEALWIRE_CONFIG",
        ),
        (
            &[(CONFIG, &rules), (ALLOW, "anyone")],
            "SEALWIRE_ALLOW: is set beside",
        ),
        (
            &[(CONFIG, &rules), (SECRET_KEY_FILE, &own)],
            "SEALWIRE_SECRET_KEY_FILE: is set beside",
        ),
        (
            &[(SECRET_KEY, &secret)],
            "SEALWIRE_SECRET_KEY: secrets are not taken",
        ),
        (
            &[(SERVER_KEY, &key), (SECRET_KEY, &secret)],
            "secrets are not taken",
        ),
    ] {
        let said = fault(&machine.sources(variables));
        assert!(said.contains(says), "{said}");
        assert!(!said.contains(&secret), "{says}");
    }
}
