/* The log: what it says, to whom, and what becomes of it when it is slow or replaced. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    int lines, errors, dropped, destroyed, closed;
    char first[512];
} heard;

static int of(int *number) {
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

static void add(int *number) {
    __atomic_add_fetch(number, 1, __ATOMIC_SEQ_CST);
}

static void await(int *number, int least) {
    for (int i = 0; i < TIMEOUT && of(number) < least; i++) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
    CHECK(of(number) >= least);
}

static void destroy(void *user) {
    add(&((heard *)user)->destroyed);
}

static void hear(int32_t level, const char *text, void *user) {
    heard *by = (heard *)user;
    CHECK(of(&by->destroyed) == 0);
    CHECK(level >= SEALWIRE_LOG_ERROR && level <= SEALWIRE_LOG_DEBUG);
    for (const char *c = text; *c; c++) {
        CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    if (of(&by->lines) == 0) {
        snprintf(by->first, sizeof by->first, "%s", text);
    }
    if (strstr(text, " lines were dropped") != NULL) {
        add(&by->dropped);
    }
    add(&by->lines);
    while (of(&by->closed)) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
}

static void fail_with_a_wrong_key(void) {
    mechanism with = make_mechanism("BLAKE3"), other = make_mechanism("BLAKE3");
    char *endpoint = NULL;
    sealwire_monitor *of_client = NULL;
    sealwire_socket *server = make_socket(SEALWIRE_PUSH, with.server);
    sealwire_socket *client = make_socket(SEALWIRE_PULL, other.client);
    OK(sealwire_monitor_new(client, &of_client));
    OK(sealwire_socket_bind(server, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(client, endpoint));
    sealwire_event_free(await_event(of_client, SEALWIRE_EVENT_FAILED));
    sealwire_monitor_free(of_client);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
    free_mechanism(&other);
}

/* Each is a line at the level of debugging, and more. */
static void bind_sockets(int count) {
    sealwire_security *security = no_security();
    for (int i = 0; i < count; i++) {
        sealwire_socket *socket = make_socket(SEALWIRE_PULL, security);
        OK(sealwire_socket_bind(socket, "tcp://127.0.0.1:0", NULL));
        sealwire_socket_free(socket);
    }
    sealwire_security_free(security);
}

static void a_wrong_key_is_heard_of(heard *first) {
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_log(0, hear, first, destroy));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_log(SEALWIRE_LOG_DEBUG + 1, hear, first, destroy));
    CHECK(of(&first->destroyed) == 0);
    fail_with_a_wrong_key();
    OK(sealwire_log(SEALWIRE_LOG_WARNING, hear, first, destroy));
    fail_with_a_wrong_key();
    await(&first->lines, 1);
    CHECK(strstr(first->first, "127.0.0.1") != NULL);
}

static void another_takes_its_place(heard *first, heard *second) {
    second->closed = 1;
    OK(sealwire_log(SEALWIRE_LOG_DEBUG, hear, second, destroy));
    await(&first->destroyed, 1);
    bind_sockets(1200);
    __atomic_store_n(&second->closed, 0, __ATOMIC_SEQ_CST);
    bind_sockets(1);
    await(&second->dropped, 1);
}

static void it_ends(heard *second) {
    OK(sealwire_log(SEALWIRE_LOG_DEBUG, NULL, NULL, NULL));
    await(&second->destroyed, 1);
    int lines = of(&second->lines);
    bind_sockets(1);
    fail_with_a_wrong_key();
    CHECK(of(&second->lines) == lines);
}

static void a_child_has_a_log_of_its_own(heard *third) {
    heard here;
    int status = 0;
    memset(&here, 0, sizeof here);
    OK(sealwire_log(SEALWIRE_LOG_WARNING, hear, third, destroy));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        fail_with_a_wrong_key();
        CHECK(of(&third->lines) == 0);
        OK(sealwire_log(SEALWIRE_LOG_WARNING, hear, &here, destroy));
        fail_with_a_wrong_key();
        await(&here.lines, 1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(of(&third->lines) == 0);
    OK(sealwire_log(SEALWIRE_LOG_WARNING, NULL, NULL, NULL));
    await(&third->destroyed, 1);
}

int main(void) {
    static heard first, second, third;
    a_wrong_key_is_heard_of(&first);
    another_takes_its_place(&first, &second);
    it_ends(&second);
    a_child_has_a_log_of_its_own(&third);
    CHECK(of(&first.destroyed) == 1 && of(&second.destroyed) == 1 && of(&third.destroyed) == 1);
    return 0;
}
