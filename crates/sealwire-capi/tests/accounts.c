/* What is held for peers and how often they reached a bound; the numbers of a context; connections as messages. */
#include "test.h"

static uint64_t held(const sealwire_peer *peer, int32_t kind) {
    uint64_t bytes = UINT64_MAX;
    OK(sealwire_peer_held(peer, kind, &bytes));
    return bytes;
}

/* Takes three numbers of a peer. */
static void add_numbers(void *user, const sealwire_metric *metric) {
    double *numbers = (double *)user;
    CHECK(metric->labels == 0);
    if (strcmp(metric->name, "messages_received") == 0) {
        numbers[0] = metric->value;
    } else if (strcmp(metric->name, "inbound_messages") == 0) {
        numbers[1] = metric->value;
    } else if (strcmp(metric->name, "age") == 0) {
        numbers[2] = metric->value;
    }
}

/* A sender that is not read: what it sent is on its account, and so is that it has to wait. */
static void of_a_sender(void) {
    const char text[] = "twenty bytes of text";
    const size_t size = sizeof text - 1;
    mechanism with = make_mechanism("BLAKE3");
    char *endpoint = NULL;
    sealwire_socket *pull = NULL;
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECEIVE_HIGH_WATER_MARK, 2));
    OK(sealwire_socket_new(SEALWIRE_PULL, with.server, options, &pull));
    sealwire_options_free(options);
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, with.client);
    OK(sealwire_socket_connect(push, endpoint));
    for (int i = 0; i < 10; i++) {
        send_text(push, text);
    }
    uint64_t paused = 0, times = 0, refused = 0;
    for (int i = 0; i < TIMEOUT && paused == 0; i++) {
        sealwire_poll(NULL, 0, 1, NULL);
        OK(sealwire_socket_exceeded(pull, SEALWIRE_KIND_RECEIVED, &paused));
    }
    CHECK(paused > 0);
    sealwire_peers *peers = NULL;
    OK(sealwire_socket_accounts(pull, &peers));
    CHECK(sealwire_peers_size(peers) == 1 && sealwire_peers_at(peers, 1) == NULL);
    const sealwire_peer *sender = sealwire_peers_at(peers, 0);
    CHECK(strcmp(sealwire_peer_mechanism(sender), "BLAKE3") == 0);
    CHECK(held(sender, SEALWIRE_KIND_RECEIVED) >= 2 * size);
    CHECK(held(sender, SEALWIRE_KIND_QUEUED) == 0);
    OK(sealwire_peer_exceeded(sender, SEALWIRE_KIND_RECEIVED, &times));
    OK(sealwire_peer_exceeded(sender, SEALWIRE_KIND_ARRIVING, &refused));
    CHECK(times > 0 && refused == 0);
    /* The handshake was answered. */
    CHECK(sealwire_peer_written(sender) > 0);
    sealwire_peers_free(peers);
    for (int i = 0; i < 10; i++) {
        receive_text(pull, text);
    }
    OK(sealwire_socket_accounts(pull, &peers));
    CHECK(held(sealwire_peers_at(peers, 0), SEALWIRE_KIND_RECEIVED) == 0);
    double numbers[3] = {0.0, 1.0, 0.0};
    OK(sealwire_peer_numbers_each(sealwire_peers_at(peers, 0), add_numbers, numbers));
    CHECK(numbers[0] == 10.0 && numbers[1] == 0.0 && numbers[2] > 0.0);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_peer_numbers_each(sealwire_peers_at(peers, 0), NULL, numbers));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_peer_numbers_each(NULL, add_numbers, numbers));
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    /* The list outlives the socket. */
    CHECK(held(sealwire_peers_at(peers, 0), SEALWIRE_KIND_RECEIVED) == 0);
    sealwire_peers_free(peers);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

static void kinds(void) {
    int32_t kind = 0;
    uint64_t number = 7;
    sealwire_security *none = no_security();
    sealwire_socket *socket = make_socket(SEALWIRE_PULL, none);
    while (sealwire_kind_name(kind) != NULL) {
        OK(sealwire_socket_exceeded(socket, kind, &number));
        CHECK(number == 0);
        kind++;
    }
    CHECK(kind > SEALWIRE_KIND_LOG_LINES);
    CHECK(strcmp(sealwire_kind_name(SEALWIRE_KIND_LEFT_BEHIND), "left_behind") == 0);
    number = 7;
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_exceeded(socket, kind, &number));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_exceeded(socket, -1, &number));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_exceeded(NULL, 0, &number));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_peer_held(NULL, 0, &number));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_peer_exceeded(NULL, 0, &number));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_accounts(socket, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_accounts(NULL, NULL));
    CHECK(number == 7 && sealwire_peer_written(NULL) == 0);
    CHECK(sealwire_peers_size(NULL) == 0 && sealwire_peers_at(NULL, 0) == NULL);
    sealwire_peers_free(NULL);
    sealwire_socket_free(socket);
    sealwire_security_free(none);
}

/* SERVER: connections that come and go are messages without a frame, in their order. */
static void events(void) {
    mechanism with = make_mechanism("CURVE");
    char *endpoint = NULL;
    uint32_t number = 0;
    sealwire_socket *server = NULL;
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set(options, SEALWIRE_OPTION_CONNECTION_EVENTS, 1));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_OMIT_ROUTING_ID, 1));
    OK(sealwire_socket_new(SEALWIRE_SERVER, with.server, options, &server));
    OK(sealwire_socket_bind(server, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *client = make_socket(SEALWIRE_CLIENT, with.client);
    OK(sealwire_socket_connect(client, endpoint));
    send_text(client, "hello");
    sealwire_message *message = receive(server);
    CHECK(sealwire_message_frames(message) == 0 && sealwire_message_data(message) == NULL);
    uint32_t routing_id = sealwire_peer_connection_routing_id(sealwire_message_peer(message));
    CHECK(routing_id != 0);
    sealwire_message_free(message);
    message = receive(server);
    CHECK(sealwire_message_frames(message) == 1 && says(message, "hello"));
    CHECK(sealwire_peer_connection_routing_id(sealwire_message_peer(message)) == routing_id);
    RETURNS(SEALWIRE_ERROR_MESSAGE, sealwire_message_routing_id(message, &number));
    sealwire_message_free(message);
    sealwire_socket_free(client);
    message = receive(server);
    CHECK(sealwire_message_frames(message) == 0);
    CHECK(sealwire_peer_connection_routing_id(sealwire_message_peer(message)) == routing_id);
    sealwire_message_free(message);
    sealwire_socket_free(server);
    /* Other types of sockets have neither. */
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_new(SEALWIRE_PULL, with.server, options, &server));
    sealwire_options_free(options);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

/* How often a line is in the numbers of a context. */
static int lines(const sealwire_context *context, const char *line) {
    char *text = NULL;
    int count = 0;
    OK(sealwire_context_metrics(context, &text));
    for (const char *at = text; (at = strstr(at, line)) != NULL; at += strlen(line)) {
        count++;
    }
    sealwire_string_free(text);
    return count;
}

/* What a caller finds among the numbers one by one. */
struct found {
    size_t all;
    size_t of_peers;
    size_t buckets;
    double taken;
};

static void take(void *user, const sealwire_metric *metric) {
    struct found *found = (struct found *)user;
    found->all++;
    found->of_peers += strncmp(metric->name, "sealwire_peer_", 14) == 0;
    if (strcmp(metric->name, "sealwire_time_in_queue_seconds_bucket") == 0) {
        CHECK(strcmp(metric->label_names[metric->labels - 1], "le") == 0);
        found->buckets += strcmp(metric->label_values[metric->labels - 1], "+Inf") == 0;
    }
    if (strcmp(metric->name, "sealwire_messages_total") == 0) {
        CHECK(metric->labels == 3);
        CHECK(strcmp(metric->label_names[1], "type") == 0);
        CHECK(strcmp(metric->label_names[2], "direction") == 0);
        if (strcmp(metric->label_values[1], "PULL") == 0 && strcmp(metric->label_values[2], "in") == 0) {
            found->taken = metric->value;
        }
    }
}

/* The numbers of a context and of what it has, and of no other one. */
static void metrics(void) {
    const char *taken = "sealwire_messages_total{socket=\"1\",type=\"PULL\",direction=\"in\"} 2\n";
    char *endpoint = NULL;
    sealwire_context *context = NULL;
    sealwire_socket *pull = NULL;
    sealwire_security *none = no_security();
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_context_new(&context));
    OK(sealwire_options_set_context(options, context));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, options, &pull));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, none);
    OK(sealwire_socket_connect(push, endpoint));
    CHECK(lines(context, taken) == 0);
    send_text(push, "a message");
    send_text(push, "another");
    receive_text(pull, "a message");
    receive_text(pull, "another");
    CHECK(lines(context, taken) == 1);
    struct found found = {0, 0, 0, 0};
    OK(sealwire_context_metrics_each(context, take, &found));
    CHECK(found.taken == 2.0);
    CHECK(found.buckets == 2);
    /* As many as the text has lines that are no comments, and those of peers. */
    CHECK(found.of_peers > 0 && lines(context, "sealwire_peer_") == 0);
    CHECK(found.all - found.of_peers == (size_t)(lines(context, "\n") - lines(context, "# ")));
    found.all = 0;
    OK(sealwire_context_metrics_each(NULL, take, &found));
    CHECK(found.all > 0);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_context_metrics_each(context, NULL, NULL));
    CHECK(lines(context, "type=\"PUSH\"") == 0 && lines(NULL, "type=\"PUSH\"") > 0);
    CHECK(lines(NULL, "# TYPE sealwire_messages_total counter\n") == 1);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_context_metrics(context, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_context_metrics(NULL, NULL));
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_options_free(options);
    sealwire_security_free(none);
    sealwire_string_free(endpoint);
    sealwire_context_free(context);
}

int main(void) {
    of_a_sender();
    metrics();
    kinds();
    events();
    return 0;
}
