//! Subscriptions: of a subscriber, and those that a publisher does not read.

use sealwire::account::Kind;

use crate::not_yet;

pub(crate) fn subscriptions() {
    not_yet(Kind::Subscriptions);
}

pub(crate) fn changes() {
    not_yet(Kind::SubscriptionChanges);
}
