//! What the fuzz targets share: endpoints in memory, attacks on one of two, and a provider that lets
//! forgeries through.

mod attack;
mod endpoint;
mod transparent;

pub use attack::{Attack, Blake3Attack};
pub use endpoint::{
    Endpoint, any_of, client, curve_client, curve_server, null, null_authorized, plain_client,
    plain_server, server,
};
pub use transparent::Transparent;
