//! The socket commands: one for each socket type, sharing their options.
//!
//! | file | commands |
//! |---|---|
//! | `send` | push, pub |
//! | `receive` | pull, sub |
//! | `request` | req |
//! | `answer` | rep, router with an answer |
//! | `duplex` | pair, dealer, xpub, xsub, router with `--to` or without an answer |

pub(crate) mod answer;
pub(crate) mod duplex;
mod input;
mod opened;
pub(crate) mod options;
pub(crate) mod receive;
pub(crate) mod request;
pub(crate) mod send;
