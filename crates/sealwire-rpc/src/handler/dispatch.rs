//! What the hub hands over goes to the application: requests and messages to its handler, connections that
//! come and go to its function for that.

use std::sync::Arc;

use super::{Handler, OneWay, Request};
use crate::conn::{Conn, ConnState};
use crate::hub::{HubLink, Upcalls};
use crate::proto::{Asked, Body};

pub(crate) type StateHandler = Arc<dyn Fn(&Conn, ConnState) + Send + Sync>;

pub(crate) struct Dispatch {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) on_state: Option<StateHandler>,
}

impl Dispatch {
    fn tell_state(&self, link: &Arc<HubLink>, state: ConnState) {
        if let Some(on_state) = &self.on_state {
            let conn = Conn::new(link.clone());
            let told = || on_state(&conn, state);
            let _ = link.hub().guard("a function for changes of state", told);
        }
    }
}

impl Upcalls for Dispatch {
    fn request(&self, link: &Arc<HubLink>, asked: Asked) {
        // Dropped without an answer it is answered with an error.
        let request = Request::new(Conn::new(link.clone()), asked);
        let handled = || self.handler.request(request);
        let _ = link.hub().guard("a handler", handled);
    }

    fn message(&self, link: &Arc<HubLink>, body: Body) {
        let message = OneWay::new(Conn::new(link.clone()), body);
        let handled = || self.handler.message(message);
        let _ = link.hub().guard("a handler", handled);
    }

    fn connected(&self, link: &Arc<HubLink>) {
        self.tell_state(link, ConnState::New);
    }

    fn disconnected(&self, link: &Arc<HubLink>) {
        self.tell_state(link, ConnState::Closed);
    }
}
