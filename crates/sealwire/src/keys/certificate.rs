//! CZMQ certificates: ZPL text (RFC 4) with a `curve` section that holds the keys in Z85.
//!
//! ```text
//! #   comment
//! metadata
//!     name = "client"
//! curve
//!     public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
//!     secret-key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
//! ```

use sealwire_zmtp::KeyPair;
use zeroize::Zeroizing;

/// The keys of a certificate, not yet decoded.
#[derive(Default)]
pub(super) struct Certificate<'a> {
    pub(super) public: Option<Value<'a>>,
    pub(super) secret: Option<Value<'a>>,
    /// The line of a second key of a kind, counted from 1, and the kind.
    pub(super) repeated: Option<(usize, &'static str)>,
}

pub(super) struct Value<'a> {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) text: &'a str,
}

impl<'a> Certificate<'a> {
    /// `None` when the text has no `curve` section.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut certificate = None;
        for (index, line) in text.lines().enumerate() {
            let trimmed = line.trim();
            let indented = line.starts_with([' ', '\t']);
            if !indented && trimmed == "curve" {
                certificate.get_or_insert_with(Certificate::default);
                continue;
            }
            let Some((name, value)) = trimmed.split_once('=') else {
                continue;
            };
            let Some(found) = certificate.as_mut().filter(|_| indented) else {
                continue;
            };
            let value = Value {
                line: index + 1,
                text: unquote(value.trim()),
            };
            let (line, kind, place) = match name.trim() {
                "public-key" => (value.line, "public", &mut found.public),
                "secret-key" => (value.line, "secret", &mut found.secret),
                _ => continue,
            };
            if place.replace(value).is_some() {
                found.repeated.get_or_insert((line, kind));
            }
        }
        certificate
    }
}

/// ZPL strings stand in single or double quotes; Z85 contains neither.
fn unquote(value: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|&quote| value.strip_prefix(quote)?.split(quote).next())
        .unwrap_or(value)
}

pub(super) fn public_text(keys: &KeyPair) -> String {
    format!(
        "#   Sealwire public key: give it to those who are to know you.\n\
         metadata\ncurve\n    public-key = \"{}\"\n",
        keys.public()
    )
}

pub(super) fn secret_text(keys: &KeyPair) -> Zeroizing<String> {
    Zeroizing::new(format!(
        "#   Sealwire SECRET key: give it to nobody.\n\
         metadata\ncurve\n    public-key = \"{}\"\n    secret-key = \"{}\"\n",
        keys.public(),
        keys.secret().to_z85().as_str()
    ))
}
