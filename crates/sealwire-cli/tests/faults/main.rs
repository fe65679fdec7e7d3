//! What the system refuses: descriptors, memory, threads, disk, time, and readers of what is written.
//! The program runs as a child with the fault put in; what it says and how it ends is the verdict, and a
//! bystander that goes on being served.

#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

#[path = "../tunnel/ends.rs"]
mod ends;

mod clock;
mod delays;
mod disk;
mod engine;
mod memory;
mod peers;
mod readers;
mod startup;
mod system;
mod tunnels;
