/* The end of a context while threads are in each call that waits, and calls after the end of what they are for. */
#include "check.h"

#include <sys/uio.h>

static void *context;

/* One call that waits, on sockets that its thread opened. */
struct call {
    int type;
    void *socket;
};

enum { RECV, MSG_RECV, RECVMSG, RECVIOV, SEND, MSG_SEND, SENDIOV, POLL, PROXY, STEERABLE, MONITOR, CALLS };

static struct call calls[CALLS];

static int wait_in(struct call *call)
{
    char bytes[8];
    size_t parts = 1;
    struct iovec place = {bytes, sizeof bytes};
    zmq_msg_t message;
    zmq_pollitem_t item = {call->socket, 0, ZMQ_POLLIN, 0};
    CHECK(zmq_msg_init(&message) == 0);
    switch (call->type) {
    case RECV:
        return zmq_recv(call->socket, bytes, sizeof bytes, 0);
    case MONITOR:
        /* Its events until then. */
        while (zmq_recv(call->socket, bytes, sizeof bytes, 0) >= 0) {
        }
        return -1;
    case MSG_RECV:
        return zmq_msg_recv(&message, call->socket, 0);
    case RECVMSG:
        return zmq_recvmsg(call->socket, &message, 0);
    case RECVIOV:
        return zmq_recviov(call->socket, &place, &parts, 0);
    case SEND:
        return zmq_send(call->socket, "x", 1, 0);
    case MSG_SEND:
        return zmq_msg_send(&message, call->socket, 0);
    case SENDIOV:
        return zmq_sendiov(call->socket, &place, 1, 0);
    case POLL:
        return zmq_poll(&item, 1, -1);
    case PROXY:
        return zmq_proxy(call->socket, call->socket, NULL);
    default:
        return zmq_proxy_steerable(call->socket, call->socket, NULL, call->socket);
    }
}

static void *wait_for_the_end(void *argument)
{
    struct call *call = argument;
    int type, value = 0;
    size_t size = sizeof type;
    /* Whether it has begun to wait before the end or not, the call says so, and all after it. */
    FAILS(ETERM, wait_in(call));
    FAILS(ETERM, wait_in(call));
    FAILS(ETERM, zmq_getsockopt(call->socket, ZMQ_TYPE, &type, &size));
    FAILS(ETERM, zmq_setsockopt(call->socket, ZMQ_LINGER, &value, sizeof value));
    FAILS(ETERM, zmq_bind(call->socket, "inproc://late"));
    FAILS(ETERM, zmq_connect(call->socket, "inproc://late"));
    FAILS(ETERM, zmq_socket_monitor(call->socket, "inproc://late", ZMQ_EVENT_ALL));
    GIVES_NULL(ETERM, zmq_socket(context, ZMQ_PAIR));
    CHECK(zmq_close(call->socket) == 0);
    FAILS(ENOTSOCK, zmq_close(call->socket));
    FAILS(ENOTSOCK, wait_in(call));
    return NULL;
}

static void *close_within(void *socket)
{
    CHECK(zmq_close(socket) == 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[CALLS], closing;
    char byte, elsewhere[256] = {0};
    int number, value = 0;
    size_t size = sizeof value;
    alarm(LIMIT);
    context = zmq_ctx_new();

    /* Another thread closes the socket that a call waits on. */
    void *quiet = zmq_socket(context, ZMQ_PULL);
    CHECK(pthread_create(&closing, NULL, close_within, quiet) == 0);
    FAILS(ENOTSOCK, zmq_recv(quiet, &byte, 1, 0));
    CHECK(pthread_join(closing, NULL) == 0);
    FAILS(ENOTSOCK, zmq_close(quiet));

    void *watched = open_socket(context, ZMQ_PULL);
    CHECK(zmq_socket_monitor(watched, "inproc://events", ZMQ_EVENT_ALL) == 0);
    for (int i = 0; i < CALLS; i++) {
        calls[i].type = i;
        calls[i].socket = zmq_socket(context, i == SEND || i == MSG_SEND || i == SENDIOV ? ZMQ_PUSH : ZMQ_PAIR);
        CHECK(calls[i].socket != NULL);
    }
    CHECK(zmq_connect(calls[MONITOR].socket, "inproc://events") == 0);
    for (int i = 0; i < CALLS; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_the_end, &calls[i]) == 0);
    CHECK(pthread_create(&closing, NULL, close_within, watched) == 0);
    CHECK(zmq_ctx_term(context) == 0);
    for (int i = 0; i < CALLS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_join(closing, NULL) == 0);
    FAILS(EFAULT, zmq_ctx_term(context));
    FAILS(EFAULT, zmq_ctx_shutdown(context));
    FAILS(EFAULT, zmq_ctx_get(context, ZMQ_IO_THREADS));
    GIVES_NULL(EFAULT, zmq_socket(context, ZMQ_PAIR));

    /* What was never a socket or context. */
    FAILS(EFAULT, zmq_ctx_term(NULL));
    FAILS(EFAULT, zmq_ctx_term(elsewhere));
    FAILS(ENOTSOCK, zmq_close(NULL));
    FAILS(ENOTSOCK, zmq_close(elsewhere));
    FAILS(ENOTSOCK, zmq_close(context));
    FAILS(ENOTSOCK, zmq_recv(elsewhere, &byte, 1, 0));
    FAILS(ENOTSOCK, zmq_getsockopt(elsewhere, ZMQ_TYPE, &number, &size));

    /* Each handle is another, as long as few were closed since. */
    for (int i = 0; i < 100; i++) {
        void *own = zmq_ctx_new(), *socket = zmq_socket(own, ZMQ_PAIR);
        CHECK(zmq_close(socket) == 0 && zmq_ctx_term(own) == 0);
        FAILS(ENOTSOCK, zmq_close(socket));
        FAILS(EFAULT, zmq_ctx_term(own));
    }
    return 0;
}
