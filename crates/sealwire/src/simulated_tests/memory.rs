//! The memory that sockets hold for peers that read slowly, or send more than is read, amid all
//! other faults.

use super::everything::try_recv;
use super::*;
use crate::account::Kind;
use crate::limits::{MAX_SUBSCRIPTION_CHANGES, MAX_TOPIC_BYTES_PER_PEER};

const CLIENTS: u64 = 3;
const MESSAGES: usize = 64;
const BUDGET: usize = 32 << 10;
const MAX_MESSAGE: usize = 32 << 10;
/// What a queued message costs beside its payload.
const COST: usize = 16;

/// Types at both ends, each of which sends where it can.
const TYPES: [(SocketType, SocketType); 4] = [
    (SocketType::Push, SocketType::Pull),
    (SocketType::Dealer, SocketType::Dealer),
    (SocketType::Sub, SocketType::Pub),
    (SocketType::XSub, SocketType::XPub),
];

/// A queue takes a message while it holds less than its budget.
const MAX_QUEUE: usize = BUDGET + MAX_MESSAGE + COST * MESSAGES;

/// Checks that the memory held for each peer stays within its bound. Returns how many kinds were near to it.
fn check_accounts(socket: &Socket) -> usize {
    let mut full = 0;
    for peer in socket.accounts() {
        for kind in Kind::ALL {
            let bound = match kind {
                Kind::Received | Kind::Queued => MAX_QUEUE,
                Kind::Arriving => MAX_MESSAGE,
                Kind::Subscriptions => MAX_TOPIC_BYTES_PER_PEER,
                Kind::SubscriptionChanges => MAX_SUBSCRIPTION_CHANGES,
                _ => continue,
            };
            let held = peer.account().held(kind);
            assert!(held <= bound, "{kind:?}: {held} of {bound} bytes");
            full += usize::from(held >= BUDGET);
        }
    }
    full
}

/// All send as much as they can, and nearly nothing is received. How often a budget was used up.
fn flood(plan: Plan) -> usize {
    let mut scene = scene(plan.seed, plan.trouble);
    let securities = Securities::new(plan.seed);
    let (theirs, ours) = TYPES[plan.seed as usize % TYPES.len()];
    let build = |context: &Context, socket_type, security| {
        Socket::builder(socket_type)
            .context(context)
            .security(security)
            .send_high_water_mark(MESSAGES)
            .receive_high_water_mark(MESSAGES)
            .send_byte_budget(BUDGET)
            .receive_byte_budget(BUDGET)
            .max_message_size(MAX_MESSAGE)
            .heartbeat(Duration::from_secs(1))
            .heartbeat_timeout(Duration::from_secs(30))
            .heartbeat_ttl(HOUR)
            .linger(Duration::from_secs(1))
            .build()
            .unwrap()
    };
    let context = scene.context(1);
    let server = build(&context, ours, securities.server());
    let endpoint = server.bind(format!("tcp://{}:0", address(1))).unwrap();
    server.bind("inproc://near").unwrap();
    let mut sockets = vec![server];
    for client in 0..CLIENTS {
        let is_near = client == 0;
        let there = match is_near {
            true => context.clone(),
            false => scene.context(10 + client as u8),
        };
        let socket = build(&there, theirs, securities.client());
        match is_near {
            true => socket.connect("inproc://near").unwrap(),
            false => socket.connect(endpoint.clone()).unwrap(),
        }
        sockets.push(socket);
    }
    let mut full = 0;
    for _ in 0..200 * plan.messages {
        let chosen = scene.below(sockets.len() as u64) as usize;
        let socket = &sockets[chosen];
        let subscribes = matches!(socket.socket_type(), SocketType::Sub | SocketType::XSub);
        match scene.below(64) {
            0 if !matches!(socket.socket_type(), SocketType::Push | SocketType::Pub) => {
                drop(try_recv(socket));
            }
            1..3 if subscribes => {
                // Also those that match nothing are kept.
                let topic = vec![scene.below(4) as u8; scene.below(1_000) as usize];
                socket.subscribe(topic).unwrap();
            }
            3..20 if !subscribes && socket.socket_type() != SocketType::Pull => {
                // A subscription consists of a few equal bytes, if of any.
                let length = scene.below(MAX_MESSAGE as u64) as usize;
                match socket.try_send(vec![scene.below(4) as u8; length]) {
                    Err(error) if !matches!(error.error(), Error::WouldBlock) => panic!("{error}"),
                    _ => {}
                }
            }
            _ => scene.step(),
        }
        full += sockets.iter().map(check_accounts).sum::<usize>();
    }
    drop((sockets, context));
    scene.end();
    full
}

#[test]
fn accounts_stay_within_their_bounds_whoever_reads_slowly() {
    let full = std::cell::Cell::new(0);
    check(&[], seeds(100), |plan| full.set(full.get() + flood(plan)));
    assert!(full.get() > 0, "nothing was tried");
}
