//! The published vectors.

use super::*;
use crate::schemes::shared_tests::ciphers::cipher_tests;

cipher_tests!("siv", Siv);
