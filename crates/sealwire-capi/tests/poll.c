/* Waiting for several sockets, monitors and descriptors, and with a descriptor of one's own. */
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int wait_readable(int fd) {
    struct pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, TIMEOUT) == 1 && (polled.revents & POLLIN) != 0;
}

static void several(mechanism *with) {
    char *endpoint = NULL;
    int pipe_ends[2];
    size_t found = 99;
    sealwire_monitor *monitor = NULL;
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, with->server);
    sealwire_socket *rep = make_socket(SEALWIRE_REP, with->server);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, with->client);
    sealwire_socket *req = make_socket(SEALWIRE_REQ, with->client);
    OK(sealwire_monitor_new(rep, &monitor));
    CHECK(pipe(pipe_ends) == 0);
    sealwire_poll_item items[] = {
        {pull, NULL, -1, SEALWIRE_POLL_IN, 0},
        {rep, NULL, -1, SEALWIRE_POLL_IN | SEALWIRE_POLL_OUT, 0},
        {NULL, monitor, -1, SEALWIRE_POLL_IN, 0},
        {NULL, NULL, pipe_ends[0], SEALWIRE_POLL_IN, 0},
        {req, NULL, -1, SEALWIRE_POLL_IN, 0},
    };
    const size_t count = sizeof items / sizeof items[0];
    OK(sealwire_poll(items, count, SEALWIRE_NO_WAIT, &found));
    CHECK(found == 0);
    OK(sealwire_poll(items, count, 1, &found));
    CHECK(found == 0);

    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    sealwire_string_free(endpoint);
    send_text(push, "one");
    send_text(push, "two");
    OK(sealwire_poll(items, count, TIMEOUT, &found));
    CHECK(found == 1 && items[0].ready == SEALWIRE_POLL_IN);
    /* It is about what there is: asked again, it says the same. */
    OK(sealwire_poll(items, count, SEALWIRE_WAIT, NULL));
    CHECK(items[0].ready == SEALWIRE_POLL_IN);
    receive_text(pull, "one");
    receive_text(pull, "two");

    OK(sealwire_socket_bind(rep, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_poll(items, count, TIMEOUT, &found));
    CHECK(items[2].ready == SEALWIRE_POLL_IN);
    sealwire_event_free(await_event(monitor, SEALWIRE_EVENT_LISTENING));
    OK(sealwire_socket_connect(req, endpoint));
    sealwire_string_free(endpoint);
    sealwire_event_free(await_event(monitor, SEALWIRE_EVENT_READY));
    OK(sealwire_poll(items, count, SEALWIRE_NO_WAIT, &found));
    CHECK(found == 0);

    CHECK(write(pipe_ends[1], "!", 1) == 1);
    OK(sealwire_poll(items, count, TIMEOUT, &found));
    CHECK(found == 1 && items[3].ready == SEALWIRE_POLL_IN);
    char byte;
    CHECK(read(pipe_ends[0], &byte, 1) == 1);

    send_text(req, "question");
    OK(sealwire_poll(items, count, TIMEOUT, &found));
    CHECK(found == 1 && items[1].ready == SEALWIRE_POLL_IN);
    receive_text(rep, "question");
    OK(sealwire_poll(items, count, TIMEOUT, &found));
    CHECK(found == 1 && items[1].ready == SEALWIRE_POLL_OUT);
    send_text(rep, "answer");
    OK(sealwire_poll(items, count, TIMEOUT, &found));
    CHECK(found == 1 && items[4].ready == SEALWIRE_POLL_IN);
    receive_text(req, "answer");

    /* The end is told unasked. */
    close(pipe_ends[1]);
    OK(sealwire_poll(items + 3, 1, TIMEOUT, &found));
    CHECK(found == 1 && items[3].ready == SEALWIRE_POLL_CLOSED);
    close(pipe_ends[0]);
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_poll(items + 3, 1, TIMEOUT, &found));
    OK(sealwire_socket_close(pull));
    items[0].events = 0;
    OK(sealwire_poll(items, 1, TIMEOUT, &found));
    CHECK(found == 1 && items[0].ready == SEALWIRE_POLL_CLOSED);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(pull);
    sealwire_socket_free(rep);
    sealwire_socket_free(push);
    sealwire_socket_free(req);
}

static void own_descriptor(mechanism *with) {
    enum { COUNT = 100 };
    char *endpoint = NULL;
    sealwire_readiness *readiness = NULL, *of_monitor = NULL;
    sealwire_monitor *monitor = NULL;
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, with->server);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, with->client);
    OK(sealwire_monitor_new(pull, &monitor));
    OK(sealwire_readiness_of_monitor(monitor, &of_monitor));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    OK(sealwire_readiness_of_socket(pull, &readiness));
    for (int number = 0; number < COUNT; number++) {
        OK(sealwire_socket_send_bytes(push, &number, sizeof number, TIMEOUT));
    }
    /* One message per wake-up is enough. */
    for (int number = 0; number < COUNT;) {
        CHECK(wait_readable(sealwire_readiness_fd(readiness)));
        if ((sealwire_readiness_take(readiness) & SEALWIRE_POLL_IN) == 0) {
            continue;
        }
        sealwire_message *message = NULL;
        OK(sealwire_socket_recv(pull, SEALWIRE_NO_WAIT, &message));
        CHECK(memcmp(sealwire_message_data(message), &number, sizeof number) == 0);
        sealwire_message_free(message);
        number++;
    }
    OK(sealwire_readiness_rearm(readiness));
    CHECK(wait_readable(sealwire_readiness_fd(readiness)));
    CHECK(sealwire_readiness_take(readiness) == 0);
    CHECK(wait_readable(sealwire_readiness_fd(of_monitor)));
    CHECK(sealwire_readiness_take(of_monitor) == SEALWIRE_POLL_IN);
    sealwire_event *event = NULL;
    OK(sealwire_monitor_next(monitor, SEALWIRE_NO_WAIT, &event));
    CHECK(sealwire_event_kind(event) == SEALWIRE_EVENT_LISTENING);
    sealwire_event_free(event);

    sealwire_socket_free(pull);
    CHECK(wait_readable(sealwire_readiness_fd(readiness)));
    CHECK(sealwire_readiness_take(readiness) == SEALWIRE_POLL_CLOSED);
    sealwire_readiness_free(readiness);
    sealwire_readiness_free(of_monitor);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(push);
    sealwire_string_free(endpoint);
}

static void *wait_until_closed(void *argument) {
    const sealwire_socket *socket = (const sealwire_socket *)argument;
    sealwire_message *message = NULL;
    RETURNS(SEALWIRE_ERROR_CLOSED, sealwire_socket_recv(socket, TIMEOUT, &message));
    sealwire_poll_item item = {socket, NULL, -1, SEALWIRE_POLL_IN, 0};
    OK(sealwire_poll(&item, 1, TIMEOUT, NULL));
    CHECK(item.ready == SEALWIRE_POLL_CLOSED);
    return NULL;
}

/* Closing wakes the threads that wait, in whatever way. */
static void closed_by_another_thread(mechanism *with) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, with->server);
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", NULL));
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, wait_until_closed, pull) == 0);
    }
    OK(sealwire_socket_close(pull));
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    sealwire_socket_free(pull);
}

int main(void) {
    mechanism with = make_mechanism("BLAKE3");
    several(&with);
    own_descriptor(&with);
    closed_by_another_thread(&with);
    free_mechanism(&with);
    return 0;
}
