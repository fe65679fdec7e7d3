/* Peers by a routing id of one's own choice, queues of endpoints, and the threads that serve them. */
/* For SO_PRIORITY and SO_BUSY_POLL. */
#define _DEFAULT_SOURCE
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static void receives(const sealwire_socket *socket, size_t frame, const char *text) {
    sealwire_message *message = NULL;
    OK(sealwire_socket_recv(socket, SEALWIRE_WAIT, &message));
    CHECK(sealwire_message_frame_size(message, frame) == strlen(text));
    CHECK(memcmp(sealwire_message_frame(message, frame), text, strlen(text)) == 0);
    sealwire_message_free(message);
}

static void send_to(const sealwire_socket *router, const char *routing_id, const char *text) {
    sealwire_message *message = NULL;
    OK(sealwire_message_new(&message));
    OK(sealwire_message_add(message, routing_id, strlen(routing_id)));
    OK(sealwire_message_add(message, text, strlen(text)));
    OK(sealwire_socket_send(router, message, SEALWIRE_WAIT));
}

/* A ROUTER speaks first to another. */
static void chosen_routing_ids(const sealwire_security *none) {
    sealwire_socket *left = make_socket(SEALWIRE_ROUTER, none), *right = make_socket(SEALWIRE_ROUTER, none);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, none);
    char *bound = NULL;
    OK(sealwire_socket_bind(right, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_socket_connect_with_routing_id(left, bound, "right", 5));
    send_to(left, "right", "hello");
    receives(right, 1, "hello");
    RETURNS(SEALWIRE_ERROR_ROUTING_ID_IN_USE, sealwire_socket_connect_with_routing_id(left, bound, "right", 5));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_connect_with_routing_id(left, bound, "", 0));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_connect_with_routing_id(left, bound, "\0x", 2));
    RETURNS(SEALWIRE_ERROR_UNSUPPORTED, sealwire_socket_connect_with_routing_id(push, bound, "right", 5));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_socket_connect_with_routing_id(left, bound, NULL, 5));
    sealwire_string_free(bound);
    sealwire_socket_free(push);
    sealwire_socket_free(left);
    sealwire_socket_free(right);
}

/* Of two messages one waits for the endpoint where nobody is. */
static void queues_of_endpoints(const sealwire_security *none) {
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none), *push = NULL;
    sealwire_socket *late = make_socket(SEALWIRE_PULL, none);
    sealwire_message *message = NULL;
    char *bound = NULL;
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_QUEUE_PER_ENDPOINT, 1));
    OK(sealwire_socket_new(SEALWIRE_PUSH, none, options, &push));
    OK(sealwire_socket_connect(push, bound));
    OK(sealwire_socket_connect(push, "inproc://c-nobody-yet"));
    OK(sealwire_socket_send_bytes(push, "1", 1, SEALWIRE_WAIT));
    OK(sealwire_socket_send_bytes(push, "2", 1, SEALWIRE_WAIT));
    OK(sealwire_socket_bind(late, "inproc://c-nobody-yet", NULL));
    OK(sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
    sealwire_message_free(message);
    OK(sealwire_socket_recv(late, SEALWIRE_WAIT, &message));
    sealwire_message_free(message);
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_options_set(options, SEALWIRE_OPTION_QUEUE_PER_ENDPOINT, 2));
    sealwire_string_free(bound);
    sealwire_options_free(options);
    sealwire_socket_free(push);
    sealwire_socket_free(late);
    sealwire_socket_free(pull);
}

#ifdef __linux__
/* A thread that has been joined may be listed a little longer, but with this flag. */
#define ENDING 4

/* How many threads of this process have names that begin so, and have not begun to end. */
static int threads_called(const char *prefix) {
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int count = 0;
    CHECK(tasks != NULL);
    while ((task = readdir(tasks)) != NULL) {
        char path[300], line[1000], name[100] = "";
        unsigned flags = ENDING;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            continue;
        }
        /* Number, name, state, five numbers and the flags. */
        if (fgets(line, sizeof line, file) != NULL) {
            CHECK(sscanf(line, "%*d (%99[^)]) %*c %*d %*d %*d %*d %*d %u", name, &flags) == 2);
        }
        fclose(file);
        count += strncmp(name, prefix, strlen(prefix)) == 0 && !(flags & ENDING);
    }
    closedir(tasks);
    return count;
}
#endif

static void threads(const sealwire_security *none) {
    sealwire_context *context = NULL;
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *pull = NULL, *push = make_socket(SEALWIRE_PUSH, none);
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_context_new_with_threads(0, NULL, &context));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_context_new_with_threads(65, NULL, &context));
    CHECK(context == NULL);
    OK(sealwire_context_new_with_threads(3, "c-io", &context));
    OK(sealwire_options_set_context(options, context));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_IO_AFFINITY, 4));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, options, &pull));
    for (int i = 0; i < 3; i++) {
        char *bound = NULL;
        OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &bound));
        OK(sealwire_socket_connect(push, bound));
        sealwire_string_free(bound);
    }
    OK(sealwire_socket_send_bytes(push, "work", 4, SEALWIRE_WAIT));
    receives(pull, 0, "work");
#ifdef __linux__
    /* Each takes its name as it begins. */
    for (int i = 0; i < TIMEOUT && threads_called("c-io") < 3; i++) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
    CHECK(threads_called("c-io") == 3);
#endif
    /* A thread that is not there. */
    OK(sealwire_options_set(options, SEALWIRE_OPTION_IO_AFFINITY, 8));
    OK(sealwire_socket_reconfigure(pull, none, options));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_bind(pull, "tcp://127.0.0.1:*", NULL));
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_options_free(options);
    sealwire_context_join(context);
#ifdef __linux__
    CHECK(threads_called("c-io") == 0);
#endif
    sealwire_context_join(NULL);
}

/* What each thread has called as it began. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int calls[3];
    int freed;
    pthread_key_t key;
    int ended;
} starts;

/* The last that a thread does. It takes its time, so that who does not wait for it is found out. */
static void ending(void *value) {
    sealwire_poll(NULL, 0, 20, NULL);
    __atomic_add_fetch(&((starts *)value)->ended, 1, __ATOMIC_SEQ_CST);
}

static void started(void *user, size_t io_thread) {
    starts *seen = (starts *)user;
    CHECK(pthread_setspecific(seen->key, seen) == 0);
    pthread_mutex_lock(&seen->lock);
    if (io_thread < 3) {
        seen->calls[io_thread]++;
    }
    pthread_mutex_unlock(&seen->lock);
}

static void freed(void *user) {
    starts *seen = (starts *)user;
    pthread_mutex_lock(&seen->lock);
    seen->freed++;
    pthread_cond_signal(&seen->changed);
    pthread_mutex_unlock(&seen->lock);
}

static void beginnings_of_threads(void) {
    starts seen;
    sealwire_context *context = NULL;
    memset(&seen, 0, sizeof seen);
    CHECK(pthread_mutex_init(&seen.lock, NULL) == 0 && pthread_cond_init(&seen.changed, NULL) == 0);
    CHECK(pthread_key_create(&seen.key, ending) == 0);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_context_new_with_thread_start(1, NULL, NULL, &seen, freed, &context));
    RETURNS(SEALWIRE_ERROR_OPTION,
            sealwire_context_new_with_thread_start(0, NULL, started, &seen, freed, &context));
    RETURNS(SEALWIRE_ERROR_ARGUMENT,
            sealwire_context_new_with_thread_start(1, "\xff", started, &seen, freed, &context));
    CHECK(context == NULL && seen.freed == 0);
    OK(sealwire_context_new_with_thread_start(3, "c-start", started, &seen, freed, &context));
    pthread_mutex_lock(&seen.lock);
    while (seen.freed == 0) {
        pthread_cond_wait(&seen.changed, &seen.lock);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(seen.calls[i] == 1);
    }
    pthread_mutex_unlock(&seen.lock);
    CHECK(__atomic_load_n(&seen.ended, __ATOMIC_SEQ_CST) == 0);
    sealwire_context_join(context);
    CHECK(seen.freed == 1 && __atomic_load_n(&seen.ended, __ATOMIC_SEQ_CST) == 3);
    CHECK(pthread_key_delete(seen.key) == 0);
}

#ifdef __linux__
/* Whether this process may have the device polled for so long, which takes a privilege on older kernels. */
static int may_poll(int microseconds) {
    int plain = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(plain != -1);
    int may = setsockopt(plain, SOL_SOCKET, SO_BUSY_POLL, &microseconds, sizeof microseconds) == 0;
    CHECK(close(plain) == 0);
    return may;
}

/* It takes effect, or the system's refusal is told: it is not passed over. */
static void polling(const sealwire_security *none, int microseconds) {
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *pull = NULL, *push = make_socket(SEALWIRE_PUSH, none);
    sealwire_monitor *monitor = NULL;
    char *bound = NULL;
    int polled = -1;
    socklen_t size = sizeof polled;
    OK(sealwire_options_set(options, SEALWIRE_OPTION_BUSY_POLL_US, microseconds));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, options, &pull));
    OK(sealwire_monitor_new(pull, &monitor));
    if (may_poll(microseconds)) {
        OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &bound));
        OK(sealwire_socket_connect(push, bound));
        sealwire_event *accepted = await_event(monitor, SEALWIRE_EVENT_ACCEPTED);
        CHECK(getsockopt(sealwire_event_descriptor(accepted), SOL_SOCKET, SO_BUSY_POLL, &polled, &size) == 0);
        CHECK(polled == microseconds);
        sealwire_event_free(accepted);
    } else {
        RETURNS(SEALWIRE_ERROR_BIND, sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &bound));
        CHECK(bound == NULL);
    }
    sealwire_monitor_free(monitor);
    sealwire_string_free(bound);
    sealwire_options_free(options);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
}
#endif

/* What the system is told about the packets of a connection. */
static void packets(const sealwire_security *none) {
#ifdef __linux__
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *pull = NULL, *push = make_socket(SEALWIRE_PUSH, none);
    sealwire_monitor *monitor = NULL;
    char *bound = NULL;
    int priority = -1;
    socklen_t size = sizeof priority;
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_options_set(options, SEALWIRE_OPTION_PACKET_PRIORITY, -1));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_options_set(options, SEALWIRE_OPTION_BUSY_POLL_US, -1));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_PACKET_PRIORITY, 5));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, options, &pull));
    OK(sealwire_monitor_new(pull, &monitor));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_socket_connect(push, bound));
    sealwire_event *accepted = await_event(monitor, SEALWIRE_EVENT_ACCEPTED);
    CHECK(getsockopt(sealwire_event_descriptor(accepted), SOL_SOCKET, SO_PRIORITY, &priority, &size) == 0);
    CHECK(priority == 5);
    polling(none, 0);
    polling(none, 47);
    sealwire_event_free(accepted);
    sealwire_monitor_free(monitor);
    sealwire_string_free(bound);
    sealwire_options_free(options);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
#else
    (void)none;
#endif
}

/* Sources, interfaces, and paths that are made up. */
static void texts(const sealwire_security *none) {
#ifdef __linux__
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, none);
    char *interface = NULL, *tcp = NULL, *unix_path = NULL, from[128];
    OK(sealwire_socket_bind(pull, "tcp://lo:*", &interface));
    CHECK(strncmp(interface, "tcp://127.0.0.1:", 16) == 0);
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:*", &tcp));
    OK(sealwire_socket_bind(pull, "ipc://*", &unix_path));
    CHECK(strcmp(unix_path, "ipc://*") != 0);
    snprintf(from, sizeof from, "tcp://127.0.0.3:0;%s", tcp + 6);
    const char *endpoints[] = {from, unix_path};
    for (int i = 0; i < 2; i++) {
        sealwire_socket *push = make_socket(SEALWIRE_PUSH, none);
        sealwire_message *message = NULL;
        OK(sealwire_socket_connect(push, endpoints[i]));
        OK(sealwire_socket_send_bytes(push, "work", 4, SEALWIRE_WAIT));
        OK(sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
        const char *address = sealwire_peer_address(sealwire_message_peer(message));
        CHECK(i == 1 || strncmp(address, "tcp://127.0.0.3:", 16) == 0);
        sealwire_message_free(message);
        sealwire_socket_free(push);
    }
    sealwire_string_free(interface);
    sealwire_string_free(tcp);
    sealwire_string_free(unix_path);
    sealwire_socket_free(pull);
#else
    (void)none;
#endif
}

/* Two processes listen on one port, if both say so: here two sockets, and two servers of calls. */
static void shared_ports(const sealwire_security *none) {
    sealwire_options *shared = options_with_timeouts();
    sealwire_socket *old = NULL, *next = NULL, *other = make_socket(SEALWIRE_PULL, none);
    char *bound = NULL, *again = NULL;
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_options_set(shared, SEALWIRE_OPTION_REUSE_PORT, 2));
    OK(sealwire_options_set(shared, SEALWIRE_OPTION_REUSE_PORT, 1));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, shared, &old));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, shared, &next));
    OK(sealwire_socket_bind(old, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_socket_bind(next, bound, &again));
    CHECK(strcmp(bound, again) == 0);
    RETURNS(SEALWIRE_ERROR_BIND, sealwire_socket_bind(other, bound, NULL));
    sealwire_string_free(bound);
    sealwire_string_free(again);
    sealwire_socket_free(old);
    sealwire_socket_free(next);
    sealwire_socket_free(other);

    sealwire_rpc_handler handler = {NULL, NULL, NULL, NULL, 0};
    sealwire_rpc_server *old_server = NULL, *next_server = NULL, *other_server = make_server(none, &handler);
    OK(sealwire_rpc_server_new(none, shared, &handler, &old_server));
    OK(sealwire_rpc_server_new(none, shared, &handler, &next_server));
    OK(sealwire_rpc_server_bind(old_server, "tcp://127.0.0.1:*", &bound));
    OK(sealwire_rpc_server_bind(next_server, bound, NULL));
    RETURNS(SEALWIRE_ERROR_BIND, sealwire_rpc_server_bind(other_server, bound, NULL));
    sealwire_string_free(bound);
    sealwire_rpc_server_free(old_server);
    sealwire_rpc_server_free(next_server);
    sealwire_rpc_server_free(other_server);
    sealwire_options_free(shared);
}

int main(void) {
    sealwire_security *none = no_security();
    chosen_routing_ids(none);
    queues_of_endpoints(none);
    threads(none);
    beginnings_of_threads();
    packets(none);
    texts(none);
    shared_ports(none);
    sealwire_security_free(none);
    return 0;
}
