//! A queue that the program takes from: for languages and loops whose code is not called from here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use sealwire::waits::Signal;

use super::{Handler, OneWay, Request, overloaded};
use crate::lock::lock;
use crate::status::{Code, Status};

/// What an [`Inbox`] holds.
#[derive(Debug)]
pub enum Arrival {
    /// A request to answer.
    Request(Request),
    /// A one-way message.
    Message(OneWay),
}

/// Keeps requests and one-way messages until the program takes them with [`next`](Inbox::next): as many
/// requests as it was made for, and those beyond are turned away as not started. The window of each
/// connection bounds one-way messages. Clones are handles to the same queue.
///
/// ```
/// use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
/// use sealwire_rpc::handler::{Arrival, Inbox};
/// use sealwire_rpc::{Client, Server};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let inbox = Inbox::new(100);
/// let keys = KeyPair::generate();
/// let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
///     .build(inbox.clone())?;
/// let client = Client::builder(Security::blake3_client(keys.public()))
///     .build(server.bind("tcp://127.0.0.1:0")?)?;
///
/// let answering = async {
///     if let Some(Arrival::Request(request)) = inbox.next().await {
///         request.reply(b"hello").unwrap();
///     }
/// };
/// let (answer, ()) = tokio::join!(client.request(b"who?"), answering);
/// assert_eq!(&answer?[..], b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Inbox {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    arrived: Signal,
    limit: usize,
}

#[derive(Default)]
struct State {
    arrivals: VecDeque<Arrival>,
    requests: usize,
    over: bool,
}

impl State {
    /// Gives back what is not taken, with the reason.
    fn add_request(
        &mut self,
        request: Request,
        limit: usize,
    ) -> Result<(), Box<(Request, Status)>> {
        let refusal = if self.over {
            Status::new(Code::UNAVAILABLE, "shutting down").not_started()
        } else if self.requests >= limit {
            overloaded()
        } else {
            self.requests += 1;
            self.arrivals.push_back(Arrival::Request(request));
            return Ok(());
        };
        Err(Box::new((request, refusal)))
    }

    /// Gives back what is not taken.
    fn add_message(&mut self, message: OneWay) -> Option<OneWay> {
        if self.over {
            return Some(message);
        }
        self.arrivals.push_back(Arrival::Message(message));
        None
    }

    fn take(&mut self) -> Option<Arrival> {
        let arrival = self.arrivals.pop_front()?;
        self.requests -= usize::from(matches!(arrival, Arrival::Request(_)));
        Some(arrival)
    }
}

impl Inbox {
    /// Makes one for `requests` requests at a time.
    pub fn new(requests: usize) -> Self {
        Inbox {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                arrived: Signal::default(),
                limit: requests,
            }),
        }
    }

    /// Waits for a request or one-way message and takes it; `None` once the inbox is closed and empty. Dropping the
    /// future takes nothing.
    pub async fn next(&self) -> Option<Arrival> {
        loop {
            let arrived = self.shared.arrived.listen();
            {
                let mut state = lock(&self.shared.state);
                let arrival = state.take();
                if arrival.is_some() || state.over {
                    return arrival;
                }
            }
            arrived.await;
        }
    }

    /// Returns the number of requests and messages that wait.
    pub fn waiting(&self) -> usize {
        lock(&self.shared.state).arrivals.len()
    }

    /// Takes nothing new: requests are answered as not started, one-way messages dropped. What waits is still given
    /// out by [`next`](Inbox::next).
    pub fn close(&self) {
        lock(&self.shared.state).over = true;
        self.shared.arrived.notify_all();
    }
}

impl Handler for Inbox {
    fn request(&self, request: Request) {
        let added = lock(&self.shared.state).add_request(request, self.shared.limit);
        // Not under the lock: an answer may run code of others.
        match added {
            Ok(()) => self.shared.arrived.notify_one(),
            Err(refused) => refused.0.fail(refused.1),
        }
    }

    fn message(&self, message: OneWay) {
        let left = lock(&self.shared.state).add_message(message);
        match left {
            None => self.shared.arrived.notify_one(),
            Some(message) => drop(message),
        }
    }
}
