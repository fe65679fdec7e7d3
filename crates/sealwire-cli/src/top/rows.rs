//! The lines of each view, as texts: what two snapshots say together. No size, no terminal.

use std::cmp::Ordering;

use super::amounts::{count, time};
use super::state::{Order, Tab};
use crate::snapshot::{Endpoint, Failures, Peer, Queue, Snapshot, Socket, Traffic};
use crate::untrusted::printable;

/// A view's table.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The first is as wide as there is room. Those at the end go first where it is narrow.
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

/// A column: its title, and the characters that it takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) width: u16,
}

const fn column(title: &'static str, width: u16) -> Column {
    Column { title, width }
}

/// What grew, a second.
#[derive(Clone, Copy)]
struct Rate {
    seconds: f64,
}

impl Rate {
    /// `None` where the first is of another process, or there is none.
    fn between(before: Option<&Snapshot>, now: &Snapshot) -> Option<Self> {
        let before = before.filter(|before| before.process == now.process)?;
        let seconds = now.age - before.age;
        (seconds > 0.0).then_some(Rate { seconds })
    }

    fn of(self, before: u64, now: u64) -> f64 {
        now.saturating_sub(before) as f64 / self.seconds
    }
}

/// The rates of a thing that was there before.
#[derive(Clone, Copy)]
struct Rates(Option<(Rate, Traffic)>);

impl Rates {
    fn of(rate: Option<Rate>, before: Option<Traffic>) -> Self {
        Rates(rate.zip(before))
    }

    /// Messages in, messages out, bytes in, bytes out.
    fn all(self, now: Traffic) -> Option<[f64; 4]> {
        let (rate, before) = self.0?;
        Some([
            rate.of(before.messages_received, now.messages_received),
            rate.of(before.messages_sent, now.messages_sent),
            rate.of(before.bytes_received, now.bytes_received),
            rate.of(before.bytes_sent, now.bytes_sent),
        ])
    }

    fn texts(self, now: Traffic) -> [String; 4] {
        match self.all(now) {
            Some(rates) => rates.map(count),
            None => std::array::from_fn(|_| "-".to_owned()),
        }
    }

    /// By which lines are ordered.
    fn messages(self, now: Traffic) -> f64 {
        self.all(now)
            .map_or(0.0, |[received, sent, ..]| received + sent)
    }
}

fn number(amount: u64) -> String {
    count(amount as f64)
}

fn waiting(inbound: Queue, outbound: Queue) -> [String; 2] {
    [inbound, outbound].map(|queue| number(queue.messages))
}

/// What a line is ordered by.
struct Rank {
    name: String,
    rate: f64,
    queued: u64,
    lost: u64,
}

/// Brings lines into their order; equal ones stay as they are.
fn ordered<T>(mut lines: Vec<(Rank, T)>, order: Order) -> impl Iterator<Item = T> {
    lines.sort_by(|(a, _), (b, _)| match order {
        Order::Given => Ordering::Equal,
        Order::Name => a.name.cmp(&b.name),
        Order::Rate => b.rate.total_cmp(&a.rate),
        Order::Queued => b.queued.cmp(&a.queued),
        Order::Lost => b.lost.cmp(&a.lost),
    });
    lines.into_iter().map(|(_, line)| line)
}

/// The table of a view.
pub(super) fn table(tab: Tab, before: Option<&Snapshot>, now: &Snapshot, order: Order) -> Table {
    match tab {
        Tab::Sockets => sockets(before, now, order),
        Tab::Peers => peers(before, now, order),
        Tab::Failures => failures(before, now, order),
        Tab::Numbers => numbers(before, now),
    }
}

fn same_socket<'a>(before: Option<&'a Snapshot>, now: &Socket) -> Option<&'a Socket> {
    before?.sockets.iter().find(|it| it.socket == now.socket)
}

fn total(failures: &[Failures]) -> u64 {
    failures.iter().map(|it| it.count).sum()
}

/// How a socket is called: its number and its type.
fn name_of(socket: &Socket) -> String {
    format!("{} {}", socket.socket, printable(&socket.socket_type))
}

fn sockets(before: Option<&Snapshot>, now: &Snapshot, order: Order) -> Table {
    let rate = Rate::between(before, now);
    let lines = now.sockets.iter().map(|socket| {
        let old = same_socket(before, socket);
        let rates = Rates::of(rate, old.map(|old| old.traffic));
        let [received, sent, bytes_received, bytes_sent] = rates.texts(socket.traffic);
        let [inbound, outbound] = waiting(socket.inbound, socket.outbound);
        let dropped = socket.dropped.values().sum();
        let row = vec![
            name_of(socket),
            number(socket.connected),
            received,
            sent,
            inbound,
            outbound,
            number(dropped),
            number(total(&socket.failures)),
            bytes_received,
            bytes_sent,
        ];
        let mut rows = vec![row];
        rows.extend(socket.endpoints.iter().map(|it| endpoint(rate, old, it)));
        let rank = Rank {
            name: socket.socket_type.clone(),
            rate: rates.messages(socket.traffic),
            queued: socket.inbound.messages + socket.outbound.messages,
            lost: dropped,
        };
        (rank, rows)
    });
    Table {
        columns: vec![
            column("SOCKET, ENDPOINTS", 0),
            column("PEERS", 5),
            column("IN/s", 5),
            column("OUT/s", 5),
            column("WAIT IN", 7),
            column("OUT", 5),
            column("DROPS", 5),
            column("FAILED", 6),
            column("B IN/s", 6),
            column("B OUT/s", 7),
        ],
        rows: ordered(lines.collect(), order).flatten().collect(),
    }
}

fn endpoint(rate: Option<Rate>, socket: Option<&Socket>, now: &Endpoint) -> Vec<String> {
    let same = |it: &&Endpoint| it.endpoint == now.endpoint && it.role == now.role;
    let old = socket.and_then(|socket| socket.endpoints.iter().find(same));
    let rates = Rates::of(rate, old.map(|old| old.traffic));
    let [received, sent, bytes_received, bytes_sent] = rates.texts(now.traffic);
    vec![
        format!("  {} {}", printable(&now.role), printable(&now.endpoint)),
        number(now.peers),
        received,
        sent,
        String::new(),
        String::new(),
        String::new(),
        number(total(&now.failures)),
        bytes_received,
        bytes_sent,
    ]
}

/// Characters of a key that are shown.
const KEY: usize = 12;

/// The name that this side gave to it, or the beginning of its key.
fn called(peer: &Peer) -> String {
    match (&peer.user_id, &peer.public_key) {
        (Some(name), _) => printable(name).to_string(),
        (None, Some(key)) => {
            let beginning: String = key.chars().take(KEY).collect();
            format!("{}..", printable(&beginning))
        }
        (None, None) => String::new(),
    }
}

fn peers(before: Option<&Snapshot>, now: &Snapshot, order: Order) -> Table {
    let rate = Rate::between(before, now);
    let lines = now.sockets.iter().flat_map(|socket| {
        let old = same_socket(before, socket);
        socket.peers.iter().map(move |peer| {
            let same = |it: &&Peer| it.connection == peer.connection;
            let old = old.and_then(|old| old.peers.iter().find(same));
            let rates = Rates::of(rate, old.map(|old| old.traffic));
            let [received, sent, bytes_received, bytes_sent] = rates.texts(peer.traffic);
            let [inbound, outbound] = waiting(peer.inbound, peer.outbound);
            let name = called(peer);
            let address = printable(&peer.address);
            let shown = match name.is_empty() {
                true => address.to_string(),
                false => format!("{name} {address}"),
            };
            let rank = Rank {
                name: shown.clone(),
                rate: rates.messages(peer.traffic),
                queued: peer.inbound.messages + peer.outbound.messages,
                lost: peer.dropped,
            };
            let row = vec![
                shown,
                received,
                sent,
                inbound,
                outbound,
                number(peer.dropped),
                peer.round_trip.map_or("-".to_owned(), time),
                time(peer.age),
                bytes_received,
                bytes_sent,
                name_of(socket),
            ];
            (rank, row)
        })
    });
    Table {
        columns: vec![
            column("PEER", 0),
            column("IN/s", 5),
            column("OUT/s", 5),
            column("WAIT IN", 7),
            column("OUT", 5),
            column("DROPS", 5),
            column("RTT", 5),
            column("FOR", 4),
            column("B IN/s", 6),
            column("B OUT/s", 7),
            column("SOCKET", 10),
        ],
        rows: ordered(lines.collect(), order).collect(),
    }
}

fn failures(before: Option<&Snapshot>, now: &Snapshot, order: Order) -> Table {
    let rate = Rate::between(before, now);
    let lines = now.sockets.iter().flat_map(|socket| {
        let old = same_socket(before, socket);
        socket.failures.iter().map(move |failure| {
            let same = |it: &&Failures| it.stage == failure.stage && it.cause == failure.cause;
            // One that did not occur before is not in the list.
            let of_old = |old: &Socket| old.failures.iter().find(same).map_or(0, |it| it.count);
            let rates = rate.zip(old.map(of_old));
            let rate = rates.map(|(rate, old)| rate.of(old, failure.count));
            let name = format!(
                "{} of {}, {}",
                printable(&failure.cause),
                name_of(socket),
                printable(&failure.stage),
            );
            let rank = Rank {
                name: name.clone(),
                rate: rate.unwrap_or_default(),
                queued: 0,
                lost: failure.count,
            };
            let rate = rate.map_or("-".to_owned(), count);
            (rank, vec![name, number(failure.count), rate])
        })
    });
    let mut rows: Vec<_> = ordered(lines.collect(), order).collect();
    let mut recent: Vec<_> = now
        .sockets
        .iter()
        .flat_map(|it| &it.recent_failures)
        .collect();
    recent.sort_by(|a, b| a.ago.total_cmp(&b.ago));
    if !recent.is_empty() {
        rows.push(vec![String::new()]);
        rows.push(vec!["The last ones:".to_owned()]);
    }
    rows.extend(recent.into_iter().map(|it| {
        let message = printable(&it.message);
        vec![format!("{:>5} ago  {message}", time(it.ago))]
    }));
    Table {
        columns: vec![column("CAUSE", 0), column("COUNT", 6), column("/s", 6)],
        rows,
    }
}

fn numbers(before: Option<&Snapshot>, now: &Snapshot) -> Table {
    let rate = Rate::between(before, now);
    let rows = now.numbers.iter().map(|(name, value)| {
        let old = before.and_then(|before| before.numbers.get(name));
        let grown = rate
            .zip(old)
            .map(|(rate, old)| (value - old) / rate.seconds);
        let grown = grown.filter(|_| name.contains("_total"));
        vec![
            printable(name).to_string(),
            count(*value),
            grown.map_or(String::new(), |it| count(it.max(0.0))),
        ]
    });
    Table {
        columns: vec![column("NUMBER", 0), column("VALUE", 6), column("/s", 6)],
        rows: rows.collect(),
    }
}
