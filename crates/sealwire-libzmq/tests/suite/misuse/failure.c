/* A handshake that fails says why: to the option, to the monitor, and on standard error. */
#include "check.h"

/* Reads from standard error until this text is there, which comes when it comes. */
static void wait_for(int standard_error, const char *text)
{
    static char said[8192];
    size_t size = 0;
    while (strstr(said, text) == NULL) {
        ssize_t more = read(standard_error, said + size, sizeof said - 1 - size);
        CHECK(more > 0);
        size += (size_t) more;
    }
}

int main(void)
{
    int ends[2], before = dup(2);
    char endpoint[256], text[512], own[41], own_secret[41], other[41], other_secret[41];
    unsigned char event[6];
    int on = 1;
    size_t size;
    alarm(LIMIT);
    void *context = zmq_ctx_new();
    void *server = open_socket(context, ZMQ_PULL), *client = open_socket(context, ZMQ_PUSH);
    CHECK(zmq_curve_keypair(own, own_secret) == 0 && zmq_curve_keypair(other, other_secret) == 0);
    CHECK(zmq_setsockopt(server, ZMQ_CURVE_SERVER, &on, sizeof on) == 0);
    CHECK(zmq_setsockopt(server, ZMQ_CURVE_SECRETKEY, own_secret, 41) == 0);
    /* Not the key of that server. */
    CHECK(zmq_setsockopt(client, ZMQ_CURVE_SERVERKEY, other, 41) == 0);
    CHECK(zmq_setsockopt(client, ZMQ_CURVE_PUBLICKEY, other, 41) == 0);
    CHECK(zmq_setsockopt(client, ZMQ_CURVE_SECRETKEY, other_secret, 41) == 0);
    bind_anywhere(server, endpoint);
    CHECK(zmq_socket_monitor(server, "inproc://failures", ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) == 0);
    void *failures = open_socket(context, ZMQ_PAIR);
    CHECK(zmq_connect(failures, "inproc://failures") == 0);
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    CHECK(zmq_connect(client, endpoint) == 0);
    CHECK(zmq_recv(failures, event, sizeof event, 0) == sizeof event);
    uint32_t value;
    memcpy(&value, event + 2, sizeof value);
    CHECK(value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC);
    size = sizeof text;
    CHECK(zmq_getsockopt(server, ZMQ_LAST_FAILURE, text, &size) == 0);
    wait_for(ends[0], text);
    CHECK(dup2(before, 2) == 2);
    CHECK(strstr(text, "HELLO") != NULL);
    CHECK(zmq_close(client) == 0 && zmq_close(server) == 0 && zmq_close(failures) == 0);
    CHECK(zmq_ctx_term(context) == 0);
    return 0;
}
