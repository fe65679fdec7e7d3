/* What Sealwire's libzmq.so.5 has beside libzmq's functions: options and a mechanism, with numbers that libzmq will not
 * use. A program includes it behind zmq.h and asks zmq_has("sealwire") before it uses any of them; with libzmq's own library
 * each option is refused with EINVAL.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ZMQ_SEALWIRE_H_INCLUDED
#define ZMQ_SEALWIRE_H_INCLUDED

#include <stdint.h>

/* A value of ZMQ_MECHANISM: all that follows the handshake is encrypted and authenticated with BLAKE3ZMQ. Where rules gave an
 * endpoint its keys, ZMQ_MECHANISM is that of the endpoint that was bound or connected last. */
#define ZMQ_BLAKE3 100

/* ---- BLAKE3 by the program itself ----
 *
 * Keys as those of CURVE: 32 bytes, or 40 characters of Z85 with their zero octet, as zmq_curve_keypair makes them. They
 * count for endpoints that are bound or connected afterwards. The last option for a mechanism decides which one it is. */

/* int, 0 or 1: the socket is the server, which has ZMQ_BLAKE3_SECRETKEY and says who may come. */
#define ZMQ_BLAKE3_SERVER 0x53570001
/* The socket's own secret key. It cannot be read. A client without one stays anonymous. */
#define ZMQ_BLAKE3_SECRETKEY 0x53570002
/* The public key that belongs to it. It can only be read. */
#define ZMQ_BLAKE3_PUBLICKEY 0x53570003
/* The public key of the server: the socket is a client. */
#define ZMQ_BLAKE3_SERVERKEY 0x53570004
/* Another secret key by which clients may know the server, while keys are changed: up to 3, one a call. Empty removes
 * them. */
#define ZMQ_BLAKE3_ADDITIONAL_SECRETKEY 0x53570005

/* Who may come to a server. Without any of these and without ZMQ_ZAP_DOMAIN zmq_bind fails with EINVAL. With one of these, and
 * neither ZMQ_BLAKE3_SERVER nor ZMQ_BLAKE3_SERVERKEY, zmq_bind and zmq_connect do: they never mean plain text. */

/* A public key that is let in, one a call. Empty removes them. */
#define ZMQ_BLAKE3_ALLOW 0x53570006
/* The path of a file or directory of such keys, which is read again while the program runs. */
#define ZMQ_BLAKE3_ALLOW_FILE 0x53570007
/* int, 0 or 1: anyone who knows the server's public key. A ZAP handler is asked, where there is one. */
#define ZMQ_BLAKE3_ANYONE 0x53570008

/* ---- Limits, which libzmq does not have ---- */

/* uint64_t: payload bytes that are queued for one peer, or from one, beside the high-water marks. 0, as it is at first, for
 * no limit. */
#define ZMQ_SND_BYTE_BUDGET 0x53570010
#define ZMQ_RCV_BYTE_BUDGET 0x53570011
/* int: connections that listeners of the socket accept, and those of one address. 0, as it is at first, for no limit. */
#define ZMQ_MAX_CONNECTIONS 0x53570012
#define ZMQ_MAX_CONNECTIONS_PER_ADDRESS 0x53570013
/* int: handshakes under way at each listener, a quarter of them from one address (one at least). 0, as it is at first, for
 * 1,024. */
#define ZMQ_MAX_HANDSHAKES 0x53570014

/* ---- What went wrong ---- */

/* Text with its zero octet: why the latest connection failed. Empty if none did, or one has become ready since. It can
 * only be read. */
#define ZMQ_LAST_FAILURE 0x53570020

/* A zmq_counters_t: what the socket has done since it was made, and what it dropped. Each number only grows. It can only be
 * read. Pass the size of the struct; as much as the library has of it is filled in, and the rest is zero:
 *
 *   zmq_counters_t counters;
 *   size_t size = sizeof counters;
 *   zmq_getsockopt(socket, ZMQ_COUNTERS, &counters, &size); */
#define ZMQ_COUNTERS 0x53570021

typedef struct zmq_counters_t {
    /* Bytes of this struct that the library has filled in, these among them. */
    uint64_t size;
    /* Messages handed to a connection, and their bytes. */
    uint64_t messages_sent;
    uint64_t bytes_sent;
    /* Messages that arrived for the program, and their bytes. */
    uint64_t messages_received;
    uint64_t bytes_received;
    /* Dropped as they were sent: a subscriber was at its high-water mark, the peer of an answer or a routing id was not
     * there, or it went before the last part of its message came. */
    uint64_t dropped_at_send;
    /* Not sent when their connection or the socket ended. */
    uint64_t dropped_unsent;
    /* Written to a connection that has ended since: they may have arrived. An upper bound without heartbeats. */
    uint64_t unconfirmed;
    /* Received, and not read when the socket ended, or when their connection did and there was no room. */
    uint64_t dropped_unread;
    /* Replaced by a newer message (ZMQ_CONFLATE, ZMQ_REQ_RELAXED). */
    uint64_t replaced;
    /* Received, and of no use for the socket type: not asked for, without a delimiter, of a topic without subscription. */
    uint64_t dropped_at_receive;
    /* Events of zmq_socket_monitor that nobody read in time. */
    uint64_t events_dropped;
    uint64_t handshakes_completed;
    uint64_t handshakes_failed;
    /* Connections and handshakes above a limit, or without a descriptor. */
    uint64_t connections_refused;
    uint64_t handshakes_refused;
    /* How often a peer had to wait as the program had not read what it sent before. */
    uint64_t receiving_paused;
    uint64_t reconnects;
    uint64_t disconnects;
} zmq_counters_t;

#endif
