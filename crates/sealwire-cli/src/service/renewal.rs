//! Keys, lists and certificates that are read again at SIGHUP, while the sockets that they are for go on.

use std::io::{self, IsTerminal as _};

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Security, SocketBuilder};

use super::notify;
use crate::exit::Failure;
use crate::interrupt;
use crate::report::ReportOptions;
use crate::tls_options::TlsOptions;

/// What becomes of connections when keys are read again.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "As a service")]
pub(crate) struct RenewalOptions {
    /// At SIGHUP, which has files of keys and certificates read again: connections under a key that was taken away
    /// stay [default: they end in order]
    #[arg(long)]
    keep_withdrawn: bool,
}

impl RenewalOptions {
    pub(crate) fn withdrawn(self) -> Withdrawn {
        match self.keep_withdrawn {
            true => Withdrawn::Stay,
            false => Withdrawn::End,
        }
    }

    /// Has the keys of these sockets read again at SIGHUP: all of them, or none where one file cannot be read.
    pub(crate) fn renew_sockets(
        self,
        sockets: Vec<Renewed>,
        report: ReportOptions,
    ) -> Result<(), Failure> {
        self.renew(report, move |withdrawn| {
            let read = sockets.iter().map(Renewed::read);
            let read: Vec<_> = read.collect::<Result<_, _>>()?;
            for (renewed, endpoints) in sockets.iter().zip(read) {
                for (endpoint, options) in endpoints {
                    let socket = &renewed.socket;
                    socket.reconfigure_endpoint(endpoint, options, withdrawn)?;
                }
            }
            Ok(())
        })
    }

    /// Has something read again at SIGHUP, as [`read_again`] does.
    pub(crate) fn renew(
        self,
        report: ReportOptions,
        mut renew: impl FnMut(Withdrawn) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        read_again(report, move || renew(self.withdrawn()))
    }
}

/// Has something read again at SIGHUP. To be called before [`interrupt::finish_on_signal`]. A program with a terminal
/// ends when that hangs up.
pub(crate) fn read_again(
    report: ReportOptions,
    mut read: impl FnMut() -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    if io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal() {
        return Ok(());
    }
    interrupt::at_hangup(move || {
        notify::reloading();
        match read() {
            Ok(()) => report.renewed(),
            Err(failure) => report.warn(format!(
                "keys stay as they were read before: {}",
                failure.message()
            )),
        }
        notify::reloaded();
    })
}

/// A socket, and where its keys come from.
pub(crate) struct Renewed {
    pub(crate) socket: Socket,
    /// Reads them.
    pub(crate) security: Box<dyn Fn() -> Result<Security, Failure> + Send>,
    pub(crate) tls: TlsOptions,
}

impl Renewed {
    /// Reads all files, and returns the options that each endpoint gets.
    fn read(&self) -> Result<Vec<(Endpoint, SocketBuilder)>, Failure> {
        let security = (self.security)()?;
        let bound = self.socket.bound_endpoints().into_iter();
        let connected = self.socket.connected_endpoints().into_iter();
        let all = bound.map(|it| (it, true));
        let all = all.chain(connected.map(|it| (it, false)));
        // Neither has keys.
        let has_none = |it: &Endpoint| matches!(it, Endpoint::Udp { .. } | Endpoint::Inproc(_));
        all.filter(|(endpoint, _)| !has_none(endpoint))
            .map(|(endpoint, is_bound)| {
                let options = self.socket.endpoint_options(endpoint.clone())?;
                let options = options.security(security.clone());
                let here = std::slice::from_ref(&endpoint);
                let options = match is_bound {
                    true => self.tls.apply(options, here, &[])?,
                    false => self.tls.apply(options, &[], here)?,
                };
                Ok((endpoint, options))
            })
            .collect()
    }
}
