/*
 * Sealwire: encrypted ZeroMQ messaging, calls, and the cryptography below.
 *
 * Made by check.sh from the comments in crates/sealwire-capi/src; do not edit.
 *
 * - Functions return a number (`sealwire_status`): SEALWIRE_OK, which is 0, or what went wrong.
 *   `sealwire_last_error` has it in words.
 * - Results are written through pointers, and only after success unless a comment says otherwise.
 * - What a function gives, the caller frees with the function named there. Freeing NULL is fine.
 *   What "belongs to" an object is valid as long as the object is, and is not freed.
 * - Texts are UTF-8 and end with a zero octet. Other bytes come with their number.
 * - Objects may be used from one thread at a time, unless a comment says otherwise; different
 *   objects from any number of threads.
 * - A call that got SEALWIRE_ERROR_INTERNAL has found a fault of this library.
 *
 * Experimental and not audited: read docs/security.md before you rely on it.
 */


#ifndef SEALWIRE_H
#define SEALWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Kind of what a peer makes this process hold: messages received and not read, in bytes.
 */
#define SEALWIRE_KIND_RECEIVED 0

/**
 * Kind: unread messages of ended connections of one address, in bytes.
 */
#define SEALWIRE_KIND_LEFT_BEHIND 1

/**
 * Kind: a message that has arrived in part, in bytes.
 */
#define SEALWIRE_KIND_ARRIVING 2

/**
 * Kind: topics and groups of a subscriber, in bytes.
 */
#define SEALWIRE_KIND_SUBSCRIPTIONS 3

/**
 * Kind: requests of a caller that are not answered, in bytes.
 */
#define SEALWIRE_KIND_REQUESTS 4

/**
 * Kind: one-way messages and stream items without a handler yet, in bytes.
 */
#define SEALWIRE_KIND_UNHANDLED 5

/**
 * Kind: messages queued for a peer, in bytes.
 */
#define SEALWIRE_KIND_QUEUED 6

/**
 * Kind: subscriptions and cancellations for a publisher, in bytes.
 */
#define SEALWIRE_KIND_SUBSCRIPTION_CHANGES 7

/**
 * Kind: answers for a caller that does not read, in bytes.
 */
#define SEALWIRE_KIND_ANSWERS 8

/**
 * Kind: connections of one key or address.
 */
#define SEALWIRE_KIND_CONNECTIONS 9

/**
 * Kind: handshakes of one address.
 */
#define SEALWIRE_KIND_HANDSHAKES 10

/**
 * Kind: connections of one address to a tunnel.
 */
#define SEALWIRE_KIND_TUNNELS 11

/**
 * Kind: timers of a connection or listener.
 */
#define SEALWIRE_KIND_TIMERS 12

/**
 * Kind: log lines of one cause.
 */
#define SEALWIRE_KIND_LOG_LINES 13

/**
 * Bytes of a key.
 */
#define SEALWIRE_AEAD_KEY_SIZE 32

/**
 * Bytes of a nonce.
 */
#define SEALWIRE_AEAD_NONCE_SIZE 24

/**
 * Bytes of a tag: what sealing adds to a message.
 */
#define SEALWIRE_AEAD_TAG_SIZE 32

/**
 * Bytes of the longest key that is derived.
 */
#define SEALWIRE_AEAD_DERIVED_SIZE_MAX 65535

/**
 * Bytes of a public key, and of a secret one.
 */
#define SEALWIRE_KEY_SIZE 32

/**
 * Bytes of a key as text in Z85, with the zero octet at its end.
 */
#define SEALWIRE_KEY_TEXT_SIZE 41

/**
 * Something does not work any more.
 */
#define SEALWIRE_LOG_ERROR 1

/**
 * A connection or a client failed.
 */
#define SEALWIRE_LOG_WARNING 2

/**
 * Something changed: a file of keys was read again, for example.
 */
#define SEALWIRE_LOG_INFO 3

/**
 * Every event of every socket.
 */
#define SEALWIRE_LOG_DEBUG 4

/**
 * Kind of an event: one that has no number yet. Its text says what it is.
 */
#define SEALWIRE_EVENT_OTHER 0

/**
 * Kind of an event: the socket is bound.
 */
#define SEALWIRE_EVENT_LISTENING 1

/**
 * Kind of an event: a peer connected; the handshake begins.
 */
#define SEALWIRE_EVENT_ACCEPTED 2

/**
 * Kind of an event: accepting failed, for example for want of file descriptors.
 */
#define SEALWIRE_EVENT_ACCEPT_FAILED 3

/**
 * Kind of an event: connected to a peer; the handshake begins.
 */
#define SEALWIRE_EVENT_CONNECTED 4

/**
 * Kind of an event: the handshake is done.
 */
#define SEALWIRE_EVENT_READY 5

/**
 * Kind of an event: a connection could not be made, its handshake failed, or it broke.
 */
#define SEALWIRE_EVENT_FAILED 6

/**
 * Kind of an event: a connection ended as it should.
 */
#define SEALWIRE_EVENT_DISCONNECTED 7

/**
 * Kind of an event: another attempt to connect follows.
 */
#define SEALWIRE_EVENT_RETRYING 8

/**
 * Kind of an event: the endpoint is not connected to any more.
 */
#define SEALWIRE_EVENT_GAVE_UP 9

/**
 * Kind of an event: something to worry about that is not a failure.
 */
#define SEALWIRE_EVENT_WARNING 10

/**
 * Kind of an event: datagrams were dropped.
 */
#define SEALWIRE_EVENT_DATAGRAMS_DROPPED 11

/**
 * Kind of an event: the endpoint is no longer bound.
 */
#define SEALWIRE_EVENT_UNBOUND 12

/**
 * Kind of an event: everybody is let in, as nothing was given to decide and no ZAP handler is bound.
 */
#define SEALWIRE_EVENT_ANYONE_ALLOWED 13

/**
 * Kind of an event: a peer asks a publisher for its first topic, or a RADIO for its first group.
 */
#define SEALWIRE_EVENT_SUBSCRIBED 14

/**
 * Kind of an event: clients of a mechanism are not let in, as the list of those that may is empty.
 */
#define SEALWIRE_EVENT_NOBODY_ALLOWED 15

/**
 * Kind of an event: an attempt to connect begins.
 */
#define SEALWIRE_EVENT_CONNECTING 16

/**
 * Kind of an event: the queue for a peer is full, and messages for it are dropped. Once a second for a peer at most.
 */
#define SEALWIRE_EVENT_DROPS_BEGAN 17

/**
 * Kind of an event: half of the queue for the peer is free again, or the peer is gone. `sealwire_event_count` has the
 * messages that were dropped since the last such event.
 */
#define SEALWIRE_EVENT_DROPS_ENDED 18

/**
 * Kind of an event: a publisher of Sealwire says how many messages it has dropped for this socket; `sealwire_event_count`.
 */
#define SEALWIRE_EVENT_MESSAGES_MISSED 19

/**
 * Cause of a failure: the event is none.
 */
#define SEALWIRE_CAUSE_NONE 0

/**
 * Cause of a failure: one that has no number yet. The event's text says what it is.
 */
#define SEALWIRE_CAUSE_OTHER 1

/**
 * Cause of a failure: the name does not resolve.
 */
#define SEALWIRE_CAUSE_RESOLVE 2

/**
 * Cause of a failure: nothing accepted the connection.
 */
#define SEALWIRE_CAUSE_CONNECT 3

/**
 * Cause of a failure: the SOCKS5 proxy did not make the connection.
 */
#define SEALWIRE_CAUSE_PROXY 4

/**
 * Cause of a failure: the transport broke.
 */
#define SEALWIRE_CAUSE_TRANSPORT 5

/**
 * Cause of a failure: a WebSocket could not be made, or was misused.
 */
#define SEALWIRE_CAUSE_WEBSOCKET 6

/**
 * Cause of a failure: TLS, under a `wss` endpoint: an authority that is not trusted here, another host, a certificate that has
 * expired or is not valid yet, a peer without TLS, or one that refuses our certificate. The event's text says which.
 */
#define SEALWIRE_CAUSE_TLS 7

/**
 * Cause of a failure: the peer speaks another protocol, or breaks the rules of this one.
 */
#define SEALWIRE_CAUSE_PROTOCOL 8

/**
 * Cause of a failure: the mechanisms or the types of the sockets do not fit.
 */
#define SEALWIRE_CAUSE_INCOMPATIBLE 9

/**
 * Cause of a failure: the handshake does not verify. On a server: the client was given another server key.
 */
#define SEALWIRE_CAUSE_HANDSHAKE 10

/**
 * Cause of a failure: the peer did not finish its handshake in time.
 */
#define SEALWIRE_CAUSE_HANDSHAKE_TIMEOUT 11

/**
 * Cause of a failure: this side did not let the peer in: its key, user or password.
 */
#define SEALWIRE_CAUSE_REFUSED 12

/**
 * Cause of a failure: the peer refused this side.
 */
#define SEALWIRE_CAUSE_REFUSED_BY_PEER 13

/**
 * Cause of a failure: the ZAP handler refused the peer, or gave no answer that is one.
 */
#define SEALWIRE_CAUSE_REFUSED_BY_ZAP 14

/**
 * Cause of a failure: the peer left in the middle of a message.
 */
#define SEALWIRE_CAUSE_CLOSED 15

/**
 * Cause of a failure: the peer left during the handshake. On a client: mostly the server has another key than was
 * given, or wants another mechanism.
 */
#define SEALWIRE_CAUSE_CLOSED_IN_HANDSHAKE 16

/**
 * Cause of a failure: what arrived was changed on the way.
 */
#define SEALWIRE_CAUSE_FRAME_NOT_VERIFIED 17

/**
 * Cause of a failure: the peer sent a message that is larger than the limits allow.
 */
#define SEALWIRE_CAUSE_TOO_LARGE 18

/**
 * Cause of a failure: 2^64 - 1 frames were sealed under one key.
 */
#define SEALWIRE_CAUSE_COUNTER_EXHAUSTED 19

/**
 * Cause of a failure: the peer fell silent.
 */
#define SEALWIRE_CAUSE_HEARTBEAT_TIMEOUT 20

/**
 * Cause of a failure: this socket turned the peer away: it is closing, its key was revoked, its type has enough peers.
 */
#define SEALWIRE_CAUSE_REJECTED 21

/**
 * Cause of a failure: the peer made this process hold too much.
 */
#define SEALWIRE_CAUSE_LIMIT_EXCEEDED 22

/**
 * Cause of a failure: its handshake was the oldest when there were too many.
 */
#define SEALWIRE_CAUSE_HANDSHAKE_EVICTED 23

/**
 * Cause of a failure: the listener has as many connections as it may have.
 */
#define SEALWIRE_CAUSE_TOO_MANY_CONNECTIONS 24

/**
 * Cause of a failure: the peer's key, or user, has as many connections as it may have.
 */
#define SEALWIRE_CAUSE_KEY_LIMIT 25

/**
 * Cause of a failure: the peer's address has used up what it may have.
 */
#define SEALWIRE_CAUSE_ADDRESS_LIMIT 26

/**
 * Cause of a failure: the process has no file descriptors left.
 */
#define SEALWIRE_CAUSE_OUT_OF_DESCRIPTORS 27

/**
 * Cause of a failure: a panic in this library, or in what it was given to call. The log has its place.
 */
#define SEALWIRE_CAUSE_INTERNAL 28

/**
 * Cause of a failure: the endpoint has other keys by now, and the connection was ended for that
 * (`sealwire_socket_reconfigure_endpoint`).
 */
#define SEALWIRE_CAUSE_KEY_WITHDRAWN 29

/**
 * Bytes of a key, secret, public or shared.
 */
#define SEALWIRE_BOX_KEY_SIZE 32

/**
 * Bytes of a nonce.
 */
#define SEALWIRE_BOX_NONCE_SIZE 24

/**
 * Bytes of a tag: what sealing adds to a message.
 */
#define SEALWIRE_BOX_TAG_SIZE 16

/**
 * Bytes of a tag: what sealing adds to a message.
 */
#define SEALWIRE_NEWPLEX_TAG_SIZE 16

/**
 * Bytes of a nonce of `sealwire_newplex_aead_seal`.
 */
#define SEALWIRE_NEWPLEX_NONCE_SIZE 16

/**
 * Bytes of an unkeyed digest.
 */
#define SEALWIRE_NEWPLEX_DIGEST_SIZE 32

/**
 * Bytes of the state of a protocol.
 */
#define SEALWIRE_NEWPLEX_STATE_SIZE 130

/**
 * Branches that a protocol can be forked into in one call.
 */
#define SEALWIRE_NEWPLEX_BRANCHES_MAX 255

/**
 * Bytes of a key for signatures, secret or public.
 */
#define SEALWIRE_NEWPLEX_KEY_SIZE 32

/**
 * Bytes of a signature.
 */
#define SEALWIRE_NEWPLEX_SIGNATURE_SIZE 64

/**
 * Bytes of text that a block can carry.
 */
#define SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX 65535

/**
 * Bytes of the header with which a block begins: its size, encrypted.
 */
#define SEALWIRE_NEWPLEX_BLOCK_HEADER_SIZE 2

/**
 * Bytes that a block is longer than what it carries: its header, and the tag behind the text.
 */
#define SEALWIRE_NEWPLEX_BLOCK_OVERHEAD 18

/**
 * Messages that may be queued towards each peer; 0 for no limit. Default 1,000. libzmq's
 * `ZMQ_SNDHWM`.
 */
#define SEALWIRE_OPTION_SEND_HIGH_WATER_MARK 1

/**
 * Messages that may be queued from each peer; 0 for no limit. Default 1,000. `ZMQ_RCVHWM`.
 */
#define SEALWIRE_OPTION_RECEIVE_HIGH_WATER_MARK 2

/**
 * Bytes that may be queued towards each peer; 0 for no limit. Default 1 GiB.
 */
#define SEALWIRE_OPTION_SEND_BYTE_BUDGET 3

/**
 * Bytes that may be queued from each peer; 0 for no limit. Default 1 GiB.
 */
#define SEALWIRE_OPTION_RECEIVE_BYTE_BUDGET 4

/**
 * How long a send waits that is called with a timeout of -1, in milliseconds; -1, the default, for
 * ever. `ZMQ_SNDTIMEO`.
 */
#define SEALWIRE_OPTION_SEND_TIMEOUT_MS 5

/**
 * How long a receive waits that is called with a timeout of -1, in milliseconds; -1, the default,
 * for ever. `ZMQ_RCVTIMEO`.
 */
#define SEALWIRE_OPTION_RECEIVE_TIMEOUT_MS 6

/**
 * How long closing waits for what is not sent, in milliseconds; -1 for ever. Default 5,000.
 * `ZMQ_LINGER`.
 */
#define SEALWIRE_OPTION_LINGER_MS 7

/**
 * How long a handshake may take, in milliseconds. Default 15,000. `ZMQ_HANDSHAKE_IVL`.
 */
#define SEALWIRE_OPTION_HANDSHAKE_TIMEOUT_MS 8

/**
 * How long one attempt to connect may take, in milliseconds. Default: as a handshake.
 * `ZMQ_CONNECT_TIMEOUT`.
 */
#define SEALWIRE_OPTION_CONNECT_TIMEOUT_MS 9

/**
 * Wait before connecting again, in milliseconds. Default 100. `ZMQ_RECONNECT_IVL`.
 */
#define SEALWIRE_OPTION_RECONNECT_INTERVAL_MS 10

/**
 * What that wait grows to, in milliseconds. Default 10,000. `ZMQ_RECONNECT_IVL_MAX`.
 */
#define SEALWIRE_OPTION_RECONNECT_MAXIMUM_MS 11

/**
 * After what an endpoint is not connected to again: the sum of 1 (connection refused), 2
 * (handshake failed), 4 (connection ended), 8 (not reachable otherwise). Default 0.
 * `ZMQ_RECONNECT_STOP`.
 */
#define SEALWIRE_OPTION_RECONNECT_STOP 12

/**
 * Sends a PING after so long without traffic, in milliseconds, and gives a peer three times as long for an
 * answer. Default: none. `ZMQ_HEARTBEAT_IVL`.
 */
#define SEALWIRE_OPTION_HEARTBEAT_INTERVAL_MS 13

/**
 * Ends a connection on which nothing came for this time after a PING, in milliseconds. Default: three
 * intervals. `ZMQ_HEARTBEAT_TIMEOUT`.
 */
#define SEALWIRE_OPTION_HEARTBEAT_TIMEOUT_MS 14

/**
 * After how long without traffic the peer is asked to do the same, in milliseconds; 0 leaves that to the peer.
 * Default: as the timeout. `ZMQ_HEARTBEAT_TTL`.
 */
#define SEALWIRE_OPTION_HEARTBEAT_TTL_MS 15

/**
 * Largest message that is accepted, in bytes. Default 64 MiB. `ZMQ_MAXMSGSIZE`.
 */
#define SEALWIRE_OPTION_MAX_MESSAGE_SIZE 16

/**
 * Connections of one listener. Default 65,536, and never more than three quarters of the process's
 * soft limit of file descriptors.
 */
#define SEALWIRE_OPTION_MAX_CONNECTIONS 17

/**
 * Connections of one listener from one address. Default: no limit of its own.
 */
#define SEALWIRE_OPTION_MAX_CONNECTIONS_PER_ADDRESS 18

/**
 * Handshakes of one listener at a time. Default 1,024, and never more than a quarter of the
 * process's soft limit of file descriptors.
 */
#define SEALWIRE_OPTION_MAX_HANDSHAKES 19

/**
 * Handshakes of one listener from one address; one more ends the oldest of them. Default: a quarter
 * of MAX_HANDSHAKES.
 */
#define SEALWIRE_OPTION_MAX_HANDSHAKES_PER_ADDRESS 20

/**
 * Switch: sends only to peers whose handshake is done, instead of queueing. Default 0.
 * `ZMQ_IMMEDIATE`.
 */
#define SEALWIRE_OPTION_IMMEDIATE 21

/**
 * Switch: queues hold the latest message only. Default 0. `ZMQ_CONFLATE`.
 */
#define SEALWIRE_OPTION_CONFLATE 22

/**
 * Switch, REQ: numbers requests, and takes answers with the same number only. Default 0.
 * `ZMQ_REQ_CORRELATE`.
 */
#define SEALWIRE_OPTION_REQ_CORRELATE 23

/**
 * Switch, REQ: may send again before the answer. Default 0. `ZMQ_REQ_RELAXED`.
 */
#define SEALWIRE_OPTION_REQ_RELAXED 24

/**
 * Switch: sends an empty message to each new peer. Default 0. `ZMQ_PROBE_ROUTER`.
 */
#define SEALWIRE_OPTION_PROBE_ROUTER 25

/**
 * Switch, ROUTER: sending to nobody is an error. Default 0. `ZMQ_ROUTER_MANDATORY`.
 */
#define SEALWIRE_OPTION_ROUTER_MANDATORY 26

/**
 * Switch, ROUTER: a new peer may take over the routing id of another. Default 0.
 * `ZMQ_ROUTER_HANDOVER`.
 */
#define SEALWIRE_OPTION_ROUTER_HANDOVER 27

/**
 * ROUTER: an empty message for each peer that comes (1), goes (2), or both (3). Default 0.
 * `ZMQ_ROUTER_NOTIFY`.
 */
#define SEALWIRE_OPTION_ROUTER_NOTIFY 28

/**
 * Switch, STREAM: an empty message for each peer that comes or goes. Default 1.
 * `ZMQ_STREAM_NOTIFY`.
 */
#define SEALWIRE_OPTION_STREAM_NOTIFY 29

/**
 * Switch, XPUB: every subscription is read. Default 0. `ZMQ_XPUB_VERBOSE`.
 */
#define SEALWIRE_OPTION_XPUB_VERBOSE 30

/**
 * Switch, XPUB: every cancellation too. Default 0. `ZMQ_XPUB_VERBOSER`.
 */
#define SEALWIRE_OPTION_XPUB_VERBOSER 31

/**
 * Switch, XPUB: subscriptions count only as the program grants them. Default 0. `ZMQ_XPUB_MANUAL`.
 */
#define SEALWIRE_OPTION_XPUB_MANUAL 32

/**
 * Switch, PUB, XPUB and RADIO: waits for slow subscribers instead of dropping. Default 0.
 * `ZMQ_XPUB_NODROP`.
 */
#define SEALWIRE_OPTION_XPUB_NO_DROP 33

/**
 * Switch, PUB, XPUB, SUB: topics say what is not wanted. Default 0. `ZMQ_INVERT_MATCHING`.
 */
#define SEALWIRE_OPTION_INVERT_MATCHING 34

/**
 * Switch: uses IPv6 beside IPv4. Default 1. `ZMQ_IPV6`.
 */
#define SEALWIRE_OPTION_IPV6 35

/**
 * TCP connections that the system holds before they are accepted. Default 4,096. `ZMQ_BACKLOG`.
 */
#define SEALWIRE_OPTION_BACKLOG 36

/**
 * RADIO over `udp`: networks that multicast passes. Default 1. `ZMQ_MULTICAST_HOPS`.
 */
#define SEALWIRE_OPTION_MULTICAST_HOPS 37

/**
 * Switch, RADIO over `udp`: members on this machine get multicast too. Default 1.
 * `ZMQ_MULTICAST_LOOP`.
 */
#define SEALWIRE_OPTION_MULTICAST_LOOP 38

/**
 * The octet of that name in IP packets. Default: the system's. `ZMQ_TOS`.
 */
#define SEALWIRE_OPTION_TYPE_OF_SERVICE 39

/**
 * The system's buffer for sending, in bytes. Default: the system's. `ZMQ_SNDBUF`.
 */
#define SEALWIRE_OPTION_SEND_BUFFER 40

/**
 * The system's buffer for receiving, in bytes. Default: the system's. `ZMQ_RCVBUF`.
 */
#define SEALWIRE_OPTION_RECEIVE_BUFFER 41

/**
 * Switch: TCP's own sign of life. Default: on, after 300 s, then every 30 s, 6 times.
 * `ZMQ_TCP_KEEPALIVE`.
 */
#define SEALWIRE_OPTION_TCP_KEEP_ALIVE 42

/**
 * Silence before the first, in seconds; with TCP_KEEP_ALIVE. `ZMQ_TCP_KEEPALIVE_IDLE`.
 */
#define SEALWIRE_OPTION_TCP_KEEP_ALIVE_IDLE_S 43

/**
 * Time between two, in seconds; with TCP_KEEP_ALIVE. `ZMQ_TCP_KEEPALIVE_INTVL`.
 */
#define SEALWIRE_OPTION_TCP_KEEP_ALIVE_INTERVAL_S 44

/**
 * How many without an answer; with TCP_KEEP_ALIVE. `ZMQ_TCP_KEEPALIVE_CNT`.
 */
#define SEALWIRE_OPTION_TCP_KEEP_ALIVE_COUNT 45

/**
 * How long sent data may go unacknowledged, in milliseconds; Linux. `ZMQ_TCP_MAXRT`.
 */
#define SEALWIRE_OPTION_TCP_MAX_RETRANSMIT_MS 46

/**
 * How long a receive on a socket with one connection spins before it sleeps, in microseconds.
 * Default 0.
 */
#define SEALWIRE_OPTION_SPIN_US 47

/**
 * How long a ZAP handler may take, in milliseconds. Default 5,000.
 */
#define SEALWIRE_OPTION_ZAP_TIMEOUT_MS 48

/**
 * Permissions of the files of `ipc` endpoints that are bound, as of `chmod`, whatever the umask says:
 * who may write may connect. 0 to 511 (octal 777). Default 384 (octal 600).
 */
#define SEALWIRE_OPTION_IPC_MODE 49

/**
 * Established connections of one key, or with PLAIN of one user, at a socket. Default: a quarter of
 * MAX_CONNECTIONS, at least 64.
 */
#define SEALWIRE_OPTION_MAX_CONNECTIONS_PER_KEY 50

/**
 * Switch, ROUTER: a peer's routing id is the user id that the authenticator or ZAP handler gave to
 * its key; others are refused. Default 0.
 */
#define SEALWIRE_OPTION_ROUTING_ID_IS_USER_ID 51

/**
 * Switch, SERVER and PEER: what is received has its payload alone; the routing id of the connection is
 * that of the message's peer. Default 0.
 */
#define SEALWIRE_OPTION_OMIT_ROUTING_ID 52

/**
 * Switch, SERVER and PEER: a message without a frame, which no peer can send, when a connection begins
 * and when it has ended; its peer says which. Default 0.
 */
#define SEALWIRE_OPTION_CONNECTION_EVENTS 53

/**
 * Switch: a call that waits ends with `SEALWIRE_ERROR_INTERRUPTED` when a signal handler has run on its
 * thread while it slept, whatever `SA_RESTART` says; nothing was sent or received then. Sending, receiving,
 * connect_peer, wait_connected, wait_subscribed, close, and the next event of monitors made from the socket; not `sealwire_socket_free`,
 * `sealwire_poll`, proxies and RPC. Default 0.
 */
#define SEALWIRE_OPTION_INTERRUPTIBLE 54

/**
 * Switch: each endpoint that is connected to has a queue of its own at once, as with libzmq: messages go to all of them
 * in turn, and wait also where nobody is there yet. Default 0: messages wait in one queue for the first peer.
 */
#define SEALWIRE_OPTION_QUEUE_PER_ENDPOINT 55

/**
 * The I/O threads of the context that may serve endpoints which are bound and connected to: a bit for each, the
 * lowest for the first; 0, the default, for any of them. `ZMQ_AFFINITY`.
 */
#define SEALWIRE_OPTION_IO_AFFINITY 56

/**
 * Switch, XPUB: as `XPUB_MANUAL`, and the next message after a subscription was received goes to that subscriber
 * alone, if it was granted the topic. Default 0. `ZMQ_XPUB_MANUAL_LAST_VALUE`.
 */
#define SEALWIRE_OPTION_XPUB_MANUAL_LAST_VALUE 57

/**
 * Switch, XSUB: publishers get every cancellation, not the last of a topic alone. Default 0.
 * `ZMQ_XSUB_VERBOSE_UNSUBSCRIBE`.
 */
#define SEALWIRE_OPTION_XSUB_VERBOSE_UNSUBSCRIBE 58

/**
 * The priority of outgoing packets within this machine: 0 to 6, or more with a privilege; Linux. Default: the one that
 * follows from the type of service, or 0. `ZMQ_PRIORITY`.
 */
#define SEALWIRE_OPTION_PACKET_PRIORITY 59

/**
 * How long the system polls the network device for packets before it sleeps, in microseconds; older kernels
 * want a privilege for more than the system's own; Linux. Default: the system's. `ZMQ_BUSY_POLL`.
 */
#define SEALWIRE_OPTION_BUSY_POLL_US 60

/**
 * Switch: other sockets with it, also of other processes, may listen on the TCP ports that are bound to
 * (`SO_REUSEPORT`), on Linux those of the same user. A new process listens this way beside the one that it replaces. The
 * system gives each new connection to one of them. For `tcp`, `ws` and `wss`; elsewhere than on Unix binding fails.
 * Default 0.
 */
#define SEALWIRE_OPTION_REUSE_PORT 61

/**
 * Bytes: what the socket calls itself: up to 255 bytes, not starting with a zero octet.
 * `ZMQ_ROUTING_ID`.
 */
#define SEALWIRE_OPTION_ROUTING_ID 100

/**
 * Bytes: asks the ZAP handler of the context about peers, under this name; text. `ZMQ_ZAP_DOMAIN`.
 */
#define SEALWIRE_OPTION_ZAP_DOMAIN 101

/**
 * Bytes: the network device to use, by name; Linux. `ZMQ_BINDTODEVICE`.
 */
#define SEALWIRE_OPTION_BIND_TO_DEVICE 102

/**
 * Bytes: a message of one frame to each new peer. `ZMQ_HELLO_MSG`.
 */
#define SEALWIRE_OPTION_HELLO_MESSAGE 103

/**
 * Bytes: a message of one frame to be received when a peer has gone. `ZMQ_DISCONNECT_MSG`.
 */
#define SEALWIRE_OPTION_DISCONNECT_MESSAGE 104

/**
 * Bytes: a message of one frame to be received when a connection is made again. `ZMQ_HICCUP_MSG`.
 */
#define SEALWIRE_OPTION_HICCUP_MESSAGE 105

/**
 * Bytes, XPUB, PUB: a message of one frame to each new subscriber. `ZMQ_XPUB_WELCOME_MSG`.
 */
#define SEALWIRE_OPTION_XPUB_WELCOME_MESSAGE 106

/**
 * Something can be received, or a descriptor read; of a monitor: an event is there.
 */
#define SEALWIRE_POLL_IN 1

/**
 * A message can be sent, or a descriptor written.
 */
#define SEALWIRE_POLL_OUT 2

/**
 * The socket is closed, or nothing more will come from a monitor; of a descriptor: its end or an
 * error. Told whether it was asked for or not.
 */
#define SEALWIRE_POLL_CLOSED 4

/**
 * The size of the identifier of a span, in bytes.
 */
#define SEALWIRE_SPAN_ID_SIZE 8

/**
 * Bytes of the nonce of a session.
 */
#define SEALWIRE_AEAD_SESSION_NONCE_SIZE 8

/**
 * A timeout: as long as the options of the socket say, which is for ever unless set.
 */
#define SEALWIRE_WAIT -1

/**
 * A timeout: not at all.
 */
#define SEALWIRE_NO_WAIT 0

/**
 * Type of a socket: one peer, both ways.
 */
#define SEALWIRE_PAIR 0

/**
 * Type of a socket: publishes to every subscriber.
 */
#define SEALWIRE_PUB 1

/**
 * Type of a socket: receives what it subscribed to.
 */
#define SEALWIRE_SUB 2

/**
 * Type of a socket: sends a request, then receives its answer.
 */
#define SEALWIRE_REQ 3

/**
 * Type of a socket: receives a request, then answers it.
 */
#define SEALWIRE_REP 4

/**
 * Type of a socket: sends to its peers in turn, receives from all.
 */
#define SEALWIRE_DEALER 5

/**
 * Type of a socket: addresses peers by routing id, the first frame.
 */
#define SEALWIRE_ROUTER 6

/**
 * Type of a socket: receives from a pipeline.
 */
#define SEALWIRE_PULL 7

/**
 * Type of a socket: sends into a pipeline.
 */
#define SEALWIRE_PUSH 8

/**
 * Type of a socket: PUB that reads the subscriptions.
 */
#define SEALWIRE_XPUB 9

/**
 * Type of a socket: SUB that sends its subscriptions as messages.
 */
#define SEALWIRE_XSUB 10

/**
 * Type of a socket: plain TCP connections, each with a name as the first frame.
 */
#define SEALWIRE_STREAM 11

/**
 * Type of a socket: addresses connections by routing id, messages of one frame.
 */
#define SEALWIRE_SERVER 12

/**
 * Type of a socket: talks to SERVER, messages of one frame.
 */
#define SEALWIRE_CLIENT 13

/**
 * Type of a socket: publishes to groups.
 */
#define SEALWIRE_RADIO 14

/**
 * Type of a socket: receives what is sent to the groups it joined.
 */
#define SEALWIRE_DISH 15

/**
 * Type of a socket: PULL for messages of one frame.
 */
#define SEALWIRE_GATHER 16

/**
 * Type of a socket: PUSH for messages of one frame.
 */
#define SEALWIRE_SCATTER 17

/**
 * Type of a socket: plain UDP datagrams, each with the address of the other side as the first frame.
 */
#define SEALWIRE_DGRAM 18

/**
 * Type of a socket: SERVER among equals.
 */
#define SEALWIRE_PEER 19

/**
 * Type of a socket: PAIR for messages of one frame.
 */
#define SEALWIRE_CHANNEL 20

/**
 * `sealwire_socket_reconfigure_endpoint`: connections under keys that the endpoint does not have any more stay.
 */
#define SEALWIRE_WITHDRAWN_STAY 0

/**
 * `sealwire_socket_reconfigure_endpoint`: they end in good order, within the linger time.
 */
#define SEALWIRE_WITHDRAWN_END 1

/**
 * Distributor: how many tasks are held, those that wait, are with workers or set aside, and results that
 * were not read. 1 or more. Default 65,536.
 */
#define SEALWIRE_WORK_OPTION_MAX_TASKS 1

/**
 * Distributor: how many bytes of them are held, each counted with 128 bytes more. A single task may always
 * be held. Default 256 MiB.
 */
#define SEALWIRE_WORK_OPTION_MAX_BYTES 2

/**
 * Bytes of the largest task; a worker must take at least as many as its distributor. Default 4 MiB.
 */
#define SEALWIRE_WORK_OPTION_MAX_TASK 3

/**
 * Distributor: bytes of the largest result or reason of a worker. Default 4 KiB.
 */
#define SEALWIRE_WORK_OPTION_MAX_RESULT 4

/**
 * Distributor: how many attempts a task has before it is set aside. 1 or more. Default 5.
 */
#define SEALWIRE_WORK_OPTION_MAX_ATTEMPTS 5

/**
 * Distributor: how long an attempt may take, from the time that the task is handed out, in milliseconds; -1,
 * the default, for no limit. A worker's credit counts: with 64 tasks of a second each, the last one is begun
 * after a minute.
 */
#define SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS 6

/**
 * Distributor: time between an attempt that its worker says has failed and the next one, in milliseconds.
 * Default 1,000.
 */
#define SEALWIRE_WORK_OPTION_RETRY_DELAY_MS 7

/**
 * Switch, distributor: keeps results until they are read. Default 0: they are dropped.
 */
#define SEALWIRE_WORK_OPTION_KEEP_RESULTS 8

/**
 * Distributor: how many workers may be connected. 1 or more. Default 1,024.
 */
#define SEALWIRE_WORK_OPTION_MAX_WORKERS 9

/**
 * After which time without a sign of life a connection is given up, in milliseconds. The other side is asked
 * for one after a third of that. 1 or more. Default 15,000.
 */
#define SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS 10

/**
 * Worker: how many tasks are here before some of them have an outcome, 1 to 65,536. Default 64. With 1 the
 * next task comes only after the outcome of the last one has arrived.
 */
#define SEALWIRE_WORK_OPTION_CREDIT 11

/**
 * Worker: how many bytes of tasks are here before some of them have an outcome, each counted with 128 bytes
 * more. A single task may always be here. Default 16 MiB.
 */
#define SEALWIRE_WORK_OPTION_CREDIT_BYTES 12

/**
 * Bytes of the number of a task, which is the same at each attempt and in no other task.
 */
#define SEALWIRE_WORK_NUMBER_SIZE 16

/**
 * The opening side of a stream: takes messages in their order only, so that none is lost, repeated
 * or moved unnoticed. The key is wiped when it is freed.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_aead_opener sealwire_aead_opener;

/**
 * Weak: whole messages can be dropped, repeated or reordered unnoticed, because the tag does not cover
 * a message's place in the keystream; the receiver accepts such a message and decrypts it to noise. It
 * is for peers that speak nothing else: use `sealwire_aead_stream` everywhere else.
 *
 * One side of one direction. The first message says whether it seals or opens: one that did both would
 * use its keystream twice. The keys are wiped when it is freed.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_aead_session sealwire_aead_session;

/**
 * The sealing side of a stream of messages under one key and nonce, each with a number of its own,
 * so that no nonce is used twice. The key is wiped when it is freed.
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_aead_stream sealwire_aead_stream;

/**
 * Decides which clients a BLAKE3 or CURVE server talks to. It is copied into a
 * `sealwire_security`, so it may be freed after that.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_authenticator sealwire_authenticator;

/**
 * A client that has proved to hold the secret of its public key and asks to be let in. Valid during
 * the callback only.
 */
typedef struct sealwire_client sealwire_client;

/**
 * The thread that does the I/O of the sockets made with it, and the names of their `inproc`
 * endpoints. Most programs need none: sockets share one unless their options name another.
 *
 * Threads: any number may use it at once.
 */
typedef struct sealwire_context sealwire_context;

/**
 * What the callback decides. Refused, unless `sealwire_decision_allow` is called. Valid during the
 * callback only.
 */
typedef struct sealwire_decision sealwire_decision;

/**
 * Something that happened to an endpoint or a connection.
 *
 * Threads: never changes, so any number may use it at once.
 */
typedef struct sealwire_event sealwire_event;

/**
 * A peer that has proved nothing yet, or that proves nothing at all (NULL, PLAIN). Valid during the
 * callback only.
 */
typedef struct sealwire_guest sealwire_guest;

/**
 * A key pair for BLAKE3 and CURVE. The secret half is wiped from memory when it is freed.
 *
 * Threads: never changes, so any number may use it at once.
 */
typedef struct sealwire_keys sealwire_keys;

/**
 * A message: one or more frames of bytes, and for one that was received, who sent it. It may be
 * kept after its socket was freed.
 *
 * Threads: one at a time; reading alone is fine from several.
 */
typedef struct sealwire_message sealwire_message;

/**
 * Reads what happens to a socket from the moment it was made on. Every monitor gets every event;
 * 4,096 are kept for one that is slow, then the oldest are lost.
 *
 * Threads: any number may use it at once, but for `sealwire_monitor_free`.
 */
typedef struct sealwire_monitor sealwire_monitor;

/**
 * A key for single messages, each with a nonce (16 bytes) of its own. The key is wiped when it is freed.
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_newplex_aead sealwire_newplex_aead;

/**
 * A digest of 32 bytes of a message that comes in pieces.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_newplex_digest sealwire_newplex_digest;

/**
 * A keyed digest: a tag of 16 bytes, which only those who have the key can make. The key is wiped when it is
 * freed.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_newplex_keyed_digest sealwire_newplex_keyed_digest;

/**
 * The reading side of a sealed stream: takes blocks in their order only, so that none is lost, repeated or moved
 * unnoticed.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_newplex_opener sealwire_newplex_opener;

/**
 * Newplex: a state that operations are applied to, one after the other. What each gives depends on all
 * that went before, labels and lengths included, so two protocols that did the same are in the same state.
 * The bytes are those of codahale/newplex (Go). docs/newplex.md says what it rests on: it is young, no
 * standard, and not audited.
 *
 * Domains and labels are constants of the program. Before anything is encrypted, mix a key of high entropy,
 * and something that never repeats under it, such as a random nonce. An operation whose arguments are refused
 * changes nothing.
 *
 * The state is wiped when it is freed. Threads: one at a time.
 */
typedef struct sealwire_newplex_protocol sealwire_newplex_protocol;

/**
 * The writing side of a sealed stream: seals one block after the other. The stream is complete only with its end, so
 * that none is cut off unnoticed.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_newplex_sealer sealwire_newplex_sealer;

/**
 * Options of sockets, clients and servers: a list that may be used for any number of them and freed
 * once they are made. An option that is not set has the default of libzmq or a safer one.
 *
 * Threads: any number may use it at once, as long as none changes it.
 */
typedef struct sealwire_options sealwire_options;

/**
 * The peer at the other end of a connection: a key that was proved, a name that the server's
 * authenticator gave to it, an address. Never changes.
 *
 * A peer belongs to the message, event or request that it was asked of, and is valid as long as
 * that is. Threads: any number may use it at once.
 */
typedef struct sealwire_peer sealwire_peer;

/**
 * Peers of a socket, client or server of calls, as they were when the list was made: those that come or
 * go later do not change it. They belong to the list, which outlives the socket.
 *
 * Threads: never changes, so any number may use it at once, but for freeing it.
 */
typedef struct sealwire_peers sealwire_peers;

/**
 * A file descriptor that becomes readable when a socket or a monitor may have something to do, for
 * `poll(2)`, `epoll(7)`, `kqueue(2)` or an event loop. libzmq's `ZMQ_FD`, with fewer traps.
 *
 * 1. Wait until the descriptor is readable. It is, from the start, and never to be read or written.
 * 2. Call `sealwire_readiness_take`, which makes it unreadable and says what can be done.
 * 3. Do that once or more often, with `SEALWIRE_NO_WAIT`. Then wait again.
 *
 * A receive that leaves something makes it readable again, so one message per wake-up is enough. To
 * send, try first, and wait only after `SEALWIRE_ERROR_WOULD_BLOCK`. A wake-up may be spurious.
 *
 * Threads: for one that waits; several make one each. It outlives the socket.
 */
typedef struct sealwire_readiness sealwire_readiness;

/**
 * Calls a server, and may be called by it. Connects when it is first used, and again when the
 * connection is lost.
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_rpc_client sealwire_rpc_client;

/**
 * A connection of a client or server: both sides may call through it.
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_rpc_conn sealwire_rpc_conn;

/**
 * The reason why a call failed, as far as it is known.
 *
 * Threads: never changes, so any number may use it at once.
 */
typedef struct sealwire_rpc_error sealwire_rpc_error;

/**
 * A message that nobody answers. Valid during the callback only.
 */
typedef struct sealwire_rpc_message sealwire_rpc_message;

/**
 * Metadata of a call or message: at most 64 entries and 8,192 bytes, each entry counted as its key, its value
 * and 3 bytes. A key has 1 to 255 of the characters a-z, 0-9, '-', '_' and '.', and may come more than once; a
 * value is bytes. The order of entries is kept.
 *
 * Threads: any number may read it at once; while one changes it, no other may use it.
 */
typedef struct sealwire_rpc_metadata sealwire_rpc_metadata;

/**
 * The answer to a call, or an item of a stream.
 *
 * Threads: never changes, so any number may use it at once.
 */
typedef struct sealwire_rpc_reply sealwire_rpc_reply;

/**
 * A request, to be answered with `sealwire_rpc_request_reply` or `sealwire_rpc_request_fail`, now or
 * later and on any thread.
 *
 * Threads: one at a time, but for `sealwire_rpc_request_send` and `sealwire_rpc_request_next`, which any
 * number may call at once: one can send while another receives.
 */
typedef struct sealwire_rpc_request sealwire_rpc_request;

/**
 * Answers calls, and can call its clients (`sealwire_rpc_request_conn`).
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_rpc_server sealwire_rpc_server;

/**
 * The caller's end of a call with a stream of items in each direction. Each side has credit for some
 * items that the other has not read (64 unless told otherwise), so a slow reader holds its writer back.
 *
 * Threads: any number may use it at once, but for `sealwire_rpc_stream_answer` and
 * `sealwire_rpc_stream_free`: one can send while another receives.
 */
typedef struct sealwire_rpc_stream sealwire_rpc_stream;

/**
 * The trace that a call belongs to, and the span that it is made from: `traceparent` and `tracestate` of the
 * W3C's Trace Context (Recommendation, Level 1).
 *
 * Threads: never changes, so any number may use it at once.
 */
typedef struct sealwire_rpc_trace sealwire_rpc_trace;

/**
 * How a socket protects its connections: a mechanism, and what it needs. May be used for any number
 * of sockets, and freed once they are made.
 *
 * Threads: any number may use it at once, as long as none changes it.
 */
typedef struct sealwire_security sealwire_security;

/**
 * A socket. Its types are those of ZeroMQ and have the same numbers.
 *
 * Threads: any number may use it at once, but for `sealwire_socket_free`.
 */
typedef struct sealwire_socket sealwire_socket;

/**
 * What a `wss` endpoint shows to those who connect: a chain of certificates and the private key of
 * the first. libzmq's `ZMQ_WSS_CERT_PEM` and `ZMQ_WSS_KEY_PEM`. The key stays in memory as long as the
 * identity, options or a socket with them do.
 *
 * Threads: never changes, so any number may use it at once.
 */
typedef struct sealwire_tls_identity sealwire_tls_identity;

/**
 * Whom a socket trusts that connects to a `wss` endpoint. libzmq's `ZMQ_WSS_TRUST_PEM`,
 * `ZMQ_WSS_TRUST_SYSTEM` and `ZMQ_WSS_HOSTNAME`. The certificate has to be signed by one of the
 * authorities, valid now, and for the host of the endpoint or the name of
 * `sealwire_tls_trust_set_host_name`. There is no way to leave that out.
 *
 * Threads: any number may use it at once, as long as none changes it.
 */
typedef struct sealwire_tls_trust sealwire_tls_trust;

/**
 * Hands tasks out to workers, and keeps each until one says that it is done: at least once. A worker that was
 * given up may have done the work, and another does it again.
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_work_distributor sealwire_work_distributor;

/**
 * Options of distributors and workers: a list that may be used for any number of them and freed once they
 * are made. One that is not set has its default.
 *
 * Threads: any number may use it at once, as long as none changes it.
 */
typedef struct sealwire_work_options sealwire_work_options;

/**
 * The outcome of a task, as its distributor tells it: it is done, or it has failed as often as it may and the
 * distributor no longer has it.
 *
 * Threads: never changes, so any number may use it at once, but for freeing it.
 */
typedef struct sealwire_work_outcome sealwire_work_outcome;

/**
 * A task that a worker has taken, to be ended with `sealwire_work_task_done`, `sealwire_work_task_fail` or
 * `sealwire_work_task_give_back`, on any thread. It may outlive the worker's object.
 *
 * Threads: one at a time.
 */
typedef struct sealwire_work_task sealwire_work_task;

/**
 * A task without an outcome: one that was set aside, or one that was left at the end.
 *
 * Threads: never changes, so any number may use it at once, but for freeing it.
 */
typedef struct sealwire_work_unfinished sealwire_work_unfinished;

/**
 * Tasks without an outcome, in the order of their numbers. They belong to the list, which outlives the
 * distributor.
 *
 * Threads: never changes, so any number may use it at once, but for freeing it.
 */
typedef struct sealwire_work_unfinished_list sealwire_work_unfinished_list;

/**
 * Takes tasks of a distributor. Connects in the background, and again where its connection is lost.
 *
 * Threads: any number may use it at once, but for freeing it.
 */
typedef struct sealwire_work_worker sealwire_work_worker;

/**
 * What became of a call: `SEALWIRE_OK`, or one of the numbers `SEALWIRE_ERROR_...`, which are all
 * above zero and never change their meaning. New numbers may be added.
 */
typedef int32_t sealwire_status;

/**
 * A number of a context, as one line of Prometheus' text: its name, its labels, its value.
 */
typedef struct {
  /**
   * The name, with `_bucket`, `_sum` or `_count` behind that of a histogram.
   */
  const char *name;
  /**
   * How many labels there are.
   */
  size_t labels;
  /**
   * Their names.
   */
  const char *const *label_names;
  /**
   * Their values, in the same order. Only what this process chose or what a peer proved is in one.
   */
  const char *const *label_values;
  /**
   * The number: bytes, messages and the like, and seconds. Counts above 2^53 lose their last digits.
   */
  double value;
} sealwire_metric;

/**
 * Takes a number. `metric` and all that it leads to are valid during the call.
 */
typedef void (*sealwire_metric_fn)(void *user, const sealwire_metric *metric);

/**
 * One message of a batch.
 */
typedef struct {
  /**
   * Its nonce: 24 bytes.
   */
  const uint8_t *nonce;
  /**
   * The bytes that are authenticated and not encrypted; may be NULL with a size of 0.
   */
  const uint8_t *aad;
  /**
   * Bytes of it.
   */
  size_t aad_size;
  /**
   * The text, encrypted or decrypted in place. No two jobs share bytes.
   */
  uint8_t *buffer;
  /**
   * Bytes of it.
   */
  size_t size;
  /**
   * Its tag: 32 bytes, written when sealing and read when opening.
   */
  uint8_t *tag;
  /**
   * Written when opening: whether it is authentic. If not, the buffer still holds the ciphertext.
   */
  bool authentic;
} sealwire_aead_job;

/**
 * Decides about one client: calls `sealwire_decision_allow`, or does not. Called on threads of the library,
 * on several at once; it may block, and only the client in question waits. It must not throw.
 */
typedef void (*sealwire_authenticate_fn)(const sealwire_client *client,
                                         sealwire_decision *decision,
                                         void *user);

/**
 * Frees what a callback's `user` points to. Called exactly once, on any thread, when the callback
 * will not be called again. It must not throw, and must not wait for this library. NULL where
 * nothing is to be done.
 */
typedef void (*sealwire_destroy_fn)(void *user);

/**
 * What an I/O thread calls as it begins, with its number from 0: to set its priority, or the processors that it may
 * run on. Several threads may call it at once. It must not throw, nor use the context. Whether it has run when the context
 * has been made is not said.
 */
typedef void (*sealwire_thread_start_fn)(void *user, size_t io_thread);

/**
 * Decides about one peer: calls `sealwire_decision_allow`, or does not; a name that it gives counts
 * for nothing. Called on threads of the library, on several at once; it may block, and only the peer
 * in question waits. It must not throw.
 */
typedef void (*sealwire_admit_fn)(const sealwire_guest *guest,
                                  sealwire_decision *decision,
                                  void *user);

/**
 * Takes a line of the log, whose level is one of `SEALWIRE_LOG_`. `text` is valid during the call. It is
 * printable: what peers chose of it is escaped.
 */
typedef void (*sealwire_log_fn)(int32_t level, const char *text, void *user);

/**
 * Frees a buffer that was handed to a message. Called exactly once, on any thread, when nobody reads
 * it any more. It must not throw, and must not wait for this library.
 */
typedef void (*sealwire_free_fn)(void *data, void *hint);

/**
 * What `sealwire_poll` waits for: a socket, or a monitor where `socket` is NULL, or a file
 * descriptor where both are.
 */
typedef struct {
  /**
   * A socket, or NULL.
   */
  const sealwire_socket *socket;
  /**
   * A monitor, or NULL.
   */
  const sealwire_monitor *monitor;
  /**
   * A file descriptor; looked at when both of the others are NULL.
   */
  int32_t fd;
  /**
   * What to wait for: `SEALWIRE_POLL_IN`, `SEALWIRE_POLL_OUT`, or both.
   */
  uint32_t events;
  /**
   * What there is, written by the call.
   */
  uint32_t ready;
} sealwire_poll_item;

/**
 * Gets each request, which is the callback's from then on: it must be answered, now or later, or
 * freed with `sealwire_rpc_request_free`. Without threads of its own (`sealwire_rpc_handler`) it is
 * called where connections are read, so it must be quick and must not wait for an answer of this
 * client or server. May be called on several threads at once. It must not throw.
 */
typedef void (*sealwire_rpc_request_fn)(sealwire_rpc_request *request, void *user);

/**
 * Gets each message that nobody answers. As `sealwire_rpc_request_fn` otherwise, but the message is
 * valid during the callback only.
 */
typedef void (*sealwire_rpc_message_fn)(const sealwire_rpc_message *message, void *user);

/**
 * What answers the other side.
 */
typedef struct {
  /**
   * Gets requests. NULL answers all of them with code 12 (unimplemented).
   */
  sealwire_rpc_request_fn request;
  /**
   * Gets messages. NULL drops them.
   */
  sealwire_rpc_message_fn message;
  /**
   * Handed to both.
   */
  void *user;
  /**
   * Called once with `user` when neither will be called again; not after an error of the function
   * that the handler was given to. May be NULL.
   */
  sealwire_destroy_fn destroy;
  /**
   * On how many threads of their own the two are called, where they may wait. 1,024 requests wait
   * for one; further ones are answered with code 8 (resource exhausted). 0: where connections are
   * read.
   */
  uint32_t threads;
} sealwire_rpc_handler;

/**
 * Decides about a client that shows a username and a password: calls `sealwire_decision_allow`, or
 * does not. Compare passwords in constant time. Called on threads of the library, on several at once; it may
 * block. It must not throw. Nothing but `user` is valid after it.
 */
typedef void (*sealwire_authenticate_plain_fn)(const char *username,
                                               const void *password,
                                               size_t password_size,
                                               const sealwire_guest *guest,
                                               sealwire_decision *decision,
                                               void *user);

/**
 * What a socket has done since it was made. Each number only grows.
 */
typedef struct {
  /**
   * Messages handed to a connection.
   */
  uint64_t messages_sent;
  /**
   * Payload bytes of these.
   */
  uint64_t bytes_sent;
  /**
   * Messages that arrived for the program.
   */
  uint64_t messages_received;
  /**
   * Payload bytes of these.
   */
  uint64_t bytes_received;
  /**
   * Copies dropped at a full queue, or because the peer to answer was gone.
   */
  uint64_t dropped_at_send;
  /**
   * Messages of which nothing had been written when their connection or the socket ended.
   */
  uint64_t dropped_unsent;
  /**
   * Messages that were written to a connection which has ended since, and may have arrived: an upper
   * bound of what was lost on the way. An answered heartbeat takes out what was sent before it.
   */
  uint64_t unconfirmed;
  /**
   * Received messages that nobody had read when the socket ended, or for which there was no room
   * when their connection did.
   */
  uint64_t dropped_unread;
  /**
   * Messages that a newer one replaced before they were sent or read.
   */
  uint64_t replaced;
  /**
   * Messages that publishers of Sealwire dropped for this socket, as they say.
   */
  uint64_t missed;
  /**
   * Received messages that the type of the socket has no use for.
   */
  uint64_t dropped_at_receive;
  /**
   * Handshakes completed.
   */
  uint64_t handshakes_completed;
  /**
   * Handshakes that failed.
   */
  uint64_t handshakes_failed;
  /**
   * Attempts to connect that followed a failed or ended connection.
   */
  uint64_t reconnects;
  /**
   * Connections that ended after their handshake.
   */
  uint64_t disconnects;
} sealwire_counters;

/**
 * What a distributor has done since it was made, and what it has now. Each number but those of now only grows.
 */
typedef struct {
  /**
   * Tasks added.
   */
  uint64_t added;
  /**
   * Tasks done, each counted once.
   */
  uint64_t done;
  /**
   * Times that a task was handed out.
   */
  uint64_t handed_out;
  /**
   * Of these, how many were a task's second attempt or a later one.
   */
  uint64_t handed_out_again;
  /**
   * Attempts whose worker said that they failed.
   */
  uint64_t failed;
  /**
   * Attempts whose worker's connection ended.
   */
  uint64_t lost;
  /**
   * Attempts that had no outcome within the limit of an attempt.
   */
  uint64_t overdue;
  /**
   * Attempts that a leaving worker gave back without having begun them.
   */
  uint64_t returned;
  /**
   * Outcomes of attempts that had been given up. One that says "done" ends its task all the same.
   */
  uint64_t late;
  /**
   * Times that a worker said "done" of a task that was done already: its work was repeated.
   */
  uint64_t repeated;
  /**
   * Outcomes of another distributor's tasks, of one that was here before for example.
   */
  uint64_t foreign;
  /**
   * Connections ended because the worker violated the protocol.
   */
  uint64_t violations;
  /**
   * Connections ended because the worker did not greet in time.
   */
  uint64_t silent;
  /**
   * Tasks with workers now.
   */
  uint64_t out;
  /**
   * Tasks without an outcome now, those with workers among them.
   */
  uint64_t pending;
  /**
   * Tasks that are set aside now.
   */
  uint64_t set_aside;
  /**
   * Workers that are connected now.
   */
  uint64_t workers;
  /**
   * Bytes of tasks and results held now, each counted with 128 bytes more.
   */
  uint64_t held_bytes;
} sealwire_distributor_counters;

/**
 * What a worker has done since it was made. Each number only grows.
 */
typedef struct {
  /**
   * Tasks received.
   */
  uint64_t received;
  /**
   * Tasks taken by the program.
   */
  uint64_t taken;
  /**
   * Attempts that ended as done.
   */
  uint64_t done;
  /**
   * Attempts that ended as failed.
   */
  uint64_t failed;
  /**
   * Attempts given back without having been begun.
   */
  uint64_t returned;
  /**
   * Tasks that were dropped before they were begun, as their connection had ended: others get them.
   */
  uint64_t dropped;
  /**
   * Outcomes that nobody was told of, as the distributor is gone.
   */
  uint64_t untold;
  /**
   * Connections to a distributor that began.
   */
  uint64_t connections;
  /**
   * Connections ended because the distributor violated the protocol.
   */
  uint64_t violations;
} sealwire_worker_counters;

/**
 * It was done.
 */
#define SEALWIRE_OK 0

/**
 * A pointer that must not be NULL is.
 */
#define SEALWIRE_ERROR_NULL 1

/**
 * An argument is out of range, too short or long, or no text in UTF-8.
 */
#define SEALWIRE_ERROR_ARGUMENT 2

/**
 * A fault of this library. Please report it.
 */
#define SEALWIRE_ERROR_INTERNAL 3

/**
 * An error that has no number yet. `sealwire_last_error` says what it is.
 */
#define SEALWIRE_ERROR_OTHER 4

/**
 * The operating system refused: no threads, no file descriptors.
 */
#define SEALWIRE_ERROR_SYSTEM 5

/**
 * The handle was made before `fork`, and this is the child: make new ones there. Freeing it is all
 * right and leaves the parent alone.
 */
#define SEALWIRE_ERROR_FORKED 6

/**
 * The thread of the context has ended by a fault: the system refused to poll, or this library failed.
 * Sockets of other contexts go on.
 */
#define SEALWIRE_ERROR_ENGINE_FAILED 7

/**
 * The socket was drained (`sealwire_socket_drain`): all that its peers sent has been received.
 */
#define SEALWIRE_ERROR_DRAINED 8

/**
 * The socket was drained, and connections were cut off: their end did not come within the time limit, or came in
 * the middle of a message. Messages on their way over them are lost. The text says how many connections.
 */
#define SEALWIRE_ERROR_CUT_OFF 9

/**
 * The operation would have to wait, and was told not to.
 */
#define SEALWIRE_ERROR_WOULD_BLOCK 10

/**
 * It was not done in time. The text ends with why the last connection failed, if one did. Where its
 * handshake did, the number is `SEALWIRE_ERROR_HANDSHAKE`.
 */
#define SEALWIRE_ERROR_TIMED_OUT 11

/**
 * The socket is closed.
 */
#define SEALWIRE_ERROR_CLOSED 12

/**
 * The type of the socket does not do that.
 */
#define SEALWIRE_ERROR_UNSUPPORTED 13

/**
 * Not now: REQ and REP take turns; DISH joins a group once; a session of the AEAD seals or opens.
 */
#define SEALWIRE_ERROR_STATE 14

/**
 * REQ: the peer went away before it answered; the request may have been carried out.
 */
#define SEALWIRE_ERROR_REQUEST_LOST 15

/**
 * ROUTER, SERVER, PEER, STREAM: there is no such peer.
 */
#define SEALWIRE_ERROR_UNROUTABLE 16

/**
 * The message is not of the form that the type of the socket sends.
 */
#define SEALWIRE_ERROR_MESSAGE 17

/**
 * A limit is reached.
 */
#define SEALWIRE_ERROR_LIMIT 18

/**
 * The endpoint cannot be understood.
 */
#define SEALWIRE_ERROR_ENDPOINT 19

/**
 * The socket cannot use the endpoint: its transport does not go with the socket's type or
 * mechanism.
 */
#define SEALWIRE_ERROR_TRANSPORT 20

/**
 * An option that the type of the socket does not have, or that cannot have this value.
 */
#define SEALWIRE_ERROR_OPTION 21

/**
 * Binding failed, for example because the address is in use.
 */
#define SEALWIRE_ERROR_BIND 22

/**
 * Connecting failed (`udp` only; with other transports it is an event of the monitor).
 */
#define SEALWIRE_ERROR_CONNECT 23

/**
 * The socket has no such endpoint.
 */
#define SEALWIRE_ERROR_UNKNOWN_ENDPOINT 24

/**
 * The endpoint is not connected to any more.
 */
#define SEALWIRE_ERROR_GAVE_UP 25

/**
 * Some messages were not sent within the linger time.
 */
#define SEALWIRE_ERROR_UNSENT 26

/**
 * No more events will come: the socket is closed and all were read.
 */
#define SEALWIRE_ERROR_ENDED 27

/**
 * A signal handler ran, and the socket was made to tell: `EINTR` of the system's calls. Nothing was sent
 * or received.
 */
#define SEALWIRE_ERROR_INTERRUPTED 28

/**
 * It was not done in time, and the last connection failed in its handshake: a wrong key, a client that is
 * not let in, another mechanism, a certificate that is not trusted. The text has the reason. The socket
 * goes on trying.
 */
#define SEALWIRE_ERROR_HANDSHAKE 29

/**
 * The text is not a key, or the bytes are not a public key in canonical form.
 */
#define SEALWIRE_ERROR_KEY 30

/**
 * A key file cannot be read or written, or is none.
 */
#define SEALWIRE_ERROR_KEY_FILE 31

/**
 * Others than its owner may read a file with a secret key.
 */
#define SEALWIRE_ERROR_KEY_FILE_PERMISSIONS 32

/**
 * A public key of low order: what is agreed with it is not secret.
 */
#define SEALWIRE_ERROR_WEAK_KEY 33

/**
 * There is no certificate in the PEM text, or one that cannot be read.
 */
#define SEALWIRE_ERROR_TLS_CERTIFICATE 34

/**
 * There is no private key in the PEM text, or none of a kind that is known.
 */
#define SEALWIRE_ERROR_TLS_PRIVATE_KEY 35

/**
 * The private key does not belong to the first certificate of the chain.
 */
#define SEALWIRE_ERROR_TLS_KEY_MISMATCH 36

/**
 * The system has no list of authorities that can be used.
 */
#define SEALWIRE_ERROR_TLS_SYSTEM_TRUST 37

/**
 * No certificate can be for such a name: it is neither a DNS name nor an IP address.
 */
#define SEALWIRE_ERROR_TLS_HOST_NAME 38

/**
 * A listening socket that was opened elsewhere cannot be used.
 */
#define SEALWIRE_ERROR_LISTENER 39

/**
 * The message is not authentic. Nothing more is said about it on purpose.
 */
#define SEALWIRE_ERROR_NOT_AUTHENTIC 40

/**
 * All positions of a stream are used up.
 */
#define SEALWIRE_ERROR_STREAM_EXHAUSTED 41

/**
 * The operating system has no randomness to give.
 */
#define SEALWIRE_ERROR_RANDOM 42

/**
 * ROUTER, STREAM: another peer of the socket has the routing id that was chosen.
 */
#define SEALWIRE_ERROR_ROUTING_ID_IN_USE 43

/**
 * The other side answered the call with an error; `sealwire_rpc_error_code` tells which.
 */
#define SEALWIRE_ERROR_RPC_REMOTE 50

/**
 * The time limit of the call ran out.
 */
#define SEALWIRE_ERROR_RPC_DEADLINE 51

/**
 * The connection was lost during the call.
 */
#define SEALWIRE_ERROR_RPC_CONNECTION_LOST 52

/**
 * No connection came about.
 */
#define SEALWIRE_ERROR_RPC_CONNECT 53

/**
 * There was no room for the message within the write limit.
 */
#define SEALWIRE_ERROR_RPC_CONGESTED 54

/**
 * The body is larger than the limit.
 */
#define SEALWIRE_ERROR_RPC_TOO_LARGE 55

/**
 * One of both sides shuts down.
 */
#define SEALWIRE_ERROR_RPC_SHUTTING_DOWN 56

/**
 * A call that waits was made by a handler that runs where the connection is read: it would wait
 * for itself.
 */
#define SEALWIRE_ERROR_RPC_WOULD_DEADLOCK 57

/**
 * The stream of a call is over: no more items come, or none can be sent. On the caller's side the
 * answer (`sealwire_rpc_stream_answer`) says why.
 */
#define SEALWIRE_ERROR_RPC_STREAM_ENDED 58

/**
 * An entry that metadata cannot have: its key has another form, or a limit would be exceeded.
 */
#define SEALWIRE_ERROR_RPC_METADATA 59

/**
 * The distributor holds as many tasks, or bytes of them, as it may.
 */
#define SEALWIRE_ERROR_WORK_FULL 60

/**
 * The task has more bytes than may be handed out (`SEALWIRE_WORK_OPTION_MAX_TASK`).
 */
#define SEALWIRE_ERROR_WORK_TASK_TOO_LARGE 61

/**
 * The result has more bytes than the distributor takes (`SEALWIRE_WORK_OPTION_MAX_RESULT`). The attempt
 * has failed.
 */
#define SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE 62

/**
 * The distributor or worker was shut down, or the worker leaves.
 */
#define SEALWIRE_ERROR_WORK_SHUT_DOWN 63

/**
 * No task with this number is set aside here.
 */
#define SEALWIRE_ERROR_WORK_NOT_SET_ASIDE 64

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The name of a kind for logs and metrics, for example "left_behind". NULL where there is no such
 * kind: they are numbered from 0 without a gap. Valid for ever.
 */
const char *sealwire_kind_name(int32_t kind);

/**
 * Writes how much is held for the peer now: bytes, or from `SEALWIRE_KIND_CONNECTIONS` on a number.
 * The peers of `sealwire_peers_of_socket` and `sealwire_socket_accounts` are brought up to date by that
 * call.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for an unknown kind, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peer_held(const sealwire_peer *peer,
                                   int32_t kind,
                                   uint64_t *held);

/**
 * Writes how often the peer reached the bound of a kind: pauses, refusals or its disconnection.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for an unknown kind, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peer_exceeded(const sealwire_peer *peer, int32_t kind, uint64_t *times);

/**
 * Bytes that the transport has taken for the peer so far: what tells a peer that reads slowly from
 * one that does not read. 0 within the process, and for NULL.
 */
uint64_t sealwire_peer_written(const sealwire_peer *peer);

/**
 * Calls `take` with `user` for each number of the peer, on this thread and before it returns: `age` in seconds since its
 * handshake was completed, `messages_sent`, `bytes_sent`, `messages_received`, `bytes_received`, `dropped` (copies for it that found
 * its queue full), `outbound_messages`, `outbound_bytes` and `outbound_most_messages` that wait for it, the same three of `inbound`
 * that were not read, and where heartbeats were answered `round_trip_last`, `round_trip_min` and `round_trip_smoothed` in seconds. None
 * has labels. They are brought up to date as the account is, and are zero before. `take` may use the library.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peer_numbers_each(const sealwire_peer *peer,
                                           sealwire_metric_fn take,
                                           void *user);

/**
 * Writes how often peers of the socket reached the bound of a kind, also those that are gone. Beside
 * `sealwire_socket_counters`.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for an unknown kind, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_exceeded(const sealwire_socket *socket,
                                         int32_t kind,
                                         uint64_t *times);

/**
 * Writes a fresh random key: 32 bytes, which are yours to wipe.
 *
 * Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_aead_generate_key(uint8_t *key);

/**
 * Writes a fresh random nonce: 24 bytes. `sealwire_aead_seal` says why that is enough.
 *
 * Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_aead_generate_nonce(uint8_t *nonce);

/**
 * Derives a key of `size` bytes, 1 to 65,535, from secret material, for the purpose that `context`
 * names: BLAKE3's key derivation mode. Keys of different contexts are independent of each other and of
 * the material; a shorter key is the beginning of a longer one. The context, a text, is a constant of
 * the program that no other purpose shares, such as "example.com 2026-11-25 backups v1". The material
 * is as hard to guess as a key, so never a password; where it has several parts of any length, write
 * the length of each before it. The key is yours to wipe.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_aead_derive_key(const char *context,
                                         const uint8_t *material,
                                         size_t material_size,
                                         uint8_t *key,
                                         size_t size);

/**
 * Seals a message under a key (32 bytes) and a nonce (24 bytes) that is never used for another
 * message under that key. `aad` is authenticated, not encrypted; it may be NULL with a size of 0.
 * Writes `size` + 32 bytes to `sealed`: the ciphertext, then the tag. `sealed` may start where
 * `plaintext` does; otherwise the two must not overlap, nor `sealed` and `aad`.
 *
 * Nonces: two messages sealed under the same key and nonce share their derived keys. Anyone who sees
 * both has the XOR of the plaintexts, as far as the shorter one goes, so who knows one plaintext
 * reads the other; and each opens where the other is expected. The key of the tags repeats too,
 * which enables no forgery: keyed BLAKE3 is a pseudorandom function, unlike Poly1305 and GHASH. The
 * key itself and messages under other nonces stay secret. What rules it out: a random nonce for each
 * message (`sealwire_aead_generate_nonce`; after 2^64 messages under a key two are equal with a chance
 * below 2^-64, after 2^80 below 2^-32), or a `sealwire_aead_stream`, which counts nonces; each stream
 * needs a key or a random nonce of its own.
 *
 * The tag commits to key, nonce, associated data and message, short of a collision of BLAKE3 (2^128
 * steps). What this is not: a standard, or audited; resistant to the misuse of nonces; a guard
 * against messages that are dropped, repeated or reordered, but for `sealwire_aead_opener`. Lengths
 * are not hidden.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_seal(const uint8_t *key,
                                   const uint8_t *nonce,
                                   const uint8_t *aad,
                                   size_t aad_size,
                                   const uint8_t *plaintext,
                                   size_t size,
                                   uint8_t *sealed);

/**
 * Opens what `sealwire_aead_seal` made, of which there are `size` bytes, and writes `size` - 32
 * bytes to `plaintext`, only if the message is authentic. `plaintext` may be where `sealed` is.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 32 bytes; `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_open(const uint8_t *key,
                                   const uint8_t *nonce,
                                   const uint8_t *aad,
                                   size_t aad_size,
                                   const uint8_t *sealed,
                                   size_t size,
                                   uint8_t *plaintext);

/**
 * Encrypts `buffer` where it is and writes the tag (32 bytes) apart. As `sealwire_aead_seal`
 * otherwise. Allocates nothing.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_seal_detached(const uint8_t *key,
                                            const uint8_t *nonce,
                                            const uint8_t *aad,
                                            size_t aad_size,
                                            uint8_t *buffer,
                                            size_t size,
                                            uint8_t *tag);

/**
 * Decrypts `buffer` where it is, if the tag (32 bytes) is right; otherwise it still holds the
 * ciphertext. Allocates nothing.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_open_detached(const uint8_t *key,
                                            const uint8_t *nonce,
                                            const uint8_t *aad,
                                            size_t aad_size,
                                            uint8_t *buffer,
                                            size_t size,
                                            const uint8_t *tag);

/**
 * Seals several messages, faster than one by one if they are short.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; then nothing was sealed.
 */
sealwire_status sealwire_aead_seal_batch(const uint8_t *key, sealwire_aead_job *jobs, size_t count);

/**
 * Opens several messages and writes for each whether it is `authentic`. One that is not does not
 * keep the others from being opened.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC` if any is not; `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`, and then nothing was opened.
 */
sealwire_status sealwire_aead_open_batch(const uint8_t *key, sealwire_aead_job *jobs, size_t count);

/**
 * Starts a stream under a key (32 bytes) and a nonce (24 bytes), with `position` the number of its
 * first message: 0, or where an earlier one stopped. Two streams with the same key, nonce and numbers
 * repeat each other's nonces, which must not be.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_aead_stream_new(const uint8_t *key,
                                         const uint8_t *nonce,
                                         uint64_t position,
                                         sealwire_aead_stream **out);

/**
 * Encrypts `buffer` where it is as the next message, and writes the tag (32 bytes) and, where
 * `position` is not NULL, the message's number.
 *
 * Errors: `SEALWIRE_ERROR_STREAM_EXHAUSTED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_stream_seal(const sealwire_aead_stream *stream,
                                          const uint8_t *aad,
                                          size_t aad_size,
                                          uint8_t *buffer,
                                          size_t size,
                                          uint8_t *tag,
                                          uint64_t *position);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_aead_stream_free(sealwire_aead_stream *stream);

/**
 * The opening side of the stream with this key and nonce, with `position` the number of the first
 * message that is expected.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_aead_opener_new(const uint8_t *key,
                                         const uint8_t *nonce,
                                         uint64_t position,
                                         sealwire_aead_opener **out);

/**
 * Decrypts `buffer` where it is, if it is the next message with its tag (32 bytes). Otherwise it
 * still holds the ciphertext, and the same message is expected as before.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, `SEALWIRE_ERROR_STREAM_EXHAUSTED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_opener_open(sealwire_aead_opener *opener,
                                          const uint8_t *aad,
                                          size_t aad_size,
                                          uint8_t *buffer,
                                          size_t size,
                                          const uint8_t *tag);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_aead_opener_free(sealwire_aead_opener *opener);

/**
 * Lets in everybody who knows the server's public key. Clients are not told apart.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_authenticator_anyone(sealwire_authenticator **out);

/**
 * Lets in those whose keys are added with `sealwire_authenticator_allow`, at first nobody.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_authenticator_keys(sealwire_authenticator **out);

/**
 * Adds a public key of 32 bytes to a list of keys, with a name for its owner or NULL. Servers that
 * have the list already do not see it.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` for an authenticator that is not a list,
 * `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_authenticator_allow(sealwire_authenticator *authenticator,
                                             const uint8_t *public_key,
                                             const char *user_id);

/**
 * Lets in those whose keys are in a file (one key a line, then optionally a name) or in the files of
 * a directory (one client each, named after the file). Both are read again when they change, and who
 * is no longer listed is disconnected within about a second.
 *
 * Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_authenticator_file(const char *path,
                                            sealwire_authenticator **out);

/**
 * Asks a callback about each client. `user` is handed to it; `destroy(user)` is called once, when
 * neither this object nor a socket needs the callback any more. After an error it is not called.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_authenticator_callback(sealwire_authenticate_fn authenticate,
                                                void *user,
                                                sealwire_destroy_fn destroy,
                                                sealwire_authenticator **out);

/**
 * Frees an authenticator. Servers that have it keep it. NULL is fine.
 */
void sealwire_authenticator_free(sealwire_authenticator *authenticator);

/**
 * Writes the public key that the client has proved to hold: 32 bytes. An anonymous client shows one
 * that it made for this connection.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_client_public_key(const sealwire_client *client, uint8_t *public_key);

/**
 * Where the client is, as text; no proof of anything. NULL for NULL. Valid during the callback.
 */
const char *sealwire_client_address(const sealwire_client *client);

/**
 * Writes whose process is at the other end of a Unix socket, as the system tells on Linux: the
 * numbers of the process, its user and its group, each where the pointer is not NULL.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the system does not tell (other transports and
 * systems), `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_client_process(const sealwire_client *client,
                                        int32_t *process,
                                        uint32_t *user,
                                        uint32_t *group);

/**
 * What the client says of itself (`Socket-Type`, `Identity`, properties of its own), by name without
 * case: the bytes, whose number is written to `size` (where that is not NULL), or NULL when there is
 * no such property or an argument is not valid. Valid during the callback.
 */
const void *sealwire_client_metadata(const sealwire_client *client,
                                     const char *name,
                                     size_t *size);

/**
 * Lets the client in; its messages carry this name, or none for NULL.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; the client is then refused.
 */
sealwire_status sealwire_decision_allow(sealwire_decision *decision, const char *user_id);

/**
 * Turns the client away, with a reason for this side's monitor that BLAKE3 clients are told too (up
 * to 255 printable ASCII characters), and a status for CURVE clients: 300 (try later), 400 (refused)
 * or 500 (the authenticator failed).
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; the client is refused in any case.
 */
sealwire_status sealwire_decision_refuse(sealwire_decision *decision,
                                         int32_t status,
                                         const char *reason);

/**
 * Starts a context with its thread. Free it with `sealwire_context_free`.
 *
 * Errors: `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_context_new(sealwire_context **out);

/**
 * Starts a context with this many threads (1 to 64), whose names begin with `thread_name`, where that is not
 * NULL; systems show 15 bytes of it. Each endpoint that is bound or connected to is served by the thread that serves
 * least then, of those that `SEALWIRE_OPTION_IO_AFFINITY` allows. Free it with `sealwire_context_free` or
 * `sealwire_context_join`. libzmq's `ZMQ_IO_THREADS` and `ZMQ_THREAD_NAME_PREFIX`.
 *
 * Errors: `SEALWIRE_ERROR_OPTION` for another number of threads, `SEALWIRE_ERROR_SYSTEM`,
 * `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_context_new_with_threads(size_t io_threads,
                                                  const char *thread_name,
                                                  sealwire_context **out);

/**
 * Starts a context as `sealwire_context_new_with_threads` does, whose threads call `on_thread_start` with `user` as they
 * begin. `destroy`, where it is not NULL, frees `user` once all threads have begun; after an error `user` is the caller's still. libzmq's
 * `ZMQ_THREAD_AFFINITY_CPU_ADD`, `ZMQ_THREAD_PRIORITY` and `ZMQ_THREAD_SCHED_POLICY` are calls of the system there.
 *
 * Errors: as `sealwire_context_new_with_threads`; `SEALWIRE_ERROR_NULL` also without a callback.
 */
sealwire_status sealwire_context_new_with_thread_start(size_t io_threads,
                                                       const char *thread_name,
                                                       sealwire_thread_start_fn on_thread_start,
                                                       void *user,
                                                       sealwire_destroy_fn destroy,
                                                       sealwire_context **out);

/**
 * Writes the numbers of a context, its sockets, endpoints and peers to `text`, in the text format of Prometheus (`text/plain;
 * version=0.0.4`), to be freed with `sealwire_string_free`. NULL is the context that sockets share unless their
 * options name another. Single peers have no lines: each connection would be new time series to who reads them, which
 * `sealwire_context_metrics_each` and `sealwire_peer_numbers_each` have. It takes the lock of one socket after another, so
 * ask a few times a second at most.
 *
 * Errors: `SEALWIRE_ERROR_FORKED` in a child of a fork, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_context_metrics(const sealwire_context *context,
                                         char **text);

/**
 * Calls `take` with `user` for each number that `sealwire_context_metrics` writes, and for those of up to 1,000 peers of each
 * socket, on this thread and before it returns. `take` may use the library. NULL is the context that sockets share unless their options name another.
 *
 * Errors: those of `sealwire_context_metrics`; `SEALWIRE_ERROR_NULL` without `take`.
 */
sealwire_status sealwire_context_metrics_each(const sealwire_context *context,
                                              sealwire_metric_fn take,
                                              void *user);

/**
 * Gives a context back as `sealwire_context_free` does, and waits until its threads have ended: until
 * all sockets, options and others that were made with it are freed too. So free them first, or on another
 * thread; and do not call it from a callback of the library. In a child of a fork it returns at once. NULL is fine.
 */
void sealwire_context_join(sealwire_context *context);

/**
 * Gives a context back. Its thread ends once all sockets made with it are freed too; until then
 * they go on working. NULL is fine.
 */
void sealwire_context_free(sealwire_context *context);

/**
 * Where the peer is, as text; no proof of anything. NULL for NULL. Valid during the callback.
 */
const char *sealwire_guest_address(const sealwire_guest *guest);

/**
 * Writes whose process is at the other end of a Unix socket: as `sealwire_client_process`.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the system does not tell (other transports and
 * systems), `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_guest_process(const sealwire_guest *guest,
                                       int32_t *process,
                                       uint32_t *user,
                                       uint32_t *group);

/**
 * Writes the supplementary groups of the process at the other end of a Unix socket to the first elements of `groups`, as
 * many as `capacity` has room for, and how many there are to `count`. None where the system does not tell (other
 * transports and systems), and in callbacks that check passwords. Its main group may or may not be among them.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_guest_groups(const sealwire_guest *guest,
                                      uint32_t *groups,
                                      size_t capacity,
                                      size_t *count);

/**
 * Asks a callback about each peer by address and process, before the authenticator: about every peer
 * without a mechanism (NULL), whichever side connected, and about the clients of a server; not within
 * the process. Sockets that cannot ask (STREAM, `udp`) are refused as they are made or bound. Without
 * it all are let in. `user` is handed to the callback; `destroy(user)` is called once, when neither
 * these options nor a socket need it any more. After an error it is not called. A second callback
 * takes the place of the first.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set_admit(sealwire_options *options,
                                           sealwire_admit_fn admit,
                                           void *user,
                                           sealwire_destroy_fn destroy);

/**
 * Makes a key pair from the system's randomness. Free it with `sealwire_keys_free`.
 *
 * Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_keys_generate(sealwire_keys **out);

/**
 * The key pair of a secret key of 32 bytes, which are copied: wipe yours.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_keys_from_bytes(const uint8_t *secret, sealwire_keys **out);

/**
 * The key pair of a secret key as text: 40 characters in Z85 or 64 in hexadecimal.
 *
 * Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_keys_from_text(const char *secret, sealwire_keys **out);

/**
 * Reads a key pair from a file: a secret key alone, or a certificate as czmq writes them. Only its
 * owner may be able to read the file.
 *
 * Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY_FILE_PERMISSIONS`,
 * `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_keys_read(const char *path, sealwire_keys **out);

/**
 * Writes `<stem>.pub` with the public key, and `<stem>.key` with both, which only its owner can
 * read. Files that are there are left alone: that is an error.
 *
 * Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_keys_write(const sealwire_keys *keys, const char *stem);

/**
 * Writes a certificate as czmq and pyzmq read them: `<stem>.key` with the public key, and
 * `<stem>.key_secret` with both. Mind the names: here `.key` is public.
 *
 * Errors: as `sealwire_keys_write`.
 */
sealwire_status sealwire_keys_write_czmq(const sealwire_keys *keys, const char *stem);

/**
 * Writes the public key to `public_key`: 32 bytes.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_keys_public(const sealwire_keys *keys, uint8_t *public_key);

/**
 * Writes the secret key to `secret_key`: 32 bytes, which are yours to wipe.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_keys_secret(const sealwire_keys *keys, uint8_t *secret_key);

/**
 * Wipes and frees a key pair. NULL is fine. Sockets that were made with it keep their copies until
 * they are freed.
 */
void sealwire_keys_free(sealwire_keys *keys);

/**
 * Reads a public key from text: 40 characters in Z85 or 64 in hexadecimal. Writes 32 bytes.
 *
 * Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_public_key_from_text(const char *key_text, uint8_t *public_key);

/**
 * Writes a public key of 32 bytes as text in Z85: 40 characters and a zero octet.
 *
 * Errors: `SEALWIRE_ERROR_KEY` for bytes that are not a public key, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_public_key_to_text(const uint8_t *public_key, char *key_text);

/**
 * Reads a public key from a file: a key alone, or a certificate as czmq writes them. Writes 32
 * bytes.
 *
 * Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_public_key_read(const char *path, uint8_t *public_key);

/**
 * Frees a text that a function of this library gave to the caller. NULL is fine.
 */
void sealwire_string_free(char *string);

/**
 * Gives the next listening socket that a service manager opened for this process (`LISTEN_FDS`,
 * `LISTEN_PID` and `LISTEN_FDNAMES` of systemd): the next of all where `name` is NULL, else the next
 * that has this name (`FileDescriptorName=` of its unit). The caller owns the descriptor, for
 * `sealwire_socket_bind_listener`. Each is given once. Where `named` is not NULL it gets the name, empty
 * where there is none, to be freed with `sealwire_string_free`.
 *
 * Make the first call before anything closes descriptors that it did not open.
 *
 * Errors: `SEALWIRE_ERROR_ENDED` where there are no more, `SEALWIRE_ERROR_LISTENER` where they were
 * opened for another process, are not open or not as a service manager passes them,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_listener_passed(const char *name,
                                         int32_t *descriptor,
                                         char **named);

/**
 * Binds to a listening TCP or Unix socket that somebody else opened: the program, or a service manager
 * (`sealwire_listener_passed`). The system says where it listens. With a `ws_path` it is a WebSocket with this
 * path, with a `wss_path` one over TLS; both may be NULL, and one must be. Where `bound` is not NULL it gets the
 * endpoint, to be freed with `sealwire_string_free`.
 *
 * Afterwards the descriptor is the socket's, which has another number for it: unbinding, closing and freeing close
 * it, and the program must not use it. After an error it is the program's still. The file of a
 * Unix socket stays. Of the options those of connections count; BACKLOG, IPV6 and IPC_MODE were for who opened it.
 * It does not block any more (`O_NONBLOCK`), also for others who share it.
 *
 * Errors: `SEALWIRE_ERROR_LISTENER` for what is not a listening TCP or Unix socket, and those of
 * `sealwire_socket_bind`.
 */
sealwire_status sealwire_socket_bind_listener(const sealwire_socket *socket,
                                              int32_t descriptor,
                                              const char *ws_path,
                                              const char *wss_path,
                                              char **bound);

/**
 * Has lines of this level (`SEALWIRE_LOG_`) and graver ones go to `log`, in place of an earlier one. NULL for
 * `log` ends it; then `destroy` is not called for `user`.
 *
 * Until this is called, the first failed handshake of a socket, for want of the right key for example, is a line
 * on standard error, for up to 8 sockets of a process. A broken pipe there raises no signal that reaches the
 * program. A call of this turns such lines off for good, so after one with NULL the library says nothing at all.
 *
 * `log` is called on a thread of its own, for one line at a time, and may use this library. While it is slow, up
 * to 1,024 lines wait; a line tells how many were dropped. The same failure again and again has one line a second,
 * except in `SEALWIRE_LOG_DEBUG`. An earlier one still gets the lines that wait for it, then its `destroy` is called.
 * In a child of `fork` there is no log until this is called there.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for another level, `SEALWIRE_ERROR_SYSTEM` where no thread can be started,
 * `SEALWIRE_ERROR_STATE` in a program of Rust that has a log of its own, `SEALWIRE_ERROR_FORKED` in a child
 * that was forked during a call of this. After an error `destroy` is not called.
 *
 * Threads: any number may call it at once.
 */
sealwire_status sealwire_log(int32_t level,
                             sealwire_log_fn log,
                             void *user,
                             sealwire_destroy_fn destroy);

/**
 * A message without frames, to add some. Free it with `sealwire_message_free`, unless it was sent.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_message_new(sealwire_message **out);

/**
 * A message of one frame with a copy of `size` bytes.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_message_from_bytes(const void *data, size_t size, sealwire_message **out);

/**
 * A message of one frame that is the caller's buffer, without a copy. libzmq's `zmq_msg_init_data`.
 *
 * After success the buffer belongs to the library until `free_fn(data, hint)` is called: once, on
 * any thread, perhaps before this returns. Nobody may change it before that. With a `free_fn` of
 * NULL it has to stay for as long as the process runs. After an error it is still the caller's.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_message_from_buffer(void *data,
                                             size_t size,
                                             sealwire_free_fn free_fn,
                                             void *hint,
                                             sealwire_message **out);

/**
 * Another handle to the same bytes: frames of more than 70 bytes are shared, not copied.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_message_clone(const sealwire_message *message, sealwire_message **out);

/**
 * Adds a frame with a copy of `size` bytes behind the others. Pointers to the frames' bytes that
 * were had before are no longer valid.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_message_add(sealwire_message *message, const void *data, size_t size);

/**
 * Adds a frame that is the caller's buffer behind the others; the buffer as in
 * `sealwire_message_from_buffer`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_message_add_buffer(sealwire_message *message,
                                            void *data,
                                            size_t size,
                                            sealwire_free_fn free_fn,
                                            void *hint);

/**
 * A message for a SERVER or PEER socket to send to the connection of this routing id
 * (`sealwire_message_routing_id`, `sealwire_peer_connection_routing_id`), with a copy of `size` bytes.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_message_with_routing_id(uint32_t routing_id,
                                                 const void *data,
                                                 size_t size,
                                                 sealwire_message **out);

/**
 * A message for a RADIO socket to send to a group of 1 to 255 bytes, with a copy of `size` bytes.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_message_to_group(const void *group,
                                          size_t group_size,
                                          const void *data,
                                          size_t size,
                                          sealwire_message **out);

/**
 * How many frames the message has; 0 for NULL.
 */
size_t sealwire_message_frames(const sealwire_message *message);

/**
 * The bytes of a frame, counted from 0, whose number `sealwire_message_frame_size` gives. NULL when
 * there is no such frame. They belong to the message and are valid until it is changed, sent or
 * freed.
 */
const void *sealwire_message_frame(const sealwire_message *message, size_t index);

/**
 * How many bytes a frame has, counted from 0; 0 when there is no such frame.
 */
size_t sealwire_message_frame_size(const sealwire_message *message, size_t index);

/**
 * The bytes of the last frame, which is the only one of most messages, and the payload behind an
 * envelope, topic or group of others. NULL when there is no frame. Valid as those of
 * `sealwire_message_frame`.
 */
const void *sealwire_message_data(const sealwire_message *message);

/**
 * How many bytes the last frame has; 0 when there is none.
 */
size_t sealwire_message_size(const sealwire_message *message);

/**
 * SERVER and PEER: the routing id of the connection that the message came through, to answer with
 * `sealwire_message_with_routing_id`.
 *
 * Errors: `SEALWIRE_ERROR_MESSAGE` when the message has no such number, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_message_routing_id(const sealwire_message *message, uint32_t *routing_id);

/**
 * The peer that sent a message; NULL for messages made here. Belongs to the message.
 */
const sealwire_peer *sealwire_message_peer(const sealwire_message *message);

/**
 * Frees a message. NULL is fine.
 */
void sealwire_message_free(sealwire_message *message);

/**
 * A monitor of the socket. Make it before connecting to miss nothing. It outlives the socket. Free
 * it with `sealwire_monitor_free`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_monitor_new(const sealwire_socket *socket, sealwire_monitor **out);

/**
 * The next event, waiting for it up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
 * `SEALWIRE_NO_WAIT`. Free it with `sealwire_event_free`.
 *
 * Errors: `SEALWIRE_ERROR_ENDED` once the socket is closed and all events are read (with
 * `SEALWIRE_WAIT`; else one of the next two), `SEALWIRE_ERROR_WOULD_BLOCK`,
 * `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_INTERRUPTED`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_monitor_next(const sealwire_monitor *monitor,
                                      int64_t timeout_ms,
                                      sealwire_event **out);

/**
 * How many events were lost because nobody read them in time; 0 for NULL.
 */
uint64_t sealwire_monitor_lost(const sealwire_monitor *monitor);

/**
 * Frees a monitor. NULL is fine.
 */
void sealwire_monitor_free(sealwire_monitor *monitor);

/**
 * What happened: one of `SEALWIRE_EVENT_...`; -1 for NULL.
 */
int32_t sealwire_event_kind(const sealwire_event *event);

/**
 * How many messages or datagrams an event tells of: those of `SEALWIRE_EVENT_DROPS_ENDED`, `SEALWIRE_EVENT_MESSAGES_MISSED` and
 * `SEALWIRE_EVENT_DATAGRAMS_DROPPED`, and attempts of `SEALWIRE_EVENT_ACCEPT_FAILED`. 0 for others and for NULL.
 */
uint64_t sealwire_event_count(const sealwire_event *event);

/**
 * Why a connection failed: one of `SEALWIRE_CAUSE_...`; `SEALWIRE_CAUSE_NONE` for other events, and
 * -1 for NULL.
 */
int32_t sealwire_event_cause(const sealwire_event *event);

/**
 * The name of that cause, as other languages and the program have it: `SEALWIRE_CAUSE_KEY_LIMIT` is
 * `key_limit`. NULL for other events and for NULL. Lasts as long as the program.
 */
const char *sealwire_event_cause_name(const sealwire_event *event);

/**
 * Whether a handshake failed, as the peers did not agree: a wrong key, a client that is not let in,
 * another mechanism. False for other events and for NULL.
 */
bool sealwire_event_is_handshake_failure(const sealwire_event *event);

/**
 * The event in words. NULL for NULL. Belongs to the event.
 */
const char *sealwire_event_text(const sealwire_event *event);

/**
 * The endpoint that it is about, or NULL. Belongs to the event.
 */
const char *sealwire_event_endpoint(const sealwire_event *event);

/**
 * Where the peer is, or NULL where there is none. Belongs to the event.
 */
const char *sealwire_event_address(const sealwire_event *event);

/**
 * Where this end of the connection is, or what is listened at, as text; NULL before there is a connection and as
 * `sealwire_peer_local_address` says. Belongs to the event.
 */
const char *sealwire_event_local_address(const sealwire_event *event);

/**
 * The number of the descriptor of the connection or of what listens, as `sealwire_peer_descriptor`; -1 where there is
 * none. It is closed where the event tells of an end.
 */
int32_t sealwire_event_descriptor(const sealwire_event *event);

/**
 * Whether it was the peer that ended a connection as it should (`SEALWIRE_EVENT_DISCONNECTED`), and not this side. False
 * for other events and for NULL.
 */
bool sealwire_event_is_by_peer(const sealwire_event *event);

/**
 * The connection id, the same in all events of a connection and in `sealwire_peer_connection`; 0
 * where there is none.
 */
uint64_t sealwire_event_connection(const sealwire_event *event);

/**
 * The peer, of `SEALWIRE_EVENT_READY`, `SEALWIRE_EVENT_SUBSCRIBED`, `SEALWIRE_EVENT_DISCONNECTED`, those of drops, and of
 * `SEALWIRE_EVENT_FAILED` where it had been ready; else NULL. Belongs to the event.
 */
const sealwire_peer *sealwire_event_peer(const sealwire_event *event);

/**
 * Frees an event. NULL is fine.
 */
void sealwire_event_free(sealwire_event *event);

/**
 * Writes a fresh key pair: 32 bytes each; wipe the secret one. NaCl's `crypto_box_keypair`.
 *
 * Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_box_generate(uint8_t *public_key, uint8_t *secret_key);

/**
 * Writes the public key (32 bytes) of a secret one. NaCl's `crypto_scalarmult_base`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_box_public(const uint8_t *secret_key, uint8_t *public_key);

/**
 * Writes the key (32 bytes) that the owners of two key pairs share, for any number of messages both
 * ways, with the functions `sealwire_secretbox_...`. NaCl's `crypto_box_beforenm`.
 *
 * Errors: `SEALWIRE_ERROR_WEAK_KEY`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_box_shared(const uint8_t *public_key,
                                    const uint8_t *secret_key,
                                    uint8_t *shared_key);

/**
 * Seals a message for the owner of `public_key`, under a nonce (24 bytes) that is never used for
 * another message between the two. Writes `size` + 16 bytes to `sealed`: the tag, then the
 * ciphertext. The two may overlap. NaCl's `crypto_box_easy`.
 *
 * Nonces: two messages sealed under the same key and nonce give anyone who sees both the XOR of the
 * plaintexts, as far as the shorter one goes, and the key of their tags, with which other messages are
 * forged under that nonce. The key itself and messages under other nonces stay secret. What rules it out:
 * a random nonce for each message (`sealwire_aead_generate_nonce` writes 24 bytes; after 2^64 messages under a
 * key two are equal with a chance below 2^-64). The two directions between two key pairs have one key, so
 * nonces that count have to differ between them as well.
 *
 * What this is not: a proof to others, as the receiver could have sealed it; a guard against messages that
 * are dropped, repeated, reordered or sent back to who sealed them; forward secrecy; committing to a key,
 * as `sealwire_aead_seal` is. Lengths are not hidden.
 *
 * Errors: `SEALWIRE_ERROR_WEAK_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_box_seal(const uint8_t *public_key,
                                  const uint8_t *secret_key,
                                  const uint8_t *nonce,
                                  const uint8_t *plaintext,
                                  size_t size,
                                  uint8_t *sealed);

/**
 * Opens what the owner of `public_key` sealed, of which there are `size` bytes, and writes `size` -
 * 16 bytes to `plaintext`, only if the message is authentic. The two may overlap. NaCl's
 * `crypto_box_open_easy`.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 16 bytes; `SEALWIRE_ERROR_WEAK_KEY`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_box_open(const uint8_t *public_key,
                                  const uint8_t *secret_key,
                                  const uint8_t *nonce,
                                  const uint8_t *sealed,
                                  size_t size,
                                  uint8_t *plaintext);

/**
 * Seals a message under a key of 32 bytes. As `sealwire_box_seal` otherwise. NaCl's
 * `crypto_secretbox_easy`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_secretbox_seal(const uint8_t *key,
                                        const uint8_t *nonce,
                                        const uint8_t *plaintext,
                                        size_t size,
                                        uint8_t *sealed);

/**
 * Opens what was sealed under a key of 32 bytes. As `sealwire_box_open` otherwise. NaCl's
 * `crypto_secretbox_open_easy`.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_secretbox_open(const uint8_t *key,
                                        const uint8_t *nonce,
                                        const uint8_t *sealed,
                                        size_t size,
                                        uint8_t *plaintext);

/**
 * Takes a key of any size, best 32 random bytes, for the purpose `domain`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_aead_new(const char *domain,
                                          const uint8_t *key,
                                          size_t key_size,
                                          sealwire_newplex_aead **out);

/**
 * Seals a message under a nonce (16 bytes) that is never used for another message under that key and domain. `aad`
 * is authenticated, not encrypted; it may be NULL with a size of 0. Writes `size` + 16 bytes to `sealed`: the
 * ciphertext, then the tag. `sealed` may start where `plaintext` does; otherwise the two must not overlap, nor
 * `sealed` and `aad`.
 *
 * Nonces: two messages of the same size sealed under the same key, nonce and `aad` give anyone who sees both the XOR of
 * the plaintexts, up to and with the block of 94 bytes where they first differ. Random nonces rule it out: after 2^48
 * messages under a key two are equal with a chance of about 2^-33.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_aead_seal(const sealwire_newplex_aead *aead,
                                           const uint8_t *nonce,
                                           const uint8_t *aad,
                                           size_t aad_size,
                                           const uint8_t *plaintext,
                                           size_t size,
                                           uint8_t *sealed);

/**
 * Opens what `sealwire_newplex_aead_seal` made, of which there are `size` bytes, and writes `size` - 16 bytes to
 * `plaintext`, only if the message is authentic. `plaintext` may be where `sealed` is.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 16 bytes; `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_aead_open(const sealwire_newplex_aead *aead,
                                           const uint8_t *nonce,
                                           const uint8_t *aad,
                                           size_t aad_size,
                                           const uint8_t *sealed,
                                           size_t size,
                                           uint8_t *plaintext);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_newplex_aead_free(sealwire_newplex_aead *aead);

/**
 * Starts a digest of a message of the purpose `domain`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_digest_new(const char *domain, sealwire_newplex_digest **out);

/**
 * Takes the next piece of the message. How it is cut into pieces has no effect.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_digest_update(sealwire_newplex_digest *digest,
                                               const uint8_t *piece,
                                               size_t size);

/**
 * Writes the digest (32 bytes) of what has been taken so far. The message may go on.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_digest_value(const sealwire_newplex_digest *digest,
                                              uint8_t *value);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_newplex_digest_free(sealwire_newplex_digest *digest);

/**
 * Starts a keyed digest of a message of the purpose `domain`, under a key of any size. An empty key is a key.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_keyed_digest_new(const char *domain,
                                                  const uint8_t *key,
                                                  size_t key_size,
                                                  sealwire_newplex_keyed_digest **out);

/**
 * Takes the next piece of the message. How it is cut into pieces has no effect.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_keyed_digest_update(sealwire_newplex_keyed_digest *digest,
                                                     const uint8_t *piece,
                                                     size_t size);

/**
 * Writes the tag (16 bytes) of what has been taken so far. The message may go on. To check a tag that came with a
 * message use `sealwire_newplex_keyed_digest_verify`, since `memcmp` tells by its time where two differ.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_keyed_digest_value(const sealwire_newplex_keyed_digest *digest,
                                                    uint8_t *tag);

/**
 * Checks whether a tag (16 bytes) is that of what has been taken so far, in constant time.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC` if it is not; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_keyed_digest_verify(const sealwire_newplex_keyed_digest *digest,
                                                     const uint8_t *tag);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_newplex_keyed_digest_free(sealwire_newplex_keyed_digest *digest);

/**
 * Starts a protocol for `domain`, which is unique to the application and the purpose:
 * "com.example.application.purpose".
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_new(const char *domain, sealwire_newplex_protocol **out);

/**
 * Copies a protocol with its state. What both are asked in the same way they answer in the same way, and two
 * different messages sealed with them show how they differ: for independent ones fork.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_protocol_clone(const sealwire_newplex_protocol *protocol,
                                                sealwire_newplex_protocol **out);

/**
 * Takes `size` bytes into the state.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_mix(sealwire_newplex_protocol *protocol,
                                              const char *label,
                                              const uint8_t *input,
                                              size_t size);

/**
 * Writes `size` pseudorandom bytes, such as a key, which are yours to wipe. Outputs of different sizes are
 * unrelated.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_derive(sealwire_newplex_protocol *protocol,
                                                 const char *label,
                                                 uint8_t *derived,
                                                 size_t size);

/**
 * Encrypts `buffer` where it is, without authenticating it: use `sealwire_newplex_protocol_seal` unless something
 * else does. The ciphertext does not depend on the size: those of "A" and "AB" begin with the same byte.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_mask(sealwire_newplex_protocol *protocol,
                                               const char *label,
                                               uint8_t *buffer,
                                               size_t size);

/**
 * Decrypts `buffer` where it is, which `sealwire_newplex_protocol_mask` encrypted. Whether it is authentic remains
 * unknown.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_unmask(sealwire_newplex_protocol *protocol,
                                                 const char *label,
                                                 uint8_t *buffer,
                                                 size_t size);

/**
 * Seals a message: writes `size` + 16 bytes to `sealed`, the ciphertext, then the tag, which also authenticates
 * everything that went into the protocol before. `sealed` may start where `plaintext` does; otherwise the two must
 * not overlap.
 *
 * Two messages of the same size sealed in the same state give anyone who sees both the XOR of the plaintexts, up to and
 * with the block of 94 bytes where they first differ. What rules it out is a nonce in the state, and never to seal
 * twice with copies of one protocol.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_seal(sealwire_newplex_protocol *protocol,
                                               const char *label,
                                               const uint8_t *plaintext,
                                               size_t size,
                                               uint8_t *sealed);

/**
 * Opens what `sealwire_newplex_protocol_seal` made in the same state, of which there are `size` bytes, and writes
 * `size` - 16 bytes to `plaintext`, only if the message is authentic. `plaintext` may be where `sealed` is.
 *
 * After a message that is not authentic the state has moved on as if it had been: open with a clone to go on after a
 * forgery. One of less than 16 bytes leaves the state as it was.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 16 bytes; `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_open(sealwire_newplex_protocol *protocol,
                                               const char *label,
                                               const uint8_t *sealed,
                                               size_t size,
                                               uint8_t *plaintext);

/**
 * Changes the state in a way that cannot be undone: who learns the new state learns nothing about what went before.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_protocol_ratchet(sealwire_newplex_protocol *protocol,
                                                  const char *label);

/**
 * Splits off `count` branches, 255 at most, each with a value of its own: value `i` has `sizes[i]` bytes at
 * `values[i]`. The branches differ from each other and from the protocol, which goes on, even where values are the
 * same. Writes `count` objects to `branches`.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for more than 255; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_protocol_fork(sealwire_newplex_protocol *protocol,
                                               const char *label,
                                               const uint8_t *const *values,
                                               const size_t *sizes,
                                               size_t count,
                                               sealwire_newplex_protocol **branches);

/**
 * Writes the state (130 bytes), to go on with later. It is as secret as any key that went into the protocol, and
 * yours to wipe.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_protocol_to_bytes(const sealwire_newplex_protocol *protocol,
                                                   uint8_t *state);

/**
 * The protocol whose state `sealwire_newplex_protocol_to_bytes` wrote. Nothing shows that a state was changed:
 * authenticate it if it was stored where others can write.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` if the bytes cannot be a state; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_protocol_from_bytes(const uint8_t *state,
                                                     size_t size,
                                                     sealwire_newplex_protocol **out);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_newplex_protocol_free(sealwire_newplex_protocol *protocol);

/**
 * Writes a fresh key pair for signatures: 32 bytes each; wipe the secret one. It is over ristretto255, and not one for
 * sockets or NaCl's `box`.
 *
 * Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_keys_generate(uint8_t *public_key,
                                               uint8_t *secret_key);

/**
 * Writes the public key (32 bytes) of a secret one.
 *
 * Errors: `SEALWIRE_ERROR_KEY` if the bytes are not a secret key: zero, or not below the order of the group;
 * `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_keys_public(const uint8_t *secret_key,
                                             uint8_t *public_key);

/**
 * Signs a message of the purpose `domain`, and writes the signature (64 bytes).
 *
 * `random` hedges: any number of bytes, best 64 random ones, protect the key of a device that can be made to
 * miscalculate. NULL with a size of 0 makes the signature deterministic; bytes that were used before do no harm.
 *
 * Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_sign(const char *domain,
                                      const uint8_t *secret_key,
                                      const uint8_t *message,
                                      size_t size,
                                      const uint8_t *random,
                                      size_t random_size,
                                      uint8_t *signature);

/**
 * Checks a signature (64 bytes): whether the owner of `public_key` signed this message for this domain. Takes a time
 * that depends on both, which are public.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC` if not; `SEALWIRE_ERROR_KEY` if the bytes are not a public key;
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_verify(const char *domain,
                                        const uint8_t *public_key,
                                        const uint8_t *message,
                                        size_t size,
                                        const uint8_t *signature);

/**
 * Starts a stream. **Takes the protocol when it succeeds**; it must hold a key, and something that never repeats
 * under that key.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_sealer_new(sealwire_newplex_protocol *protocol,
                                            sealwire_newplex_sealer **out);

/**
 * Seals a text of 1 to 65,535 bytes as the next block, and writes `size` + 18 bytes to `block`. `block` and
 * `plaintext` may overlap.
 *
 * Errors: `SEALWIRE_ERROR_STATE` after the end; `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_sealer_seal(sealwire_newplex_sealer *sealer,
                                             const uint8_t *plaintext,
                                             size_t size,
                                             uint8_t *block);

/**
 * Writes the block (18 bytes) that ends the stream, and where `protocol` is not NULL the protocol to go on with.
 *
 * Errors: `SEALWIRE_ERROR_STATE` after the end; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_sealer_end(sealwire_newplex_sealer *sealer,
                                            uint8_t *block,
                                            sealwire_newplex_protocol **protocol);

/**
 * Wipes and frees it. Without its end, nobody takes the stream for complete. NULL is fine.
 */
void sealwire_newplex_sealer_free(sealwire_newplex_sealer *sealer);

/**
 * Starts the reading side. **Takes the protocol when it succeeds**; it is in the state that the writing side began
 * with.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_opener_new(sealwire_newplex_protocol *protocol,
                                            sealwire_newplex_opener **out);

/**
 * Writes the size in bytes, 18 to 65,553, of the next block, which begins with `header` (2 bytes). Asked again before
 * that block is opened, it answers the same. A forged header is noticed when the block is opened, not here.
 *
 * Errors: `SEALWIRE_ERROR_STATE` after `sealwire_newplex_opener_end`; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_opener_block_size(sealwire_newplex_opener *opener,
                                                   const uint8_t *header,
                                                   size_t *size);

/**
 * Opens the next block, of `size` bytes, and writes its text, `size` - 18 bytes, to `plaintext`, only if it is
 * authentic. `plaintext` may be where `block` is. `ended` is written too: whether this block was the end, which has
 * no text. A stream without its end was cut off.
 *
 * After a block that is not authentic none is opened any more.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also if `size` is not that of the next block, and after the end;
 * `SEALWIRE_ERROR_STATE` after `sealwire_newplex_opener_end`; `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_newplex_opener_open(sealwire_newplex_opener *opener,
                                             const uint8_t *block,
                                             size_t size,
                                             uint8_t *plaintext,
                                             bool *ended);

/**
 * Gives back the protocol after the end was opened, in the state that the writing side has after its end.
 *
 * Errors: `SEALWIRE_ERROR_STATE` before the end was opened, and the second time; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_newplex_opener_end(sealwire_newplex_opener *opener,
                                            sealwire_newplex_protocol **protocol);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_newplex_opener_free(sealwire_newplex_opener *opener);

/**
 * No options yet. Free them with `sealwire_options_free`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_new(sealwire_options **out);

/**
 * Sets an option that is a number, a time in the unit of its name, or a switch (0 or 1): one of
 * `SEALWIRE_OPTION_...` below 100. Whether the type of a socket has it is told when one is made.
 *
 * Errors: `SEALWIRE_ERROR_OPTION` for an unknown option or one that has bytes,
 * `SEALWIRE_ERROR_ARGUMENT` for a value out of range, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set(sealwire_options *options, int32_t option, int64_t value);

/**
 * Sets an option that has bytes, which are copied: one of `SEALWIRE_OPTION_...` from 100 on.
 *
 * Errors: `SEALWIRE_ERROR_OPTION` for an unknown option or one that is a number,
 * `SEALWIRE_ERROR_ARGUMENT` where text in UTF-8 is wanted, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set_bytes(sealwire_options *options,
                                           int32_t option,
                                           const void *data,
                                           size_t size);

/**
 * Adds a property that peers are told in the handshake. libzmq's `ZMQ_METADATA`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_options_add_metadata(sealwire_options *options,
                                              const char *name,
                                              const void *data,
                                              size_t size);

/**
 * Connects through a SOCKS5 proxy, with a username and a password where `username` is not NULL.
 * libzmq's `ZMQ_SOCKS_PROXY`, `_USERNAME` and `_PASSWORD`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; what does not fit a proxy is told when a
 * socket is made.
 */
sealwire_status sealwire_options_set_socks_proxy(sealwire_options *options,
                                                 const char *host,
                                                 uint16_t port,
                                                 const char *username,
                                                 const void *password,
                                                 size_t password_size);

/**
 * Accepts WebSockets of web pages of this origin, `SCHEME://HOST` or `SCHEME://HOST:PORT`, where the
 * socket binds `ws` or `wss`; may be called for several. By default a request with an `Origin` is
 * refused with status 403, since any page that somebody visits could connect.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; what is not an origin is told when a
 * socket is made.
 */
sealwire_status sealwire_options_allow_ws_origin(sealwire_options *options,
                                                 const char *origin);

/**
 * Accepts web pages of every origin: whatever page somebody visits can then speak to the socket.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_allow_any_ws_origin(sealwire_options *options);

/**
 * Accepts a name or address, without port, in the field `Host` of WebSocket requests to loopback
 * addresses; may be called for several. By default only `localhost` and loopback addresses are.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; what is not a name is told when a socket
 * is made.
 */
sealwire_status sealwire_options_allow_ws_host(sealwire_options *options,
                                               const char *host);

/**
 * Limits how many connections are taken from one address in each period.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for a period below 0, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set_connection_rate(sealwire_options *options,
                                                     uint32_t connections,
                                                     int64_t period_ms);

/**
 * Names the context; the object may be freed after that.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set_context(sealwire_options *options,
                                             const sealwire_context *context);

/**
 * Frees options. Sockets that were made with them keep theirs. NULL is fine.
 */
void sealwire_options_free(sealwire_options *options);

/**
 * Writes the public key that the peer proved to hold: 32 bytes. A client without a key of its own
 * shows one made for the connection, so authorise by known keys, not by the presence of one.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the mechanism proves none (NULL, PLAIN, `inproc`),
 * `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peer_public_key(const sealwire_peer *peer, uint8_t *public_key);

/**
 * Writes the public key of this side that the handshake was done with, 32 bytes: of a server that has several, the one
 * that the client knows.
 *
 * Errors: as `sealwire_peer_public_key`.
 */
sealwire_status sealwire_peer_local_key(const sealwire_peer *peer,
                                        uint8_t *public_key);

/**
 * The name that the authenticator gave to the peer; NULL when it gave none. Belongs to the peer.
 */
const char *sealwire_peer_user_id(const sealwire_peer *peer);

/**
 * Where the peer is, as text, for example "tcp://192.0.2.7:40312". NULL for NULL. Belongs to the peer.
 */
const char *sealwire_peer_address(const sealwire_peer *peer);

/**
 * Where this end of the connection is, as text. NULL over `udp`, within the process, for the end of an `ipc` connection
 * that connected, which has no name, and for NULL. Belongs to the peer.
 */
const char *sealwire_peer_local_address(const sealwire_peer *peer);

/**
 * The endpoint that was bound or connected to for this connection. NULL for NULL. Belongs to the peer.
 */
const char *sealwire_peer_endpoint(const sealwire_peer *peer);

/**
 * Whether the peer connected to this socket; false where this socket connected to the peer, over `udp`, and for NULL.
 */
bool sealwire_peer_is_accepted(const sealwire_peer *peer);

/**
 * The number of the descriptor of the connection on Unix; -1 over `udp`, within the process, and for NULL. It is good
 * for comparing with what the system tells. Others have the number once the connection has ended, and the connection fails if
 * somebody else reads, writes or closes it.
 */
int32_t sealwire_peer_descriptor(const sealwire_peer *peer);

/**
 * The mechanism that protects the connection: "NULL", "PLAIN", "CURVE", "BLAKE3", or "" where there
 * is none (`inproc`). NULL for NULL. Belongs to the peer.
 */
const char *sealwire_peer_mechanism(const sealwire_peer *peer);

/**
 * Writes whose process is at the other end of a Unix socket: as `sealwire_client_process`.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the system does not tell (other transports and
 * systems), `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peer_process(const sealwire_peer *peer,
                                      int32_t *process,
                                      uint32_t *user,
                                      uint32_t *group);

/**
 * The connection id, the same in the events of a monitor; 0 for NULL.
 */
uint64_t sealwire_peer_connection(const sealwire_peer *peer);

/**
 * The number under which SERVER and PEER sockets address the connection; 0 for NULL.
 */
uint32_t sealwire_peer_connection_routing_id(const sealwire_peer *peer);

/**
 * What the peer calls itself, of which nobody verified anything: up to 255 bytes, whose number is
 * written to `size`. Belongs to the peer.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peer_routing_id(const sealwire_peer *peer,
                                         const void **data,
                                         size_t *size);

/**
 * A property of the connection by name without case: what a ZAP handler said about the peer, or
 * else what the peer said in its handshake, which proves nothing. Gives the bytes, whose
 * number is written to `size` (where that is not NULL), or NULL when there is no such property or an
 * argument is not valid. Belongs to the peer.
 */
const void *sealwire_peer_metadata(const sealwire_peer *peer,
                                   const char *name,
                                   size_t *size);

/**
 * The peers that are connected, their handshakes done, with their accounts brought up to date. Free the
 * list with `sealwire_peers_free`.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peers_of_socket(const sealwire_socket *socket,
                                         sealwire_peers **out);

/**
 * The peers that something may be held for, with their accounts brought up to date: those that are
 * connected, and those that have left messages to be read. Free the list with `sealwire_peers_free`.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_accounts(const sealwire_socket *socket,
                                         sealwire_peers **out);

/**
 * How many peers the list has; 0 for NULL.
 */
size_t sealwire_peers_size(const sealwire_peers *peers);

/**
 * A peer of the list, counted from 0; NULL where there is none. Belongs to the list.
 */
const sealwire_peer *sealwire_peers_at(const sealwire_peers *peers, size_t index);

/**
 * Frees a list of peers. NULL is fine.
 */
void sealwire_peers_free(sealwire_peers *peers);

/**
 * A descriptor for a socket. Free it with `sealwire_readiness_free`.
 *
 * Errors: `SEALWIRE_ERROR_SYSTEM` without descriptors (it takes two), `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_readiness_of_socket(const sealwire_socket *socket,
                                             sealwire_readiness **out);

/**
 * A descriptor for a monitor.
 *
 * Errors: as `sealwire_readiness_of_socket`.
 */
sealwire_status sealwire_readiness_of_monitor(const sealwire_monitor *monitor,
                                              sealwire_readiness **out);

/**
 * The descriptor, valid until the object is freed, which closes it; -1 for NULL.
 */
int32_t sealwire_readiness_fd(const sealwire_readiness *readiness);

/**
 * Makes the descriptor unreadable, then says what can be done without waiting: the sum of
 * `SEALWIRE_POLL_IN`, `SEALWIRE_POLL_OUT` and `SEALWIRE_POLL_CLOSED`. What changes after that makes
 * it readable again. 0 for NULL.
 */
uint32_t sealwire_readiness_take(const sealwire_readiness *readiness);

/**
 * Makes the descriptor readable, whatever has happened: for those who want to be told once more of
 * what they left.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_FORKED`.
 */
sealwire_status sealwire_readiness_rearm(const sealwire_readiness *readiness);

/**
 * Closes the descriptor and frees the object. NULL is fine.
 */
void sealwire_readiness_free(sealwire_readiness *readiness);

/**
 * Waits until one of `count` items has what it is asked for, up to `timeout_ms` milliseconds,
 * `SEALWIRE_WAIT` (for ever) or `SEALWIRE_NO_WAIT`, and writes what there is to `ready` of each.
 * `found`, where it is not NULL, gets how many items have something; after the timeout that is 0,
 * which is not an error. libzmq's `zmq_poll`.
 *
 * It looks at what there is, not at what has changed: a message that is left where it is ends the
 * next call at once. A signal handler ends it where one of the items is a socket, or a monitor of one, with
 * `SEALWIRE_OPTION_INTERRUPTIBLE`. The same socket may be polled by several threads at once.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for an item without a socket, a monitor and a descriptor, or for
 * unknown `events`; `SEALWIRE_ERROR_INTERRUPTED`, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_poll(sealwire_poll_item *items,
                              size_t count,
                              int64_t timeout_ms,
                              size_t *found);

/**
 * Connects two sockets: what arrives on one goes out on the other, both ways. ROUTER and DEALER make
 * a queue, XSUB and XPUB a forwarder, PULL and PUSH a streamer; each may have a protection of its own.
 * Blocks until one of them is closed. libzmq's `zmq_proxy_steerable`.
 *
 * `capture`, which may be NULL, gets a copy of every message it has room for (PUB, PUSH, PAIR,
 * DEALER). `control`, which may be NULL, receives commands (REP, PAIR, PULL, SUB): "PAUSE", "RESUME",
 * "TERMINATE", "STATISTICS". The peer of a message is not handed on: the other side sees this
 * process. The sockets stay the caller's and must not be freed before this returns.
 *
 * Errors: `SEALWIRE_ERROR_CLOSED` when a socket is closed, which is how to stop it without `control`;
 * after "TERMINATE" it returns `SEALWIRE_OK`. `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_proxy(const sealwire_socket *frontend,
                               const sealwire_socket *backend,
                               const sealwire_socket *capture,
                               const sealwire_socket *control);

/**
 * The bytes of an answer or item, which belong to it. NULL for NULL.
 */
const void *sealwire_rpc_reply_data(const sealwire_rpc_reply *reply);

/**
 * How many bytes an answer or item has; 0 for NULL.
 */
size_t sealwire_rpc_reply_size(const sealwire_rpc_reply *reply);

/**
 * Frees an answer or item. NULL is fine.
 */
void sealwire_rpc_reply_free(sealwire_rpc_reply *reply);

/**
 * The same number that the call returned; 0 for NULL.
 */
sealwire_status sealwire_rpc_error_status(const sealwire_rpc_error *error);

/**
 * The other side's code, after `SEALWIRE_ERROR_RPC_REMOTE`: 1 to 16 mean what they mean in gRPC, up
 * to 999 are the protocol's, and from 1,000 on the application's. 0 after other errors.
 */
uint16_t sealwire_rpc_error_code(const sealwire_rpc_error *error);

/**
 * Whether a handler may have seen the request. False is a promise: asking again does nothing twice.
 */
bool sealwire_rpc_error_may_have_run(const sealwire_rpc_error *error);

/**
 * What went wrong, in words; after `SEALWIRE_ERROR_RPC_REMOTE` what the other side says. NULL for
 * NULL. Belongs to the error.
 */
const char *sealwire_rpc_error_text(const sealwire_rpc_error *error);

/**
 * What the other side adds for programs, whose number of bytes is written to `size` (where that is
 * not NULL). NULL where there is nothing. Belongs to the error.
 */
const void *sealwire_rpc_error_details(const sealwire_rpc_error *error, size_t *size);

/**
 * Frees an error. NULL is fine.
 */
void sealwire_rpc_error_free(sealwire_rpc_error *error);

/**
 * A client of the server at this endpoint. `options` may be NULL, and so may `handler`, which
 * answers the server's calls. Free it with `sealwire_rpc_client_free`.
 *
 * Errors: `SEALWIRE_ERROR_RPC_CONNECT` for an endpoint that cannot be understood and options that do
 * not fit, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_client_new(const char *endpoint,
                                        const sealwire_security *security,
                                        const sealwire_options *options,
                                        const sealwire_rpc_handler *handler,
                                        sealwire_rpc_client **out);

/**
 * Calls the server with a copy of `size` bytes and waits for its answer: up to `timeout_ms`
 * milliseconds or, with `SEALWIRE_WAIT`, 30 seconds. After success `reply` is to be freed with
 * `sealwire_rpc_reply_free`. After an error of a call there is more to know: where `error` is not
 * NULL it then gets an object to be freed with `sealwire_rpc_error_free`. `error` is left alone after
 * success, and where the arguments are not valid: set it to NULL before.
 *
 * Errors: `SEALWIRE_ERROR_RPC_REMOTE` when the server answers with an error,
 * `SEALWIRE_ERROR_RPC_DEADLINE`, `SEALWIRE_ERROR_RPC_CONNECTION_LOST`,
 * `SEALWIRE_ERROR_RPC_CONNECT`, `SEALWIRE_ERROR_RPC_CONGESTED`, `SEALWIRE_ERROR_RPC_TOO_LARGE`,
 * `SEALWIRE_ERROR_RPC_SHUTTING_DOWN`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_client_request(const sealwire_rpc_client *client,
                                            const void *data,
                                            size_t size,
                                            int64_t timeout_ms,
                                            sealwire_rpc_reply **reply,
                                            sealwire_rpc_error **error);

/**
 * Calls the server as `sealwire_rpc_client_request` does, with metadata beside the body, which may be NULL for none:
 * a copy goes with the request, and the caller keeps its own.
 */
sealwire_status sealwire_rpc_client_request_with(const sealwire_rpc_client *client,
                                                 const void *data,
                                                 size_t size,
                                                 const sealwire_rpc_metadata *metadata,
                                                 int64_t timeout_ms,
                                                 sealwire_rpc_reply **reply,
                                                 sealwire_rpc_error **error);

/**
 * Calls the server as `sealwire_rpc_client_request` does, with a stream of items in each direction:
 * `timeout_ms` is the time until the answer, which ends the call, and the time to connect comes on top.
 * INT64_MAX is for ever. Free the stream with `sealwire_rpc_stream_free`, or end it with
 * `sealwire_rpc_stream_answer`.
 *
 * Errors: as `sealwire_rpc_client_request`, but for those of an answer, which come with
 * `sealwire_rpc_stream_answer`.
 */
sealwire_status sealwire_rpc_client_open(const sealwire_rpc_client *client,
                                         const void *data,
                                         size_t size,
                                         int64_t timeout_ms,
                                         sealwire_rpc_stream **out,
                                         sealwire_rpc_error **error);

/**
 * Calls the server as `sealwire_rpc_client_open` does, with metadata as in `sealwire_rpc_client_request_with`.
 */
sealwire_status sealwire_rpc_client_open_with(const sealwire_rpc_client *client,
                                              const void *data,
                                              size_t size,
                                              const sealwire_rpc_metadata *metadata,
                                              int64_t timeout_ms,
                                              sealwire_rpc_stream **out,
                                              sealwire_rpc_error **error);

/**
 * Sends a message that nobody answers, with a copy of `size` bytes. Waits for room, up to 3 seconds.
 * `error` as in `sealwire_rpc_client_request`.
 *
 * Errors: as `sealwire_rpc_client_request`, but for those of an answer.
 */
sealwire_status sealwire_rpc_client_send(const sealwire_rpc_client *client,
                                         const void *data,
                                         size_t size,
                                         sealwire_rpc_error **error);

/**
 * Sends a message as `sealwire_rpc_client_send` does, with metadata as in `sealwire_rpc_client_request_with`.
 */
sealwire_status sealwire_rpc_client_send_with(const sealwire_rpc_client *client,
                                              const void *data,
                                              size_t size,
                                              const sealwire_rpc_metadata *metadata,
                                              sealwire_rpc_error **error);

/**
 * Takes nothing new, lets calls under way end, and closes the connections, within `limit_ms`
 * milliseconds.
 *
 * Errors: `SEALWIRE_ERROR_TIMED_OUT` when that was not enough, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_client_shutdown(const sealwire_rpc_client *client, int64_t limit_ms);

/**
 * Closes the connections and frees the client. NULL is fine.
 */
void sealwire_rpc_client_free(sealwire_rpc_client *client);

/**
 * Calls the peer at the other end. As `sealwire_rpc_client_request` otherwise, but the connection
 * is not made again.
 */
sealwire_status sealwire_rpc_conn_request(const sealwire_rpc_conn *conn,
                                          const void *data,
                                          size_t size,
                                          int64_t timeout_ms,
                                          sealwire_rpc_reply **reply,
                                          sealwire_rpc_error **error);

/**
 * Calls the peer as `sealwire_rpc_conn_request` does, with metadata beside the body, which may be NULL for none:
 * a copy goes with the request, and the caller keeps its own.
 */
sealwire_status sealwire_rpc_conn_request_with(const sealwire_rpc_conn *conn,
                                               const void *data,
                                               size_t size,
                                               const sealwire_rpc_metadata *metadata,
                                               int64_t timeout_ms,
                                               sealwire_rpc_reply **reply,
                                               sealwire_rpc_error **error);

/**
 * Calls the peer with a stream of items in each direction. As `sealwire_rpc_client_open` otherwise, but
 * the connection is not made again.
 */
sealwire_status sealwire_rpc_conn_open(const sealwire_rpc_conn *conn,
                                       const void *data,
                                       size_t size,
                                       int64_t timeout_ms,
                                       sealwire_rpc_stream **out,
                                       sealwire_rpc_error **error);

/**
 * Calls the peer as `sealwire_rpc_conn_open` does, with metadata as in `sealwire_rpc_conn_request_with`.
 */
sealwire_status sealwire_rpc_conn_open_with(const sealwire_rpc_conn *conn,
                                            const void *data,
                                            size_t size,
                                            const sealwire_rpc_metadata *metadata,
                                            int64_t timeout_ms,
                                            sealwire_rpc_stream **out,
                                            sealwire_rpc_error **error);

/**
 * Sends a message that nobody answers. As `sealwire_rpc_client_send` otherwise.
 */
sealwire_status sealwire_rpc_conn_send(const sealwire_rpc_conn *conn,
                                       const void *data,
                                       size_t size,
                                       sealwire_rpc_error **error);

/**
 * Sends a message as `sealwire_rpc_conn_send` does, with metadata as in `sealwire_rpc_conn_request_with`.
 */
sealwire_status sealwire_rpc_conn_send_with(const sealwire_rpc_conn *conn,
                                            const void *data,
                                            size_t size,
                                            const sealwire_rpc_metadata *metadata,
                                            sealwire_rpc_error **error);

/**
 * Whether the connection is still there. False for NULL.
 */
bool sealwire_rpc_conn_is_open(const sealwire_rpc_conn *conn);

/**
 * Frees the object; the connection stays. NULL is fine.
 */
void sealwire_rpc_conn_free(sealwire_rpc_conn *conn);

/**
 * Makes empty metadata, to be sent with `sealwire_rpc_client_request_with` and the like, any number of times.
 * Free it with `sealwire_rpc_metadata_free`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_metadata_new(sealwire_rpc_metadata **out);

/**
 * Adds an entry behind the others, whether one with this key is there or not, with a copy of `size` bytes.
 *
 * Errors: `SEALWIRE_ERROR_RPC_METADATA` if the key has another form or a limit would be exceeded, and nothing
 * has changed then; `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_metadata_append(sealwire_rpc_metadata *metadata,
                                             const char *key,
                                             const void *value,
                                             size_t size);

/**
 * Adds an entry in the place of all entries with this key, with a copy of `size` bytes.
 *
 * Errors: as `sealwire_rpc_metadata_append`.
 */
sealwire_status sealwire_rpc_metadata_set(sealwire_rpc_metadata *metadata,
                                          const char *key,
                                          const void *value,
                                          size_t size);

/**
 * The value of the first entry with this key, whose number of bytes is written to `size`. NULL if there is
 * none, and for NULL; a value without bytes is not NULL. Belongs to the metadata, until that is changed.
 */
const void *sealwire_rpc_metadata_get(const sealwire_rpc_metadata *metadata,
                                      const char *key,
                                      size_t *size);

/**
 * The number of entries; 0 for NULL.
 */
size_t sealwire_rpc_metadata_count(const sealwire_rpc_metadata *metadata);

/**
 * The key of the entry `index`, which begins at 0. NULL behind the last, and for NULL. Belongs to the
 * metadata, until that is changed.
 */
const char *sealwire_rpc_metadata_key(const sealwire_rpc_metadata *metadata,
                                      size_t index);

/**
 * The value of the entry `index`, which begins at 0; its number of bytes is written to `size`. NULL behind the
 * last, and for NULL; a value without bytes is not NULL. Belongs to the metadata, until that is changed.
 */
const void *sealwire_rpc_metadata_value(const sealwire_rpc_metadata *metadata,
                                        size_t index,
                                        size_t *size);

/**
 * Frees metadata of `sealwire_rpc_metadata_new`. NULL is fine.
 */
void sealwire_rpc_metadata_free(sealwire_rpc_metadata *metadata);

/**
 * The bytes of a request, which belong to it. NULL for NULL.
 */
const void *sealwire_rpc_request_data(const sealwire_rpc_request *request);

/**
 * How many bytes a request has; 0 for NULL.
 */
size_t sealwire_rpc_request_size(const sealwire_rpc_request *request);

/**
 * The peer that asks. Belongs to the request. NULL for NULL.
 */
const sealwire_peer *sealwire_rpc_request_peer(const sealwire_rpc_request *request);

/**
 * What the caller sent beside the body, which is theirs to choose: only the connection says who they are.
 * Belongs to the request. NULL for NULL alone.
 */
const sealwire_rpc_metadata *sealwire_rpc_request_metadata(const sealwire_rpc_request *request);

/**
 * How long the caller still waits, in milliseconds; -1 for ever.
 */
int64_t sealwire_rpc_request_time_left_ms(const sealwire_rpc_request *request);

/**
 * Whether the caller has stopped waiting. False for NULL.
 */
bool sealwire_rpc_request_is_cancelled(const sealwire_rpc_request *request);

/**
 * The connection that the request came through, to call its peer. It may be kept longer than the
 * request. Free it with `sealwire_rpc_conn_free`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_request_conn(const sealwire_rpc_request *request,
                                          sealwire_rpc_conn **out);

/**
 * Whether the call has streams: `sealwire_rpc_request_send` and `sealwire_rpc_request_next`. False for
 * NULL.
 */
bool sealwire_rpc_request_has_streams(const sealwire_rpc_request *request);

/**
 * Sends an item to the caller, with a copy of `size` bytes, waiting for it to want one: up to
 * `timeout_ms` milliseconds, `SEALWIRE_WAIT` (as long as the call lasts) or `SEALWIRE_NO_WAIT`, the only
 * one for a handler that runs where connections are read. After an error it was not sent.
 *
 * Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` when the caller has gone or the call has no streams,
 * `SEALWIRE_ERROR_RPC_CONGESTED` when the time is over and `SEALWIRE_ERROR_WOULD_BLOCK` (the call goes on
 * after both), `SEALWIRE_ERROR_RPC_TOO_LARGE`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`,
 * `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_request_send(const sealwire_rpc_request *request,
                                          const void *data,
                                          size_t size,
                                          int64_t timeout_ms);

/**
 * The next item of the caller, waiting for it up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (as long as
 * the call lasts) or `SEALWIRE_NO_WAIT`, the only one for a handler that runs where connections are read.
 * Free it with `sealwire_rpc_reply_free`.
 *
 * Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` when the caller sends no more: it has said so, or it is gone
 * or has stopped waiting; then `sealwire_rpc_request_is_cancelled` is true, and items may be missing.
 * `SEALWIRE_ERROR_TIMED_OUT` and `SEALWIRE_ERROR_WOULD_BLOCK` (the call goes on after both),
 * `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_request_next(const sealwire_rpc_request *request,
                                          int64_t timeout_ms,
                                          sealwire_rpc_reply **item);

/**
 * Answers, with a copy of `size` bytes, and frees the request in any case. An answer after the deadline is
 * not sent, as nobody waits for it.
 *
 * Errors: `SEALWIRE_ERROR_RPC_TOO_LARGE` (the caller gets an error), `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT` (the caller gets an internal error).
 */
sealwire_status sealwire_rpc_request_reply(sealwire_rpc_request *request,
                                           const void *data,
                                           size_t size);

/**
 * Answers with an error, which ends streams too, and frees the request in any case: a code (1 to 16 mean what they mean in
 * gRPC, 1,000 and above are yours), a message for people, and `details` for programs, which may be
 * NULL with a size of 0.
 *
 * Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT` (the caller gets an internal error).
 */
sealwire_status sealwire_rpc_request_fail(sealwire_rpc_request *request,
                                          uint16_t code,
                                          const char *message,
                                          const void *details,
                                          size_t details_size);

/**
 * Frees a request that was not answered: the caller gets an internal error. NULL is fine.
 */
void sealwire_rpc_request_free(sealwire_rpc_request *request);

/**
 * The bytes of a message, which belong to it. NULL for NULL.
 */
const void *sealwire_rpc_message_data(const sealwire_rpc_message *message);

/**
 * How many bytes a message has; 0 for NULL.
 */
size_t sealwire_rpc_message_size(const sealwire_rpc_message *message);

/**
 * The peer that sent it. Belongs to the message. NULL for NULL.
 */
const sealwire_peer *sealwire_rpc_message_peer(const sealwire_rpc_message *message);

/**
 * What the sender sent beside the body, as `sealwire_rpc_request_metadata`. Belongs to the message. NULL for NULL
 * alone.
 */
const sealwire_rpc_metadata *sealwire_rpc_message_metadata(const sealwire_rpc_message *message);

/**
 * A server that listens nowhere yet. `options` may be NULL. Free it with `sealwire_rpc_server_free`.
 *
 * Errors: `SEALWIRE_ERROR_OPTION`, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_server_new(const sealwire_security *security,
                                        const sealwire_options *options,
                                        const sealwire_rpc_handler *handler,
                                        sealwire_rpc_server **out);

/**
 * Listens at an endpoint. As `sealwire_socket_bind` otherwise.
 */
sealwire_status sealwire_rpc_server_bind(const sealwire_rpc_server *server,
                                         const char *endpoint,
                                         char **bound);

/**
 * Listens on a TCP or Unix socket that somebody else opened. As `sealwire_socket_bind_listener` otherwise: afterwards the
 * descriptor is the server's.
 *
 * Errors: those of `sealwire_socket_bind_listener`.
 */
sealwire_status sealwire_rpc_server_bind_listener(const sealwire_rpc_server *server,
                                                  int32_t descriptor,
                                                  const char *ws_path,
                                                  const char *wss_path,
                                                  char **bound);

/**
 * How many connections are served; 0 for NULL.
 */
size_t sealwire_rpc_server_connections(const sealwire_rpc_server *server);

/**
 * The peers of the connections that are served, one for each connection. Free the list with
 * `sealwire_peers_free`.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_peers_of_rpc_server(const sealwire_rpc_server *server,
                                             sealwire_peers **out);

/**
 * Reads what happens to the connections: handshakes, failures.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_server_monitor(const sealwire_rpc_server *server,
                                            sealwire_monitor **out);

/**
 * Accepts no connections any more, turns new requests away as not started, lets those under way end,
 * and closes the connections, within `limit_ms` milliseconds.
 *
 * Errors: `SEALWIRE_ERROR_TIMED_OUT` when that was not enough, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_server_shutdown(const sealwire_rpc_server *server,
                                             int64_t limit_ms);

/**
 * Ends the server and frees it. NULL is fine.
 */
void sealwire_rpc_server_free(sealwire_rpc_server *server);

/**
 * Sends an item, with a copy of `size` bytes, waiting for the handler to want one: up to `timeout_ms`
 * milliseconds, `SEALWIRE_WAIT` (as long as the call lasts) or `SEALWIRE_NO_WAIT`. After an error it was
 * not sent.
 *
 * Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` when the call has ended or after
 * `sealwire_rpc_stream_finish`, `SEALWIRE_ERROR_RPC_CONGESTED` when the time is over and
 * `SEALWIRE_ERROR_WOULD_BLOCK` (the call goes on after both), `SEALWIRE_ERROR_RPC_TOO_LARGE`,
 * `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_stream_send(const sealwire_rpc_stream *stream,
                                         const void *data,
                                         size_t size,
                                         int64_t timeout_ms);

/**
 * Ends the items of this side: the handler gets those that were sent, and then
 * `SEALWIRE_ERROR_RPC_STREAM_ENDED`. It may go on sending its own. To finish twice, or after the call has
 * ended, does nothing.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_stream_finish(const sealwire_rpc_stream *stream);

/**
 * The next item of the handler, waiting for it up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (as long
 * as the call lasts) or `SEALWIRE_NO_WAIT`. Free it with `sealwire_rpc_reply_free`.
 *
 * Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` after the last, when the call has ended:
 * `sealwire_rpc_stream_answer` has how. `SEALWIRE_ERROR_TIMED_OUT` and `SEALWIRE_ERROR_WOULD_BLOCK` (the
 * call goes on after both), `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_rpc_stream_next(const sealwire_rpc_stream *stream,
                                         int64_t timeout_ms,
                                         sealwire_rpc_reply **item);

/**
 * Waits for the answer that ends the call, up to the time limit of the call, and frees the stream in any
 * case. Items that were not read are dropped. `reply` and `error` as in `sealwire_rpc_client_request`.
 *
 * Errors: those of `sealwire_rpc_client_request` that concern an answer, `SEALWIRE_ERROR_FORKED`;
 * `SEALWIRE_ERROR_NULL`, with which the call is cancelled.
 */
sealwire_status sealwire_rpc_stream_answer(sealwire_rpc_stream *stream,
                                           sealwire_rpc_reply **reply,
                                           sealwire_rpc_error **error);

/**
 * Cancels the call, unless it has ended, and frees the stream: the handler gets
 * `SEALWIRE_ERROR_RPC_STREAM_ENDED` from its end, and `sealwire_rpc_request_is_cancelled` is true. NULL
 * is fine.
 */
void sealwire_rpc_stream_free(sealwire_rpc_stream *stream);

/**
 * The trace that these texts name, as a tracer writes them; `tracestate` may be NULL for none. Free it with
 * `sealwire_rpc_trace_free`.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` if they are not valid, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_trace_new(const char *traceparent,
                                       const char *tracestate,
                                       sealwire_rpc_trace **out);

/**
 * The trace that metadata names, to be freed with `sealwire_rpc_trace_free`. As the standard says, NULL is
 * written to `out` unless there is exactly one `traceparent` and it is valid, and a `tracestate` that is not
 * valid is left out: a handler serves such calls as well.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_metadata_trace(const sealwire_rpc_metadata *metadata,
                                            sealwire_rpc_trace **out);

/**
 * The same trace with a span of this side in the place of the caller's, for calls that are made from it:
 * `span_id` is its identifier, `SEALWIRE_SPAN_ID_SIZE` bytes that are not all 0. NULL chooses a random one, for
 * a side without a tracer. Free the child with `sealwire_rpc_trace_free`.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` if all bytes are 0, `SEALWIRE_ERROR_SYSTEM` without randomness,
 * `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_trace_child(const sealwire_rpc_trace *trace,
                                         const uint8_t *span_id,
                                         sealwire_rpc_trace **out);

/**
 * Writes the trace into metadata, in the place of one that is there. Of a `tracestate` for which there is no
 * room 512 characters are written, as the standard says.
 *
 * Errors: `SEALWIRE_ERROR_RPC_METADATA` if there is no room for it, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_rpc_metadata_set_trace(sealwire_rpc_metadata *metadata,
                                                const sealwire_rpc_trace *trace);

/**
 * The text of `traceparent`: version 00, 55 characters. NULL for NULL. Belongs to the trace.
 */
const char *sealwire_rpc_trace_parent(const sealwire_rpc_trace *trace);

/**
 * The text of `tracestate`, which is empty if there is none. NULL for NULL. Belongs to the trace.
 */
const char *sealwire_rpc_trace_state(const sealwire_rpc_trace *trace);

/**
 * Frees a trace. NULL is fine.
 */
void sealwire_rpc_trace_free(sealwire_rpc_trace *trace);

/**
 * No protection at all: everybody may connect, read and write. For `inproc`, and where something
 * else protects. There is no default: a socket without encryption has to be asked for.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_plain_text(sealwire_security **out);

/**
 * BLAKE3, the side that has a key which clients know, whether it binds or connects.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_blake3_server(const sealwire_keys *keys,
                                                const sealwire_authenticator *authenticator,
                                                sealwire_security **out);

/**
 * BLAKE3, the side that knows the server's public key (32 bytes). With `keys` of NULL the client is
 * anonymous.
 *
 * Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_blake3_client(const uint8_t *server_key,
                                                const sealwire_keys *keys,
                                                sealwire_security **out);

/**
 * CURVE as libzmq speaks it, the side that has a key which clients know. libzmq's
 * `ZMQ_CURVE_SERVER` and `ZMQ_CURVE_SECRETKEY`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_curve_server(const sealwire_keys *keys,
                                               const sealwire_authenticator *authenticator,
                                               sealwire_security **out);

/**
 * As `sealwire_security_curve_server`, for clients that skip numbers of frames, which libzmq does not.
 *
 * **What it gives up:** someone on the path can drop frames, also parts of a message, and nobody
 * notices. A warning event says so on every connection.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_curve_server_accepting_gaps_unauthenticated_order(const sealwire_keys *keys,
                                                                                    const sealwire_authenticator *authenticator,
                                                                                    sealwire_security **out);

/**
 * CURVE as libzmq speaks it, the side that knows the server's public key (32 bytes). libzmq's
 * `ZMQ_CURVE_SERVERKEY`, `ZMQ_CURVE_PUBLICKEY` and `ZMQ_CURVE_SECRETKEY`. With `keys` of NULL a pair
 * is made for it.
 *
 * Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_curve_client(const uint8_t *server_key,
                                               const sealwire_keys *keys,
                                               sealwire_security **out);

/**
 * As `sealwire_security_curve_client`, for a server that skips numbers of frames, which libzmq does
 * not.
 *
 * **What it gives up:** someone on the path can drop frames, also parts of a message, and nobody
 * notices. A warning event says so on every connection.
 *
 * Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_curve_client_accepting_gaps_unauthenticated_order(const uint8_t *server_key,
                                                                                    const sealwire_keys *keys,
                                                                                    sealwire_security **out);

/**
 * PLAIN, the side that shows a username and a password, in clear, to everybody on the way. For
 * peers that know nothing better.
 *
 * Errors: `SEALWIRE_ERROR_ARGUMENT` for more than 255 bytes, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_plain_client(const char *username,
                                               const void *password,
                                               size_t password_size,
                                               sealwire_security **out);

/**
 * PLAIN, the side that is shown a username and a password. `user` and `destroy` as in
 * `sealwire_authenticator_callback`. A username that is not text in UTF-8 is refused without asking.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_plain_server(sealwire_authenticate_plain_fn authenticate,
                                               void *user,
                                               sealwire_destroy_fn destroy,
                                               sealwire_security **out);

/**
 * PLAIN, the side that is shown a username and a password, with the users of a file: one a line, then
 * white space and the password. The file is read again when it changes; users who are taken out, or
 * whose password changes, are disconnected about a second later.
 *
 * Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY_FILE_PERMISSIONS`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_security_plain_server_file(const char *path,
                                                    sealwire_security **out);

/**
 * BLAKE3 and CURVE servers: another key that clients may know, while one is replaced; of BLAKE3 three at most, as
 * making a socket says, of CURVE one, which a later call replaces. Must not be called while another thread uses the
 * object.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` for anything but such a server, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_security_add_keys(sealwire_security *security,
                                           const sealwire_keys *keys);

/**
 * Frees it. Sockets that were made with it keep what they need. NULL is fine.
 */
void sealwire_security_free(sealwire_security *security);

/**
 * Starts a session at the first block of its keystream, with a key for the keystream (32 bytes), one
 * for the tags (32 bytes) and a nonce (8 bytes), which no other session of the same keys has.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_aead_session_new(const uint8_t *encryption_key,
                                          const uint8_t *authentication_key,
                                          const uint8_t *nonce,
                                          sealwire_aead_session **out);

/**
 * Encrypts `buffer` where it is as the next message, and writes the tag (32 bytes).
 *
 * Errors: `SEALWIRE_ERROR_STATE` if the session opens; `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_session_seal(sealwire_aead_session *session,
                                           const uint8_t *aad,
                                           size_t aad_size,
                                           uint8_t *buffer,
                                           size_t size,
                                           uint8_t *tag);

/**
 * Decrypts `buffer` where it is, if the tag (32 bytes) is right; otherwise it still holds the
 * ciphertext, and the keystream has not moved.
 *
 * Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`; `SEALWIRE_ERROR_STATE` if the session seals;
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_aead_session_open(sealwire_aead_session *session,
                                           const uint8_t *aad,
                                           size_t aad_size,
                                           uint8_t *buffer,
                                           size_t size,
                                           const uint8_t *tag);

/**
 * The number of blocks of the keystream, of 64 bytes each, that messages have used so far. 0 for NULL.
 */
uint64_t sealwire_aead_session_block_counter(const sealwire_aead_session *session);

/**
 * Wipes and frees it. NULL is fine.
 */
void sealwire_aead_session_free(sealwire_aead_session *session);

/**
 * Makes a socket of a type (`SEALWIRE_REQ` and others) with its protection, which must be named:
 * `sealwire_security_plain_text` for none. `options` may be NULL. `security` and `options` may be freed
 * after that. Free the socket with `sealwire_socket_free`.
 *
 * Errors: `SEALWIRE_ERROR_OPTION`, `SEALWIRE_ERROR_ARGUMENT` for an unknown type,
 * `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_new(int32_t type_,
                                    const sealwire_security *security,
                                    const sealwire_options *options,
                                    sealwire_socket **out);

/**
 * Binds to an endpoint such as "tcp://127.0.0.1:5555", "tcp://127.0.0.1:*", "ipc:///run/a.sock",
 * "inproc://name", "ws://127.0.0.1:8080/path" or "udp://239.0.0.1:5555". Where `bound` is not NULL
 * it gets the endpoint with the port that was chosen, to be freed with `sealwire_string_free`.
 *
 * Errors: `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_TRANSPORT`, `SEALWIRE_ERROR_BIND`,
 * `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_bind(const sealwire_socket *socket,
                                     const char *endpoint,
                                     char **bound);

/**
 * Connects to an endpoint, now and whenever the connection is lost. Returns at once: nobody needs to
 * be there yet, and what happens is told by a `sealwire_monitor`.
 *
 * Errors: `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_TRANSPORT`, `SEALWIRE_ERROR_CONNECT` (`udp`),
 * `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_connect(const sealwire_socket *socket,
                                        const char *endpoint);

/**
 * ROUTER, STREAM: connects as `sealwire_socket_connect`, and gives the peer there a routing id of 1 to 255 bytes,
 * whatever it calls itself. From the moment that this returns, messages to that routing id are queued for the
 * peer, and go out once it is there. The peer has it as long as the endpoint is connected to, and nobody
 * can take it over. libzmq's `ZMQ_CONNECT_ROUTING_ID`.
 *
 * Errors: those of `sealwire_socket_connect`; `SEALWIRE_ERROR_UNSUPPORTED` for other types,
 * `SEALWIRE_ERROR_OPTION` for a routing id that is empty, too long or begins with a zero octet, and
 * `SEALWIRE_ERROR_ROUTING_ID_IN_USE`.
 */
sealwire_status sealwire_socket_connect_with_routing_id(const sealwire_socket *socket,
                                                        const char *endpoint,
                                                        const void *routing_id,
                                                        size_t size);

/**
 * SERVER, PEER: connects, waits for the handshake up to the send timeout of the options, and writes
 * the routing id of the connection, for `sealwire_message_with_routing_id`. libzmq's `zmq_connect_peer`.
 *
 * Errors: as `sealwire_socket_connect`, and `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_HANDSHAKE` and `SEALWIRE_ERROR_INTERRUPTED` (the
 * socket goes on connecting: disconnect it before you call again), `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_GAVE_UP`.
 */
sealwire_status sealwire_socket_connect_peer(const sealwire_socket *socket,
                                             const char *endpoint,
                                             uint32_t *routing_id);

/**
 * Stops listening on an endpoint, as `sealwire_socket_bind` gave it. Connections that came through
 * it stay.
 *
 * Errors: `SEALWIRE_ERROR_UNKNOWN_ENDPOINT`, `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_unbind(const sealwire_socket *socket, const char *endpoint);

/**
 * Stops listening on an endpoint, as `sealwire_socket_bind` gave it, and leaves the peers that came
 * through it as `sealwire_socket_disconnect` leaves a peer.
 *
 * Errors: as `sealwire_socket_unbind`.
 */
sealwire_status sealwire_socket_unbind_and_disconnect(const sealwire_socket *socket,
                                                      const char *endpoint);

/**
 * Leaves the peer at an endpoint, and does not connect there again. From the moment that this
 * returns, no message goes to that peer and none is received from it. Messages that were queued for
 * it still go out, within the linger time, and those that were received before stay to be read.
 * Messages that wait for a first peer go to the next one. A REQ that awaits an answer from there gets
 * `SEALWIRE_ERROR_REQUEST_LOST`.
 *
 * Errors: as `sealwire_socket_unbind`.
 */
sealwire_status sealwire_socket_disconnect(const sealwire_socket *socket,
                                           const char *endpoint);

/**
 * Begins to leave in good order: the socket takes no new peers and endpoints, and goes on receiving what its
 * peers have sent. When all has been received, receiving gives `SEALWIRE_ERROR_DRAINED`, or
 * `SEALWIRE_ERROR_CUT_OFF` where connections did not end in good order within `limit_ms` milliseconds. Returns at
 * once. For PULL, GATHER, SUB and DISH.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_drain(const sealwire_socket *socket,
                                      int64_t limit_ms);

/**
 * How many peers have completed their handshake; 0 for NULL.
 */
size_t sealwire_socket_peers(const sealwire_socket *socket);

/**
 * Receives a message, waiting up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` or
 * `SEALWIRE_NO_WAIT`. Free it with `sealwire_message_free`. Signals interrupt it with
 * `SEALWIRE_OPTION_INTERRUPTIBLE` only;
 * `sealwire_socket_close` on another thread does.
 *
 * Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_HANDSHAKE`, `SEALWIRE_ERROR_STATE`,
 * `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_REQUEST_LOST`, `SEALWIRE_ERROR_CLOSED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_recv(const sealwire_socket *socket,
                                     int64_t timeout_ms,
                                     sealwire_message **out);

/**
 * Waits for at least one message as `sealwire_socket_recv` does, then takes up to `capacity` that
 * are there, in one go. Writes them to the first elements of `messages` and how many they are to
 * `count`. Each is freed by itself.
 *
 * Errors: as `sealwire_socket_recv`, and `SEALWIRE_ERROR_ARGUMENT` for a capacity of 0.
 */
sealwire_status sealwire_socket_recv_many(const sealwire_socket *socket,
                                          sealwire_message **messages,
                                          size_t capacity,
                                          int64_t timeout_ms,
                                          size_t *count);

/**
 * SUB, XSUB: asks for messages whose first frame starts with these bytes; with none of them for all.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_LIMIT`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_subscribe(const sealwire_socket *socket,
                                          const void *topic,
                                          size_t size);

/**
 * SUB, XSUB: takes one `sealwire_socket_subscribe` of the same topic back.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED`, also when there was none, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_unsubscribe(const sealwire_socket *socket,
                                            const void *topic,
                                            size_t size);

/**
 * Writes how many different topics are subscribed to: by a SUB or XSUB itself, or by the peers of a PUB or XPUB
 * together. With `SEALWIRE_OPTION_XPUB_MANUAL` only granted ones count. libzmq's `ZMQ_TOPICS_COUNT`.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED` for other types, `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_ENGINE_FAILED`,
 * `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_topics(const sealwire_socket *socket,
                                       size_t *count);

/**
 * DISH: asks for messages to a group of 1 to 255 bytes.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_MESSAGE` for a name that is none,
 * `SEALWIRE_ERROR_STATE` when it has joined already, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_join(const sealwire_socket *socket, const void *group, size_t size);

/**
 * DISH: takes `sealwire_socket_join` back.
 *
 * Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_STATE` when it has not joined,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_leave(const sealwire_socket *socket,
                                      const void *group,
                                      size_t size);

/**
 * Writes what the socket has done so far.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_counters(const sealwire_socket *socket,
                                         sealwire_counters *counters);

/**
 * Closes the socket and waits until what is queued was sent, up to the linger time. Other threads
 * that wait in it get `SEALWIRE_ERROR_CLOSED`. The object is still to be freed, once no thread uses
 * it any more.
 *
 * Errors: `SEALWIRE_ERROR_UNSENT` when the linger time was not enough; `SEALWIRE_ERROR_INTERRUPTED`, where it
 * goes on closing and another call waits again; `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_close(const sealwire_socket *socket);

/**
 * Closes the socket as `sealwire_socket_close` does, with this linger time in milliseconds in place of the
 * option's: 0 closes at once, INT64_MAX waits for ever. Where another thread is closing it already, a
 * shorter time takes the place of the longer one. Messages that the time is too short for are dropped, and
 * counted as `dropped_unsent`.
 *
 * Errors: those of `sealwire_socket_close`; `SEALWIRE_ERROR_ARGUMENT` for a time below 0.
 */
sealwire_status sealwire_socket_close_with_linger(const sealwire_socket *socket,
                                                  int64_t linger_ms);

/**
 * Closes the socket if that was not done, which waits as `sealwire_socket_close` does, and frees it.
 * Messages, monitors and readiness objects that came from it stay valid. NULL is fine.
 */
void sealwire_socket_free(sealwire_socket *socket);

/**
 * Waits until at least `peers` peers are connected, their handshakes done: up to `timeout_ms` milliseconds,
 * `SEALWIRE_WAIT` (the send timeout of the options) or `SEALWIRE_NO_WAIT`. A publisher waits for
 * subscribers instead.
 *
 * Errors: `SEALWIRE_ERROR_TIMED_OUT` and `SEALWIRE_ERROR_HANDSHAKE`, whose texts say why where that is known,
 * `SEALWIRE_ERROR_INTERRUPTED`, `SEALWIRE_ERROR_DRAINED` where the socket takes no more peers, `SEALWIRE_ERROR_CLOSED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_wait_connected(const sealwire_socket *socket,
                                               size_t peers,
                                               int64_t timeout_ms);

/**
 * PUB, XPUB: waits until a message that begins with these bytes would go to at least `peers` peers. RADIO: the same
 * for messages to this group; members over `udp` do not count. Waits as
 * `sealwire_socket_wait_connected` does.
 *
 * Errors: as `sealwire_socket_wait_connected` but for `SEALWIRE_ERROR_DRAINED`, and `SEALWIRE_ERROR_UNSUPPORTED`.
 */
sealwire_status sealwire_socket_wait_subscribed(const sealwire_socket *socket,
                                                const void *topic,
                                                size_t size,
                                                size_t peers,
                                                int64_t timeout_ms);

/**
 * Changes options of a socket in use: those that are set in `options`, and its protection where `security` is not NULL.
 * Either may be NULL and stays as it is then. `options` and `security` may be freed after that.
 *
 * Time limits, the linger time, high-water marks and byte budgets change at once, also for peers that are connected, and
 * so do the options of single socket types (`SEALWIRE_OPTION_ROUTER_MANDATORY`, `SEALWIRE_OPTION_XPUB_VERBOSE` and so on).
 * All others, keys and authenticators among them, are those of endpoints that are bound or connected from now on:
 * the others keep what they have. The context, `SEALWIRE_OPTION_INTERRUPTIBLE` and `SEALWIRE_OPTION_SPIN_US` cannot
 * change. After an error nothing has changed.
 *
 * Threads: those that change the same socket agree on who does.
 *
 * Errors: `SEALWIRE_ERROR_OPTION`, `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_reconfigure(const sealwire_socket *socket,
                                            const sealwire_security *security,
                                            const sealwire_options *options);

/**
 * Changes options of an endpoint in use, as `sealwire_socket_bind` gave it or as it was connected to: those that are set
 * in `options`, and its protection where `security` is not NULL. Either may be NULL and stays as it is then: keys,
 * authenticators, TLS identities, limits of connections, handshakes and messages. Nobody is turned away meanwhile. Time
 * limits of calls, high-water marks and what single types have belong to the socket and stay. `options` and `security`
 * may be freed after that. After an error nothing has changed.
 *
 * A client that connects once this has returned meets the new options; handshakes and connections that have begun go on with
 * those that they began with. `withdrawn` says what becomes of connections under a key or mechanism that the endpoint
 * does not have any more: `SEALWIRE_WITHDRAWN_STAY`, or `SEALWIRE_WITHDRAWN_END`. Then they end: what is queued for the
 * peer alone goes out, and what it has sent arrives, within the linger time. The monitor has the cause
 * `key_withdrawn`, and the peer connects again. Another authenticator decides about the clients that are connected.
 *
 * Threads: those that change the same endpoint agree on who does.
 *
 * Errors: `SEALWIRE_ERROR_UNKNOWN_ENDPOINT`, `SEALWIRE_ERROR_ENDPOINT`; `SEALWIRE_ERROR_TRANSPORT` for `inproc`
 * and `udp`, and where the endpoint cannot have this; `SEALWIRE_ERROR_OPTION`, also for another value of `withdrawn`;
 * `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_socket_reconfigure_endpoint(const sealwire_socket *socket,
                                                     const char *endpoint,
                                                     const sealwire_security *security,
                                                     const sealwire_options *options,
                                                     int32_t withdrawn);

/**
 * Sends a message: hands it to the queue of the peer or peers that it goes to, and waits for room
 * up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` or `SEALWIRE_NO_WAIT`. Signals interrupt
 * it with `SEALWIRE_OPTION_INTERRUPTIBLE` only.
 *
 * After success the message belongs to the library: do not use or free it. After an error it is
 * the caller's as before.
 *
 * Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_HANDSHAKE`, `SEALWIRE_ERROR_STATE`,
 * `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_UNROUTABLE`, `SEALWIRE_ERROR_MESSAGE`,
 * `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_socket_send(const sealwire_socket *socket,
                                     sealwire_message *message,
                                     int64_t timeout_ms);

/**
 * Sends a message of one frame with a copy of `size` bytes. As `sealwire_socket_send` otherwise.
 */
sealwire_status sealwire_socket_send_bytes(const sealwire_socket *socket,
                                           const void *data,
                                           size_t size,
                                           int64_t timeout_ms);

/**
 * Sends `count` messages, in order, each as `sealwire_socket_send` would: the cheapest way to send
 * many. `timeout_ms` is for each time that there is no room: it counts from the last message that
 * went.
 *
 * Writes to `sent` how many went, also when an error came after them. These belong to the library,
 * and NULL takes their place in `messages`. The others are the caller's as before: the first of
 * them is the one that the error is about. Success means that all were sent. No message may be
 * there twice.
 *
 * Errors: as `sealwire_socket_send`. `sent` is 0 then, or the number of those before the error.
 */
sealwire_status sealwire_socket_send_many(const sealwire_socket *socket,
                                          sealwire_message **messages,
                                          size_t count,
                                          int64_t timeout_ms,
                                          size_t *sent);

/**
 * What went wrong in the last call of this thread that failed, in words: whom it was about, and
 * often what to do. Empty when none has failed yet. Never holds a secret.
 *
 * The text belongs to the library and is valid until the next call that fails on this thread, or
 * the end of the thread. Calls that succeed leave it alone. Never NULL.
 */
const char *sealwire_last_error(void);

/**
 * What a number means, in English. Never NULL; valid for ever. Numbers that mean nothing have a
 * text that says so.
 */
const char *sealwire_status_text(sealwire_status status);

/**
 * The version of the library as text, for example "0.1.0". Valid for ever.
 */
const char *sealwire_version(void);

/**
 * Reads a chain in PEM, with the server's own certificate first, and its key: PKCS#8, PKCS#1 or
 * SEC 1, of RSA, ECDSA (P-256, P-384) or Ed25519. Your copy of the key is yours to wipe. Free it with
 * `sealwire_tls_identity_free`.
 *
 * Errors: `SEALWIRE_ERROR_TLS_CERTIFICATE`, `SEALWIRE_ERROR_TLS_PRIVATE_KEY`,
 * `SEALWIRE_ERROR_TLS_KEY_MISMATCH`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_tls_identity_from_pem(const void *chain,
                                               size_t chain_size,
                                               const void *key,
                                               size_t key_size,
                                               sealwire_tls_identity **out);

/**
 * The same from files in PEM. Only its owner, and a group, may be able to read that of the key; what
 * was read of it is wiped.
 *
 * Errors: as `sealwire_tls_identity_from_pem`; `SEALWIRE_ERROR_KEY_FILE` for a file that cannot be
 * read, `SEALWIRE_ERROR_KEY_FILE_PERMISSIONS`.
 */
sealwire_status sealwire_tls_identity_read(const char *chain_path,
                                           const char *key_path,
                                           sealwire_tls_identity **out);

/**
 * Frees it. Options and sockets that have it keep it. NULL is fine.
 */
void sealwire_tls_identity_free(sealwire_tls_identity *identity);

/**
 * Trusts these authorities, certificates in PEM, or this very certificate if it may sign itself. Free
 * it with `sealwire_tls_trust_free`.
 *
 * Errors: `SEALWIRE_ERROR_TLS_CERTIFICATE`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_tls_trust_from_pem(const void *authorities,
                                            size_t size,
                                            sealwire_tls_trust **out);

/**
 * The same from a file in PEM.
 *
 * Errors: as `sealwire_tls_trust_from_pem`; `SEALWIRE_ERROR_KEY_FILE` for a file that cannot be read.
 */
sealwire_status sealwire_tls_trust_read(const char *path,
                                        sealwire_tls_trust **out);

/**
 * Trusts the authorities that the system does. Reads files; the environment variables `SSL_CERT_FILE`
 * and `SSL_CERT_DIR` say which, where they are set. Free it with `sealwire_tls_trust_free`.
 *
 * Errors: `SEALWIRE_ERROR_TLS_SYSTEM_TRUST`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_tls_trust_system(sealwire_tls_trust **out);

/**
 * Trusts these authorities as well. After an error `trust` is as before.
 *
 * Errors: as `sealwire_tls_trust_from_pem`.
 */
sealwire_status sealwire_tls_trust_add_pem(sealwire_tls_trust *trust,
                                           const void *authorities,
                                           size_t size);

/**
 * Trusts the system's authorities as well. After an error `trust` is as before.
 *
 * Errors: as `sealwire_tls_trust_system`.
 */
sealwire_status sealwire_tls_trust_add_system(sealwire_tls_trust *trust);

/**
 * Requires that the certificate is for this DNS name or IP address, instead of the host of the
 * endpoint. After an error `trust` is as before.
 *
 * Errors: `SEALWIRE_ERROR_TLS_HOST_NAME`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_tls_trust_set_host_name(sealwire_tls_trust *trust, const char *name);

/**
 * Frees it. Options and sockets that have it keep it. NULL is fine.
 */
void sealwire_tls_trust_free(sealwire_tls_trust *trust);

/**
 * Sets the certificate and key of `wss` endpoints that are bound, which need one: binding without is
 * `SEALWIRE_ERROR_TRANSPORT`. The object may be freed after that.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set_tls_identity(sealwire_options *options,
                                                  const sealwire_tls_identity *identity);

/**
 * Sets whom to trust at `wss` endpoints that are connected to, which need some: connecting without is
 * `SEALWIRE_ERROR_TRANSPORT`. A certificate that is not accepted fails the connection, not the call: an
 * event with `SEALWIRE_CAUSE_TLS`, and `SEALWIRE_ERROR_HANDSHAKE` for a call that times out. The object
 * may be changed or freed after that.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_options_set_tls_trust(sealwire_options *options,
                                               const sealwire_tls_trust *trust);

/**
 * A distributor that listens nowhere yet. `security` is that of the connections, a server's with the
 * authenticator of workers. `options` of the sockets and `work_options` may be NULL. Free it with
 * `sealwire_work_distributor_free`.
 *
 * Errors: `SEALWIRE_ERROR_OPTION`, also for an option that workers have, `SEALWIRE_ERROR_SYSTEM`,
 * `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_new(const sealwire_security *security,
                                              const sealwire_options *options,
                                              const sealwire_work_options *work_options,
                                              sealwire_work_distributor **out);

/**
 * Listens at an endpoint. As `sealwire_socket_bind` otherwise.
 *
 * Errors: those of `sealwire_socket_bind`, and `SEALWIRE_ERROR_WORK_SHUT_DOWN`.
 */
sealwire_status sealwire_work_distributor_bind(const sealwire_work_distributor *distributor,
                                               const char *endpoint,
                                               char **bound);

/**
 * Listens on a TCP or Unix socket that somebody else opened. As `sealwire_socket_bind_listener` otherwise: afterwards the
 * descriptor is the distributor's.
 *
 * Errors: those of `sealwire_socket_bind_listener`, and `SEALWIRE_ERROR_WORK_SHUT_DOWN`.
 */
sealwire_status sealwire_work_distributor_bind_listener(const sealwire_work_distributor *distributor,
                                                        int32_t descriptor,
                                                        const char *ws_path,
                                                        const char *wss_path,
                                                        char **bound);

/**
 * Adds a task with a copy of `size` bytes, and waits for room up to `timeout_ms` milliseconds, `SEALWIRE_WAIT`
 * (for ever) or `SEALWIRE_NO_WAIT`. Where `number` is not NULL it has room for `SEALWIRE_WORK_NUMBER_SIZE`
 * bytes and gets the number of the task.
 *
 * Errors: `SEALWIRE_ERROR_WORK_FULL` with `SEALWIRE_NO_WAIT`, `SEALWIRE_ERROR_TIMED_OUT`,
 * `SEALWIRE_ERROR_WORK_TASK_TOO_LARGE`, `SEALWIRE_ERROR_WORK_SHUT_DOWN`, `SEALWIRE_ERROR_ENGINE_FAILED`,
 * `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_distributor_add(const sealwire_work_distributor *distributor,
                                              const void *data,
                                              size_t size,
                                              int64_t timeout_ms,
                                              uint8_t *number);

/**
 * Takes the outcome of a task, and waits for one up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
 * `SEALWIRE_NO_WAIT`: the result of one that is done, in the order in which they came and only with
 * `SEALWIRE_WORK_OPTION_KEEP_RESULTS`, or else a task that was set aside, which the distributor then no longer
 * has. Free it with `sealwire_work_outcome_free`. With `SEALWIRE_NO_WAIT` results can also be taken after
 * the end.
 *
 * Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_WORK_SHUT_DOWN`,
 * `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_distributor_outcome(const sealwire_work_distributor *distributor,
                                                  int64_t timeout_ms,
                                                  sealwire_work_outcome **out);

/**
 * Takes the result of a task that is done, in the order in which they came, and leaves those that were set
 * aside. Free it with `sealwire_work_outcome_free`.
 *
 * Errors: `SEALWIRE_ERROR_WOULD_BLOCK` where there is none, as always without
 * `SEALWIRE_WORK_OPTION_KEEP_RESULTS`; `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_next_result(const sealwire_work_distributor *distributor,
                                                      sealwire_work_outcome **out);

/**
 * The tasks that have failed as often as they may, which stay with the distributor. Free the list with
 * `sealwire_work_unfinished_list_free`.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_set_aside(const sealwire_work_distributor *distributor,
                                                    sealwire_work_unfinished_list **out);

/**
 * Hands a task out again that was set aside, for as many attempts as it had.
 *
 * Errors: `SEALWIRE_ERROR_WORK_NOT_SET_ASIDE`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_put_back(const sealwire_work_distributor *distributor,
                                                   const uint8_t *number);

/**
 * Forgets a task that was set aside. Where `out` is not NULL it gets the task, to be freed with
 * `sealwire_work_unfinished_free`.
 *
 * Errors: `SEALWIRE_ERROR_WORK_NOT_SET_ASIDE`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_drop_aside(const sealwire_work_distributor *distributor,
                                                     const uint8_t *number,
                                                     sealwire_work_unfinished **out);

/**
 * Waits until each task is done or set aside, up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
 * `SEALWIRE_NO_WAIT`.
 *
 * Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_WORK_SHUT_DOWN`,
 * `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_distributor_finished(const sealwire_work_distributor *distributor,
                                                   int64_t timeout_ms);

/**
 * Writes what the distributor has done, and what it has now.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_counters(const sealwire_work_distributor *distributor,
                                                   sealwire_distributor_counters *counters);

/**
 * Reads what happens to the connections: handshakes, failures.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_distributor_monitor(const sealwire_work_distributor *distributor,
                                                  sealwire_monitor **out);

/**
 * Hands out no more tasks, waits up to `limit_ms` milliseconds for the outcomes of those that are with workers,
 * and ends the connections. Where `left` is not NULL it gets the tasks without an outcome, those that were
 * set aside among them, to be freed with `sealwire_work_unfinished_list_free`: after this they are nowhere else.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_distributor_shutdown(const sealwire_work_distributor *distributor,
                                                   int64_t limit_ms,
                                                   sealwire_work_unfinished_list **left);

/**
 * Ends the distributor and frees it: tasks without an outcome are gone
 * (`sealwire_work_distributor_shutdown` gives them). NULL is fine.
 */
void sealwire_work_distributor_free(sealwire_work_distributor *distributor);

/**
 * No options yet. Free them with `sealwire_work_options_free`.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_options_new(sealwire_work_options **out);

/**
 * Sets an option: one of `SEALWIRE_WORK_OPTION_...`. Whether a distributor or worker has it is told when one
 * is made.
 *
 * Errors: `SEALWIRE_ERROR_OPTION` for an unknown option, `SEALWIRE_ERROR_ARGUMENT` for a value out of range,
 * `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_options_set(sealwire_work_options *options,
                                          int32_t option,
                                          int64_t value);

/**
 * Frees options. NULL is fine.
 */
void sealwire_work_options_free(sealwire_work_options *options);

/**
 * Writes the number of the task.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_unfinished_number(const sealwire_work_unfinished *task,
                                                uint8_t *number);

/**
 * How many attempts were made and count; 0 for NULL.
 */
uint32_t sealwire_work_unfinished_attempts(const sealwire_work_unfinished *task);

/**
 * Why the last attempt failed, up to 1,024 bytes. NULL where none has failed. Belongs to the task.
 */
const char *sealwire_work_unfinished_reason(const sealwire_work_unfinished *task);

/**
 * Whether the task was set aside: it has failed as often as it may. False for NULL.
 */
bool sealwire_work_unfinished_is_set_aside(const sealwire_work_unfinished *task);

/**
 * The bytes of the task, which belong to it. NULL for NULL.
 */
const void *sealwire_work_unfinished_data(const sealwire_work_unfinished *task);

/**
 * How many bytes the task has; 0 for NULL.
 */
size_t sealwire_work_unfinished_size(const sealwire_work_unfinished *task);

/**
 * Frees a task that `sealwire_work_distributor_drop_aside` gave. Those of lists and outcomes belong to them.
 * NULL is fine.
 */
void sealwire_work_unfinished_free(sealwire_work_unfinished *task);

/**
 * How many tasks the list has; 0 for NULL.
 */
size_t sealwire_work_unfinished_list_size(const sealwire_work_unfinished_list *tasks);

/**
 * A task of the list, counted from 0; NULL where there is none. Belongs to the list.
 */
const sealwire_work_unfinished *sealwire_work_unfinished_list_at(const sealwire_work_unfinished_list *tasks,
                                                                 size_t index);

/**
 * Frees a list of tasks. NULL is fine.
 */
void sealwire_work_unfinished_list_free(sealwire_work_unfinished_list *tasks);

/**
 * Writes the number of the task.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_outcome_number(const sealwire_work_outcome *outcome, uint8_t *number);

/**
 * Whether the task is done. False for NULL.
 */
bool sealwire_work_outcome_is_done(const sealwire_work_outcome *outcome);

/**
 * The bytes of the result, which belong to the outcome; none where the worker gave none, or the task is not
 * done. NULL for NULL.
 */
const void *sealwire_work_outcome_data(const sealwire_work_outcome *outcome);

/**
 * How many bytes the result has; 0 for NULL.
 */
size_t sealwire_work_outcome_size(const sealwire_work_outcome *outcome);

/**
 * The task that has failed as often as it may. NULL where the task is done. Belongs to the outcome.
 */
const sealwire_work_unfinished *sealwire_work_outcome_set_aside(const sealwire_work_outcome *outcome);

/**
 * Frees an outcome. NULL is fine.
 */
void sealwire_work_outcome_free(sealwire_work_outcome *outcome);

/**
 * Writes the number of the task, `SEALWIRE_WORK_NUMBER_SIZE` bytes, which is the same at each attempt: what was
 * done under it need not be done again.
 *
 * Errors: `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_task_number(const sealwire_work_task *task,
                                          uint8_t *number);

/**
 * Which attempt this is: 1 for the first; 0 for NULL.
 */
uint32_t sealwire_work_task_attempt(const sealwire_work_task *task);

/**
 * The bytes of the task, which belong to it. NULL for NULL.
 */
const void *sealwire_work_task_data(const sealwire_work_task *task);

/**
 * How many bytes the task has; 0 for NULL.
 */
size_t sealwire_work_task_size(const sealwire_work_task *task);

/**
 * Bytes of the largest result that the distributor takes; 0 for NULL.
 */
size_t sealwire_work_task_max_result(const sealwire_work_task *task);

/**
 * Says that the work is done, with a copy of the `size` bytes of a result, which may be NULL with 0. The
 * outcome leaves at once, or within 500 us if others left just before. Frees the task in any case: after an
 * error the attempt has failed.
 *
 * Errors: `SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
 * `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_task_done(sealwire_work_task *task,
                                        const void *result,
                                        size_t size);

/**
 * Says that the attempt has failed, and why, up to 1,024 bytes or as many as the distributor takes. Frees the
 * task in any case: after an error the attempt has failed too.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_task_fail(sealwire_work_task *task,
                                        const char *reason);

/**
 * Gives the task back as if it had not been taken, and frees it: no attempt counts, and it may come again.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_task_give_back(sealwire_work_task *task);

/**
 * Frees a task without an outcome: the attempt has failed. NULL is fine.
 */
void sealwire_work_task_free(sealwire_work_task *task);

/**
 * A worker for the distributor at this endpoint. `options` of the socket and `work_options` may be NULL. Free
 * it with `sealwire_work_worker_free`.
 *
 * Errors: `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_TRANSPORT`, `SEALWIRE_ERROR_OPTION`, also for an option
 * that distributors have, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_worker_new(const char *endpoint,
                                         const sealwire_security *security,
                                         const sealwire_options *options,
                                         const sealwire_work_options *work_options,
                                         sealwire_work_worker **out);

/**
 * Takes a task, and waits for one up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
 * `SEALWIRE_NO_WAIT`. The task is the caller's, who ends it with `sealwire_work_task_done`, `_fail` or
 * `_give_back`.
 *
 * Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_WORK_SHUT_DOWN` once the
 * worker leaves, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`,
 * `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_worker_take(const sealwire_work_worker *worker,
                                          int64_t timeout_ms,
                                          sealwire_work_task **task);

/**
 * Leaves in good order: takes no more tasks, gives those back that were not taken, which counts as no attempt,
 * and waits up to `timeout_ms` milliseconds or `SEALWIRE_WAIT` (for ever) until the tasks that were taken have
 * outcomes and the distributor knows them. Then nothing of it is repeated. The worker ends in any case but for
 * wrong arguments; it is still to be freed.
 *
 * Errors: `SEALWIRE_ERROR_TIMED_OUT`: others get what it had; `SEALWIRE_ERROR_WORK_SHUT_DOWN` where it had
 * ended, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
 * `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
 */
sealwire_status sealwire_work_worker_leave(const sealwire_work_worker *worker,
                                           int64_t timeout_ms);

/**
 * Whether a distributor has let this worker in. False for NULL.
 */
bool sealwire_work_worker_is_connected(const sealwire_work_worker *worker);

/**
 * Writes what the worker has done so far.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_worker_counters(const sealwire_work_worker *worker,
                                              sealwire_worker_counters *counters);

/**
 * Reads what happens to the connection: handshakes, failures.
 *
 * Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
 */
sealwire_status sealwire_work_worker_monitor(const sealwire_work_worker *worker,
                                             sealwire_monitor **out);

/**
 * Frees the worker. When its tasks are freed too it ends, and others get what it had
 * (`sealwire_work_worker_leave` ends in good order). NULL is fine.
 */
void sealwire_work_worker_free(sealwire_work_worker *worker);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALWIRE_H */
