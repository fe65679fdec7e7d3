//! The RustCrypto `aead` traits, used the way generic code uses them.

use aead::inout::InOutBuf;
use aead::{Aead, AeadInOut, KeyInit, Nonce, Payload};
use sealwire_aead::Cipher;

fn round_trip<A: KeyInit + Aead + AeadInOut>() {
    let cipher = A::new(&aead::Key::<A>::default());
    let nonce = Nonce::<A>::default();
    let sealed = cipher
        .encrypt(
            &nonce,
            Payload {
                msg: b"message",
                aad: b"header",
            },
        )
        .expect("sealed");
    let opened = cipher.decrypt(
        &nonce,
        Payload {
            msg: &sealed,
            aad: b"header",
        },
    );
    assert_eq!(opened.as_deref(), Ok(&b"message"[..]));
    assert!(cipher.decrypt(&nonce, sealed.as_slice()).is_err());

    let (mut apart, mut in_place) = ([0; 7], *b"message");
    let buffer = InOutBuf::new(b"message", &mut apart).expect("equal lengths");
    let tag = cipher
        .encrypt_inout_detached(&nonce, b"header", buffer)
        .expect("sealed");
    assert_eq!(apart, sealed[..7]);
    assert_eq!(tag.as_slice(), &sealed[7..]);
    let same = cipher.encrypt_inout_detached(&nonce, b"header", in_place.as_mut_slice().into());
    assert_eq!((same, in_place), (Ok(tag), apart));
}

#[test]
fn generic_code_can_use_the_cipher() {
    round_trip::<Cipher>();
}

#[test]
fn the_traits_and_the_methods_give_the_same_bytes() {
    let by_trait = <Cipher as Aead>::encrypt(&Cipher::new(&[3; 32]), &[4; 24].into(), &b"x"[..]);
    assert_eq!(by_trait, Ok(Cipher::new(&[3; 32]).encrypt(&[4; 24], b"x")));
}
