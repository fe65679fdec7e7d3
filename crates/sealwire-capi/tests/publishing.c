/* Options of XPUB and XSUB from libzmq's drafts, and how many topics there are. */
#include "test.h"

static sealwire_socket *with_option(int32_t type, const sealwire_security *none, int32_t option) {
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *socket = NULL;
    OK(sealwire_options_set(options, option, 1));
    OK(sealwire_socket_new(type, none, options, &socket));
    sealwire_options_free(options);
    return socket;
}

static void subscribe(const sealwire_socket *socket, const char *topic) {
    OK(sealwire_socket_subscribe(socket, topic, strlen(topic)));
}

static size_t topics(const sealwire_socket *socket) {
    size_t count = 99;
    OK(sealwire_socket_topics(socket, &count));
    return count;
}

/* The value that all others have goes to the latest subscriber alone. */
static void last_value(const sealwire_security *none) {
    sealwire_socket *xpub = with_option(SEALWIRE_XPUB, none, SEALWIRE_OPTION_XPUB_MANUAL_LAST_VALUE);
    sealwire_socket *first = make_socket(SEALWIRE_SUB, none), *second = make_socket(SEALWIRE_SUB, none);
    char *bound = NULL;
    OK(sealwire_socket_bind(xpub, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_socket_connect(first, bound));
    subscribe(first, "a");
    receive_text(xpub, "\1a");
    subscribe(xpub, "a");
    send_text(xpub, "a1");
    receive_text(first, "a1");
    OK(sealwire_socket_connect(second, bound));
    subscribe(second, "a");
    receive_text(xpub, "\1a");
    subscribe(xpub, "a");
    send_text(xpub, "a2");
    send_text(xpub, "a3");
    receive_text(second, "a2");
    receive_text(second, "a3");
    receive_text(first, "a3");
    sealwire_string_free(bound);
    sealwire_socket_free(first);
    sealwire_socket_free(second);
    sealwire_socket_free(xpub);
}

/* A publisher that tells every cancellation sees those of an XSUB which passes every one. */
static void every_cancellation(const sealwire_security *none) {
    sealwire_socket *xpub = with_option(SEALWIRE_XPUB, none, SEALWIRE_OPTION_XPUB_VERBOSER);
    sealwire_socket *xsub = with_option(SEALWIRE_XSUB, none, SEALWIRE_OPTION_XSUB_VERBOSE_UNSUBSCRIBE);
    sealwire_socket *plain = make_socket(SEALWIRE_XSUB, none);
    OK(sealwire_socket_bind(xpub, "inproc://c-cancellations", NULL));
    OK(sealwire_socket_connect(xsub, "inproc://c-cancellations"));
    OK(sealwire_socket_connect(plain, "inproc://c-cancellations"));
    send_text(xsub, "\1a");
    send_text(xsub, "\1a");
    receive_text(xpub, "\1a");
    CHECK(topics(xsub) == 1 && topics(xpub) == 1);
    /* The first of the two is passed. */
    OK(sealwire_socket_send_bytes(xsub, "\0a", 2, SEALWIRE_WAIT));
    sealwire_message *message = receive(xpub);
    CHECK(sealwire_message_size(message) == 2 && memcmp(sealwire_message_data(message), "\0a", 2) == 0);
    sealwire_message_free(message);
    /* Without the option it is not: the next that comes is another topic. */
    send_text(plain, "\1b");
    send_text(plain, "\1b");
    receive_text(xpub, "\1b");
    OK(sealwire_socket_send_bytes(plain, "\0b", 2, SEALWIRE_WAIT));
    send_text(plain, "\1c");
    receive_text(xpub, "\1c");
    sealwire_socket_free(plain);
    sealwire_socket_free(xsub);
    sealwire_socket_free(xpub);
}

static void counts(const sealwire_security *none) {
    sealwire_socket *sub = make_socket(SEALWIRE_SUB, none), *pull = make_socket(SEALWIRE_PULL, none);
    size_t count = 7;
    CHECK(topics(sub) == 0);
    subscribe(sub, "a");
    subscribe(sub, "a");
    subscribe(sub, "b");
    CHECK(topics(sub) == 2);
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_socket_topics(pull, &count));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_topics(NULL, &count));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_topics(sub, NULL));
    CHECK(count == 7);
    sealwire_socket_free(pull);
    sealwire_socket_free(sub);
}

/* Both sides hear of messages that find no room: nobody takes anything while the subscriber reads nothing. */
static void drops(const sealwire_security *none) {
    enum { QUEUE = 2, SENT = 100 };
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *publisher = NULL, *subscriber = NULL;
    sealwire_monitor *of_publisher = NULL, *of_subscriber = NULL;
    OK(sealwire_options_set(options, SEALWIRE_OPTION_SEND_HIGH_WATER_MARK, QUEUE));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECEIVE_HIGH_WATER_MARK, QUEUE));
    OK(sealwire_socket_new(SEALWIRE_PUB, none, options, &publisher));
    OK(sealwire_socket_new(SEALWIRE_SUB, none, options, &subscriber));
    sealwire_options_free(options);
    OK(sealwire_monitor_new(publisher, &of_publisher));
    OK(sealwire_monitor_new(subscriber, &of_subscriber));
    OK(sealwire_socket_bind(publisher, "inproc://c-drops", NULL));
    OK(sealwire_socket_connect(subscriber, "inproc://c-drops"));
    subscribe(subscriber, "");
    OK(sealwire_socket_wait_subscribed(publisher, "", 0, 1, TIMEOUT));
    for (int i = 0; i < SENT; i++) {
        send_text(publisher, "news");
    }
    sealwire_counters counters;
    OK(sealwire_socket_counters(publisher, &counters));
    const uint64_t dropped = counters.dropped_at_send;
    CHECK(dropped > 0 && dropped < SENT);
    sealwire_event *event = await_event(of_publisher, SEALWIRE_EVENT_DROPS_BEGAN);
    CHECK(sealwire_event_peer(event) != NULL && sealwire_event_count(event) == 0);
    sealwire_event_free(event);
    for (uint64_t i = dropped; i < SENT; i++) {
        receive_text(subscriber, "news");
    }
    sealwire_message *none_left = NULL;
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_socket_recv(subscriber, SEALWIRE_NO_WAIT, &none_left));
    OK(sealwire_socket_counters(subscriber, &counters));
    CHECK(counters.missed == dropped);
    event = await_event(of_publisher, SEALWIRE_EVENT_DROPS_ENDED);
    uint64_t told = sealwire_event_count(event);
    CHECK(0 < told && told <= dropped);
    sealwire_event_free(event);
    event = await_event(of_subscriber, SEALWIRE_EVENT_MESSAGES_MISSED);
    told = sealwire_event_count(event);
    CHECK(0 < told && told <= dropped && sealwire_event_peer(event) != NULL);
    sealwire_event_free(event);
    CHECK(sealwire_event_count(NULL) == 0);
    sealwire_monitor_free(of_publisher);
    sealwire_monitor_free(of_subscriber);
    sealwire_socket_free(subscriber);
    sealwire_socket_free(publisher);
}

static void of_other_types(const sealwire_security *none) {
    const int32_t of[] = {SEALWIRE_OPTION_XPUB_MANUAL_LAST_VALUE, SEALWIRE_OPTION_XSUB_VERBOSE_UNSUBSCRIBE};
    for (int i = 0; i < 2; i++) {
        sealwire_options *options = options_with_timeouts();
        sealwire_socket *socket = NULL;
        OK(sealwire_options_set(options, of[i], 1));
        RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_new(SEALWIRE_PULL, none, options, &socket));
        RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_options_set(options, of[i], 2));
        sealwire_options_free(options);
    }
}

int main(void) {
    sealwire_security *none = no_security();
    last_value(none);
    every_cancellation(none);
    counts(none);
    drops(none);
    of_other_types(none);
    sealwire_security_free(none);
    return 0;
}
