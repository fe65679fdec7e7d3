/* A REQ whose server goes before it has answered waits, as one of libzmq does, and a loop that polls it has its timeout. */
#include "check.h"

static int events(void *socket)
{
    int value;
    size_t size = sizeof value;
    CHECK(zmq_getsockopt(socket, ZMQ_EVENTS, &value, &size) == 0);
    return value;
}

static void waits(void *request)
{
    char answer[8];
    zmq_pollitem_t item = {request, 0, ZMQ_POLLIN | ZMQ_POLLOUT, 0};
    for (int again = 0; again < 2; again++) {
        CHECK(events(request) == 0);
        CHECK(zmq_poll(&item, 1, 20) == 0 && item.revents == 0);
        FAILS(EAGAIN, zmq_recv(request, answer, sizeof answer, ZMQ_DONTWAIT));
        FAILS(EAGAIN, zmq_recv(request, answer, sizeof answer, 0));
        FAILS(EFSM, zmq_send(request, "again", 5, ZMQ_DONTWAIT));
    }
}

static void goes(const char *endpoint, int relaxed)
{
    char question[8], bound[256];
    size_t size = sizeof bound;
    int none = 0, soon = 20;
    void *context = zmq_ctx_new();
    void *server = zmq_socket(context, ZMQ_REP), *request = zmq_socket(context, ZMQ_REQ);
    CHECK(zmq_setsockopt(request, ZMQ_LINGER, &none, sizeof none) == 0);
    CHECK(zmq_setsockopt(request, ZMQ_RCVTIMEO, &soon, sizeof soon) == 0);
    CHECK(zmq_setsockopt(request, ZMQ_REQ_RELAXED, &relaxed, sizeof relaxed) == 0);
    CHECK(zmq_bind(server, endpoint) == 0);
    CHECK(zmq_getsockopt(server, ZMQ_LAST_ENDPOINT, bound, &size) == 0);
    CHECK(zmq_connect(request, bound) == 0);
    CHECK(zmq_send(request, "question", 8, 0) == 8);
    CHECK(zmq_recv(server, question, sizeof question, 0) == 8);
    CHECK(zmq_close(server) == 0);
    /* Whether it has come to know of that or not. */
    if (!relaxed)
        waits(request);
    server = zmq_socket(context, ZMQ_REP);
    while (zmq_bind(server, bound) != 0)
        CHECK(zmq_errno() == EADDRINUSE);
    if (strncmp(bound, "inproc", 6) == 0)
        CHECK(zmq_connect(request, bound) == 0);
    if (relaxed) {
        /* One that may ask again does, until it is not the connection that has ended which it asks over. */
        CHECK(zmq_setsockopt(server, ZMQ_RCVTIMEO, &soon, sizeof soon) == 0);
        do
            CHECK(zmq_send(request, "question", 8, 0) == 8);
        while (zmq_recv(server, question, sizeof question, 0) == -1 && zmq_errno() == EAGAIN);
        CHECK(zmq_send(server, "answer", 6, 0) == 6);
        zmq_pollitem_t item = {request, 0, ZMQ_POLLIN, 0};
        CHECK(zmq_poll(&item, 1, -1) == 1);
        CHECK(zmq_recv(request, question, sizeof question, 0) == 6);
    } else {
        waits(request);
    }
    CHECK(zmq_close(server) == 0 && zmq_close(request) == 0);
    CHECK(zmq_ctx_term(context) == 0);
}

int main(void)
{
    alarm(LIMIT);
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        goes("tcp://127.0.0.1:*", relaxed);
        goes("inproc://server", relaxed);
    }
    return 0;
}
