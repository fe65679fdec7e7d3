/* The same messages with libzmq at the other end: CURVE and NULL, either side the server. */
#include "test.h"

#include <zmq.h>

#define ZMQ_OK(call)                                                                               \
    do {                                                                                           \
        if ((call) < 0) {                                                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, zmq_strerror(zmq_errno()));\
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void *zmq_open(void *context, int type) {
    int timeout = TIMEOUT, linger = 0;
    void *socket = zmq_socket(context, type);
    CHECK(socket != NULL);
    ZMQ_OK(zmq_setsockopt(socket, ZMQ_RCVTIMEO, &timeout, sizeof timeout));
    ZMQ_OK(zmq_setsockopt(socket, ZMQ_SNDTIMEO, &timeout, sizeof timeout));
    ZMQ_OK(zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger));
    return socket;
}

static void zmq_says(void *socket, const char *text) {
    char buffer[100];
    int size = zmq_recv(socket, buffer, sizeof buffer, 0);
    ZMQ_OK(size);
    CHECK((size_t)size == strlen(text) && memcmp(buffer, text, strlen(text)) == 0);
}

static void exchange(const sealwire_socket *ours, void *theirs, int we_ask) {
    for (int round = 0; round < 3; round++) {
        if (we_ask) {
            send_text(ours, "question");
            zmq_says(theirs, "question");
            ZMQ_OK(zmq_send(theirs, "answer", 6, 0));
            receive_text(ours, "answer");
        } else {
            ZMQ_OK(zmq_send(theirs, "question", 8, 0));
            receive_text(ours, "question");
            send_text(ours, "answer");
            zmq_says(theirs, "answer");
        }
    }
}

static void null_mechanism(void *context) {
    char *endpoint = NULL;
    char theirs_at[100];
    size_t size = sizeof theirs_at;
    sealwire_security *none = no_security();
    sealwire_socket *rep = make_socket(SEALWIRE_REP, none);
    void *req = zmq_open(context, ZMQ_REQ);
    OK(sealwire_socket_bind(rep, "tcp://127.0.0.1:0", &endpoint));
    ZMQ_OK(zmq_connect(req, endpoint));
    exchange(rep, req, 0);
    ZMQ_OK(zmq_close(req));
    sealwire_socket_free(rep);
    sealwire_string_free(endpoint);

    sealwire_socket *dealer = make_socket(SEALWIRE_DEALER, none);
    void *other = zmq_open(context, ZMQ_DEALER);
    ZMQ_OK(zmq_bind(other, "tcp://127.0.0.1:*"));
    ZMQ_OK(zmq_getsockopt(other, ZMQ_LAST_ENDPOINT, theirs_at, &size));
    OK(sealwire_socket_connect(dealer, theirs_at));
    exchange(dealer, other, 1);
    ZMQ_OK(zmq_close(other));
    sealwire_socket_free(dealer);
    sealwire_security_free(none);
}

static void curve_we_serve(void *context) {
    char *endpoint = NULL;
    char public_text[41], secret_text[41], server_text[41];
    uint8_t key[SEALWIRE_KEY_SIZE], seen[SEALWIRE_KEY_SIZE];
    sealwire_keys *keys = NULL;
    sealwire_authenticator *list = NULL;
    sealwire_security *security = NULL;
    OK(sealwire_keys_generate(&keys));
    OK(sealwire_keys_public(keys, key));
    OK(sealwire_public_key_to_text(key, server_text));
    ZMQ_OK(zmq_curve_keypair(public_text, secret_text));
    OK(sealwire_public_key_from_text(public_text, key));
    OK(sealwire_authenticator_keys(&list));
    OK(sealwire_authenticator_allow(list, key, "libzmq"));
    OK(sealwire_security_curve_server(keys, list, &security));
    sealwire_socket *rep = make_socket(SEALWIRE_REP, security);
    OK(sealwire_socket_bind(rep, "tcp://127.0.0.1:0", &endpoint));
    void *req = zmq_open(context, ZMQ_REQ);
    ZMQ_OK(zmq_setsockopt(req, ZMQ_CURVE_SERVERKEY, server_text, 40));
    ZMQ_OK(zmq_setsockopt(req, ZMQ_CURVE_PUBLICKEY, public_text, 40));
    ZMQ_OK(zmq_setsockopt(req, ZMQ_CURVE_SECRETKEY, secret_text, 40));
    ZMQ_OK(zmq_connect(req, endpoint));
    exchange(rep, req, 0);
    ZMQ_OK(zmq_send(req, "who am I", 8, 0));
    sealwire_message *message = receive(rep);
    const sealwire_peer *peer = sealwire_message_peer(message);
    CHECK(strcmp(sealwire_peer_user_id(peer), "libzmq") == 0);
    CHECK(strcmp(sealwire_peer_mechanism(peer), "CURVE") == 0);
    OK(sealwire_peer_public_key(peer, seen));
    CHECK(memcmp(seen, key, sizeof key) == 0);
    sealwire_message_free(message);
    ZMQ_OK(zmq_close(req));

    /* A key that is not on the list. */
    sealwire_monitor *monitor = NULL;
    OK(sealwire_monitor_new(rep, &monitor));
    ZMQ_OK(zmq_curve_keypair(public_text, secret_text));
    req = zmq_open(context, ZMQ_REQ);
    ZMQ_OK(zmq_setsockopt(req, ZMQ_CURVE_SERVERKEY, server_text, 40));
    ZMQ_OK(zmq_setsockopt(req, ZMQ_CURVE_PUBLICKEY, public_text, 40));
    ZMQ_OK(zmq_setsockopt(req, ZMQ_CURVE_SECRETKEY, secret_text, 40));
    ZMQ_OK(zmq_connect(req, endpoint));
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REFUSED);
    sealwire_event_free(event);
    sealwire_monitor_free(monitor);
    ZMQ_OK(zmq_close(req));
    sealwire_socket_free(rep);
    sealwire_security_free(security);
    sealwire_authenticator_free(list);
    sealwire_keys_free(keys);
    sealwire_string_free(endpoint);
}

static void as_curve_client(void *socket, const char *server_text) {
    char public_text[41], secret_text[41];
    ZMQ_OK(zmq_curve_keypair(public_text, secret_text));
    ZMQ_OK(zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_text, 40));
    ZMQ_OK(zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, public_text, 40));
    ZMQ_OK(zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, secret_text, 40));
}

/* Our server changes its key: libzmq's clients come with the old and the new one, then with the new one alone. */
static void curve_keys_change(void *context) {
    sealwire_keys *keys[2];
    sealwire_security *first = NULL, *both = NULL, *second = NULL;
    sealwire_authenticator *anyone = NULL;
    uint8_t key[SEALWIRE_KEY_SIZE];
    char text[2][41], *endpoint = NULL;
    for (int i = 0; i < 2; i++) {
        OK(sealwire_keys_generate(&keys[i]));
        OK(sealwire_keys_public(keys[i], key));
        OK(sealwire_public_key_to_text(key, text[i]));
    }
    OK(sealwire_authenticator_anyone(&anyone));
    OK(sealwire_security_curve_server(keys[0], anyone, &first));
    OK(sealwire_security_curve_server(keys[1], anyone, &both));
    OK(sealwire_security_add_keys(both, keys[0]));
    OK(sealwire_security_curve_server(keys[1], anyone, &second));
    sealwire_socket *rep = make_socket(SEALWIRE_REP, first);
    OK(sealwire_socket_bind(rep, "tcp://127.0.0.1:0", &endpoint));
    sealwire_monitor *monitor = NULL;
    OK(sealwire_monitor_new(rep, &monitor));
    void *old = zmq_open(context, ZMQ_REQ);
    as_curve_client(old, text[0]);
    ZMQ_OK(zmq_connect(old, endpoint));
    exchange(rep, old, 0);

    OK(sealwire_socket_reconfigure_endpoint(rep, endpoint, both, NULL, SEALWIRE_WITHDRAWN_END));
    void *other_old = zmq_open(context, ZMQ_REQ), *other_new = zmq_open(context, ZMQ_REQ);
    as_curve_client(other_old, text[0]);
    as_curve_client(other_new, text[1]);
    ZMQ_OK(zmq_connect(other_old, endpoint));
    ZMQ_OK(zmq_connect(other_new, endpoint));
    exchange(rep, old, 0);
    exchange(rep, other_old, 0);
    exchange(rep, other_new, 0);

    /* A socket of libzmq has other keys for what it connects to from then on. */
    as_curve_client(old, text[1]);
    ZMQ_OK(zmq_disconnect(old, endpoint));
    ZMQ_OK(zmq_connect(old, endpoint));
    exchange(rep, old, 0);
    OK(sealwire_socket_reconfigure_endpoint(rep, endpoint, second, NULL, SEALWIRE_WITHDRAWN_END));
    /* One or two connections end: libzmq closes what it has disconnected when its socket is next used. */
    int withdrawn = 0;
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    for (; sealwire_event_cause(event) == SEALWIRE_CAUSE_KEY_WITHDRAWN; withdrawn++) {
        sealwire_event_free(event);
        event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    }
    CHECK(withdrawn == 1 || withdrawn == 2);
    /* It comes again with the key that it knows, which is no good any more. */
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_HANDSHAKE);
    sealwire_event_free(event);
    exchange(rep, old, 0);
    exchange(rep, other_new, 0);

    ZMQ_OK(zmq_close(old));
    ZMQ_OK(zmq_close(other_old));
    ZMQ_OK(zmq_close(other_new));
    sealwire_monitor_free(monitor);
    sealwire_socket_free(rep);
    sealwire_security_free(first);
    sealwire_security_free(both);
    sealwire_security_free(second);
    sealwire_authenticator_free(anyone);
    sealwire_keys_free(keys[0]);
    sealwire_keys_free(keys[1]);
    sealwire_string_free(endpoint);
}

static void curve_they_serve(void *context) {
    char public_text[41], secret_text[41], theirs_at[100];
    size_t size = sizeof theirs_at;
    int on = 1;
    uint8_t key[SEALWIRE_KEY_SIZE];
    sealwire_security *security = NULL;
    ZMQ_OK(zmq_curve_keypair(public_text, secret_text));
    OK(sealwire_public_key_from_text(public_text, key));
    void *rep = zmq_open(context, ZMQ_REP);
    ZMQ_OK(zmq_setsockopt(rep, ZMQ_CURVE_SERVER, &on, sizeof on));
    ZMQ_OK(zmq_setsockopt(rep, ZMQ_CURVE_SECRETKEY, secret_text, 40));
    ZMQ_OK(zmq_bind(rep, "tcp://127.0.0.1:*"));
    ZMQ_OK(zmq_getsockopt(rep, ZMQ_LAST_ENDPOINT, theirs_at, &size));
    OK(sealwire_security_curve_client(key, NULL, &security));
    sealwire_socket *req = make_socket(SEALWIRE_REQ, security);
    OK(sealwire_socket_connect(req, theirs_at));
    exchange(req, rep, 1);
    ZMQ_OK(zmq_close(rep));
    sealwire_socket_free(req);
    sealwire_security_free(security);
}

int main(void) {
    void *context = zmq_ctx_new();
    null_mechanism(context);
    curve_we_serve(context);
    curve_keys_change(context);
    curve_they_serve(context);
    ZMQ_OK(zmq_ctx_term(context));
    return 0;
}
