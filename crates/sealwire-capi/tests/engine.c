/* The end of a context's thread by a fault: its sockets fail, and others work. */
#include "test.h"

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>

static int polls(int fd) {
    char link[64], target[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target);
    return length > 0 && strncmp(target, "anon_inode:[eventpoll]", (size_t)length) == 0;
}

/* Where the system refuses to poll, the sockets of the context say so, and new contexts work. */
static void engine_fails(const sealwire_security *none) {
    sealwire_context *context = NULL;
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *pull = NULL;
    sealwire_message *message = NULL;
    int before[64];
    for (int fd = 0; fd < 64; fd++) {
        before[fd] = polls(fd);
    }
    OK(sealwire_context_new(&context));
    OK(sealwire_options_set_context(options, context));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, options, &pull));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", NULL));
    int other = open("/dev/null", O_RDONLY), replaced = 0;
    CHECK(other != -1);
    for (int fd = 0; fd < 64; fd++) {
        if (polls(fd) && !before[fd]) {
            CHECK(dup2(other, fd) == fd);
            replaced++;
        }
    }
    CHECK(replaced > 0 && close(other) == 0);
    /* Wakes the thread, which then polls what cannot be polled. */
    sealwire_socket *second = make_socket(SEALWIRE_PULL, none);
    sealwire_socket_bind(pull, "tcp://127.0.0.1:0", NULL);
    RETURNS(SEALWIRE_ERROR_ENGINE_FAILED, sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
    CHECK(message == NULL);
    RETURNS(SEALWIRE_ERROR_ENGINE_FAILED, sealwire_socket_bind(pull, "tcp://127.0.0.1:0", NULL));
    OK(sealwire_socket_bind(second, "tcp://127.0.0.1:0", NULL));
    sealwire_socket_free(second);
    sealwire_socket_free(pull);
    sealwire_options_free(options);
    sealwire_context_free(context);
}

int main(void) {
    sealwire_security *none = no_security();
    engine_fails(none);
    sealwire_security_free(none);
    return 0;
}
#else
int main(void) {
    /* Other systems do not tell which descriptors poll. */
    return 0;
}
#endif
