/* Metadata of calls and messages: what is sent is read by the handler, in order and within the limits; a handler
   continues the trace of its caller. */
#include "test.h"

#include <pthread.h>

#define PARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define STATE "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
#define CHILD "00-4bf92f3577b34da6a3ce929d0e0e4736-0101010101010101-01"

/* What a one-way message had with it. */
typedef struct {
    char text[256];
    int count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} heard;

static void init(heard *made) {
    memset(made, 0, sizeof *made);
    CHECK(pthread_mutex_init(&made->lock, NULL) == 0);
    CHECK(pthread_cond_init(&made->changed, NULL) == 0);
}

/* The entries in their order: key=value;key=value; */
static void write_entries(const sealwire_rpc_metadata *metadata, char *text, size_t room) {
    size_t written = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sealwire_rpc_metadata_count(metadata); i++) {
        size_t size = 0;
        const char *value = (const char *)sealwire_rpc_metadata_value(metadata, i, &size);
        const char *key = sealwire_rpc_metadata_key(metadata, i);
        CHECK(key != NULL && value != NULL);
        int length = snprintf(text + written, room - written, "%s=%.*s;", key, (int)size, value);
        CHECK(length > 0 && (size_t)length < room - written);
        written += (size_t)length;
    }
}

static sealwire_rpc_metadata *made(void) {
    sealwire_rpc_metadata *metadata = NULL;
    OK(sealwire_rpc_metadata_new(&metadata));
    return metadata;
}

static void append(sealwire_rpc_metadata *metadata, const char *key, const char *value) {
    OK(sealwire_rpc_metadata_append(metadata, key, value, strlen(value)));
}

/* As a server: asks the caller back, from a span of its own in the trace of the request. */
static void pass_on(sealwire_rpc_request *request) {
    static const uint8_t span_id[SEALWIRE_SPAN_ID_SIZE] = {1, 1, 1, 1, 1, 1, 1, 1};
    sealwire_rpc_trace *trace = NULL, *own = NULL;
    sealwire_rpc_conn *conn = NULL;
    sealwire_rpc_reply *reply = NULL, *streamed = NULL;
    sealwire_rpc_stream *stream = NULL;
    OK(sealwire_rpc_metadata_trace(sealwire_rpc_request_metadata(request), &trace));
    if (trace == NULL) {
        OK(sealwire_rpc_request_reply(request, "no trace", 8));
        return;
    }
    CHECK(strcmp(sealwire_rpc_trace_parent(trace), PARENT) == 0);
    CHECK(strcmp(sealwire_rpc_trace_state(trace), STATE) == 0);
    OK(sealwire_rpc_trace_child(trace, span_id, &own));
    sealwire_rpc_metadata *metadata = made();
    OK(sealwire_rpc_metadata_set_trace(metadata, own));
    OK(sealwire_rpc_request_conn(request, &conn));
    OK(sealwire_rpc_conn_request_with(conn, "show", 4, metadata, TIMEOUT, &reply, NULL));
    OK(sealwire_rpc_conn_open_with(conn, "show", 4, metadata, TIMEOUT, &stream, NULL));
    OK(sealwire_rpc_stream_answer(stream, &streamed, NULL));
    CHECK(sealwire_rpc_reply_size(streamed) == sealwire_rpc_reply_size(reply));
    sealwire_rpc_reply_free(streamed);
    OK(sealwire_rpc_conn_send_with(conn, "show", 4, metadata, NULL));
    OK(sealwire_rpc_request_reply(request, sealwire_rpc_reply_data(reply), sealwire_rpc_reply_size(reply)));
    sealwire_rpc_reply_free(reply);
    sealwire_rpc_conn_free(conn);
    sealwire_rpc_metadata_free(metadata);
    sealwire_rpc_trace_free(own);
    sealwire_rpc_trace_free(trace);
}

/* Answers with the entries. */
static void on_request(sealwire_rpc_request *request, void *user) {
    char text[256];
    (void)user;
    if (sealwire_rpc_request_size(request) == 4 && memcmp(sealwire_rpc_request_data(request), "pass", 4) == 0) {
        pass_on(request);
        return;
    }
    const sealwire_rpc_metadata *metadata = sealwire_rpc_request_metadata(request);
    CHECK(metadata == sealwire_rpc_request_metadata(request));
    write_entries(metadata, text, sizeof text);
    OK(sealwire_rpc_request_reply(request, text, strlen(text)));
}

static void on_message(const sealwire_rpc_message *message, void *user) {
    heard *here = (heard *)user;
    pthread_mutex_lock(&here->lock);
    write_entries(sealwire_rpc_message_metadata(message), here->text, sizeof here->text);
    here->count++;
    pthread_cond_broadcast(&here->changed);
    pthread_mutex_unlock(&here->lock);
}

static void await_message(heard *here, int count, const char *text) {
    pthread_mutex_lock(&here->lock);
    while (here->count < count) {
        pthread_cond_wait(&here->changed, &here->lock);
    }
    CHECK(here->count == count && strcmp(here->text, text) == 0);
    pthread_mutex_unlock(&here->lock);
}

static void request(const sealwire_rpc_client *client, const char *body, const sealwire_rpc_metadata *metadata,
                    const char *answer) {
    sealwire_rpc_reply *reply = NULL;
    OK(sealwire_rpc_client_request_with(client, body, strlen(body), metadata, TIMEOUT, &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == strlen(answer));
    CHECK(memcmp(sealwire_rpc_reply_data(reply), answer, strlen(answer)) == 0);
    sealwire_rpc_reply_free(reply);
}

static void entries(void) {
    size_t size = 7;
    sealwire_rpc_metadata *metadata = made();
    CHECK(sealwire_rpc_metadata_count(metadata) == 0 && sealwire_rpc_metadata_key(metadata, 0) == NULL);
    append(metadata, "hop", "1");
    append(metadata, "hop", "2");
    append(metadata, "empty", "");
    CHECK(sealwire_rpc_metadata_count(metadata) == 3);
    CHECK(memcmp(sealwire_rpc_metadata_get(metadata, "hop", &size), "1", 1) == 0 && size == 1);
    CHECK(sealwire_rpc_metadata_get(metadata, "empty", &size) != NULL && size == 0);
    CHECK(strcmp(sealwire_rpc_metadata_key(metadata, 2), "empty") == 0);
    OK(sealwire_rpc_metadata_set(metadata, "hop", "three", 5));
    CHECK(sealwire_rpc_metadata_count(metadata) == 2);
    CHECK(strcmp(sealwire_rpc_metadata_key(metadata, 0), "empty") == 0);
    CHECK(strcmp(sealwire_rpc_metadata_key(metadata, 1), "hop") == 0);
    CHECK(memcmp(sealwire_rpc_metadata_value(metadata, 1, &size), "three", 5) == 0 && size == 5);
    CHECK(sealwire_rpc_metadata_value(metadata, 1, NULL) != NULL);
    CHECK(sealwire_rpc_metadata_value(metadata, 2, &size) == NULL && size == 0);
    CHECK(sealwire_rpc_metadata_get(metadata, "other", &size) == NULL && size == 0);
    CHECK(sealwire_rpc_metadata_get(metadata, NULL, NULL) == NULL);

    /* What is refused leaves it as it was. */
    char *large = (char *)calloc(1, 8193);
    CHECK(large != NULL);
    RETURNS(SEALWIRE_ERROR_RPC_METADATA, sealwire_rpc_metadata_append(metadata, "Hop", "4", 1));
    RETURNS(SEALWIRE_ERROR_RPC_METADATA, sealwire_rpc_metadata_append(metadata, "", "4", 1));
    RETURNS(SEALWIRE_ERROR_RPC_METADATA, sealwire_rpc_metadata_set(metadata, "hop", large, 8193));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_append(metadata, NULL, "4", 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_append(metadata, "hop", NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_append(NULL, "hop", "4", 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_set(NULL, "hop", "4", 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_new(NULL));
    CHECK(sealwire_rpc_metadata_count(metadata) == 2);
    for (int i = 2; i < 64; i++) {
        append(metadata, "hop", "x");
    }
    RETURNS(SEALWIRE_ERROR_RPC_METADATA, sealwire_rpc_metadata_append(metadata, "hop", "x", 1));
    CHECK(strstr(sealwire_last_error(), "64 entries") != NULL);
    CHECK(strcmp(sealwire_status_text(SEALWIRE_ERROR_RPC_METADATA), sealwire_status_text(-1)) != 0);
    free(large);
    sealwire_rpc_metadata_free(metadata);
    sealwire_rpc_metadata_free(NULL);
    CHECK(sealwire_rpc_metadata_count(NULL) == 0 && sealwire_rpc_metadata_key(NULL, 0) == NULL);
    CHECK(sealwire_rpc_metadata_get(NULL, "hop", NULL) == NULL && sealwire_rpc_metadata_value(NULL, 0, NULL) == NULL);
    CHECK(sealwire_rpc_request_metadata(NULL) == NULL && sealwire_rpc_message_metadata(NULL) == NULL);
}

static void traces(void) {
    static const uint8_t none[SEALWIRE_SPAN_ID_SIZE] = {0};
    sealwire_rpc_trace *trace = NULL, *child = NULL, *other = NULL;
    OK(sealwire_rpc_trace_new(PARENT, NULL, &trace));
    CHECK(strcmp(sealwire_rpc_trace_parent(trace), PARENT) == 0 && strcmp(sealwire_rpc_trace_state(trace), "") == 0);
    /* Without a tracer the identifiers are random, and the trace is the same. */
    OK(sealwire_rpc_trace_child(trace, NULL, &child));
    OK(sealwire_rpc_trace_child(trace, NULL, &other));
    CHECK(memcmp(sealwire_rpc_trace_parent(child), PARENT, 36) == 0);
    CHECK(strcmp(sealwire_rpc_trace_parent(child) + 52, "-01") == 0);
    CHECK(strcmp(sealwire_rpc_trace_parent(child), sealwire_rpc_trace_parent(other)) != 0);
    sealwire_rpc_trace_free(child);
    sealwire_rpc_trace_free(other);

    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_trace_child(trace, none, &other));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_trace_child(NULL, NULL, &other));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_trace_new("00-1", NULL, &other));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_trace_new(PARENT, "no member", &other));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_trace_new(NULL, NULL, &other));

    sealwire_rpc_metadata *metadata = made();
    OK(sealwire_rpc_metadata_set_trace(metadata, trace));
    OK(sealwire_rpc_metadata_set_trace(metadata, trace));
    CHECK(sealwire_rpc_metadata_count(metadata) == 1);
    OK(sealwire_rpc_metadata_trace(metadata, &other));
    CHECK(other != NULL);
    sealwire_rpc_trace_free(other);
    /* Two parents are none. */
    append(metadata, "traceparent", PARENT);
    OK(sealwire_rpc_metadata_trace(metadata, &other));
    CHECK(other == NULL);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_trace(NULL, &other));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_set_trace(metadata, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_metadata_set_trace(NULL, trace));
    sealwire_rpc_metadata_free(metadata);

    /* No room. */
    metadata = made();
    for (int i = 0; i < 64; i++) {
        append(metadata, "hop", "x");
    }
    RETURNS(SEALWIRE_ERROR_RPC_METADATA, sealwire_rpc_metadata_set_trace(metadata, trace));
    sealwire_rpc_metadata_free(metadata);
    sealwire_rpc_trace_free(trace);
    sealwire_rpc_trace_free(NULL);
    CHECK(sealwire_rpc_trace_parent(NULL) == NULL && sealwire_rpc_trace_state(NULL) == NULL);
}

static void calls(void) {
    heard at_server, at_client;
    init(&at_server);
    init(&at_client);
    mechanism of = make_mechanism_of_alice();
    char *endpoint = NULL;
    sealwire_rpc_handler handler = {on_request, on_message, &at_server, NULL, 1};
    sealwire_rpc_handler client_handler = {on_request, on_message, &at_client, NULL, 0};
    sealwire_rpc_server *server = make_server(of.server, &handler);
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    sealwire_rpc_client *client = make_client(endpoint, of.client, &client_handler);
    sealwire_string_free(endpoint);

    sealwire_rpc_metadata *metadata = made();
    append(metadata, "tenant", "blue");
    append(metadata, "hop", "1");
    append(metadata, "hop", "2");
    request(client, "show", metadata, "tenant=blue;hop=1;hop=2;");
    request(client, "show", metadata, "tenant=blue;hop=1;hop=2;");
    request(client, "show", NULL, "");
    OK(sealwire_rpc_client_send_with(client, "show", 4, metadata, NULL));
    await_message(&at_server, 1, "tenant=blue;hop=1;hop=2;");
    OK(sealwire_rpc_client_send(client, "show", 4, NULL));
    await_message(&at_server, 2, "");

    sealwire_rpc_stream *stream = NULL;
    sealwire_rpc_reply *reply = NULL;
    OK(sealwire_rpc_client_open_with(client, "show", 4, metadata, TIMEOUT, &stream, NULL));
    OK(sealwire_rpc_stream_answer(stream, &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == 24);
    CHECK(memcmp(sealwire_rpc_reply_data(reply), "tenant=blue;hop=1;hop=2;", 24) == 0);
    sealwire_rpc_reply_free(reply);
    sealwire_rpc_metadata_free(metadata);

    /* The trace goes on in the call that the handler makes. */
    sealwire_rpc_trace *trace = NULL;
    OK(sealwire_rpc_trace_new(PARENT, STATE, &trace));
    metadata = made();
    OK(sealwire_rpc_metadata_set_trace(metadata, trace));
    request(client, "pass", metadata, "traceparent=" CHILD ";tracestate=" STATE ";");
    await_message(&at_client, 1, "traceparent=" CHILD ";tracestate=" STATE ";");
    request(client, "pass", NULL, "no trace");
    sealwire_rpc_metadata_free(metadata);
    sealwire_rpc_trace_free(trace);

    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);
    free_mechanism(&of);
}

int main(void) {
    entries();
    traces();
    calls();
    return 0;
}
