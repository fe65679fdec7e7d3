//! `sealwire tunnel` over real TCP: what docs/spec/newplex-tunnel.md and `--help` promise.

pub(crate) mod ends;
mod in_between;
mod limits;
mod refusals;
mod shutdown;
mod transfer;
mod wire;
