//! Many clients of one server, all at work at a time: PUSH and PULL, DEALER and ROUTER.

use super::*;

const CLIENTS: usize = 5;
const MESSAGES: u64 = 100;

fn clients(
    scene: &mut Scene,
    socket_type: SocketType,
    server: &Socket,
    securities: &Securities,
) -> Vec<(Context, Socket)> {
    let endpoint = server.bind(format!("tcp://{}:0", address(1))).unwrap();
    let client = |index| {
        let context = scene.context(10 + index as u8);
        let socket = builder(&context, socket_type, scene, securities.client());
        let socket = socket.build().unwrap();
        socket.connect(endpoint.clone()).unwrap();
        (context, socket)
    };
    (0..CLIENTS).map(client).collect()
}

/// What arrived of each client.
fn push_to_pull(seed: u64, trouble: Trouble) -> Vec<Vec<u64>> {
    let mut scene = scene(seed, trouble);
    let (context, securities) = (scene.context(1), Securities::new(seed));
    let pull = builder(&context, SocketType::Pull, &scene, securities.server());
    let pull = pull.build().unwrap();
    let mut clients: Vec<_> = clients(&mut scene, SocketType::Push, &pull, &securities)
        .into_iter()
        .map(|(context, socket)| (context, Ending::Open(socket), 0))
        .collect();
    let senders: Vec<_> = clients.iter().map(|(_, push, _)| core_of(push)).collect();
    let receiver = pull.core().unwrap().clone();
    let mut received = vec![Vec::new(); CLIENTS];
    let receive = |received: &mut Vec<Vec<u64>>| {
        while let Some(message) = at_once(pull.try_recv()) {
            let [number, client] = numbers(message.as_bytes());
            received[client as usize].push(number);
        }
    };
    while clients.iter().any(|(_, push, _)| push.unsent().is_none())
        || scene.network.connections() > 0
    {
        if clients.iter().any(|(_, _, sent)| *sent > MESSAGES / 4) {
            scene.calm();
        }
        match scene.below(4) {
            0 => {
                let index = scene.below(CLIENTS as u64) as usize;
                let (_, push, sent) = &mut clients[index];
                match push.open().filter(|_| *sent < MESSAGES) {
                    None => push.close(),
                    Some(push) => {
                        let message = message(&[*sent, index as u64], &scene);
                        let done = push.try_send(message).map_err(Error::from);
                        *sent += u64::from(at_once(done).is_some());
                    }
                }
            }
            1 => receive(&mut received),
            _ => scene.step(),
        }
    }
    receive(&mut received);
    let sent = clients.iter().map(|(_, _, sent)| sent).sum();
    let arrived = received.iter().map(Vec::len).sum();
    let account = senders
        .iter()
        .map(|core| Account::of(core))
        .sum::<Account>();
    account.check(sent, arrived, std::slice::from_ref(&receiver), seed);
    drop((pull, context, clients, senders, receiver));
    scene.end();
    received
}

#[test]
fn a_pull_gets_the_messages_of_each_push_in_order() {
    for seed in seeds(100) {
        let all: Vec<_> = (0..MESSAGES).collect();
        for numbers in push_to_pull(seed, Trouble::NONE) {
            assert_eq!(numbers, all, "seed {seed}");
        }
        for numbers in push_to_pull(seed, Trouble::CUTS) {
            let increasing = numbers.windows(2).all(|two| two[0] < two[1]);
            assert!(increasing, "seed {seed}: {numbers:?}");
        }
    }
}

/// Answers of a ROUTER that sends everything back, by client.
fn dealer_to_router(seed: u64, trouble: Trouble) -> Vec<Vec<u64>> {
    let mut scene = scene(seed, trouble);
    let (context, securities) = (scene.context(1), Securities::new(seed));
    let router = builder(&context, SocketType::Router, &scene, securities.server());
    let router = router.router_mandatory(true).build().unwrap();
    let mut clients: Vec<_> = clients(&mut scene, SocketType::Dealer, &router, &securities)
        .into_iter()
        .map(|(context, socket)| (context, socket, 0))
        .collect();
    let mut answers = vec![Vec::new(); CLIENTS];
    let mut answer = None;
    // Until each has sent all, and all of it came back, or nothing happens any more.
    let mut quiet = 0;
    while quiet < 20_000
        && answers
            .iter()
            .any(|answers| answers.len() < MESSAGES as usize)
    {
        if clients.iter().any(|(_, _, sent)| *sent > MESSAGES / 4) {
            scene.calm();
        }
        quiet += 1;
        match scene.below(5) {
            0 => {
                let index = scene.below(CLIENTS as u64) as usize;
                let (_, dealer, sent) = &mut clients[index];
                if *sent < MESSAGES {
                    let message = message(&[*sent, index as u64], &scene);
                    let done = dealer.try_send(message).map_err(Error::from);
                    *sent += u64::from(at_once(done).is_some());
                    quiet = 0;
                }
            }
            1 => {
                answer = answer.or_else(|| at_once(router.try_recv()));
                if let Some(message) = answer.take() {
                    match router.try_send(message) {
                        Ok(()) => quiet = 0,
                        Err(error) => match error.error() {
                            Error::WouldBlock => answer = Some(error.into_message()),
                            // Its connection was cut.
                            Error::Unroutable(_) => {}
                            other => panic!("seed {seed}: {other}"),
                        },
                    }
                }
            }
            2 => {
                let index = scene.below(CLIENTS as u64) as usize;
                while let Some(message) = at_once(clients[index].1.try_recv()) {
                    let [number, client] = numbers(message.as_bytes());
                    assert_eq!(client as usize, index, "seed {seed}: another's answer");
                    answers[index].push(number);
                    quiet = 0;
                }
            }
            _ => scene.step(),
        }
    }
    drop((router, context, clients));
    scene.end();
    answers
}

#[test]
fn a_router_answers_each_dealer_in_order() {
    for seed in seeds(100) {
        let all: Vec<_> = (0..MESSAGES).collect();
        for numbers in dealer_to_router(seed, Trouble::NONE) {
            assert_eq!(numbers, all, "seed {seed}");
        }
        for numbers in dealer_to_router(seed, Trouble::CUTS) {
            let increasing = numbers.windows(2).all(|two| two[0] < two[1]);
            assert!(increasing, "seed {seed}: {numbers:?}");
            assert_eq!(numbers.last(), Some(&(MESSAGES - 1)), "seed {seed}");
        }
    }
}
