/* Descriptors run out while the rules for encryption are read: the context is refused, and the next one has the rules. Each
 * file of the rules is the one that cannot be opened, in a process of its own. */
#include "check.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/wait.h>

/* The file that is not opened, counted from 1; 0 for none. */
static int refused, opened;

/* The library opens its files by it. */
int open64(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int of_rules = strstr(path, "/sealwire/") || strstr(path, "rules.d/");
    if (of_rules && ++opened == refused) {
        errno = EMFILE;
        return -1;
    }
    if (!next)
        next = (int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}

/* Whether there was such a file. */
static int without(int number)
{
    int mechanism;
    size_t size = sizeof mechanism;
    refused = number;
    void *context = zmq_ctx_new();
    int found = opened >= number;
    if (found)
        CHECK(context == NULL && zmq_errno() == EMFILE);
    else
        CHECK(context != NULL && zmq_ctx_term(context) == 0);
    refused = 0;
    context = zmq_ctx_new();
    CHECK(context != NULL);
    void *pull = open_socket(context, ZMQ_PULL);
    CHECK(zmq_bind(pull, "tcp://127.0.0.1:*") == 0);
    CHECK(zmq_getsockopt(pull, ZMQ_MECHANISM, &mechanism, &size) == 0);
    CHECK(mechanism == ZMQ_BLAKE3);
    CHECK(zmq_close(pull) == 0 && zmq_ctx_term(context) == 0);
    return found;
}

int main(void)
{
    /* Those of the machine and of the program, two keys of a server and its list, and two keys of a client. */
    const int files = 7;
    alarm(LIMIT);
    for (int number = 1; number <= files + 1; number++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(LIMIT);
            _exit(without(number) == (number <= files) ? 0 : 3);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0)
            fprintf(stderr, "file %d\n", number);
        CHECK(status == 0);
    }
    return 0;
}
