//! State machines of Sealwire in Stateright: every order of steps within bounds. See `../README.md`.
//!
//! ```text
//!   sealwire-states              all models
//!   sealwire-states --quick      with the bounds that CI has
//!   sealwire-states --explain    prints a path to what breaks
//!   sealwire-states NAME...      these only: a model (lease, pipe, session), or a row ("lease:a cut, and back")
//! ```
//!
//! Fails when no row has the name, when a claim breaks or can go on without end, when a control breaks nothing, and where a property has no
//! control.

mod check;
mod endless;
mod lease;
mod pipe;
mod session;
#[allow(
    dead_code,
    reason = "files of the library name more than the models use"
)]
mod stand_ins;

use std::process::ExitCode;

use lease::LeaseModel;
use pipe::PipeModel;
use session::SessionModel;
// Where files of the library look for them.
use stand_ins::{connection, error, limits, options, wire};

extern crate self as sealwire_zmtp;

fn main() -> ExitCode {
    let (options, names): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|it| it.starts_with("--"));
    let has = |option: &str| options.iter().any(|it| it == option);
    let run = check::Run {
        quick: has("--quick"),
        explain: has("--explain"),
        names,
    };
    check::header();
    let models = [
        check::check::<LeaseModel>(&run),
        check::check::<PipeModel>(&run),
        check::check::<SessionModel>(&run),
    ];
    let rows: usize = models.iter().map(|it| it.rows).sum();
    let wrong: usize = models.iter().map(|it| it.wrong).sum();
    println!("{rows} rows, {wrong} differences");
    ExitCode::from(u8::from(wrong > 0 || rows == 0))
}
