//! Bytes that were read and not parsed yet, and the memory to read into.
//!
//! The system writes bytes to where the protocol parses them, and a large payload stays there: it
//! becomes a slice of the buffer. Buffers belong to the reading thread and pass from session to
//! session. A session that waits for the rest of a frame keeps the buffer with its beginning, or a
//! copy if that is short. So quiet connections hold no buffers.

use std::io;
use std::mem;

use bytes::BytesMut;

use crate::limits::MAX_EXPECTED_FRAME;
use crate::transport::Stream;

/// Size of one read, in bytes, as long as frames are small.
const READ_SIZE: usize = 64 << 10;
/// The beginning of a frame is copied to before the next read where it is no longer than this.
const SHORT: usize = 4 << 10;
/// Frames that are expected to be so long get a buffer each, which ends where they do.
const LONG: usize = READ_SIZE / 4 * 3;

#[derive(Default)]
pub(super) struct Input {
    bytes: BytesMut,
    /// Memory for the beginning of a frame, until it is read on.
    beginning: Vec<u8>,
    /// Something was read since the last [`give_back`](Self::give_back).
    busy: bool,
    /// How many they were before the protocol took frames from their front.
    given: usize,
    /// How many it took before the frame in progress, since that or its buffer began.
    before: usize,
    /// Size of the buffer.
    capacity: usize,
    /// Size of the last frame that needed more than one read.
    frame: usize,
}

impl Input {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What there is to parse. Has to be followed by [`settle`](Self::settle).
    pub(super) fn bytes(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Reads once, behind what is there already. Returns the number of bytes, and whether there was
    /// room for more. `wanted` is what the frame in progress lacks, as far as that is known.
    pub(super) fn read(
        &mut self,
        stream: &mut Stream,
        wanted: usize,
        spare: &mut BytesMut,
    ) -> io::Result<(usize, bool)> {
        let mut buffer = self.buffer(wanted, spare);
        let room = buffer.capacity() - buffer.len();
        let outcome = stream.read_behind(&mut buffer);
        self.capacity = buffer.capacity();
        // A vector that is collected from itself stays where it is.
        self.bytes = BytesMut::from_iter(buffer);
        self.given = self.bytes.len();
        self.busy = true;
        outcome.map(|length| (length, length < room))
    }

    /// Gives the memory of what was used back, and remembers what the next read may be.
    pub(super) fn settle(&mut self, wanted: usize, spare: &mut BytesMut) {
        let here = self.bytes.len();
        self.before += self.given - here;
        self.given = here;
        if wanted > 0 && wanted <= 3 * here {
            // A few come before each, such as the delimiter of a request.
            let before = if self.before <= SHORT { self.before } else { 0 };
            self.frame = (before + here + wanted).min(MAX_EXPECTED_FRAME);
        }
        if here <= SHORT {
            let mut beginning = mem::take(&mut self.beginning);
            beginning.extend_from_slice(&self.bytes);
            let used = mem::replace(&mut self.bytes, BytesMut::from_iter(beginning));
            // The buffer of a very large frame goes with it.
            if self.capacity <= 2 * MAX_EXPECTED_FRAME {
                *spare = used;
                spare.clear();
            }
        }
    }

    /// Frees what a quiet session does not need.
    pub(super) fn give_back(&mut self) {
        if mem::take(&mut self.busy) {
            return;
        }
        self.beginning = Vec::new();
        if self.bytes.is_empty() {
            self.bytes = BytesMut::new();
        }
    }

    /// Size of a buffer that frames like the last end with.
    fn expected(&self) -> usize {
        match self.frame {
            frame if frame <= SHORT => READ_SIZE,
            frame if frame < LONG => READ_SIZE - READ_SIZE % frame,
            frame => frame,
        }
    }

    /// A buffer with room behind what is there already.
    fn buffer(&mut self, wanted: usize, spare: &mut BytesMut) -> Vec<u8> {
        let here = self.bytes.len();
        let size = self.expected();
        if here > SHORT {
            // Not all that the frame announces: memory follows what has come.
            let room = wanted.min(3 * here).max(SHORT);
            let bytes = mem::take(&mut self.bytes);
            if self.before <= SHORT {
                // They move to where the buffer begins, if anything was before them.
                let mut buffer = Vec::from(bytes);
                // Exactly, so that it ends with the frame; and not before there is no room for a read, or for what
                // the frame lacks: all that is here might move.
                let least = if wanted > 0 { wanted } else { room };
                if buffer.capacity() - here < least.min(READ_SIZE) {
                    buffer.reserve_exact(room);
                }
                return buffer;
            }
            // Payloads from before it may share its memory.
            self.before = 0;
            let mut buffer = Vec::with_capacity(size.max(here + room));
            buffer.extend_from_slice(&bytes);
            return buffer;
        }
        self.before = 0;
        // A buffer that is still shared comes out empty.
        let mut buffer = match spare.try_reclaim(size) {
            true => Vec::from(mem::take(spare)),
            false => Vec::new(),
        };
        if buffer.capacity() < size || buffer.capacity() > 2 * size {
            buffer = Vec::with_capacity(size);
        }
        buffer.extend_from_slice(&self.bytes);
        self.beginning = mem::take(&mut self.bytes).into();
        self.beginning.clear();
        buffer
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc;
    use std::thread;

    use bytes::{Buf as _, Bytes};
    use mio::net::UnixStream as Mio;

    use super::*;

    fn pair() -> (UnixStream, Stream) {
        let (write, read) = UnixStream::pair().unwrap();
        for end in [&write, &read] {
            end.set_nonblocking(true).unwrap();
        }
        (write, Stream::Unix(Mio::from_std(read)))
    }

    /// Takes whole frames, each a length in 4 bytes and that many more, and tells what the next one
    /// lacks.
    fn take_frames(bytes: &mut BytesMut, frames: &mut Vec<Bytes>) -> usize {
        loop {
            let Some(length) = bytes.first_chunk().copied() else {
                return 4 - bytes.len();
            };
            let size = 4 + u32::from_le_bytes(length) as usize;
            if bytes.len() < size {
                return size - bytes.len();
            }
            let mut frame = bytes.split_to(size).freeze();
            frame.advance(4);
            frames.push(frame);
        }
    }

    fn frame(number: usize, size: usize) -> Vec<u8> {
        let mut frame = (size as u32).to_le_bytes().to_vec();
        frame.extend((0..size).map(|i| (i * 7 + number) as u8));
        frame
    }

    #[test]
    fn frames_of_any_size_come_through_whether_earlier_ones_are_kept_or_not() {
        for keep in [0, 1, 5, usize::MAX] {
            let (mut write, mut stream) = pair();
            let sizes = [
                10, 4_000, 70_000, 65_536, 5, 20_000, 300_000, 5_000, 5_000, 3, 1_500_000,
            ];
            let sizes: Vec<_> = sizes.iter().copied().cycle().take(66).collect();
            let sent: Vec<_> = (0..).zip(&sizes).map(|(n, size)| frame(n, *size)).collect();
            let mut unsent = Bytes::from(sent.concat());
            let (mut input, mut spare) = (Input::default(), BytesMut::new());
            let (mut frames, mut wanted, mut seen) = (Vec::new(), 0, 0);
            while seen < sizes.len() {
                while let Ok(written) = write.write(&unsent) {
                    unsent.advance(written);
                    if unsent.is_empty() {
                        break;
                    }
                }
                let (length, _) = input.read(&mut stream, wanted, &mut spare).unwrap();
                assert!(length > 0);
                let before = frames.len();
                wanted = take_frames(input.bytes(), &mut frames);
                input.settle(wanted, &mut spare);
                for received in &frames[before..] {
                    assert_eq!(received[..], sent[seen][4..], "frame {seen}");
                    seen += 1;
                }
                frames.drain(..frames.len().saturating_sub(keep));
            }
            assert!(input.is_empty());
        }
    }

    /// Whatever its last bytes are, and though they come by themselves.
    #[test]
    fn a_message_of_a_mebibyte_ends_where_it_began_once_one_has_come() {
        let (mut write, mut stream) = pair();
        let (mut input, mut spare) = (Input::default(), BytesMut::new());
        // With what a frame has beside its message, behind one as short as the delimiter of a request.
        let sent = [frame(0, 0), frame(1, (1 << 20) + 100)].concat();
        let mut buffers = Vec::new();
        for end in [50_000, 1, 9, 1_000, 5_000] {
            let (mut unsent, last) = sent.split_at(sent.len() - end);
            let (mut frames, mut wanted) = (Vec::new(), 0);
            buffers.clear();
            while frames.is_empty() {
                if wanted == end {
                    unsent = last;
                }
                if let Ok(written) = write.write(unsent) {
                    unsent = &unsent[written..];
                }
                input.read(&mut stream, wanted, &mut spare).unwrap();
                buffers.push((input.bytes().as_ptr(), input.capacity));
                wanted = take_frames(input.bytes(), &mut frames);
                frames.retain(|frame| !frame.is_empty());
                input.settle(wanted, &mut spare);
            }
            assert_eq!(frames[0], sent[8..]);
            // Of the first nobody knows how long it will be.
            let stays = buffers.iter().all(|it| *it == buffers[0]);
            assert!(end == 50_000 || (buffers.len() > 1 && stays), "{end}");
        }
    }

    /// Keeps frames for a while, drops them in an order of its own, and compares each with what was sent.
    fn keep(seed: usize, frames: impl IntoIterator<Item = (usize, Bytes)>) {
        let compare = |(number, bytes): (usize, Bytes)| {
            assert!(bytes == frame(number, bytes.len())[4..], "frame {number}");
        };
        let mut kept = Vec::new();
        for (turn, received) in frames.into_iter().enumerate() {
            kept.push(received);
            if turn % 3 == seed || kept.len() > 20 {
                compare(kept.swap_remove(turn * seed % kept.len()));
            }
        }
        kept.into_iter().for_each(compare);
    }

    #[test]
    fn frames_are_dropped_by_other_threads_while_their_buffer_passes_between_sessions() {
        let mut spare = BytesMut::new();
        let mut sessions = [(); 2].map(|()| (pair(), Input::default()));
        thread::scope(|scope| {
            let threads = [0, 1, 2].map(|seed| {
                let (to, frames) = mpsc::sync_channel(10);
                scope.spawn(move || keep(seed, frames));
                to
            });
            for number in 0..3_000 {
                let ((write, stream), input) = &mut sessions[number % 2];
                let size = [10, 2_000, 9_000, 60_000][number % 11 % 4];
                write.write_all(&frame(number, size)).unwrap();
                let (mut frames, mut wanted) = (Vec::new(), 0);
                while frames.is_empty() {
                    input.read(stream, wanted, &mut spare).unwrap();
                    wanted = take_frames(input.bytes(), &mut frames);
                    input.settle(wanted, &mut spare);
                }
                let received = frames.pop().unwrap();
                threads[number % 3].send((number, received)).unwrap();
            }
        });
    }

    #[test]
    fn memory_follows_what_has_come_and_a_quiet_session_has_none() {
        let (mut write, mut stream) = pair();
        let (mut input, mut spare) = (Input::default(), BytesMut::new());
        let large = frame(0, 100 << 20);
        write.write_all(&large[..10_000]).unwrap();
        input.read(&mut stream, 0, &mut spare).unwrap();
        input.settle(large.len() - 10_000, &mut spare);
        write.write_all(&large[10_000..10_001]).unwrap();
        input
            .read(&mut stream, large.len() - 10_000, &mut spare)
            .unwrap();
        assert!(input.bytes.capacity() <= READ_SIZE.max(8 * 10_000));

        let (mut write, mut stream) = pair();
        let mut input = Input::default();
        for number in 0..3 {
            write.write_all(&frame(number, 60_000)).unwrap();
            let mut wanted = 0;
            let mut frames = Vec::new();
            while frames.is_empty() {
                input.read(&mut stream, wanted, &mut spare).unwrap();
                wanted = take_frames(input.bytes(), &mut frames);
                input.settle(wanted, &mut spare);
            }
            input.give_back();
            input.give_back();
            assert_eq!((input.bytes.capacity(), input.beginning.capacity()), (0, 0));
        }
    }

    #[test]
    fn bytes_are_parsed_where_the_system_wrote_them() {
        let (mut write, mut stream) = pair();
        let (mut input, mut spare) = (Input::default(), BytesMut::with_capacity(READ_SIZE));
        let memory = spare.as_ptr();
        for number in 0..3 {
            write.write_all(&frame(number, 3_000)).unwrap();
            input.read(&mut stream, 0, &mut spare).unwrap();
            assert_eq!(input.bytes().as_ptr(), memory);
            input.bytes().advance(3_004);
            input.settle(0, &mut spare);
        }
    }

    #[test]
    fn an_empty_transport_loses_nothing() {
        let (mut write, mut stream) = pair();
        let (mut input, mut spare) = (Input::default(), BytesMut::new());
        for (expected, more) in [(3, "abc"), (10_003, &*"d".repeat(10_000)), (10_004, "e")] {
            write.write_all(more.as_bytes()).unwrap();
            while input.bytes().len() < expected {
                input.read(&mut stream, 1, &mut spare).unwrap();
                input.settle(1, &mut spare);
            }
            let error = input.read(&mut stream, 1, &mut spare).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            input.settle(1, &mut spare);
            assert_eq!(input.bytes().len(), expected);
            assert!(input.bytes().starts_with(b"abc"));
        }
    }

    /// TCP and Unix sockets fill memory that holds nothing yet, other streams memory that was
    /// written to first.
    #[test]
    fn both_ways_to_read_give_the_same() {
        let (mut write, mut stream) = pair();
        let bytes = frame(1, 50_000);
        write.write_all(&bytes).unwrap();
        let mut unwritten = Vec::with_capacity(20_000);
        unwritten.extend_from_slice(b"before");
        let length = stream.read_behind(&mut unwritten).unwrap();
        assert_eq!(unwritten.len(), 6 + length);
        let mut written = vec![0; 50_004 - length];
        assert_eq!(stream.read(&mut written).unwrap(), written.len());
        assert_eq!([&unwritten[6..], &written].concat(), bytes);
        assert_eq!(unwritten[..6], *b"before");
    }
}
