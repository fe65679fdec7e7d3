/* The API of libzmq 4.3.5, as libzmq.so.5 on Sealwire has it. Unix only.
 *
 * Functions that return an int return -1 and set errno when they fail; those that return a pointer, NULL. */
#ifndef __ZMQ_H_INCLUDED__
#define __ZMQ_H_INCLUDED__

/* Programs count on all of these to come with zmq.h. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and capabilities ---- */

#define ZMQ_VERSION_MAJOR 4
#define ZMQ_VERSION_MINOR 3
#define ZMQ_VERSION_PATCH 5
#define ZMQ_MAKE_VERSION(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define ZMQ_VERSION ZMQ_MAKE_VERSION(ZMQ_VERSION_MAJOR, ZMQ_VERSION_MINOR, ZMQ_VERSION_PATCH)

/* What this header has, for programs that ask the preprocessor. */
#define ZMQ_DEFINED_STDINT 1
#define ZMQ_HAS_CAPABILITIES 1
#define ZMQ_HAVE_TIMERS

/* 4.3.5, whose behaviour this library has. */
void zmq_version(int *major, int *minor, int *patch);
/* 1 for "ipc", "curve", "WS", "blake3" and "sealwire"; 0 for anything else. */
int zmq_has(const char *capability);

/* ---- Errors ---- */

/* ZeroMQ's own numbers start far from the system's. */
#define ZMQ_HAUSNUMERO 156384712
#define EFSM (ZMQ_HAUSNUMERO + 51)           /* not in this state of the socket */
#define ENOCOMPATPROTO (ZMQ_HAUSNUMERO + 52) /* the transport is not for this socket type */
#define ETERM (ZMQ_HAUSNUMERO + 53)          /* the context was terminated */
#define EMTHREAD (ZMQ_HAUSNUMERO + 54)       /* the context has no I/O thread */

/* The errno of this thread. */
int zmq_errno(void);
/* Its text; not to be freed. */
const char *zmq_strerror(int error);

/* ---- Contexts ---- */

/* Options of zmq_ctx_set and zmq_ctx_get, and their defaults. */
#define ZMQ_IO_THREADS 1
#define ZMQ_MAX_SOCKETS 2
#define ZMQ_SOCKET_LIMIT 3 /* to get */
#define ZMQ_THREAD_PRIORITY 3 /* to set */
#define ZMQ_THREAD_SCHED_POLICY 4
#define ZMQ_MAX_MSGSZ 5
#define ZMQ_MSG_T_SIZE 6
#define ZMQ_THREAD_AFFINITY_CPU_ADD 7
#define ZMQ_THREAD_AFFINITY_CPU_REMOVE 8
#define ZMQ_THREAD_NAME_PREFIX 9
#define ZMQ_BLOCKY 70

#define ZMQ_IO_THREADS_DFLT 1
#define ZMQ_MAX_SOCKETS_DFLT 1023
#define ZMQ_THREAD_PRIORITY_DFLT -1
#define ZMQ_THREAD_SCHED_POLICY_DFLT -1

void *zmq_ctx_new(void);
/* Waits until the sockets are closed and their linger is over. EINTR: call it again. */
int zmq_ctx_term(void *context);
/* Lets blocking calls fail with ETERM; the context stays for zmq_ctx_term. */
int zmq_ctx_shutdown(void *context);
int zmq_ctx_set(void *context, int option, int value);
int zmq_ctx_get(void *context, int option);

/* ---- Messages ---- */

/* Opaque. Initialised before its first use, closed after its last one, never copied as bytes. */
typedef struct zmq_msg_t
{
    unsigned char _[64]
#if defined __GNUC__
      __attribute__((aligned(sizeof(void *))))
#endif
      ;
} zmq_msg_t;

/* Frees what zmq_msg_init_data was given, on any thread. */
typedef void(zmq_free_fn)(void *data, void *hint);

/* Properties of zmq_msg_get and zmq_msg_set. */
#define ZMQ_MORE 1
#define ZMQ_SRCFD 2
#define ZMQ_SHARED 3

int zmq_msg_init(zmq_msg_t *message);
int zmq_msg_init_size(zmq_msg_t *message, size_t size);
/* Takes data over without a copy; free_data may be NULL. */
int zmq_msg_init_data(zmq_msg_t *message, void *data, size_t size, zmq_free_fn *free_data, void *hint);
/* Sends the message and leaves it empty. The number of bytes. */
int zmq_msg_send(zmq_msg_t *message, void *socket, int flags);
/* Replaces the message by one that was received. The number of bytes. */
int zmq_msg_recv(zmq_msg_t *message, void *socket, int flags);
int zmq_msg_close(zmq_msg_t *message);
/* Leaves from empty. */
int zmq_msg_move(zmq_msg_t *to, zmq_msg_t *from);
/* Both have the same bytes, which are shared. */
int zmq_msg_copy(zmq_msg_t *to, zmq_msg_t *from);
void *zmq_msg_data(zmq_msg_t *message);
size_t zmq_msg_size(const zmq_msg_t *message);
/* 1 if another part follows. */
int zmq_msg_more(const zmq_msg_t *message);
int zmq_msg_get(const zmq_msg_t *message, int property);
int zmq_msg_set(zmq_msg_t *message, int property, int value);
/* Metadata of the connection; valid until the message is closed. */
const char *zmq_msg_gets(const zmq_msg_t *message, const char *property);

/* ---- Sockets ---- */

#define ZMQ_PAIR 0
#define ZMQ_PUB 1
#define ZMQ_SUB 2
#define ZMQ_REQ 3
#define ZMQ_REP 4
#define ZMQ_DEALER 5
#define ZMQ_ROUTER 6
#define ZMQ_PULL 7
#define ZMQ_PUSH 8
#define ZMQ_XPUB 9
#define ZMQ_XSUB 10
#define ZMQ_STREAM 11

/* Flags of all functions that send and receive. */
#define ZMQ_DONTWAIT 1
#define ZMQ_SNDMORE 2

void *zmq_socket(void *context, int type);
int zmq_close(void *socket);
int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
/* size says how much room there is, then how much was used. */
int zmq_getsockopt(void *socket, int option, void *value, size_t *size);
int zmq_bind(void *socket, const char *endpoint);
int zmq_connect(void *socket, const char *endpoint);
int zmq_unbind(void *socket, const char *endpoint);
int zmq_disconnect(void *socket, const char *endpoint);
/* The number of bytes. */
int zmq_send(void *socket, const void *data, size_t size, int flags);
/* The same for data that stays as it is for ever. */
int zmq_send_const(void *socket, const void *data, size_t size, int flags);
/* The size of the message, of which at most size bytes are stored. */
int zmq_recv(void *socket, void *data, size_t size, int flags);

/* ---- Options of sockets: those that every type has ---- */

#define ZMQ_AFFINITY 4
#define ZMQ_ROUTING_ID 5
#define ZMQ_RCVMORE 13
#define ZMQ_FD 14
#define ZMQ_EVENTS 15
#define ZMQ_TYPE 16
#define ZMQ_LINGER 17
#define ZMQ_MAXMSGSIZE 22
#define ZMQ_SNDHWM 23
#define ZMQ_RCVHWM 24
#define ZMQ_RCVTIMEO 27
#define ZMQ_SNDTIMEO 28
#define ZMQ_LAST_ENDPOINT 32
#define ZMQ_IMMEDIATE 39
#define ZMQ_CONFLATE 54
#define ZMQ_THREAD_SAFE 81

/* ---- Options of single types ---- */

/* SUB */
#define ZMQ_SUBSCRIBE 6
#define ZMQ_UNSUBSCRIBE 7
#define ZMQ_INVERT_MATCHING 74 /* also PUB */
/* XPUB */
#define ZMQ_XPUB_VERBOSE 40
#define ZMQ_XPUB_NODROP 69
#define ZMQ_XPUB_MANUAL 71
#define ZMQ_XPUB_WELCOME_MSG 72
#define ZMQ_XPUB_VERBOSER 78
/* REQ */
#define ZMQ_REQ_CORRELATE 52
#define ZMQ_REQ_RELAXED 53
/* ROUTER */
#define ZMQ_ROUTER_MANDATORY 33
#define ZMQ_ROUTER_RAW 41
#define ZMQ_PROBE_ROUTER 51 /* also DEALER and REQ */
#define ZMQ_ROUTER_HANDOVER 56
#define ZMQ_CONNECT_ROUTING_ID 61 /* also STREAM */
/* STREAM */
#define ZMQ_STREAM_NOTIFY 73

/* ---- Options of connections ---- */

#define ZMQ_SNDBUF 11
#define ZMQ_RCVBUF 12
#define ZMQ_RECONNECT_IVL 18
#define ZMQ_BACKLOG 19
#define ZMQ_RECONNECT_IVL_MAX 21
#define ZMQ_IPV4ONLY 31
#define ZMQ_IPV6 42
#define ZMQ_TCP_KEEPALIVE 34
#define ZMQ_TCP_KEEPALIVE_CNT 35
#define ZMQ_TCP_KEEPALIVE_IDLE 36
#define ZMQ_TCP_KEEPALIVE_INTVL 37
#define ZMQ_TCP_ACCEPT_FILTER 38
#define ZMQ_TCP_MAXRT 80
#define ZMQ_TOS 57
#define ZMQ_IPC_FILTER_PID 58
#define ZMQ_IPC_FILTER_UID 59
#define ZMQ_IPC_FILTER_GID 60
#define ZMQ_HANDSHAKE_IVL 66
#define ZMQ_SOCKS_PROXY 68
#define ZMQ_HEARTBEAT_IVL 75
#define ZMQ_HEARTBEAT_TTL 76
#define ZMQ_HEARTBEAT_TIMEOUT 77
#define ZMQ_CONNECT_TIMEOUT 79
#define ZMQ_USE_FD 89
#define ZMQ_BINDTODEVICE 92

/* Multicast. */
#define ZMQ_RATE 8
#define ZMQ_RECOVERY_IVL 9
#define ZMQ_MULTICAST_HOPS 25
#define ZMQ_MULTICAST_MAXTPDU 84
#define ZMQ_GROUP_MAX_LENGTH 255

/* Refused with EINVAL: VMCI is not offered. */
#define ZMQ_VMCI_BUFFER_SIZE 85
#define ZMQ_VMCI_BUFFER_MIN_SIZE 86
#define ZMQ_VMCI_BUFFER_MAX_SIZE 87
#define ZMQ_VMCI_CONNECT_TIMEOUT 88

/* ---- Security ---- */

/* Values of ZMQ_MECHANISM. */
#define ZMQ_NULL 0
#define ZMQ_PLAIN 1
#define ZMQ_CURVE 2
#define ZMQ_GSSAPI 3

#define ZMQ_MECHANISM 43
#define ZMQ_PLAIN_SERVER 44
#define ZMQ_PLAIN_USERNAME 45
#define ZMQ_PLAIN_PASSWORD 46
#define ZMQ_CURVE_SERVER 47
#define ZMQ_CURVE_PUBLICKEY 48
#define ZMQ_CURVE_SECRETKEY 49
#define ZMQ_CURVE_SERVERKEY 50
#define ZMQ_ZAP_DOMAIN 55

/* Refused with EINVAL: GSSAPI is not offered. */
#define ZMQ_GSSAPI_SERVER 62
#define ZMQ_GSSAPI_PRINCIPAL 63
#define ZMQ_GSSAPI_SERVICE_PRINCIPAL 64
#define ZMQ_GSSAPI_PLAINTEXT 65
#define ZMQ_GSSAPI_PRINCIPAL_NAMETYPE 90
#define ZMQ_GSSAPI_SERVICE_PRINCIPAL_NAMETYPE 91
#define ZMQ_GSSAPI_NT_HOSTBASED 0
#define ZMQ_GSSAPI_NT_USER_NAME 1
#define ZMQ_GSSAPI_NT_KRB5_PRINCIPAL 2

/* Z85 of bytes, whose number is a multiple of 4; text has room for 5 characters for 4 of them, and a zero. */
char *zmq_z85_encode(char *text, const uint8_t *bytes, size_t size);
/* The bytes of Z85, whose length is a multiple of 5. */
uint8_t *zmq_z85_decode(uint8_t *bytes, const char *text);
/* A fresh key pair in Z85: 40 characters and a zero each. */
int zmq_curve_keypair(char *public_key, char *secret_key);
int zmq_curve_public(char *public_key, const char *secret_key);

/* ---- Events of sockets ---- */

#define ZMQ_EVENT_CONNECTED 0x0001
#define ZMQ_EVENT_CONNECT_DELAYED 0x0002
#define ZMQ_EVENT_CONNECT_RETRIED 0x0004
#define ZMQ_EVENT_LISTENING 0x0008
#define ZMQ_EVENT_BIND_FAILED 0x0010
#define ZMQ_EVENT_ACCEPTED 0x0020
#define ZMQ_EVENT_ACCEPT_FAILED 0x0040
#define ZMQ_EVENT_CLOSED 0x0080
#define ZMQ_EVENT_CLOSE_FAILED 0x0100
#define ZMQ_EVENT_DISCONNECTED 0x0200
#define ZMQ_EVENT_MONITOR_STOPPED 0x0400
#define ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL 0x0800 /* value: an errno */
#define ZMQ_EVENT_HANDSHAKE_SUCCEEDED 0x1000
#define ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL 0x2000 /* value: a ZMQ_PROTOCOL_ERROR */
#define ZMQ_EVENT_HANDSHAKE_FAILED_AUTH 0x4000     /* value: ZAP's 300, 400 or 500 */
#define ZMQ_EVENT_ALL 0xFFFF

#define ZMQ_PROTOCOL_ERROR_ZMTP_UNSPECIFIED 0x10000000
#define ZMQ_PROTOCOL_ERROR_ZMTP_UNEXPECTED_COMMAND 0x10000001
#define ZMQ_PROTOCOL_ERROR_ZMTP_INVALID_SEQUENCE 0x10000002
#define ZMQ_PROTOCOL_ERROR_ZMTP_KEY_EXCHANGE 0x10000003
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_UNSPECIFIED 0x10000011
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_MESSAGE 0x10000012
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_HELLO 0x10000013
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_INITIATE 0x10000014
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_ERROR 0x10000015
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_READY 0x10000016
#define ZMQ_PROTOCOL_ERROR_ZMTP_MALFORMED_COMMAND_WELCOME 0x10000017
#define ZMQ_PROTOCOL_ERROR_ZMTP_INVALID_METADATA 0x10000018
#define ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC 0x11000001
#define ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH 0x11000002
#define ZMQ_PROTOCOL_ERROR_ZAP_UNSPECIFIED 0x20000000
#define ZMQ_PROTOCOL_ERROR_ZAP_MALFORMED_REPLY 0x20000001
#define ZMQ_PROTOCOL_ERROR_ZAP_BAD_REQUEST_ID 0x20000002
#define ZMQ_PROTOCOL_ERROR_ZAP_BAD_VERSION 0x20000003
#define ZMQ_PROTOCOL_ERROR_ZAP_INVALID_STATUS_CODE 0x20000004
#define ZMQ_PROTOCOL_ERROR_ZAP_INVALID_METADATA 0x20000005
#define ZMQ_PROTOCOL_ERROR_WS_UNSPECIFIED 0x30000000

/* A PAIR that connects to this inproc endpoint gets the chosen events. */
int zmq_socket_monitor(void *socket, const char *endpoint, int events);

/* ---- Polling and proxies ---- */

typedef int zmq_fd_t;

/* fd counts when socket is NULL. */
typedef struct zmq_pollitem_t
{
    void *socket;
    zmq_fd_t fd;
    short events;
    short revents;
} zmq_pollitem_t;

#define ZMQ_POLLIN 1
#define ZMQ_POLLOUT 2
#define ZMQ_POLLERR 4
#define ZMQ_POLLPRI 8
#define ZMQ_POLLITEMS_DFLT 16

/* The number of items with events; waits at most timeout milliseconds, for ever with -1. */
int zmq_poll(zmq_pollitem_t *items, int count, long timeout);

/* Return when the context is terminated. capture and control may be NULL. */
int zmq_proxy(void *frontend, void *backend, void *capture);
int zmq_proxy_steerable(void *frontend, void *backend, void *capture, void *control);

/* ---- Counters, timers, threads ---- */

/* Counters that threads share. */
void *zmq_atomic_counter_new(void);
void zmq_atomic_counter_set(void *counter, int value);
/* The value before. */
int zmq_atomic_counter_inc(void *counter);
/* 0 if the counter is zero now, else 1. */
int zmq_atomic_counter_dec(void *counter);
int zmq_atomic_counter_value(void *counter);
/* Makes *counter NULL. */
void zmq_atomic_counter_destroy(void **counter);

/* Called by zmq_timers_execute; it may change and cancel timers, its own too. */
typedef void(zmq_timer_fn)(int id, void *argument);

void *zmq_timers_new(void);
/* Makes *timers NULL. */
int zmq_timers_destroy(void **timers);
/* The id of a timer that is due every interval milliseconds. */
int zmq_timers_add(void *timers, size_t interval, zmq_timer_fn handler, void *argument);
int zmq_timers_cancel(void *timers, int id);
int zmq_timers_set_interval(void *timers, int id, size_t interval);
/* Lets the interval start now. */
int zmq_timers_reset(void *timers, int id);
/* Milliseconds until a timer is due; -1 if there is none. */
long zmq_timers_timeout(void *timers);
int zmq_timers_execute(void *timers);

void *zmq_stopwatch_start(void);
/* Microseconds since the start. */
unsigned long zmq_stopwatch_intermediate(void *watch);
/* The same, and frees the stopwatch. */
unsigned long zmq_stopwatch_stop(void *watch);
void zmq_sleep(int seconds);

typedef void(zmq_thread_fn)(void *argument);

void *zmq_threadstart(zmq_thread_fn *function, void *argument);
/* Waits until the function has returned. */
void zmq_threadclose(void *thread);

/* ---- Older names ---- */

#define ZMQ_XREQ ZMQ_DEALER
#define ZMQ_XREP ZMQ_ROUTER
#define ZMQ_IDENTITY ZMQ_ROUTING_ID
#define ZMQ_CONNECT_RID ZMQ_CONNECT_ROUTING_ID
#define ZMQ_DELAY_ATTACH_ON_CONNECT ZMQ_IMMEDIATE
#define ZMQ_NOBLOCK ZMQ_DONTWAIT
#define ZMQ_FAIL_UNROUTABLE ZMQ_ROUTER_MANDATORY
#define ZMQ_ROUTER_BEHAVIOR ZMQ_ROUTER_MANDATORY

/* Types of zmq_device, which are all the same. */
#define ZMQ_STREAMER 1
#define ZMQ_FORWARDER 2
#define ZMQ_QUEUE 3

void *zmq_init(int io_threads);
int zmq_term(void *context);
int zmq_ctx_destroy(void *context);
int zmq_device(int type, void *frontend, void *backend);
int zmq_sendmsg(void *socket, zmq_msg_t *message, int flags);
int zmq_recvmsg(void *socket, zmq_msg_t *message, int flags);
struct iovec;
int zmq_sendiov(void *socket, struct iovec *parts, size_t count, int flags);
int zmq_recviov(void *socket, struct iovec *parts, size_t *count, int flags);

/* ---- Drafts: what may still change in libzmq ---- */

#ifdef ZMQ_BUILD_DRAFT_API

#define ZMQ_SERVER 12
#define ZMQ_CLIENT 13
#define ZMQ_RADIO 14
#define ZMQ_DISH 15
#define ZMQ_GATHER 16
#define ZMQ_SCATTER 17
#define ZMQ_DGRAM 18
#define ZMQ_PEER 19
#define ZMQ_CHANNEL 20

#define ZMQ_ZAP_ENFORCE_DOMAIN 93
#define ZMQ_LOOPBACK_FASTPATH 94
#define ZMQ_METADATA 95
#define ZMQ_MULTICAST_LOOP 96
#define ZMQ_ROUTER_NOTIFY 97
#define ZMQ_XPUB_MANUAL_LAST_VALUE 98
#define ZMQ_SOCKS_USERNAME 99
#define ZMQ_SOCKS_PASSWORD 100
#define ZMQ_IN_BATCH_SIZE 101
#define ZMQ_OUT_BATCH_SIZE 102
#define ZMQ_WSS_KEY_PEM 103
#define ZMQ_WSS_CERT_PEM 104
#define ZMQ_WSS_TRUST_PEM 105
#define ZMQ_WSS_HOSTNAME 106
#define ZMQ_WSS_TRUST_SYSTEM 107
#define ZMQ_ONLY_FIRST_SUBSCRIBE 108
#define ZMQ_RECONNECT_STOP 109
#define ZMQ_HELLO_MSG 110
#define ZMQ_DISCONNECT_MSG 111
#define ZMQ_PRIORITY 112
#define ZMQ_BUSY_POLL 113
#define ZMQ_HICCUP_MSG 114
#define ZMQ_XSUB_VERBOSE_UNSUBSCRIBE 115
#define ZMQ_TOPICS_COUNT 116

/* Bits of ZMQ_ROUTER_NOTIFY. */
#define ZMQ_NOTIFY_CONNECT 1
#define ZMQ_NOTIFY_DISCONNECT 2

/* Bits of ZMQ_RECONNECT_STOP. */
#define ZMQ_RECONNECT_STOP_CONN_REFUSED 0x1
#define ZMQ_RECONNECT_STOP_HANDSHAKE_FAILED 0x2
#define ZMQ_RECONNECT_STOP_AFTER_DISCONNECT 0x4

/* Refused with EINVAL: NORM is not offered. */
#define ZMQ_NORM_MODE 117
#define ZMQ_NORM_UNICAST_NACK 118
#define ZMQ_NORM_BUFFER_SIZE 119
#define ZMQ_NORM_SEGMENT_SIZE 120
#define ZMQ_NORM_BLOCK_SIZE 121
#define ZMQ_NORM_NUM_PARITY 122
#define ZMQ_NORM_NUM_AUTOPARITY 123
#define ZMQ_NORM_PUSH 124
#define ZMQ_NORM_FIXED 0
#define ZMQ_NORM_CC 1
#define ZMQ_NORM_CCL 2
#define ZMQ_NORM_CCE 3
#define ZMQ_NORM_CCE_ECNONLY 4

/* An option of contexts. */
#define ZMQ_ZERO_COPY_RECV 10

/* Names for zmq_msg_gets. */
#define ZMQ_MSG_PROPERTY_ROUTING_ID "Routing-Id"
#define ZMQ_MSG_PROPERTY_SOCKET_TYPE "Socket-Type"
#define ZMQ_MSG_PROPERTY_USER_ID "User-Id"
#define ZMQ_MSG_PROPERTY_PEER_ADDRESS "Peer-Address"

int zmq_ctx_set_ext(void *context, int option, const void *value, size_t size);
int zmq_ctx_get_ext(void *context, int option, void *value, size_t *size);

/* Groups of DISH. */
int zmq_join(void *socket, const char *group);
int zmq_leave(void *socket, const char *group);
/* The routing id of the peer; 0 when it fails. */
uint32_t zmq_connect_peer(void *socket, const char *endpoint);
/* The ZMQ_POLL bits that ROUTER has for this peer. */
int zmq_socket_get_peer_state(void *socket, const void *routing_id, size_t size);

int zmq_msg_set_routing_id(zmq_msg_t *message, uint32_t routing_id);
/* 0 if there is none. */
uint32_t zmq_msg_routing_id(zmq_msg_t *message);
int zmq_msg_set_group(zmq_msg_t *message, const char *group);
const char *zmq_msg_group(zmq_msg_t *message);
/* Copies data. */
int zmq_msg_init_buffer(zmq_msg_t *message, const void *data, size_t size);

#define ZMQ_EVENT_PIPES_STATS 0x10000
#define ZMQ_CURRENT_EVENT_VERSION 1
#define ZMQ_CURRENT_EVENT_VERSION_DRAFT 2
#define ZMQ_EVENT_ALL_V1 ZMQ_EVENT_ALL
#define ZMQ_EVENT_ALL_V2 (ZMQ_EVENT_ALL_V1 | ZMQ_EVENT_PIPES_STATS)

/* type: PAIR, PUB or PUSH. */
int zmq_socket_monitor_versioned(
  void *socket, const char *endpoint, uint64_t events, int version, int type);
int zmq_socket_monitor_pipes_stats(void *socket);

/* As zmq_poll, with other signals let through while it waits. */
int zmq_ppoll(zmq_pollitem_t *items, int count, long timeout, const sigset_t *signals);

#define ZMQ_HAVE_POLLER

typedef struct zmq_poller_event_t
{
    void *socket;
    zmq_fd_t fd;
    void *user_data;
    short events;
} zmq_poller_event_t;

void *zmq_poller_new(void);
/* Makes *poller NULL. */
int zmq_poller_destroy(void **poller);
int zmq_poller_size(void *poller);
int zmq_poller_add(void *poller, void *socket, void *user_data, short events);
int zmq_poller_modify(void *poller, void *socket, short events);
int zmq_poller_remove(void *poller, void *socket);
int zmq_poller_add_fd(void *poller, zmq_fd_t fd, void *user_data, short events);
int zmq_poller_modify_fd(void *poller, zmq_fd_t fd, short events);
int zmq_poller_remove_fd(void *poller, zmq_fd_t fd);
int zmq_poller_wait(void *poller, zmq_poller_event_t *event, long timeout);
/* The number of events. */
int zmq_poller_wait_all(void *poller, zmq_poller_event_t *events, int count, long timeout);
int zmq_poller_fd(void *poller, zmq_fd_t *fd);

#endif /* ZMQ_BUILD_DRAFT_API */

#ifdef __cplusplus
}
#endif

#endif
