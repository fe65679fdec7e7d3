//! What the fuzz targets share: endpoints in memory, and a provider that lets forgeries through.

mod endpoint;
mod transparent;

pub use endpoint::{
    Endpoint, client, curve_client, curve_server, null, plain_client, plain_server, server,
};
pub use transparent::Transparent;
