//! The cells that are counted: mechanisms, sizes and sides.

use std::fmt;

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mechanism {
    Null,
    Blake3,
}

impl Mechanism {
    /// As the command line has it.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Mechanism::Null => "null",
            Mechanism::Blake3 => "blake3",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mechanism::Null => "NULL",
            Mechanism::Blake3 => "BLAKE3ZMQ",
        })
    }
}

/// The process that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Sender,
    Receiver,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Sender => "sender",
            Side::Receiver => "receiver",
        })
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) mechanism: Mechanism,
    /// Payload of a message, in bytes.
    pub(crate) size: usize,
    pub(crate) side: Side,
}

impl Cell {
    pub(crate) fn all() -> Vec<Cell> {
        let mut cells = Vec::new();
        for mechanism in [Mechanism::Null, Mechanism::Blake3] {
            for size in [64, 1024] {
                for side in [Side::Sender, Side::Receiver] {
                    cells.push(Cell {
                        mechanism,
                        size,
                        side,
                    });
                }
            }
        }
        cells
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} B, {}", self.mechanism, self.size, self.side)
    }
}
