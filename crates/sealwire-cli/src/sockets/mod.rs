//! The socket commands: one for each socket type, sharing their options.
//!
//! | file | commands |
//! |---|---|
//! | `send` | push, scatter, pub, radio |
//! | `receive` | pull, gather, sub, dish |
//! | `request` | req |
//! | `answer` | rep; router, server, peer, stream and dgram with an answer |
//! | `duplex` | pair, channel, dealer, client, xpub, xsub; router with `--to`; router, server, peer, stream and dgram that only receive |
//! | `dgram` | dgram with `--to` |
//! | `single` | peer and stream that connect, and so have a single peer to talk with |

pub(crate) mod answer;
pub(crate) mod dgram;
pub(crate) mod duplex;
pub(crate) mod input;
pub(crate) mod opened;
pub(crate) mod options;
pub(crate) mod receive;
pub(crate) mod request;
pub(crate) mod send;
pub(crate) mod single;
mod tuning;
