/* Both ends of a connection, in events and peers: addresses, endpoints, descriptors, and who ended it. */
#include "test.h"

#include <sys/socket.h>

static int begins(const char *text, const char *with) {
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

static void both_ends(const sealwire_security *none) {
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none), *push = make_socket(SEALWIRE_PUSH, none);
    sealwire_monitor *of_pull = NULL, *of_push = NULL;
    char *bound = NULL;
    OK(sealwire_monitor_new(pull, &of_pull));
    OK(sealwire_monitor_new(push, &of_push));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_socket_connect(push, bound));

    sealwire_event *listening = await_event(of_pull, SEALWIRE_EVENT_LISTENING);
    CHECK(strcmp(sealwire_event_local_address(listening), bound) == 0);
    CHECK(sealwire_event_descriptor(listening) >= 0);
    CHECK(!sealwire_event_is_by_peer(listening));

    sealwire_event *accepted = await_event(of_pull, SEALWIRE_EVENT_ACCEPTED);
    sealwire_event *connected = await_event(of_push, SEALWIRE_EVENT_CONNECTED);
    CHECK(strcmp(sealwire_event_local_address(accepted), bound) == 0);
    CHECK(strcmp(sealwire_event_local_address(connected), sealwire_event_address(accepted)) == 0);
    CHECK(strcmp(sealwire_event_address(connected), bound) == 0);
    CHECK(sealwire_event_descriptor(accepted) != sealwire_event_descriptor(connected));
    CHECK(sealwire_event_descriptor(accepted) != sealwire_event_descriptor(listening));
    int is_listening = -1;
    socklen_t size = sizeof is_listening;
    CHECK(getsockopt(sealwire_event_descriptor(listening), SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) == 0);
    CHECK(is_listening == 1);

    sealwire_event *there = await_event(of_pull, SEALWIRE_EVENT_READY);
    sealwire_event *here = await_event(of_push, SEALWIRE_EVENT_READY);
    const sealwire_peer *client = sealwire_event_peer(there), *server = sealwire_event_peer(here);
    CHECK(sealwire_peer_is_accepted(client) && !sealwire_peer_is_accepted(server));
    CHECK(sealwire_peer_descriptor(client) == sealwire_event_descriptor(accepted));
    CHECK(sealwire_peer_descriptor(server) == sealwire_event_descriptor(connected));
    CHECK(strcmp(sealwire_peer_local_address(client), bound) == 0);
    CHECK(strcmp(sealwire_peer_local_address(server), sealwire_peer_address(client)) == 0);
    CHECK(strcmp(sealwire_peer_endpoint(client), bound) == 0);
    CHECK(strcmp(sealwire_peer_endpoint(server), bound) == 0);

    OK(sealwire_socket_disconnect(push, bound));
    sealwire_event *left = await_event(of_push, SEALWIRE_EVENT_DISCONNECTED);
    sealwire_event *ended = await_event(of_pull, SEALWIRE_EVENT_DISCONNECTED);
    CHECK(sealwire_event_is_by_peer(ended));
    CHECK(!sealwire_event_is_by_peer(left));
    CHECK(sealwire_event_descriptor(ended) == sealwire_event_descriptor(accepted));

    sealwire_event *of_each[] = {listening, accepted, connected, there, here, left, ended};
    for (size_t i = 0; i < sizeof of_each / sizeof *of_each; i++) {
        sealwire_event_free(of_each[i]);
    }
    sealwire_monitor_free(of_pull);
    sealwire_monitor_free(of_push);
    sealwire_string_free(bound);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
}

/* Where there is no address and no descriptor. */
static void within_the_process(const sealwire_security *none) {
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none), *push = make_socket(SEALWIRE_PUSH, none);
    OK(sealwire_socket_bind(pull, "inproc://c-events", NULL));
    OK(sealwire_socket_connect(push, "inproc://c-events"));
    send_text(push, "work");
    sealwire_message *message = receive(pull);
    const sealwire_peer *peer = sealwire_message_peer(message);
    CHECK(sealwire_peer_local_address(peer) == NULL);
    CHECK(sealwire_peer_descriptor(peer) == -1);
    CHECK(begins(sealwire_peer_endpoint(peer), "inproc://c-events"));
    sealwire_message_free(message);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
}

static void of_nothing(void) {
    CHECK(sealwire_event_local_address(NULL) == NULL);
    CHECK(sealwire_event_descriptor(NULL) == -1);
    CHECK(!sealwire_event_is_by_peer(NULL));
    CHECK(sealwire_peer_local_address(NULL) == NULL);
    CHECK(sealwire_peer_endpoint(NULL) == NULL);
    CHECK(!sealwire_peer_is_accepted(NULL));
    CHECK(sealwire_peer_descriptor(NULL) == -1);
}

int main(void) {
    sealwire_security *none = no_security();
    both_ends(none);
    within_the_process(none);
    of_nothing();
    sealwire_security_free(none);
    return 0;
}
