//! Services as one line: requests and replies are values of serde, encoded with postcard behind a
//! number for the method.
//!
//! ```
//! use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
//! use sealwire_rpc::{Client, Server, Status, service};
//!
//! service!(pub trait Greeter { greet(name: String, times: u8) -> String; });
//!
//! struct Polite;
//! impl Greeter for Polite {
//!     fn greet(&self, name: String, times: u8) -> Result<String, Status> {
//!         Ok(format!("hello {name}").repeat(times.into()))
//!     }
//! }
//!
//! let keys = KeyPair::generate();
//! let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
//!     .build(Polite.inline())?;
//! let endpoint = server.bind("tcp://127.0.0.1:0")?;
//! let client = Client::builder(Security::blake3_client(keys.public())).build(endpoint)?;
//!
//! let greeter = GreeterClient::new(client.blocking());
//! assert_eq!(greeter.greet("you".into(), 1)?, "hello you");
//!
//! // The same without blocking the thread, on any executor.
//! let greeter = GreeterAsyncClient::new(client);
//! let twice = async { greeter.greet("you".into(), 2).await };
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! assert_eq!(runtime.block_on(twice)?, "hello youhello you");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A body is the method's number in 4 bytes, big-endian, and the arguments as a tuple in postcard.
//! The number is the FNV-1a hash (32 bits) of the method's name, so methods can be added and moved.
//! A trait whose methods share a number does not compile.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blocking;
use crate::hub::Hub;
use crate::proto::Body;
use crate::status::{Code, Error, Status};

/// Bytes of a method's number.
const METHOD: usize = 4;

/// The number of a method.
pub const fn method(name: &str) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    let bytes = name.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    hash
}

/// Fails to compile when two methods have the same number.
#[doc(hidden)]
pub const fn assert_distinct(names: &[&str]) {
    let mut first = 0;
    while first < names.len() {
        let mut second = first + 1;
        while second < names.len() {
            assert!(
                method(names[first]) != method(names[second]),
                "rename a method"
            );
            second += 1;
        }
        first += 1;
    }
}

/// Splits a body into the method's number and the arguments.
///
/// # Errors
///
/// A status for a body without a number.
pub fn split(body: &[u8]) -> Result<(u32, &[u8]), Status> {
    let (method, arguments) = body
        .split_first_chunk::<METHOD>()
        .ok_or_else(|| Status::new(Code::UNIMPLEMENTED, "the body names no method"))?;
    Ok((u32::from_be_bytes(*method), arguments))
}

/// Reads arguments.
///
/// # Errors
///
/// A status for bytes that are none.
pub fn arguments<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Status> {
    match postcard::take_from_bytes(bytes) {
        Ok((arguments, [])) => Ok(arguments),
        Ok(_) => Err(Status::new(
            Code::INVALID_ARGUMENT,
            "bytes behind the arguments",
        )),
        Err(error) => Err(Status::new(Code::INVALID_ARGUMENT, error.to_string())),
    }
}

/// Writes a reply.
///
/// # Errors
///
/// A status for what cannot be encoded.
pub fn reply<T: Serialize>(value: &T) -> Result<Vec<u8>, Status> {
    postcard::to_stdvec(value).map_err(|error| Status::new(Code::INTERNAL, error.to_string()))
}

/// The status for a method that the service does not have.
pub fn no_such_method() -> Status {
    Status::new(Code::UNIMPLEMENTED, "no such method").not_started()
}

fn malformed(error: &postcard::Error) -> Error {
    Error::Malformed(error.to_string())
}

fn request<A: Serialize>(method: u32, arguments: &A) -> Result<Vec<u8>, Error> {
    let body = method.to_be_bytes().to_vec();
    postcard::to_extend(arguments, body).map_err(|error| malformed(&error))
}

fn value<R: DeserializeOwned>(hub: &Hub, reply: &Body) -> Result<R, Error> {
    match hub.guard("a decoder", || postcard::take_from_bytes(reply)) {
        Some(Ok((value, []))) => Ok(value),
        Some(Ok(_)) => Err(Error::Malformed("bytes behind the reply".into())),
        Some(Err(error)) => Err(malformed(&error)),
        None => Err(Error::Malformed("its decoder panicked".into())),
    }
}

/// Calls a method.
///
/// # Errors
///
/// Those of [`Client::request`](crate::Client::request), and [`Error::Malformed`] if the arguments cannot be
/// encoded or the answer cannot be decoded.
pub async fn call<A: Serialize, R: DeserializeOwned>(
    client: &crate::Client,
    method: u32,
    arguments: &A,
) -> Result<R, Error> {
    let reply = client.request(&request(method, arguments)?).await?;
    value(client.hub(), &reply)
}

/// Calls a method, and blocks until its answer is there.
///
/// # Errors
///
/// Those of [`call`].
pub fn call_blocking<A: Serialize, R: DeserializeOwned>(
    client: &blocking::Client,
    method: u32,
    arguments: &A,
) -> Result<R, Error> {
    let reply = client.request(&request(method, arguments)?)?;
    value(client.hub(), &reply)
}

/// Defines a service: a trait to implement, with `inline` and `pool` to make a handler of it, and
/// two clients named like the trait with `Client` and `AsyncClient` behind. See [the module](crate::typed).
#[macro_export]
macro_rules! service {
    (
        $(#[$attribute:meta])*
        $visibility:vis trait $name:ident {
            $($(#[$method_attribute:meta])*
            $method:ident($($argument:ident: $kind:ty),* $(,)?) -> $reply:ty;)+
        }
    ) => {
        $crate::typed::__paste! {
            $(#[$attribute])*
            $visibility trait $name: Send + Sync + 'static {
                $($(#[$method_attribute])*
                fn $method(&self, $($argument: $kind),*) -> Result<$reply, $crate::Status>;)+

                /// Answers a request.
                fn dispatch(&self, body: &[u8]) -> Result<Vec<u8>, $crate::Status> {
                    let (method, arguments) = $crate::typed::split(body)?;
                    $(
                        if method == const { $crate::typed::method(stringify!($method)) } {
                            let ($($argument,)*): ($($kind,)*) =
                                $crate::typed::arguments(arguments)?;
                            return $crate::typed::reply(&self.$method($($argument),*)?);
                        }
                    )+
                    const { $crate::typed::assert_distinct(&[$(stringify!($method)),+]) };
                    Err($crate::typed::no_such_method())
                }

                /// A handler that runs where the connection is read.
                fn inline(self) -> impl $crate::Handler
                where
                    Self: Sized,
                {
                    $crate::handler::Inline::new(move |request: &$crate::Request| {
                        self.dispatch(request.body())
                    })
                }

                /// A handler that runs on threads of its own; see
                /// [`Pool`]($crate::handler::Pool).
                fn pool(self, threads: usize, queue: usize) -> std::io::Result<$crate::handler::Pool>
                where
                    Self: Sized,
                {
                    $crate::handler::Pool::new(threads, queue, move |request: &$crate::Request| {
                        self.dispatch(request.body())
                    })
                }
            }

            /// Calls the service, blocking the thread.
            #[derive(Clone, Debug)]
            $visibility struct [<$name Client>] {
                client: $crate::blocking::Client,
            }

            impl [<$name Client>] {
                /// Calls it through this client.
                $visibility fn new(client: $crate::blocking::Client) -> Self {
                    Self { client }
                }

                $($(#[$method_attribute])*
                $visibility fn $method(&self, $($argument: $kind),*) -> Result<$reply, $crate::Error> {
                    let method = const { $crate::typed::method(stringify!($method)) };
                    $crate::typed::call_blocking(&self.client, method, &($($argument,)*))
                })+
            }

            /// Calls the service, on any executor.
            #[derive(Clone, Debug)]
            $visibility struct [<$name AsyncClient>] {
                client: $crate::Client,
            }

            impl [<$name AsyncClient>] {
                /// Calls it through this client.
                $visibility fn new(client: $crate::Client) -> Self {
                    Self { client }
                }

                $($(#[$method_attribute])*
                $visibility async fn $method(
                    &self,
                    $($argument: $kind),*
                ) -> Result<$reply, $crate::Error> {
                    let method = const { $crate::typed::method(stringify!($method)) };
                    $crate::typed::call(&self.client, method, &($($argument,)*)).await
                })+
            }
        }
    };
}

#[doc(hidden)]
pub use pastey::paste as __paste;
