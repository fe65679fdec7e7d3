//! Declares counters once, as the atomics that threads count in and as the numbers that callers
//! get.

/// Declares a set of counters: a struct of numbers as callers get it, and one of atomics in which any
/// number of threads count. For crates over this one that count things of their own.
///
/// Behind the counters may stand one more value that is counted elsewhere and has a `snapshot`, and numbers that are
/// counted elsewhere, which are 0 until they are filled in.
///
/// ```
/// use std::sync::atomic::Ordering;
///
/// sealwire::counters! {
///     /// What a relay has done.
///     pub struct Counters;
///     /// The same, while it is counted.
///     struct LiveCounters {
///         /// Messages that went through.
///         forwarded,
///         /// Messages that nobody wanted.
///         dropped,
///     }
/// }
///
/// let live = LiveCounters::default();
/// live.forwarded.fetch_add(2, Ordering::Relaxed);
/// let counters = live.snapshot();
/// assert_eq!((counters.forwarded, counters.dropped), (2, 0));
/// ```
#[macro_export]
macro_rules! counters {
    (
        $(#[$of_all:meta])*
        $public:vis struct $Counters:ident;
        $(#[$of_live:meta])*
        $live:vis struct $Live:ident {
            $($(#[$doc:meta])* $name:ident,)*
        }
        $(with $more:ident: $More:ty, counted in $counting:ident: $Counting:ty;)?
        $(and, counted elsewhere { $($(#[$of_other:meta])* $other:ident,)* })?
    ) => {
        $(#[$of_all])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        $public struct $Counters {
            $($(#[$doc])* pub $name: u64,)*
            $($more: $More,)?
            $($($(#[$of_other])* pub $other: u64,)*)?
        }

        $(#[$of_live])*
        #[derive(Debug, Default)]
        $live struct $Live {
            $($live $name: ::std::sync::atomic::AtomicU64,)*
            $($live $counting: $Counting,)?
        }

        impl $Live {
            /// The numbers as of now.
            $live fn snapshot(&self) -> $Counters {
                $Counters {
                    $($name: self.$name.load(::std::sync::atomic::Ordering::Relaxed),)*
                    $($more: self.$counting.snapshot(),)?
                    $($($other: 0,)*)?
                }
            }
        }
    };
}
