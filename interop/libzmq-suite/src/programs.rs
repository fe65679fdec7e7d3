//! Which of libzmq's test programs run, how, and why the others do not.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Failure;

/// A test program.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Files of libzmq that it is linked with.
    pub(crate) sources: &'static [&'static str],
    /// Whether nothing else may run beside it, and why.
    pub(crate) alone: Option<&'static str>,
    pub(crate) limit: Duration,
}

/// Names, or their ends, and the reason.
const SKIPPED: &[(&str, &str)] = &[
    (
        "_fuzzer",
        "a fuzz target: its inputs are not in the package, and without them it skips itself",
    ),
    (
        "_tipc",
        "TIPC: a transport that Sealwire does not have; needs a kernel module",
    ),
    (
        "_vmci",
        "VMCI: a transport that Sealwire does not have; needs a virtual machine",
    ),
    (
        "test_security_gssapi",
        "GSSAPI: a mechanism that Sealwire does not have; needs a Kerberos server",
    ),
    (
        "test_wss_transport",
        "wss: libzmq would need GnuTLS, and so skips itself",
    ),
    (
        "test_pair_tcp_cap_net_admin",
        "needs CAP_NET_ADMIN, which tests do not have",
    ),
];

/// Programs that need the drafts.
const DRAFTS: &[&str] = &[
    "test_app_meta",
    "test_busy_poll",
    "test_channel",
    "test_client_server",
    "test_dgram",
    "test_disconnect_msg",
    "test_hello_msg",
    "test_hiccup_msg",
    "test_msg_init",
    "test_peer",
    "test_poller",
    "test_pubsub_topics_count",
    "test_radio_dish",
    "test_router_notify",
    "test_scatter_gather",
    "test_thread_safe",
    "test_xpub_manual_last_value",
    "test_xsub_verbose",
    "test_zmq_ppoll_fd",
    "test_zmq_ppoll_signals",
];

const ALONE: &[(&str, &str)] = &[
    ("test_bind_after_connect_tcp", "a fixed port"),
    ("test_last_endpoint", "fixed ports"),
    ("test_req_relaxed", "a fixed port"),
    ("test_reqrep_tcp", "fixed ports"),
    ("test_dgram", "fixed ports"),
    ("test_disconnect_msg", "a fixed port"),
    ("test_immediate", "fixed ports"),
    ("test_many_sockets", "takes all descriptors"),
    ("test_radio_dish", "fixed ports"),
    ("test_reconnect_options", "a fixed port"),
    ("test_heartbeats", "judges by time"),
    ("test_timers", "judges by time"),
    ("test_timeo", "judges by time"),
];

/// Above the alarm of 60 seconds that programs set themselves.
const LIMIT: Duration = Duration::from_secs(75);
const LIMITS: &[(&str, Duration)] = &[("test_heartbeats", Duration::from_secs(150))];

/// Why the program of this name does not run.
pub(crate) fn skipped(name: &str) -> Option<&'static str> {
    let (_, reason) = SKIPPED.iter().find(|(end, _)| name.ends_with(end))?;
    Some(reason)
}

/// Returns the programs in the folder `tests` that are not skipped, by name.
pub(crate) fn all(tests: &Path, drafts: bool) -> Result<Vec<Program>, Failure> {
    let mut programs = Vec::new();
    for name in names(tests)? {
        if skipped(&name).is_some() || (!drafts && DRAFTS.contains(&&*name)) {
            continue;
        }
        let of = |table: &[(&str, &'static str)]| {
            table
                .iter()
                .find(|(program, _)| *program == name)
                .map(|(_, value)| *value)
        };
        let limit = LIMITS.iter().find(|(program, _)| *program == name);
        programs.push(Program {
            sources: if name == "test_security_curve" {
                &["err.cpp", "random.cpp", "clock.cpp"]
            } else {
                &[]
            },
            alone: of(ALONE),
            limit: limit.map_or(LIMIT, |(_, limit)| *limit),
            name: name.leak(),
        });
    }
    Ok(programs)
}

/// Returns the names of all programs in the folder `tests`.
pub(crate) fn names(tests: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(tests)? {
        let file = entry?.file_name();
        if let Some(name) = file.to_string_lossy().strip_suffix(".cpp")
            && name.starts_with("test_")
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{expected, home, vendor};

    /// Else a program that somebody takes out of either would be missed by nobody.
    #[test]
    fn the_files_of_expectations_have_every_program() {
        let tests = vendor::folder().unwrap().join("tests");
        let written = |name: &str| {
            let expected = expected::read(&home().join(name)).unwrap();
            expected.into_keys().collect::<Vec<_>>()
        };
        let stable = all(&tests, false).unwrap();
        let names: Vec<_> = stable.iter().map(|program| program.name).collect();
        assert_eq!(written("expected.toml"), names);
        let drafts = written("expected-drafts.toml");
        for name in DRAFTS {
            assert!(drafts.iter().any(|other| other == name), "{name}");
        }
    }

    #[test]
    fn the_document_counts_the_programs() {
        let document = fs::read_to_string(home().join("../../docs/libzmq.md")).unwrap();
        let tests = vendor::folder().unwrap().join("tests");
        let names = names(&tests).unwrap();
        let mut counts = BTreeMap::<&str, usize>::new();
        for name in &names {
            let row = match SKIPPED.iter().find(|(end, _)| name.ends_with(end)) {
                Some((end, _)) => end,
                None if DRAFTS.contains(&&**name) => "for draft functions",
                None => "those that run",
            };
            *counts.entry(row).or_default() += 1;
        }
        assert!(document.contains(&format!("of libzmq's {} programs", names.len())));
        for (row, count) in counts {
            let row = match row.strip_prefix('_') {
                Some(end) => format!("`test_*_{end}`"),
                None if row.starts_with("test_") => format!("`{row}`"),
                None => row.to_owned(),
            };
            let line = format!("| {row} | {count} |");
            assert!(document.contains(&line), "{line}");
        }
    }
}
