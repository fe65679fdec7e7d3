/*
 * libzmq itself, driven by a test: NULL, PLAIN and CURVE, all eleven socket types.
 *
 * Arguments, payloads and events are those of the other peers; README.md describes them.
 * Build: cc -O2 -o zmq_peer zmq_peer.c -lzmq -lsodium
 */

#include <poll.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { SHOWN_WHOLE = 256, SYNC_PERIOD_MS = 10, LINGER_MS = 5000, MAX_PARTS = 64, MAX_TOPICS = 16, MAX_SIZES = 64 };

static const char SYNC_MARK[] = "\0sync";
enum { SYNC_MARK_LEN = sizeof SYNC_MARK - 1 };

static const struct {
    const char *name;
    int type;
} KINDS[] = {
    { "pair", ZMQ_PAIR },     { "pub", ZMQ_PUB },       { "sub", ZMQ_SUB },
    { "xpub", ZMQ_XPUB },     { "xsub", ZMQ_XSUB },     { "req", ZMQ_REQ },
    { "rep", ZMQ_REP },       { "dealer", ZMQ_DEALER }, { "router", ZMQ_ROUTER },
    { "push", ZMQ_PUSH },     { "pull", ZMQ_PULL },
};

struct arguments {
    int type, send, parts, recv, cancel, echo, delimiter, lockstep, heartbeat_ms, timeout_s;
    int size[MAX_SIZES], sizes;
    const char *bind, *connect, *identity, *topic, *subscribe[MAX_TOPICS];
    int topics;
    enum { NULL_MECHANISM, PLAIN, CURVE } mechanism;
    int server;
    const char *secret_key, *server_key, *allow, *username, *password;
};

struct message {
    zmq_msg_t part[MAX_PARTS];
    int parts;
};

static struct arguments args = {
    .type = -1, .size = { 16 }, .sizes = 1, .parts = 1, .timeout_s = 30, .identity = "", .topic = "",
};
static void *sock;
static long long deadline_ms;

static void fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    printf("{\"event\": \"error\", \"reason\": \"");
    vprintf(format, values);
    printf("\"}\n");
    fflush(stdout);
    exit(1);
}

static void check(int result, const char *what)
{
    if (result < 0)
        fail("%s: %s", what, zmq_strerror(zmq_errno()));
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

static int number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < 0 || value > 1 << 30)
        fail("%s is not a count", text);
    return (int) value;
}

/* Counts separated by commas. */
static void parse_sizes(const char *text)
{
    for (args.sizes = 0; text; args.sizes++) {
        char count[16] = "";
        const char *comma = strchr(text, ',');
        size_t len = comma ? (size_t) (comma - text) : strlen(text);
        if (args.sizes == MAX_SIZES || len >= sizeof count)
            fail("--size: at most %d counts", MAX_SIZES);
        memcpy(count, text, len);
        args.size[args.sizes] = number(count);
        text = comma ? comma + 1 : NULL;
    }
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--echo")) {
            args.echo = 1;
            continue;
        }
        if (!strcmp(name, "--cancel")) {
            args.cancel = 1;
            continue;
        }
        if (!strcmp(name, "--delimiter")) {
            args.delimiter = 1;
            continue;
        }
        if (!strcmp(name, "--lockstep")) {
            args.lockstep = 1;
            continue;
        }
        if (!strcmp(name, "--server")) {
            args.server = 1;
            continue;
        }
        if (i + 1 == argc)
            fail("%s: unknown, or its value is missing", name);
        const char *value = argv[++i];
        if (!strcmp(name, "--type")) {
            for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
                if (!strcmp(value, KINDS[k].name))
                    args.type = KINDS[k].type;
        } else if (!strcmp(name, "--mechanism")) {
            if (!strcmp(value, "curve"))
                args.mechanism = CURVE;
            else if (!strcmp(value, "plain"))
                args.mechanism = PLAIN;
            else if (strcmp(value, "null"))
                fail("this peer speaks NULL, PLAIN and CURVE");
        } else if (!strcmp(name, "--bind"))
            args.bind = value;
        else if (!strcmp(name, "--connect"))
            args.connect = value;
        else if (!strcmp(name, "--identity"))
            args.identity = value;
        else if (!strcmp(name, "--topic"))
            args.topic = value;
        else if (!strcmp(name, "--subscribe") && args.topics < MAX_TOPICS)
            args.subscribe[args.topics++] = value;
        else if (!strcmp(name, "--send"))
            args.send = number(value);
        else if (!strcmp(name, "--size"))
            parse_sizes(value);
        else if (!strcmp(name, "--parts"))
            args.parts = number(value);
        else if (!strcmp(name, "--recv"))
            args.recv = number(value);
        else if (!strcmp(name, "--heartbeat-ms"))
            args.heartbeat_ms = number(value);
        else if (!strcmp(name, "--secret-key"))
            args.secret_key = value;
        else if (!strcmp(name, "--server-key"))
            args.server_key = value;
        else if (!strcmp(name, "--allow"))
            args.allow = value;
        else if (!strcmp(name, "--username"))
            args.username = value;
        else if (!strcmp(name, "--password"))
            args.password = value;
        else if (!strcmp(name, "--timeout-s"))
            args.timeout_s = number(value);
        else
            fail("%s: unknown", name);
    }
    if (args.type < 0)
        fail("--type: one of the eleven socket types is needed");
    if (!args.bind == !args.connect)
        fail("one of --bind and --connect is needed");
    if (args.parts < 1 || args.parts >= MAX_PARTS)
        fail("--parts: 1 to %d", MAX_PARTS - 1);
    if (args.mechanism == PLAIN && (!args.username || !args.password))
        fail("PLAIN needs --username and --password");
    if (args.topics == 0)
        args.subscribe[args.topics++] = "";
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
    printf("{\"event\": \"message\", \"parts\": [");
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
}

/* Octet i of part p of message number `index` is (i + 7 p + 13 index) mod 251; the part's size is
 * the one at index + p, counted round. */
static void build(struct message *message, int index)
{
    if (args.delimiter)
        add_part(message, 0);
    for (int p = 0; p < args.parts; p++) {
        size_t topic = p == 0 ? strlen(args.topic) : 0;
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
        if ((args.type == ZMQ_SUB || args.type == ZMQ_XSUB) && is_sync(message)) {
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
    size_t topic = strlen(args.topic);
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

static void run(void)
{
    struct message message = { .parts = 0 };
    int echoes = args.echo || args.type == ZMQ_REP || args.type == ZMQ_ROUTER;
    int lockstep = args.lockstep || args.type == ZMQ_REQ;
    int received = 0;
    if (args.type == ZMQ_PUB) {
        sync_until_told();
    } else if (args.type == ZMQ_XPUB && args.send > 0) {
        recv_message(&message);
        report_message(&message, 0);
        close_message(&message);
    }
    for (int index = 0; index < args.send; index++) {
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

static void set_int(int option, int value, const char *what)
{
    check(zmq_setsockopt(sock, option, &value, sizeof value), what);
}

static void key_bytes(const char *hex, unsigned char key[32])
{
    size_t size = 0;
    if (hex == NULL || sodium_hex2bin(key, 32, hex, strlen(hex), NULL, &size, NULL) != 0 || size != 32)
        fail("a key has 64 hexadecimal digits");
}

enum { ZAP_FRAMES = 12, ZAP_FRAME = 256 };

/* Lets in the one user or the one key that was named (ZAP, RFC 27). */
static void authenticate(void *handler)
{
    unsigned char allowed[32];
    if (args.allow)
        key_bytes(args.allow, allowed);
    for (;;) {
        unsigned char frame[ZAP_FRAMES][ZAP_FRAME];
        int size[ZAP_FRAMES] = { 0 }, frames = 0, more = 1;
        while (more) {
            int at = frames < ZAP_FRAMES ? frames : ZAP_FRAMES - 1;
            size[at] = zmq_recv(handler, frame[at], ZAP_FRAME - 1, 0);
            if (size[at] < 0) {
                zmq_close(handler);
                return;
            }
            frame[at][size[at] < ZAP_FRAME ? size[at] : ZAP_FRAME - 1] = 0;
            frames++;
            size_t more_size = sizeof more;
            zmq_getsockopt(handler, ZMQ_RCVMORE, &more, &more_size);
        }
        /* version, id, domain, address, routing id, mechanism, credentials */
        int good = 0;
        if (args.mechanism == CURVE)
            good = frames >= 7 && size[6] == 32 && (!args.allow || !memcmp(frame[6], allowed, 32));
        else if (args.mechanism == PLAIN)
            good = frames >= 8 && !strcmp((char *) frame[6], args.username) &&
                   !strcmp((char *) frame[7], args.password);
        zmq_send(handler, "1.0", 3, ZMQ_SNDMORE);
        zmq_send(handler, frame[1], (size_t) size[1], ZMQ_SNDMORE);
        zmq_send(handler, good ? "200" : "400", 3, ZMQ_SNDMORE);
        zmq_send(handler, "", 0, ZMQ_SNDMORE);
        /* A user id would never let libzmq's REQ send: it takes the id for an answer. */
        zmq_send(handler, "", 0, ZMQ_SNDMORE);
        zmq_send(handler, "", 0, 0);
    }
}

static void set_bytes(int option, const void *value, size_t size, const char *what)
{
    check(zmq_setsockopt(sock, option, value, size), what);
}

static void protect(void *context)
{
    unsigned char secret[32], public[32], server[32];
    if (args.mechanism == NULL_MECHANISM)
        return;
    if (args.server) {
        void *handler = zmq_socket(context, ZMQ_REP);
        check(zmq_bind(handler, "inproc://zeromq.zap.01"), "ZAP");
        zmq_threadstart(authenticate, handler);
        set_bytes(ZMQ_ZAP_DOMAIN, "test", 4, "ZAP domain");
    }
    if (args.mechanism == CURVE) {
        key_bytes(args.secret_key, secret);
        crypto_scalarmult_base(public, secret);
        set_bytes(ZMQ_CURVE_SECRETKEY, secret, sizeof secret, "secret key");
        if (args.server) {
            set_int(ZMQ_CURVE_SERVER, 1, "CURVE server");
        } else {
            key_bytes(args.server_key, server);
            set_bytes(ZMQ_CURVE_PUBLICKEY, public, sizeof public, "public key");
            set_bytes(ZMQ_CURVE_SERVERKEY, server, sizeof server, "server key");
        }
    } else if (args.server) {
        set_int(ZMQ_PLAIN_SERVER, 1, "PLAIN server");
    } else {
        set_bytes(ZMQ_PLAIN_USERNAME, args.username, strlen(args.username), "username");
        set_bytes(ZMQ_PLAIN_PASSWORD, args.password, strlen(args.password), "password");
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    deadline_ms = now_ms() + args.timeout_s * 1000LL;
    void *context = zmq_ctx_new();
    sock = zmq_socket(context, args.type);
    if (sock == NULL || sodium_init() < 0)
        fail("no socket");
    set_int(ZMQ_SNDHWM, 0, "high-water mark");
    set_int(ZMQ_RCVHWM, 0, "high-water mark");
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

    protect(context);

    char endpoint[256];
    size_t endpoint_len = sizeof endpoint;
    if (args.bind) {
        check(zmq_bind(sock, args.bind), args.bind);
        check(zmq_getsockopt(sock, ZMQ_LAST_ENDPOINT, endpoint, &endpoint_len), "endpoint");
    } else {
        check(zmq_connect(sock, args.connect), args.connect);
        snprintf(endpoint, sizeof endpoint, "%s", args.connect);
    }
    printf("{\"event\": \"ready\", \"endpoint\": \"%s\"}\n", endpoint);
    fflush(stdout);

    for (int i = 0; args.type == ZMQ_XSUB && i < args.topics; i++)
        send_subscription(1, args.subscribe[i]);
    run();

    /* Held open until standard input ends, so that what was sent can be read at leisure. */
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1)
        ;
    zmq_close(sock);
    zmq_ctx_term(context);
    return 0;
}
