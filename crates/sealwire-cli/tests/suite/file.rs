//! `sealwire seal` and `sealwire open`: what docs/spec/sealed-file.md promises.

use std::fs;
use std::path::Path;

use crate::support::{self, Finished, run, start_with_input};
use chacha20_blake3::ChaCha20Blake3;
use tempfile::TempDir;

const CHUNK: usize = 64 << 10;
const SEALED_CHUNK: usize = CHUNK + 32;
const HEADER: usize = 32;

/// A folder with a symmetric key in it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        folder.add_key("files.key");
        folder
    }

    fn add_key(&self, name: &str) {
        run(&["keygen", "--symmetric", &self.path(name)]).expect_code(0);
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("text").to_owned()
    }

    /// Runs `command` as a filter.
    fn filter(&self, command: &str, input: &[u8]) -> Finished {
        let key = self.path("files.key");
        start_with_input(&[command, "--key-file", &key], input).finish()
    }

    fn sealed(&self, plaintext: &[u8]) -> Vec<u8> {
        self.filter("seal", plaintext).expect_code(0).stdout
    }

    /// `command` from one file into another.
    fn convert(&self, command: &str, input: &str, output: &str) -> Finished {
        let (key, input, output) = (self.path("files.key"), self.path(input), self.path(output));
        run(&[command, "--key-file", &key, &input, "-o", &output])
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("a file");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("text");
        let mut names: Vec<_> = entries
            .map(|entry| name(entry.expect("an entry")))
            .collect();
        names.sort();
        names
    }
}

fn content(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
}

#[test]
fn round_trips_through_pipes_and_files() {
    let folder = Folder::new();
    for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, (5 << 20) + 77] {
        let plaintext = content(size);
        let sealed = folder.sealed(&plaintext);
        let chunks = size.div_ceil(CHUNK).max(1);
        assert_eq!(sealed.len(), HEADER + size + 32 * chunks);
        let opened = folder.filter("open", &sealed).expect_code(0);
        assert!(opened.stdout == plaintext, "{size} bytes through pipes");
        assert_eq!(opened.stderr, "");

        folder.write("plain", &plaintext);
        for (command, input, output) in [("seal", "plain", "sealed"), ("open", "sealed", "opened")]
        {
            folder.convert(command, input, output).expect_code(0);
        }
        assert!(folder.read("opened") == plaintext, "{size} bytes in files");
        for name in ["sealed", "opened"] {
            fs::remove_file(folder.path(name)).expect("a file");
        }
    }
    assert_eq!(folder.names(), ["files.key", "plain"]);
}

#[test]
fn another_implementation_opens_what_the_specification_says() {
    let folder = Folder::new();
    let key = String::from_utf8(folder.read("files.key")).expect("text");
    let digits = key.trim().rsplit(':').next().expect("digits");
    let key: [u8; 32] = std::array::from_fn(|i| {
        u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).expect("hexadecimal")
    });
    let plaintext = content(2 * CHUNK + 100);
    let sealed = folder.sealed(&plaintext);
    let (header, chunks) = sealed.split_at(HEADER);
    assert_eq!(header[..8], *b"\xd5SEALED\x01");

    let cipher = ChaCha20Blake3::new(key);
    let mut opened = Vec::new();
    for (position, chunk) in chunks.chunks(SEALED_CHUNK).enumerate() {
        let mut nonce: [u8; 24] = header[8..].try_into().expect("24 bytes");
        let counter = u64::from_le_bytes(nonce[16..].try_into().expect("8 bytes"));
        let counter = counter.wrapping_add(position as u64);
        nonce[16..].copy_from_slice(&counter.to_le_bytes());
        let associated_data = [header, &[u8::from(position == 2)]].concat();
        let text = cipher.decrypt(&nonce, chunk, &associated_data);
        opened.extend(text.expect("authentic"));
    }
    assert!(opened == plaintext);
}

/// Opens damaged input both ways: through a pipe only whole verified chunks come out; into a file,
/// nothing.
#[track_caller]
fn assert_refused(folder: &Folder, damaged: &[u8], plaintext: &[u8], reason: &str) {
    let piped = folder.filter("open", damaged).expect_code(1);
    assert!(piped.stderr.contains(reason), "{reason}: {}", piped.stderr);
    assert!(plaintext.starts_with(&piped.stdout), "{reason}");
    assert_eq!(piped.stdout.len() % CHUNK, 0, "{reason}");

    folder.write("damaged", damaged);
    folder.convert("open", "damaged", "never").expect_code(1);
    assert_eq!(folder.names(), ["damaged", "files.key"], "{reason}");
}

#[test]
fn damage_is_refused_and_explained() {
    let folder = Folder::new();
    let plaintext = content(3 * CHUNK + 10);
    let sealed = folder.sealed(&plaintext);
    let chunk =
        |i: usize| HEADER + i * SEALED_CHUNK..sealed.len().min(HEADER + (i + 1) * SEALED_CHUNK);
    let build = |chunks: &[usize]| {
        let mut built = sealed[..HEADER].to_vec();
        for &i in chunks {
            built.extend_from_slice(&sealed[chunk(i)]);
        }
        built
    };
    assert!(build(&[0, 1, 2, 3]) == sealed);
    let flipped = |at: usize| {
        let mut flipped = sealed.clone();
        flipped[at] ^= 1;
        flipped
    };
    let refused = |damaged: &[u8], reason| assert_refused(&folder, damaged, &plaintext, reason);

    // Cut short, everywhere that is different.
    refused(&sealed[..0], "not a file that 'sealwire seal' made");
    refused(&sealed[..7], "ends within its header");
    refused(&sealed[..HEADER - 1], "ends within its header");
    refused(&sealed[..HEADER], "ends within its first chunk");
    refused(&sealed[..HEADER + 31], "ends within its first chunk");
    refused(&sealed[..HEADER + 5_000], "(first chunk)");
    refused(&build(&[0]), "ends behind chunk 0, without its end marker");
    refused(
        &build(&[0, 1, 2]),
        "ends behind chunk 2, without its end marker",
    );
    refused(&sealed[..chunk(2).start + 9], "from chunk 2 on");
    refused(&sealed[..chunk(2).start + 999], "from chunk 2 on");
    refused(&sealed[..sealed.len() - 1], "from chunk 3 on");
    // Reordered, repeated, left out.
    refused(&build(&[1, 0, 2, 3]), "(first chunk)");
    refused(&build(&[0, 2, 1, 3]), "from chunk 1 on");
    refused(&build(&[0, 1, 1, 2, 3]), "from chunk 2 on");
    refused(&build(&[0, 2, 3]), "from chunk 1 on");
    refused(&build(&[3]), "(first chunk)");
    // Extended.
    refused(&[&sealed[..], b"x"].concat(), "from chunk 3 on");
    refused(&[&sealed[..], &sealed].concat(), "from chunk 3 on");
    // Changed.
    refused(&flipped(0), "not a file that 'sealwire seal' made");
    refused(&flipped(7), "version 0 of the format");
    refused(&flipped(8), "(first chunk)");
    refused(&flipped(HEADER), "(first chunk)");
    refused(&flipped(chunk(1).end - 1), "from chunk 1 on");
    refused(&flipped(sealed.len() - 1), "from chunk 3 on");
    // Chunks of another file under the same key.
    let other = folder.sealed(&plaintext);
    let spliced = [&sealed[..chunk(2).start], &other[chunk(2).start..]].concat();
    refused(&spliced, "from chunk 2 on");

    // Behind a last chunk that is full, an extension is told from other damage.
    let whole = folder.sealed(&plaintext[..CHUNK]);
    let extended = [&whole[..], b"x"].concat();
    refused(&extended, "appended behind chunk 0, which is its end");
}

#[test]
fn wrong_keys_are_told_apart() {
    let folder = Folder::new();
    let sealed = folder.sealed(b"hello");
    folder.write("sealed", &sealed);
    folder.add_key("other.key");
    run(&["keygen", "--out", &folder.path("pair")]).expect_code(0);
    folder.write("bare", "0a".repeat(32).as_bytes());
    for name in ["bare", "sealed"] {
        restrict(&folder.path(name), 0o600);
    }
    for (key, reason) in [
        ("other.key", "another key"),
        ("pair.key", "keygen --symmetric"),
        (
            "pair.pub",
            if cfg!(unix) { "may be read" } else { "keygen" },
        ),
        ("bare", "this file is for connections"),
        ("sealed", "not the file of a symmetric key"),
        ("missing", "cannot read"),
    ] {
        let refused = run(&[
            "open",
            "--key-file",
            &folder.path(key),
            &folder.path("sealed"),
        ]);
        assert!(refused.stderr.contains(reason), "{key}: {}", refused.stderr);
        assert!(refused.expect_code(1).stdout.is_empty());
    }

    // Nor does a connection take a symmetric key for its own.
    let key = folder.path("files.key");
    let bind = [
        "rep",
        "-b",
        "tcp://127.0.0.1:0",
        "--echo",
        "--server",
        "--allow-anyone",
    ];
    let refused = run(&[&bind[..], &["--secret-key-file", &key]].concat()).expect_code(1);
    assert!(
        refused.stderr.contains("expected a key"),
        "{}",
        refused.stderr
    );
}

#[cfg(unix)]
fn restrict(path: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

#[cfg(not(unix))]
fn restrict(_path: &str, _mode: u32) {}

#[cfg(unix)]
#[test]
fn secrets_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: String| fs::metadata(path).expect("a file").permissions().mode() & 0o777;

    let folder = Folder::new();
    folder.write("plain", b"secret");
    folder.convert("seal", "plain", "sealed").expect_code(0);
    folder.convert("open", "sealed", "opened").expect_code(0);
    assert_eq!(mode(folder.path("files.key")), 0o600);
    assert_eq!(mode(folder.path("opened")), 0o600);

    restrict(&folder.path("files.key"), 0o640);
    let refused = folder.filter("seal", b"").expect_code(1);
    assert!(refused.stderr.contains("(mode 640)"), "{}", refused.stderr);
}

#[test]
fn existing_files_are_left_alone() {
    let folder = Folder::new();
    folder.write("plain", b"new");
    folder.write("sealed", b"old");
    let refused = folder.convert("seal", "plain", "sealed").expect_code(1);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(folder.read("sealed"), b"old");

    let (key, plain, sealed) = (
        folder.path("files.key"),
        folder.path("plain"),
        folder.path("sealed"),
    );
    run(&["seal", "--key-file", &key, &plain, "-o", &sealed, "--force"]).expect_code(0);
    folder.convert("open", "sealed", "opened").expect_code(0);
    assert_eq!(folder.read("opened"), b"new");

    let before = folder.read("files.key");
    run(&["keygen", "--symmetric", &key]).expect_code(1);
    assert_eq!(folder.read("files.key"), before);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_unfinished_file() {
    let folder = Folder::new();
    let (key, output) = (folder.path("files.key"), folder.path("out"));
    let mut running = support::start_interactive(&["seal", "--key-file", &key, "-o", &output]);
    // More than a pipe holds: once it is taken, sealing is under way.
    running.write(&"x".repeat(4 * CHUNK));
    assert_eq!(folder.names().len(), 2, "the temporary file");
    assert!(!Path::new(&output).exists());
    running.interrupted().expect_code(130);
    assert_eq!(folder.names(), ["files.key"]);
}

#[test]
fn key_files_in_json() {
    let folder = Folder::new();
    let path = folder.path("json.key");
    let finished = run(&["keygen", "--json", "--symmetric", &path]).expect_code(0);
    let record: serde_json::Value = serde_json::from_str(finished.text()).expect("JSON");
    assert_eq!(record, serde_json::json!({ "symmetric_key_file": path }));
}
