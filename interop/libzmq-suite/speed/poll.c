/* One message at a time through one of several connections, found by zmq_poll: poll SOCKETS COUNT. */
#include "zmq.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count_of_arguments, char **arguments)
{
    assert(count_of_arguments == 3);
    int sockets = atoi(arguments[1]), count = atoi(arguments[2]);
    void *context = zmq_ctx_new();
    void **senders = calloc((size_t) sockets, sizeof *senders);
    zmq_pollitem_t *items = calloc((size_t) sockets, sizeof *items);
    assert(senders && items);
    for (int index = 0; index < sockets; index++) {
        char endpoint[256];
        size_t length = sizeof endpoint;
        items[index].socket = zmq_socket(context, ZMQ_PULL);
        items[index].events = ZMQ_POLLIN;
        assert(zmq_bind(items[index].socket, "tcp://127.0.0.1:*") == 0);
        assert(zmq_getsockopt(items[index].socket, ZMQ_LAST_ENDPOINT, endpoint, &length) == 0);
        senders[index] = zmq_socket(context, ZMQ_PUSH);
        assert(zmq_connect(senders[index], endpoint) == 0);
    }
    void *watch = NULL;
    /* The first message of each connection waits for its handshake. */
    for (int message = -sockets; message < count; message++) {
        int index = (message + sockets) % sockets;
        char body[64] = {0};
        if (message == 0)
            watch = zmq_stopwatch_start();
        assert(zmq_send(senders[index], body, sizeof body, 0) == sizeof body);
        assert(zmq_poll(items, sockets, -1) == 1 && items[index].revents == ZMQ_POLLIN);
        assert(zmq_recv(items[index].socket, body, sizeof body, 0) == sizeof body);
    }
    unsigned long elapsed = zmq_stopwatch_stop(watch);
    printf("mean throughput: %.0f [msg/s]\n", count * 1e6 / elapsed);
    for (int index = 0; index < sockets; index++) {
        zmq_close(items[index].socket);
        zmq_close(senders[index]);
    }
    zmq_ctx_term(context);
    return 0;
}
