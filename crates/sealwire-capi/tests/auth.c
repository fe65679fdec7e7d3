/* Who may connect: callbacks, lists, passwords; and what monitors see of those who may not. */
#include "test.h"

typedef struct {
    uint8_t alice[SEALWIRE_KEY_SIZE];
    int asked;
    int destroyed;
} book;

static void destroy(void *user) {
    __atomic_add_fetch(&((book *)user)->destroyed, 1, __ATOMIC_SEQ_CST);
}

static int count_of(int *count) {
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static void authenticate(const sealwire_client *client, sealwire_decision *decision, void *user) {
    book *known = (book *)user;
    uint8_t key[SEALWIRE_KEY_SIZE];
    size_t size = 0;
    __atomic_add_fetch(&known->asked, 1, __ATOMIC_SEQ_CST);
    OK(sealwire_client_public_key(client, key));
    CHECK(strncmp(sealwire_client_address(client), "tcp://127.0.0.1:", 16) == 0);
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_client_process(client, NULL, NULL, NULL));
    const void *type = sealwire_client_metadata(client, "socket-type", &size);
    CHECK(size == 4 && memcmp(type, "PUSH", 4) == 0);
    if (memcmp(key, known->alice, sizeof key) == 0) {
        OK(sealwire_decision_allow(decision, "alice"));
    } else {
        OK(sealwire_decision_refuse(decision, 400, "not in the book"));
    }
}

static void by_callback(const char *name) {
    int curve = strcmp(name, "CURVE") == 0;
    book known;
    memset(&known, 0, sizeof known);
    sealwire_keys *server_keys = NULL, *alice = NULL;
    sealwire_authenticator *authenticator = NULL;
    sealwire_security *serving = NULL, *as_alice = NULL, *as_mallory = NULL;
    uint8_t server_key[SEALWIRE_KEY_SIZE], seen[SEALWIRE_KEY_SIZE];
    OK(sealwire_keys_generate(&server_keys));
    OK(sealwire_keys_generate(&alice));
    OK(sealwire_keys_public(server_keys, server_key));
    OK(sealwire_keys_public(alice, known.alice));
    OK(sealwire_authenticator_callback(authenticate, &known, destroy, &authenticator));
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_authenticator_allow(authenticator, server_key, NULL));
    if (curve) {
        OK(sealwire_security_curve_server(server_keys, authenticator, &serving));
        OK(sealwire_security_curve_client(server_key, alice, &as_alice));
        OK(sealwire_security_curve_client(server_key, NULL, &as_mallory));
        OK(sealwire_security_add_keys(serving, alice));
        RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_security_add_keys(as_alice, alice));
        CHECK(strstr(sealwire_last_error(), "BLAKE3 or CURVE, and this is a client of CURVE") != NULL);
    } else {
        OK(sealwire_security_blake3_server(server_keys, authenticator, &serving));
        OK(sealwire_security_blake3_client(server_key, alice, &as_alice));
        OK(sealwire_security_blake3_client(server_key, NULL, &as_mallory));
        OK(sealwire_security_add_keys(serving, alice));
        RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_security_add_keys(as_alice, alice));
        CHECK(strstr(sealwire_last_error(), "and this is a client of BLAKE3") != NULL);
    }
    sealwire_authenticator_free(authenticator);
    sealwire_keys_free(server_keys);
    sealwire_keys_free(alice);

    char *endpoint = NULL;
    sealwire_monitor *of_server = NULL, *of_mallory = NULL;
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, serving);
    OK(sealwire_monitor_new(pull, &of_server));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *mallory = make_socket(SEALWIRE_PUSH, as_mallory);
    OK(sealwire_monitor_new(mallory, &of_mallory));
    OK(sealwire_socket_connect(mallory, endpoint));

    sealwire_event *event = await_event(of_server, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REFUSED);
    CHECK(strstr(sealwire_event_text(event), "not in the book") != NULL);
    CHECK(strncmp(sealwire_event_address(event), "tcp://127.0.0.1:", 16) == 0);
    CHECK(sealwire_event_connection(event) > 0 && sealwire_event_peer(event) == NULL);
    sealwire_event_free(event);
    event = await_event(of_mallory, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REFUSED_BY_PEER);
    CHECK(strcmp(sealwire_event_endpoint(event), endpoint) == 0);
    sealwire_event_free(event);
    sealwire_socket_free(mallory);

    sealwire_socket *push = make_socket(SEALWIRE_PUSH, as_alice);
    OK(sealwire_socket_connect(push, endpoint));
    send_text(push, "it is me");
    sealwire_message *message = receive(pull);
    const sealwire_peer *peer = sealwire_message_peer(message);
    CHECK(says(message, "it is me"));
    CHECK(strcmp(sealwire_peer_user_id(peer), "alice") == 0);
    OK(sealwire_peer_public_key(peer, seen));
    CHECK(memcmp(seen, known.alice, sizeof seen) == 0);
    sealwire_message_free(message);
    event = await_event(of_server, SEALWIRE_EVENT_READY);
    CHECK(strcmp(sealwire_peer_user_id(sealwire_event_peer(event)), "alice") == 0);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_NONE);
    sealwire_event_free(event);
    CHECK(count_of(&known.asked) >= 2 && count_of(&known.destroyed) == 0);

    sealwire_monitor_free(of_mallory);
    sealwire_monitor_free(of_server);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_security_free(as_alice);
    sealwire_security_free(as_mallory);
    sealwire_security_free(serving);
    sealwire_string_free(endpoint);
    /* The thread of the I/O lets go of the last connection a little later. */
    for (int i = 0; i < TIMEOUT && count_of(&known.destroyed) == 0; i++) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
    CHECK(count_of(&known.destroyed) == 1);
}

static void wrong_key(const char *name) {
    mechanism with = make_mechanism(name), other = make_mechanism(name);
    char *endpoint = NULL;
    sealwire_monitor *of_server = NULL, *of_client = NULL;
    sealwire_socket *server = make_socket(SEALWIRE_REP, with.server);
    sealwire_socket *client = make_socket(SEALWIRE_REQ, other.client);
    OK(sealwire_monitor_new(server, &of_server));
    OK(sealwire_monitor_new(client, &of_client));
    OK(sealwire_socket_bind(server, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(client, endpoint));
    sealwire_event *event = await_event(of_server, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_HANDSHAKE);
    CHECK(sealwire_event_is_handshake_failure(event));
    sealwire_event_free(event);
    event = await_event(of_client, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_CLOSED_IN_HANDSHAKE);
    CHECK(strstr(sealwire_event_text(event), "key") != NULL);
    sealwire_event_free(event);
    RETURNS(SEALWIRE_ERROR_HANDSHAKE, sealwire_socket_wait_connected(client, 1, 1));
    CHECK(strstr(sealwire_last_error(), "key") != NULL);
    RETURNS(SEALWIRE_ERROR_HANDSHAKE, sealwire_socket_wait_connected(server, 1, SEALWIRE_NO_WAIT));
    event = await_event(of_client, SEALWIRE_EVENT_RETRYING);
    CHECK(strcmp(sealwire_event_endpoint(event), endpoint) == 0);
    sealwire_event_free(event);
    sealwire_monitor_free(of_client);
    sealwire_monitor_free(of_server);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
    free_mechanism(&other);
}

static void by_list(void) {
    char *endpoint = NULL;
    mechanism with = make_mechanism_of_alice();
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, with.server);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, with.client);
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    send_text(push, "listed");
    sealwire_message *message = receive(pull);
    CHECK(strcmp(sealwire_peer_user_id(sealwire_message_peer(message)), "alice") == 0);
    sealwire_message_free(message);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

static void check_password(const char *username, const void *password, size_t size,
                           const sealwire_guest *guest, sealwire_decision *decision, void *user) {
    const char *address = sealwire_guest_address(guest);
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_guest_process(guest, NULL, NULL, NULL));
    CHECK(user == NULL && strncmp(address, "tcp://127.0.0.1:", 16) == 0);
    if (strcmp(username, "alice") == 0 && size == 6 && memcmp(password, "secret", 6) == 0) {
        OK(sealwire_decision_allow(decision, username));
    }
}

static void by_password(void) {
    sealwire_security *serving = NULL, *right = NULL, *wrong = NULL;
    sealwire_monitor *monitor = NULL;
    char *endpoint = NULL;
    OK(sealwire_security_plain_server(check_password, NULL, NULL, &serving));
    OK(sealwire_security_plain_client("alice", "secret", 6, &right));
    OK(sealwire_security_plain_client("alice", "guess", 5, &wrong));
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, serving);
    OK(sealwire_monitor_new(pull, &monitor));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, wrong);
    OK(sealwire_socket_connect(push, endpoint));
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REFUSED);
    sealwire_event_free(event);
    sealwire_socket_free(push);
    push = make_socket(SEALWIRE_PUSH, right);
    OK(sealwire_socket_connect(push, endpoint));
    send_text(push, "let in");
    sealwire_message *message = receive(pull);
    CHECK(strcmp(sealwire_peer_user_id(sealwire_message_peer(message)), "alice") == 0);
    sealwire_message_free(message);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_security_free(serving);
    sealwire_security_free(right);
    sealwire_security_free(wrong);
    sealwire_string_free(endpoint);
}

int main(void) {
    by_callback("BLAKE3");
    by_callback("CURVE");
    wrong_key("BLAKE3");
    wrong_key("CURVE");
    by_list();
    by_password();
    return 0;
}
