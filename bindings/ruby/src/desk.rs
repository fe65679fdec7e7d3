//! Where questions about clients and guests wait for Ruby.
//!
//! Authenticators and `admit` are asked on threads that Ruby knows nothing of, and code of Ruby runs on Ruby's
//! threads only. So a question is put on a desk, and a thread of Ruby takes it from there; the thread
//! that asked waits for the answer. A desk that nobody serves any more refuses.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Class as _, Error, Module as _, Object as _, RArray, RModule, RString, Ruby, Symbol, Value,
    function, method,
};
use sealwire::auth::{self, Client as KeyClient, Decision, PlainClient, Status};
use sealwire::{PeerAddress, PublicKey as Public};

use crate::keys::{PublicKey, frozen};
use crate::peer::numbers;
use crate::process::Process;
use crate::{classes, errors, waiting};

/// What the thread that serves a desk gets to do.
enum Task {
    Decide(Box<Question>),
    /// Nobody will ask this callback any more.
    Forget(u64),
}

struct Question {
    callback: u64,
    asking: Asking,
    answer: Sender<Decision>,
}

/// Whom a question is about.
enum Asking {
    Client(Client),
    Guest(Guest),
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    closed: bool,
    server: Option<Waker>,
}

#[derive(Default)]
pub(crate) struct Shared(Mutex<State>);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `false`, and drops the task, when nobody serves the desk any more.
    fn put(&self, task: Task) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        state.tasks.push_back(task);
        if let Some(server) = state.server.take() {
            server.wake();
        }
        true
    }

    fn ask(&self, callback: u64, asking: Asking) -> Decision {
        let (answer, decision) = channel();
        let question = Question {
            callback,
            asking,
            answer,
        };
        let asked = self.put(Task::Decide(Box::new(question)));
        let decision = asked.then(|| decision.recv().ok()).flatten();
        decision.unwrap_or_else(cannot_decide)
    }

    /// The next task; `None` when the desk is closed.
    async fn next(&self) -> Option<Task> {
        poll_fn(|context| {
            let mut state = self.state();
            if state.closed {
                return Poll::Ready(None);
            }
            match state.tasks.pop_front() {
                Some(task) => Poll::Ready(Some(task)),
                None => {
                    state.server = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// The client hears this whatever the reason is: it is for the server's own ears.
fn cannot_decide() -> Decision {
    Decision::refuse_as(Status::Temporary, "the server could not decide")
}

/// A callback of Ruby, from the side that asks.
pub(crate) struct Callback {
    desk: Arc<Shared>,
    number: u64,
    process: Process,
}

impl Callback {
    pub(crate) fn new(desk: &Desk, number: u64) -> Self {
        Callback {
            desk: desk.0.clone(),
            number,
            process: Process::current(),
        }
    }

    pub(crate) fn decide(&self, client: &KeyClient<'_>) -> Decision {
        let text = |name| client.metadata(name).map(<[u8]>::to_vec);
        let client = Client {
            public_key: Some(client.public_key()),
            address: client.address().clone(),
            socket_type: text("Socket-Type"),
            routing_id: text("Identity"),
            login: None,
            process: client.process(),
        };
        self.desk.ask(self.number, Asking::Client(client))
    }

    pub(crate) fn decide_plain(&self, client: &PlainClient<'_>) -> Decision {
        let credentials = client.credentials();
        let login = (
            credentials.username().to_vec(),
            zeroize::Zeroizing::new(credentials.password().to_vec()),
        );
        let client = Client {
            public_key: None,
            address: client.address().clone(),
            socket_type: None,
            routing_id: None,
            login: Some(login),
            process: client.process(),
        };
        self.desk.ask(self.number, Asking::Client(client))
    }

    pub(crate) fn decide_guest(&self, guest: &auth::Guest<'_>) -> Decision {
        let guest = Guest {
            address: guest.address().clone(),
            process: guest.process(),
            groups: guest.groups().to_vec(),
        };
        self.desk.ask(self.number, Asking::Guest(guest))
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        // In a child of the process there is nobody to tell, and the lock may never be free.
        if self.process.is_current() {
            self.desk.put(Task::Forget(self.number));
        }
    }
}

/// A client that asks to be let in.
#[magnus::wrap(class = "Sealwire::Client", free_immediately, size, frozen_shareable)]
pub(crate) struct Client {
    public_key: Option<Public>,
    address: PeerAddress,
    socket_type: Option<Vec<u8>>,
    routing_id: Option<Vec<u8>>,
    login: Option<(Vec<u8>, zeroize::Zeroizing<Vec<u8>>)>,
    process: Option<sealwire::ProcessCredentials>,
}

/// A peer that has proved nothing yet, or that proves nothing at all.
#[magnus::wrap(class = "Sealwire::Guest", free_immediately, size, frozen_shareable)]
pub(crate) struct Guest {
    address: PeerAddress,
    process: Option<sealwire::ProcessCredentials>,
    groups: Vec<u32>,
}

#[magnus::wrap(class = "Sealwire::Desk", free_immediately, size, frozen_shareable)]
pub(crate) struct Desk(Arc<Shared>);

#[magnus::wrap(class = "Sealwire::Desk::Pending", free_immediately, size)]
struct Pending {
    callback: u64,
    /// Taken when it is handed to the callback or answered.
    asking: Mutex<Option<Asking>>,
    answer: Mutex<Option<Sender<Decision>>>,
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let desk = classes::define::<Desk>(ruby, sealwire, "Desk")?;
    desk.define_singleton_method("new", function!(Desk::new, 0))?;
    desk.define_method("next", method!(Desk::next, 0))?;
    desk.define_method("close", method!(Desk::close, 0))?;

    let pending = classes::define::<Pending>(ruby, desk, "Pending")?;
    pending.undef_default_alloc_func();
    pending.define_method("callback", method!(Pending::callback, 0))?;
    pending.define_method("asking", method!(Pending::asking, 0))?;
    pending.define_method("allow", method!(Pending::allow, 1))?;
    pending.define_method("refuse", method!(Pending::refuse, 2))?;
    pending.define_method("fail", method!(Pending::fail, 0))?;

    let client = classes::define::<Client>(ruby, sealwire, "Client")?;
    client.undef_default_alloc_func();
    client.define_method("public_key", method!(Client::public_key, 0))?;
    client.define_method("address", method!(Client::address, 0))?;
    client.define_method("socket_type", method!(Client::socket_type, 0))?;
    client.define_method("routing_id", method!(Client::routing_id, 0))?;
    client.define_method("username", method!(Client::username, 0))?;
    client.define_method("password", method!(Client::password, 0))?;
    client.define_method("process", method!(Client::process, 0))?;
    client.define_method("inspect", method!(Client::inspect, 0))?;

    let guest = classes::define::<Guest>(ruby, sealwire, "Guest")?;
    guest.undef_default_alloc_func();
    guest.define_method("address", method!(Guest::address, 0))?;
    guest.define_method("process", method!(Guest::process, 0))?;
    guest.define_method("groups", method!(Guest::groups, 0))?;
    guest.define_method("inspect", method!(Guest::inspect, 0))
}

impl Desk {
    fn new(ruby: &Ruby) -> Obj<Self> {
        frozen(ruby, Desk(Arc::default()))
    }

    /// A question to answer, the number of a callback to forget, or `nil` once the desk is closed.
    fn next(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        Ok(match waiting::forever(ruby, this.0.next())? {
            None => ruby.qnil().as_value(),
            Some(Task::Forget(callback)) => ruby.integer_from_u64(callback).as_value(),
            Some(Task::Decide(question)) => {
                let pending = Pending {
                    callback: question.callback,
                    asking: Mutex::new(Some(question.asking)),
                    answer: Mutex::new(Some(question.answer)),
                };
                ruby.obj_wrap(pending).as_value()
            }
        })
    }

    /// Refuses what waits and what is yet to come.
    fn close(&self) {
        let mut state = self.0.state();
        state.closed = true;
        state.tasks.clear();
        if let Some(server) = state.server.take() {
            server.wake();
        }
    }
}

impl Pending {
    fn callback(&self) -> u64 {
        self.callback
    }

    /// A `Client` or `Guest`, once.
    fn asking(ruby: &Ruby, this: &Self) -> Option<Value> {
        let mut asking = this.asking.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match asking.take()? {
            Asking::Client(client) => frozen(ruby, client).as_value(),
            Asking::Guest(guest) => frozen(ruby, guest).as_value(),
        })
    }

    fn allow(&self, user_id: Option<String>) {
        self.answer(Decision::Allow { user_id });
    }

    fn refuse(ruby: &Ruby, this: &Self, reason: String, status: Symbol) -> Result<(), Error> {
        let status = match &*status.name()? {
            "refused" => Status::Refused,
            "temporary" => Status::Temporary,
            "failed" => Status::Failed,
            _ => {
                let problem = "the status of a refusal is :refused, :temporary or :failed";
                return Err(errors::argument(ruby, problem));
            }
        };
        this.answer(Decision::refuse_as(status, reason));
        Ok(())
    }

    fn fail(&self) {
        self.answer(cannot_decide());
    }

    fn answer(&self, decision: Decision) {
        let answer = self
            .answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(answer) = answer {
            // The thread that asked waits for nothing else.
            let _ = answer.send(decision);
        }
    }
}

impl Guest {
    fn address(&self) -> String {
        self.address.to_string()
    }

    /// Numbers of the process, its user and its group.
    fn process(ruby: &Ruby, this: &Self) -> Option<RArray> {
        Some(numbers(ruby, this.process?))
    }

    /// Supplementary groups of the process.
    fn groups(ruby: &Ruby, this: &Self) -> RArray {
        ruby.ary_from_iter(this.groups.iter().copied())
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::Guest {}>", self.address)
    }
}

impl Client {
    fn public_key(ruby: &Ruby, this: &Self) -> Option<Obj<PublicKey>> {
        Some(frozen(ruby, PublicKey(this.public_key?)))
    }

    fn address(&self) -> String {
        self.address.to_string()
    }

    fn socket_type(ruby: &Ruby, this: &Self) -> Option<RString> {
        Some(ruby.str_from_slice(this.socket_type.as_ref()?))
    }

    fn routing_id(ruby: &Ruby, this: &Self) -> Option<RString> {
        Some(ruby.str_from_slice(this.routing_id.as_ref()?))
    }

    fn username(ruby: &Ruby, this: &Self) -> Option<RString> {
        Some(ruby.str_from_slice(&this.login.as_ref()?.0))
    }

    fn password(ruby: &Ruby, this: &Self) -> Option<RString> {
        Some(ruby.str_from_slice(&this.login.as_ref()?.1))
    }

    /// Numbers of the process, its user and its group.
    fn process(ruby: &Ruby, this: &Self) -> Option<RArray> {
        Some(numbers(ruby, this.process?))
    }

    fn inspect(&self) -> String {
        match self.public_key {
            Some(key) => format!("#<Sealwire::Client {} ({key})>", self.address),
            None => format!("#<Sealwire::Client {}>", self.address),
        }
    }
}
