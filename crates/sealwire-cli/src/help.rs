//! What `--help` teaches by example.

pub(crate) const PROGRAM: &str = "\
Examples:
  sealwire demo                                       see it work, in ten seconds

  sealwire keygen --out server                        a key pair for the server
  sealwire keygen --out alice                         and one for a client
  sealwire rep --bind tcp://*:5555 --server --secret-key-file server.key --allow alice.pub --echo
  sealwire req --connect tcp://HOST:5555 --server-key server.pub --secret-key-file alice.key \\
    --data hello

A text, key or path may begin with a hyphen. One that is itself an option needs '=': --data=--json

Experimental and not audited.";

pub(crate) const PUSH: &str = "\
Examples:
  sealwire push -c tcp://127.0.0.1:5555 -d hello      one message
  seq 1000 | sealwire push -b tcp://*:5555            a message per line, shared out to all peers
  sealwire push -c ipc:///run/in.sock --raw < image   all of standard input as one message
  sealwire push -c tcp://127.0.0.1:5555 -d tick -n 0 -i 1s        every second, for ever";

pub(crate) const PULL: &str = "\
Examples:
  sealwire pull -b tcp://127.0.0.1:5555               prints what comes, a line per message
  sealwire pull -b ipc:///run/in.sock -n 1 -o raw > image
  sealwire pull -c tcp://127.0.0.1:5555 --json -t 5s  JSON lines, until 5 s pass in silence";

pub(crate) const SCATTER: &str = "\
Examples:
  seq 1000 | sealwire scatter -b tcp://*:5555         a message per line, shared out to all gathers";

pub(crate) const GATHER: &str = "\
Examples:
  sealwire gather -c tcp://127.0.0.1:5555             prints what comes, a line per message";

pub(crate) const PUBLISH: &str = "\
Examples:
  sealwire pub -b tcp://*:5556 -d weather -d rain     topic and body, two frames
  tail -f log | sealwire pub -b tcp://*:5556 --wait-peers 0       those who are there get it

Publishing begins when --wait-peers subscribers are there. A subscriber that is too slow misses
messages.";

pub(crate) const SUBSCRIBE: &str = "\
Examples:
  sealwire sub -c tcp://127.0.0.1:5556 -s weather     what starts with 'weather'
  sealwire sub -c tcp://one:5556 -c tcp://two:5556    everything, from two publishers";

pub(crate) const RADIO: &str = "\
Examples:
  sealwire radio -b tcp://*:5556 -g news -d rain      to all who joined 'news'
  tail -f log | sealwire radio -c 'udp://239.0.0.1:5556' -g log --mechanism null

Over udp nothing is encrypted, datagrams may be lost, and nobody knows who has joined.";

pub(crate) const DISH: &str = "\
Examples:
  sealwire dish -c tcp://127.0.0.1:5556 -j news       the group, a tab, the message
  sealwire dish -b 'udp://239.0.0.1:5556' -j log --mechanism null";

pub(crate) const REQUEST: &str = "\
Examples:
  sealwire req -c tcp://127.0.0.1:5555 -d hello -t 2s
  sealwire req -c tcp://HOST:5555 --server-key server.pub --secret-key-file alice.key -d hello";

pub(crate) const REPLY: &str = "\
Examples:
  sealwire rep -b tcp://127.0.0.1:5555 --echo
  sealwire rep -b tcp://127.0.0.1:5555 -d pong -n 1
  sealwire rep -b tcp://*:5555 --server --secret-key-file server.key --allow clients/ --json --echo

Without --echo, --data and --file each line of standard input answers one request.";

pub(crate) const PAIR: &str = "\
Examples:
  sealwire pair -b tcp://127.0.0.1:5555               one end of a chat
  sealwire pair -c tcp://127.0.0.1:5555               the other end";

pub(crate) const CHANNEL: &str = "\
Examples:
  sealwire channel -b tcp://127.0.0.1:5555            one end of a chat
  sealwire channel -c tcp://127.0.0.1:5555            the other end";

pub(crate) const DEALER: &str = "\
Examples:
  sealwire dealer -c tcp://127.0.0.1:5555 -d '' -d hello -n 1     talk to a rep: an empty frame first
  sealwire dealer -c tcp://127.0.0.1:5555 --routing-id worker-1 < work";

pub(crate) const ROUTER: &str = "\
Examples:
  sealwire router -b tcp://127.0.0.1:5555 --echo      answers dealers and reqs alike
  sealwire router -b tcp://127.0.0.1:5555 --to worker-1 -d job
  sealwire router -b tcp://127.0.0.1:5555 -o quoted   shows routing ids and envelopes

Without --echo, --data, --file and --to it only receives.";

pub(crate) const CLIENT: &str = "\
Examples:
  sealwire client -c tcp://127.0.0.1:5555 -d hello -n 1           one question, one answer";

pub(crate) const SERVER: &str = "\
Examples:
  sealwire server -b tcp://127.0.0.1:5555 --echo      answers clients

Without --echo, --data and --file it only receives.";

pub(crate) const PEER: &str = "\
Examples:
  sealwire peer -b tcp://127.0.0.1:5555 --echo        answers the peers that come
  sealwire peer -c tcp://127.0.0.1:5555 -d hello -n 1             talks with the peer that is there

With --bind and without --echo, --data and --file it only receives.";

pub(crate) const STREAM: &str = "\
Examples:
  printf 'GET / HTTP/1.0\\r\\n\\r\\n' | sealwire stream -c tcp://127.0.0.1:80 --raw -o raw
  sealwire stream -b tcp://127.0.0.1:5555 --echo      answers with the bytes that come

Nothing is encrypted and nobody is authenticated. Bytes are printed as they come, in pieces of any size. With
--bind and without --echo, --data and --file it only receives.";

pub(crate) const DGRAM: &str = "\
Examples:
  sealwire dgram -b udp://127.0.0.1:5555              the sender's address, a tab, the datagram
  sealwire dgram -b udp://127.0.0.1:5555 --echo       answers each datagram with itself
  echo hello | sealwire dgram -b udp://127.0.0.1:0 --to 127.0.0.1:5555 -n 1
  sealwire dgram -b 'udp://*:0' --to 192.0.2.1:514 -d event -n 0 --mechanism null

Nothing is encrypted and nobody is authenticated, and datagrams may be lost. Without --echo, --data, --file
and --to it only receives.";

pub(crate) const XPUB: &str = "\
Examples:
  sealwire xpub -b tcp://*:5556 -o quoted -d news -d text         \"\\x01news\": someone subscribed

Publishing begins with the first subscription.";

pub(crate) const XSUB: &str = "\
Examples:
  sealwire xsub -c tcp://127.0.0.1:5556 -s weather
  sealwire xsub -c tcp://127.0.0.1:5556 -d 'hello publisher'      only an xpub hears it";

pub(crate) const RPC: &str = "\
Examples:
  sealwire rpc serve -b tcp://127.0.0.1:5557 --exec wc -- -c
  sealwire rpc call -c tcp://127.0.0.1:5557 -d hello
  sealwire rpc bench";

pub(crate) const RPC_SERVE: &str = "\
Examples:
  sealwire rpc serve -b tcp://127.0.0.1:5557 --exec wc -- -c
  sealwire rpc serve -b tcp://*:5557 --server --secret-key-file server.key --allow clients/ \\
    --exec ./answer";

pub(crate) const RPC_CALL: &str = "\
Examples:
  sealwire rpc call -c tcp://127.0.0.1:5557 -d hello
  sealwire rpc call -c tcp://HOST:5557 --server-key server.pub --secret-key-file alice.key < call";

pub(crate) const RPC_BENCH: &str = "\
Examples:
  sealwire rpc bench
  sealwire rpc bench --size 1024 --in-flight 16 --seconds 5 --json";

pub(crate) const WORK: &str = "\
Examples:
  seq 1000 | sealwire work serve -b tcp://127.0.0.1:5557          a task per line
  sealwire work take -c tcp://127.0.0.1:5557 --exec ./resize      as many workers as there are machines

A task is handed out until a worker says that it is done: at least once, and more often where a worker was lost.";

pub(crate) const WORK_SERVE: &str = "\
Examples:
  seq 1000 | sealwire work serve -b tcp://127.0.0.1:5557          prints the results, a line each
  sealwire work serve -b tcp://*:5557 --server --secret-key-file server.key --allow workers/ \
    --left not-done < tasks                           what was not done can be put in again

It ends once standard input has ended and each task is done or set aside. Its last line counts them, and what was
repeated.";

pub(crate) const WORK_TAKE: &str = "\
Examples:
  sealwire work take -c tcp://127.0.0.1:5557 --exec ./resize --concurrency 4
  sealwire work take -c tcp://HOST:5557 --server-key server.pub --secret-key-file alice.key \
    --exec sh -- -c 'read -r name && convert \"$name\" \"$name.png\"'
  sealwire work take -c tcp://127.0.0.1:5557 -n 1     prints a task: it is done once it is printed

Told to stop, it gives back what it has not begun, and ends once the tasks that it has begun are done.";
