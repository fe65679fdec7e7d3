/* The libzmq peer's view of its connections, as libzmq tells it. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "zmq_peer.h"

static const struct {
    uint16_t event;
    const char *name;
} NAMES[] = {
    { ZMQ_EVENT_CONNECTED, "connected" },
    { ZMQ_EVENT_ACCEPTED, "accepted" },
    { ZMQ_EVENT_HANDSHAKE_SUCCEEDED, "handshake" },
    { ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, "handshake_broken" },
    { ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, "handshake_protocol" },
    { ZMQ_EVENT_HANDSHAKE_FAILED_AUTH, "handshake_refused" },
    { ZMQ_EVENT_DISCONNECTED, "disconnected" },
    { ZMQ_EVENT_CONNECT_RETRIED, "retry" },
};

static void print_events(void *events)
{
    for (;;) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        /* The number of the event and its value, then the endpoint in a part of its own. */
        if (zmq_msg_recv(&message, events, 0) < 0)
            break;
        uint16_t event;
        uint32_t value;
        memcpy(&event, zmq_msg_data(&message), sizeof event);
        memcpy(&value, (char *) zmq_msg_data(&message) + sizeof event, sizeof value);
        zmq_msg_close(&message);
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, events, 0) < 0)
            break;
        zmq_msg_close(&message);
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
            if (NAMES[i].event == event) {
                printf("{\"event\": \"%s\", \"value\": %u}\n", NAMES[i].name, value);
                fflush(stdout);
            }
        if (event == ZMQ_EVENT_MONITOR_STOPPED)
            break;
    }
    zmq_close(events);
}

void watch(void *context)
{
    void *events = zmq_socket(context, ZMQ_PAIR);
    check(zmq_socket_monitor(sock, "inproc://events", ZMQ_EVENT_ALL), "monitor");
    check(zmq_connect(events, "inproc://events"), "monitor");
    zmq_threadstart(print_events, events);
}
