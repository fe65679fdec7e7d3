//! Clients that shut down while their callers go on, and are followed by others.

use std::future::Future as _;
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sealwire::simulation::{Plan, Trouble, check, seeds};

use super::callers::Caller;
use super::ledger::{Ledger, check_time};
use super::server::{Exchanged, Manner};
use super::world::Tasks;
use super::{
    CALLERS, CLIENTS, DELIVERY, QUIET, RETRIES, calm, check_empty, client, without_trouble, world,
};
use crate::lock::lock;
use crate::{Client, Conn, Error};

/// Tasks beyond which no client comes.
const CROWD: usize = 12;

/// Clients that were shut down, each with the connections that it had when that began.
type Gone = Arc<Mutex<Vec<(Client, Vec<Conn>)>>>;

/// The end of a client.
struct Leaving {
    client: Client,
    /// The numbers of its callers.
    callers: Range<u64>,
    tasks: Tasks,
    ledger: Ledger,
    /// Whether the time may jump, so that a shutdown takes longer than it may.
    time_jumps: bool,
}

impl Leaving {
    /// Lets the callers make calls for as long as the seed says, then shuts the client down within a limit by the
    /// seed.
    async fn run(self, gone: Gone) {
        let most = [1, 100, 5_000][self.tasks.below(3) as usize];
        self.tasks.sleep(self.tasks.below(most)).await;
        let most = [1, 500, 40_000][self.tasks.below(3) as usize];
        let limit = Duration::from_millis(self.tasks.below(most));
        let begun = self.tasks.now();
        self.client.refuse_calls();
        self.check_refused();
        let connections = self.client.connections();
        let finished = self.client.hub().end_by_deadline(begun + limit).await;
        if !self.time_jumps {
            check_time("a client's shutdown", self.tasks.now() - begun, limit);
        }
        self.check_refused();
        assert!(self.client.connections().is_empty(), "a connection goes on");
        self.ledger.client_shut_down(self.callers, finished);
        lock(&gone).push((self.client, connections));
    }

    /// Asserts that the client takes no calls and no messages.
    fn check_refused(&self) {
        let asked =
            pin!(self.client.request(b"late")).poll(&mut Context::from_waker(Waker::noop()));
        assert!(
            matches!(asked, Poll::Ready(Err(Error::ShuttingDown))),
            "a call behind the shutdown: {asked:?}"
        );
        let sent = self.client.send_no_wait(b"late");
        assert!(
            matches!(sent, Err(Error::ShuttingDown)),
            "a message behind the shutdown: {sent:?}"
        );
    }
}

/// Each shutdown ends in time, each call ends once, and nothing is left of the clients.
fn clients_shut_down(plan: Plan) {
    let mut world = world(plan);
    let ledger = Ledger::default();
    let manner = Manner {
        waits_for_clients: true,
        ..Manner::default()
    };
    let mut server = Exchanged::new(&mut world, &ledger, plan, manner);
    server.go_on(&mut world);
    let contexts: Vec<_> = (10..10 + CLIENTS)
        .map(|host| world.scene.context(host))
        .collect();
    let gone = Gone::default();
    let (mut clients, mut callers) = (plan.messages.div_ceil(4), 0);
    while clients > 0 || world.waiting() > 0 {
        if clients > 0 && world.waiting() < CROWD && world.scene.below(30) == 0 {
            clients -= 1;
            let context = &contexts[(clients % u64::from(CLIENTS)) as usize];
            let connections = 1 + world.scene.below(3);
            let client = client(&mut world, &server, context, connections);
            let leaving = Leaving {
                client: client.clone(),
                callers: callers..callers + CALLERS,
                tasks: world.tasks.clone(),
                ledger: ledger.clone(),
                time_jumps: plan.trouble.jumps > 0,
            };
            for number in leaving.callers.clone() {
                let caller = Caller::new(&world, &ledger, &client, number, plan);
                world.tasks.spawn(caller.run(1 + plan.messages % 7));
            }
            world.tasks.spawn(leaving.run(gone.clone()));
            callers += CALLERS;
        }
        server.go_on(&mut world);
        world.step();
    }
    calm(&mut world, &mut server);
    assert!(server.connections().is_empty(), "a place is kept");
    ledger.check(1 + u64::from(RETRIES));
    let has_trouble = plan.trouble != Trouble::NONE;
    if !has_trouble {
        ledger.check_none_is_cut_off();
        if ledger.all_finished() {
            ledger.check_all_came();
        }
    }
    for (client, connections) in lock(&gone).drain(..) {
        check_empty(client.hub(), &connections, has_trouble);
    }
    check_empty(server.server().hub(), &[], has_trouble);
    world.check_timers();
    world.settle(QUIET);
    drop((contexts, server));
    world.end(DELIVERY);
}

#[test]
fn each_call_ends_once_where_clients_shut_down() {
    check(&[], seeds(100), clients_shut_down);
}

/// Where nothing else goes wrong, no call is cut off that the limit is enough for, and no message is lost.
#[test]
fn a_shutdown_of_a_client_cuts_off_no_call_that_has_the_time() {
    check(&[], seeds(100), |plan| {
        clients_shut_down(without_trouble(plan, Manner::default()));
    });
}
