/* Lists of peers: who is connected, and what each of them makes this process hold. */
#include "test.h"

#include <pthread.h>

/* A client that the server knows by this name. */
typedef struct {
    const char *name;
    uint8_t key[SEALWIRE_KEY_SIZE];
    sealwire_security *security;
} client_identity;

/* A server that lets these in. */
static sealwire_security *server_of(client_identity *clients, size_t count) {
    sealwire_keys *server_keys = NULL;
    sealwire_authenticator *list = NULL;
    sealwire_security *server = NULL;
    uint8_t server_key[SEALWIRE_KEY_SIZE];
    OK(sealwire_keys_generate(&server_keys));
    OK(sealwire_keys_public(server_keys, server_key));
    OK(sealwire_authenticator_keys(&list));
    for (size_t i = 0; i < count; i++) {
        sealwire_keys *keys = NULL;
        OK(sealwire_keys_generate(&keys));
        OK(sealwire_keys_public(keys, clients[i].key));
        OK(sealwire_authenticator_allow(list, clients[i].key, clients[i].name));
        OK(sealwire_security_blake3_client(server_key, keys, &clients[i].security));
        sealwire_keys_free(keys);
    }
    OK(sealwire_security_blake3_server(server_keys, list, &server));
    sealwire_authenticator_free(list);
    sealwire_keys_free(server_keys);
    return server;
}

/* The peer of this name; NULL where the list has none. */
static const sealwire_peer *find(const sealwire_peers *peers, const char *name) {
    for (size_t i = 0; i < sealwire_peers_size(peers); i++) {
        const sealwire_peer *peer = sealwire_peers_at(peers, i);
        if (strcmp(sealwire_peer_user_id(peer), name) == 0) {
            return peer;
        }
    }
    return NULL;
}

static uint64_t held(const sealwire_peer *peer, int32_t kind) {
    uint64_t bytes = UINT64_MAX;
    OK(sealwire_peer_held(peer, kind, &bytes));
    return bytes;
}

/* Name, key, address and connection belong to one peer. */
static const sealwire_peer *is_there(const sealwire_peers *peers, const client_identity *client) {
    uint8_t key[SEALWIRE_KEY_SIZE];
    const sealwire_peer *peer = find(peers, client->name);
    CHECK(peer != NULL);
    OK(sealwire_peer_public_key(peer, key));
    CHECK(memcmp(key, client->key, sizeof key) == 0);
    CHECK(strncmp(sealwire_peer_address(peer), "tcp://127.0.0.1:", 16) == 0);
    CHECK(strcmp(sealwire_peer_mechanism(peer), "BLAKE3") == 0);
    CHECK(sealwire_peer_connection(peer) != 0);
    return peer;
}

/* Alice has sent little and bob much, and nobody reads it. */
static void of_a_socket(void) {
    static const char much[1000] = "much";
    client_identity clients[] = {{"alice", {0}, NULL}, {"bob", {0}, NULL}};
    sealwire_security *security = server_of(clients, 2);
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, security);
    sealwire_socket *pushing[2];
    sealwire_peers *peers = NULL;
    char *endpoint = NULL;
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_peers_of_socket(pull, &peers));
    CHECK(sealwire_peers_size(peers) == 0 && sealwire_peers_at(peers, 0) == NULL);
    sealwire_peers_free(peers);
    for (int i = 0; i < 2; i++) {
        pushing[i] = make_socket(SEALWIRE_PUSH, clients[i].security);
        OK(sealwire_socket_connect(pushing[i], endpoint));
    }
    for (int i = 0; i < 3; i++) {
        send_text(pushing[0], "little");
        OK(sealwire_socket_send_bytes(pushing[1], much, sizeof much, SEALWIRE_WAIT));
    }
    OK(sealwire_socket_wait_connected(pull, 2, TIMEOUT));
    uint64_t of_alice = 0, of_bob = 0;
    /* A peer is listed before the transport has taken the end of its handshake. */
    bool answered = false;
    for (int i = 0; i < TIMEOUT; i++) {
        OK(sealwire_peers_of_socket(pull, &peers));
        CHECK(sealwire_peers_size(peers) == 2 && sealwire_peers_at(peers, 2) == NULL);
        const sealwire_peer *alice = is_there(peers, &clients[0]), *bob = is_there(peers, &clients[1]);
        of_alice = held(alice, SEALWIRE_KIND_RECEIVED);
        of_bob = held(bob, SEALWIRE_KIND_RECEIVED);
        answered = sealwire_peer_written(alice) > 0 && sealwire_peer_written(bob) > 0;
        if (answered && of_alice >= 3 * strlen("little") && of_bob >= 3 * sizeof much) {
            break;
        }
        sealwire_peers_free(peers);
        sealwire_poll(NULL, 0, 1, NULL);
    }
    CHECK(answered);
    CHECK(of_alice >= 3 * strlen("little") && of_alice < sizeof much);
    CHECK(of_bob >= 3 * sizeof much);
    CHECK(sealwire_peer_connection(find(peers, "alice")) != sealwire_peer_connection(find(peers, "bob")));
    CHECK(strcmp(sealwire_peer_address(find(peers, "alice")), sealwire_peer_address(find(peers, "bob"))) != 0);

    /* Who goes is in the list that was made before, and among those who have left something to be read. */
    sealwire_peers *now = NULL, *accounts = NULL;
    sealwire_socket_free(pushing[0]);
    size_t connected = 2;
    for (int i = 0; i < TIMEOUT && connected > 1; i++) {
        sealwire_poll(NULL, 0, 1, NULL);
        OK(sealwire_peers_of_socket(pull, &now));
        connected = sealwire_peers_size(now);
        if (connected > 1) {
            sealwire_peers_free(now);
        }
    }
    CHECK(connected == 1 && find(now, "alice") == NULL);
    is_there(now, &clients[1]);
    OK(sealwire_socket_accounts(pull, &accounts));
    CHECK(sealwire_peers_size(accounts) == 2);
    CHECK(held(find(accounts, "alice"), SEALWIRE_KIND_RECEIVED) >= 3 * strlen("little"));
    sealwire_peers_free(accounts);
    sealwire_peers_free(now);
    sealwire_socket_free(pushing[1]);
    sealwire_socket_free(pull);
    /* The list outlives the socket. */
    CHECK(sealwire_peers_size(peers) == 2);
    is_there(peers, &clients[0]);
    is_there(peers, &clients[1]);
    sealwire_peers_free(peers);
    for (int i = 0; i < 2; i++) {
        sealwire_security_free(clients[i].security);
    }
    sealwire_security_free(security);
    sealwire_string_free(endpoint);
}

typedef struct {
    sealwire_rpc_request *kept[2];
    int count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} service;

static void keep(sealwire_rpc_request *request, void *user) {
    service *serving = (service *)user;
    pthread_mutex_lock(&serving->lock);
    CHECK(serving->count < 2);
    serving->kept[serving->count++] = request;
    pthread_cond_broadcast(&serving->changed);
    pthread_mutex_unlock(&serving->lock);
}

/* Each has a call under way, of another size. */
static void of_a_server_of_calls(void) {
    static const char bodies[5000] = "question";
    const size_t sizes[] = {100, sizeof bodies};
    client_identity clients[] = {{"alice", {0}, NULL}, {"bob", {0}, NULL}};
    sealwire_security *security = server_of(clients, 2);
    sealwire_rpc_server *server = NULL;
    sealwire_rpc_client *calling[2] = {NULL, NULL};
    sealwire_rpc_stream *streams[2] = {NULL, NULL};
    sealwire_peers *peers = NULL;
    char *endpoint = NULL;
    service serving;
    memset(&serving, 0, sizeof serving);
    CHECK(pthread_mutex_init(&serving.lock, NULL) == 0);
    CHECK(pthread_cond_init(&serving.changed, NULL) == 0);
    sealwire_rpc_handler handler = {keep, NULL, &serving, NULL, 0};
    server = make_server(security, &handler);
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_peers_of_rpc_server(server, &peers));
    CHECK(sealwire_peers_size(peers) == 0);
    sealwire_peers_free(peers);
    for (int i = 0; i < 2; i++) {
        calling[i] = make_client(endpoint, clients[i].security, NULL);
        streams[i] = open_call(calling[i], bodies, sizes[i]);
    }
    pthread_mutex_lock(&serving.lock);
    while (serving.count < 2) {
        pthread_cond_wait(&serving.changed, &serving.lock);
    }
    pthread_mutex_unlock(&serving.lock);
    /* They are charged once the batch that they came with has been handed to the service. */
    uint64_t of_alice = 0, of_bob = 0;
    for (int i = 0; i < TIMEOUT; i++) {
        OK(sealwire_peers_of_rpc_server(server, &peers));
        CHECK(sealwire_peers_size(peers) == 2);
        of_alice = held(is_there(peers, &clients[0]), SEALWIRE_KIND_REQUESTS);
        of_bob = held(is_there(peers, &clients[1]), SEALWIRE_KIND_REQUESTS);
        if (of_alice >= sizes[0] && of_bob >= sizes[1]) {
            break;
        }
        sealwire_peers_free(peers);
        sealwire_poll(NULL, 0, 1, NULL);
    }
    CHECK(of_alice >= sizes[0] && of_alice < sizes[1]);
    CHECK(of_bob >= sizes[1]);
    for (int i = 0; i < 2; i++) {
        sealwire_rpc_reply *reply = NULL;
        OK(sealwire_rpc_request_reply(serving.kept[i], "", 0));
        OK(sealwire_rpc_stream_answer(streams[i], &reply, NULL));
        sealwire_rpc_reply_free(reply);
        sealwire_rpc_client_free(calling[i]);
        sealwire_security_free(clients[i].security);
    }
    sealwire_rpc_server_free(server);
    CHECK(sealwire_peer_written(is_there(peers, &clients[1])) > 0);
    sealwire_peers_free(peers);
    sealwire_security_free(security);
    sealwire_string_free(endpoint);
}

int main(void) {
    sealwire_peers *peers = NULL;
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_peers_of_socket(NULL, &peers));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_peers_of_rpc_server(NULL, &peers));
    CHECK(peers == NULL);
    of_a_socket();
    of_a_server_of_calls();
    return 0;
}
