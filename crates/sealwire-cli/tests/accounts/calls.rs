//! Calls: requests, one-way messages and answers.

use sealwire::account::Kind;

use crate::not_yet;

pub(crate) fn requests() {
    not_yet(Kind::Requests);
}

pub(crate) fn unhandled() {
    not_yet(Kind::Unhandled);
}

pub(crate) fn answers() {
    not_yet(Kind::Answers);
}
