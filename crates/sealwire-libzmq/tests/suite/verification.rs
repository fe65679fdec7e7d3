//! A process is stopped where calls reach another libzmq, and is not where another one is only mapped.

use std::process::Output;

use crate::support::{Folder, output};

/// Not a libzmq, but with all by which one is known.
const OTHER: &str = r#"
void *zmq_ctx_new(void) { return "Operation cannot be accomplished in current state"; }
int zmq_ctx_term(void *context) { return context == 0; }
"#;

/// A module that calls a libzmq, whichever.
const CALLER: &str = r#"
void *zmq_ctx_new(void);
__attribute__((visibility("default"))) void *module(void) { return zmq_ctx_new(); }
"#;

/// A program that makes a context before it ends.
const PROGRAM: &str = r"
void *zmq_ctx_new(void);
int zmq_ctx_term(void *context);
int main(void) { return zmq_ctx_term(zmq_ctx_new()); }
";

/// A program that loads a module, with these flags, calls it, and makes a context of ours if it is told to.
const LOADER: &str = r#"
#include <dlfcn.h>
#include <stdlib.h>
void *zmq_ctx_new(void);
int zmq_ctx_term(void *context);
int main(int count, char **arguments)
{
    void *library = dlopen(arguments[1], atoi(arguments[2]));
    if (!library)
        return 99;
    void *(*module)(void) = (void *(*)(void)) dlsym(library, "module");
    if (module)
        module();
    return count > 3 && zmq_ctx_term(zmq_ctx_new());
}
"#;

const NOW: &str = "2";
const LAZY: &str = "1";
/// With `RTLD_DEEPBIND` it prefers the library that it was linked to.
const DEEP: &str = "10";

struct Scene(Folder);

impl Scene {
    fn new() -> Self {
        let folder = Folder::new();
        for (name, source) in [
            ("other.c", OTHER),
            ("caller.c", CALLER),
            ("program.c", PROGRAM),
            ("loader.c", LOADER),
        ] {
            folder.write(name, source);
        }
        let library = |output: &str, rest: &[&str]| {
            let arguments = [&["-shared", "-fPIC", "-o", output], rest].concat();
            folder.compile(&arguments);
        };
        library(
            "libzmq-0123abcd.so.5",
            &["other.c", "-Wl,-soname,libzmq-0123abcd.so.5"],
        );
        // Bound when it was linked, with symbols and without.
        library("libinside.so", &["other.c", "caller.c", "-Wl,-Bsymbolic"]);
        library(
            "libhidden.so",
            &["-fvisibility=hidden", "other.c", "caller.c"],
        );
        library("libcaller.so", &["caller.c", "-l:libzmq-0123abcd.so.5"]);
        folder.compile(&["-o", "program", "program.c", "-lzmq"]);
        folder.compile(&["-o", "loader", "loader.c", "-lzmq", "-ldl"]);
        folder.compile(&["-o", "static", "program.c", "other.c"]);
        for module in ["inside", "hidden"] {
            let with = format!("with-{module}");
            let link = format!("-l{module}");
            folder.compile(&[
                "-o",
                &with,
                "program.c",
                "-Wl,--no-as-needed",
                &link,
                "-lzmq",
            ]);
        }
        Scene(folder)
    }

    fn run(&self, verify: bool, program: &str, arguments: &[&str]) -> Output {
        let mut command = self.0.command(program);
        command
            .args(arguments)
            .env("LD_PRELOAD", self.0.path("libzmq.so.5"));
        if verify {
            command.env("SEALWIRE_VERIFY", "1");
        }
        output(&mut command)
    }
}

#[test]
fn calls_that_reach_another_libzmq_stop_the_process_and_a_mapped_copy_does_not() {
    let scene = Scene::new();
    let [copy, caller, inside, hidden] = [
        "libzmq-0123abcd.so.5",
        "libcaller.so",
        "libinside.so",
        "libhidden.so",
    ];
    for (program, arguments, why) in [
        ("program", &[][..], None),
        ("static", &[], Some("static has a libzmq in itself")),
        (
            "with-inside",
            &[],
            Some("libinside.so has a libzmq in itself"),
        ),
        (
            "with-hidden",
            &[],
            Some("libhidden.so has a libzmq in itself"),
        ),
        // As pyzmq's wheel brings one along.
        ("loader", &[copy, NOW, "context"], None),
        ("loader", &[caller, NOW, "context"], None),
        ("loader", &[caller, LAZY, "context"], None),
        (
            "loader",
            &[caller, DEEP, "context"],
            Some("libcaller.so calls zmq_ctx_new in "),
        ),
        (
            "loader",
            &[inside, NOW, "context"],
            Some("libinside.so has a libzmq in itself"),
        ),
        (
            "loader",
            &[hidden, NOW, "context"],
            Some("libhidden.so has a libzmq in itself"),
        ),
        // Without a context of ours it is found at the end.
        ("loader", &[copy, NOW], None),
        (
            "loader",
            &[caller, DEEP],
            Some("libcaller.so calls zmq_ctx_new in "),
        ),
        (
            "loader",
            &[inside, NOW],
            Some("libinside.so has a libzmq in itself"),
        ),
    ] {
        // A process that nobody asked about goes on.
        for (verify, why) in [(true, why), (false, None)] {
            let done = scene.run(verify, program, arguments);
            let errors = String::from_utf8_lossy(&done.stderr);
            let named = format!("{program} {arguments:?}: {errors}");
            match why {
                None => {
                    assert_eq!(done.status.code(), Some(0), "{named}");
                    assert_eq!(errors, "", "{named}");
                }
                Some(why) => {
                    assert_eq!(done.status.code(), Some(126), "{named}");
                    assert!(errors.starts_with("sealwire: stopped: "), "{named}");
                    assert!(errors.contains(why), "{named}");
                    assert_eq!(errors.lines().count(), 1, "{named}");
                }
            }
        }
    }
}
