/* A signal about a thousand times a second: every call that waits ends with EINTR, no part of a message is lost or comes
 * twice, and zmq_ctx_term can be called again. */
#include "check.h"

#include <sys/uio.h>

/* Messages, and signals that interrupt a call of either side. Where too few do, more messages make up for them. */
#define MESSAGES 3000
#define INTERRUPTED 100
#define ENOUGH 20000

#define LAST UINT32_MAX

static pthread_t threads[2];
static int over, interrupted;

static void on_signal(int signal)
{
    (void) signal;
}

static void *interrupt(void *unused)
{
    (void) unused;
    while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
        for (int i = 0; i < 2; i++)
            pthread_kill(__atomic_load_n(&threads[i], __ATOMIC_SEQ_CST), SIGUSR1);
        usleep(1000);
    }
    return NULL;
}

static void *context, *pull, *push;

/* Repeats a call as long as a signal interrupts it. */
#define PERSIST(result, call)                                                                                     \
    do {                                                                                                          \
        (result) = (call);                                                                                        \
    } while ((result) == -1 && zmq_errno() == EINTR && __atomic_add_fetch(&interrupted, 1, __ATOMIC_SEQ_CST))

/* Messages of one part and of three, each with its number in every part. */
static void *send_all(void *unused)
{
    (void) unused;
    int result;
    for (uint32_t number = 0; number < ENOUGH; number++) {
        if (number >= MESSAGES && __atomic_load_n(&interrupted, __ATOMIC_SEQ_CST) >= INTERRUPTED)
            break;
        int parts = number % 2 ? 3 : 1;
        if (number % 3 == 0) {
            struct iovec places[3] = {{&number, sizeof number}, {&number, sizeof number}, {&number, sizeof number}};
            PERSIST(result, zmq_sendiov(push, places, (size_t) parts, ZMQ_SNDMORE));
            CHECK(result == sizeof number);
            continue;
        }
        for (int part = 0; part < parts; part++) {
            int more = part + 1 < parts ? ZMQ_SNDMORE : 0;
            if (part == 1) {
                zmq_msg_t message;
                CHECK(zmq_msg_init_size(&message, sizeof number) == 0);
                memcpy(zmq_msg_data(&message), &number, sizeof number);
                PERSIST(result, zmq_msg_send(&message, push, more));
            } else {
                PERSIST(result, zmq_send(push, &number, sizeof number, more));
            }
            CHECK(result == sizeof number);
        }
    }
    uint32_t last = LAST;
    PERSIST(result, zmq_send(push, &last, sizeof last, 0));
    CHECK(result == sizeof last);
    return NULL;
}

static void receive_all(void)
{
    for (uint32_t number = 0;; number++) {
        int parts = number % 2 ? 3 : 1;
        for (int part = 0; part < parts; part++) {
            uint32_t got = 0;
            int result, more;
            size_t size = sizeof more;
            if (part == 0 && number % 5 == 0) {
                zmq_pollitem_t item = {pull, 0, ZMQ_POLLIN, 0};
                PERSIST(result, zmq_poll(&item, 1, -1));
                CHECK(result == 1);
            }
            PERSIST(result, zmq_recv(pull, &got, sizeof got, 0));
            CHECK(result == sizeof got);
            if (got == LAST && part == 0)
                return;
            CHECK(got == number);
            CHECK(zmq_getsockopt(pull, ZMQ_RCVMORE, &more, &size) == 0);
            CHECK(more == (part + 1 < parts));
        }
    }
}

static void terminate(void)
{
    /* A socket is open, so only a signal ends it. */
    for (int i = 0; i < 10; i++)
        FAILS(EINTR, zmq_ctx_term(context));
    CHECK(zmq_close(pull) == 0);
    int result;
    PERSIST(result, zmq_ctx_term(context));
    CHECK(result == 0);
}

/* Nothing comes, and nobody takes anything: each call waits until a signal ends it. */
static void each_call_that_waits(void)
{
    char bytes[8];
    size_t parts = 1;
    struct iovec place = {bytes, sizeof bytes};
    void *lonely = zmq_socket(context, ZMQ_PUSH), *quiet = zmq_socket(context, ZMQ_PULL);
    void *control = zmq_socket(context, ZMQ_PAIR), *router = zmq_socket(context, ZMQ_ROUTER);
    zmq_pollitem_t items[] = {{quiet, 0, ZMQ_POLLIN, 0}, {lonely, 0, ZMQ_POLLOUT, 0}};
    zmq_msg_t message;
    CHECK(lonely && quiet && control && router);
    CHECK(zmq_msg_init(&message) == 0);
    FAILS(EINTR, zmq_recv(quiet, bytes, sizeof bytes, 0));
    FAILS(EINTR, zmq_msg_recv(&message, quiet, 0));
    FAILS(EINTR, zmq_recvmsg(quiet, &message, 0));
    FAILS(EINTR, zmq_recviov(quiet, &place, &parts, 0));
    FAILS(EINTR, zmq_send(lonely, "x", 1, 0));
    FAILS(EINTR, zmq_send(lonely, "x", 1, ZMQ_SNDMORE));
    FAILS(EINTR, zmq_send_const(lonely, "x", 1, 0));
    FAILS(EINTR, zmq_msg_send(&message, lonely, 0));
    FAILS(EINTR, zmq_sendmsg(lonely, &message, 0));
    FAILS(EINTR, zmq_sendiov(lonely, &place, 1, 0));
    FAILS(EINTR, zmq_poll(items, 2, -1));
    FAILS(EINTR, zmq_poll(NULL, 0, -1));
    FAILS(EINTR, zmq_proxy(quiet, router, NULL));
    FAILS(EINTR, zmq_proxy_steerable(quiet, router, NULL, control));
    CHECK(zmq_msg_close(&message) == 0);
    CHECK(zmq_close(lonely) == 0 && zmq_close(quiet) == 0 && zmq_close(control) == 0 && zmq_close(router) == 0);
}

/* A proxy that waits for room, of its capture or of the other side: it ends with EINTR as well, and what it had taken comes again. */
static void a_proxy_that_waits_to_send(void)
{
    int one = 1;
    char got;
    for (int captures = 0; captures < 2; captures++) {
        void *source = zmq_socket(context, ZMQ_PUSH), *in = zmq_socket(context, ZMQ_PULL);
        void *out = zmq_socket(context, ZMQ_PUSH), *sink = zmq_socket(context, ZMQ_PULL);
        void *capture = captures ? zmq_socket(context, ZMQ_PUSH) : NULL;
        CHECK(source && in && out && sink);
        CHECK(zmq_setsockopt(out, ZMQ_SNDHWM, &one, sizeof one) == 0);
        CHECK(zmq_setsockopt(sink, ZMQ_RCVHWM, &one, sizeof one) == 0);
        CHECK(zmq_bind(in, "inproc://in") == 0 && zmq_connect(source, "inproc://in") == 0);
        CHECK(zmq_bind(sink, "inproc://sink") == 0 && zmq_connect(out, "inproc://sink") == 0);
        for (char number = 0; number < 50; number++)
            CHECK(zmq_send(source, &number, 1, ZMQ_DONTWAIT) == 1);
        for (int i = 0; i < 3; i++)
            FAILS(EINTR, zmq_proxy(in, out, capture));
        /* With a capture that nobody reads nothing was passed on. */
        int result;
        PERSIST(result, zmq_recv(in, &got, 1, 0));
        char passed = got;
        CHECK(result == 1 && (captures ? passed == 0 : passed > 0));
        for (char number = passed + 1; number < 50; number++) {
            PERSIST(result, zmq_recv(in, &got, 1, 0));
            CHECK(result == 1 && got == number);
        }
        for (char number = 0; number < passed; number++) {
            PERSIST(result, zmq_recv(sink, &got, 1, 0));
            CHECK(result == 1 && got == number);
        }
        CHECK(zmq_close(source) == 0 && zmq_close(in) == 0 && zmq_close(out) == 0 && zmq_close(sink) == 0);
        CHECK(!capture || zmq_close(capture) == 0);
    }
}

int main(void)
{
    char endpoint[256];
    int few = 2, result;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_t signals, sender;
    alarm(LIMIT);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    threads[0] = threads[1] = pthread_self();
    context = zmq_ctx_new();
    pull = open_socket(context, ZMQ_PULL);
    push = open_socket(context, ZMQ_PUSH);
    /* Little room, so that both sides wait. */
    CHECK(zmq_setsockopt(pull, ZMQ_RCVHWM, &few, sizeof few) == 0);
    CHECK(zmq_setsockopt(push, ZMQ_SNDHWM, &few, sizeof few) == 0);
    bind_anywhere(pull, endpoint);
    CHECK(zmq_connect(push, endpoint) == 0);
    CHECK(pthread_create(&signals, NULL, interrupt, NULL) == 0);
    each_call_that_waits();
    a_proxy_that_waits_to_send();
    CHECK(pthread_create(&sender, NULL, send_all, NULL) == 0);
    __atomic_store_n(&threads[1], sender, __ATOMIC_SEQ_CST);
    receive_all();
    CHECK(zmq_close(push) == 0);
    char byte;
    PERSIST(result, zmq_recv(pull, &byte, 1, ZMQ_DONTWAIT));
    CHECK(result == -1 && zmq_errno() == EAGAIN);
    terminate();
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(signals, NULL) == 0 && pthread_join(sender, NULL) == 0);
    return 0;
}
