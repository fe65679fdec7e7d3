/* Streams of calls: order, ends from either side, waits with and without a limit. */
#include "test.h"

#include <pthread.h>

/* Milliseconds, for waits that end without what they wait for. */
#define SHORT 5
/* Items that either side may send before any is read. */
#define WINDOW 64

typedef struct {
    /* A request that the test goes on with. */
    sealwire_rpc_request *kept;
    /* Handlers that noticed that their caller has gone. */
    int left_alone;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} service;

static void init(service *made) {
    memset(made, 0, sizeof *made);
    CHECK(pthread_mutex_init(&made->lock, NULL) == 0);
    CHECK(pthread_cond_init(&made->changed, NULL) == 0);
}

static int asks(const sealwire_rpc_request *request, const char *text) {
    return sealwire_rpc_request_size(request) == strlen(text)
        && memcmp(sealwire_rpc_request_data(request), text, strlen(text)) == 0;
}

/* The number that an item is, which is freed. */
static uint32_t number_of(sealwire_rpc_reply *item) {
    uint32_t number = 0;
    CHECK(sealwire_rpc_reply_size(item) == sizeof number);
    memcpy(&number, sealwire_rpc_reply_data(item), sizeof number);
    sealwire_rpc_reply_free(item);
    return number;
}

static uint32_t next_number(const sealwire_rpc_stream *stream) {
    sealwire_rpc_reply *item = NULL;
    OK(sealwire_rpc_stream_next(stream, TIMEOUT, &item));
    return number_of(item);
}

static void send_number(const sealwire_rpc_stream *stream, uint32_t number) {
    OK(sealwire_rpc_stream_send(stream, &number, sizeof number, TIMEOUT));
}

/* The caller has gone: there is nothing more to receive, nothing can be sent, and the request says so. */
static void is_left_alone(service *serving, sealwire_rpc_request *request) {
    sealwire_rpc_reply *item = NULL;
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_request_next(request, SEALWIRE_WAIT, &item));
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_request_send(request, "x", 1, SEALWIRE_WAIT));
    CHECK(item == NULL && sealwire_rpc_request_is_cancelled(request));
    sealwire_rpc_request_free(request);
    pthread_mutex_lock(&serving->lock);
    serving->left_alone++;
    pthread_cond_broadcast(&serving->changed);
    pthread_mutex_unlock(&serving->lock);
}

/* On threads of their own. */
static void on_request(sealwire_rpc_request *request, void *user) {
    service *serving = (service *)user;
    sealwire_rpc_reply *item = NULL;
    if (asks(request, "a thousand")) {
        for (uint32_t number = 0; number < 1000; number++) {
            OK(sealwire_rpc_request_send(request, &number, sizeof number, SEALWIRE_WAIT));
        }
        OK(sealwire_rpc_request_reply(request, "done", 4));
    } else if (asks(request, "sums")) {
        uint32_t sum = 0;
        sealwire_status status = SEALWIRE_OK;
        CHECK(sealwire_rpc_request_has_streams(request));
        while ((status = sealwire_rpc_request_next(request, TIMEOUT, &item)) == SEALWIRE_OK) {
            sum += number_of(item);
            OK(sealwire_rpc_request_send(request, &sum, sizeof sum, TIMEOUT));
        }
        CHECK(status == SEALWIRE_ERROR_RPC_STREAM_ENDED);
        CHECK(!sealwire_rpc_request_is_cancelled(request));
        OK(sealwire_rpc_request_reply(request, &sum, sizeof sum));
    } else if (asks(request, "fail after three")) {
        for (uint32_t number = 0; number < 3; number++) {
            OK(sealwire_rpc_request_send(request, &number, sizeof number, TIMEOUT));
        }
        OK(sealwire_rpc_request_fail(request, 1234, "enough", "why", 3));
    } else if (asks(request, "for ever")) {
        uint32_t number = 0;
        while (sealwire_rpc_request_send(request, &number, sizeof number, SEALWIRE_WAIT) == SEALWIRE_OK) {
            number++;
        }
        is_left_alone(serving, request);
    } else if (asks(request, "listen")) {
        /* A call that is cancelled sooner is not handled at all. */
        OK(sealwire_rpc_request_send(request, "here", 4, SEALWIRE_WAIT));
        is_left_alone(serving, request);
    } else if (asks(request, "too late")) {
        RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_request_next(request, SEALWIRE_WAIT, &item));
        sealwire_rpc_request_free(request);
    } else if (asks(request, "no streams")) {
        CHECK(!sealwire_rpc_request_has_streams(request));
        RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_request_send(request, "x", 1, SEALWIRE_WAIT));
        RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_request_next(request, SEALWIRE_WAIT, &item));
        OK(sealwire_rpc_request_reply(request, "none", 4));
    } else if (asks(request, "call back")) {
        sealwire_rpc_conn *conn = NULL;
        sealwire_rpc_stream *stream = NULL;
        OK(sealwire_rpc_request_conn(request, &conn));
        OK(sealwire_rpc_conn_open(conn, "from the server", 15, TIMEOUT, &stream, NULL));
        sealwire_rpc_conn_free(conn);
        CHECK(next_number(stream) == 1 && next_number(stream) == 2);
        OK(sealwire_rpc_stream_answer(stream, &item, NULL));
        OK(sealwire_rpc_request_reply(request, sealwire_rpc_reply_data(item), sealwire_rpc_reply_size(item)));
        sealwire_rpc_reply_free(item);
    } else {
        CHECK(asks(request, "keep"));
        pthread_mutex_lock(&serving->lock);
        serving->kept = request;
        pthread_cond_broadcast(&serving->changed);
        pthread_mutex_unlock(&serving->lock);
    }
}

/* Where connections are read: nothing waits. */
static void without_a_wait(sealwire_rpc_request *request, void *user) {
    sealwire_rpc_reply *item = NULL;
    (void)user;
    RETURNS(SEALWIRE_ERROR_RPC_WOULD_DEADLOCK, sealwire_rpc_request_send(request, "x", 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_RPC_WOULD_DEADLOCK, sealwire_rpc_request_next(request, TIMEOUT, &item));
    for (uint32_t number = 1; number < 3; number++) {
        OK(sealwire_rpc_request_send(request, &number, sizeof number, SEALWIRE_NO_WAIT));
    }
    OK(sealwire_rpc_request_reply(request, "here", 4));
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

static void await_left_alone(service *serving, int wanted) {
    pthread_mutex_lock(&serving->lock);
    while (serving->left_alone < wanted) {
        pthread_cond_wait(&serving->changed, &serving->lock);
    }
    pthread_mutex_unlock(&serving->lock);
}

static sealwire_rpc_stream *open_stream(const sealwire_rpc_client *client, const char *text) {
    return open_call(client, text, strlen(text));
}

/* A call whose handler is there, and receives. */
static sealwire_rpc_stream *open_to_a_listener(const sealwire_rpc_client *client) {
    sealwire_rpc_stream *stream = open_stream(client, "listen");
    sealwire_rpc_reply *item = NULL;
    OK(sealwire_rpc_stream_next(stream, SEALWIRE_WAIT, &item));
    CHECK(sealwire_rpc_reply_size(item) == 4);
    sealwire_rpc_reply_free(item);
    return stream;
}

static void ends(const sealwire_rpc_stream *stream) {
    sealwire_rpc_reply *item = NULL;
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_stream_next(stream, SEALWIRE_WAIT, &item));
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_stream_next(stream, SEALWIRE_NO_WAIT, &item));
    CHECK(item == NULL);
}

static void answers(sealwire_rpc_stream *stream, const void *answer, size_t size) {
    sealwire_rpc_reply *reply = NULL;
    OK(sealwire_rpc_stream_answer(stream, &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == size);
    CHECK(memcmp(sealwire_rpc_reply_data(reply), answer, size) == 0);
    sealwire_rpc_reply_free(reply);
}

static void items_come_in_order(const sealwire_rpc_client *client) {
    sealwire_rpc_stream *stream = open_stream(client, "a thousand");
    for (uint32_t number = 0; number < 1000; number++) {
        CHECK(next_number(stream) == number);
    }
    ends(stream);
    answers(stream, "done", 4);
}

static void *send_five_hundred(void *argument) {
    const sealwire_rpc_stream *stream = (const sealwire_rpc_stream *)argument;
    for (uint32_t number = 0; number < 500; number++) {
        send_number(stream, number);
    }
    OK(sealwire_rpc_stream_finish(stream));
    OK(sealwire_rpc_stream_finish(stream));
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_stream_send(stream, "x", 1, SEALWIRE_WAIT));
    return NULL;
}

static void both_directions_at_once(const sealwire_rpc_client *client) {
    sealwire_rpc_stream *stream = open_stream(client, "sums");
    pthread_t sending;
    uint32_t sum = 0;
    CHECK(pthread_create(&sending, NULL, send_five_hundred, stream) == 0);
    for (uint32_t number = 0; number < 500; number++) {
        sum += number;
        CHECK(next_number(stream) == sum);
    }
    CHECK(pthread_join(sending, NULL) == 0);
    ends(stream);
    answers(stream, &sum, sizeof sum);
}

static void the_handler_ends_it_with_an_error(const sealwire_rpc_client *client) {
    sealwire_rpc_stream *stream = open_stream(client, "fail after three");
    sealwire_rpc_reply *reply = NULL;
    sealwire_rpc_error *error = NULL;
    size_t size = 0;
    for (uint32_t number = 0; number < 3; number++) {
        CHECK(next_number(stream) == number);
    }
    ends(stream);
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_stream_send(stream, "x", 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_RPC_REMOTE, sealwire_rpc_stream_answer(stream, &reply, &error));
    CHECK(reply == NULL && sealwire_rpc_error_code(error) == 1234);
    CHECK(strcmp(sealwire_rpc_error_text(error), "enough") == 0);
    CHECK(memcmp(sealwire_rpc_error_details(error, &size), "why", 3) == 0 && size == 3);
    sealwire_rpc_error_free(error);
}

/* The handler is told, whether it sends or receives. */
static void the_caller_ends_it(const sealwire_rpc_client *client, service *serving) {
    sealwire_rpc_stream *stream = open_stream(client, "for ever");
    CHECK(next_number(stream) == 0 && next_number(stream) == 1);
    sealwire_rpc_stream_free(stream);
    await_left_alone(serving, 1);
    sealwire_rpc_stream_free(open_to_a_listener(client));
    await_left_alone(serving, 2);
    /* Without a place for the answer it is cancelled as well. */
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_answer(open_to_a_listener(client), NULL, NULL));
    await_left_alone(serving, 3);
}

/* A slow reader holds its writer back, which need not wait for it. */
static void waits_have_limits(const sealwire_rpc_client *client, service *serving) {
    sealwire_rpc_stream *stream = open_stream(client, "keep");
    sealwire_rpc_request *request = await_kept(serving);
    sealwire_rpc_reply *item = NULL;
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_rpc_stream_next(stream, SEALWIRE_NO_WAIT, &item));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_rpc_stream_next(stream, SHORT, &item));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_rpc_request_next(request, SEALWIRE_NO_WAIT, &item));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_rpc_request_next(request, SHORT, &item));
    CHECK(item == NULL);
    for (uint32_t number = 0; number < WINDOW; number++) {
        OK(sealwire_rpc_stream_send(stream, &number, sizeof number, SEALWIRE_NO_WAIT));
        OK(sealwire_rpc_request_send(request, &number, sizeof number, SEALWIRE_NO_WAIT));
    }
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_rpc_stream_send(stream, "x", 1, SEALWIRE_NO_WAIT));
    RETURNS(SEALWIRE_ERROR_RPC_CONGESTED, sealwire_rpc_stream_send(stream, "x", 1, SHORT));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_rpc_request_send(request, "x", 1, SEALWIRE_NO_WAIT));
    RETURNS(SEALWIRE_ERROR_RPC_CONGESTED, sealwire_rpc_request_send(request, "x", 1, SHORT));
    /* What was refused was not sent. */
    for (uint32_t number = 0; number < WINDOW; number++) {
        CHECK(next_number(stream) == number);
        OK(sealwire_rpc_request_next(request, TIMEOUT, &item));
        CHECK(number_of(item) == number);
    }
    send_number(stream, 7);
    OK(sealwire_rpc_request_next(request, SEALWIRE_WAIT, &item));
    CHECK(number_of(item) == 7);
    /* An item without bytes is one. */
    OK(sealwire_rpc_request_send(request, NULL, 0, TIMEOUT));
    OK(sealwire_rpc_stream_next(stream, SEALWIRE_WAIT, &item));
    CHECK(sealwire_rpc_reply_size(item) == 0);
    sealwire_rpc_reply_free(item);
    OK(sealwire_rpc_request_reply(request, "read", 4));
    ends(stream);
    answers(stream, "read", 4);
}

/* Whether the handler was called before that or not. */
static void time_runs_out(const sealwire_rpc_client *client) {
    sealwire_rpc_stream *stream = NULL;
    sealwire_rpc_reply *reply = NULL;
    sealwire_rpc_error *error = NULL;
    OK(sealwire_rpc_client_open(client, "too late", 8, 50, &stream, NULL));
    ends(stream);
    RETURNS(SEALWIRE_ERROR_RPC_DEADLINE, sealwire_rpc_stream_answer(stream, &reply, &error));
    CHECK(reply == NULL && sealwire_rpc_error_status(error) == SEALWIRE_ERROR_RPC_DEADLINE);
    sealwire_rpc_error_free(error);
}

static void what_is_too_large(const sealwire_rpc_client *client, service *serving) {
    const size_t large = (size_t)5 << 20;
    void *body = calloc(1, large);
    sealwire_rpc_stream *none = NULL, *stream = open_stream(client, "keep");
    sealwire_rpc_request *request = await_kept(serving);
    sealwire_rpc_error *error = NULL;
    CHECK(body != NULL);
    RETURNS(SEALWIRE_ERROR_RPC_TOO_LARGE, sealwire_rpc_stream_send(stream, body, large, TIMEOUT));
    RETURNS(SEALWIRE_ERROR_RPC_TOO_LARGE, sealwire_rpc_request_send(request, body, large, TIMEOUT));
    RETURNS(SEALWIRE_ERROR_RPC_TOO_LARGE,
            sealwire_rpc_client_open(client, body, large, TIMEOUT, &none, &error));
    CHECK(none == NULL && sealwire_rpc_error_status(error) == SEALWIRE_ERROR_RPC_TOO_LARGE);
    sealwire_rpc_error_free(error);
    free(body);
    OK(sealwire_rpc_request_reply(request, "", 0));
    answers(stream, "", 0);
}

static void what_is_missing(const sealwire_rpc_client *client, service *serving) {
    sealwire_rpc_reply *reply = NULL;
    sealwire_rpc_stream *stream = open_stream(client, "keep");
    sealwire_rpc_request *request = await_kept(serving);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_open(NULL, "x", 1, 1, &stream, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_open(client, NULL, 1, 1, &stream, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_client_open(client, "x", 1, 1, NULL, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_client_open(client, "x", 1, -7, &stream, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_conn_open(NULL, "x", 1, 1, &stream, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_send(NULL, "x", 1, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_send(stream, NULL, 1, 1));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_stream_send(stream, "x", 1, -7));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_finish(NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_next(NULL, 1, &reply));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_next(stream, 1, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_stream_next(stream, -7, &reply));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_stream_answer(NULL, &reply, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_request_send(NULL, "x", 1, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_request_send(request, NULL, 1, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_request_next(NULL, 1, &reply));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_request_next(request, 1, NULL));
    CHECK(reply == NULL && !sealwire_rpc_request_has_streams(NULL));
    sealwire_rpc_stream_free(NULL);
    OK(sealwire_rpc_request_reply(request, "", 0));
    answers(stream, "", 0);
}

static void of_a_client(const mechanism *with) {
    service serving;
    sealwire_rpc_server *server = NULL;
    sealwire_rpc_client *client = NULL;
    sealwire_rpc_reply *reply = NULL;
    sealwire_rpc_error *error = NULL;
    char *endpoint = NULL;
    init(&serving);
    sealwire_rpc_handler handler = {on_request, NULL, &serving, NULL, 2};
    sealwire_rpc_handler client_handler = {without_a_wait, NULL, NULL, NULL, 0};
    server = make_server(with->server, &handler);
    OK(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    client = make_client(endpoint, with->client, &client_handler);
    items_come_in_order(client);
    both_directions_at_once(client);
    the_handler_ends_it_with_an_error(client);
    the_caller_ends_it(client, &serving);
    waits_have_limits(client, &serving);
    time_runs_out(client);
    what_is_too_large(client, &serving);
    what_is_missing(client, &serving);
    OK(sealwire_rpc_client_request(client, "no streams", 10, TIMEOUT, &reply, NULL));
    sealwire_rpc_reply_free(reply);
    /* The server opens a stream to its client, whose handler may not wait. */
    OK(sealwire_rpc_client_request(client, "call back", 9, TIMEOUT, &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == 4);
    sealwire_rpc_reply_free(reply);
    reply = NULL;

    /* The connection ends during a call. */
    sealwire_rpc_stream *stream = open_stream(client, "keep");
    sealwire_rpc_request *request = await_kept(&serving);
    sealwire_rpc_server_free(server);
    ends(stream);
    RETURNS(SEALWIRE_ERROR_RPC_STREAM_ENDED, sealwire_rpc_stream_send(stream, "x", 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_RPC_CONNECTION_LOST, sealwire_rpc_stream_answer(stream, &reply, &error));
    CHECK(reply == NULL && sealwire_rpc_error_may_have_run(error));
    sealwire_rpc_error_free(error);
    is_left_alone(&serving, request);
    sealwire_rpc_client_free(client);
    sealwire_string_free(endpoint);
}

int main(void) {
    const char *names[] = {"BLAKE3", "CURVE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mechanism with = make_mechanism(names[i]);
        of_a_client(&with);
        free_mechanism(&with);
    }
    return 0;
}
