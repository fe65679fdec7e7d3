//! What the program promises, a module for each command or behaviour.

mod support;

mod accounts;
mod bench;
#[cfg(unix)]
mod check_config;
mod demo;
mod doctor;
#[cfg(target_os = "linux")]
mod doors;
mod every_type;
mod failures;
#[cfg(target_os = "linux")]
mod faults;
mod file;
#[cfg(target_os = "linux")]
mod handing_over;
mod help;
mod hyphens;
mod keygen;
mod messages;
mod metrics;
#[cfg(unix)]
mod migrating;
mod newplex;
mod proxy;
#[cfg(unix)]
mod renewal;
mod rpc;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod stopping;
#[cfg(target_os = "linux")]
mod supervisor;
mod tls;
#[cfg(target_os = "linux")]
mod top;
mod tuning;
mod tunnel;
#[cfg(target_os = "linux")]
mod work;
