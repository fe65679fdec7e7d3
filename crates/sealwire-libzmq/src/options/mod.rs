//! Socket options: one table says what each takes, and drives setting, asking and their tests.

mod addresses;
mod apply;
mod settings;
mod table;

pub use settings::{Settings, Value};
pub use table::{Access, Effect, Entry, Kind, TABLE, number};
