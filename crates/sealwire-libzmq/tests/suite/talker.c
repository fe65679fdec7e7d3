/* A program for libzmq that knows nothing of encryption: it answers one request, or sends one and prints the answer.
 *
 *   talker rep ENDPOINT        talker req ENDPOINT TEXT
 *
 * The first line is the endpoint it is bound to; a call that fails ends it with its errno. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <zmq.h>

static void check(int failed)
{
    if (failed) {
        printf("errno %d\n", zmq_errno());
        exit(1);
    }
}

int main(int count, char **arguments)
{
    char text[1000];
    size_t size = sizeof text;
    int mechanism, linger = -1, size_read;
    size_t mechanism_size = sizeof mechanism;

    if (count < 3)
        return 2;
    void *context = zmq_ctx_new();
    int answers = strcmp(arguments[1], "rep") == 0;
    void *socket = zmq_socket(context, answers ? ZMQ_REP : ZMQ_REQ);
    check(zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger));
    if (answers)
        check(zmq_bind(socket, arguments[2]));
    else
        check(zmq_connect(socket, arguments[2]));
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, text, &size));
    check(zmq_getsockopt(socket, ZMQ_MECHANISM, &mechanism, &mechanism_size));
    printf("%s mechanism %d secure %lu\n", text, mechanism, getauxval(AT_SECURE));
    fflush(stdout);
    if (!answers)
        check(zmq_send(socket, arguments[3], strlen(arguments[3]), 0) < 0);
    size_read = zmq_recv(socket, text, sizeof text, 0);
    check(size_read < 0);
    printf("%.*s\n", size_read, text);
    if (answers)
        check(zmq_send(socket, text, (size_t) size_read, 0) < 0);
    check(zmq_close(socket) || zmq_ctx_term(context));
    return 0;
}
