//! State machines of Sealwire in Stateright: every order of steps within bounds. See `../README.md`.
//!
//! ```text
//!   sealwire-states              all models
//!   sealwire-states --quick      with the bounds that CI has
//!   sealwire-states --explain    prints a path to what breaks
//!   sealwire-states MODEL...     these models only: lease, pipe, session
//! ```
//!
//! Fails when a claim breaks or can go on without end, when a control breaks nothing, and where a property has no
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

use check::Checked;
use lease::LeaseModel;
use pipe::PipeModel;
use session::SessionModel;
// Where files of the library look for them.
use stand_ins::{connection, error, limits, options, wire};

extern crate self as sealwire_zmtp;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|it| it == name);
    let (quick, explain) = (has("--quick"), has("--explain"));
    let all = arguments.iter().all(|it| it.starts_with("--"));
    check::header();
    let mut wrong = 0;
    if all || has(LeaseModel::NAME) {
        wrong += check::check::<LeaseModel>(quick, explain);
    }
    if all || has(PipeModel::NAME) {
        wrong += check::check::<PipeModel>(quick, explain);
    }
    if all || has(SessionModel::NAME) {
        wrong += check::check::<SessionModel>(quick, explain);
    }
    println!("{wrong} differences");
    ExitCode::from(u8::from(wrong > 0))
}
