//! Peers that fall silent.

use super::*;
use crate::account::Kind;

const HEARTBEAT: Duration = Duration::from_secs(1);
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that nothing comes through any more ends by its heartbeats: as they are due, the entry among
/// the timers is used up.
#[test]
fn a_peer_that_fell_silent_is_charged_with_no_timer_any_more() {
    for seed in 0..3 {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let build = |context: &Context, security| {
            let builder = Socket::builder(SocketType::Pair).context(context);
            let builder = builder.security(security).linger(Duration::ZERO);
            let builder = builder
                .heartbeat(HEARTBEAT)
                .heartbeat_timeout(HEARTBEAT_TIMEOUT)
                .heartbeat_ttl(HOUR);
            builder.build().unwrap()
        };
        let bound = build(&contexts[0], securities.server());
        let connected = build(&contexts[1], securities.client());
        let endpoint = bound.bind(format!("tcp://{}:0", address(1))).unwrap();
        connected.connect(endpoint).unwrap();
        let peer = loop {
            match bound.accounts().pop() {
                Some(peer) => break peer,
                None => scene.pass(PAUSE),
            }
        };
        while peer.account().held(Kind::Timers) == 0 {
            scene.pass(PAUSE);
        }
        scene.network.leave_half_open();
        while bound
            .accounts()
            .iter()
            .any(|other| Arc::ptr_eq(other, &peer))
        {
            scene.pass(PAUSE);
        }
        assert_eq!(peer.account().held(Kind::Timers), 0, "seed {seed}");
        drop((bound, connected, contexts));
        scene.end();
    }
}
