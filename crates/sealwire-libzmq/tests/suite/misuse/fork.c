/* A child of fork has what its parent made, and none of its threads: every call on that fails at once, nothing of the
 * parent's is ended, sent or removed, and the child can begin anew. */
#include "check.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

static void *context, *pull, *push, *idle, *watched, *ended, *thread_of_parent;
static char endpoint[256];

static int thread_may_end;

/* A thread of the library's that is still there as the process forks. */
static void stay(void *unused)
{
    (void) unused;
    while (!__atomic_load_n(&thread_may_end, __ATOMIC_SEQ_CST))
        usleep(1000);
}

/* Each call on each of these sockets, then their end. */
static void use_sockets_of_parent(void)
{
    void *sockets[] = {pull, push, idle, watched};
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++) {
        void *socket = sockets[i];
        char bytes[8];
        int value = 0;
        size_t size = sizeof value, parts = 1;
        struct iovec place = {bytes, sizeof bytes};
        zmq_msg_t message;
        zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
        CHECK(zmq_msg_init(&message) == 0);
        FAILS(ENOTSOCK, zmq_send(socket, "child", 5, 0));
        FAILS(ENOTSOCK, zmq_send(socket, "child", 5, ZMQ_DONTWAIT));
        FAILS(ENOTSOCK, zmq_send_const(socket, "child", 5, 0));
        FAILS(ENOTSOCK, zmq_recv(socket, bytes, sizeof bytes, 0));
        FAILS(ENOTSOCK, zmq_recv(socket, bytes, sizeof bytes, ZMQ_DONTWAIT));
        FAILS(ENOTSOCK, zmq_msg_send(&message, socket, 0));
        FAILS(ENOTSOCK, zmq_msg_recv(&message, socket, 0));
        FAILS(ENOTSOCK, zmq_sendmsg(socket, &message, 0));
        FAILS(ENOTSOCK, zmq_recvmsg(socket, &message, 0));
        FAILS(ENOTSOCK, zmq_sendiov(socket, &place, 1, 0));
        FAILS(ENOTSOCK, zmq_recviov(socket, &place, &parts, 0));
        FAILS(ENOTSOCK, zmq_bind(socket, "tcp://127.0.0.1:*"));
        FAILS(ENOTSOCK, zmq_connect(socket, "inproc://child"));
        FAILS(ENOTSOCK, zmq_unbind(socket, endpoint));
        FAILS(ENOTSOCK, zmq_disconnect(socket, endpoint));
        FAILS(ENOTSOCK, zmq_setsockopt(socket, ZMQ_LINGER, &value, sizeof value));
        FAILS(ENOTSOCK, zmq_getsockopt(socket, ZMQ_EVENTS, &value, &size));
        FAILS(ENOTSOCK, zmq_getsockopt(socket, ZMQ_FD, &value, &size));
        FAILS(ENOTSOCK, zmq_socket_monitor(socket, "inproc://of-child", ZMQ_EVENT_ALL));
        FAILS(ENOTSOCK, zmq_socket_monitor(socket, NULL, 0));
        FAILS(ENOTSOCK, zmq_poll(&item, 1, -1));
        FAILS(ENOTSOCK, zmq_proxy(socket, socket, NULL));
        CHECK(zmq_msg_close(&message) == 0);
        /* As with libzmq this does no harm, and it is done once. */
        CHECK(zmq_close(socket) == 0);
        FAILS(ENOTSOCK, zmq_close(socket));
    }
}

static void use_context_of_parent(void *of_parent)
{
    FAILS(EFAULT, zmq_ctx_set(of_parent, ZMQ_IPV6, 1));
    FAILS(EFAULT, zmq_ctx_get(of_parent, ZMQ_IPV6));
    FAILS(EFAULT, zmq_ctx_shutdown(of_parent));
    GIVES_NULL(EFAULT, zmq_socket(of_parent, ZMQ_PAIR));
    CHECK(zmq_ctx_term(of_parent) == 0);
    FAILS(EFAULT, zmq_ctx_term(of_parent));
}

/* Runs in a child, whose end the parent waits for. */
static void in_child(void (*run)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(LIMIT / 2);
        run();
        /* With all that is done at the end of a process. */
        exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    if (status != 0)
        fprintf(stderr, "a child ended with status %#x\n", status);
    CHECK(status == 0);
}

static void use_and_begin_anew(void)
{
    use_sockets_of_parent();
    use_context_of_parent(context);
    /* A thread that is not here is not waited for. */
    errno = 0;
    zmq_threadclose(thread_of_parent);
    CHECK(zmq_errno() == EFAULT);
    works_anew();
}

static void begin_anew_and_fork_again(void)
{
    works_anew();
    in_child(use_and_begin_anew);
    works_anew();
}

static void leave_at_once(void)
{
}

static void use_what_has_ended(void)
{
    FAILS(EFAULT, zmq_ctx_term(ended));
    works_anew();
}

static int over;

static void *receive(void *unused)
{
    char byte;
    (void) unused;
    while (zmq_recv(idle, &byte, 1, 0) < 0 && zmq_errno() == EAGAIN) {
    }
    CHECK(zmq_errno() == ETERM);
    return NULL;
}

static void *watch(void *unused)
{
    zmq_pollitem_t item = {watched, 0, ZMQ_POLLIN, 0};
    (void) unused;
    CHECK(zmq_poll(&item, 1, -1) == -1 && zmq_errno() == ETERM);
    return NULL;
}

/* Takes the locks that there are, again and again. */
static void *open_and_close(void *unused)
{
    (void) unused;
    while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
        void *other = zmq_ctx_new();
        CHECK(other != NULL && zmq_ctx_set(other, ZMQ_IPV6, 0) == 0);
        CHECK(zmq_ctx_term(other) == 0);
        void *socket = zmq_socket(context, ZMQ_PAIR);
        CHECK(socket != NULL && zmq_bind(socket, "inproc://busy") == 0);
        CHECK(zmq_close(socket) == 0);
    }
    return NULL;
}

static void exchange(const char *text)
{
    send_text(push, text);
    receive_text(pull, text);
}

int main(void)
{
    char path[] = "listens";
    struct stat file;
    int fd;
    size_t size = sizeof fd;
    pthread_t threads[3];
    alarm(LIMIT);

    /* A context and nothing more. */
    context = zmq_ctx_new();
    in_child(works_anew);
    /* Sockets that are bound, connected, monitored, and have their descriptor. */
    pull = open_socket(context, ZMQ_PULL);
    push = open_socket(context, ZMQ_PUSH);
    idle = open_socket(context, ZMQ_PULL);
    watched = open_socket(context, ZMQ_PULL);
    ended = zmq_ctx_new();
    CHECK(zmq_ctx_term(ended) == 0);
    thread_of_parent = zmq_threadstart(stay, NULL);
    bind_anywhere(pull, endpoint);
    CHECK(zmq_bind(pull, "ipc://listens") == 0);
    CHECK(zmq_connect(push, endpoint) == 0);
    CHECK(zmq_socket_monitor(pull, "inproc://events", ZMQ_EVENT_ALL) == 0);
    CHECK(zmq_getsockopt(pull, ZMQ_FD, &fd, &size) == 0);
    exchange("before");
    in_child(use_and_begin_anew);
    in_child(leave_at_once);
    in_child(use_what_has_ended);
    in_child(begin_anew_and_fork_again);
    exchange("after");
    /* With messages on the way. */
    for (int i = 0; i < 100; i++)
        send_text(push, "on the way");
    in_child(use_and_begin_anew);
    for (int i = 0; i < 100; i++)
        receive_text(pull, "on the way");
    FAILS(EAGAIN, zmq_recv(pull, path, 1, ZMQ_DONTWAIT));
    CHECK(stat(path, &file) == 0);

    /* While other threads are in calls, and take locks. */
    CHECK(pthread_create(&threads[0], NULL, receive, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, watch, NULL) == 0);
    CHECK(pthread_create(&threads[2], NULL, open_and_close, NULL) == 0);
    for (int i = 0; i < 25; i++)
        in_child(use_and_begin_anew);
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(threads[2], NULL) == 0);
    exchange("at last");
    CHECK(stat(path, &file) == 0);

    CHECK(zmq_ctx_shutdown(context) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
    in_child(use_and_begin_anew);
    __atomic_store_n(&thread_may_end, 1, __ATOMIC_SEQ_CST);
    zmq_threadclose(thread_of_parent);
    CHECK(zmq_close(pull) == 0 && zmq_close(push) == 0 && zmq_close(idle) == 0 && zmq_close(watched) == 0);
    CHECK(zmq_ctx_term(context) == 0);
    CHECK(stat(path, &file) != 0);
    return 0;
}
