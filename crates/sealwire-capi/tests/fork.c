/* A child of fork has copies of its parent's keys and nonces, and none of its threads. */
#include "test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static sealwire_socket *server, *client;
static sealwire_monitor *monitor;
static sealwire_readiness *readiness;
static sealwire_context *context;
static sealwire_rpc_client *calls;
static sealwire_rpc_server *serving;
static sealwire_rpc_client *streaming;
static sealwire_rpc_stream *stream;
static sealwire_rpc_request *served;
static sealwire_work_distributor *distributor;
static sealwire_work_worker *worker;
static sealwire_work_task *task;
static sealwire_work_task *begun[3];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

#define FORKED(call) RETURNS(SEALWIRE_ERROR_FORKED, call)

static void exchange(sealwire_socket *from, sealwire_socket *to, const char *text) {
    send_text(from, text);
    receive_text(to, text);
    send_text(to, "answer");
    receive_text(from, "answer");
}

static void connect_both(const mechanism *protection, sealwire_socket **from, sealwire_socket **to) {
    char *endpoint = NULL;
    *to = make_socket(SEALWIRE_REP, protection->server);
    *from = make_socket(SEALWIRE_REQ, protection->client);
    OK(sealwire_socket_bind(*to, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(*from, endpoint));
    sealwire_string_free(endpoint);
}

static void keep(sealwire_rpc_request *request, void *user) {
    (void)user;
    pthread_mutex_lock(&lock);
    served = request;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Both ends of a call with streams. */
static void open_stream(const mechanism *protection) {
    sealwire_rpc_handler handler = {keep, NULL, NULL, NULL, 0};
    char *endpoint = NULL;
    serving = make_server(protection->server, &handler);
    OK(sealwire_rpc_server_bind(serving, "tcp://127.0.0.1:0", &endpoint));
    streaming = make_client(endpoint, protection->client, NULL);
    stream = open_call(streaming, "", 0);
    pthread_mutex_lock(&lock);
    while (served == NULL) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    sealwire_string_free(endpoint);
}

/* Tasks that a worker has taken. */
static void begin_tasks(const mechanism *protection) {
    char *endpoint = NULL;
    OK(sealwire_work_distributor_new(protection->server, NULL, NULL, &distributor));
    OK(sealwire_work_distributor_bind(distributor, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_work_worker_new(endpoint, protection->client, NULL, NULL, &worker));
    for (int i = 0; i < 4; i++) {
        OK(sealwire_work_distributor_add(distributor, "before", 6, SEALWIRE_NO_WAIT, NULL));
        OK(sealwire_work_worker_take(worker, TIMEOUT, i == 3 ? &task : &begun[i]));
    }
    sealwire_string_free(endpoint);
}

static void use_inherited_work(void) {
    sealwire_work_outcome *outcome = NULL;
    sealwire_work_unfinished_list *list = NULL;
    sealwire_work_task *taken = NULL;
    sealwire_monitor *other = NULL;
    sealwire_distributor_counters numbers;
    sealwire_worker_counters of_worker;
    uint8_t number[SEALWIRE_WORK_NUMBER_SIZE] = {0};
    FORKED(sealwire_work_distributor_bind(distributor, "tcp://127.0.0.1:0", NULL));
    FORKED(sealwire_work_distributor_add(distributor, "child", 5, SEALWIRE_NO_WAIT, NULL));
    FORKED(sealwire_work_distributor_add(distributor, "child", 5, SEALWIRE_WAIT, NULL));
    FORKED(sealwire_work_distributor_outcome(distributor, SEALWIRE_NO_WAIT, &outcome));
    FORKED(sealwire_work_distributor_outcome(distributor, SEALWIRE_WAIT, &outcome));
    FORKED(sealwire_work_distributor_next_result(distributor, &outcome));
    FORKED(sealwire_work_distributor_set_aside(distributor, &list));
    FORKED(sealwire_work_distributor_put_back(distributor, number));
    FORKED(sealwire_work_distributor_drop_aside(distributor, number, NULL));
    FORKED(sealwire_work_distributor_finished(distributor, SEALWIRE_WAIT));
    FORKED(sealwire_work_distributor_counters(distributor, &numbers));
    FORKED(sealwire_work_distributor_monitor(distributor, &other));
    FORKED(sealwire_work_distributor_shutdown(distributor, TIMEOUT, &list));
    FORKED(sealwire_work_worker_take(worker, SEALWIRE_NO_WAIT, &taken));
    FORKED(sealwire_work_worker_take(worker, SEALWIRE_WAIT, &taken));
    FORKED(sealwire_work_worker_leave(worker, SEALWIRE_WAIT));
    FORKED(sealwire_work_worker_counters(worker, &of_worker));
    FORKED(sealwire_work_worker_monitor(worker, &other));
    CHECK(!sealwire_work_worker_is_connected(worker));
    CHECK(outcome == NULL && list == NULL && taken == NULL && other == NULL);
    FORKED(sealwire_work_task_done(begun[0], NULL, 0));
    FORKED(sealwire_work_task_fail(begun[1], "child"));
    FORKED(sealwire_work_task_give_back(begun[2]));
    sealwire_work_task_free(task);
}

static void free_what_both_have(void) {
    sealwire_work_worker_free(worker);
    sealwire_work_distributor_free(distributor);
    sealwire_rpc_client_free(streaming);
    sealwire_rpc_server_free(serving);
    sealwire_rpc_client_free(calls);
    sealwire_readiness_free(readiness);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_context_free(context);
}

/* Everything that the parent made is refused, and can be freed. */
static void use_what_is_inherited(void) {
    sealwire_message *message = NULL;
    sealwire_monitor *other = NULL;
    sealwire_readiness *another = NULL;
    sealwire_event *event = NULL;
    sealwire_rpc_reply *reply = NULL;
    sealwire_poll_item items[2] = {{client, NULL, -1, SEALWIRE_POLL_IN, 0},
                                   {NULL, monitor, -1, SEALWIRE_POLL_IN, 0}};
    FORKED(sealwire_socket_send_bytes(client, "child", 5, SEALWIRE_WAIT));
    FORKED(sealwire_socket_send_bytes(client, "child", 5, SEALWIRE_NO_WAIT));
    FORKED(sealwire_socket_recv(server, SEALWIRE_WAIT, &message));
    FORKED(sealwire_socket_recv(server, SEALWIRE_NO_WAIT, &message));
    FORKED(sealwire_socket_bind(server, "tcp://127.0.0.1:0", NULL));
    FORKED(sealwire_socket_connect(client, "tcp://127.0.0.1:1"));
    FORKED(sealwire_monitor_new(client, &other));
    FORKED(sealwire_monitor_next(monitor, SEALWIRE_WAIT, &event));
    FORKED(sealwire_monitor_next(monitor, SEALWIRE_NO_WAIT, &event));
    FORKED(sealwire_readiness_of_socket(client, &another));
    FORKED(sealwire_readiness_of_monitor(monitor, &another));
    FORKED(sealwire_readiness_rearm(readiness));
    CHECK(sealwire_readiness_take(readiness) == SEALWIRE_POLL_CLOSED);
    FORKED(sealwire_poll(items, 1, SEALWIRE_WAIT, NULL));
    FORKED(sealwire_poll(items + 1, 1, SEALWIRE_WAIT, NULL));
    FORKED(sealwire_rpc_client_request(calls, "child", 5, SEALWIRE_WAIT, &reply, NULL));
    FORKED(sealwire_rpc_client_send(calls, "child", 5, NULL));
    FORKED(sealwire_rpc_client_shutdown(calls, TIMEOUT));

    sealwire_peers *peers = NULL;
    sealwire_rpc_stream *opened = NULL;
    FORKED(sealwire_peers_of_socket(server, &peers));
    FORKED(sealwire_peers_of_rpc_server(serving, &peers));
    FORKED(sealwire_rpc_client_open(streaming, "child", 5, SEALWIRE_WAIT, &opened, NULL));
    FORKED(sealwire_rpc_stream_send(stream, "child", 5, SEALWIRE_WAIT));
    FORKED(sealwire_rpc_stream_send(stream, "child", 5, SEALWIRE_NO_WAIT));
    FORKED(sealwire_rpc_stream_next(stream, SEALWIRE_WAIT, &reply));
    FORKED(sealwire_rpc_stream_next(stream, SEALWIRE_NO_WAIT, &reply));
    FORKED(sealwire_rpc_stream_finish(stream));
    FORKED(sealwire_rpc_stream_answer(stream, &reply, NULL));
    FORKED(sealwire_rpc_request_send(served, "child", 5, SEALWIRE_WAIT));
    FORKED(sealwire_rpc_request_next(served, SEALWIRE_NO_WAIT, &reply));
    CHECK(peers == NULL && opened == NULL && reply == NULL);
    sealwire_rpc_request_free(served);
    use_inherited_work();

    sealwire_options *options = options_with_timeouts();
    sealwire_security *security = no_security();
    sealwire_socket *socket = NULL;
    OK(sealwire_options_set_context(options, context));
    FORKED(sealwire_socket_new(SEALWIRE_PULL, security, options, &socket));
    sealwire_security_free(security);
    sealwire_options_free(options);

    FORKED(sealwire_socket_close(client));
    free_what_both_have();
}

static void child(const mechanism *protection) {
    sealwire_socket *from, *to;
    /* A thread that waits for a lock is ended. */
    alarm(TIMEOUT / 1000 * 2);
    use_what_is_inherited();
    connect_both(protection, &from, &to);
    exchange(from, to, "made in the child");
    sealwire_socket_free(from);
    sealwire_socket_free(to);
    _exit(0);
}

int main(void) {
    mechanism protection = make_mechanism("BLAKE3");
    int status = -1;
    pid_t pid;
    OK(sealwire_context_new(&context));
    connect_both(&protection, &client, &server);
    OK(sealwire_monitor_new(client, &monitor));
    OK(sealwire_readiness_of_socket(client, &readiness));
    calls = make_client("tcp://127.0.0.1:1", protection.client, NULL);
    exchange(client, server, "before");
    open_stream(&protection);
    begin_tasks(&protection);

    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        child(&protection);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

    /* A frame of the child under the number of the next one would end the connection. */
    exchange(client, server, "after");
    exchange(client, server, "and again");
    CHECK(sealwire_readiness_take(readiness) != SEALWIRE_POLL_CLOSED);
    sealwire_rpc_reply *item = NULL;
    OK(sealwire_rpc_stream_send(stream, "parent", 6, TIMEOUT));
    OK(sealwire_rpc_request_next(served, TIMEOUT, &item));
    CHECK(sealwire_rpc_reply_size(item) == 6);
    sealwire_rpc_reply_free(item);
    OK(sealwire_rpc_request_reply(served, "", 0));
    OK(sealwire_rpc_stream_answer(stream, &item, NULL));
    sealwire_rpc_reply_free(item);
    sealwire_distributor_counters counters;
    for (int i = 0; i < 3; i++) {
        OK(sealwire_work_task_done(begun[i], NULL, 0));
    }
    OK(sealwire_work_task_done(task, NULL, 0));
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    OK(sealwire_work_distributor_counters(distributor, &counters));
    CHECK(counters.done == 4 && counters.handed_out == 4 && counters.violations == 0);

    free_what_both_have();
    free_mechanism(&protection);
    return 0;
}
