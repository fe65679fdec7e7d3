//! gRPC over TLS: tonic with rustls, the certificate made at the start. The service is what
//! tonic's generator makes of `rpc Echo(Body) returns (Body); rpc Take(stream Body) returns (Body);`,
//! on one thread at each end.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rcgen::CertifiedKey;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, Context, Poll, Service, http, tokio_stream};
use tonic::transport::{
    Certificate, Channel, ClientTlsConfig, Identity, Server, ServerTlsConfig, server::TcpIncoming,
};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::side::Introduction;
use crate::{CALL, Error, MESSAGE};

const ECHO: &str = "/bench.Bench/Echo";
const TAKE: &str = "/bench.Bench/Take";
/// Windows wide enough to wait for nothing on the loopback, in bytes.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Calls at a time that the server allows.
const MAX_STREAMS: u32 = 4_096;

#[derive(Clone, PartialEq, prost::Message)]
struct Body {
    #[prost(bytes = "bytes", tag = "1")]
    data: Bytes,
}

type Codec = ProstCodec<Body, Body>;
type Grpc = tonic::client::Grpc<Channel>;

fn runtime() -> Result<Runtime, Error> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_all().build()?)
}

// ---- client -----------------------------------------------------------------------------------------

pub(crate) struct Client {
    runtime: Runtime,
    grpc: Grpc,
}

impl Client {
    pub(crate) fn connect(introduction: &Introduction) -> Result<Self, Error> {
        let runtime = runtime()?;
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(&introduction.certificate))
            .domain_name("localhost");
        let endpoint = Channel::from_shared(format!("https://{}", introduction.grpc))?
            .tls_config(tls)?
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let channel = runtime.block_on(endpoint.connect())?;
        Ok(Client {
            runtime,
            grpc: Grpc::new(channel),
        })
    }

    /// Calls a second with `depth` of them in flight.
    pub(crate) fn calls(&mut self, depth: usize, turn: Duration) -> Result<f64, Error> {
        let grpc = self.grpc.clone();
        self.runtime.block_on(async move {
            let started = Instant::now();
            let until = started + turn;
            let mut callers = JoinSet::new();
            for _ in 0..depth {
                callers.spawn(call_until(grpc.clone(), until));
            }
            let mut done = 0;
            while let Some(calls) = callers.join_next().await {
                done += calls??;
            }
            Ok(f64::from(done) / started.elapsed().as_secs_f64())
        })
    }

    /// Sends the messages of one stream until then.
    pub(crate) fn one_way(&mut self, until: Instant) -> Result<(), Error> {
        let grpc = &mut self.grpc;
        self.runtime.block_on(async move {
            let body = Body {
                data: Bytes::from_static(&[0x5a; MESSAGE]),
            };
            let messages =
                std::iter::from_fn(move || (Instant::now() < until).then(|| body.clone()));
            let request = Request::new(tokio_stream::iter(messages));
            grpc.ready().await?;
            let path = PathAndQuery::from_static(TAKE);
            grpc.client_streaming(request, path, Codec::default())
                .await?;
            Ok(())
        })
    }
}

async fn call_until(mut grpc: Grpc, until: Instant) -> Result<u32, Error> {
    let body = Body {
        data: Bytes::from_static(&[0x5a; CALL]),
    };
    let mut done = 0;
    while Instant::now() < until {
        grpc.ready().await?;
        let path = PathAndQuery::from_static(ECHO);
        let answer: Response<Body> = grpc
            .unary(Request::new(body.clone()), path, Codec::default())
            .await?;
        assert_eq!(
            answer.get_ref().data.len(),
            CALL,
            "an answer to something else"
        );
        done += 1;
    }
    Ok(done)
}

// ---- server -----------------------------------------------------------------------------------------

#[derive(Clone)]
struct Bench {
    arrived: Arc<AtomicU64>,
}

impl tonic::server::NamedService for Bench {
    const NAME: &'static str = "bench.Bench";
}

impl Service<http::Request<tonic::body::Body>> for Bench {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let mut grpc = tonic::server::Grpc::new(Codec::default());
        let arrived = self.arrived.clone();
        Box::pin(async move {
            Ok(match request.uri().path() {
                ECHO => grpc.unary(Echo, request).await,
                _ => grpc.client_streaming(Take { arrived }, request).await,
            })
        })
    }
}

struct Echo;

impl tonic::server::UnaryService<Body> for Echo {
    type Response = Body;
    type Future = BoxFuture<Response<Body>, Status>;

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(async move { Ok(Response::new(request.into_inner())) })
    }
}

struct Take {
    arrived: Arc<AtomicU64>,
}

impl tonic::server::ClientStreamingService<Body> for Take {
    type Response = Body;
    type Future = BoxFuture<Response<Body>, Status>;

    fn call(&mut self, request: Request<Streaming<Body>>) -> Self::Future {
        let arrived = self.arrived.clone();
        Box::pin(async move {
            let mut messages = request.into_inner();
            while messages.message().await?.is_some() {
                arrived.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Response::new(Body::default()))
        })
    }
}

pub(crate) fn certificate() -> Result<CertifiedKey<rcgen::KeyPair>, Error> {
    Ok(rcgen::generate_simple_self_signed(
        ["localhost".to_owned()],
    )?)
}

pub(crate) fn serve(
    listener: TcpListener,
    certificate: &CertifiedKey<rcgen::KeyPair>,
    arrived: Arc<AtomicU64>,
) -> Result<(), Error> {
    let identity = Identity::from_pem(
        certificate.cert.pem(),
        certificate.signing_key.serialize_pem(),
    );
    runtime()?.block_on(async move {
        listener.set_nonblocking(true)?;
        let incoming = TcpIncoming::from(tokio::net::TcpListener::from_std(listener)?);
        Server::builder()
            .tls_config(ServerTlsConfig::new().identity(identity))?
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(MAX_STREAMS)
            .add_service(Bench { arrived })
            .serve_with_incoming(incoming.with_nodelay(Some(true)))
            .await?;
        Ok(())
    })
}
