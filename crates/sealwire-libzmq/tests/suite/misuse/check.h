/* What the programs of this folder share. A program that hangs is ended by its alarm, and one that finds a fault says where. */
#ifndef CHECK_H_INCLUDED
#define CHECK_H_INCLUDED

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>
#include <zmq_sealwire.h>

/* Seconds. Nothing here takes that long unless it is broken. */
#define LIMIT 60

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s (errno %d: %s)\n", __FILE__, __LINE__, #condition, zmq_errno(),            \
                    zmq_strerror(zmq_errno()));                                                                   \
            _exit(1);                                                                                             \
        }                                                                                                         \
    } while (0)

/* A call that gives -1 and this errno. */
#define FAILS(number, call)                                                                                       \
    do {                                                                                                          \
        errno = 0;                                                                                                \
        int result_ = (int) (call);                                                                               \
        CHECK(result_ == -1 && zmq_errno() == (number));                                                          \
    } while (0)

/* A call that gives null and this errno. */
#define GIVES_NULL(number, call)                                                                                  \
    do {                                                                                                          \
        errno = 0;                                                                                                \
        CHECK((call) == NULL && zmq_errno() == (number));                                                         \
    } while (0)

__attribute__((unused)) static void *open_socket(void *context, int type)
{
    int none = 0, limit = LIMIT * 500;
    void *socket = zmq_socket(context, type);
    CHECK(socket != NULL);
    CHECK(zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none) == 0);
    CHECK(zmq_setsockopt(socket, ZMQ_SNDTIMEO, &limit, sizeof limit) == 0);
    CHECK(zmq_setsockopt(socket, ZMQ_RCVTIMEO, &limit, sizeof limit) == 0);
    return socket;
}

__attribute__((unused)) static void bind_anywhere(void *socket, char endpoint[256])
{
    size_t size = 256;
    CHECK(zmq_bind(socket, "tcp://127.0.0.1:*") == 0);
    CHECK(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0);
}

__attribute__((unused)) static void send_text(void *socket, const char *text)
{
    CHECK(zmq_send(socket, text, strlen(text), 0) == (int) strlen(text));
}

__attribute__((unused)) static void receive_text(void *socket, const char *text)
{
    char buffer[256];
    int size = zmq_recv(socket, buffer, sizeof buffer, 0);
    CHECK(size == (int) strlen(text) && memcmp(buffer, text, (size_t) size) == 0);
}

/* A new context whose sockets talk to each other over TCP. */
__attribute__((unused)) static void works_anew(void)
{
    char endpoint[256];
    void *context = zmq_ctx_new();
    CHECK(context != NULL);
    void *pull = open_socket(context, ZMQ_PULL), *push = open_socket(context, ZMQ_PUSH);
    bind_anywhere(pull, endpoint);
    CHECK(zmq_connect(push, endpoint) == 0);
    send_text(push, "made anew");
    receive_text(pull, "made anew");
    CHECK(zmq_close(push) == 0 && zmq_close(pull) == 0);
    CHECK(zmq_ctx_term(context) == 0);
}

#endif
