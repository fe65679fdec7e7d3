/* Strangers send anything at all to servers of each mechanism: each of their connections ends, and the next client is
 * served. */
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define STRANGERS 40

static uint64_t state = 1;

/* The same bytes in each run. */
static unsigned char next_byte(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char) (state >> 56);
}

/* A greeting of ZMTP 3.1 that a client of this mechanism sends. */
static void greet(unsigned char bytes[64], const char *mechanism)
{
    memset(bytes, 0, 64);
    bytes[0] = 0xff;
    bytes[9] = 0x7f;
    bytes[10] = 3;
    bytes[11] = 1;
    memcpy(bytes + 12, mechanism, strlen(mechanism));
}

/* What comes behind the greeting: frames with any flags and lengths, commands that are cut off, and noise. */
static size_t invent(unsigned char *bytes, int kind)
{
    size_t size = next_byte() + 1u;
    for (size_t i = 0; i < size; i++)
        bytes[i] = next_byte();
    switch (kind % 5) {
    case 0:
        /* A command of the size that it says. */
        bytes[0] = 4;
        bytes[1] = (unsigned char) (size > 2 ? size - 2 : 0);
        break;
    case 1:
        /* A length near 2^64. */
        bytes[0] = 6;
        memset(bytes + 1, 0xff, 8);
        return 9;
    case 2: {
        static const char hello[] = "\x04\xc8\x05HELLO\x01";
        memcpy(bytes, hello, sizeof hello - 1);
        break;
    }
    case 3: {
        static const char ready[] = "\x04\x29\x05READY\x0bSocket-Type\xff\xff\xff\xff";
        memcpy(bytes, ready, sizeof ready - 1);
        break;
    }
    default:
        break;
    }
    return size > 32 ? size : 32;
}

static void be_strange(const char *endpoint, const char *mechanism, int kind)
{
    unsigned char bytes[64 + 512];
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct timeval limit = {LIMIT / 2, 0};
    int stranger = socket(AF_INET, SOCK_STREAM, 0);
    size_t size = 0;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t) atoi(strrchr(endpoint, ':') + 1));
    CHECK(stranger >= 0);
    CHECK(setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(connect(stranger, (struct sockaddr *) &address, sizeof address) == 0);
    if (kind % 4 != 0) {
        greet(bytes, mechanism);
        size = 64;
    }
    size += invent(bytes + size, kind);
    /* It may have heard enough before the end. */
    (void) !write(stranger, bytes, size);
    shutdown(stranger, SHUT_WR);
    for (;;) {
        ssize_t got = read(stranger, bytes, sizeof bytes);
        CHECK(got >= 0 || errno != EAGAIN);
        if (got <= 0)
            break;
    }
    close(stranger);
}

static void set_int(void *socket, int option, int value)
{
    CHECK(zmq_setsockopt(socket, option, &value, sizeof value) == 0);
}

int main(void)
{
    static const char *mechanisms[] = {"NULL", "PLAIN", "CURVE", "BLAKE3"};
    char of_server[41], secret[41], of_client[41], of_client_secret[41];
    alarm(LIMIT);
    signal(SIGPIPE, SIG_IGN);
    CHECK(zmq_curve_keypair(of_server, secret) == 0 && zmq_curve_keypair(of_client, of_client_secret) == 0);
    void *context = zmq_ctx_new();
    for (int mechanism = 0; mechanism < 4; mechanism++) {
        char endpoint[256];
        void *server = open_socket(context, ZMQ_PULL), *client = open_socket(context, ZMQ_PUSH);
        switch (mechanism) {
        case 1:
            set_int(server, ZMQ_PLAIN_SERVER, 1);
            break;
        case 2:
            set_int(server, ZMQ_CURVE_SERVER, 1);
            CHECK(zmq_setsockopt(server, ZMQ_CURVE_SECRETKEY, secret, 41) == 0);
            CHECK(zmq_setsockopt(client, ZMQ_CURVE_SERVERKEY, of_server, 41) == 0);
            CHECK(zmq_setsockopt(client, ZMQ_CURVE_PUBLICKEY, of_client, 41) == 0);
            CHECK(zmq_setsockopt(client, ZMQ_CURVE_SECRETKEY, of_client_secret, 41) == 0);
            break;
        case 3:
            set_int(server, ZMQ_BLAKE3_SERVER, 1);
            set_int(server, ZMQ_BLAKE3_ANYONE, 1);
            CHECK(zmq_setsockopt(server, ZMQ_BLAKE3_SECRETKEY, secret, 41) == 0);
            CHECK(zmq_setsockopt(client, ZMQ_BLAKE3_SERVERKEY, of_server, 41) == 0);
            break;
        default:
            break;
        }
        bind_anywhere(server, endpoint);
        for (int kind = 0; kind < STRANGERS; kind++)
            be_strange(endpoint, mechanisms[mechanism], kind);
        /* Passwords are decided by a ZAP handler, which is not here. */
        if (mechanism != 1) {
            CHECK(zmq_connect(client, endpoint) == 0);
            send_text(client, "no stranger");
            receive_text(server, "no stranger");
        }
        zmq_counters_t counters;
        size_t size = sizeof counters;
        /* They are counted once their connection has ended. */
        do
            CHECK(zmq_getsockopt(server, ZMQ_COUNTERS, &counters, &size) == 0);
        while (counters.handshakes_failed < STRANGERS);
        CHECK(counters.handshakes_failed == STRANGERS);
        CHECK(zmq_close(client) == 0 && zmq_close(server) == 0);
    }
    CHECK(zmq_ctx_term(context) == 0);
    works_anew();
    return 0;
}
