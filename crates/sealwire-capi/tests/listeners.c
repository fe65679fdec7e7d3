/* Sockets on listening descriptors that somebody else opened: the program, and a service manager. */
#include "work.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int listening_tcp(char *endpoint, size_t size) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd != -1 && bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, 8) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    snprintf(endpoint, size, "tcp://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

static int listening_unix(const char *path) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd != -1 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 8) == 0);
    return fd;
}

static void receives(const sealwire_socket *pull, const char *text) {
    sealwire_message *message = NULL;
    OK(sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
    CHECK(sealwire_message_size(message) == strlen(text));
    CHECK(memcmp(sealwire_message_data(message), text, strlen(text)) == 0);
    sealwire_message_free(message);
}

static void sends(const sealwire_security *security, const char *endpoint, const char *text) {
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, security);
    OK(sealwire_socket_connect(push, endpoint));
    OK(sealwire_socket_send_bytes(push, text, strlen(text), SEALWIRE_WAIT));
    OK(sealwire_socket_close_with_linger(push, TIMEOUT));
    sealwire_socket_free(push);
}

static void bind_tcp_and_ws(const char *name) {
    mechanism with = make_mechanism(name);
    for (int web = 0; web < 2; web++) {
        sealwire_socket *pull = make_socket(SEALWIRE_PULL, with.server);
        char expected[128], *bound = NULL;
        struct stat given, now;
        int fd = listening_tcp(expected, sizeof expected);
        CHECK(fstat(fd, &given) == 0);
        if (web) {
            memmove(expected + 2, expected + 3, strlen(expected + 3) + 1);
            memcpy(expected, "ws", 2);
            strcat(expected, "/chat");
        }
        OK(sealwire_socket_bind_listener(pull, fd, web ? "/chat" : NULL, NULL, &bound));
        CHECK(strcmp(bound, expected) == 0);
        sends(with.client, bound, "hello");
        receives(pull, "hello");
        /* The number is not the program's any more, and may be of something else. */
        CHECK(fstat(fd, &now) == -1 || now.st_ino != given.st_ino);
        OK(sealwire_socket_unbind(pull, bound));
        sealwire_string_free(bound);
        sealwire_socket_free(pull);
    }
    free_mechanism(&with);
}

static void bind_unix(const sealwire_security *none) {
    char folder[] = "/tmp/sealwire-listeners-XXXXXX", path[64], expected[80], *bound = NULL;
    struct stat file;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(expected, sizeof expected, "ipc://%s", path);
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    OK(sealwire_socket_bind_listener(pull, listening_unix(path), NULL, NULL, &bound));
    CHECK(strcmp(bound, expected) == 0);
    sends(none, bound, "hello");
    receives(pull, "hello");
    sealwire_string_free(bound);
    sealwire_socket_free(pull);
    CHECK(lstat(path, &file) == 0);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

static void answer(sealwire_rpc_request *request, void *user) {
    (void)user;
    OK(sealwire_rpc_request_reply(request, "hello", 5));
}

static void calls_and_work(void) {
    mechanism with = make_mechanism("BLAKE3");
    sealwire_rpc_handler handler = {answer, NULL, NULL, NULL, 0};
    sealwire_rpc_server *server = make_server(with.server, &handler);
    sealwire_rpc_reply *reply = NULL;
    char expected[64], *bound = NULL;
    int fds[2], fd = listening_tcp(expected, sizeof expected);
    CHECK(pipe(fds) == 0);
    RETURNS(SEALWIRE_ERROR_LISTENER, sealwire_rpc_server_bind_listener(server, fds[0], NULL, NULL, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_rpc_server_bind_listener(NULL, fd, NULL, NULL, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_rpc_server_bind_listener(server, fd, "/", "/", NULL));
    OK(sealwire_rpc_server_bind_listener(server, fd, NULL, NULL, &bound));
    CHECK(strcmp(bound, expected) == 0);
    sealwire_rpc_client *client = make_client(bound, with.client, NULL);
    OK(sealwire_rpc_client_request(client, "", 0, TIMEOUT, &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == 5 && memcmp(sealwire_rpc_reply_data(reply), "hello", 5) == 0);
    sealwire_rpc_reply_free(reply);
    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);
    sealwire_string_free(bound);

    sealwire_work_distributor *distributor = make_distributor(&with, distributor_options());
    fd = listening_tcp(expected, sizeof expected);
    RETURNS(SEALWIRE_ERROR_LISTENER, sealwire_work_distributor_bind_listener(distributor, fds[1], NULL, NULL, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_work_distributor_bind_listener(NULL, fd, NULL, NULL, NULL));
    OK(sealwire_work_distributor_bind_listener(distributor, fd, "/work", NULL, &bound));
    CHECK(strncmp(bound, "ws://127.0.0.1:", 15) == 0 && strstr(bound, "/work") != NULL);
    sealwire_work_worker *worker = make_worker(with.client, bound, 1);
    add_text(distributor, "a task");
    sealwire_work_task *task = take(worker);
    CHECK(task_says(task, "a task"));
    OK(sealwire_work_task_done(task, NULL, 0));
    sealwire_work_worker_free(worker);
    sealwire_work_distributor_free(distributor);
    sealwire_string_free(bound);
    CHECK(close(fds[0]) == 0 && close(fds[1]) == 0);
    free_mechanism(&with);
}

/* After an error the descriptor is the caller's. */
static void refused(const sealwire_security *none) {
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    char endpoint[64];
    int fds[2], fd = listening_tcp(endpoint, sizeof endpoint);
    CHECK(pipe(fds) == 0);
    RETURNS(SEALWIRE_ERROR_LISTENER, sealwire_socket_bind_listener(pull, fds[0], NULL, NULL, NULL));
    CHECK(close(fds[0]) == 0 && close(fds[1]) == 0);
    int unbound = socket(AF_INET, SOCK_STREAM, 0);
    RETURNS(SEALWIRE_ERROR_LISTENER, sealwire_socket_bind_listener(pull, unbound, NULL, NULL, NULL));
    CHECK(close(unbound) == 0);
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_bind_listener(pull, -1, NULL, NULL, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_socket_bind_listener(pull, fd, "/", "/", NULL));
    RETURNS(SEALWIRE_ERROR_TRANSPORT, sealwire_socket_bind_listener(pull, fd, NULL, "/", NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_bind_listener(NULL, fd, NULL, NULL, NULL));
    CHECK(close(fd) == 0);
    sealwire_socket_free(pull);
}

/* What this program does when it was started with a socket. */
static int passed(void) {
    sealwire_security *none = no_security();
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    int32_t fd = -1;
    char *name = NULL;
    RETURNS(SEALWIRE_ERROR_ENDED, sealwire_listener_passed("other", &fd, NULL));
    OK(sealwire_listener_passed("web", &fd, &name));
    CHECK(fd == 3 && strcmp(name, "web") == 0);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    RETURNS(SEALWIRE_ERROR_ENDED, sealwire_listener_passed(NULL, &fd, NULL));
    OK(sealwire_socket_bind_listener(pull, fd, NULL, NULL, NULL));
    receives(pull, "hello");
    sealwire_string_free(name);
    sealwire_socket_free(pull);
    sealwire_security_free(none);
    return 0;
}

static void start_with_a_socket(const char *program, const sealwire_security *none) {
    char endpoint[64], number[32];
    int32_t none_passed = -1;
    int status, fd = listening_tcp(endpoint, sizeof endpoint);
    RETURNS(SEALWIRE_ERROR_ENDED, sealwire_listener_passed(NULL, &none_passed, NULL));
    pid_t child = fork();
    if (child == 0) {
        snprintf(number, sizeof number, "%d", (int)getpid());
        if (dup2(fd, 3) == 3 && setenv("LISTEN_PID", number, 1) == 0 && setenv("LISTEN_FDS", "1", 1) == 0 &&
            setenv("LISTEN_FDNAMES", "web", 1) == 0) {
            fcntl(3, F_SETFD, 0);
            execl(program, program, "passed", (char *)NULL);
        }
        _exit(9);
    }
    CHECK(child != -1 && close(fd) == 0);
    sends(none, endpoint, "hello");
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "passed") == 0) {
        return passed();
    }
    sealwire_security *none = no_security();
    bind_tcp_and_ws("NULL");
    bind_tcp_and_ws("BLAKE3");
    bind_unix(none);
    refused(none);
    calls_and_work();
    start_with_a_socket(arguments[0], none);
    sealwire_security_free(none);
    return 0;
}
