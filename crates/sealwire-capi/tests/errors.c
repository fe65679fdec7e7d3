/* Every error has its number and its text; bad arguments are errors and write nothing. */
#include "test.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pointer that no call may write to unless it succeeds. */
#define UNTOUCHED(type) ((type *)(uintptr_t)0x5ea1)

static void texts(void) {
    const int32_t numbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  10, 11, 12, 13, 14, 15,
                               16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31,
                               32, 33, 40, 41, 42, 50, 51, 52, 53, 54, 55, 56, 57,
                               58, 60, 61, 62, 63, 64};
    size_t count = sizeof numbers / sizeof numbers[0];
    const char *unknown = sealwire_status_text(12345);
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(sealwire_status_text(numbers[i]), unknown) != 0);
        for (size_t other = 0; other < i; other++) {
            CHECK(strcmp(sealwire_status_text(numbers[i]), sealwire_status_text(numbers[other])) != 0);
        }
    }
    CHECK(strcmp(sealwire_status_text(-1), unknown) == 0);
    CHECK(strcmp(sealwire_last_error(), "") == 0);
    CHECK(strncmp(sealwire_version(), "0.", 2) == 0);
}

static void nulls(const sealwire_security *none) {
    const sealwire_status expected = SEALWIRE_ERROR_NULL;
    uint8_t bytes[64] = {0};
    char text[SEALWIRE_KEY_TEXT_SIZE];
    uint32_t number = 0;
    size_t size = 0;
    sealwire_keys *keys = UNTOUCHED(sealwire_keys);
    sealwire_security *security = UNTOUCHED(sealwire_security);
    sealwire_socket *made = UNTOUCHED(sealwire_socket);
    sealwire_message *message = UNTOUCHED(sealwire_message);
    sealwire_event *event = UNTOUCHED(sealwire_event);
    sealwire_monitor *monitor = UNTOUCHED(sealwire_monitor);
    sealwire_readiness *readiness = UNTOUCHED(sealwire_readiness);
    sealwire_authenticator *authenticator = UNTOUCHED(sealwire_authenticator);

    RETURNS(expected, sealwire_context_new(NULL));
    RETURNS(expected, sealwire_options_new(NULL));
    RETURNS(expected, sealwire_options_set(NULL, SEALWIRE_OPTION_LINGER_MS, 1));
    RETURNS(expected, sealwire_options_set_bytes(NULL, SEALWIRE_OPTION_ROUTING_ID, "x", 1));
    RETURNS(expected, sealwire_options_add_metadata(NULL, "name", "x", 1));
    RETURNS(expected, sealwire_options_set_socks_proxy(NULL, "host", 1, NULL, NULL, 0));
    RETURNS(expected, sealwire_options_allow_ws_origin(NULL, "https://a"));
    RETURNS(expected, sealwire_options_allow_any_ws_origin(NULL));
    RETURNS(expected, sealwire_options_allow_ws_host(NULL, "a"));
    RETURNS(expected, sealwire_options_set_connection_rate(NULL, 1, 1));
    RETURNS(expected, sealwire_options_set_context(NULL, NULL));
    RETURNS(expected, sealwire_options_set_admit(NULL, NULL, NULL, NULL));
    RETURNS(expected, sealwire_guest_process(NULL, NULL, NULL, NULL));
    CHECK(sealwire_guest_address(NULL) == NULL);

    RETURNS(expected, sealwire_keys_generate(NULL));
    RETURNS(expected, sealwire_keys_from_bytes(NULL, &keys));
    RETURNS(expected, sealwire_keys_from_bytes(bytes, NULL));
    RETURNS(expected, sealwire_keys_from_text(NULL, &keys));
    RETURNS(expected, sealwire_keys_read(NULL, &keys));
    RETURNS(expected, sealwire_keys_write(NULL, "stem"));
    RETURNS(expected, sealwire_keys_write_czmq(NULL, "stem"));
    RETURNS(expected, sealwire_keys_public(NULL, bytes));
    RETURNS(expected, sealwire_keys_secret(NULL, bytes));
    RETURNS(expected, sealwire_public_key_from_text(NULL, bytes));
    RETURNS(expected, sealwire_public_key_to_text(NULL, text));
    RETURNS(expected, sealwire_public_key_to_text(bytes, NULL));
    RETURNS(expected, sealwire_public_key_read(NULL, bytes));
    CHECK(keys == UNTOUCHED(sealwire_keys));

    RETURNS(expected, sealwire_authenticator_anyone(NULL));
    RETURNS(expected, sealwire_authenticator_keys(NULL));
    RETURNS(expected, sealwire_authenticator_file(NULL, &authenticator));
    RETURNS(expected, sealwire_authenticator_callback(NULL, NULL, NULL, &authenticator));
    RETURNS(expected, sealwire_authenticator_allow(NULL, bytes, NULL));
    RETURNS(expected, sealwire_client_public_key(NULL, bytes));
    RETURNS(expected, sealwire_decision_allow(NULL, NULL));
    RETURNS(expected, sealwire_decision_refuse(NULL, 400, "no"));
    CHECK(authenticator == UNTOUCHED(sealwire_authenticator));

    RETURNS(expected, sealwire_security_plain_text(NULL));
    RETURNS(expected, sealwire_security_blake3_server(NULL, NULL, &security));
    RETURNS(expected, sealwire_security_blake3_client(NULL, NULL, &security));
    RETURNS(expected, sealwire_security_curve_server(NULL, NULL, &security));
    RETURNS(expected, sealwire_security_curve_client(NULL, NULL, &security));
    RETURNS(expected, sealwire_security_curve_server_accepting_gaps_unauthenticated_order(
                          NULL, NULL, &security));
    RETURNS(expected, sealwire_security_curve_client_accepting_gaps_unauthenticated_order(
                          NULL, NULL, &security));
    RETURNS(expected, sealwire_security_plain_client(NULL, "x", 1, &security));
    RETURNS(expected, sealwire_security_plain_client("x", NULL, 1, &security));
    RETURNS(expected, sealwire_security_plain_server(NULL, NULL, NULL, &security));
    RETURNS(expected, sealwire_security_plain_server_file(NULL, &security));
    RETURNS(expected, sealwire_security_add_keys(NULL, NULL));
    CHECK(security == UNTOUCHED(sealwire_security));
    OK(sealwire_keys_generate(&keys));
    /* A server has to say who may connect. */
    RETURNS(expected, sealwire_security_blake3_server(keys, NULL, &security));
    RETURNS(expected, sealwire_security_curve_server(keys, NULL, &security));
    sealwire_keys_free(keys);

    /* A socket has to say how it is protected, also when that failed before. */
    RETURNS(expected, sealwire_socket_new(SEALWIRE_REQ, NULL, NULL, &made));
    CHECK(strstr(sealwire_last_error(), "sealwire_security_plain_text") != NULL);
    RETURNS(expected, sealwire_socket_new(SEALWIRE_REQ, none, NULL, NULL));
    CHECK(made == UNTOUCHED(sealwire_socket));
    RETURNS(expected, sealwire_socket_bind(NULL, "inproc://x", NULL));
    RETURNS(expected, sealwire_socket_connect(NULL, "inproc://x"));
    RETURNS(expected, sealwire_socket_connect_peer(NULL, "inproc://x", &number));
    RETURNS(expected, sealwire_socket_unbind(NULL, "inproc://x"));
    RETURNS(expected, sealwire_socket_unbind_and_disconnect(NULL, "inproc://x"));
    RETURNS(expected, sealwire_socket_disconnect(NULL, "inproc://x"));
    RETURNS(expected, sealwire_socket_send(NULL, NULL, 0));
    RETURNS(expected, sealwire_socket_send_bytes(NULL, "x", 1, 0));
    RETURNS(expected, sealwire_socket_send_many(NULL, NULL, 0, 0, &size));
    RETURNS(expected, sealwire_socket_recv(NULL, 0, &message));
    RETURNS(expected, sealwire_socket_recv_many(NULL, &message, 1, 0, &size));
    RETURNS(expected, sealwire_socket_subscribe(NULL, "x", 1));
    RETURNS(expected, sealwire_socket_unsubscribe(NULL, "x", 1));
    RETURNS(expected, sealwire_socket_join(NULL, "x", 1));
    RETURNS(expected, sealwire_socket_leave(NULL, "x", 1));
    RETURNS(expected, sealwire_socket_counters(NULL, NULL));
    RETURNS(expected, sealwire_socket_close(NULL));
    CHECK(sealwire_socket_peers(NULL) == 0);
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    RETURNS(expected, sealwire_socket_bind(pull, NULL, NULL));
    RETURNS(expected, sealwire_socket_send(pull, NULL, 0));
    RETURNS(expected, sealwire_socket_send_many(pull, NULL, 1, 0, &size));
    RETURNS(expected, sealwire_socket_send_many(pull, NULL, 0, 0, NULL));
    sealwire_message *none_of_them[1] = {NULL};
    size = 7;
    RETURNS(expected, sealwire_socket_send_many(pull, none_of_them, 1, 0, &size));
    CHECK(size == 0);
    RETURNS(expected, sealwire_socket_recv(pull, 0, NULL));
    RETURNS(expected, sealwire_socket_recv_many(pull, NULL, 1, 0, &size));
    RETURNS(expected, sealwire_socket_counters(pull, NULL));
    RETURNS(expected, sealwire_monitor_new(pull, NULL));
    RETURNS(expected, sealwire_readiness_of_socket(pull, NULL));
    sealwire_socket_free(pull);

    RETURNS(expected, sealwire_message_new(NULL));
    RETURNS(expected, sealwire_message_from_bytes(NULL, 1, &message));
    RETURNS(expected, sealwire_message_from_bytes("x", 1, NULL));
    RETURNS(expected, sealwire_message_from_buffer(NULL, 1, NULL, NULL, &message));
    RETURNS(expected, sealwire_message_clone(NULL, &message));
    RETURNS(expected, sealwire_message_add(NULL, "x", 1));
    RETURNS(expected, sealwire_message_add_buffer(NULL, bytes, 1, NULL, NULL));
    RETURNS(expected, sealwire_message_with_routing_id(1, NULL, 1, &message));
    RETURNS(expected, sealwire_message_to_group(NULL, 1, "x", 1, &message));
    RETURNS(expected, sealwire_message_routing_id(NULL, &number));
    CHECK(message == UNTOUCHED(sealwire_message));
    CHECK(sealwire_message_frames(NULL) == 0 && sealwire_message_data(NULL) == NULL);
    CHECK(sealwire_message_size(NULL) == 0 && sealwire_message_peer(NULL) == NULL);

    RETURNS(expected, sealwire_peer_public_key(NULL, bytes));
    RETURNS(expected, sealwire_peer_local_key(NULL, bytes));
    RETURNS(expected, sealwire_peer_routing_id(NULL, NULL, &size));
    RETURNS(expected, sealwire_peer_process(NULL, NULL, NULL, NULL));
    CHECK(sealwire_peer_user_id(NULL) == NULL && sealwire_peer_address(NULL) == NULL);
    CHECK(sealwire_peer_mechanism(NULL) == NULL && sealwire_peer_connection(NULL) == 0);
    CHECK(sealwire_peer_connection_routing_id(NULL) == 0 && sealwire_peer_metadata(NULL, "x", &size) == NULL);

    RETURNS(expected, sealwire_monitor_new(NULL, &monitor));
    RETURNS(expected, sealwire_monitor_next(NULL, 0, &event));
    CHECK(sealwire_monitor_lost(NULL) == 0);
    CHECK(sealwire_event_kind(NULL) == -1 && sealwire_event_cause(NULL) == -1);
    CHECK(sealwire_event_text(NULL) == NULL && sealwire_event_endpoint(NULL) == NULL);
    CHECK(sealwire_event_address(NULL) == NULL && sealwire_event_connection(NULL) == 0);
    CHECK(sealwire_event_peer(NULL) == NULL);
    RETURNS(expected, sealwire_readiness_of_socket(NULL, &readiness));
    RETURNS(expected, sealwire_readiness_of_monitor(NULL, &readiness));
    RETURNS(expected, sealwire_readiness_rearm(NULL));
    CHECK(sealwire_readiness_fd(NULL) == -1 && sealwire_readiness_take(NULL) == 0);
    RETURNS(expected, sealwire_poll(NULL, 1, 0, &size));
    CHECK(event == UNTOUCHED(sealwire_event) && monitor == UNTOUCHED(sealwire_monitor));
    CHECK(readiness == UNTOUCHED(sealwire_readiness));
}

static void frees_of_nothing(void) {
    sealwire_context_free(NULL);
    sealwire_options_free(NULL);
    sealwire_keys_free(NULL);
    sealwire_string_free(NULL);
    sealwire_authenticator_free(NULL);
    sealwire_security_free(NULL);
    sealwire_socket_free(NULL);
    sealwire_message_free(NULL);
    sealwire_monitor_free(NULL);
    sealwire_event_free(NULL);
    sealwire_readiness_free(NULL);
    sealwire_aead_stream_free(NULL);
    sealwire_aead_opener_free(NULL);
    sealwire_rpc_client_free(NULL);
    sealwire_rpc_server_free(NULL);
    sealwire_rpc_conn_free(NULL);
    sealwire_rpc_request_free(NULL);
    sealwire_rpc_reply_free(NULL);
    sealwire_rpc_error_free(NULL);
}

static void arguments(const sealwire_security *none) {
    const sealwire_status expected = SEALWIRE_ERROR_ARGUMENT;
    sealwire_options *options = NULL;
    sealwire_socket *socket = UNTOUCHED(sealwire_socket);
    sealwire_message *message = UNTOUCHED(sealwire_message);
    sealwire_security *security = UNTOUCHED(sealwire_security);
    size_t count = 0;
    char long_text[300];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';

    OK(sealwire_options_new(&options));
    RETURNS(expected, sealwire_options_set(options, SEALWIRE_OPTION_LINGER_MS, -2));
    RETURNS(expected, sealwire_options_set(options, SEALWIRE_OPTION_CONFLATE, 2));
    RETURNS(expected, sealwire_options_set(options, SEALWIRE_OPTION_TYPE_OF_SERVICE, 256));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_options_set(options, 0, 1));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_options_set(options, SEALWIRE_OPTION_ROUTING_ID, 1));
    RETURNS(SEALWIRE_ERROR_OPTION,
            sealwire_options_set_bytes(options, SEALWIRE_OPTION_LINGER_MS, "x", 1));
    RETURNS(expected, sealwire_options_set_bytes(options, SEALWIRE_OPTION_ZAP_DOMAIN, "\xff", 1));
    RETURNS(expected, sealwire_options_set_connection_rate(options, 1, -1));

    RETURNS(expected, sealwire_socket_new(21, none, NULL, &socket));
    RETURNS(expected, sealwire_socket_new(-1, none, NULL, &socket));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_REQ_RELAXED, 1));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_new(SEALWIRE_PUSH, none, options, &socket));
    CHECK(socket == UNTOUCHED(sealwire_socket));
    sealwire_options_free(options);
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set_bytes(options, SEALWIRE_OPTION_ROUTING_ID, long_text, 256));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_new(SEALWIRE_PUSH, none, options, &socket));
    sealwire_options_free(options);

    RETURNS(expected, sealwire_security_plain_client(long_text, "x", 1, &security));
    RETURNS(expected, sealwire_security_plain_client("x", long_text, 256, &security));
    CHECK(security == UNTOUCHED(sealwire_security));
    RETURNS(expected, sealwire_message_from_bytes("x", SIZE_MAX, &message));
    RETURNS(expected, sealwire_message_to_group("", 0, "x", 1, &message));
    RETURNS(expected, sealwire_message_to_group(long_text, 256, "x", 1, &message));

    socket = make_socket(SEALWIRE_PULL, none);
    RETURNS(expected, sealwire_socket_recv(socket, -2, &message));
    RETURNS(expected, sealwire_socket_recv_many(socket, &message, 0, 0, &count));
    RETURNS(expected, sealwire_socket_send_many(socket, NULL, 0, -2, &count));
    RETURNS(expected, sealwire_socket_bind(socket, "inproc://\xff", NULL));
    CHECK(message == UNTOUCHED(sealwire_message));
    sealwire_socket_free(socket);

    sealwire_poll_item item = {NULL, NULL, -1, SEALWIRE_POLL_IN, 77};
    RETURNS(expected, sealwire_poll(&item, 1, 0, &count));
    item.fd = 1;
    item.events = 8;
    RETURNS(expected, sealwire_poll(&item, 1, 0, &count));
    CHECK(item.ready == 77);
}

static void sockets(sealwire_security *none) {
    sealwire_message *message = UNTOUCHED(sealwire_message);
    sealwire_event *event = UNTOUCHED(sealwire_event);
    sealwire_monitor *monitor = NULL;
    char *endpoint = NULL;
    sealwire_options *options = NULL;
    sealwire_socket *full = NULL;

    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    OK(sealwire_monitor_new(pull, &monitor));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_monitor_next(monitor, SEALWIRE_NO_WAIT, &event));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_monitor_next(monitor, 1, &event));
    CHECK(event == UNTOUCHED(sealwire_event));
    RETURNS(SEALWIRE_ERROR_ENDPOINT, sealwire_socket_bind(pull, "nonsense", NULL));
    RETURNS(SEALWIRE_ERROR_ENDPOINT, sealwire_socket_connect(pull, "tcp://*:1"));
    RETURNS(SEALWIRE_ERROR_TRANSPORT, sealwire_socket_bind(pull, "udp://127.0.0.1:0", NULL));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *second = make_socket(SEALWIRE_PULL, none);
    RETURNS(SEALWIRE_ERROR_BIND, sealwire_socket_bind(second, endpoint, NULL));
    sealwire_socket_free(second);
    RETURNS(SEALWIRE_ERROR_UNKNOWN_ENDPOINT, sealwire_socket_unbind(pull, "inproc://other"));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_socket_recv(pull, SEALWIRE_NO_WAIT, &message));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_recv(pull, 1, &message));
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_socket_send_bytes(pull, "x", 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_socket_subscribe(pull, "x", 1));
    OK(sealwire_socket_close(pull));
    RETURNS(SEALWIRE_ERROR_CLOSED, sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
    RETURNS(SEALWIRE_ERROR_CLOSED, sealwire_socket_connect(pull, endpoint));
    sealwire_socket_free(pull);
    CHECK(message == UNTOUCHED(sealwire_message));
    for (;;) {
        sealwire_status status = sealwire_monitor_next(monitor, SEALWIRE_WAIT, &event);
        if (status == SEALWIRE_ERROR_ENDED) {
            break;
        }
        OK(status);
        sealwire_event_free(event);
    }
    sealwire_monitor_free(monitor);

    sealwire_socket *req = make_socket(SEALWIRE_REQ, none);
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_socket_recv(req, SEALWIRE_WAIT, &message));
    sealwire_socket *rep = make_socket(SEALWIRE_REP, none);
    OK(sealwire_socket_bind(rep, "inproc://lost", NULL));
    OK(sealwire_socket_connect(req, "inproc://lost"));
    send_text(req, "question");
    receive_text(rep, "question");
    sealwire_socket_free(rep);
    RETURNS(SEALWIRE_ERROR_REQUEST_LOST, sealwire_socket_recv(req, SEALWIRE_WAIT, &message));
    sealwire_socket_free(req);

    sealwire_socket *router = make_socket(SEALWIRE_ROUTER, none);
    OK(sealwire_message_new(&message));
    RETURNS(SEALWIRE_ERROR_MESSAGE, sealwire_socket_send(router, message, SEALWIRE_WAIT));
    sealwire_message_free(message);
    sealwire_socket_free(router);
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_ROUTER_MANDATORY, 1));
    OK(sealwire_socket_new(SEALWIRE_ROUTER, none, options, &router));
    RETURNS(SEALWIRE_ERROR_UNROUTABLE, sealwire_socket_send_bytes(router, "x", 1, SEALWIRE_WAIT));
    sealwire_socket_free(router);
    sealwire_options_free(options);

    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_SEND_HIGH_WATER_MARK, 1));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_LINGER_MS, 0));
    OK(sealwire_socket_new(SEALWIRE_PUSH, none, options, &full));
    OK(sealwire_socket_connect(full, "inproc://nobody"));
    send_text(full, "in the queue");
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_socket_send_bytes(full, "x", 1, SEALWIRE_NO_WAIT));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_send_bytes(full, "x", 1, 1));
    RETURNS(SEALWIRE_ERROR_UNSENT, sealwire_socket_close(full));
    sealwire_socket_free(full);
    sealwire_options_free(options);

    /* Connecting to where nobody listens ends after the first attempt, if asked to. */
    sealwire_socket *peer = NULL;
    uint32_t routing_id = 0;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECONNECT_STOP, 15));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_SEND_TIMEOUT_MS, TIMEOUT));
    OK(sealwire_socket_new(SEALWIRE_PEER, none, options, &peer));
    RETURNS(SEALWIRE_ERROR_GAVE_UP, sealwire_socket_connect_peer(peer, endpoint, &routing_id));
    sealwire_socket_free(peer);
    sealwire_options_free(options);

    /* `udp` resolves names here and now. */
    sealwire_socket *radio = make_socket(SEALWIRE_RADIO, none);
    RETURNS(SEALWIRE_ERROR_CONNECT, sealwire_socket_connect(radio, "udp://host.invalid:5555"));
    sealwire_socket_free(radio);

    /* Topics have a limit. */
    sealwire_socket *sub = make_socket(SEALWIRE_SUB, none);
    size_t size = (size_t)17 << 20;
    void *topic = calloc(1, size);
    CHECK(topic != NULL);
    RETURNS(SEALWIRE_ERROR_LIMIT, sealwire_socket_subscribe(sub, topic, size));
    free(topic);
    sealwire_socket_free(sub);
    sealwire_string_free(endpoint);
}

static void keys(const char *directory) {
    char stem[1000], path[1010], text[SEALWIRE_KEY_TEXT_SIZE];
    uint8_t public_key[32], again[32], secret[32];
    sealwire_keys *made = NULL, *read = NULL;
    OK(sealwire_keys_generate(&made));
    OK(sealwire_keys_public(made, public_key));
    OK(sealwire_public_key_to_text(public_key, text));
    CHECK(strlen(text) == 40);
    OK(sealwire_public_key_from_text(text, again));
    CHECK(memcmp(public_key, again, 32) == 0);
    OK(sealwire_keys_secret(made, secret));
    OK(sealwire_keys_from_bytes(secret, &read));
    OK(sealwire_keys_public(read, again));
    CHECK(memcmp(public_key, again, 32) == 0);
    sealwire_keys_free(read);
    /* The published pair of libzmq's CURVE documentation. */
    OK(sealwire_keys_from_text("D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs", &read));
    OK(sealwire_keys_public(read, again));
    OK(sealwire_public_key_to_text(again, text));
    CHECK(strcmp(text, "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID") == 0);
    sealwire_keys_free(read);

    read = UNTOUCHED(sealwire_keys);
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_keys_from_text("too short", &read));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_keys_from_text("\xff", &read));
    memset(again, 0xff, sizeof again);
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_public_key_to_text(again, text));
    snprintf(stem, sizeof stem, "%s/alice", directory);
    OK(sealwire_keys_write(made, stem));
    RETURNS(SEALWIRE_ERROR_KEY_FILE, sealwire_keys_write(made, stem));
    OK(sealwire_keys_write_czmq(made, "czmq"));
    snprintf(path, sizeof path, "%s.pub", stem);
    OK(sealwire_public_key_read(path, again));
    CHECK(memcmp(public_key, again, 32) == 0);
    RETURNS(SEALWIRE_ERROR_KEY_FILE, sealwire_keys_read("/nowhere/at/all", &read));
    snprintf(path, sizeof path, "%s.key", stem);
    CHECK(chmod(path, 0644) == 0);
    RETURNS(SEALWIRE_ERROR_KEY_FILE_PERMISSIONS, sealwire_keys_read(path, &read));
    CHECK(read == UNTOUCHED(sealwire_keys));
    CHECK(chmod(path, 0600) == 0);
    OK(sealwire_keys_read(path, &read));
    sealwire_keys_free(read);
    sealwire_keys_free(made);
    sealwire_authenticator *list = NULL;
    OK(sealwire_authenticator_file("alice.pub", &list));
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_authenticator_allow(list, public_key, NULL));
    sealwire_authenticator_free(list);
}

/* Without descriptors the system refuses, and says so. */
static void system_limits(const sealwire_security *none) {
    struct rlimit limit;
    sealwire_context *context = UNTOUCHED(sealwire_context);
    sealwire_readiness *readiness = UNTOUCHED(sealwire_readiness);
    sealwire_socket *socket = make_socket(SEALWIRE_PULL, none);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    struct rlimit none_left = {3, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none_left) == 0);
    RETURNS(SEALWIRE_ERROR_SYSTEM, sealwire_context_new(&context));
    RETURNS(SEALWIRE_ERROR_SYSTEM, sealwire_readiness_of_socket(socket, &readiness));
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(context == UNTOUCHED(sealwire_context));
    CHECK(readiness == UNTOUCHED(sealwire_readiness));
    sealwire_socket_free(socket);
}

int main(int count, char **arguments_) {
    sealwire_security *none = no_security();
    texts();
    nulls(none);
    frees_of_nothing();
    arguments(none);
    sockets(none);
    char directory[] = "/tmp/sealwire-capi-XXXXXX";
    CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
    keys(directory);
    const char *made[] = {"alice.pub", "alice.key", "czmq.key", "czmq.key_secret"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        CHECK(unlink(made[i]) == 0);
    }
    CHECK(rmdir(directory) == 0);
    /* Under valgrind, which needs descriptors itself, this one is left out. */
    if (count == 1) {
        system_limits(none);
    } else {
        CHECK(strcmp(arguments_[1], "under-valgrind") == 0);
    }
    sealwire_security_free(none);
    return 0;
}
