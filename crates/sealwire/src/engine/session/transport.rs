//! The transport of a session: a stream, its readiness, the bytes that were read and not parsed yet, and the
//! thread that reads it.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use mio::{Registry, Token};

use super::direct::DirectReading;
use super::input::Input;
use super::readiness::TransportReadiness;
use crate::account::Account;
use crate::engine::session_key::SessionKey;
use crate::engine::wire::Wire;
use crate::limits::{LONG_FRAME, WRITES_PER_TIME_SLICE};
use crate::options::TcpOptions;
use crate::peer::ProcessCredentials;
use crate::transport::{Polled, Stream, WriteSize};

/// Bytes of which a write counts as one, so that a connection leaves others their time.
const COUNTED_WRITE: usize = 256 << 10;

pub(super) struct Transport {
    stream: Stream,
    readiness: TransportReadiness,
    input: Input,
    direct: DirectReading,
    /// Bytes that the system took of the last write.
    taken: usize,
    /// Those that it did not take.
    left: usize,
}

/// How long messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pieces {
    /// In short pieces: its reader copies one while the next is written.
    Short,
    /// With the fewest calls.
    Long,
}

impl Pieces {
    /// What one write carries, where the last one could have carried `left` bytes more.
    fn size(self, most: WriteSize, left: usize) -> WriteSize {
        match self {
            Pieces::Short => WriteSize::of_all(most.usual),
            Pieces::Long => WriteSize {
                usual: most.usual.max(left.min(most.of_long)),
                ..most
            },
        }
    }
}

/// What one read of a transport gave.
pub(super) enum Read {
    /// Bytes, behind those that the protocol has left.
    Bytes,
    /// Something that is not for the protocol. More may be behind it.
    Aside,
    /// Nothing now.
    Nothing,
    /// The end of the stream.
    End,
}

impl Transport {
    pub(super) fn new(stream: Stream, options: &TcpOptions) -> Self {
        stream.tune(options);
        Transport {
            stream,
            readiness: TransportReadiness::new(),
            input: Input::default(),
            direct: DirectReading::default(),
            taken: 0,
            left: 0,
        }
    }

    // ---- the poll ------------------------------------------------------------------------------------

    /// Has the poll tell of a stream that it does not know yet.
    pub(super) fn register(&mut self, registry: &Registry, key: SessionKey) -> io::Result<()> {
        self.stream.register(registry, Token(key.slot))
    }

    /// The same for one that it knows.
    pub(super) fn reregister(&mut self, registry: &Registry, key: SessionKey) -> io::Result<()> {
        self.stream.reregister(registry, Token(key.slot))
    }

    pub(super) fn deregister(&mut self, registry: &Registry) {
        self.stream.deregister(registry);
    }

    /// What the poll says comes on top of what is known.
    pub(super) fn note(&mut self, readable: bool, writable: bool, hung_up: bool) {
        self.readiness.note(readable, writable, hung_up);
    }

    pub(super) fn is_readable(&self) -> bool {
        self.readiness.readable
    }

    pub(super) fn is_writable(&self) -> bool {
        self.readiness.writable
    }

    /// The peer has ended its side of the stream.
    pub(super) fn hang_up(&mut self) {
        self.readiness.note(true, false, true);
    }

    /// Whether the peer has ended its side of the stream, behind what is to be read.
    pub(super) fn has_hung_up(&self) -> bool {
        self.readiness.hung_up
    }

    // ---- reading -------------------------------------------------------------------------------------

    /// Reads once. `wanted` is what the frame in progress lacks, as far as that is known. Has to be
    /// followed by [`settle`](Self::settle).
    pub(super) fn read(&mut self, wanted: usize, spare: &mut BytesMut) -> io::Result<Read> {
        // Writing may have waited for the bytes that were read.
        self.readiness.writable |= self.stream.buffers();
        match self.input.read(&mut self.stream, wanted, spare) {
            Ok((0, _)) => Ok(Read::End),
            Ok((length, emptied)) => {
                // Mostly there by the time that this part of it was copied: a read in vain costs less than to ask before each.
                let lacks = wanted.saturating_sub(length);
                let rest_follows = lacks > 0 && self.input.len() + lacks >= LONG_FRAME;
                let emptied = emptied && !rest_follows;
                self.readiness.was_read(emptied, self.stream.buffers());
                Ok(Read::Bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readiness.readable = false;
                Ok(Read::Nothing)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.readiness.readable = true;
                Ok(Read::Aside)
            }
            Err(error) => Err(error),
        }
    }

    /// The bytes that were read, for the protocol to take from its front.
    pub(super) fn unread(&mut self) -> &mut BytesMut {
        self.input.bytes()
    }

    /// Bytes that were read, and that the protocol has not taken.
    pub(super) fn unparsed(&self) -> usize {
        self.input.len()
    }

    /// Whether the protocol has taken all that was read.
    pub(super) fn is_consumed(&self) -> bool {
        self.input.is_empty()
    }

    /// Gives the memory of what was used back.
    pub(super) fn settle(&mut self, wanted: usize, spare: &mut BytesMut) {
        self.input.settle(wanted, spare);
    }

    /// Frees what a quiet session does not need.
    pub(super) fn give_back(&mut self) {
        self.input.give_back();
    }

    /// Bytes of memory for an unfinished message of which the protocol holds so much.
    pub(super) fn arriving_beside(&mut self, in_protocol: usize) -> usize {
        self.stream.leave_room_for(in_protocol);
        in_protocol + self.stream.arriving()
    }

    // ---- writing -------------------------------------------------------------------------------------

    /// One write of what the protocol has; where it has nothing, moves on what waits above the system's
    /// socket. `false` when nothing of either is left.
    pub(super) fn write(
        &mut self,
        protocol: &mut dyn Wire,
        account: Option<&Account>,
        pieces: Pieces,
    ) -> io::Result<bool> {
        let written = match self.write_once(protocol, account, pieces) {
            Ok(false) => self.stream.flush().map(|()| false),
            written => written,
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readiness.writable = false;
                Ok(true)
            }
            written => written,
        }
    }

    /// How many writes the last one counts as.
    pub(super) fn writes_of_last(&self) -> usize {
        ((self.taken + COUNTED_WRITE / 2) / COUNTED_WRITE).max(1)
    }

    /// How many writes of the usual size these bytes take.
    pub(super) fn writes_of(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.stream.write_size().usual)
    }

    /// Writes the rest that the protocol has, as far as it is taken at once, and no more.
    pub(super) fn write_last(&mut self, protocol: &mut dyn Wire, account: Option<&Account>) {
        for _ in 0..WRITES_PER_TIME_SLICE {
            if !matches!(self.write_once(protocol, account, Pieces::Long), Ok(true)) {
                break;
            }
        }
        self.finish_writing();
    }

    /// `false` when there was nothing to write.
    fn write_once(
        &mut self,
        protocol: &mut dyn Wire,
        account: Option<&Account>,
        pieces: Pieces,
    ) -> io::Result<bool> {
        let (stream, taken, left) = (&mut self.stream, &mut self.taken, &mut self.left);
        let size = pieces.size(stream.write_size(), *left);
        protocol.write_with(size, &mut |slices| {
            let written = stream.write_vectored(slices)?;
            *taken = written;
            *left = slices.iter().map(|slice| slice.len()).sum::<usize>() - written;
            if let Some(account) = account {
                account.note_written(written);
            }
            Ok(written)
        })
    }

    /// Whether bytes that were written wait above the system's socket.
    pub(super) fn holds_output(&self) -> bool {
        self.stream.holds_output()
    }

    /// Tells the peer that nothing more will come.
    pub(super) fn finish_writing(&mut self) {
        self.stream.finish_writing();
    }

    // ---- the peer ------------------------------------------------------------------------------------

    /// The process at the other end, where the system knows it.
    pub(super) fn process(&self) -> Option<ProcessCredentials> {
        self.stream.process()
    }

    /// The supplementary groups of that process, where the system knows them.
    pub(super) fn groups(&self) -> Vec<u32> {
        self.stream.groups()
    }

    /// The handshake is done: the peer may send as much as the socket allows.
    pub(super) fn trust(&mut self) {
        self.stream.trust();
    }

    /// Whether it asks the peer for signs of life itself, because ZMTP does not over it.
    pub(super) fn has_heartbeat(&self) -> bool {
        self.stream.has_heartbeat()
    }

    /// Whether anything came since the last call, where it asks itself.
    pub(super) fn take_heard(&mut self) -> bool {
        self.stream.take_heard()
    }

    /// Asks for a sign of life.
    pub(super) fn ping(&mut self) {
        self.stream.ping();
    }

    // ---- who reads -----------------------------------------------------------------------------------

    /// Leaves reading to a thread of the application, and gives what that polls.
    pub(super) fn lease(&mut self, registry: &Registry, key: SessionKey) -> io::Result<Polled> {
        let polled = self.direct.polled(&self.stream)?;
        if !self.direct.is_active() {
            self.stream.watch_writing(registry, Token(key.slot))?;
            self.direct.begin();
        }
        Ok(polled)
    }

    /// Whether reading is left to a thread of the application.
    pub(super) fn is_leased(&self) -> bool {
        self.direct.is_active()
    }

    /// Whether the peer has ended its side of the stream, and it was left to a thread of the application to find that.
    pub(super) fn peer_has_ended_unseen(&self, now: Duration) -> bool {
        self.direct.peer_has_ended(now)
    }

    /// A thread of the application reads now.
    pub(super) fn is_read_directly(&mut self, now: Duration) {
        self.direct.reads(now);
    }

    /// Has the I/O thread check before long whether a thread of the application still reads.
    pub(super) fn watch_lease(&mut self, now: Duration) {
        self.direct.watch(now);
    }

    /// When the I/O thread checks that.
    pub(super) fn lease_check_at(&self) -> Option<Duration> {
        self.direct.check_at()
    }

    /// Whether to check now, once.
    pub(super) fn is_lease_check_due(&mut self, now: Duration) -> bool {
        self.direct.is_due(now)
    }

    /// Gives reading back to the I/O thread.
    pub(super) fn end_lease(&mut self, registry: &Registry, key: SessionKey) -> io::Result<()> {
        if self.direct.end() {
            // No event told of the bytes that have arrived meanwhile.
            self.readiness.readable = true;
            self.reregister(registry, key)?;
        }
        Ok(())
    }

    /// Closes the stream. A thread that still polls does not keep the connection open.
    pub(super) fn close(self) {
        if self.direct.was_begun() {
            self.stream.shut_down();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::VecDeque;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use mio::event::Event;
    use mio::net::UnixStream as MioUnixStream;
    use mio::{Events, Poll};
    use sealwire_zmtp::{Frames, SocketType};

    use super::*;
    use crate::engine::raw::Raw;
    use crate::options::SocketOptions;
    use crate::pattern::Item;

    const KEY: SessionKey = SessionKey {
        slot: 3,
        connection: 71,
    };

    fn pair() -> (UnixStream, Transport) {
        let (peer, ours) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let stream = Stream::Unix(MioUnixStream::from_std(ours));
        let options = SocketOptions::new(SocketType::Stream);
        (peer, Transport::new(stream, &options.tcp))
    }

    fn read(transport: &mut Transport) -> Read {
        let spare = &mut BytesMut::new();
        let read = transport.read(0, spare).unwrap();
        transport.settle(0, spare);
        read
    }

    #[test]
    fn a_read_says_what_came_and_whether_more_may_be_there() {
        let (mut peer, mut transport) = pair();
        transport.note(true, false, false);
        assert!(matches!(read(&mut transport), Read::Nothing));
        assert!(!transport.is_readable() && transport.is_consumed());
        peer.write_all(b"bytes").unwrap();
        assert!(matches!(read(&mut transport), Read::Bytes));
        assert_eq!(transport.unread()[..], *b"bytes");
        assert!(!transport.is_readable() && !transport.is_consumed());
        peer.write_all(b" and more").unwrap();
        drop(peer);
        transport.note(false, false, true);
        assert!(matches!(read(&mut transport), Read::Bytes));
        assert_eq!(transport.unread()[..], *b"bytes and more");
        // The end is still behind it.
        assert!(transport.is_readable());
        assert!(matches!(read(&mut transport), Read::End));
    }

    #[test]
    fn the_rest_of_a_long_frame_is_read_without_asking_once() {
        for (lacks, follows) in [(LONG_FRAME, true), (LONG_FRAME - 6, false), (5, false)] {
            let (mut peer, mut transport) = pair();
            let spare = &mut BytesMut::new();
            peer.write_all(b"bytes").unwrap();
            assert!(matches!(transport.read(lacks, spare).unwrap(), Read::Bytes));
            assert_eq!(transport.is_readable(), follows, "{lacks}");
            assert!(matches!(
                transport.read(lacks, spare).unwrap(),
                Read::Nothing
            ));
            assert!(!transport.is_readable());
        }
    }

    #[test]
    fn a_full_transport_is_written_to_again_once_the_poll_says_so() {
        let (mut peer, mut transport) = pair();
        let mut raw = Raw::new(usize::MAX);
        const SIZE: usize = 16 << 20;
        raw.stage(&mut VecDeque::from([Item::Message(Frames::from(vec![
            7;
            SIZE
        ]))]));
        let (mut buffer, mut received) = (vec![0; SIZE], 0);
        loop {
            while transport.is_writable() && transport.write(&mut raw, None, Pieces::Short).unwrap()
            {
            }
            // The system has what the protocol has not.
            let written = SIZE - raw.pending_bytes();
            if received == written {
                break;
            }
            assert!(written == SIZE || !transport.is_writable());
            peer.read_exact(&mut buffer[received..written]).unwrap();
            received = written;
            transport.note(false, true, false);
        }
        assert!(received == SIZE && buffer.iter().all(|byte| *byte == 7));
        assert!(
            transport.is_writable() && !transport.write(&mut raw, None, Pieces::Short).unwrap()
        );
    }

    #[test]
    fn what_the_system_does_not_take_goes_with_the_next_write() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_peer, _) = listener.accept().unwrap();
        ours.set_nonblocking(true).unwrap();
        let options = SocketOptions::new(SocketType::Stream);
        let stream = Stream::Tcp(mio::net::TcpStream::from_std(ours));
        let mut transport = Transport::new(stream, &options.tcp);
        let mut raw = Raw::new(usize::MAX);
        // No buffer of the system has room for it.
        let payload = Frames::from(vec![7; 64 << 20]);
        raw.stage(&mut VecDeque::from([Item::Message(payload)]));
        while transport.is_writable() {
            transport.write(&mut raw, None, Pieces::Long).unwrap();
        }
        let left = transport.left;
        let most = transport.stream.write_size();
        assert!(left > 0 && left <= most.of_long);
        let long = Pieces::Long.size(most, left);
        assert!(long.usual >= left && long.usual >= most.usual && long.of_long == most.of_long);
        assert_eq!(Pieces::Long.size(most, usize::MAX).usual, most.of_long);
        let short = Pieces::Short.size(most, left);
        assert!(short.usual == most.usual && short.of_long == most.usual);
        // A long write counts as several.
        let message = (1 << 20) + 9;
        for (taken, writes) in [(0, 1), (most.usual, 1), (most.of_long, 4), (message, 4)] {
            transport.taken = taken;
            assert_eq!(transport.writes_of_last(), writes);
        }
    }

    /// Whether the poll tells of bytes that have come.
    fn is_told(poll: &mut Poll) -> bool {
        let mut events = Events::with_capacity(8);
        poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
        events.iter().any(Event::is_readable)
    }

    #[test]
    fn reading_is_left_to_another_thread_and_taken_back() {
        let mut poll = Poll::new().unwrap();
        let (mut peer, mut transport) = pair();
        let registry = &poll.registry().try_clone().unwrap();
        transport.register(registry, KEY).unwrap();
        transport.end_lease(registry, KEY).unwrap();
        assert!(!transport.is_readable());
        transport.lease(registry, KEY).unwrap();
        assert!(transport.is_leased() && !transport.is_readable());
        // The other thread is told of what comes.
        peer.write_all(b"meanwhile").unwrap();
        assert!(!is_told(&mut poll));
        transport.end_lease(registry, KEY).unwrap();
        assert!(!transport.is_leased() && transport.is_readable());
        peer.write_all(b"afterwards").unwrap();
        assert!(is_told(&mut poll));
    }

    #[test]
    fn an_end_that_nobody_has_read_is_seen_while_reading_is_left_to_others() {
        let poll = Poll::new().unwrap();
        let (mut peer, mut transport) = pair();
        transport.register(poll.registry(), KEY).unwrap();
        transport.lease(poll.registry(), KEY).unwrap();
        let (soon, late) = (Duration::from_micros(1_049), Duration::from_micros(1_050));
        transport.is_read_directly(Duration::from_millis(1));
        peer.write_all(b"last words").unwrap();
        assert!(!transport.peer_has_ended_unseen(late));
        drop(peer);
        assert!(!transport.peer_has_ended_unseen(soon));
        assert!(transport.peer_has_ended_unseen(late));
        // From here on the poll tells of it.
        transport.end_lease(poll.registry(), KEY).unwrap();
        assert!(!transport.peer_has_ended_unseen(late) && transport.is_readable());
    }

    #[test]
    fn a_thread_that_still_polls_does_not_keep_the_connection_open() {
        let poll = Poll::new().unwrap();
        let (mut peer, mut transport) = pair();
        transport.register(poll.registry(), KEY).unwrap();
        let _polled = transport.lease(poll.registry(), KEY).unwrap();
        transport.close();
        // Only one that is kept open has it wait.
        peer.set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
    }
}
