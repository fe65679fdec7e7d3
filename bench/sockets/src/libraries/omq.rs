//! omq-tokio at two versions, whose interfaces hardly differ, on one thread as in its own
//! benchmarks.

use bytes::Bytes;

use super::{Kind, first_byte};
use crate::Outcome;
use crate::contender::Mechanism;
use crate::hex::{decode, encode};
use crate::task::Task;

macro_rules! node {
    ($module:ident, $library:ident, $keys:ty, $generate:expr, $encode:expr, $server:expr, $client:expr, $publisher:expr) => {
        pub(crate) mod $module {
            use super::*;
            use $library::{Endpoint, Message, Options, SocketType};

            pub(crate) struct Node {
                mechanism: Mechanism,
                queue: u32,
                keys: $keys,
                runtime: tokio::runtime::Runtime,
            }

            fn socket(kind: Kind, options: Options) -> Outcome<Socket> {
                let socket_type = match kind {
                    Kind::Push => SocketType::Push,
                    Kind::Pull => SocketType::Pull,
                    Kind::Pub => SocketType::Pub,
                    Kind::Sub => SocketType::Sub,
                    Kind::Req => SocketType::Req,
                    Kind::Rep => SocketType::Rep,
                    Kind::Dealer => SocketType::Dealer,
                    Kind::Router => SocketType::Router,
                };
                Ok(Socket($library::Socket::new(socket_type, options)))
            }

            fn options(queue: u32) -> Options {
                Options::new().send_hwm(queue).recv_hwm(queue)
            }

            impl crate::libraries::Node for Node {
                type Socket = Socket;

                fn new(task: &Task) -> Outcome<Self> {
                    Ok(Node {
                        mechanism: task.mechanism,
                        queue: task.queue() as u32,
                        keys: $generate,
                        runtime: tokio::runtime::Builder::new_current_thread()
                            .enable_all()
                            .build()?,
                    })
                }

                fn run<T>(&self, work: impl Future<Output = T>) -> T {
                    self.runtime.block_on(work)
                }

                fn public_key(&self) -> String {
                    $encode(&self.keys)
                }

                fn server(&self, kind: Kind) -> Outcome<Socket> {
                    let mut options = options(self.queue);
                    if kind == Kind::Pub {
                        options = $publisher(options);
                    }
                    if self.mechanism != Mechanism::Null {
                        options = $server(options, self.keys.clone());
                    }
                    let _inside = self.runtime.enter();
                    socket(kind, options)
                }

                fn client(&self, kind: Kind, key: &str) -> Outcome<Socket> {
                    let mut options = options(self.queue);
                    if self.mechanism != Mechanism::Null {
                        options = $client(options, self.keys.clone(), key)?;
                    }
                    let _inside = self.runtime.enter();
                    socket(kind, options)
                }
            }

            pub(crate) struct Socket($library::Socket);

            impl crate::libraries::Socket for Socket {
                type Messages<'a> = &'a mut Self;

                fn messages(&mut self) -> &mut Self {
                    self
                }

                async fn bind(&mut self, endpoint: &str) -> Outcome<String> {
                    Ok(self
                        .0
                        .bind(endpoint.parse::<Endpoint>()?)
                        .await?
                        .to_string())
                }

                async fn connect(&mut self, endpoint: &str) -> Outcome<()> {
                    self.0.connect(endpoint.parse::<Endpoint>()?).await?;
                    Ok(())
                }

                async fn subscribe(&mut self) -> Outcome<()> {
                    Ok(self.0.subscribe(Bytes::new()).await?)
                }

                async fn send(&mut self, payload: &Bytes) -> Outcome<()> {
                    Ok(self.0.send(Message::single(payload.clone())).await?)
                }

                async fn receive(&mut self) -> Outcome<u8> {
                    let message = self.0.recv().await?;
                    Ok(message.get(0).map_or(0, first_byte))
                }

                async fn echo(&mut self) -> Outcome<()> {
                    let message = self.0.recv().await?;
                    Ok(self.0.send(message).await?)
                }

                async fn close(self) -> Outcome<()> {
                    Ok(self.0.close().await?)
                }
            }
        }
    };
}

node!(
    newest,
    omq,
    omq::CurveKeypair,
    omq::CurveKeypair::generate(),
    |keys: &omq::CurveKeypair| keys.public.to_z85(),
    Options::curve_server,
    |options: Options, keys, key: &str| -> Outcome<Options> {
        Ok(options.curve_client(keys, omq::CurvePublicKey::from_z85(key)?))
    },
    // With CURVE a publisher keeps 64 messages for each subscriber, whatever `send_hwm` says, and
    // drops more than these.
    |options: Options| Options {
        xpub_nodrop: true,
        ..options
    }
);

node!(
    with_blake3,
    omq_blake3,
    omq_blake3::Blake3ZmqKeypair,
    omq_blake3::Blake3ZmqKeypair::generate(),
    |keys: &omq_blake3::Blake3ZmqKeypair| encode(&keys.public.0),
    Options::blake3zmq_server,
    |options: Options, keys, key: &str| -> Outcome<Options> {
        Ok(options.blake3zmq_client(
            keys,
            omq_blake3::Blake3ZmqPublicKey(decode(key)?.try_into().map_err(|_| "32 bytes")?),
        ))
    },
    |options| options
);
