//! Sockets that close while their peers are slow.

use super::*;

const HEARTBEAT: Duration = Duration::from_secs(1);
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(5);
const MESSAGES: u64 = 3;

/// All is written, and the receiver's queue is full: it reads neither the rest nor that its peer is done.
/// Its heartbeats tell that it is there. Found by the model `session` of `formal/states`.
#[test]
fn closing_gives_a_slow_peer_that_is_heard_of_the_whole_linger_time() {
    for seed in 0..3 {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let build = |context: &Context, socket_type, security| {
            let builder = Socket::builder(socket_type).context(context);
            let builder = builder.security(security).receive_high_water_mark(1);
            let builder = builder
                .heartbeat(HEARTBEAT)
                .heartbeat_timeout(HEARTBEAT_TIMEOUT)
                .heartbeat_ttl(HOUR);
            builder.linger(HOUR).build().unwrap()
        };
        let push = build(&contexts[0], SocketType::Push, securities.client());
        let pull = build(&contexts[1], SocketType::Pull, securities.server());
        let endpoint = pull.bind(format!("tcp://{}:0", address(2))).unwrap();
        push.connect(endpoint).unwrap();
        for number in 0..MESSAGES {
            let sent = push.try_send(number.to_le_bytes().to_vec());
            at_once(sent.map_err(Error::from)).expect("room");
        }
        let mut push = Ending::Open(push);
        pass_until(&mut scene, HEARTBEAT_TIMEOUT, |_| {});
        pass_until(&mut scene, 10 * HEARTBEAT_TIMEOUT, |scene| {
            push.close();
            assert_eq!(
                push.unsent(),
                None,
                "seed {seed}: at {:?}",
                scene.network.now()
            );
        });

        let mut received = Vec::new();
        while push.unsent().is_none() {
            push.close();
            let message = at_once(pull.try_recv());
            received.extend(message.map(|message| numbers::<1>(message.as_bytes())[0]));
            scene.pass(PAUSE);
        }
        assert!(received.into_iter().eq(0..MESSAGES), "seed {seed}");
        assert_eq!(push.unsent(), Some(0), "seed {seed}");
        drop((pull, contexts));
        scene.end();
    }
}

/// A worker that takes its time is not taken for a dead one, also where it has no heartbeats and its queue was
/// full before the first PING came.
#[test]
fn a_worker_whose_queue_is_full_keeps_its_connection() {
    for seed in 0..6 {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let build = |context: &Context, socket_type, security| {
            let builder = Socket::builder(socket_type).context(context);
            builder.security(security).linger(HOUR)
        };
        let push = build(&contexts[0], SocketType::Push, securities.server());
        let push = push
            .heartbeat(HEARTBEAT)
            .heartbeat_timeout(HEARTBEAT_TIMEOUT)
            .heartbeat_ttl(Duration::ZERO);
        let push = push.build().unwrap();
        let pull = build(&contexts[1], SocketType::Pull, securities.client());
        let pull = pull.receive_high_water_mark(1).build().unwrap();
        let endpoint = push.bind(format!("tcp://{}:0", address(1))).unwrap();
        pull.connect(endpoint).unwrap();
        let mut sent = 0;
        pass_until(&mut scene, HEARTBEAT, |_| {});
        pass_until(&mut scene, 60 * HEARTBEAT_TIMEOUT, |_| {
            while at_once(push.try_send(message_of(sent)).map_err(Error::from)).is_some() {
                sent += 1;
            }
        });
        assert!(sent > 1, "seed {seed}");
        let mut received = 0;
        while received < sent {
            while let Some(message) = at_once(pull.try_recv()) {
                assert!(message.as_bytes() == message_of(received), "seed {seed}");
                received += 1;
            }
            scene.pass(PAUSE);
        }
        assert_eq!(push.counters().disconnects, 0, "seed {seed}");
        drop((push, pull, contexts));
        scene.end();
    }
}

/// Large enough to fill what lies between the queues.
fn message_of(number: u64) -> Vec<u8> {
    let mut message = vec![number as u8; 20_000];
    message[..8].copy_from_slice(&number.to_le_bytes());
    message
}

/// Lets so much time pass, with something to do in each step.
fn pass_until(scene: &mut Scene, time: Duration, mut in_between: impl FnMut(&Scene)) {
    let until = scene.network.now() + time;
    while scene.network.now() < until {
        in_between(scene);
        scene.pass(HEARTBEAT);
    }
}
