//! What clients do: each caller one thing after another, as the seed says.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use sealwire::simulation::Plan;

use super::ledger::{Ledger, check_time};
use super::service::{Kind, answer, call_number, item, question};
use super::world::{Tasks, World};
use crate::{Body, CallOptions, Client, Conn, Error};

/// Without a limit of its own.
const LIMIT: Duration = Duration::from_secs(30);
/// Items of a stream that were sent and have not come back, at most.
const UNDER_WAY: u64 = 2;

pub(super) struct Caller {
    client: Client,
    tasks: Tasks,
    ledger: Ledger,
    /// Its number, and with it those of its calls.
    number: u64,
    calls: u64,
    messages: u64,
    /// Whether the time may jump, so that calls take longer than they may.
    time_jumps: bool,
}

impl Caller {
    pub(super) fn new(
        world: &World,
        ledger: &Ledger,
        client: &Client,
        number: u64,
        plan: Plan,
    ) -> Self {
        Caller {
            client: client.clone(),
            tasks: world.tasks.clone(),
            ledger: ledger.clone(),
            number,
            calls: 0,
            messages: 0,
            time_jumps: plan.trouble.jumps > 0,
        }
    }

    /// Does this number of things.
    pub(super) async fn run(mut self, things: u64) {
        for _ in 0..things {
            match self.tasks.below(13) {
                0..3 => self.request(Kind::Now).await,
                3 => self.request(Kind::Late).await,
                4 => self.request(Kind::Never).await,
                5 => self.request(Kind::TurnAway).await,
                6..8 => self.request(Kind::CallBack).await,
                8 => self.stream().await,
                9 => self.read_late().await,
                10 => self.take_back().await,
                _ => self.send().await,
            }
            let pause = [0, 10, 200][self.tasks.below(3) as usize];
            self.tasks.sleep(self.tasks.below(1 + pause)).await;
        }
    }

    /// Makes a call and sends a message, both of which succeed.
    pub(super) async fn get_answer(mut self) {
        let (call, question) = self.question(Kind::Now, 0);
        let outcome = self.client.request(&question).await;
        assert!(
            outcome.is_ok(),
            "call {call} when there is quiet: {outcome:?}"
        );
        self.ledger.ended(call, &outcome, &answer(&question));
        let outcome = self.client.send(&item(self.number, 0)).await;
        assert!(
            outcome.is_ok(),
            "a message when there is quiet: {outcome:?}"
        );
        self.ledger.sent(self.number, 0, &outcome);
    }

    /// The number and the body of the next call.
    fn question(&mut self, kind: Kind, argument: u64) -> (u64, Vec<u8>) {
        let call = call_number(self.number, self.calls);
        self.calls += 1;
        let most = [1, 100, 20_000][self.tasks.below(3) as usize];
        (call, question(call, kind, argument, self.tasks.below(most)))
    }

    /// A limit by the seed, and how long that is.
    fn limit(&self) -> (CallOptions<'_>, Duration) {
        match self.tasks.below(3) {
            0 => (CallOptions::default(), LIMIT),
            _ => {
                let limit = Duration::from_millis(1 + self.tasks.below(3_000));
                (CallOptions::within(limit), limit)
            }
        }
    }

    async fn request(&mut self, kind: Kind) {
        let late = self.tasks.below(4_000);
        let (call, question) = self.question(kind, late);
        let (options, limit) = self.limit();
        let begun = self.tasks.now();
        let outcome = self.client.request_with(&question, options).await;
        self.end(call, &outcome, &question, begun, limit);
    }

    fn end(
        &self,
        call: u64,
        outcome: &Result<Body, Error>,
        question: &[u8],
        begun: Duration,
        limit: Duration,
    ) {
        self.ledger.ended(call, outcome, &answer(question));
        if !self.time_jumps {
            let taken = self.tasks.now() - begun;
            check_time(format_args!("call {call}"), taken, limit);
        }
    }

    /// Begins a call, and drops it unless it ends soon.
    async fn take_back(&mut self) {
        let kind = [Kind::Now, Kind::Late, Kind::Never][self.tasks.below(3) as usize];
        let (call, question) = self.question(kind, 100);
        let soon = self.tasks.below(60);
        let outcome = {
            let mut asked = pin!(self.client.request(&question));
            let mut late = pin!(self.tasks.sleep(soon));
            poll_fn(|context| match asked.as_mut().poll(context) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending => late.as_mut().poll(context).map(|()| None),
            })
            .await
        };
        match outcome {
            Some(outcome) => self.ledger.ended(call, &outcome, &answer(&question)),
            None => self.ledger.taken_back(call),
        }
    }

    async fn send(&mut self) {
        for _ in 0..self.tasks.below(8) {
            let mut body = item(self.number, self.messages);
            body.resize(body.len() + self.tasks.below(2_000) as usize, 0);
            let outcome = self.client.send(&body).await;
            self.ledger.sent(self.number, self.messages, &outcome);
            self.messages += 1;
        }
    }

    async fn stream(&mut self) {
        let items = self.tasks.below(10);
        let (call, question) = self.question(Kind::Stream, items);
        // Connecting has no limit: a connection that was there and has ended counts as made.
        let conn = self.client.conn().await;
        let (options, limit) = self.limit();
        let begun = self.tasks.now();
        let (outcome, came) = match conn {
            Ok(conn) => self.exchange(&conn, call, &question, items, options).await,
            Err(error) => (Err(error), 0),
        };
        if outcome.is_ok() {
            assert_eq!(came, items, "call {call}: items are missing");
        }
        self.end(call, &outcome, &question, begun, limit);
    }

    /// Sends items and receives them again. Gives the answer, and how many came back.
    async fn exchange(
        &self,
        conn: &Conn,
        call: u64,
        question: &[u8],
        items: u64,
        options: CallOptions<'_>,
    ) -> (Result<Body, Error>, u64) {
        let stream = match conn.open(question, options).await {
            Ok(stream) => stream,
            Err(error) => return (Err(error), 0),
        };
        let mut came = 0;
        for number in 0..items {
            if stream.send(&item(call, number)).await.is_err() {
                break;
            }
            if number + 1 - came > UNDER_WAY && !self.next(&stream, call, &mut came).await {
                break;
            }
        }
        stream.finish();
        while self.next(&stream, call, &mut came).await {}
        (stream.answer().await, came)
    }

    /// Receives items, and leaves them lying now and then, up to beyond the limit of the call.
    async fn read_late(&mut self) {
        let items = self.tasks.below(20);
        let (call, question) = self.question(Kind::Items, items);
        let conn = self.client.conn().await;
        let (options, limit) = self.limit();
        let begun = self.tasks.now();
        let (mut came, mut slept) = (0, Duration::ZERO);
        let stream = match conn {
            Ok(conn) => conn.open(&question, options).await,
            Err(error) => Err(error),
        };
        let outcome = match stream {
            Ok(stream) => {
                stream.finish();
                loop {
                    let before = self.tasks.now();
                    let late = [1, 1, 50, 2_000][self.tasks.below(4) as usize];
                    self.tasks.sleep(self.tasks.below(late)).await;
                    slept += self.tasks.now() - before;
                    if !self.next(&stream, call, &mut came).await {
                        break stream.answer().await;
                    }
                }
            }
            Err(error) => Err(error),
        };
        if outcome.is_ok() {
            assert_eq!(came, items, "call {call}: items are missing");
        }
        self.end(call, &outcome, &question, begun + slept, limit);
    }

    async fn next(&self, stream: &crate::CallStream, call: u64, came: &mut u64) -> bool {
        let Some(one) = stream.next().await else {
            return false;
        };
        assert_eq!(&one[..], item(call, *came), "call {call}");
        *came += 1;
        true
    }
}
