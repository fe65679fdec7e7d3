//! What the fuzz targets share: endpoints in memory, and a provider that lets forgeries through.

mod endpoint;
mod transparent;

pub use endpoint::{Endpoint, client, null, server};
pub use transparent::Transparent;
