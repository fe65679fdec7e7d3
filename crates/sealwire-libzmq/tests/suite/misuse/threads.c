/* Threads that share sockets, which libzmq forbids: nothing ends the process, and no message is corrupt. */
#include "check.h"

#include <inttypes.h>

#define MESSAGES 4000
#define SIZE 64

static void *push, *pull;
static unsigned received;
static uint64_t numbers;

/* A message whose bytes all follow from its number. */
static void fill(unsigned char bytes[SIZE], uint32_t number)
{
    memcpy(bytes, &number, sizeof number);
    for (int i = sizeof number; i < SIZE; i++)
        bytes[i] = (unsigned char) (number * 31 + (uint32_t) i);
}

static void *send_some(void *first)
{
    unsigned char bytes[SIZE];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        fill(bytes, (uint32_t) (uintptr_t) first + i);
        CHECK(zmq_send(push, bytes, SIZE, 0) == SIZE);
    }
    return NULL;
}

static void *receive_some(void *unused)
{
    unsigned char bytes[SIZE], expected[SIZE];
    (void) unused;
    while (__atomic_fetch_add(&received, 1, __ATOMIC_SEQ_CST) < 2 * MESSAGES) {
        uint32_t number;
        CHECK(zmq_recv(pull, bytes, SIZE, 0) == SIZE);
        memcpy(&number, bytes, sizeof number);
        fill(expected, number);
        CHECK(memcmp(bytes, expected, SIZE) == 0);
        __atomic_fetch_add(&numbers, number, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static int over;

/* All else that can be asked of a socket meanwhile. */
static void *disturb(void *unused)
{
    (void) unused;
    while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
        int value = 1000, events;
        size_t size = sizeof events;
        CHECK(zmq_setsockopt(push, ZMQ_SNDHWM, &value, sizeof value) == 0);
        CHECK(zmq_getsockopt(push, ZMQ_EVENTS, &events, &size) == 0);
        zmq_counters_t counters;
        size = sizeof counters;
        CHECK(zmq_getsockopt(push, ZMQ_COUNTERS, &counters, &size) == 0 && counters.size == sizeof counters);
        CHECK(zmq_bind(push, "inproc://disturbed") == 0 && zmq_unbind(push, "inproc://disturbed") == 0);
    }
    return NULL;
}

static void share(void *context, const char *transport)
{
    char endpoint[256];
    size_t size = sizeof endpoint;
    pthread_t threads[5];
    push = open_socket(context, ZMQ_PUSH);
    pull = open_socket(context, ZMQ_PULL);
    CHECK(zmq_bind(pull, transport) == 0);
    CHECK(zmq_getsockopt(pull, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0);
    CHECK(zmq_connect(push, endpoint) == 0);
    numbers = received = 0;
    over = 0;
    CHECK(pthread_create(&threads[4], NULL, disturb, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, send_some, (void *) (uintptr_t) (i * MESSAGES)) == 0);
        CHECK(pthread_create(&threads[2 + i], NULL, receive_some, NULL) == 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(threads[4], NULL) == 0);
    /* Each came once. */
    uint64_t all = 2 * MESSAGES;
    CHECK(numbers == all * (all - 1) / 2);
    CHECK(zmq_close(push) == 0 && zmq_close(pull) == 0);
}

/* Parts of several threads mix; each of them is whole. */
static void *send_parts(void *unused)
{
    unsigned char bytes[SIZE];
    (void) unused;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        fill(bytes, i);
        CHECK(zmq_send(push, bytes, SIZE, i % 4 == 3 ? 0 : ZMQ_SNDMORE) == SIZE);
    }
    return NULL;
}

static void mix(void *context)
{
    pthread_t senders[2];
    push = open_socket(context, ZMQ_PUSH);
    pull = open_socket(context, ZMQ_PULL);
    CHECK(zmq_bind(pull, "inproc://mixed") == 0 && zmq_connect(push, "inproc://mixed") == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&senders[i], NULL, send_parts, NULL) == 0);
    for (int i = 0; i < 2 * MESSAGES; i++) {
        unsigned char bytes[SIZE], expected[SIZE];
        uint32_t number;
        CHECK(zmq_recv(pull, bytes, SIZE, 0) == SIZE);
        memcpy(&number, bytes, sizeof number);
        fill(expected, number);
        CHECK(memcmp(bytes, expected, SIZE) == 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(senders[i], NULL) == 0);
    CHECK(zmq_close(push) == 0 && zmq_close(pull) == 0);
}

/* Each of several threads closes the same socket while others use it: one of them does. */
static void *contested;
static int closed;

static void *use_and_close(void *unused)
{
    char byte;
    (void) unused;
    CHECK(zmq_recv(contested, &byte, 1, ZMQ_DONTWAIT) == -1);
    CHECK(zmq_errno() == EAGAIN || zmq_errno() == ENOTSOCK);
    if (zmq_close(contested) == 0)
        __atomic_fetch_add(&closed, 1, __ATOMIC_SEQ_CST);
    else
        CHECK(zmq_errno() == ENOTSOCK);
    return NULL;
}

int main(void)
{
    alarm(LIMIT);
    void *context = zmq_ctx_new();
    share(context, "tcp://127.0.0.1:*");
    share(context, "inproc://shared");
    mix(context);
    for (int i = 0; i < 200; i++) {
        pthread_t threads[3];
        contested = zmq_socket(context, ZMQ_PULL);
        closed = 0;
        for (int j = 0; j < 3; j++)
            CHECK(pthread_create(&threads[j], NULL, use_and_close, NULL) == 0);
        for (int j = 0; j < 3; j++)
            CHECK(pthread_join(threads[j], NULL) == 0);
        CHECK(closed == 1);
    }
    CHECK(zmq_ctx_term(context) == 0);
    return 0;
}
