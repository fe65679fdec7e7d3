/* A process without a descriptor left: every call that needs one fails with EMFILE, nothing ends the process, and all of
 * it works once there are descriptors again. */
#include "check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

static int occupied[256], count;

static void exhaust(void)
{
    int fd;
    while ((fd = dup(1)) >= 0) {
        CHECK(count < 256);
        occupied[count++] = fd;
    }
    CHECK(errno == EMFILE);
}

static void recover(void)
{
    while (count > 0)
        close(occupied[--count]);
}

static int used(void)
{
    int found = 0;
    for (int fd = 0; fd < 256; fd++)
        found += fcntl(fd, F_GETFD) != -1;
    return found;
}

/* A socket has none until somebody asks for one, and the same after that. */
static void one_where_it_is_asked_for(void *context)
{
    void *sockets[8];
    int before = used();
    for (int i = 0; i < 8; i++)
        sockets[i] = open_socket(context, ZMQ_DEALER);
    CHECK(used() == before);
    for (int i = 0; i < 8; i++) {
        int fd, again;
        size_t size = sizeof fd;
        CHECK(zmq_getsockopt(sockets[i], ZMQ_FD, &fd, &size) == 0);
        CHECK(zmq_getsockopt(sockets[i], ZMQ_FD, &again, &size) == 0 && again == fd);
        CHECK(used() == before + i + 1);
    }
    for (int i = 0; i < 8; i++)
        CHECK(zmq_close(sockets[i]) == 0);
}

/* A thread of its own has never waited, and so has no descriptor for that either. */
static void in_a_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *receive_without(void *socket)
{
    char byte;
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    int fd;
    size_t size = sizeof fd;
    FAILS(EMFILE, zmq_recv(socket, &byte, 1, 0));
    FAILS(EAGAIN, zmq_recv(socket, &byte, 1, ZMQ_DONTWAIT));
    FAILS(EMFILE, zmq_poll(&item, 1, -1));
    FAILS(EMFILE, zmq_getsockopt(socket, ZMQ_FD, &fd, &size));
    return NULL;
}

static void *send_without(void *socket)
{
    FAILS(EMFILE, zmq_send(socket, "x", 1, 0));
    FAILS(EAGAIN, zmq_send(socket, "x", 1, ZMQ_DONTWAIT));
    return NULL;
}

static void *terminate(void *context)
{
    CHECK(zmq_ctx_term(context) == 0);
    return NULL;
}

static void *close_later(void *socket)
{
    int type;
    size_t size = sizeof type;
    while (zmq_getsockopt(socket, ZMQ_TYPE, &type, &size) == 0)
        usleep(1000);
    CHECK(zmq_errno() == ETERM);
    CHECK(zmq_close(socket) == 0);
    return NULL;
}

static void *monitored(void *socket)
{
    /* It may have what it needs. */
    int done = zmq_socket_monitor(socket, "inproc://events", ZMQ_EVENT_ALL);
    CHECK(done == 0 || zmq_errno() == EMFILE);
    CHECK(zmq_socket_monitor(socket, NULL, 0) == 0);
    return NULL;
}

/* A stranger comes while the server has no descriptor for it: refused, and the server goes on. */
static void accept_without(void *pull, const char *endpoint)
{
    char byte;
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct timeval limit = {LIMIT / 2, 0};
    int stranger = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(stranger >= 0);
    CHECK(setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t) atoi(strrchr(endpoint, ':') + 1));
    exhaust();
    CHECK(connect(stranger, (struct sockaddr *) &address, sizeof address) == 0);
    /* Its end, or a reset. */
    errno = 0;
    CHECK(read(stranger, &byte, 1) <= 0 && errno != EAGAIN);
    FAILS(EAGAIN, zmq_recv(pull, &byte, 1, ZMQ_DONTWAIT));
    recover();
    close(stranger);
}

int main(void)
{
    struct rlimit limit;
    char endpoint[256];
    alarm(LIMIT);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 64;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);

    /* The first context reads rules for encryption, and does without them in no case. */
    exhaust();
    GIVES_NULL(EMFILE, zmq_ctx_new());
    recover();
    void *context = zmq_ctx_new();
    CHECK(context != NULL);

    /* The first socket makes the I/O thread. */
    exhaust();
    GIVES_NULL(EMFILE, zmq_socket(context, ZMQ_PULL));
    recover();
    void *pull = open_socket(context, ZMQ_PULL), *push = open_socket(context, ZMQ_PUSH);
    one_where_it_is_asked_for(context);

    exhaust();
    FAILS(EMFILE, zmq_bind(pull, "tcp://127.0.0.1:*"));
    FAILS(EMFILE, zmq_bind(pull, "ipc://here"));
    FAILS(EMFILE, zmq_bind(pull, "ws://127.0.0.1:*"));
    in_a_thread(receive_without, pull);
    in_a_thread(send_without, push);
    in_a_thread(monitored, pull);
    /* Nothing of the process's own needs one. */
    void *here = open_socket(context, ZMQ_PAIR), *there = open_socket(context, ZMQ_PAIR);
    CHECK(zmq_bind(here, "inproc://pair") == 0 && zmq_connect(there, "inproc://pair") == 0);
    CHECK(zmq_send(there, "inside", 6, ZMQ_DONTWAIT) == 6);
    receive_text(here, "inside");
    /* The connection is made when there is a descriptor for it. */
    CHECK(zmq_connect(push, "ipc://later") == 0);
    recover();
    CHECK(zmq_bind(pull, "ipc://later") == 0);
    send_text(push, "later");
    receive_text(pull, "later");

    bind_anywhere(pull, endpoint);
    /* It listens, with a descriptor in reserve. */
    void *first = open_socket(context, ZMQ_PUSH), *second = open_socket(context, ZMQ_PUSH);
    CHECK(zmq_connect(first, endpoint) == 0);
    send_text(first, "before strangers");
    receive_text(pull, "before strangers");
    accept_without(pull, endpoint);
    CHECK(zmq_connect(second, endpoint) == 0);
    send_text(second, "after strangers");
    receive_text(pull, "after strangers");
    send_text(first, "as before");
    receive_text(pull, "as before");

    CHECK(zmq_close(first) == 0 && zmq_close(second) == 0);
    CHECK(zmq_close(here) == 0 && zmq_close(there) == 0 && zmq_close(push) == 0);
    /* The end of a context waits for a socket without a descriptor for that. */
    pthread_t ending;
    exhaust();
    CHECK(pthread_create(&ending, NULL, terminate, context) == 0);
    in_a_thread(close_later, pull);
    CHECK(pthread_join(ending, NULL) == 0);
    recover();
    works_anew();
    return 0;
}
