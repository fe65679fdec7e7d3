/* Messages of several parts from one thread to another, over TCP: multipart PARTS SIZE COUNT. */
#include "zmq.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parts, size, count;
static void *context;
static char endpoint[256];

static void *sender(void *unused)
{
    void *socket = zmq_socket(context, ZMQ_PUSH);
    char *body = calloc(1, (size_t) size + 1);
    assert(socket && body && zmq_connect(socket, endpoint) == 0);
    for (int message = 0; message < count; message++)
        for (int part = 1; part <= parts; part++)
            assert(zmq_send(socket, body, (size_t) size, part < parts ? ZMQ_SNDMORE : 0) == size);
    zmq_close(socket);
    free(body);
    return unused;
}

static void receive(void *socket)
{
    zmq_msg_t message;
    for (int part = 1; part <= parts; part++) {
        zmq_msg_init(&message);
        assert(zmq_msg_recv(&message, socket, 0) == size);
        assert(zmq_msg_more(&message) == (part < parts));
        zmq_msg_close(&message);
    }
}

int main(int count_of_arguments, char **arguments)
{
    assert(count_of_arguments == 4);
    parts = atoi(arguments[1]);
    size = atoi(arguments[2]);
    count = atoi(arguments[3]);
    context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_PULL);
    size_t length = sizeof endpoint;
    assert(zmq_bind(socket, "tcp://127.0.0.1:*") == 0);
    assert(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &length) == 0);
    pthread_t thread;
    assert(pthread_create(&thread, NULL, sender, NULL) == 0);
    receive(socket);
    void *watch = zmq_stopwatch_start();
    for (int message = 1; message < count; message++)
        receive(socket);
    unsigned long elapsed = zmq_stopwatch_stop(watch);
    printf("mean throughput: %.0f [msg/s]\n", (count - 1) * 1e6 / elapsed);
    pthread_join(thread, NULL);
    zmq_close(socket);
    zmq_ctx_term(context);
    return 0;
}
