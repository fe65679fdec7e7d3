//! The terms of an endpoint: what a connection must have been made under to go on when others take their place.

use sealwire_zmtp::{Mechanism, PublicKey};

use super::{Decider, EncryptedServer, Kind, Security};
use crate::auth::DeciderId;
use crate::peer::Peer;

/// Keys and deciders of one mechanism or several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Terms(Vec<Term>);

/// The keys of one handshake, as far as they are prescribed, and who decides about the peer.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    mechanism: Mechanism,
    local: Option<PublicKey>,
    remote: Option<PublicKey>,
    decider: Option<DeciderId>,
}

/// What new terms mean for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It goes on.
    Stands,
    /// Its keys are good, and another authenticator has to decide about its peer.
    Undecided,
    /// It could not be made again.
    Withdrawn,
}

impl Terms {
    /// What they mean for a connection that was made under `earlier`.
    pub(crate) fn outcome(&self, earlier: &Security, peer: &Peer) -> Outcome {
        // Without a handshake there are no terms.
        let Some(info) = peer.info() else {
            return Outcome::Stands;
        };
        let is = |wanted: Option<PublicKey>, had| wanted.is_none_or(|wanted| Some(wanted) == had);
        let fitting = self.0.iter().filter(|term| {
            term.mechanism == info.mechanism
                && is(term.local, info.local_key)
                && is(term.remote, info.public_key)
        });
        let decided_by = earlier.decider(info.mechanism).map(Decider::id);
        // A password that was not kept cannot be decided about again.
        let can_be_asked_about = info.public_key.is_some() || peer.credentials().is_some();
        let outcomes = fitting.map(|term| match &term.decider {
            decider if *decider == decided_by => Outcome::Stands,
            None => Outcome::Stands,
            Some(_) if can_be_asked_about => Outcome::Undecided,
            Some(_) => Outcome::Withdrawn,
        });
        let least = |one, other| match (one, other) {
            (Outcome::Stands, _) | (_, Outcome::Stands) => Outcome::Stands,
            (Outcome::Undecided, _) | (_, Outcome::Undecided) => Outcome::Undecided,
            (Outcome::Withdrawn, Outcome::Withdrawn) => Outcome::Withdrawn,
        };
        outcomes.fold(Outcome::Withdrawn, least)
    }

    /// Admits connections under those terms too.
    pub(crate) fn extend(&mut self, others: Terms) {
        for term in others.0 {
            if !self.0.contains(&term) {
                self.0.push(term);
            }
        }
    }
}

impl Security {
    pub(crate) fn terms(&self) -> Terms {
        let decider = |mechanism| self.decider(mechanism).map(Decider::id);
        let term = |mechanism, local, remote| Term {
            mechanism,
            local,
            remote,
            decider: decider(mechanism),
        };
        Terms(match &self.0 {
            Kind::Unspecified | Kind::PlainText => vec![term(Mechanism::Null, None, None)],
            Kind::PlainClient { .. } | Kind::PlainServer { .. } => {
                vec![term(Mechanism::Plain, None, None)]
            }
            Kind::Blake3Client(client) => {
                let local = client.keys.as_ref().map(|keys| keys.public());
                vec![term(Mechanism::Blake3, local, Some(client.server_key))]
            }
            Kind::CurveClient {
                server_key, keys, ..
            } => vec![term(
                Mechanism::Curve,
                Some(keys.public()),
                Some(*server_key),
            )],
            Kind::Servers(servers) => {
                let keys = servers.iter().flat_map(EncryptedServer::public_keys);
                keys.map(|(mechanism, key)| term(mechanism, Some(key), None))
                    .collect()
            }
        })
    }
}
