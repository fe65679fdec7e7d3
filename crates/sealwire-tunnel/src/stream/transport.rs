//! What a stream runs over, so that both kinds of streams have their loops once.

use std::io::{self, Read, Write};
use std::task::Poll;

/// Reads and writes some bytes, now or once the task is told.
pub(super) trait Transport {
    fn read(&mut self, into: &mut [u8]) -> Poll<io::Result<usize>>;
    fn write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>>;
    fn flush(&mut self) -> Poll<io::Result<()>>;
}

/// Blocks, so it is always ready. Where what it runs over must not block, the error says so.
pub(super) struct Blocking<'a, S>(pub(super) &'a mut S);

impl<S: Read + Write> Transport for Blocking<'_, S> {
    fn read(&mut self, into: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.read(into))
    }

    fn write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(uninterrupted(|| self.0.write(bytes)))
    }

    fn flush(&mut self) -> Poll<io::Result<()>> {
        Poll::Ready(uninterrupted(|| self.0.flush()))
    }
}

/// Flushing is not repeated by its callers, as reading and writing are.
fn uninterrupted<T>(mut action: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match action() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// The result of what is always ready.
pub(super) fn now<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}
