//! The ratios that the project set itself.

use crate::contender::{
    AS_LIBZMQ_BLAKE3, AS_LIBZMQ_CURVE, AS_LIBZMQ_NULL, Contender, LIBZMQ_CURVE, LIBZMQ_NULL,
    LIBZMQ_TO_LIBZMQ, LIBZMQ_TO_SEALWIRE, OMQ_BLAKE3, OMQ_CURVE, OMQ_NULL, SEALWIRE_BLAKE3,
    SEALWIRE_CURVE, SEALWIRE_NULL, SEALWIRE_TO_LIBZMQ, TCP, TLS, ZMQ_RS_NULL,
};

pub(crate) struct Target {
    /// The plan's slug.
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [usize],
    pub(crate) ours: Contender,
    /// The best of these counts.
    pub(crate) against: &'static [Contender],
    /// How many times as good.
    pub(crate) ratio: f64,
}

const NULL_PEERS: &[Contender] = &[LIBZMQ_NULL, OMQ_NULL, ZMQ_RS_NULL];
const CURVE_PEERS: &[Contender] = &[LIBZMQ_CURVE, OMQ_CURVE];
const KIB: usize = 1 << 10;

const fn push_pull(
    columns: &'static [usize],
    ours: Contender,
    against: &'static [Contender],
    ratio: f64,
) -> Target {
    Target {
        table: "push-pull-tcp",
        columns,
        ours,
        against,
        ratio,
    }
}

const fn target(
    table: &'static str,
    columns: &'static [usize],
    ours: Contender,
    against: &'static [Contender],
    ratio: f64,
) -> Target {
    Target {
        table,
        columns,
        ours,
        against,
        ratio,
    }
}

/// Replacing one side of a running system never makes it slower.
const fn one_side_replaced(ours: Contender) -> Target {
    Target {
        table: "push-pull-mixed",
        columns: &[64, KIB, 4 * KIB, 64 * KIB],
        ours,
        against: &[LIBZMQ_TO_LIBZMQ],
        ratio: 1.0,
    }
}

pub(crate) const TARGETS: &[Target] = &[
    push_pull(
        &[64, 256, KIB, 4 * KIB],
        SEALWIRE_BLAKE3,
        &[LIBZMQ_NULL],
        1.0,
    ),
    push_pull(&[64], SEALWIRE_BLAKE3, &[OMQ_BLAKE3], 4.0),
    push_pull(&[256, KIB], SEALWIRE_BLAKE3, &[OMQ_BLAKE3], 3.0),
    push_pull(&[4 * KIB, 64 * KIB], SEALWIRE_BLAKE3, &[OMQ_BLAKE3], 2.0),
    push_pull(&[64 * KIB], SEALWIRE_BLAKE3, &[LIBZMQ_CURVE], 1.5),
    push_pull(&[64], SEALWIRE_NULL, NULL_PEERS, 2.0),
    push_pull(&[256], SEALWIRE_NULL, NULL_PEERS, 1.3),
    push_pull(&[KIB, 4 * KIB, 64 * KIB], SEALWIRE_NULL, NULL_PEERS, 1.0),
    push_pull(
        &[64, 256, KIB, 4 * KIB, 64 * KIB],
        SEALWIRE_CURVE,
        CURVE_PEERS,
        1.5,
    ),
    one_side_replaced(LIBZMQ_TO_SEALWIRE),
    one_side_replaced(SEALWIRE_TO_LIBZMQ),
    target(
        "push-pull-as-libzmq",
        &[64],
        AS_LIBZMQ_NULL,
        &[LIBZMQ_NULL],
        1.5,
    ),
    target(
        "push-pull-as-libzmq",
        &[64],
        AS_LIBZMQ_CURVE,
        &[LIBZMQ_CURVE],
        3.0,
    ),
    target(
        "push-pull-as-libzmq",
        &[64, KIB, 4 * KIB, 64 * KIB],
        AS_LIBZMQ_BLAKE3,
        &[SEALWIRE_BLAKE3],
        0.85,
    ),
    target(
        "req-rep-as-libzmq",
        &[64, KIB],
        AS_LIBZMQ_BLAKE3,
        &[SEALWIRE_BLAKE3],
        0.85,
    ),
    target(
        "req-rep-two-cores",
        &[64, KIB],
        SEALWIRE_BLAKE3,
        &[LIBZMQ_NULL],
        1.0,
    ),
    target(
        "req-rep-one-core",
        &[64, KIB],
        SEALWIRE_BLAKE3,
        &[LIBZMQ_NULL],
        1.0,
    ),
    target("req-rep-one-core", &[64], SEALWIRE_NULL, &[TCP], 1.0 / 1.6),
    target(
        "push-pull-inproc",
        &[64, KIB, 64 * KIB, KIB * KIB],
        SEALWIRE_NULL,
        NULL_PEERS,
        1.0,
    ),
    target("pub-sub-64", &[100], SEALWIRE_BLAKE3, &[LIBZMQ_CURVE], 2.0),
    target(
        "pub-sub-1024",
        &[100],
        SEALWIRE_BLAKE3,
        &[LIBZMQ_CURVE],
        2.0,
    ),
    target("handshakes", &[64], SEALWIRE_BLAKE3, &[LIBZMQ_CURVE], 2.0),
    target("handshakes", &[64], SEALWIRE_BLAKE3, &[TLS], 1.0),
];

#[cfg(test)]
mod tests {
    use super::TARGETS;
    use crate::cells::PLANS;

    /// The report would silently leave out a target of a cell that nothing measures.
    #[test]
    fn every_target_is_measured() {
        for target in TARGETS {
            let plan = PLANS.iter().find(|plan| plan.slug() == target.table);
            let plan = plan.unwrap_or_else(|| panic!("no table {}", target.table));
            for column in target.columns {
                assert!(plan.columns.contains(column), "{}, {column}", target.table);
            }
            assert!(
                plan.contenders.contains(&target.ours),
                "{}, {}",
                target.table,
                target.ours
            );
            assert!(
                target
                    .against
                    .iter()
                    .any(|peer| plan.contenders.contains(peer)),
                "{}, {}: nobody to compare with",
                target.table,
                target.ours
            );
        }
    }
}
