//! Peers that came through an endpoint which the socket unbinds.

use super::*;

impl Scene {
    /// Begins to listen.
    fn bind(&self, name: &str) -> Bound<'_> {
        let (endpoint, listener) = self.register(name, RegistrationKind::Bound);
        Bound {
            scene: self,
            endpoint,
            listener,
        }
    }
}

struct Bound<'a> {
    scene: &'a Scene,
    endpoint: Endpoint,
    listener: u64,
}

impl Bound<'_> {
    fn accept(&self) -> Result<End, Dismissal> {
        let provenance = Provenance {
            listener: Some(self.listener),
            ..Provenance::default()
        };
        self.scene.attach_from(self.endpoint.clone(), provenance)
    }

    fn unbind(&self) {
        let kind = RegistrationKind::Bound;
        self.scene.core().unregister(&self.endpoint, kind).unwrap();
    }

    fn unbind_and_disconnect(&self) {
        let core = self.scene.core();
        core.unregister_with_peers(&self.endpoint).unwrap();
    }
}

#[test]
fn those_who_came_through_the_endpoint_are_left_and_no_others() {
    let scene = Scene::new(SocketType::Push);
    let (first, second) = (scene.bind("first"), scene.bind("second"));
    let left = [first.accept().unwrap(), first.accept().unwrap()];
    scene.send("one");
    scene.send("another");
    let stays = second.accept().unwrap();
    let connected = scene.connect("elsewhere");
    first.unbind_and_disconnect();
    for _ in 0..2 {
        scene.send("after");
    }
    let [before, also_before] = left.each_ref().map(End::taken);
    assert_eq!([before.len(), also_before.len()], [1, 1]);
    assert_eq!(stays.taken(), ["after"]);
    assert_eq!(connected.taken(), ["after"]);
    left[0].says(&["late"]);
    assert_eq!(scene.counters().dropped_at_receive, 1);
    assert_eq!(scene.core().presence(), Presence::Connected { peers: 2 });
}

#[test]
fn unbinding_alone_leaves_nobody_and_takes_those_who_are_on_their_way() {
    let scene = Scene::new(SocketType::Push);
    let bound = scene.bind("here");
    let peer = bound.accept().unwrap();
    bound.unbind();
    scene.send("on");
    assert_eq!(peer.taken(), ["on"]);
    peer.ends();
    let late = bound.accept().unwrap();
    scene.send("late");
    assert_eq!(late.taken(), ["late"]);
}

#[test]
fn those_who_are_on_their_way_are_refused_until_no_more_can_come() {
    let scene = Scene::new(SocketType::Pull);
    let (left, other) = (scene.bind("left"), scene.bind("other"));
    left.unbind_and_disconnect();
    assert!(left.accept().is_err());
    assert!(other.accept().is_ok());
    scene.core().withdrawn(other.listener);
    assert!(left.accept().is_err());
    // Nothing of it is kept then.
    scene.core().withdrawn(left.listener);
    assert!(left.accept().is_ok());
}

#[test]
fn an_endpoint_that_is_not_bound_is_not_left() {
    let scene = Scene::new(SocketType::Pull);
    let connected = scene.connect("there");
    let core = scene.core();
    let unknown = core.unregister_with_peers(&connected.endpoint);
    assert!(matches!(unknown, Err(Error::UnknownEndpoint(_))));
    connected.says(&["here"]);
    assert_eq!(scene.received(), ["here"]);
}

#[test]
fn the_end_is_told_of_once_as_those_who_came_through_are_left() {
    let builder = Socket::builder(SocketType::Dealer).disconnect_message("over");
    let scene = Scene::with(builder.hiccup_message("again"));
    let bound = scene.bind("here");
    let peer = bound.accept().unwrap();
    bound.unbind_and_disconnect();
    peer.ends();
    assert_eq!(scene.received(), ["over"]);
}
