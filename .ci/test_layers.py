#!/usr/bin/env python3
"""What layers.py sees and what it allows."""

import shutil
import tempfile
import unittest
from pathlib import Path

import layers

FLOORS = [["wire", "limits"], ["engine"]]
ROOT = "mod engine;\nmod limits;\nmod wire;\n"


def failures(files, floors=FLOORS, root=ROOT):
    """Of a crate with these files in `src`; each module that the table names has one."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        modules = {f"{name}.rs": "" for floor in FLOORS for name in floor}
        if "wire/mod.rs" in files:
            del modules["wire.rs"]
        for name, text in {"lib.rs": root, **modules, **files}.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text, encoding="utf-8")
        return [line.replace(f"{folder}/src/", "") for line in layers.check(Path(folder), floors)]


class Layers(unittest.TestCase):
    def upward(self, text, root=ROOT, file="wire.rs", line=1, **files):
        """The text in a module of the ground floor uses `engine`, and that is all that is found."""
        found = failures({file: text, **files}, root=root)
        self.assertEqual(len(found), 1, (text, found))
        begin = f"{file}:{line}: wire -> engine, which is on a floor above; wire may use nothing"
        self.assertEqual(found[0], begin, text)

    def allowed(self, files, **changes):
        self.assertEqual(failures(files, **changes), [], files)


class Forms(Layers):
    def test_an_import(self):
        self.upward("use crate::engine::Engine;")
        self.upward("use crate::engine;")
        self.upward("use crate::engine as e;")
        self.upward("use crate::engine::*;")
        self.upward("\n\npub(crate) use crate::engine::deep::Engine as Other;", line=3)
        self.upward("fn f() {\n    use crate::engine::run;\n}", line=2)

    def test_a_grouped_import(self):
        self.upward("use crate::{engine::Engine};")
        self.upward("use {core::fmt, crate::engine::{self, Engine}};")
        self.upward("use crate::{\n    wire::{A, B::{C}},\n    engine::Engine,\n};", line=3)
        self.upward("use crate::{engine::{deep::{Engine}}};")
        self.upward("use super::{engine::Engine};")

    def test_paths_that_leave_the_module(self):
        self.upward("use super::engine::Engine;")
        self.upward("use self::super::engine::Engine;")
        self.upward("fn f() { super::engine::run() }")
        frame = {"wire/mod.rs": "mod frame;"}
        self.upward("use super::super::engine::Engine;", file="wire/frame.rs", **frame)
        self.upward("mod frame {\n    use super::super::engine::run;\n}", line=2)
        self.upward("fn f() { self::super::engine::run() }")
        self.upward("mod a { mod b {\n fn f() { super::super::super::engine::run() }\n} }", line=2)

    def test_a_path_in_an_expression_or_a_type(self):
        self.upward("fn f() { crate::engine::run() }")
        self.upward("fn f(engine: &mut crate::engine::Engine) {}")
        self.upward("struct S<T: crate::engine::Run>(T);")
        self.upward("impl crate::engine::Run for u8 {}")
        self.upward("type E = Option<crate::engine::Engine>;")
        self.upward("fn f() { for x in crate::engine::all() {} }")
        self.upward("#[derive(crate::engine::Run)]\nstruct S;")
        self.upward("fn f() { <u8 as crate::engine::Run>::run(1) }")

    def test_a_re_export(self):
        self.upward("pub use crate::engine::Engine;")
        self.upward("pub use super::engine::*;")

    def test_a_name_that_the_root_re_exports(self):
        for export in [
            "pub use engine::Engine;",
            "pub use crate::engine::Engine;",
            "pub use self::engine::{Other, Engine};",
            "pub use engine::deep::Inner as Engine;",
            "use engine::Engine;",
            "use engine as parts;\npub use parts::Engine;",
            "use engine::deep;\npub use deep::Engine;",
        ]:
            self.upward("use crate::Engine;", root=ROOT + export)
            self.upward("use super::{Engine};", root=ROOT + export)
            self.upward("fn f() -> crate::Engine;", root=ROOT + export)
        with_names = {"engine.rs": "pub struct Engine;"}
        self.upward("use crate::Engine;", root=ROOT + "pub use engine::*;", **with_names)
        by_macro = {"engine.rs": "sets! { Engine }"}
        self.upward("use crate::Engine;", root=ROOT + "pub use engine::*;", **by_macro)

    def test_bodies_and_arguments_of_macros(self):
        self.upward("macro_rules! m {\n    ($x:expr) => { $crate::engine::run($x) };\n}", line=2)
        self.upward("macro_rules! m {\n    () => { use $crate::{engine::Engine}; };\n}", line=2)
        self.upward('fn f() { println!("{}", crate::engine::count()) }')

    def test_a_macro_of_another_module(self):
        exported = {"engine.rs": "#[macro_export]\nmacro_rules! run { () => {}; }"}
        self.upward("fn f() { crate::run!() }", **exported)
        self.upward("use crate::run;", **exported)
        self.upward("fn f() { run!() }", **exported)
        self.allowed({"engine.rs": "macro_rules! vec { () => {}; }\nfn f() { vec!() }"})

    def test_the_crate_by_its_own_name(self):
        self.upward("use zmtp::engine::Engine;", root=ROOT + "extern crate self as zmtp;")

    def test_code_for_some_machines(self):
        self.upward('#[cfg(target_arch = "x86_64")]\nuse crate::engine::Engine;', line=2)
        self.upward("#[cfg(not(test))]\nuse crate::engine::Engine;", line=2)
        self.upward("#[cfg(any(test, unix))]\nuse crate::engine::Engine;", line=2)
        self.upward("#[cfg_attr(test, allow(unused))]\nuse crate::engine::Engine;", line=2)

    def test_what_follows_a_string_a_character_or_a_lifetime(self):
        for text in [
            "const A: &str = \"\\\"\"; use crate::engine::E;",
            "const A: &str = r#\"\"\\\"#; use crate::engine::E;",
            "const A: char = '\"'; use crate::engine::E;",
            "const A: u8 = b'\\''; use crate::engine::E;",
            "const A: &'static str = \"//\"; use crate::engine::E;",
            "fn f<'a>(a: &'a u8, b: &'a u8) {} use crate::engine::E;",
            "/* /* nested */ */ use crate::engine::E;",
            "/**/ use crate::engine::E;",
            "const r#type: u8 = 1; use crate::engine::E;",
        ]:
            self.upward(text)


class Rules(Layers):
    def test_floors_below_may_be_used(self):
        self.allowed(
            {
                "engine.rs": "use crate::{limits::MAX, wire::Frame};\nfn f() { super::wire::g() }",
                "wire.rs": "mod inner { use super::Frame; use crate::wire::Other; }\nuse self::inner::X;",
            }
        )

    def test_the_root_may_use_everything(self):
        self.allowed({}, root=ROOT + "pub use engine::E;\nfn f() { crate::engine::run(wire::F) }")

    def test_other_crates_do_not_count(self):
        root = ROOT + "pub use bytes;\npub use other::{engine, Thing};\nextern crate alloc;"
        self.allowed({"wire.rs": "use crate::{Thing, bytes};\nuse other::engine;\nuse crate::alloc::vec;"}, root=root)

    def test_modules_of_one_floor_do_not_know_each_other(self):
        self.assertEqual(
            failures({"wire.rs": "use crate::limits::MAX;"}),
            ["wire.rs:1: wire -> limits, which is on the same floor; wire may use nothing"],
        )

    def test_a_failure_names_what_is_allowed(self):
        found = failures(
            {"wire.rs": "use crate::engine::E;"}, floors=[["limits"], ["wire"], ["engine"]]
        )
        self.assertEqual(
            found, ["wire.rs:1: wire -> engine, which is on a floor above; wire may use limits"]
        )

    def test_each_import_fails_by_itself(self):
        found = failures({"wire.rs": "use crate::engine::{A, B};\nfn f() { crate::engine::g() }"})
        self.assertEqual([line.split()[0] for line in found], ["wire.rs:1:", "wire.rs:2:"])

    def test_what_the_root_defines_is_above_all(self):
        for text, name in [
            ("use crate::SIZE;", "SIZE"),
            ("use crate::First;", "First"),
            ("fn f() { run!() }", "run"),
            ("use crate::*;", "*"),
            ("use super::*;", "*"),
            ("use crate as all;", "self"),
            ("use crate::{self as all};", "self"),
        ]:
            macros = "macro_rules! run { () => {}; }\n"
            items = "pub const SIZE: usize = 1;\nenum Kind { First }\nuse Kind::First;"
            root = macros + ROOT + items
            found = failures({"wire.rs": text}, root=root)
            self.assertEqual(len(found), 1, (text, found))
            self.assertIn(f"wire.rs:1: wire -> the crate's root ({name})", found[0])

    def test_every_module_stands_on_a_floor(self):
        found = failures({"extra.rs": ""}, root=ROOT + "mod extra;")
        self.assertEqual(len(found), 1)
        self.assertIn("module extra stands on no floor", found[0])
        inline = failures({}, root=ROOT + "mod extra { }")
        self.assertIn("module extra stands on no floor", inline[0])

    def test_a_floor_names_modules_that_exist(self):
        found = failures({}, floors=[*FLOORS, ["attic"]])
        self.assertEqual(len(found), 1)
        self.assertIn("there is no module attic", found[0])

    def test_a_module_stands_on_one_floor(self):
        self.assertIn("wire stands on two floors", failures({}, floors=[*FLOORS, ["wire"]])[0])

    def test_a_file_that_no_module_names_is_not_passed_over(self):
        found = failures({"wire/lost.rs": "use crate::engine::E;"})
        self.assertEqual(found, ["wire/lost.rs: no module of the crate is in this file"])

    def test_a_file_named_by_a_path_is_read(self):
        root = 'mod engine;\nmod limits;\n#[path = "other/place.rs"]\nmod wire;\n'
        found = failures({"other/place.rs": "use crate::engine::E;", "wire.rs": ""}, root=root)
        self.assertTrue(found[0].startswith("wire.rs: no module"), found)
        self.assertTrue(found[1].startswith("other/place.rs:1: wire -> engine"), found)

    def test_a_crate_that_is_not_there_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no crate is here", layers.check(Path(folder), [])[0])


class WhatDoesNotCount(Layers):
    def test_comments_and_strings(self):
        for text in [
            "// use crate::engine::E;",
            "/// [`E`](crate::engine::E)\nstruct S;",
            "//! use crate::engine::E;",
            "/* use crate::engine::E; /* more */ use crate::engine::E; */",
            'const A: &str = "use crate::engine::E;";',
            'const A: &str = r#"use " crate::engine::E;"#;',
            'const A: &[u8] = b"crate::engine::E";',
            '#[serde(with = "crate::engine::E")]\nstruct S;',
        ]:
            self.allowed({"wire.rs": text})

    def test_what_a_macro_is_given(self):
        self.allowed({"wire.rs": "macro_rules! m { ($x:ident) => { $crate::$x }; }"})

    def test_visibilities(self):
        self.allowed({"wire.rs": "mod a { pub(in crate::wire) fn f() {}\npub(super) fn g() {} }"})

    def test_tests(self):
        for text in [
            "#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::engine::E;\n}",
            "#[cfg(all(test, unix))]\nmod tests { use crate::engine::E; }",
            "#[cfg(any(doctest, all(test, unix)))]\nmod tests { use crate::engine::E; }",
            "#[cfg(test)]\nuse crate::engine::{A, B};",
            "#[cfg(test)]\n#[allow(unused)]\nfn f<A, B>(a: A, b: B) { crate::engine::run() }",
            "#[cfg(test)]\nimpl crate::engine::Run for [u8; 2] { fn f() {} }",
            "#[cfg(test)]\nconst A: crate::engine::E = crate::engine::E { a: 1 };",
            "#[test]\nfn f() { crate::engine::run() }",
            "fn f() {\n    #[cfg(test)]\n    crate::engine::run();\n}",
            "struct S {\n    #[cfg(test)]\n    e: crate::engine::E,\n}",
            "#[cfg(test)]\nconst A: u8 = { 1 } + crate::engine::E;",
            "fn f() { match a {\n    #[cfg(test)]\n    S { a } => crate::engine::run(),\n} }",
            "#![cfg(test)]\nuse crate::engine::E;",
        ]:
            self.allowed({"wire.rs": text})

    def test_files_of_tests(self):
        self.allowed(
            {
                "wire/mod.rs": "#[cfg(test)]\nmod tests;",
                "wire/tests.rs": "mod attacks;\nuse crate::engine::E;",
                "wire/tests/attacks.rs": "use crate::engine::E;",
            }
        )

    def test_a_module_of_tests_needs_no_floor(self):
        self.allowed({"vectors.rs": "use crate::engine::E;"}, root=ROOT + "#[cfg(test)]\nmod vectors;")

    def test_what_follows_a_test_counts(self):
        for before in [
            "#[cfg(test)]\nmod tests { fn f() {} }",
            "#[cfg(test)]\nmod tests;",
            "#[cfg(test)]\nuse crate::engine::{A};",
            "#[cfg(test)]\nfn f() {}",
            "#[cfg(test)]\nconst A: S = S { a: 1 };",
            "#[cfg(test)]\nimpl<A, B> S<A, B> {}",
        ]:
            self.upward(f"{before}\nuse crate::engine::E;", line=3)
        field = "struct S {\n    #[cfg(test)]\n    a: u8,\n    e: crate::engine::E,\n}"
        self.upward(field, line=4)
        self.upward("enum E {\n    #[cfg(test)]\n    A { a: u8 },\n    B(crate::engine::E),\n}", line=4)


class Circles(unittest.TestCase):
    def circles(self, files):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "src"
            for name, text in {"lib.rs": "mod wire;", **files}.items():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_text(text, encoding="utf-8")
            found = layers.check(Path(folder), [["wire"]], may_have_circles=False)
            self.assertEqual(layers.check(Path(folder), [["wire"]]), [])
            return [line.replace(f"{folder}/src/", "") for line in found]

    def test_modules_of_a_folder_that_use_each_other(self):
        found = self.circles(
            {
                "wire/mod.rs": "mod frame;\nmod greeting;\nmod flags;",
                "wire/frame.rs": "use super::greeting::Greeting;",
                "wire/greeting.rs": "\nfn f() { crate::wire::flags::all() }",
                "wire/flags.rs": "use super::frame::Frame;",
            }
        )
        circle = "flags -> frame (wire/flags.rs:1), frame -> greeting (wire/frame.rs:1), greeting -> flags (wire/greeting.rs:2)"
        self.assertEqual(found, [f"a circle in crate::wire: {circle}"])

    def test_a_name_that_the_folder_re_exports(self):
        found = self.circles(
            {
                "wire/mod.rs": "mod frame;\nmod greeting;\npub use greeting::Greeting;",
                "wire/frame.rs": "use super::Greeting;",
                "wire/greeting.rs": "fn f(frame: super::frame::Frame) {}",
            }
        )
        self.assertEqual(len(found), 1, found)
        self.assertIn("frame -> greeting (wire/frame.rs:1)", found[0])

    def test_what_is_below_another_folder_counts_for_that(self):
        found = self.circles(
            {
                "wire/mod.rs": "mod command;\nmod frame;",
                "wire/command/mod.rs": "mod ready;",
                "wire/command/ready.rs": "use crate::wire::frame::Frame;",
                "wire/frame.rs": "use super::command::ready::Ready;",
            }
        )
        self.assertEqual(len(found), 1, found)
        self.assertIn("frame -> command (wire/frame.rs:1)", found[0])

    def test_what_is_no_circle(self):
        allowed = self.circles(
            {
                "wire/mod.rs": "mod frame;\nmod greeting;\nmod flags;\npub use frame::Frame;",
                # A module and its folder are one; tests may use anything.
                "wire/frame.rs": "use super::{SIZE, flags::Flags};\nuse super::greeting::Greeting;",
                "wire/greeting.rs": "use super::flags::Flags;\n#[cfg(test)]\nmod tests { use super::super::Frame; }",
                "wire/flags.rs": "use core::fmt;",
            }
        )
        self.assertEqual(allowed, [])


class Planted(unittest.TestCase):
    def planted(self, crate, file, text):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "src"
            shutil.copytree(layers.ROOT / crate / "src", source)
            with open(source / file, "a", encoding="utf-8") as code:
                code.write(f"\n{text}\n")
            may_have_circles = crate not in layers.WITHOUT_CIRCLES
            found = layers.check(Path(folder), layers.FLOORS[crate], may_have_circles)
            return [line.replace(f"{source}/", "") for line in found]

    def circle(self, crate, file, text, folder):
        found = self.planted(crate, file, text)
        self.assertEqual(len(found), 1, (text, found))
        self.assertIn(f"a circle in {folder}: ", found[0])


class Sockets(Planted):
    """The floors of sealwire, with imports planted in a copy of it."""

    CRATE = "crates/sealwire"

    def test_a_circle_inside_of_a_folder(self):
        self.assertEqual(
            self.planted(self.CRATE, "engine/mailbox.rs", "use super::datagrams::Slot as Planted;"), []
        )
        for file, text, folder in [
            ("core/cookies.rs", "use super::context::Engine as Planted;", "crate::core"),
            ("engine/datagrams.rs", "use super::mailbox::Mailbox as Planted;", "crate::engine"),
            ("engine/session/ledger.rs", "use super::pipe_end::PipeEnd as Planted;", "crate::engine::session"),
            ("pattern/item.rs", "use super::changes::Changes as Planted;", "crate::pattern"),
            ("socket/builder/mod.rs", "use crate::socket::blocking::Socket as Planted;", "crate::socket"),
            ("transport/simulated/network.rs", "use super::SimulatedStream as Planted;", "crate::transport::simulated"),
            ("waiting/until.rs", "use super::block_on as planted;", "crate::waiting"),
        ]:
            self.circle(self.CRATE, file, text, folder)


class Calls(Planted):
    """The floors of sealwire-rpc, likewise."""

    CRATE = "crates/sealwire-rpc"

    def test_the_order_of_what_calls_are_made_of(self):
        for file, text, arrow in [
            ("hub/reading.rs", "use crate::handler::Handler as Planted;", "hub -> handler"),
            ("hub/mod.rs", "use crate::Conn as Planted;", "hub -> conn"),
            ("link/mod.rs", "use crate::conn::Conn as Planted;", "link -> conn"),
            ("link/room.rs", "fn planted(_: &crate::hub::Hub) {}", "link -> hub"),
            ("call.rs", "use crate::stream::CallStream as Planted;", "call -> stream"),
            ("conn.rs", "use crate::blocking::Conn as Planted;", "conn -> blocking"),
            ("handler/mod.rs", "use crate::blocking::RequestStream as Planted;", "handler -> blocking"),
            ("client/mod.rs", "use crate::blocking::Client as Planted;", "client -> blocking"),
            ("proto/mod.rs", "use crate::hub::Hub as Planted;", "proto -> hub"),
        ]:
            found = self.planted(self.CRATE, file, text)
            self.assertTrue(any(f"{arrow}, which is on a floor above" in line for line in found), (text, found))
        self.assertEqual(self.planted(self.CRATE, "conn.rs", "use crate::link::CallLink as Planted;"), [])

    def test_a_circle_inside_of_a_folder(self):
        for file, text, folder in [
            ("link/waiters.rs", "use super::room::RoomWait as Planted;", "crate::link"),
            ("proto/outbox.rs", "use super::calls::Calls as Planted;", "crate::proto"),
            ("hub/door.rs", "use super::admission::Admission as Planted;", "crate::hub"),
        ]:
            self.circle(self.CRATE, file, text, folder)


class Protocol(Planted):
    """sealwire-zmtp, likewise."""

    CRATE = "crates/sealwire-zmtp"

    def test_a_circle_inside_of_a_folder(self):
        for file, text, folder in [
            ("mechanism/settings.rs", "use super::config::MechanismConfig as Planted;", "crate::mechanism"),
            ("mechanism/handshake.rs", "use super::protection::Sealer as Planted;", "crate::mechanism"),
            ("mechanism/credentials/mod.rs", "use super::plain::PasswordTable as Planted;", "crate::mechanism"),
            ("mechanism/blake3/settings.rs", "use super::client as planted;", "crate::mechanism::blake3"),
            ("mechanism/plain/settings.rs", "fn planted() { super::server::planted() }", "crate::mechanism::plain"),
            ("connection/output/segment.rs", "use super::transmit::Transmit as Planted;", "crate::connection::output"),
        ]:
            self.circle(self.CRATE, file, text, folder)


class Table(unittest.TestCase):
    def test_the_crates_of_the_table_are_there(self):
        for folder in layers.FLOORS:
            self.assertTrue((layers.ROOT / folder / "src").is_dir(), folder)
        self.assertLessEqual(layers.WITHOUT_CIRCLES, set(layers.FLOORS))


if __name__ == "__main__":
    unittest.main()
