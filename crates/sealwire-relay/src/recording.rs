//! A whole connection, to be played again.

use std::io::{self, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Act, Format, Script, TIME_LIMIT};

/// Where a unit goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the peer that connected.
    ToServer,
    /// From the peer that accepted.
    ToClient,
}

type Units = Vec<(Direction, Vec<u8>)>;

/// The units of a connection, in an order in which each could cause those behind it.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    units: Arc<Mutex<Units>>,
}

impl Recording {
    /// Carries the units of one direction as they are and notes them here.
    #[must_use]
    pub fn script(&self, direction: Direction) -> Script {
        let units = self.units.clone();
        Box::new(move |_, unit| {
            let mut units = units.lock().unwrap_or_else(PoisonError::into_inner);
            units.push((direction, unit.clone()));
            Act::forward(unit)
        })
    }

    /// What went in one direction so far.
    #[must_use]
    pub fn sent(&self, direction: Direction) -> Vec<Vec<u8>> {
        let units = self.units().into_iter();
        let units = units.filter(|(sent, _)| *sent == direction);
        units.map(|(_, unit)| unit).collect()
    }

    fn units(&self) -> Units {
        let units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        units.clone()
    }

    /// Plays the client to a server again: waits for as many units as the server gave before each of the
    /// client's, until all are sent or the server has had enough.
    ///
    /// # Errors
    ///
    /// The stream takes no options.
    pub fn play(&self, stream: &TcpStream, format: &Format) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIME_LIMIT))?;
        let units = self.units();
        let by_client = |(direction, _): &(_, _)| *direction == Direction::ToServer;
        let end = units.iter().rposition(by_client).map_or(0, |last| last + 1);
        let mut reader = BufReader::new(stream);
        let mut received = 0;
        for (direction, unit) in &units[..end] {
            let goes_on = match direction {
                Direction::ToServer => (&*stream).write_all(unit).is_ok(),
                Direction::ToClient => {
                    let unit = format.read_unit(&mut reader, received);
                    received += 1;
                    unit.is_ok_and(|unit| unit.is_some())
                }
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }
}
