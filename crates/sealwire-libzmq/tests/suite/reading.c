/* When a process reads its rules: it changes their file, and binds.
 *
 *   reading once        reading fork
 *
 * SEALWIRE_CONFIG is the file. Rules for encryption are those in `encrypted`, other ones are written here. */
#include "check.h"

#include <sys/stat.h>
#include <sys/wait.h>

#define PLAIN "version = 1\ndefault = \"plain-text\"\n"
#define BROKEN "version = 1\nno_such_key = 1\n"
#define REFUSED (-1)

static const char *path;

static void write_rules(const char *text)
{
    FILE *file = fopen("new", "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(rename("new", path) == 0);
}

static void write_encrypted(void)
{
    char text[1000];
    FILE *file = fopen("encrypted", "r");
    CHECK(file != NULL);
    size_t size = fread(text, 1, sizeof text - 1, file);
    CHECK(size > 0 && feof(file) && fclose(file) == 0);
    text[size] = 0;
    write_rules(text);
}

/* The mechanism of what this context binds, or REFUSED. */
static int mechanism_of(void *context)
{
    int mechanism;
    size_t size = sizeof mechanism;
    CHECK(context != NULL);
    void *pull = open_socket(context, ZMQ_PULL);
    if (zmq_bind(pull, "tcp://127.0.0.1:*") != 0) {
        CHECK(zmq_errno() == EACCES);
        mechanism = REFUSED;
    } else
        CHECK(zmq_getsockopt(pull, ZMQ_MECHANISM, &mechanism, &size) == 0);
    CHECK(zmq_close(pull) == 0);
    return mechanism;
}

/* That of a context made for it. */
static int mechanism_anew(void)
{
    void *context = zmq_ctx_new();
    int mechanism = mechanism_of(context);
    CHECK(zmq_ctx_term(context) == 0);
    return mechanism;
}

static void once(void)
{
    /* Not before there is a context: what was there as the library was loaded is read by nobody. */
    int major, minor, patch;
    write_rules(BROKEN);
    zmq_version(&major, &minor, &patch);
    write_encrypted();
    void *first = zmq_ctx_new();
    CHECK(first != NULL);
    /* From here on nothing changes: not for this context, which has bound nothing yet, nor for others. */
    const char *others[] = {PLAIN, BROKEN, "", NULL};
    for (int i = 0; i < 4; i++) {
        if (others[i])
            write_rules(others[i]);
        else
            CHECK(unlink(path) == 0);
        CHECK(mechanism_of(first) == ZMQ_BLAKE3);
        CHECK(mechanism_anew() == ZMQ_BLAKE3);
    }
    CHECK(zmq_ctx_term(first) == 0);
    /* Nor once there is no context left. */
    CHECK(mechanism_anew() == ZMQ_BLAKE3);
}

/* Waits for a child that ends with 0. */
static void wait_for(pid_t child)
{
    int status = -1;
    CHECK(child > 0);
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    CHECK(status == 0);
}

static void forked(void)
{
    write_encrypted();
    void *context = zmq_ctx_new();
    CHECK(mechanism_of(context) == ZMQ_BLAKE3);
    const char *others[] = {PLAIN, BROKEN};
    const int expected[] = {ZMQ_NULL, REFUSED};
    for (int i = 0; i < 2; i++) {
        write_rules(others[i]);
        pid_t child = fork();
        if (child == 0) {
            alarm(LIMIT / 2);
            CHECK(mechanism_anew() == expected[i]);
            /* Once, as any process; and its own child reads it again. */
            write_encrypted();
            CHECK(mechanism_anew() == expected[i]);
            pid_t grandchild = fork();
            if (grandchild == 0) {
                alarm(LIMIT / 2);
                CHECK(mechanism_anew() == ZMQ_BLAKE3);
                exit(0);
            }
            wait_for(grandchild);
            exit(0);
        }
        wait_for(child);
        write_rules(others[i]);
        /* The parent has what it had. */
        CHECK(mechanism_of(context) == ZMQ_BLAKE3);
        CHECK(mechanism_anew() == ZMQ_BLAKE3);
    }
    CHECK(zmq_ctx_term(context) == 0);
}

int main(int count, char **arguments)
{
    alarm(LIMIT);
    /* A file that others may change is a fault. */
    umask(022);
    path = getenv("SEALWIRE_CONFIG");
    CHECK(count == 2 && path != NULL);
    if (strcmp(arguments[1], "once") == 0)
        once();
    else
        forked();
    return 0;
}
