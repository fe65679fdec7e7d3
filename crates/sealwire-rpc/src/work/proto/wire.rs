//! Messages of acknowledged work: `docs/spec/work.md`, sections 2 to 5. Bytes in, values out.

use bytes::{Buf as _, Bytes};

use super::violation::Violation;

/// The version of the protocol.
pub(crate) const VERSION: u8 = 1;
/// Bytes of a task in TASKS beside its body.
pub(crate) const TASK_HEADER: usize = 16;
/// Bytes of an outcome in OUTCOMES beside its body.
pub(crate) const OUTCOME_HEADER: usize = 17;
/// Bytes of OUTCOMES before the first one.
pub(crate) const OUTCOMES_HEADER: usize = 9;

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const TASKS: u8 = 3;
const OUTCOMES: u8 = 4;
const LEAVE: u8 = 5;
const FAREWELL: u8 = 6;

/// What a worker says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Tasks that the worker takes before it has ended some of them.
    pub(crate) credit: u32,
    /// Bytes of them, each counted with its cost.
    pub(crate) credit_bytes: u32,
    /// Bytes of the largest task that it takes.
    pub(crate) max_task: u32,
}

/// What a distributor answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// Which distributor it is: the first half of its tasks' numbers.
    pub(crate) distributor: u64,
    /// Bytes of the largest result and reason that it takes.
    pub(crate) max_result: u32,
}

/// How an attempt ended, as its worker says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The work is done; the body is its result.
    Done,
    /// It failed; the body says why.
    Failed,
    /// It was not begun, and its worker leaves.
    Returned,
}

/// A task as it is handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handed {
    pub(crate) counter: u64,
    pub(crate) attempt: u32,
    pub(crate) body: Bytes,
}

/// The outcome of an attempt, as its worker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) counter: u64,
    pub(crate) attempt: u32,
    pub(crate) ended: Ended,
    pub(crate) body: Bytes,
}

/// A message to a distributor.
#[derive(Debug)]
pub(crate) enum FromWorker {
    Hello(Hello),
    Outcomes {
        distributor: u64,
        reported: Entries<Reported>,
    },
    Leave,
}

/// A message to a worker.
#[derive(Debug)]
pub(crate) enum FromDistributor {
    Welcome(Welcome),
    Tasks(Entries<Handed>),
    Farewell,
}

/// Takes fixed parts off the front of a message.
struct Reader(Bytes);

impl Reader {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Violation> {
        let Some(taken) = self.0.first_chunk::<N>().copied() else {
            return Err(Violation::Truncated);
        };
        self.0.advance(N);
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, Violation> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, Violation> {
        self.take().map(u64::from_be_bytes)
    }

    /// A length and as many bytes, which share the memory of the message.
    fn body(&mut self) -> Result<Bytes, Violation> {
        let length = self.u32()? as usize;
        if length > self.0.len() {
            return Err(Violation::Truncated);
        }
        Ok(self.0.split_to(length))
    }

    fn version(&mut self) -> Result<(), Violation> {
        match self.take()? {
            [VERSION] => Ok(()),
            [other] => Err(Violation::Version(other)),
        }
    }

    fn end(&self) -> Result<(), Violation> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Violation::TooLong),
        }
    }
}

/// Entries, one behind the other up to the end of a message.
#[derive(Debug)]
pub(crate) struct Entries<T> {
    rest: Bytes,
    parse: fn(&mut Reader) -> Result<T, Violation>,
}

impl<T> Entries<T> {
    fn new(
        reader: Reader,
        parse: fn(&mut Reader) -> Result<T, Violation>,
    ) -> Result<Self, Violation> {
        match reader.0.is_empty() {
            true => Err(Violation::Truncated),
            false => Ok(Entries {
                rest: reader.0,
                parse,
            }),
        }
    }
}

impl<T> Iterator for Entries<T> {
    type Item = Result<T, Violation>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let mut reader = Reader(std::mem::take(&mut self.rest));
        let entry = (self.parse)(&mut reader);
        if entry.is_ok() {
            self.rest = reader.0;
        }
        Some(entry)
    }
}

impl FromWorker {
    pub(crate) fn parse(message: Bytes) -> Result<Self, Violation> {
        let mut reader = Reader(message);
        match reader.take()? {
            [HELLO] => {
                reader.version()?;
                let hello = Hello {
                    credit: reader.u32()?,
                    credit_bytes: reader.u32()?,
                    max_task: reader.u32()?,
                };
                // Later versions of it may say more.
                Ok(FromWorker::Hello(hello))
            }
            [OUTCOMES] => Ok(FromWorker::Outcomes {
                distributor: reader.u64()?,
                reported: Entries::new(reader, parse_reported)?,
            }),
            [LEAVE] => reader.end().map(|()| FromWorker::Leave),
            [kind] => Err(Violation::UnknownKind(kind)),
        }
    }
}

impl FromDistributor {
    pub(crate) fn parse(message: Bytes) -> Result<Self, Violation> {
        let mut reader = Reader(message);
        match reader.take()? {
            [WELCOME] => {
                reader.version()?;
                let welcome = Welcome {
                    distributor: reader.u64()?,
                    max_result: reader.u32()?,
                };
                Ok(FromDistributor::Welcome(welcome))
            }
            [TASKS] => Ok(FromDistributor::Tasks(Entries::new(reader, parse_handed)?)),
            [FAREWELL] => reader.end().map(|()| FromDistributor::Farewell),
            [kind] => Err(Violation::UnknownKind(kind)),
        }
    }
}

fn parse_handed(reader: &mut Reader) -> Result<Handed, Violation> {
    Ok(Handed {
        counter: reader.u64()?,
        attempt: reader.u32()?,
        body: reader.body()?,
    })
}

fn parse_reported(reader: &mut Reader) -> Result<Reported, Violation> {
    Ok(Reported {
        counter: reader.u64()?,
        attempt: reader.u32()?,
        ended: match reader.take()? {
            [0] => Ended::Done,
            [1] => Ended::Failed,
            [2] => Ended::Returned,
            [other] => return Err(Violation::UnknownOutcome(other)),
        },
        body: reader.body()?,
    })
}

impl Hello {
    pub(crate) fn message(self) -> Vec<u8> {
        let mut message = vec![HELLO, VERSION];
        message.extend(self.credit.to_be_bytes());
        message.extend(self.credit_bytes.to_be_bytes());
        message.extend(self.max_task.to_be_bytes());
        message
    }
}

impl Welcome {
    pub(crate) fn message(self) -> Vec<u8> {
        let mut message = vec![WELCOME, VERSION];
        message.extend(self.distributor.to_be_bytes());
        message.extend(self.max_result.to_be_bytes());
        message
    }
}

pub(crate) fn leave() -> Vec<u8> {
    vec![LEAVE]
}

pub(crate) fn farewell() -> Vec<u8> {
    vec![FAREWELL]
}

/// Begins a message of tasks with room for `bytes` of them.
pub(crate) fn begin_tasks(bytes: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(1 + bytes);
    message.push(TASKS);
    message
}

/// Appends a task to a message of tasks.
pub(crate) fn add_task(message: &mut Vec<u8>, counter: u64, attempt: u32, body: &[u8]) {
    message.extend(counter.to_be_bytes());
    message.extend(attempt.to_be_bytes());
    add_body(message, body);
}

/// Begins a message of outcomes with room for `bytes` of them.
pub(crate) fn begin_outcomes(distributor: u64, bytes: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(OUTCOMES_HEADER + bytes);
    message.push(OUTCOMES);
    message.extend(distributor.to_be_bytes());
    message
}

/// Appends an outcome to a message of outcomes.
pub(crate) fn add_outcome(
    message: &mut Vec<u8>,
    counter: u64,
    attempt: u32,
    ended: Ended,
    body: &[u8],
) {
    message.extend(counter.to_be_bytes());
    message.extend(attempt.to_be_bytes());
    message.push(match ended {
        Ended::Done => 0,
        Ended::Failed => 1,
        Ended::Returned => 2,
    });
    add_body(message, body);
}

/// Bodies are bounded far below what a length can say.
fn add_body(message: &mut Vec<u8>, body: &[u8]) {
    message.extend((body.len() as u32).to_be_bytes());
    message.extend(body);
}
