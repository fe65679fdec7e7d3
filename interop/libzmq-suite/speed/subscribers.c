/* Each message to all of many subscribers, over TCP: subscribers SUBSCRIBERS COUNT. Prints copies. */
#include "zmq.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int count_of_arguments, char **arguments)
{
    assert(count_of_arguments == 3);
    int subscribers = atoi(arguments[1]), count = atoi(arguments[2]);
    struct rlimit descriptors;
    assert(getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
    descriptors.rlim_cur = descriptors.rlim_max;
    assert(setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
    void *context = zmq_ctx_new();
    assert(zmq_ctx_set(context, ZMQ_MAX_SOCKETS, subscribers + 1) == 0);
    /* A publisher that sees subscriptions knows when all are there. */
    void *publisher = zmq_socket(context, ZMQ_XPUB);
    void **sockets = calloc((size_t) subscribers, sizeof *sockets);
    int all = 1, backlog = subscribers;
    char endpoint[256], body[64] = {0};
    size_t length = sizeof endpoint;
    assert(publisher && sockets);
    assert(zmq_setsockopt(publisher, ZMQ_XPUB_VERBOSE, &all, sizeof all) == 0);
    assert(zmq_setsockopt(publisher, ZMQ_BACKLOG, &backlog, sizeof backlog) == 0);
    assert(zmq_bind(publisher, "tcp://127.0.0.1:*") == 0);
    assert(zmq_getsockopt(publisher, ZMQ_LAST_ENDPOINT, endpoint, &length) == 0);
    for (int index = 0; index < subscribers; index++) {
        sockets[index] = zmq_socket(context, ZMQ_SUB);
        assert(sockets[index] && zmq_setsockopt(sockets[index], ZMQ_SUBSCRIBE, "", 0) == 0);
        assert(zmq_connect(sockets[index], endpoint) == 0);
    }
    for (int index = 0; index < subscribers; index++)
        assert(zmq_recv(publisher, body, sizeof body, 0) == 1);
    void *watch = zmq_stopwatch_start();
    for (int message = 0; message < count; message++) {
        assert(zmq_send(publisher, body, sizeof body, 0) == sizeof body);
        for (int index = 0; index < subscribers; index++)
            assert(zmq_recv(sockets[index], body, sizeof body, 0) == sizeof body);
    }
    unsigned long elapsed = zmq_stopwatch_stop(watch);
    printf("mean throughput: %.0f [msg/s]\n", (double) count * subscribers * 1e6 / elapsed);
    for (int index = 0; index < subscribers; index++)
        zmq_close(sockets[index]);
    zmq_close(publisher);
    zmq_ctx_term(context);
    return 0;
}
