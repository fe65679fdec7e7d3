/*
 * libzmq itself, driven by a test: NULL, PLAIN and CURVE, every socket type that it was built with.
 *
 * Arguments, payloads and events are those of the other peers; README.md describes them.
 * Build: cc -O2 -o zmq_peer zmq_peer.c zmq_peer_*.c -lzmq -lsodium
 */

#include <poll.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "zmq_peer.h"

enum { SHOWN_WHOLE = 256, SYNC_PERIOD_MS = 10, LINGER_MS = 5000 };

static const char SYNC_MARK[] = "\0sync";
enum { SYNC_MARK_LEN = sizeof SYNC_MARK - 1 };

struct message {
    zmq_msg_t part[MAX_PARTS];
    int parts;
};

void *sock;
static long long deadline_ms;
#ifdef ZMQ_BUILD_DRAFT_API
/* PEER that connected: the connection it sends on. */
static uint32_t peer_route;
#endif

void fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    flockfile(stdout);
    printf("{\"event\": \"error\", \"reason\": \"");
    vprintf(format, values);
    printf("\"}\n");
    fflush(stdout);
    exit(1);
}

void check(int result, const char *what)
{
    if (result < 0)
        fail("%s: %s", what, zmq_strerror(zmq_errno()));
}

void set_int(int option, int value, const char *what)
{
    check(zmq_setsockopt(sock, option, &value, sizeof value), what);
}

void set_bytes(int option, const void *value, size_t size, const char *what)
{
    check(zmq_setsockopt(sock, option, value, size), what);
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void limit_to_deadline(int option)
{
    long long left = deadline_ms - now_ms();
    int timeout = left > 0 ? (int) left : 0;
    check(zmq_setsockopt(sock, option, &timeout, sizeof timeout), "timeout");
}

static void add_part(struct message *message, size_t size)
{
    check(zmq_msg_init_size(&message->part[message->parts++], size), "allocate");
}

static unsigned char *part_data(struct message *message, int part)
{
    return zmq_msg_data(&message->part[part]);
}

static void close_message(struct message *message)
{
    for (int i = 0; i < message->parts; i++)
        zmq_msg_close(&message->part[i]);
    message->parts = 0;
}

/* Sends the message and leaves it empty. */
static void send_message(struct message *message)
{
    limit_to_deadline(ZMQ_SNDTIMEO);
#ifdef ZMQ_BUILD_DRAFT_API
    if (args.type == ZMQ_RADIO)
        check(zmq_msg_set_group(&message->part[0], args.topic), "group");
    if (args.type == ZMQ_PEER && peer_route != 0)
        check(zmq_msg_set_routing_id(&message->part[0], peer_route), "route");
#endif
    for (int i = 0; i < message->parts; i++)
        check(zmq_msg_send(&message->part[i], sock, i + 1 < message->parts ? ZMQ_SNDMORE : 0),
              "send");
    message->parts = 0;
}

static void recv_message(struct message *message)
{
    limit_to_deadline(ZMQ_RCVTIMEO);
    int more = 1;
    while (more) {
        if (message->parts == MAX_PARTS)
            fail("a message of more than %d parts", MAX_PARTS);
        zmq_msg_t *part = &message->part[message->parts++];
        zmq_msg_init(part);
        check(zmq_msg_recv(part, sock, 0), "receive");
        more = zmq_msg_more(part);
    }
}

static void print_hex(const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", bytes[i]);
}

static void report_message(struct message *message, int first)
{
    /* The monitor's thread prints as well. */
    flockfile(stdout);
    printf("{\"event\": \"message\", ");
#ifdef ZMQ_BUILD_DRAFT_API
    if (args.type == ZMQ_DISH)
        printf("\"group\": \"%s\", ", zmq_msg_group(&message->part[0]));
#endif
    printf("\"parts\": [");
    for (int i = first; i < message->parts; i++) {
        size_t size = zmq_msg_size(&message->part[i]);
        printf("%s{\"length\": %zu, ", i == first ? "" : ", ", size);
        if (size <= SHOWN_WHOLE) {
            printf("\"hex\": \"");
            print_hex(part_data(message, i), size);
        } else {
            unsigned char hash[crypto_hash_sha256_BYTES];
            crypto_hash_sha256(hash, part_data(message, i), size);
            printf("\"sha256\": \"");
            print_hex(hash, sizeof hash);
        }
        printf("\"}");
    }
    printf("]}\n");
    fflush(stdout);
    funlockfile(stdout);
}

/* Length of what stands before the payload: RADIO's group is no part of it. */
static size_t topic_in_body(void)
{
#ifdef ZMQ_BUILD_DRAFT_API
    if (args.type == ZMQ_RADIO)
        return 0;
#endif
    return strlen(args.topic);
}

/* Who sees the messages by which a publisher finds its subscribers. */
static int is_subscriber(void)
{
#ifdef ZMQ_BUILD_DRAFT_API
    if (args.type == ZMQ_DISH)
        return 1;
#endif
    return args.type == ZMQ_SUB || args.type == ZMQ_XSUB;
}

/* Who sends them. */
static int is_publisher(void)
{
#ifdef ZMQ_BUILD_DRAFT_API
    if (args.type == ZMQ_RADIO)
        return 1;
#endif
    return args.type == ZMQ_PUB;
}

/* Octet i of part p of message number `index` is (i + 7 p + 13 index) mod 251; the part's size is
 * the one at index + p, counted round. */
static void build(struct message *message, int index)
{
    if (args.delimiter)
        add_part(message, 0);
    for (int p = 0; p < args.parts; p++) {
        size_t topic = p == 0 ? topic_in_body() : 0;
        int size = args.size[(index + p) % args.sizes];
        add_part(message, topic + size);
        unsigned char *data = part_data(message, message->parts - 1);
        memcpy(data, args.topic, topic);
        for (int i = 0; i < size; i++)
            data[topic + i] = (unsigned char) ((i + 7LL * p + 13LL * index) % 251);
    }
}

static int is_sync(struct message *message)
{
    size_t size = zmq_msg_size(&message->part[0]);
    return message->parts == 1 && size >= SYNC_MARK_LEN
        && !memcmp(part_data(message, 0) + size - SYNC_MARK_LEN, SYNC_MARK, SYNC_MARK_LEN);
}

static void recv_and_report(struct message *message)
{
    int synced = 0;
    for (;;) {
        recv_message(message);
        if (is_subscriber() && is_sync(message)) {
            if (!synced)
                printf("{\"event\": \"synced\"}\n"), fflush(stdout);
            synced = 1;
            close_message(message);
            continue;
        }
        report_message(message, args.delimiter && zmq_msg_size(&message->part[0]) == 0);
        return;
    }
}

/* Repeats a message until a line on standard input says that a subscriber has seen one. */
static void sync_until_told(void)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    size_t topic = topic_in_body();
    do {
        if (now_ms() > deadline_ms)
            fail("no line on standard input told this publisher to start");
        struct message message = { .parts = 0 };
        add_part(&message, topic + SYNC_MARK_LEN);
        memcpy(part_data(&message, 0), args.topic, topic);
        memcpy(part_data(&message, 0) + topic, SYNC_MARK, SYNC_MARK_LEN);
        send_message(&message);
    } while (poll(&input, 1, SYNC_PERIOD_MS) == 0);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
        ;
}

/* XSUB subscribes (1) and cancels (0) by messages. */
static void send_subscription(unsigned char first, const char *topic)
{
    struct message message = { .parts = 0 };
    size_t len = strlen(topic);
    add_part(&message, 1 + len);
    part_data(&message, 0)[0] = first;
    memcpy(part_data(&message, 0) + 1, topic, len);
    send_message(&message);
}

static void cancel_subscriptions(void)
{
    for (int i = 0; i < args.topics; i++) {
        const char *topic = args.subscribe[i];
        if (args.type == ZMQ_XSUB)
            send_subscription(0, topic);
        else
            check(zmq_setsockopt(sock, ZMQ_UNSUBSCRIBE, topic, strlen(topic)), "unsubscribe");
    }
}

/* Bytes as they come, over one connection. Reports its beginning, its end, and all that came with
 * length and hash; an end that nobody makes is waited for. */
static void run_stream(void)
{
    struct message message = { .parts = 0 };
    unsigned char id[256];
    size_t id_size = 0;
    crypto_hash_sha256_state hash;
    crypto_hash_sha256_init(&hash);
    int received = 0, ended = 0;
    while (!ended) {
        int is_new = id_size == 0;
        if (received == args.recv && args.cancel && !is_new) {
            add_part(&message, id_size);
            memcpy(part_data(&message, 0), id, id_size);
            add_part(&message, 0);
            send_message(&message);
            break;
        }
        recv_message(&message);
        size_t size = zmq_msg_size(&message.part[1]);
        id_size = zmq_msg_size(&message.part[0]);
        memcpy(id, part_data(&message, 0), id_size);
        ended = !is_new && size == 0;
        received += (int) size;
        crypto_hash_sha256_update(&hash, part_data(&message, 1), size);
        if (args.echo && size > 0)
            send_message(&message);
        close_message(&message);
        for (int index = 0; is_new && index < args.send; index++) {
            add_part(&message, id_size);
            memcpy(part_data(&message, 0), id, id_size);
            build(&message, index);
            send_message(&message);
        }
    }
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&hash, digest);
    flockfile(stdout);
    printf("{\"event\": \"bytes\", \"length\": %d, \"ended\": %s, \"sha256\": \"", received,
           ended ? "true" : "false");
    print_hex(digest, sizeof digest);
    printf("\"}\n{\"event\": \"done\", \"sent\": %d, \"received\": %d}\n", args.send, received);
    fflush(stdout);
    funlockfile(stdout);
}

static void connect_to(const char *endpoint)
{
#ifdef ZMQ_BUILD_DRAFT_API
    if (args.type == ZMQ_PEER) {
        peer_route = zmq_connect_peer(sock, endpoint);
        check(peer_route == 0 ? -1 : 0, endpoint);
        return;
    }
#endif
    check(zmq_connect(sock, endpoint), endpoint);
}

static void run(void)
{
    struct message message = { .parts = 0 };
    int echoes = args.echo || args.type == ZMQ_REP || args.type == ZMQ_ROUTER;
    int lockstep = args.lockstep || args.type == ZMQ_REQ;
    int received = 0;
    if (is_publisher()) {
        sync_until_told();
    } else if (args.type == ZMQ_XPUB && args.send > 0) {
        recv_message(&message);
        report_message(&message, 0);
        close_message(&message);
    }
    for (int index = 0; index < args.send; index++) {
        if (args.next && index == args.send / 2) {
            check(zmq_disconnect(sock, args.connect), args.connect);
            connect_to(args.next);
        }
        build(&message, index);
        send_message(&message);
        if (lockstep) {
            recv_and_report(&message);
            close_message(&message);
            received++;
        }
    }
    while (!lockstep && received < args.recv) {
        recv_and_report(&message);
        received++;
        if (echoes)
            send_message(&message);
        else
            close_message(&message);
    }
    if (args.cancel)
        cancel_subscriptions();
    printf("{\"event\": \"done\", \"sent\": %d, \"received\": %d}\n",
           args.send + (echoes ? received : 0), received);
    fflush(stdout);
}

/* Held open until standard input ends, so that what was sent can be read at leisure. libzmq works off
 * what its own threads tell the socket only within calls; a socket never has this event. */
static void hold(void)
{
    zmq_pollitem_t items[] = { { .socket = sock, .events = ZMQ_POLLERR },
                               { .fd = STDIN_FILENO, .events = ZMQ_POLLIN } };
    char byte;
    do {
        check(zmq_poll(items, 2, -1), "wait");
    } while (read(STDIN_FILENO, &byte, 1) == 1);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    deadline_ms = now_ms() + args.timeout_s * 1000LL;
    void *context = zmq_ctx_new();
    sock = zmq_socket(context, args.type);
    if (sock == NULL || sodium_init() < 0)
        fail("no socket");
    set_int(ZMQ_SNDHWM, args.high_water_mark, "high-water mark");
    set_int(ZMQ_RCVHWM, args.high_water_mark, "high-water mark");
    if (args.receive_buffer > 0)
        set_int(ZMQ_RCVBUF, args.receive_buffer, "receive buffer");
    if (args.handover)
        set_int(ZMQ_ROUTER_HANDOVER, 1, "handover");
    set_int(ZMQ_LINGER, LINGER_MS, "linger");
    set_int(ZMQ_IPV6, strchr(args.bind ? args.bind : args.connect, '[') != NULL, "IPv6");
    if (args.heartbeat_ms > 0)
        set_int(ZMQ_HEARTBEAT_IVL, args.heartbeat_ms, "heartbeat");
    if (*args.identity)
        check(zmq_setsockopt(sock, ZMQ_ROUTING_ID, args.identity, strlen(args.identity)),
              "routing id");
    for (int i = 0; args.type == ZMQ_SUB && i < args.topics; i++)
        check(zmq_setsockopt(sock, ZMQ_SUBSCRIBE, args.subscribe[i], strlen(args.subscribe[i])),
              "subscribe");

#ifdef ZMQ_BUILD_DRAFT_API
    for (int i = 0; args.type == ZMQ_DISH && i < args.topics; i++)
        check(zmq_join(sock, args.subscribe[i]), "join");
#endif
    protect(context);
    if (args.monitor)
        watch(context);

    char endpoint[256];
    size_t endpoint_len = sizeof endpoint;
    if (args.bind) {
        check(zmq_bind(sock, args.bind), args.bind);
        check(zmq_getsockopt(sock, ZMQ_LAST_ENDPOINT, endpoint, &endpoint_len), "endpoint");
    } else {
        connect_to(args.connect);
        snprintf(endpoint, sizeof endpoint, "%s", args.connect);
    }
    printf("{\"event\": \"ready\", \"endpoint\": \"%s\"}\n", endpoint);
    fflush(stdout);

    for (int i = 0; args.type == ZMQ_XSUB && i < args.topics; i++)
        send_subscription(1, args.subscribe[i]);
    if (args.type == ZMQ_STREAM)
        run_stream();
    else
        run();

    hold();
    zmq_close(sock);
    zmq_ctx_term(context);
    return 0;
}
