//! Socket options: one table says what each takes, and drives setting, asking and their tests.

mod addresses;
mod apply;
mod blake3;
mod settings;
mod table;

pub(crate) use apply::socks_proxy;
pub(crate) use blake3::INCOMPLETE;
pub(crate) use settings::{Mechanism, Settings, Value, answer_of_number};
pub(crate) use table::{Entry, number};
