/* Sockets that change and end: draining, options and keys that are replaced, closing. */
#include "test.h"

static void draining(void) {
    sealwire_security *none = no_security();
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, none);
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    char *endpoint = NULL;
    OK(sealwire_socket_bind(push, "tcp://127.0.0.1:*", &endpoint));
    OK(sealwire_socket_connect(pull, endpoint));
    for (int i = 0; i < 500; i++) {
        send_text(push, "work");
    }
    receive_text(pull, "work");
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_drain(pull, -1));
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_socket_drain(push, 1000));
    OK(sealwire_socket_drain(pull, 60000));
    int received = 1;
    sealwire_message *message = NULL;
    sealwire_status status;
    while ((status = sealwire_socket_recv(pull, SEALWIRE_WAIT, &message)) == SEALWIRE_OK) {
        sealwire_message_free(message);
        received++;
    }
    CHECK(status == SEALWIRE_ERROR_DRAINED);
    /* What had not left waits for the next worker. */
    sealwire_socket *next = make_socket(SEALWIRE_PULL, none);
    OK(sealwire_socket_connect(next, endpoint));
    for (; received < 500; received++) {
        receive_text(next, "work");
    }
    sealwire_socket_free(next);
    sealwire_socket_free(pull);
    sealwire_socket_free(push);
    sealwire_string_free(endpoint);
    sealwire_security_free(none);
}

/* Each endpoint has the protection that its socket had then. */
static void reconfiguring(void) {
    mechanism with[] = {make_mechanism("BLAKE3"), make_mechanism("BLAKE3")};
    sealwire_socket *client = make_socket(SEALWIRE_DEALER, with[0].client);
    sealwire_socket *servers[2];
    for (int i = 0; i < 2; i++) {
        char *endpoint = NULL;
        servers[i] = make_socket(SEALWIRE_REP, with[i].server);
        OK(sealwire_socket_bind(servers[i], "tcp://127.0.0.1:0", &endpoint));
        OK(sealwire_socket_reconfigure(client, with[i].client, NULL));
        OK(sealwire_socket_connect(client, endpoint));
        sealwire_string_free(endpoint);
    }
    OK(sealwire_socket_wait_connected(client, 2, TIMEOUT));

    /* Limits count at once, those of the moment for all that is not set. */
    sealwire_options *options = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECEIVE_TIMEOUT_MS, 1));
    OK(sealwire_socket_reconfigure(client, NULL, options));
    sealwire_message *message = NULL;
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_recv(client, SEALWIRE_WAIT, &message));

    OK(sealwire_options_set(options, SEALWIRE_OPTION_SPIN_US, 10));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_reconfigure(client, NULL, options));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_reconfigure(NULL, NULL, options));
    sealwire_options_free(options);
    sealwire_socket_free(client);
    for (int i = 0; i < 2; i++) {
        sealwire_socket_free(servers[i]);
        free_mechanism(&with[i]);
    }
}

/* How many messages of this size there is room for, until the queue is full. */
static int fill(const sealwire_socket *socket, size_t size) {
    char body[100] = {0};
    int sent = 0;
    sealwire_status status;
    while ((status = sealwire_socket_send_bytes(socket, body, size, SEALWIRE_NO_WAIT)) == SEALWIRE_OK) {
        sent++;
    }
    CHECK(status == SEALWIRE_ERROR_WOULD_BLOCK);
    return sent;
}

/* What waits for a peer waits in the queue whose limits change, so nothing leaves it meanwhile. */
static void live_limits(void) {
    sealwire_security *none = no_security();
    sealwire_socket *push = NULL;
    sealwire_options *first = options_with_timeouts(), *marks = NULL, *bytes = NULL, *times = NULL;
    OK(sealwire_options_set(first, SEALWIRE_OPTION_SEND_HIGH_WATER_MARK, 2));
    OK(sealwire_options_set(first, SEALWIRE_OPTION_LINGER_MS, INT64_MAX));
    OK(sealwire_socket_new(SEALWIRE_PUSH, none, first, &push));
    OK(sealwire_socket_connect(push, "inproc://live-limits"));
    CHECK(fill(push, 1) == 2);
    OK(sealwire_options_new(&marks));
    OK(sealwire_options_set(marks, SEALWIRE_OPTION_SEND_HIGH_WATER_MARK, 5));
    OK(sealwire_socket_reconfigure(push, NULL, marks));
    CHECK(fill(push, 1) == 3);

    /* A lower budget, with room for messages left, and a higher one. */
    OK(sealwire_options_set(marks, SEALWIRE_OPTION_SEND_HIGH_WATER_MARK, 1000));
    OK(sealwire_options_set(marks, SEALWIRE_OPTION_SEND_BYTE_BUDGET, 1));
    OK(sealwire_socket_reconfigure(push, NULL, marks));
    CHECK(fill(push, 100) == 0);
    OK(sealwire_options_new(&bytes));
    OK(sealwire_options_set(bytes, SEALWIRE_OPTION_SEND_BYTE_BUDGET, 10000));
    OK(sealwire_socket_reconfigure(push, NULL, bytes));
    int more = fill(push, 100);
    CHECK(more > 0 && more < 995);

    /* Without these, sending would take a minute, and closing for ever. */
    OK(sealwire_options_new(&times));
    OK(sealwire_options_set(times, SEALWIRE_OPTION_SEND_TIMEOUT_MS, 1));
    OK(sealwire_options_set(times, SEALWIRE_OPTION_LINGER_MS, 0));
    OK(sealwire_socket_reconfigure(push, NULL, times));
    char body[100] = {0};
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_send_bytes(push, body, sizeof body, SEALWIRE_WAIT));
    CHECK(strstr(sealwire_last_error(), "1ms") != NULL);
    RETURNS(SEALWIRE_ERROR_UNSENT, sealwire_socket_close(push));
    sealwire_counters counters;
    OK(sealwire_socket_counters(push, &counters));
    CHECK(counters.dropped_unsent == (uint64_t)(5 + more));
    sealwire_options *all[] = {first, marks, bytes, times};
    for (int i = 0; i < 4; i++) {
        sealwire_options_free(all[i]);
    }
    sealwire_socket_free(push);
    sealwire_security_free(none);
}

/* What a single type has counts for what is sent from now on. */
static void live_mandatory(void) {
    sealwire_security *none = no_security();
    sealwire_socket *router = make_socket(SEALWIRE_ROUTER, none), *push = make_socket(SEALWIRE_PUSH, none);
    sealwire_options *options = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_socket_bind(router, "tcp://127.0.0.1:0", NULL));
    for (int step = 0; step < 3; step++) {
        sealwire_message *message = NULL;
        int mandatory = step == 1;
        OK(sealwire_options_set(options, SEALWIRE_OPTION_ROUTER_MANDATORY, mandatory));
        OK(sealwire_socket_reconfigure(router, NULL, options));
        OK(sealwire_message_from_bytes("nobody", 6, &message));
        OK(sealwire_message_add(message, "lost", 4));
        if (mandatory) {
            RETURNS(SEALWIRE_ERROR_UNROUTABLE, sealwire_socket_send(router, message, SEALWIRE_WAIT));
            sealwire_message_free(message);
            RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_reconfigure(push, NULL, options));
        } else {
            OK(sealwire_socket_send(router, message, SEALWIRE_WAIT));
        }
    }
    sealwire_options_free(options);
    sealwire_socket_free(push);
    sealwire_socket_free(router);
    sealwire_security_free(none);
}

/* The keys of an endpoint in use: both are good for a while, then the connection under the old one ends. */
static void replacing_keys(const char *name) {
    int curve = strcmp(name, "CURVE") == 0;
    sealwire_keys *keys[2];
    sealwire_security *servers[2] = {NULL, NULL}, *clients[2] = {NULL, NULL};
    sealwire_authenticator *anyone = NULL;
    uint8_t key[2][SEALWIRE_KEY_SIZE], seen[SEALWIRE_KEY_SIZE];
    OK(sealwire_authenticator_anyone(&anyone));
    for (int i = 0; i < 2; i++) {
        OK(sealwire_keys_generate(&keys[i]));
        OK(sealwire_keys_public(keys[i], key[i]));
        if (curve) {
            OK(sealwire_security_curve_server(keys[i], anyone, &servers[i]));
            OK(sealwire_security_curve_client(key[i], NULL, &clients[i]));
        } else {
            OK(sealwire_security_blake3_server(keys[i], anyone, &servers[i]));
            OK(sealwire_security_blake3_client(key[i], NULL, &clients[i]));
        }
    }
    char *endpoint = NULL;
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, servers[0]);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, clients[0]);
    sealwire_monitor *monitor = NULL;
    OK(sealwire_monitor_new(pull, &monitor));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    send_text(push, "under the old key");
    sealwire_message *message = receive(pull);
    OK(sealwire_peer_local_key(sealwire_message_peer(message), seen));
    CHECK(memcmp(seen, key[0], sizeof seen) == 0);
    sealwire_message_free(message);

    OK(sealwire_security_add_keys(servers[1], keys[0]));
    OK(sealwire_socket_reconfigure_endpoint(pull, endpoint, servers[1], NULL, SEALWIRE_WITHDRAWN_END));
    sealwire_socket *other = make_socket(SEALWIRE_PUSH, clients[1]);
    OK(sealwire_socket_connect(other, endpoint));
    send_text(other, "under the new key");
    message = receive(pull);
    OK(sealwire_peer_local_key(sealwire_message_peer(message), seen));
    CHECK(memcmp(seen, key[1], sizeof seen) == 0);
    sealwire_message_free(message);
    send_text(push, "still under the old one");
    receive_text(pull, "still under the old one");

    sealwire_security_free(servers[1]);
    OK((curve ? sealwire_security_curve_server : sealwire_security_blake3_server)(keys[1], anyone, &servers[1]));
    OK(sealwire_socket_reconfigure_endpoint(push, endpoint, clients[1], NULL, SEALWIRE_WITHDRAWN_STAY));
    OK(sealwire_socket_reconfigure_endpoint(pull, endpoint, servers[1], NULL, SEALWIRE_WITHDRAWN_END));
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_KEY_WITHDRAWN);
    CHECK(strcmp(sealwire_event_cause_name(event), "key_withdrawn") == 0);
    sealwire_event_free(event);
    send_text(push, "again");
    receive_text(pull, "again");

    /* What is not given stays. */
    sealwire_options *options = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_MAX_CONNECTIONS, 7));
    OK(sealwire_socket_reconfigure_endpoint(pull, endpoint, NULL, options, SEALWIRE_WITHDRAWN_END));
    OK(sealwire_socket_reconfigure_endpoint(pull, endpoint, NULL, NULL, SEALWIRE_WITHDRAWN_END));
    send_text(push, "on");
    receive_text(pull, "on");
    sealwire_options_free(options);

    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_reconfigure_endpoint(pull, endpoint, NULL, NULL, 2));
    RETURNS(SEALWIRE_ERROR_UNKNOWN_ENDPOINT,
            sealwire_socket_reconfigure_endpoint(pull, "tcp://127.0.0.1:9", NULL, NULL, 0));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_reconfigure_endpoint(pull, NULL, NULL, NULL, 0));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_reconfigure_endpoint(NULL, endpoint, NULL, NULL, 0));
    OK(sealwire_socket_bind(pull, "inproc://replacing-keys", NULL));
    RETURNS(SEALWIRE_ERROR_TRANSPORT,
            sealwire_socket_reconfigure_endpoint(pull, "inproc://replacing-keys", NULL, NULL, 0));
    sealwire_monitor_free(monitor);
    sealwire_socket_free(other);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_string_free(endpoint);
    sealwire_authenticator_free(anyone);
    for (int i = 0; i < 2; i++) {
        sealwire_keys_free(keys[i]);
        sealwire_security_free(servers[i]);
        sealwire_security_free(clients[i]);
    }
}

static void closing(void) {
    sealwire_security *none = no_security();
    sealwire_options *options = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_LINGER_MS, 0));
    sealwire_context *context = NULL;
    OK(sealwire_context_new(&context));
    OK(sealwire_options_set_context(options, context));
    sealwire_context_free(context);
    sealwire_socket *push = NULL;
    OK(sealwire_socket_new(SEALWIRE_PUSH, none, options, &push));
    OK(sealwire_socket_connect(push, "inproc://nobody"));
    send_text(push, "never read");
    RETURNS(SEALWIRE_ERROR_UNSENT, sealwire_socket_close(push));
    RETURNS(SEALWIRE_ERROR_CLOSED, sealwire_socket_send_bytes(push, "", 0, SEALWIRE_WAIT));
    sealwire_socket_free(push);
    sealwire_options_free(options);
    sealwire_security_free(none);
}

/* The option's time would be longer than the test. */
static void closing_at_once(void) {
    sealwire_security *none = no_security();
    sealwire_options *options = NULL;
    sealwire_monitor *monitor = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_LINGER_MS, INT64_MAX));
    sealwire_socket *push = NULL;
    OK(sealwire_socket_new(SEALWIRE_PUSH, none, options, &push));
    OK(sealwire_monitor_new(push, &monitor));
    OK(sealwire_socket_connect(push, "tcp://127.0.0.1:1"));
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_CONNECT);
    CHECK(strcmp(sealwire_event_cause_name(event), "connect") == 0);
    CHECK(!sealwire_event_is_handshake_failure(event));
    sealwire_event_free(event);
    event = await_event(monitor, SEALWIRE_EVENT_RETRYING);
    CHECK(sealwire_event_cause_name(event) == NULL && sealwire_event_cause_name(NULL) == NULL);
    CHECK(!sealwire_event_is_handshake_failure(event) && !sealwire_event_is_handshake_failure(NULL));
    sealwire_event_free(event);
    send_text(push, "to");
    send_text(push, "nobody");
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_close_with_linger(push, -1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_close_with_linger(NULL, 0));
    RETURNS(SEALWIRE_ERROR_UNSENT, sealwire_socket_close_with_linger(push, 0));
    sealwire_counters counters;
    OK(sealwire_socket_counters(push, &counters));
    CHECK(counters.dropped_unsent == 2);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(push);
    sealwire_options_free(options);
    sealwire_security_free(none);
}

int main(void) {
    draining();
    reconfiguring();
    live_limits();
    live_mandatory();
    replacing_keys("BLAKE3");
    replacing_keys("CURVE");
    closing();
    closing_at_once();
    return 0;
}
