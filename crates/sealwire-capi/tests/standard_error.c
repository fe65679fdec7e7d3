/* Where no log is set, the first failed handshake of a socket goes to standard error. */
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int heard;

static void hear(int32_t level, const char *text, void *user) {
    (void)level, (void)text, (void)user;
    __atomic_add_fetch(&heard, 1, __ATOMIC_SEQ_CST);
}

static int threads(void) {
    DIR *all = opendir("/proc/self/task");
    int count = 0;
    CHECK(all != NULL);
    for (struct dirent *one = readdir(all); one != NULL; one = readdir(all)) {
        count += one->d_name[0] != '.';
    }
    closedir(all);
    return count;
}

static void start_engine(void) {
    sealwire_security *security = no_security();
    sealwire_socket *socket = make_socket(SEALWIRE_PULL, security);
    OK(sealwire_socket_bind(socket, "tcp://127.0.0.1:0", NULL));
    sealwire_socket_free(socket);
    sealwire_security_free(security);
}

static void fail_with_a_wrong_key(int times) {
    mechanism with = make_mechanism("BLAKE3"), other = make_mechanism("BLAKE3");
    char *endpoint = NULL;
    sealwire_monitor *of_server = NULL, *of_client = NULL;
    sealwire_socket *server = make_socket(SEALWIRE_PUSH, with.server);
    sealwire_socket *client = make_socket(SEALWIRE_PULL, other.client);
    OK(sealwire_monitor_new(server, &of_server));
    OK(sealwire_monitor_new(client, &of_client));
    OK(sealwire_socket_bind(server, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(client, endpoint));
    for (int i = 0; i < times; i++) {
        sealwire_event_free(await_event(of_server, SEALWIRE_EVENT_FAILED));
        sealwire_event_free(await_event(of_client, SEALWIRE_EVENT_FAILED));
    }
    sealwire_monitor_free(of_client);
    sealwire_monitor_free(of_server);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
    free_mechanism(&other);
}

/* A child in which the handshakes of two sockets fail, with what it writes to standard error. */
static void in_child(void (*prepare)(void), int is_read, char *written, size_t size) {
    int ends[2], status = 0;
    size_t length = 0;
    CHECK(pipe(ends) == 0);
    if (!is_read) {
        close(ends[0]);
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
        CHECK(dup2(ends[1], 2) == 2);
        prepare();
        start_engine();
        int before = threads();
        fail_with_a_wrong_key(2);
        /* Those that write have ended when all is written. */
        for (int i = 0; i < TIMEOUT && threads() != before; i++) {
            sealwire_poll(NULL, 0, 1, NULL);
        }
        CHECK(threads() == before);
        _exit(0);
    }
    close(ends[1]);
    if (is_read) {
        for (ssize_t some = 1; some > 0 && length + 1 < size; length += (size_t)some) {
            some = read(ends[0], written + length, size - 1 - length);
            CHECK(some >= 0);
        }
        close(ends[0]);
    }
    written[length] = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "the child ended with %d: %s\n", status, written);
        exit(1);
    }
}

static int count(const char *text, const char *what) {
    int found = 0;
    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        found++;
    }
    return found;
}

static void nothing(void) {
}

static void be_silent(void) {
    OK(sealwire_log(SEALWIRE_LOG_WARNING, NULL, NULL, NULL));
}

static void set_a_log(void) {
    OK(sealwire_log(SEALWIRE_LOG_WARNING, hear, NULL, NULL));
    fail_with_a_wrong_key(1);
    while (__atomic_load_n(&heard, __ATOMIC_SEQ_CST) == 0) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
}

int main(void) {
    static char written[16384];
    in_child(nothing, 1, written, sizeof written);
    CHECK(count(written, "\n") == 2);
    CHECK(count(written, "sealwire: connection failed: ") == 2);
    CHECK(count(written, "its key is probably not the one configured") == 1);
    in_child(nothing, 0, written, sizeof written);
    in_child(be_silent, 1, written, sizeof written);
    CHECK(strcmp(written, "") == 0);
    in_child(set_a_log, 1, written, sizeof written);
    CHECK(strcmp(written, "") == 0);
    return 0;
}
