//! A process is stopped where calls reach another libzmq, and is not where another one is only mapped.

use std::process::Output;

use crate::support::{Folder, output};

/// Not a libzmq, but with all by which one is known.
const OTHER: &str = r#"
void *zmq_ctx_new(void) { return "Operation cannot be accomplished in current state"; }
int zmq_ctx_term(void *context) { return context == 0; }
"#;

/// One with symbols, and nothing else by which it is known.
const SYMBOLS: &str = r"
void *zmq_ctx_new(void) { return 0; }
";

/// A libzmq calls itself where its linker leaves that to the loader.
const ITSELF: &str = r"
void *zmq_ctx_new(void);
void *zmq_init(int threads) { return threads ? zmq_ctx_new() : 0; }
";

/// No libzmq, though a name of its own begins like those.
const NOT_LIBZMQ: &str = r"
int zmq_other(void) { return 0; }
";

/// No libzmq either: a program may read or make the text by which one is known.
const TEXT_ALONE: &str = r#"
char text[] = "Operation cannot be accomplished in current state";
void *module(void) { return text; }
"#;

/// A part of a module that calls the libzmq that is loaded.
const CALLS_LOADED: &str = r#"
int zmq_ctx_shutdown(void *context);
__attribute__((visibility("default"))) int part(void *context) { return zmq_ctx_shutdown(context); }
"#;

/// A module that calls a function whose name begins like one of libzmq's.
const CALLS_THAT: &str = r"
int zmq_other(void);
void *module(void) { return zmq_other() ? module : 0; }
";

/// A module that calls a libzmq, whichever.
const CALLER: &str = r#"
void *zmq_ctx_new(void);
__attribute__((visibility("default"))) void *module(void) { return zmq_ctx_new(); }
"#;

/// A program that makes a context before it ends. It says that it began, and that it has a context: a process that is
/// stopped there says so no more.
const PROGRAM: &str = r#"
#include <stdio.h>
void *zmq_ctx_new(void);
int zmq_ctx_term(void *context);
int main(void)
{
    puts("began");
    fflush(stdout);
    void *context = zmq_ctx_new();
    puts("has a context");
    fflush(stdout);
    return zmq_ctx_term(context);
}
"#;

/// A program that loads a module, with these flags, calls it, and makes a context of ours if it is told to.
const LOADER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
void *zmq_ctx_new(void);
int zmq_ctx_term(void *context);
int main(int count, char **arguments)
{
    puts("began");
    fflush(stdout);
    void *library = dlopen(arguments[1], atoi(arguments[2]));
    if (!library)
        return 99;
    void *(*module)(void) = (void *(*)(void)) dlsym(library, "module");
    if (module)
        module();
    if (count <= 3)
        return 0;
    void *context = zmq_ctx_new();
    puts("has a context");
    fflush(stdout);
    return zmq_ctx_term(context);
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
            ("symbols.c", SYMBOLS),
            ("itself.c", ITSELF),
            ("prefix.c", NOT_LIBZMQ),
            ("calls.c", CALLS_THAT),
            ("text.c", TEXT_ALONE),
            ("loaded.c", CALLS_LOADED),
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
            &["other.c", "itself.c", "-Wl,-soname,libzmq-0123abcd.so.5"],
        );
        // Bound when it was linked, with symbols and without.
        library("libinside.so", &["other.c", "caller.c", "-Wl,-Bsymbolic"]);
        library(
            "libhidden.so",
            &["-fvisibility=hidden", "other.c", "caller.c"],
        );
        // A part of it calls the one that is loaded, the other the one inside.
        library(
            "libmixed.so",
            &["-fvisibility=hidden", "other.c", "caller.c", "loaded.c"],
        );
        library("libcaller.so", &["caller.c", "-l:libzmq-0123abcd.so.5"]);
        // By a pointer, which the loader writes elsewhere.
        let pointer = ["-fno-plt", "caller.c", "-l:libzmq-0123abcd.so.5"];
        library("libpointer.so", &pointer);
        // Of an older linker, whose table of names has another form.
        library(
            "libzmq-old.so.5",
            &["other.c", "-Wl,--hash-style=sysv,-soname,libzmq-old.so.5"],
        );
        library("libofold.so", &["caller.c", "-l:libzmq-old.so.5"]);
        // The loader binds its calls, to itself or to another.
        library("libself.so", &["other.c", "caller.c"]);
        library(
            "libsymbols.so",
            &["symbols.c", "caller.c", "-Wl,-Bsymbolic"],
        );
        // Its name only begins like one.
        library("libzmqpp.so", &["other.c", "caller.c", "-Wl,-Bsymbolic"]);
        // One by name, which calls another.
        library(
            "libzmq-calls.so.5",
            &["caller.c", "-l:libzmq-0123abcd.so.5"],
        );
        library("libprefix.so", &["prefix.c", "-Wl,-soname,libprefix.so"]);
        library("libcalls.so", &["calls.c", "-lprefix"]);
        library("libtext.so", &["text.c"]);
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

/// How far a process comes that is stopped.
#[derive(Debug, Clone, Copy)]
enum Stopped {
    /// Before any of its code runs.
    Loading,
    /// As it asks for a context.
    AskingForContext,
    /// When it would end.
    Ending,
}
use Stopped::{AskingForContext, Ending, Loading};

impl Scene {
    /// A process that nobody asked about goes on, and one that is asked about is stopped, unless `stopped` is `None`.
    fn check(&self, program: &str, arguments: &[&str], stopped: Option<(Stopped, &str)>) {
        for (verify, stopped) in [(true, stopped), (false, None)] {
            let done = self.run(verify, program, arguments);
            let errors = String::from_utf8_lossy(&done.stderr);
            let named = format!("{program} {arguments:?}: {errors}");
            let Some((at, why)) = stopped else {
                assert_eq!(done.status.code(), Some(0), "{named}");
                assert_eq!(errors, "", "{named}");
                continue;
            };
            assert_eq!(done.status.code(), Some(126), "{named}");
            assert!(errors.starts_with("sealwire: stopped: "), "{named}");
            assert!(errors.contains(why), "{named}");
            assert_eq!(errors.lines().count(), 1, "{named}");
            let reached = match at {
                Loading => "",
                AskingForContext | Ending => "began\n",
            };
            let said = String::from_utf8_lossy(&done.stdout);
            assert_eq!(said, reached, "{at:?}: {named}");
        }
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
    for (program, arguments, stopped) in [
        ("program", &[][..], None),
        (
            "static",
            &[],
            Some((Loading, "static has a libzmq in itself")),
        ),
        (
            "with-inside",
            &[],
            Some((Loading, "libinside.so has a libzmq in itself")),
        ),
        (
            "with-hidden",
            &[],
            Some((Loading, "libhidden.so has a libzmq in itself")),
        ),
        // As pyzmq's wheel brings one along.
        ("loader", &[copy, NOW, "context"], None),
        ("loader", &[caller, NOW, "context"], None),
        ("loader", &[caller, LAZY, "context"], None),
        (
            "loader",
            &[caller, DEEP, "context"],
            Some((AskingForContext, "libcaller.so calls zmq_ctx_new in ")),
        ),
        (
            "loader",
            &[inside, NOW, "context"],
            Some((AskingForContext, "libinside.so has a libzmq in itself")),
        ),
        (
            "loader",
            &[hidden, NOW, "context"],
            Some((AskingForContext, "libhidden.so has a libzmq in itself")),
        ),
        (
            "loader",
            &["libmixed.so", NOW, "context"],
            Some((AskingForContext, "libmixed.so has a libzmq in itself")),
        ),
        // Without a context of ours it is found at the end.
        ("loader", &[copy, NOW], None),
        (
            "loader",
            &[caller, DEEP],
            Some((Ending, "libcaller.so calls zmq_ctx_new in ")),
        ),
        (
            "loader",
            &[inside, NOW],
            Some((Ending, "libinside.so has a libzmq in itself")),
        ),
    ] {
        scene.check(program, arguments, stopped);
    }
}

#[test]
fn a_libzmq_is_known_by_what_is_in_it_and_a_call_by_where_it_leads() {
    let scene = Scene::new();
    for (module, flags, why) in [
        // A copy may call itself.
        ("libzmq-0123abcd.so.5", DEEP, None),
        // Or nothing.
        ("libzmq-old.so.5", NOW, None),
        ("libself.so", DEEP, Some("libself.so calls zmq_ctx_new in ")),
        // Its calls reach this library, so nobody calls the one in it.
        ("libself.so", NOW, None),
        (
            "libzmq-calls.so.5",
            DEEP,
            Some("libzmq-calls.so.5 calls zmq_ctx_new in "),
        ),
        ("libpointer.so", NOW, None),
        (
            "libpointer.so",
            DEEP,
            Some("libpointer.so calls zmq_ctx_new in "),
        ),
        (
            "libofold.so",
            DEEP,
            Some("libofold.so calls zmq_ctx_new in "),
        ),
        (
            "libsymbols.so",
            NOW,
            Some("libsymbols.so has a libzmq in itself"),
        ),
        (
            "libzmqpp.so",
            NOW,
            Some("libzmqpp.so has a libzmq in itself"),
        ),
        ("libcalls.so", DEEP, None),
        ("libtext.so", NOW, None),
    ] {
        let stopped = why.map(|why| (AskingForContext, why));
        scene.check("loader", &[module, flags, "context"], stopped);
    }
}
