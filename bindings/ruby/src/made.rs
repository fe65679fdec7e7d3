//! Objects of Ruby that `initialize` makes, with options by name: they hold nothing before.

use std::sync::OnceLock;

use magnus::r_hash::ForEach;
use magnus::{Error, RHash, Ruby, Symbol, Value};

use crate::errors;
use crate::process::OfProcess;

/// Something of this process that `initialize` makes.
pub(crate) struct Made<S>(OnceLock<OfProcess<S>>);

/// The name of it in errors.
pub(crate) trait Named {
    const NAME: &'static str;
}

impl<S> Default for Made<S> {
    fn default() -> Self {
        Made(OnceLock::new())
    }
}

impl<S: Named> Made<S> {
    pub(crate) fn set(&self, ruby: &Ruby, made: S) -> Result<(), Error> {
        let set = self.0.set(OfProcess::new(made));
        set.map_err(|_| errors::state(ruby, format!("the {} was made already", S::NAME)))
    }

    pub(crate) fn get(&self, ruby: &Ruby) -> Result<&S, Error> {
        let missing = || errors::state(ruby, format!("the {} was not initialized", S::NAME));
        self.0.get().ok_or_else(missing)?.get(ruby)
    }
}

/// A builder with the options by name. `set` raises for a name that it does not know.
pub(crate) fn configured<B>(
    builder: B,
    options: RHash,
    mut set: impl FnMut(B, &str, Value) -> Result<B, Error>,
) -> Result<B, Error> {
    let mut builder = Some(builder);
    options.foreach(|name: Symbol, value: Value| {
        // It is gone only where an error has ended this.
        let Some(before) = builder.take() else {
            return Ok(ForEach::Stop);
        };
        builder = Some(set(before, &name.name()?, value)?);
        Ok(ForEach::Continue)
    })?;
    Ok(builder.expect("foreach has raised what took it"))
}
