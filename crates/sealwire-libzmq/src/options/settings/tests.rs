use super::*;

#[test]
fn every_option_answers_what_it_was_set_to_and_refuses_what_is_out_of_its_range() {
    for entry in TABLE {
        let mut settings = Settings::default();
        let (good, bad): (Vec<Vec<u8>>, Vec<Vec<u8>>) = match entry.kind {
            Kind::Int(least, most, _) => (
                [least, most].map(|it| it.to_ne_bytes().to_vec()).into(),
                match least.checked_sub(1) {
                    Some(less) => vec![less.to_ne_bytes().to_vec(), vec![0; 3]],
                    None => vec![vec![0; 3]],
                },
            ),
            Kind::Flag(_) => (
                [0, 1].map(|it: c_int| it.to_ne_bytes().to_vec()).into(),
                vec![2_i32.to_ne_bytes().to_vec(), vec![1], vec![0; 8]],
            ),
            Kind::Switch(_) => (
                [0, 1].map(|it: c_int| it.to_ne_bytes().to_vec()).into(),
                vec![vec![1], vec![0; 8]],
            ),
            Kind::Long(_) | Kind::Bits(_) => (vec![vec![7; 8]], vec![vec![7; 4]]),
            Kind::Bytes(most, _) => (
                vec![b"bytes".to_vec()],
                if most < 1_000 {
                    vec![vec![1; most + 1]]
                } else {
                    vec![]
                },
            ),
            Kind::Text(most) => (vec![b"text".to_vec()], vec![vec![], vec![b'a'; most + 1]]),
            Kind::EmptyText(most) => (vec![b"text".to_vec(), vec![]], vec![vec![b'a'; most + 1]]),
            Kind::Key => (vec![vec![9; 32]], vec![vec![9; 31], vec![b'!'; 42]]),
            Kind::Keys => (
                vec![vec![9; 32], vec![b'0'; 40], vec![]],
                vec![vec![9; 31], vec![b'!'; 42]],
            ),
            Kind::Numbers => (vec![vec![7; 4]], vec![vec![], vec![7; 3], vec![7; 8]]),
            Kind::Addresses => (
                [&b"127.0.0.1"[..], b"10.0.0.0/8", b"::1/128"]
                    .map(<[u8]>::to_vec)
                    .into(),
                [
                    &b""[..],
                    b"nowhere",
                    b"10.0.0.0/33",
                    b"::/129",
                    b"10.0.0.0/x",
                ]
                .map(<[u8]>::to_vec)
                .into(),
            ),
            Kind::Property => (
                vec![b"X-Name:value".to_vec(), b"X-Name:a:b".to_vec()],
                [
                    &b"X-Name"[..],
                    b":value",
                    b"X-Name:",
                    b"",
                    b"Name:value",
                    &[b"X-", [b'a'; 254].as_slice(), b":value"].concat(),
                ]
                .map(<[u8]>::to_vec)
                .into(),
            ),
            Kind::Action => continue,
        };
        for value in good {
            let set = settings.set(entry.number, Some(&value));
            if entry.access == Access::Get {
                assert_eq!(set, Err(Errno::INVAL), "{}", entry.name);
                continue;
            }
            assert_eq!(set, Ok(()), "{} to {value:?}", entry.name);
            let room = match entry.kind {
                Kind::Int(..) | Kind::Flag(_) | Kind::Switch(_) => 4,
                Kind::Long(_) | Kind::Bits(_) => 8,
                _ => 32,
            };
            let answer = settings.get(entry.number, room);
            match entry.access {
                Access::Set => assert_eq!(answer, Err(Errno::INVAL), "{}", entry.name),
                _ if entry.number == number::HEARTBEAT_TTL => {
                    let answer = c_int::from_ne_bytes(answer.unwrap()[..].try_into().unwrap());
                    let given = c_int::from_ne_bytes(value.try_into().unwrap());
                    assert_eq!(answer, given / 100 * 100);
                }
                _ => assert!(
                    answer.as_ref().is_ok_and(|it| it.starts_with(&value)),
                    "{}: {answer:?}",
                    entry.name
                ),
            }
        }
        for value in bad {
            let set = settings.set(entry.number, Some(&value));
            assert_eq!(set, Err(Errno::INVAL), "{} to {value:?}", entry.name);
        }
    }
}

#[test]
fn no_value_removes_filters_and_an_empty_one_does_not() {
    let mut settings = Settings::default();
    let uid = number::IPC_FILTER_UID;
    let addresses = number::TCP_ACCEPT_FILTER;
    settings.set(uid, Some(&7_i32.to_ne_bytes())).unwrap();
    settings.set(addresses, Some(b"192.0.2.0/24")).unwrap();
    for option in [uid, addresses] {
        assert_eq!(settings.set(option, Some(b"")), Err(Errno::INVAL));
    }
    assert_eq!(settings.numbers(uid), [7]);
    assert_eq!(settings.addresses(addresses).len(), 1);
    for option in [uid, addresses] {
        settings.set(option, None).unwrap();
    }
    assert!(settings.numbers(uid).is_empty() && settings.addresses(addresses).is_empty());
}

#[test]
fn numbers_are_in_order_and_none_comes_twice() {
    assert!(TABLE.windows(2).all(|pair| pair[0].number < pair[1].number));
    let mut settings = Settings::default();
    for number in [-1, 0, 1, 41, 62, 1_000, c_int::MIN, c_int::MAX] {
        assert_eq!(settings.set(number, Some(&[0; 4])), Err(Errno::INVAL));
        assert_eq!(settings.get(number, 100), Err(Errno::INVAL));
    }
}

#[test]
fn keys_come_back_in_both_forms() {
    let mut settings = Settings::default();
    let text = sealwire_zmtp::keys::z85::encode(&[5; 32]);
    let option = number::CURVE_PUBLICKEY;
    settings.set(option, Some(text.as_bytes())).unwrap();
    assert_eq!(settings.get(option, 32).unwrap()[..], [5; 32]);
    let with_zero = [text.as_bytes(), &[0]].concat();
    assert_eq!(*settings.get(option, 41).unwrap(), with_zero);
    settings.set(option, Some(&with_zero)).unwrap();
    assert_eq!(settings.get(option, 40), Err(Errno::INVAL));
}

#[test]
fn the_last_option_for_a_mechanism_decides_and_keys_never_mean_plain_text() {
    use number::{
        BLAKE3_ANYONE, BLAKE3_SECRETKEY, BLAKE3_SERVER, BLAKE3_SERVERKEY, CURVE_PUBLICKEY,
        CURVE_SECRETKEY, CURVE_SERVER, CURVE_SERVERKEY, PLAIN_PASSWORD, PLAIN_SERVER,
        PLAIN_USERNAME,
    };
    let (on, off) = (1_i32.to_ne_bytes(), 0_i32.to_ne_bytes());
    let (text, zeros) = (&b"admin"[..], &[0; 32][..]);
    let steps = [
        (CURVE_SECRETKEY, Some(zeros), Mechanism::Curve, false),
        (CURVE_SERVER, Some(&off[..]), Mechanism::Null, false),
        (CURVE_PUBLICKEY, Some(zeros), Mechanism::Curve, false),
        (CURVE_SERVER, Some(&on[..]), Mechanism::Curve, true),
        (CURVE_SECRETKEY, Some(zeros), Mechanism::Curve, true),
        (CURVE_SERVERKEY, Some(zeros), Mechanism::Curve, false),
        (PLAIN_SERVER, Some(&on[..]), Mechanism::Plain, true),
        (PLAIN_USERNAME, Some(text), Mechanism::Plain, false),
        (CURVE_SERVERKEY, Some(zeros), Mechanism::Curve, false),
        (PLAIN_PASSWORD, Some(text), Mechanism::Plain, false),
        (PLAIN_USERNAME, None, Mechanism::Null, false),
        (BLAKE3_SERVERKEY, Some(&[9; 32]), Mechanism::Blake3, false),
        (CURVE_SERVER, Some(&on[..]), Mechanism::Curve, true),
        // Keys of BLAKE3 are there still.
        (CURVE_SERVER, Some(&off[..]), Mechanism::Blake3, false),
        (CURVE_SERVER, Some(&on[..]), Mechanism::Curve, true),
        (BLAKE3_SECRETKEY, Some(&[9; 32]), Mechanism::Blake3, true),
        // Keys are there still, and nobody has asked for plain text.
        (BLAKE3_SERVER, Some(&off[..]), Mechanism::Blake3, false),
        (BLAKE3_SERVER, Some(&on[..]), Mechanism::Blake3, true),
        (CURVE_SERVER, Some(&on[..]), Mechanism::Curve, true),
        (CURVE_SERVER, Some(&off[..]), Mechanism::Blake3, true),
        (BLAKE3_SERVERKEY, Some(&[9; 32]), Mechanism::Blake3, false),
        (CURVE_SERVER, Some(&on[..]), Mechanism::Curve, true),
        (CURVE_SERVER, Some(&off[..]), Mechanism::Blake3, false),
    ];
    let mut settings = Settings::default();
    for (step, (option, given, mechanism, server)) in steps.into_iter().enumerate() {
        if option == BLAKE3_SERVERKEY {
            // A server lacks nothing from here on.
            settings.set(BLAKE3_ANYONE, Some(&on)).unwrap();
        }
        settings.set(option, given).unwrap();
        assert_eq!(settings.mechanism(), mechanism, "step {step}");
        assert_eq!(settings.is_server(), server, "step {step}");
        for (option, of) in [
            (PLAIN_SERVER, Mechanism::Plain),
            (CURVE_SERVER, Mechanism::Curve),
            (BLAKE3_SERVER, Mechanism::Blake3),
        ] {
            let answer = c_int::from(server && mechanism == of).to_ne_bytes();
            assert_eq!(settings.get(option, 4).unwrap()[..], answer, "step {step}");
        }
        let named = settings.security().unwrap();
        let names: Vec<_> = named.mechanisms().map(|it| it.name()).collect();
        let expected = match mechanism {
            Mechanism::Null => "NULL",
            Mechanism::Plain => "PLAIN",
            Mechanism::Curve => "CURVE",
            Mechanism::Blake3 => "BLAKE3",
        };
        assert_eq!(names, [expected], "step {step}");
    }
}

#[test]
fn a_server_has_as_many_additional_keys_as_a_client_may_know() {
    let mut settings = Settings::default();
    let mut add = |key: &[u8]| settings.set(number::BLAKE3_ADDITIONAL_SECRETKEY, Some(key));
    for key in 1..=3 {
        add(&[key; 32]).unwrap();
    }
    assert_eq!(add(&[4; 32]), Err(Errno::INVAL));
    add(b"").unwrap();
    add(&[4; 32]).unwrap();
}

#[test]
fn a_switch_is_on_with_any_number_but_0() {
    let mut settings = Settings::default();
    for (given, is) in [(7, 1), (0, 0), (-1, 1), (1, 1)] {
        let given: c_int = given;
        let set = settings.set(number::ZAP_ENFORCE_DOMAIN, Some(&given.to_ne_bytes()));
        assert_eq!(set, Ok(()));
        assert_eq!(settings.int(number::ZAP_ENFORCE_DOMAIN), is);
    }
}

#[test]
fn a_number_is_answered_to_a_buffer_of_its_size() {
    let settings = Settings::default();
    for (option, size) in [
        (number::SNDHWM, 4),
        (number::CURVE_SERVER, 4),
        (number::INVERT_MATCHING, 4),
        (number::MAXMSGSIZE, 8),
        (number::AFFINITY, 8),
    ] {
        for room in [0, 1, 3, 4, 5, 7, 8, 9, 64] {
            let answer = settings.get(option, room);
            assert_eq!(answer.is_ok(), room == size, "{option} in {room}");
        }
    }
    // Of text there may be less than the buffer takes.
    assert!(settings.get(number::ZAP_DOMAIN, 64).is_ok());
}

#[test]
fn options_that_libzmq_has_one_state_for_change_each_other() {
    use number::{XPUB_MANUAL, XPUB_MANUAL_LAST_VALUE, XPUB_VERBOSE, XPUB_VERBOSER};
    for (given, verbose, verboser, manual, last) in [
        (&[(XPUB_VERBOSER, 1)][..], 0, 1, 0, 0),
        (&[(XPUB_VERBOSER, 1), (XPUB_VERBOSE, 1)], 1, 0, 0, 0),
        (&[(XPUB_VERBOSER, 1), (XPUB_VERBOSE, 0)], 0, 0, 0, 0),
        (&[(XPUB_VERBOSE, 1), (XPUB_VERBOSER, 0)], 0, 0, 0, 0),
        (&[(XPUB_MANUAL, 1), (XPUB_MANUAL_LAST_VALUE, 0)], 0, 0, 0, 0),
        (&[(XPUB_MANUAL_LAST_VALUE, 1), (XPUB_MANUAL, 0)], 0, 0, 0, 0),
        (&[(XPUB_MANUAL_LAST_VALUE, 1), (XPUB_MANUAL, 1)], 0, 0, 1, 1),
    ] {
        let mut settings = Settings::default();
        for (option, value) in given {
            let value: &c_int = value;
            settings.set(*option, Some(&value.to_ne_bytes())).unwrap();
        }
        let all = [
            XPUB_VERBOSE,
            XPUB_VERBOSER,
            XPUB_MANUAL,
            XPUB_MANUAL_LAST_VALUE,
        ];
        let found = all.map(|option| settings.int(option));
        assert_eq!(found, [verbose, verboser, manual, last], "{given:?}");
    }
}
