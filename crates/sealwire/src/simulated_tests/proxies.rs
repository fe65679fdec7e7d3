//! Proxies between hosts that come and go: each is steered at random, stopped, restarted and captured.
//! The tests account for everything that it receives, passes on and drops.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::everything::{DELIVERY, QUIET, build, try_recv, wait};
use super::*;
use crate::blocking;
use crate::proxy::{Forwarding, Proxy, Steering, Step};

/// On each side.
const CLIENTS: u64 = 3;
const WORKERS: u64 = 2;
/// A client repeats a request that had no answer for this time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A proxy on a host of its own, with those who watch and steer it.
struct Device<'a> {
    /// Its sockets, which go on when it ends.
    proxy: Proxy<'a>,
    control: &'a blocking::Socket,
    sides: [&'a blocking::Socket; 2],
    operator: &'a Socket,
    steering: Arc<Steering>,
    directions: [Forwarding<'a>; 2],
    /// A command without an answer.
    asked: Option<&'static str>,
    /// Messages received by the sides of all proxies that have ended.
    received: [u64; 2],
}

impl<'a> Device<'a> {
    fn new(
        sides: [&'a blocking::Socket; 2],
        capture: &'a blocking::Socket,
        control: &'a blocking::Socket,
        operator: &'a Socket,
    ) -> Self {
        let proxy = Proxy::new(sides[0], sides[1]).capture(capture);
        let steering = Arc::default();
        Device {
            directions: proxy.directions(&steering),
            proxy,
            control,
            sides,
            operator,
            steering,
            asked: None,
            received: [0; 2],
        }
    }

    /// Lets it do something: one of its directions, or what it is told.
    fn go_on(&mut self, scene: &mut Scene) {
        match scene.below(8) {
            0 if self.asked.is_none() => self.command(scene),
            1 => drop(self.steering.handle(self.control, &self.sides).unwrap()),
            2 if self.asked.is_some() => self.hear_answer(),
            direction => {
                let direction = direction as usize % 2;
                if self.directions[direction].step().unwrap() == Step::Over {
                    self.begin_again();
                }
            }
        }
    }

    fn command(&mut self, scene: &mut Scene) {
        let command = match scene.below(40) {
            0 => "PAUSE",
            1..10 => "RESUME",
            10 => "STATISTICS",
            11 if scene.trouble.restarts > 0 => {
                scene.trouble.restarts -= 1;
                "TERMINATE"
            }
            _ => return,
        };
        self.operator.try_send(command).unwrap();
        self.asked = Some(command);
    }

    fn hear_answer(&mut self) {
        if let Some(answer) = try_recv(self.operator) {
            match self.asked.take().expect("an answer to a command") {
                "STATISTICS" => assert_eq!(answer.len(), 8),
                _ => assert_eq!(answer.as_bytes(), b""),
            }
        }
    }

    /// Once it was terminated: another one takes its place.
    fn begin_again(&mut self) {
        while self
            .directions
            .iter_mut()
            .any(|direction| direction.step().unwrap() != Step::Over)
        {}
        let counts = self.steering.counts();
        self.received[0] += counts[0];
        self.received[1] += counts[4];
        self.steering = Arc::default();
        self.directions = self.proxy.directions(&self.steering);
    }

    /// Nobody steers it any more, and it goes on.
    fn resume(&mut self) {
        while self.asked.is_some() {
            self.steering.handle(self.control, &self.sides).unwrap();
            self.hear_answer();
        }
        if self.steering.terminated() {
            self.begin_again();
        }
        self.operator.try_send("RESUME").unwrap();
        self.steering.handle(self.control, &self.sides).unwrap();
        assert_eq!(try_recv(self.operator).unwrap().as_bytes(), b"");
    }

    /// Moves all that can be moved.
    fn move_all(&mut self) {
        for direction in &mut self.directions {
            while direction.step().unwrap() == Step::Moved {}
        }
    }

    /// Messages that its frontend and its backend have received so far.
    fn received(&self) -> [u64; 2] {
        let counts = self.steering.counts();
        [self.received[0] + counts[0], self.received[1] + counts[4]]
    }
}

/// The sockets of a scene with a proxy. The blocking handles go first, so that they do not wait for the end.
struct Sockets {
    blocking: [blocking::Socket; 4],
    frontend: Socket,
    backend: Socket,
    capture: Socket,
    watcher: Socket,
    _control: Socket,
    operator: Socket,
    clients: Vec<Socket>,
    workers: Vec<Socket>,
}

impl Sockets {
    /// Clients of the first type, the proxy's two sides, and workers of the last type.
    fn new(scene: &mut Scene, types: [SocketType; 4], securities: &Securities) -> Self {
        let context = scene.context(1);
        let server = |scene: &Scene, socket_type| {
            let builder = build(&context, socket_type, scene, securities.server());
            builder.build().unwrap()
        };
        let [frontend, backend, capture] =
            [types[1], types[2], SocketType::Push].map(|socket_type| server(scene, socket_type));
        let [front, back, watched] = [(&frontend, 5001), (&backend, 5002), (&capture, 5003)]
            .map(|(socket, port)| socket.bind(format!("tcp://{}:{port}", address(1))).unwrap());
        // The application that steers it is in the same process.
        let [control, operator] = [SocketType::Rep, SocketType::Req].map(|socket_type| {
            Socket::builder(socket_type)
                .context(&context)
                .build()
                .unwrap()
        });
        control.bind("inproc://control").unwrap();
        operator.connect("inproc://control").unwrap();
        let client = |scene: &mut Scene, host, socket_type, endpoint: &Endpoint| {
            let context = scene.context(host);
            let builder = build(&context, socket_type, scene, securities.client());
            let builder = match socket_type {
                SocketType::Req => builder.req_relaxed(true).req_correlate(true),
                _ => builder,
            };
            let socket = builder.build().unwrap();
            socket.connect(endpoint.clone()).unwrap();
            socket
        };
        let clients = (0..CLIENTS).map(|index| client(scene, 10 + index as u8, types[0], &front));
        let clients = clients.collect();
        let workers = (0..WORKERS).map(|index| client(scene, 20 + index as u8, types[3], &back));
        let workers = workers.collect();
        let watcher = client(scene, 30, SocketType::Pull, &watched);
        Sockets {
            blocking: [&frontend, &backend, &capture, &control].map(|s| s.clone().into()),
            frontend,
            backend,
            capture,
            watcher,
            _control: control,
            operator,
            clients,
            workers,
        }
    }

    fn device(&self) -> Device<'_> {
        let [front, back, capture, control] = &self.blocking;
        Device::new([front, back], capture, control, &self.operator)
    }
}

/// Takes what has come; none of it for the second time.
fn receive(socket: &Socket, received: &mut BTreeSet<[u64; 2]>) {
    while let Some(message) = try_recv(socket) {
        let frames = message.frames();
        let name = numbers(frames.last().unwrap());
        assert!(received.insert(name), "{name:?} came twice");
    }
}

/// PUSH - PULL/PUSH - PULL. Each message is accounted for on both sides of the proxy, and where it is
/// captured.
fn streamer(plan: Plan) {
    let mut scene = scene(plan.seed, plan.trouble);
    let securities = Securities::new(plan.seed);
    let types = [
        SocketType::Push,
        SocketType::Pull,
        SocketType::Push,
        SocketType::Pull,
    ];
    let sockets = Sockets::new(&mut scene, types, &securities);
    let mut device = sockets.device();
    let mut sent = [0; CLIENTS as usize];
    let (mut received, mut watched) = (BTreeSet::new(), BTreeSet::new());
    let send = |client: usize, sent: &mut [u64], scene: &Scene| {
        let message = message(&[sent[client], client as u64], scene);
        let done = sockets.clients[client].try_send(message);
        sent[client] += u64::from(at_once(done.map_err(Error::from)).is_some());
    };
    while sent.iter().any(|sent| *sent < plan.messages) {
        match scene.below(8) {
            0 => {
                let client = scene.below(CLIENTS) as usize;
                if sent[client] < plan.messages {
                    send(client, &mut sent, &scene);
                }
            }
            1 if !scene.is_stalled() => {
                let worker = scene.below(WORKERS) as usize;
                receive(&sockets.workers[worker], &mut received);
            }
            2 => receive(&sockets.watcher, &mut watched),
            3 | 4 => device.go_on(&mut scene),
            _ => scene.step(),
        }
    }
    scene.calm();
    device.resume();
    let mut go_on = |scene: &mut Scene, device: &mut Device, time| {
        wait(scene, time, |_| {
            device.move_all();
            for worker in &sockets.workers {
                receive(worker, &mut received);
            }
            receive(&sockets.watcher, &mut watched);
        });
    };
    go_on(&mut scene, &mut device, QUIET);
    let before = sent;
    for client in 0..CLIENTS as usize {
        send(client, &mut sent, &scene);
    }
    go_on(&mut scene, &mut device, 4 * DELIVERY);
    for client in 0..CLIENTS {
        let last = [before[client as usize], client];
        assert!(received.contains(&last), "{last:?} does not arrive");
    }
    let core = |socket: &Socket| socket.core().unwrap().clone();
    let [passed, returned] = device.received();
    assert_eq!(returned, 0);
    let account: Account = sockets
        .clients
        .iter()
        .map(|push| Account::of(&core(push)))
        .sum();
    account.check(
        sent.iter().sum(),
        passed as usize,
        &[core(&sockets.frontend)],
        plan.seed,
    );
    let workers: Vec<_> = sockets.workers.iter().map(core).collect();
    Account::of(&core(&sockets.backend)).check(passed, received.len(), &workers, plan.seed);
    Account::of(&core(&sockets.capture)).check(
        passed,
        watched.len(),
        &[core(&sockets.watcher)],
        plan.seed,
    );
    drop((device, workers));
    drop(sockets);
    scene.end();
}

#[test]
fn what_a_streamer_moves_is_accounted_for() {
    check(&[], seeds(100), streamer);
}

/// REQ - ROUTER/DEALER - REP. A client repeats a request until it is answered; no answer is another's.
fn queue(plan: Plan) {
    let mut scene = scene(plan.seed, plan.trouble);
    let securities = Securities::new(plan.seed);
    let types = [
        SocketType::Req,
        SocketType::Router,
        SocketType::Dealer,
        SocketType::Rep,
    ];
    let sockets = Sockets::new(&mut scene, types, &securities);
    let mut device = sockets.device();
    let mut asked = [(0, None); CLIENTS as usize];
    let mut answers: Vec<Option<Message>> = vec![None; WORKERS as usize];
    while asked.iter().any(|(number, _)| *number < plan.messages) {
        if scene.trouble != Trouble::NONE
            && asked.iter().all(|(number, _)| 2 * number > plan.messages)
        {
            scene.calm();
        }
        if scene.trouble == Trouble::NONE && scene.below(100) == 0 {
            device.resume();
        }
        match scene.below(8) {
            0 => {
                let client = scene.below(CLIENTS) as usize;
                let ((number, since), req) = (&mut asked[client], &sockets.clients[client]);
                let name = [*number, client as u64];
                let now = scene.network.now();
                let is_overdue = since.is_some_and(|since| now - since > ANSWER_TIMEOUT);
                match (&since, req.try_recv()) {
                    // It may come after it was given up.
                    (_, Ok(answer)) => {
                        assert_eq!(numbers(answer.as_bytes()), name);
                        (*number, *since) = (*number + 1, None);
                    }
                    (_, Err(Error::RequestLost)) => *since = None,
                    (Some(_), Err(Error::WouldBlock)) if is_overdue => *since = None,
                    (Some(_), Err(Error::WouldBlock)) => {}
                    (None, Err(_)) if *number < plan.messages => {
                        let done = req.try_send(message(&name, &scene)).map_err(Error::from);
                        *since = at_once(done).map(|()| now);
                    }
                    (None, Err(_)) => {}
                    (_, unexpected) => panic!("{unexpected:?}"),
                }
            }
            1 if !scene.is_stalled() => {
                let worker = scene.below(WORKERS) as usize;
                let (answer, rep) = (&mut answers[worker], &sockets.workers[worker]);
                *answer = answer.take().or_else(|| try_recv(rep));
                if let Some(message) = answer.take()
                    && let Err(error) = rep.try_send(message)
                {
                    match error.error() {
                        Error::WouldBlock => *answer = Some(error.into_message()),
                        Error::State(_) => {}
                        other => panic!("{other}"),
                    }
                }
            }
            2 => while try_recv(&sockets.watcher).is_some() {},
            3 | 4 => device.go_on(&mut scene),
            _ => scene.step(),
        }
    }
    drop(device);
    drop(sockets);
    scene.end();
}

#[test]
fn what_is_asked_through_a_queue_is_answered_in_the_end() {
    check(&[], seeds(100), queue);
}

/// PUB - XSUB/XPUB - SUB. Nothing comes twice or of another topic, and once there is quiet everybody gets
/// what it is subscribed to.
fn forwarder(plan: Plan) {
    let mut scene = scene(plan.seed, plan.trouble);
    let securities = Securities::new(plan.seed);
    let types = [
        SocketType::Pub,
        SocketType::XSub,
        SocketType::XPub,
        SocketType::Sub,
    ];
    let sockets = Sockets::new(&mut scene, types, &securities);
    let mut device = sockets.device();
    let mut subscribed = [false; WORKERS as usize];
    let mut received = vec![BTreeSet::new(); WORKERS as usize];
    let change = |subscribed: &mut [bool], worker: usize| {
        let (sub, topic) = (&sockets.workers[worker], (worker as u64).to_le_bytes());
        subscribed[worker] ^= true;
        match subscribed[worker] {
            true => sub.subscribe(topic).unwrap(),
            false => sub.unsubscribe(topic).unwrap(),
        }
    };
    let mut sent = 0;
    while sent < plan.messages {
        match scene.below(20) {
            0 => {
                let publisher = &sockets.clients[scene.below(CLIENTS) as usize];
                publisher
                    .try_send(message(&[scene.below(WORKERS), sent], &scene))
                    .unwrap();
                sent += 1;
            }
            1 if !scene.is_stalled() => {
                let worker = scene.below(WORKERS) as usize;
                receive(&sockets.workers[worker], &mut received[worker]);
            }
            2 if scene.below(10) == 0 => {
                change(&mut subscribed, scene.below(WORKERS) as usize);
            }
            3 => while try_recv(&sockets.watcher).is_some() {},
            4..8 => device.go_on(&mut scene),
            _ => scene.step(),
        }
    }
    scene.calm();
    device.resume();
    let mut go_on = |scene: &mut Scene, received: &mut [BTreeSet<_>], time| {
        wait(scene, time, |_| {
            device.move_all();
            for (worker, received) in sockets.workers.iter().zip(&mut *received) {
                receive(worker, received);
            }
            while try_recv(&sockets.watcher).is_some() {}
        });
    };
    go_on(&mut scene, &mut received, QUIET);
    for (client, publisher) in sockets.clients.iter().enumerate() {
        for topic in 0..WORKERS {
            let number = sent + client as u64;
            publisher
                .try_send(message(&[topic, number], &scene))
                .unwrap();
            go_on(&mut scene, &mut received, DELIVERY);
            for worker in 0..WORKERS {
                let is_for = worker == topic && subscribed[worker as usize];
                let got = received[worker as usize].contains(&[topic, number]);
                assert_eq!(
                    got, is_for,
                    "topic {topic} of {client}, subscriber {worker}"
                );
            }
        }
    }
    drop(device);
    drop(sockets);
    scene.end();
}

#[test]
fn subscriptions_pass_through_a_forwarder_whatever_happens() {
    check(&[], seeds(100), forwarder);
}
