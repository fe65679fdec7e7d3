//! What the server serves, and what clients serve when it calls them.

use super::ledger::Ledger;
use super::world::Tasks;
use crate::handler::{Handler, OneWay, Request};
use crate::{Code, Conn, Status};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An answer at once.
    Now,
    /// An answer after its argument in milliseconds.
    Late,
    /// No answer.
    Never,
    /// To be turned away as not started.
    TurnAway,
    /// A call to the client, then an answer.
    CallBack,
    /// The items of the stream once more; their number is its argument.
    Stream,
    /// As many items as its argument says.
    Items,
}

const KINDS: [Kind; 7] = [
    Kind::Now,
    Kind::Late,
    Kind::Never,
    Kind::TurnAway,
    Kind::CallBack,
    Kind::Stream,
    Kind::Items,
];
/// Bits of the number of a call below that of its caller.
const CALLS: u32 = 20;
/// Added to the number of a call for that of the call back.
const BACK: u64 = 1 << 40;
/// Likewise, for a call back that a message has asked for.
const BACK_FOR_MESSAGE: u64 = BACK << 1;

/// The number of the next call of a caller, after this many.
pub(super) fn call_number(caller: u64, calls: u64) -> u64 {
    caller << CALLS | calls
}

/// The caller of a call, or of the one that a call back belongs to.
pub(super) fn caller(call: u64) -> u64 {
    (call & (BACK - 1)) >> CALLS
}

/// The body of a request: its number, kind and argument, and as many bytes more.
pub(super) fn question(call: u64, kind: Kind, argument: u64, fill: u64) -> Vec<u8> {
    let mut body: Vec<u8> = [call, kind as u64, argument]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    body.resize(body.len() + fill as usize, call as u8);
    body
}

/// The answer to a request.
pub(super) fn answer(question: &[u8]) -> Vec<u8> {
    question.iter().map(|byte| byte ^ 0xa5).collect()
}

/// The numbers that a body begins with.
pub(super) fn numbers<const N: usize>(body: &[u8]) -> [u64; N] {
    let mut numbers = body.as_chunks::<8>().0.iter();
    std::array::from_fn(|_| u64::from_le_bytes(*numbers.next().expect("as many")))
}

/// An item of the stream of a call.
pub(super) fn item(call: u64, number: u64) -> Vec<u8> {
    [call, number]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

#[derive(Clone)]
pub(super) struct Service {
    pub(super) tasks: Tasks,
    pub(super) ledger: Ledger,
    /// The number of the server; `None` at a client.
    pub(super) server: Option<u64>,
    /// What it asks clients for when it calls them back; for every message too where that takes time.
    pub(super) asks_for: Kind,
}

impl Handler for Service {
    fn request(&self, request: Request) {
        let [call, kind, argument] = numbers(request.body());
        let kind = KINDS[kind as usize];
        if kind == Kind::TurnAway {
            self.ledger.turned_away(call);
            return request.fail(Status::from(Code::UNAVAILABLE).not_started());
        }
        self.ledger.handled(call, self.server);
        if kind == Kind::Now {
            return reply(request);
        }
        let service = self.clone();
        self.tasks.spawn(async move {
            match kind {
                Kind::Late => service.tasks.sleep(argument).await,
                // The end of the caller is noticed.
                Kind::Never => return request.cancelled().await,
                Kind::CallBack => service.call_back(request.conn(), call + BACK).await,
                Kind::Stream => echo(&request, call, argument).await,
                Kind::Items => send_items(&request, call, argument).await,
                Kind::Now | Kind::TurnAway => unreachable!("done"),
            }
            reply(request);
        });
    }

    fn message(&self, message: OneWay) {
        let [sender, number] = numbers(message.body());
        let connection = message.conn().peer().connection();
        self.ledger.came(connection, sender, number);
        if self.asks_for == Kind::Late {
            let (service, conn) = (self.clone(), message.conn().clone());
            let call = call_number(sender, number) + BACK_FOR_MESSAGE;
            self.tasks
                .spawn(async move { service.call_back(&conn, call).await });
        }
    }
}

impl Service {
    async fn call_back(&self, conn: &Conn, call: u64) {
        let question = question(call, self.asks_for, 100 + call % 1_000, 0);
        let outcome = conn.request(&question).await;
        self.ledger.ended(call, &outcome, &answer(&question));
    }
}

fn reply(request: Request) {
    let answer = answer(request.body());
    request.reply(&answer).expect("it is small");
}

/// Sends each item of a stream back. Unless the caller has gone, all come, in their order.
async fn echo(request: &Request, call: u64, items: u64) {
    let mut came = 0;
    while let Some(one) = request.next().await {
        assert_eq!(&one[..], item(call, came), "call {call}");
        came += 1;
        if request.send(&one).await.is_err() {
            return;
        }
    }
    assert!(
        request.is_cancelled() || came == items,
        "call {call}: {came} of {items} items"
    );
}

/// Sends items until the caller has gone.
async fn send_items(request: &Request, call: u64, items: u64) {
    for number in 0..items {
        if request.send(&item(call, number)).await.is_err() {
            return;
        }
    }
}
