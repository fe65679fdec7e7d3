/* An event loop over ZMQ_FD that takes one message each time, whatever else is there: libzmq's descriptor tells of the
 * others never, and the loop sleeps on. */
#include "check.h"

#define MESSAGES 50

static void *context, *pull, *push;
static int fd;

static void wait_readable(void)
{
    struct pollfd polled = {fd, POLLIN, 0};
    CHECK(poll(&polled, 1, LIMIT * 500) == 1);
}

static int events(void)
{
    int events;
    size_t size = sizeof events;
    CHECK(zmq_getsockopt(pull, ZMQ_EVENTS, &events, &size) == 0);
    return events;
}

static void send_all(void)
{
    for (int i = 0; i < MESSAGES; i++)
        send_text(push, "one of many");
}

int main(void)
{
    char endpoint[256];
    size_t size = sizeof fd;
    alarm(LIMIT);
    context = zmq_ctx_new();
    pull = open_socket(context, ZMQ_PULL);
    push = open_socket(context, ZMQ_PUSH);
    bind_anywhere(pull, endpoint);
    CHECK(zmq_connect(push, endpoint) == 0);
    CHECK(zmq_getsockopt(pull, ZMQ_FD, &fd, &size) == 0);

    /* One message for each time that the descriptor is readable. */
    send_all();
    for (int received = 0; received < MESSAGES;) {
        wait_readable();
        if (events() & ZMQ_POLLIN) {
            receive_text(pull, "one of many");
            received++;
        }
    }
    /* A loop that leaves a message there for now sleeps, and is told of the next one, and of what a receive leaves. */
    for (int there = 1; there <= 2; there++) {
        struct pollfd polled = {fd, POLLIN, 0};
        send_text(push, "one of many");
        do {
            wait_readable();
        } while ((events() & ZMQ_POLLIN) == 0);
        while (poll(&polled, 1, 0) == 1)
            CHECK(events() & ZMQ_POLLIN);
    }
    receive_text(pull, "one of many");
    wait_readable();
    CHECK(events() & ZMQ_POLLIN);
    receive_text(pull, "one of many");
    /* The events are not asked for at all. */
    send_all();
    for (int received = 0; received < MESSAGES;) {
        char bytes[16];
        wait_readable();
        if (zmq_recv(pull, bytes, sizeof bytes, ZMQ_DONTWAIT) > 0)
            received++;
        else
            CHECK(zmq_errno() == EAGAIN);
    }
    /* A loop that drains sleeps then: the descriptor is not readable for ever. */
    struct pollfd polled = {fd, POLLIN, 0};
    while (poll(&polled, 1, 0) == 1)
        CHECK((events() & ZMQ_POLLIN) == 0);
    CHECK(zmq_close(push) == 0 && zmq_close(pull) == 0 && zmq_ctx_term(context) == 0);
    return 0;
}
