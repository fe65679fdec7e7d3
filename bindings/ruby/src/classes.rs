//! Classes of values of Rust.

use magnus::value::ReprValue as _;
use magnus::{Error, Module, RClass, Ruby, TypedData};

/// Defines the class of a type, which magnus knows from here on. Otherwise magnus looks it up for the first
/// object, and calls Ruby for that: another thread may run then, need the same class, and wait for the first with
/// the interpreter's lock, which the first waits for.
pub(crate) fn define<T: TypedData>(
    ruby: &Ruby,
    module: impl Module,
    name: &str,
) -> Result<RClass, Error> {
    let class = module.define_class(name, ruby.class_object())?;
    // The attribute of the type has the name as well, and may have another by mistake.
    if !T::class(ruby).equal(class)? {
        let message = format!("{class} is not the class of its type");
        return Err(Error::new(ruby.exception_type_error(), message));
    }
    Ok(class)
}
