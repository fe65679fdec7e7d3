//! A machine that has been up for long: the monotonic clock stands elsewhere than on others.

use super::system::{in_namespaces, run};

/// In seconds: a fortnight, where 32 bits of milliseconds end (49.7 days), where 34 do (198.8), and
/// about as long as the system takes.
const UPTIMES: [u64; 5] = [1_209_600, 4_294_960, 17_179_860, 20_000_000, 4_000_000_000];

fn after(uptime: u64, script: &str) {
    let offset = uptime.to_string();
    let clocks = [
        "--time",
        "--fork",
        "--monotonic",
        &offset,
        "--boottime",
        &offset,
    ];
    let none: [&str; 0] = [];
    let Some(mut command) = in_namespaces(&clocks, script, &none) else {
        return;
    };
    println!("up for {uptime} s");
    run(&mut command).expect_end(0, "");
}

#[test]
fn sockets_work_after_any_uptime() {
    const SCRIPT: &str = "folder=$(mktemp -d) && at=ipc://$folder/socket
        \"$0\" rep -b \"$at\" --echo -n 3 > /dev/null &
        \"$0\" req -c \"$at\" -d hello -n 3 && wait && rm -r \"$folder\"";
    for uptime in UPTIMES {
        after(uptime, SCRIPT);
    }
}

#[test]
fn calls_work_after_any_uptime() {
    const SCRIPT: &str = "folder=$(mktemp -d) && at=ipc://$folder/socket
        \"$0\" rpc serve -b \"$at\" --exec cat & server=$!
        until \"$0\" rpc call -c \"$at\" -d hello; do :; done
        kill -INT $server; wait $server; rm -r \"$folder\"; :";
    for uptime in UPTIMES {
        after(uptime, SCRIPT);
    }
}
