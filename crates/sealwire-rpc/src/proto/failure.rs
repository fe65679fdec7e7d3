//! The body of ERROR: code, length of the message, message, details.

use super::Violation;
use crate::status::{Code, Status};

/// Bytes before the message.
pub(super) const FIXED: usize = 4;

/// `max_details` bytes of details are taken by the peer; more are of no use to it.
pub(super) fn body(status: &Status, max_details: u32) -> Vec<u8> {
    let mut end = status.message.len().min(usize::from(u16::MAX));
    while !status.message.is_char_boundary(end) {
        end -= 1;
    }
    let message = &status.message.as_bytes()[..end];
    let details = &status.details[..];
    let details = if details.len() > max_details as usize {
        &[]
    } else {
        details
    };
    let mut body = Vec::with_capacity(FIXED + message.len() + details.len());
    body.extend_from_slice(&status.code.0.to_be_bytes());
    body.extend_from_slice(&(message.len() as u16).to_be_bytes());
    body.extend_from_slice(message);
    body.extend_from_slice(details);
    body
}

pub(super) fn read(info: u8, body: &[u8], max_details: u32) -> Result<Status, Violation> {
    let Some((&[a, b, c, d], rest)) = body.split_first_chunk::<FIXED>() else {
        return Err(Violation::Truncated);
    };
    let length = usize::from(u16::from_be_bytes([c, d]));
    let Some((message, details)) = rest.split_at_checked(length) else {
        return Err(Violation::Truncated);
    };
    if details.len() > max_details as usize {
        return Err(Violation::TooLarge);
    }
    let mut status = Status::new(
        Code(u16::from_be_bytes([a, b])),
        String::from_utf8_lossy(message),
    );
    status.details = details.to_vec();
    status.not_started = info & 1 == 1;
    Ok(status)
}
