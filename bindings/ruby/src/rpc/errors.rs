//! What becomes of calls, as Ruby sees it.

use magnus::value::{Lazy, ReprValue as _};
use magnus::{
    Class as _, Error, Exception, ExceptionClass, Module as _, Object as _, RModule, RObject, Ruby,
};
use sealwire_rpc::Error as Failed;

use crate::errors;
use crate::message::binary;

fn class(ruby: &Ruby, name: &str) -> ExceptionClass {
    let sealwire: Result<RModule, Error> = ruby.class_object().const_get("Sealwire");
    let rpc = sealwire.and_then(|sealwire| sealwire.const_get::<_, RModule>("RPC"));
    rpc.and_then(|rpc| rpc.const_get(name))
        .expect("defined by `define`")
}

macro_rules! classes {
    ($($constant:ident, $name:literal;)*) => {
        $(static $constant: Lazy<ExceptionClass> = Lazy::new(|ruby| class(ruby, $name));)*

        /// All below `CallError`.
        fn define_each(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
            $(
                rpc.define_error($name, ruby.get_inner(&CALL))?;
                // Looked up by the main Ractor, for all of them.
                Lazy::force(&$constant, ruby);
            )*
            Ok(())
        }
    };
}

static METADATA: Lazy<ExceptionClass> = Lazy::new(|ruby| class(ruby, "MetadataError"));
static CALL: Lazy<ExceptionClass> = Lazy::new(|ruby| class(ruby, "CallError"));

classes! {
    REMOTE, "RemoteError";
    DEADLINE, "DeadlineExceeded";
    LOST, "ConnectionLost";
    CONNECT, "ConnectError";
    CONGESTED, "Congested";
    TOO_LARGE, "TooLarge";
    SHUTTING_DOWN, "ShuttingDown";
    STREAM_ENDED, "StreamEnded";
}

pub(super) fn define(ruby: &Ruby, sealwire: RModule, rpc: RModule) -> Result<(), Error> {
    let base: ExceptionClass = sealwire.const_get("Error")?;
    rpc.define_error("CallError", base)?;
    Lazy::force(&CALL, ruby);
    rpc.define_error("MetadataError", base)?;
    Lazy::force(&METADATA, ruby);
    define_each(ruby, rpc)
}

/// The exception of a call, which says whether the other side may have acted on it.
pub(super) fn raised(ruby: &Ruby, error: &Failed) -> Error {
    let (class, status) = match error {
        Failed::Forked => {
            let problem = "this was made before the process forked: make a new one in the child";
            return errors::forked(ruby, problem);
        }
        Failed::EngineFailed => return errors::raised(ruby, &sealwire::Error::EngineFailed),
        Failed::Remote(status) | Failed::Intercepted(status) => (&REMOTE, Some(status)),
        Failed::DeadlineExceeded { .. } => (&DEADLINE, None),
        Failed::ConnectionLost { .. } => (&LOST, None),
        Failed::Connect(_) => (&CONNECT, None),
        Failed::Congested(_) | Failed::WouldBlock => (&CONGESTED, None),
        Failed::TooLarge { .. } => (&TOO_LARGE, None),
        Failed::ShuttingDown => (&SHUTTING_DOWN, None),
        Failed::StreamEnded => (&STREAM_ENDED, None),
        _ => (&CALL, None),
    };
    let made = ruby.get_inner(class).new_instance((error.to_string(),));
    let told = made.and_then(|exception: Exception| {
        if let Some(object) = RObject::from_value(exception.as_value()) {
            object.ivar_set("@may_have_run", error.may_have_run())?;
            if let Some(status) = status {
                object.ivar_set("@code", status.code.0)?;
                object.ivar_set("@remote_message", ruby.str_new(&status.message))?;
                object.ivar_set("@details", binary(ruby, &status.details))?;
            }
        }
        Ok(exception)
    });
    told.map_or_else(|error| error, Error::from)
}

/// An entry that metadata cannot have.
pub(super) fn metadata(ruby: &Ruby, error: &sealwire_rpc::MetadataError) -> Error {
    errors::new(ruby, ruby.get_inner(&METADATA), error.to_string())
}

/// The call is over on this side.
pub(super) fn stream_ended(ruby: &Ruby) -> Error {
    raised(ruby, &Failed::StreamEnded)
}
