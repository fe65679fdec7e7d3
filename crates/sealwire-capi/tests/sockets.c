/* The types of sockets over BLAKE3, CURVE and none; who a peer is; closing. */
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static void one_way(mechanism *with, int32_t receiver, int32_t sender) {
    char *endpoint = NULL;
    sealwire_socket *server = make_socket(receiver, with->server);
    sealwire_socket *client = make_socket(sender, with->client);
    OK(sealwire_socket_bind(server, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(client, endpoint));
    send_text(client, "work");
    sealwire_message *message = receive(server);
    const sealwire_peer *peer = sealwire_message_peer(message);
    CHECK(says(message, "work"));
    CHECK(strcmp(sealwire_peer_mechanism(peer), with->name) == 0);
    CHECK(strncmp(sealwire_peer_address(peer), "tcp://127.0.0.1:", 16) == 0);
    CHECK(sealwire_peer_user_id(peer) == NULL);
    CHECK(sealwire_peer_connection(peer) > 0);
    uint8_t key[SEALWIRE_KEY_SIZE];
    int proved = strcmp(with->name, "NULL") != 0;
    RETURNS(proved ? SEALWIRE_OK : SEALWIRE_ERROR_UNSUPPORTED, sealwire_peer_public_key(peer, key));
    RETURNS(proved ? SEALWIRE_OK : SEALWIRE_ERROR_UNSUPPORTED, sealwire_peer_local_key(peer, key));
    /* A message outlives its socket. */
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    CHECK(says(message, "work"));
    CHECK(strcmp(sealwire_peer_mechanism(peer), with->name) == 0);
    sealwire_message_free(message);
    sealwire_string_free(endpoint);
}

static void both_ways(mechanism *with, int32_t bound, int32_t connected) {
    char *endpoint = NULL;
    sealwire_socket *server = make_socket(bound, with->server);
    sealwire_socket *client = make_socket(connected, with->client);
    OK(sealwire_socket_bind(server, "tcp://127.0.0.1:*", &endpoint));
    OK(sealwire_socket_connect(client, endpoint));
    for (int round = 0; round < 3; round++) {
        send_text(client, "question");
        receive_text(server, "question");
        send_text(server, "answer");
        receive_text(client, "answer");
    }
    CHECK(sealwire_socket_peers(server) == 1);
    sealwire_counters counters;
    OK(sealwire_socket_counters(client, &counters));
    CHECK(counters.messages_sent == 3 && counters.messages_received == 3);
    CHECK(counters.handshakes_completed == 1 && counters.handshakes_failed == 0);
    OK(sealwire_socket_disconnect(client, endpoint));
    RETURNS(SEALWIRE_ERROR_UNKNOWN_ENDPOINT, sealwire_socket_disconnect(client, endpoint));
    OK(sealwire_socket_unbind(server, endpoint));
    RETURNS(SEALWIRE_ERROR_UNKNOWN_ENDPOINT, sealwire_socket_unbind(server, endpoint));
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
}

static sealwire_message *datagram(const char *address, const char *text) {
    sealwire_message *message = NULL;
    OK(sealwire_message_from_bytes(address, strlen(address), &message));
    OK(sealwire_message_add(message, text, strlen(text)));
    return message;
}

/* A datagram that was refused is the caller's still. */
static void refused_datagram(const sealwire_socket *dgram, sealwire_status status, sealwire_message *message) {
    RETURNS(status, sealwire_socket_send(dgram, message, SEALWIRE_WAIT));
    sealwire_message_free(message);
}

/* They go to a plain socket and come from it, with its address in front. */
static void datagrams(void) {
    sealwire_security *none = no_security();
    sealwire_socket *dgram = make_socket(SEALWIRE_DGRAM, none);
    sealwire_message *message = NULL;
    struct sockaddr_in here, there;
    struct timeval limit = {TIMEOUT / 1000, 0};
    socklen_t size = sizeof here;
    char address[64], buffer[64], *bound = NULL;
    int plain = socket(AF_INET, SOCK_DGRAM, 0);
    memset(&here, 0, sizeof here);
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(plain != -1 && setsockopt(plain, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(bind(plain, (struct sockaddr *)&here, sizeof here) == 0);
    CHECK(getsockname(plain, (struct sockaddr *)&here, &size) == 0);
    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(here.sin_port));
    refused_datagram(dgram, SEALWIRE_ERROR_STATE, datagram(address, "early"));
    OK(sealwire_socket_bind(dgram, "udp://127.0.0.1:0", &bound));
    there = here;
    there.sin_port = htons((uint16_t)atoi(strrchr(bound, ':') + 1));
    CHECK(sendto(plain, "hello", 5, 0, (struct sockaddr *)&there, sizeof there) == 5);
    message = receive(dgram);
    CHECK(sealwire_message_frames(message) == 2 && says(message, "hello"));
    CHECK(sealwire_message_frame_size(message, 0) == strlen(address));
    CHECK(memcmp(sealwire_message_frame(message, 0), address, strlen(address)) == 0);
    sealwire_message_free(message);
    OK(sealwire_socket_send(dgram, datagram(address, "welcome"), SEALWIRE_WAIT));
    struct sockaddr_in from;
    size = sizeof from;
    CHECK(recvfrom(plain, buffer, sizeof buffer, 0, (struct sockaddr *)&from, &size) == 7);
    CHECK(memcmp(buffer, "welcome", 7) == 0 && from.sin_port == there.sin_port);
    refused_datagram(dgram, SEALWIRE_ERROR_MESSAGE, datagram("127.0.0.1:0", "nobody"));
    OK(sealwire_message_from_bytes("no address", 10, &message));
    refused_datagram(dgram, SEALWIRE_ERROR_MESSAGE, message);
    RETURNS(SEALWIRE_ERROR_TRANSPORT, sealwire_socket_connect(dgram, "udp://127.0.0.1:9"));
    CHECK(close(plain) == 0);
    sealwire_string_free(bound);
    sealwire_socket_free(dgram);
    sealwire_security_free(none);
}

static void unbind_with_peers(void) {
    sealwire_security *none = no_security();
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, none);
    OK(sealwire_socket_bind(pull, "inproc://left", NULL));
    OK(sealwire_socket_connect(push, "inproc://left"));
    CHECK(sealwire_socket_peers(pull) == 1);
    OK(sealwire_socket_unbind_and_disconnect(pull, "inproc://left"));
    CHECK(sealwire_socket_peers(pull) == 0);
    CHECK(sealwire_socket_peers(push) == 0);
    RETURNS(SEALWIRE_ERROR_UNKNOWN_ENDPOINT, sealwire_socket_unbind_and_disconnect(pull, "inproc://left"));
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_security_free(none);
}

static void publish(mechanism *with) {
    char *endpoint = NULL;
    sealwire_socket *publisher = make_socket(SEALWIRE_XPUB, with->server);
    sealwire_socket *subscriber = make_socket(SEALWIRE_SUB, with->client);
    OK(sealwire_socket_bind(publisher, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_subscribe(subscriber, "news", 4));
    OK(sealwire_socket_connect(subscriber, endpoint));
    receive_text(publisher, "\x01" "news");
    sealwire_message *message = NULL;
    OK(sealwire_message_from_bytes("weather", 7, &message));
    OK(sealwire_socket_send(publisher, message, SEALWIRE_WAIT));
    OK(sealwire_message_from_bytes("news of today", 13, &message));
    OK(sealwire_message_add(message, "body", 4));
    OK(sealwire_socket_send(publisher, message, SEALWIRE_WAIT));
    message = receive(subscriber);
    CHECK(sealwire_message_frames(message) == 2 && says(message, "body"));
    CHECK(sealwire_message_frame_size(message, 0) == 13);
    CHECK(memcmp(sealwire_message_frame(message, 0), "news of today", 13) == 0);
    CHECK(sealwire_message_frame(message, 2) == NULL);
    sealwire_message_free(message);
    OK(sealwire_socket_unsubscribe(subscriber, "news", 4));
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_socket_unsubscribe(subscriber, "news", 4));
    sealwire_socket_free(subscriber);
    sealwire_socket_free(publisher);
    sealwire_string_free(endpoint);
}

/* Who is waited for misses nothing; who does not come is told of. */
static void waited_for(mechanism *with) {
    char *endpoint = NULL;
    sealwire_monitor *monitor = NULL;
    sealwire_socket *publisher = make_socket(SEALWIRE_PUB, with->server);
    sealwire_socket *subscriber = make_socket(SEALWIRE_SUB, with->client);
    OK(sealwire_monitor_new(publisher, &monitor));
    OK(sealwire_socket_bind(publisher, "tcp://127.0.0.1:0", &endpoint));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_wait_connected(publisher, 1, SEALWIRE_NO_WAIT));
    CHECK(strstr(sealwire_last_error(), "no peer was connected") != NULL);
    OK(sealwire_socket_connect(subscriber, endpoint));
    OK(sealwire_socket_wait_connected(publisher, 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_wait_subscribed(publisher, "news", 4, 1, 20));
    OK(sealwire_socket_subscribe(subscriber, "ne", 2));
    OK(sealwire_socket_wait_subscribed(publisher, "news", 4, 1, TIMEOUT));
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_SUBSCRIBED);
    CHECK(sealwire_event_peer(event) != NULL);
    sealwire_event_free(event);
    sealwire_monitor_free(monitor);
    send_text(publisher, "news of today");
    receive_text(subscriber, "news of today");
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_socket_wait_subscribed(subscriber, "", 0, 1, 1));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_wait_connected(publisher, 1, -2));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_wait_connected(NULL, 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_wait_subscribed(publisher, NULL, 1, 1, SEALWIRE_WAIT));
    sealwire_socket_free(subscriber);
    sealwire_socket_free(publisher);
    sealwire_string_free(endpoint);
}

static void addressed(mechanism *with) {
    char *endpoint = NULL;
    sealwire_socket *router = make_socket(SEALWIRE_ROUTER, with->server);
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *dealer = NULL;
    OK(sealwire_options_set_bytes(options, SEALWIRE_OPTION_ROUTING_ID, "dealer", 6));
    OK(sealwire_options_add_metadata(options, "X-Colour", "blue", 4));
    OK(sealwire_socket_new(SEALWIRE_DEALER, with->client, options, &dealer));
    sealwire_options_free(options);
    OK(sealwire_socket_bind(router, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(dealer, endpoint));
    send_text(dealer, "question");
    sealwire_message *message = receive(router);
    CHECK(sealwire_message_frames(message) == 2 && says(message, "question"));
    CHECK(memcmp(sealwire_message_frame(message, 0), "dealer", 6) == 0);
    const void *id = NULL;
    size_t size = 0;
    OK(sealwire_peer_routing_id(sealwire_message_peer(message), &id, &size));
    CHECK(size == 6 && memcmp(id, "dealer", 6) == 0);
    const void *colour = sealwire_peer_metadata(sealwire_message_peer(message), "x-colour", &size);
    CHECK(size == 4 && memcmp(colour, "blue", 4) == 0);
    CHECK(sealwire_peer_metadata(sealwire_message_peer(message), "X-Other", NULL) == NULL);
    sealwire_message_free(message);
    OK(sealwire_message_from_bytes("dealer", 6, &message));
    OK(sealwire_message_add(message, "answer", 6));
    OK(sealwire_socket_send(router, message, SEALWIRE_WAIT));
    receive_text(dealer, "answer");
    sealwire_socket_free(dealer);
    sealwire_socket_free(router);
    sealwire_string_free(endpoint);
}

static void by_routing_id(mechanism *with) {
    char *endpoint = NULL;
    uint32_t number = 0;
    sealwire_socket *server = make_socket(SEALWIRE_SERVER, with->server);
    sealwire_socket *client = make_socket(SEALWIRE_PEER, with->client);
    sealwire_socket *peer = make_socket(SEALWIRE_PEER, with->server);
    OK(sealwire_socket_bind(peer, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect_peer(client, endpoint, &number));
    sealwire_message *message = NULL;
    OK(sealwire_message_with_routing_id(number, "question", 8, &message));
    OK(sealwire_socket_send(client, message, SEALWIRE_WAIT));
    message = receive(peer);
    CHECK(says(message, "question"));
    OK(sealwire_message_routing_id(message, &number));
    CHECK(number == sealwire_peer_connection_routing_id(sealwire_message_peer(message)));
    sealwire_message_free(message);
    OK(sealwire_message_with_routing_id(number + 1, "nobody", 6, &message));
    RETURNS(SEALWIRE_ERROR_UNROUTABLE, sealwire_socket_send(peer, message, SEALWIRE_WAIT));
    /* What was not sent is still the caller's. */
    CHECK(says(message, "nobody"));
    sealwire_message_free(message);
    sealwire_socket_free(peer);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
}

static void groups(mechanism *with) {
    char *endpoint = NULL;
    sealwire_socket *dish = make_socket(SEALWIRE_DISH, with->server);
    sealwire_socket *radio = make_socket(SEALWIRE_RADIO, with->client);
    OK(sealwire_socket_bind(dish, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_join(dish, "sports", 6));
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_socket_join(dish, "sports", 6));
    OK(sealwire_socket_connect(radio, endpoint));
    /* The radio drops what nobody has joined yet, so it goes on until somebody has. */
    sealwire_message *received = NULL;
    sealwire_status status = SEALWIRE_ERROR_TIMED_OUT;
    for (int attempt = 0; attempt < TIMEOUT / 20 && status == SEALWIRE_ERROR_TIMED_OUT; attempt++) {
        sealwire_message *message = NULL;
        OK(sealwire_message_to_group("sports", 6, "goal", 4, &message));
        OK(sealwire_socket_send(radio, message, SEALWIRE_WAIT));
        status = sealwire_socket_recv(dish, 20, &received);
    }
    CHECK(status == SEALWIRE_OK && says(received, "goal"));
    CHECK(memcmp(sealwire_message_frame(received, 0), "sports", 6) == 0);
    sealwire_message_free(received);
    OK(sealwire_socket_leave(dish, "sports", 6));
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_socket_leave(dish, "sports", 6));
    sealwire_socket_free(radio);
    sealwire_socket_free(dish);
    sealwire_string_free(endpoint);
}

static sealwire_message *numbered(int number) {
    sealwire_message *message = NULL;
    OK(sealwire_message_from_bytes(&number, sizeof number, &message));
    return message;
}

static void many_at_a_time(mechanism *with) {
    enum { SINGLE = 100, COUNT = 900, CAPACITY = 64 };
    char *endpoint = NULL;
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, with->server);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, with->client);
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    for (int number = 0; number < SINGLE; number++) {
        OK(sealwire_socket_send_bytes(push, &number, sizeof number, TIMEOUT));
    }
    sealwire_message *batch[CAPACITY];
    size_t sent = 0;
    for (int number = SINGLE, size = 0; number < COUNT; number += size) {
        size = number + CAPACITY < COUNT ? CAPACITY : COUNT - number;
        for (int i = 0; i < size; i++) {
            batch[i] = numbered(number + i);
        }
        OK(sealwire_socket_send_many(push, batch, (size_t)size, TIMEOUT, &sent));
        CHECK(sent == (size_t)size);
        for (int i = 0; i < size; i++) {
            CHECK(batch[i] == NULL);
        }
    }
    OK(sealwire_socket_send_many(push, NULL, 0, SEALWIRE_NO_WAIT, &sent));
    CHECK(sent == 0);
    int next = 0;
    while (next < COUNT) {
        sealwire_message *messages[CAPACITY];
        size_t count = 0;
        OK(sealwire_socket_recv_many(pull, messages, CAPACITY, TIMEOUT, &count));
        CHECK(count > 0 && count <= CAPACITY);
        for (size_t i = 0; i < count; i++, next++) {
            CHECK(memcmp(sealwire_message_data(messages[i]), &next, sizeof next) == 0);
            sealwire_message_free(messages[i]);
        }
    }
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_string_free(endpoint);
}

/* Those that went belong to the library, the others to the caller. */
static void part_of_a_batch(mechanism *with) {
    char *endpoint = NULL;
    size_t sent = 7;
    sealwire_message *batch[] = {numbered(0), numbered(1), numbered(2)};
    sealwire_socket *rep = make_socket(SEALWIRE_REP, with->server);
    sealwire_socket *req = make_socket(SEALWIRE_REQ, with->client);
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK,
            sealwire_socket_send_many(req, batch, 3, SEALWIRE_NO_WAIT, &sent));
    CHECK(sent == 0);
    sent = 7;
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_send_many(req, batch, 3, 20, &sent));
    CHECK(sent == 0);
    OK(sealwire_socket_bind(rep, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(req, endpoint));
    const int64_t waits[] = {SEALWIRE_WAIT, SEALWIRE_NO_WAIT, TIMEOUT};
    for (int i = 0; i < 3; i++) {
        sealwire_status expected = i < 2 ? SEALWIRE_ERROR_STATE : SEALWIRE_OK;
        RETURNS(expected, sealwire_socket_send_many(req, batch + i, (size_t)(3 - i), waits[i], &sent));
        CHECK(sent == 1 && batch[i] == NULL);
        for (int left = i + 1; left < 3; left++) {
            CHECK(memcmp(sealwire_message_data(batch[left]), &left, sizeof left) == 0);
        }
        sealwire_message *request = receive(rep);
        CHECK(memcmp(sealwire_message_data(request), &i, sizeof i) == 0);
        OK(sealwire_socket_send(rep, request, SEALWIRE_WAIT));
        sealwire_message_free(receive(req));
    }
    /* One without frames cannot be sent. */
    OK(sealwire_message_new(&batch[1]));
    batch[0] = numbered(0);
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_socket_send_many(rep, batch, 2, TIMEOUT, &sent));
    CHECK(sent == 0 && batch[0] != NULL);
    RETURNS(SEALWIRE_ERROR_MESSAGE, sealwire_socket_send_many(req, batch, 2, TIMEOUT, &sent));
    CHECK(sent == 1 && batch[0] == NULL && sealwire_message_frames(batch[1]) == 0);
    for (int i = 0; i < 3; i++) {
        sealwire_message_free(batch[i]);
    }
    sealwire_socket_free(req);
    sealwire_socket_free(rep);
    sealwire_string_free(endpoint);
}

typedef struct {
    sealwire_socket *frontend, *backend, *capture, *control;
    sealwire_status status;
} device;

static void *run(void *argument) {
    device *between = (device *)argument;
    between->status =
        sealwire_proxy(between->frontend, between->backend, between->capture, between->control);
    return NULL;
}

static void proxies(mechanism *with) {
    sealwire_security *none = no_security();
    char *front = NULL;
    pthread_t thread;
    device between = {make_socket(SEALWIRE_ROUTER, with->server), make_socket(SEALWIRE_DEALER, none),
                      make_socket(SEALWIRE_PUSH, none), make_socket(SEALWIRE_REP, none), -1};
    sealwire_socket *seen = make_socket(SEALWIRE_PULL, none);
    sealwire_socket *operator_ = make_socket(SEALWIRE_REQ, none);
    sealwire_socket *client = make_socket(SEALWIRE_REQ, with->client);
    sealwire_socket *worker = make_socket(SEALWIRE_REP, none);
    OK(sealwire_socket_bind(between.frontend, "tcp://127.0.0.1:0", &front));
    OK(sealwire_socket_bind(between.backend, "inproc://back", NULL));
    OK(sealwire_socket_bind(between.control, "inproc://control", NULL));
    OK(sealwire_socket_bind(seen, "inproc://seen", NULL));
    OK(sealwire_socket_connect(between.capture, "inproc://seen"));
    OK(sealwire_socket_connect(operator_, "inproc://control"));
    OK(sealwire_socket_connect(client, front));
    OK(sealwire_socket_connect(worker, "inproc://back"));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_proxy(NULL, between.backend, NULL, NULL));
    CHECK(pthread_create(&thread, NULL, run, &between) == 0);
    send_text(client, "question");
    receive_text(worker, "question");
    send_text(worker, "answer");
    receive_text(client, "answer");
    receive_text(seen, "question");
    receive_text(seen, "answer");
    send_text(operator_, "TERMINATE");
    sealwire_message_free(receive(operator_));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(between.status);
    /* Without a socket for commands, closing one of the two ends it. */
    sealwire_socket *sockets[] = {between.capture, between.control, operator_};
    between.capture = between.control = NULL;
    CHECK(pthread_create(&thread, NULL, run, &between) == 0);
    send_text(client, "question");
    receive_text(worker, "question");
    OK(sealwire_socket_close(between.frontend));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(between.status == SEALWIRE_ERROR_CLOSED);
    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; i++) {
        sealwire_socket_free(sockets[i]);
    }
    sealwire_socket_free(client);
    sealwire_socket_free(worker);
    sealwire_socket_free(seen);
    sealwire_socket_free(between.frontend);
    sealwire_socket_free(between.backend);
    sealwire_string_free(front);
    sealwire_security_free(none);
}

int main(void) {
    const char *names[] = {"NULL", "BLAKE3", "CURVE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mechanism with = make_mechanism(names[i]);
        one_way(&with, SEALWIRE_PULL, SEALWIRE_PUSH);
        one_way(&with, SEALWIRE_GATHER, SEALWIRE_SCATTER);
        both_ways(&with, SEALWIRE_REP, SEALWIRE_REQ);
        both_ways(&with, SEALWIRE_PAIR, SEALWIRE_PAIR);
        both_ways(&with, SEALWIRE_DEALER, SEALWIRE_DEALER);
        both_ways(&with, SEALWIRE_CHANNEL, SEALWIRE_CHANNEL);
        publish(&with);
        waited_for(&with);
        addressed(&with);
        by_routing_id(&with);
        groups(&with);
        many_at_a_time(&with);
        part_of_a_batch(&with);
        proxies(&with);
        free_mechanism(&with);
    }
    unbind_with_peers();
    datagrams();
    return 0;
}
