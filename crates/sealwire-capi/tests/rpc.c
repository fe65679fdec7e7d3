/* Calls: answers, errors with their codes, deadlines, one-way messages, calls from server to client. */
#include "test.h"

#include <pthread.h>

typedef struct {
    int one_way;
    int destroyed;
    /* A request that is answered later, on another thread. */
    sealwire_rpc_request *kept;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} service;

typedef struct {
    service *serving;
    sealwire_rpc_server *server;
} ending;

static void init(service *made) {
    memset(made, 0, sizeof *made);
    CHECK(pthread_mutex_init(&made->lock, NULL) == 0);
    CHECK(pthread_cond_init(&made->changed, NULL) == 0);
}

static int asks(const sealwire_rpc_request *request, const char *text) {
    return sealwire_rpc_request_size(request) == strlen(text)
        && memcmp(sealwire_rpc_request_data(request), text, strlen(text)) == 0;
}

static void on_request(sealwire_rpc_request *request, void *user) {
    service *serving = (service *)user;
    if (asks(request, "call back")) {
        /* On a thread of its own a handler may wait. */
        sealwire_rpc_conn *conn = NULL;
        sealwire_rpc_reply *reply = NULL;
        OK(sealwire_rpc_request_conn(request, &conn));
        OK(sealwire_rpc_conn_request(conn, "and you?", 8, TIMEOUT, &reply, NULL));
        OK(sealwire_rpc_request_reply(request, sealwire_rpc_reply_data(reply), sealwire_rpc_reply_size(reply)));
        sealwire_rpc_reply_free(reply);
        sealwire_rpc_conn_free(conn);
    } else if (asks(request, "wait here")) {
        /* The thread that reads the connection would wait for itself. */
        sealwire_rpc_conn *conn = NULL;
        sealwire_rpc_reply *reply = NULL;
        OK(sealwire_rpc_request_conn(request, &conn));
        RETURNS(SEALWIRE_ERROR_RPC_WOULD_DEADLOCK,
                sealwire_rpc_conn_request(conn, "x", 1, TIMEOUT, &reply, NULL));
        sealwire_rpc_conn_free(conn);
        OK(sealwire_rpc_request_reply(request, "no", 2));
    } else if (asks(request, "fail")) {
        OK(sealwire_rpc_request_fail(request, 1234, "on purpose", "why", 3));
    } else if (asks(request, "drop")) {
        sealwire_rpc_request_free(request);
    } else if (asks(request, "who am I")) {
        const char *user_id = sealwire_peer_user_id(sealwire_rpc_request_peer(request));
        CHECK(user_id != NULL);
        OK(sealwire_rpc_request_reply(request, user_id, strlen(user_id)));
    } else if (asks(request, "keep")) {
        CHECK(sealwire_rpc_request_time_left_ms(request) > 0);
        pthread_mutex_lock(&serving->lock);
        serving->kept = request;
        pthread_cond_broadcast(&serving->changed);
        pthread_mutex_unlock(&serving->lock);
    } else {
        OK(sealwire_rpc_request_reply(request, sealwire_rpc_request_data(request),
                                      sealwire_rpc_request_size(request)));
    }
}

static void on_message(const sealwire_rpc_message *message, void *user) {
    service *serving = (service *)user;
    CHECK(sealwire_rpc_message_size(message) == 3);
    CHECK(memcmp(sealwire_rpc_message_data(message), "hey", 3) == 0);
    CHECK(strcmp(sealwire_peer_mechanism(sealwire_rpc_message_peer(message)), "BLAKE3") == 0);
    pthread_mutex_lock(&serving->lock);
    serving->one_way++;
    pthread_cond_broadcast(&serving->changed);
    pthread_mutex_unlock(&serving->lock);
}

static void on_destroy(void *user) {
    service *serving = (service *)user;
    pthread_mutex_lock(&serving->lock);
    serving->destroyed++;
    pthread_cond_broadcast(&serving->changed);
    pthread_mutex_unlock(&serving->lock);
}

static sealwire_rpc_request *await_kept(service *serving) {
    pthread_mutex_lock(&serving->lock);
    while (serving->kept == NULL) {
        pthread_cond_wait(&serving->changed, &serving->lock);
    }
    sealwire_rpc_request *kept = serving->kept;
    serving->kept = NULL;
    pthread_mutex_unlock(&serving->lock);
    return kept;
}

static void await_count(service *serving, const int *count, int wanted) {
    pthread_mutex_lock(&serving->lock);
    while (*count < wanted) {
        pthread_cond_wait(&serving->changed, &serving->lock);
    }
    CHECK(*count == wanted);
    pthread_mutex_unlock(&serving->lock);
}

/* On a thread of its own: a call to the client from a request of that client's, which is then
   answered with the answer. */
static void *call_back(void *argument) {
    service *serving = (service *)argument;
    sealwire_rpc_request *request = await_kept(serving);
    sealwire_rpc_conn *conn = NULL;
    sealwire_rpc_reply *reply = NULL;
    OK(sealwire_rpc_request_conn(request, &conn));
    CHECK(sealwire_rpc_conn_is_open(conn));
    OK(sealwire_rpc_conn_request(conn, "who are you", 11, TIMEOUT, &reply, NULL));
    OK(sealwire_rpc_conn_send(conn, "hey", 3, NULL));
    CHECK(!sealwire_rpc_request_is_cancelled(request));
    OK(sealwire_rpc_request_reply(request, sealwire_rpc_reply_data(reply), sealwire_rpc_reply_size(reply)));
    sealwire_rpc_reply_free(reply);
    sealwire_rpc_conn_free(conn);
    return NULL;
}

/* On a thread of its own: ends the server while a request is under way. */
static void *end_server(void *argument) {
    ending *end = (ending *)argument;
    sealwire_rpc_request *request = await_kept(end->serving);
    sealwire_rpc_server_free(end->server);
    sealwire_rpc_request_free(request);
    return NULL;
}

static void request(const sealwire_rpc_client *client, const char *text, const char *answer) {
    sealwire_rpc_reply *reply = NULL;
    OK(sealwire_rpc_client_request(client, text, strlen(text), TIMEOUT, &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == strlen(answer));
    CHECK(memcmp(sealwire_rpc_reply_data(reply), answer, strlen(answer)) == 0);
    sealwire_rpc_reply_free(reply);
}

int main(void) {
    service serving, client_side;
    init(&serving);
    init(&client_side);
    sealwire_keys *keys = NULL, *alice = NULL;
    sealwire_authenticator *list = NULL;
    sealwire_security *of_server = NULL, *of_client = NULL;
    sealwire_rpc_server *server = NULL;
    sealwire_rpc_client *client = NULL;
    sealwire_rpc_reply *reply = NULL;
    sealwire_rpc_error *error = NULL;
    sealwire_monitor *monitor = NULL;
    uint8_t key[SEALWIRE_KEY_SIZE];
    char *endpoint = NULL;
    size_t size = 0;
    OK(sealwire_keys_generate(&keys));
    OK(sealwire_keys_generate(&alice));
    OK(sealwire_authenticator_keys(&list));
    OK(sealwire_keys_public(alice, key));
    OK(sealwire_authenticator_allow(list, key, "alice"));
    OK(sealwire_keys_public(keys, key));
    OK(sealwire_security_blake3_server(keys, list, &of_server));
    OK(sealwire_security_blake3_client(key, alice, &of_client));

    sealwire_rpc_handler handler = {on_request, on_message, &serving, on_destroy, 0};
    sealwire_rpc_handler client_handler = {on_request, on_message, &client_side, on_destroy, 0};
    /* What fails leaves the handler alone. */
    sealwire_options *unfit = NULL;
    OK(sealwire_options_new(&unfit));
    OK(sealwire_options_set(unfit, SEALWIRE_OPTION_REQ_RELAXED, 1));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_rpc_server_new(of_server, unfit, &handler, &server));
    RETURNS(SEALWIRE_ERROR_RPC_CONNECT,
            sealwire_rpc_client_new("nonsense", of_client, NULL, &client_handler, &client));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_server_new(NULL, NULL, &handler, &server));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_server_new(of_server, NULL, NULL, &server));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_new(NULL, of_client, NULL, NULL, &client));
    CHECK(serving.destroyed == 0 && client_side.destroyed == 0);
    sealwire_options_free(unfit);

    server = make_server(of_server, &handler);
    OK(sealwire_rpc_server_monitor(server, &monitor));
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    client = make_client(endpoint, of_client, &client_handler);

    request(client, "hello", "hello");
    request(client, "", "");
    request(client, "who am I", "alice");
    request(client, "wait here", "no");
    CHECK(sealwire_rpc_server_connections(server) == 1);
    sealwire_event_free(await_event(monitor, SEALWIRE_EVENT_READY));
    sealwire_monitor_free(monitor);

    /* The other side's errors. */
    RETURNS(SEALWIRE_ERROR_RPC_REMOTE,
            sealwire_rpc_client_request(client, "fail", 4, TIMEOUT, &reply, &error));
    CHECK(sealwire_rpc_error_status(error) == SEALWIRE_ERROR_RPC_REMOTE);
    CHECK(sealwire_rpc_error_code(error) == 1234 && sealwire_rpc_error_may_have_run(error));
    CHECK(strcmp(sealwire_rpc_error_text(error), "on purpose") == 0);
    CHECK(memcmp(sealwire_rpc_error_details(error, &size), "why", 3) == 0 && size == 3);
    sealwire_rpc_error_free(error);
    RETURNS(SEALWIRE_ERROR_RPC_REMOTE,
            sealwire_rpc_client_request(client, "drop", 4, TIMEOUT, &reply, &error));
    CHECK(sealwire_rpc_error_code(error) == 13);
    CHECK(sealwire_rpc_error_details(error, &size) == NULL && size == 0);
    sealwire_rpc_error_free(error);
    CHECK(reply == NULL);

    /* A deadline that passes while the request is kept. */
    RETURNS(SEALWIRE_ERROR_RPC_DEADLINE,
            sealwire_rpc_client_request(client, "keep", 4, 50, &reply, &error));
    CHECK(sealwire_rpc_error_code(error) == 0);
    sealwire_rpc_error_free(error);
    sealwire_rpc_request *late = await_kept(&serving);
    while (!sealwire_rpc_request_is_cancelled(late)) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
    OK(sealwire_rpc_request_reply(late, "nobody waits", 12));

    /* A body that is too large leaves nothing behind. */
    size_t large = (size_t)5 << 20;
    void *body = calloc(1, large);
    CHECK(body != NULL);
    RETURNS(SEALWIRE_ERROR_RPC_TOO_LARGE,
            sealwire_rpc_client_request(client, body, large, TIMEOUT, &reply, &error));
    CHECK(!sealwire_rpc_error_may_have_run(error));
    sealwire_rpc_error_free(error);
    free(body);

    /* One way, and from the server to the client. */
    for (int i = 0; i < 10; i++) {
        OK(sealwire_rpc_client_send(client, "hey", 3, NULL));
    }
    await_count(&serving, &serving.one_way, 10);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call_back, &serving) == 0);
    request(client, "keep", "who are you");
    CHECK(pthread_join(thread, NULL) == 0);
    await_count(&client_side, &client_side.one_way, 1);

    /* NULL arguments. */
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_request(NULL, "x", 1, 1, &reply, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_request(client, NULL, 1, 1, &reply, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_request(client, "x", 1, 1, NULL, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_client_request(client, "x", 1, -7, &reply, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_send(NULL, "x", 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_shutdown(NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_conn_request(NULL, "x", 1, 1, &reply, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_conn_send(NULL, "x", 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_request_reply(NULL, "x", 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_request_fail(NULL, 1, "x", NULL, 0));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_server_bind(NULL, "x", NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_server_monitor(NULL, &monitor));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_server_shutdown(NULL, 1));
    CHECK(sealwire_rpc_reply_data(NULL) == NULL && sealwire_rpc_reply_size(NULL) == 0);
    CHECK(sealwire_rpc_request_data(NULL) == NULL && sealwire_rpc_request_peer(NULL) == NULL);
    CHECK(sealwire_rpc_message_data(NULL) == NULL && sealwire_rpc_message_peer(NULL) == NULL);
    CHECK(sealwire_rpc_error_text(NULL) == NULL && !sealwire_rpc_conn_is_open(NULL));

    /* The end. */
    OK(sealwire_rpc_server_shutdown(server, TIMEOUT));
    OK(sealwire_rpc_client_shutdown(client, TIMEOUT));
    RETURNS(SEALWIRE_ERROR_RPC_SHUTTING_DOWN,
            sealwire_rpc_client_request(client, "x", 1, TIMEOUT, &reply, NULL));
    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);

    /* A server with another key. */
    sealwire_security *wrong = NULL;
    server = make_server(of_server, &handler);
    sealwire_string_free(endpoint);
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_keys_public(alice, key));
    OK(sealwire_security_blake3_client(key, NULL, &wrong));
    client = make_client(endpoint, wrong, NULL);
    RETURNS(SEALWIRE_ERROR_RPC_CONNECT,
            sealwire_rpc_client_request(client, "x", 1, TIMEOUT, &reply, &error));
    CHECK(!sealwire_rpc_error_may_have_run(error));
    sealwire_rpc_error_free(error);
    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);

    /* A server that ends during a call. */
    server = make_server(of_server, &handler);
    sealwire_string_free(endpoint);
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    client = make_client(endpoint, of_client, NULL);
    ending end = {&serving, server};
    CHECK(pthread_create(&thread, NULL, end_server, &end) == 0);
    RETURNS(SEALWIRE_ERROR_RPC_CONNECTION_LOST,
            sealwire_rpc_client_request(client, "keep", 4, TIMEOUT, &reply, &error));
    CHECK(sealwire_rpc_error_may_have_run(error));
    sealwire_rpc_error_free(error);
    CHECK(pthread_join(thread, NULL) == 0);
    sealwire_rpc_client_free(client);
    await_count(&serving, &serving.destroyed, 3);
    await_count(&client_side, &client_side.destroyed, 1);

    /* Handlers with threads of their own. */
    handler.threads = 2;
    server = make_server(of_server, &handler);
    sealwire_string_free(endpoint);
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    client = make_client(endpoint, of_client, &client_handler);
    for (int i = 0; i < 20; i++) {
        request(client, "call back", "and you?");
        request(client, "hello", "hello");
        OK(sealwire_rpc_client_send(client, "hey", 3, NULL));
    }
    await_count(&serving, &serving.one_way, 30);
    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);
    await_count(&serving, &serving.destroyed, 4);
    await_count(&client_side, &client_side.destroyed, 2);

    sealwire_security_free(wrong);
    sealwire_security_free(of_server);
    sealwire_security_free(of_client);
    sealwire_authenticator_free(list);
    sealwire_keys_free(keys);
    sealwire_keys_free(alice);
    sealwire_string_free(endpoint);
    return 0;
}
