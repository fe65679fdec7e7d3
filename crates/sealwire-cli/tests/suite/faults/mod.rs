//! What the system refuses: descriptors, memory, threads, disk, time, and readers of what is written.
//! The program runs as a child with the fault put in; what it says and how it ends is the verdict, and a
//! bystander that goes on being served.

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
