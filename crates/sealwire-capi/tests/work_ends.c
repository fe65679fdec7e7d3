/* Acknowledged work: how much is held, how distributors and workers end, and what is refused. */
#include "work.h"

#include <pthread.h>

static void a_full_distributor_says_so(const mechanism *protection) {
    sealwire_work_options *options = distributor_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_TASKS, 1));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_TASK, 8));
    sealwire_work_distributor *distributor = make_distributor(protection, options);
    char *endpoint = bind_distributor(distributor);
    task_number number = add_text(distributor, "first"), untouched = number;
    RETURNS(SEALWIRE_ERROR_WORK_FULL,
            sealwire_work_distributor_add(distributor, "second", 6, SEALWIRE_NO_WAIT, untouched.bytes));
    CHECK(strstr(sealwire_last_error(), "1 tasks and 133 bytes") != NULL);
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_work_distributor_add(distributor, "second", 6, SHORT, NULL));
    RETURNS(SEALWIRE_ERROR_WORK_TASK_TOO_LARGE,
            sealwire_work_distributor_add(distributor, "123456789", 9, SEALWIRE_NO_WAIT, NULL));
    CHECK(is_same(&number, &untouched));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_work_distributor_finished(distributor, SEALWIRE_NO_WAIT));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_work_distributor_finished(distributor, SHORT));
    sealwire_distributor_counters counters = counters_of(distributor);
    CHECK(counters.added == 1 && counters.pending == 1 && counters.held_bytes == 133 && counters.workers == 0);

    sealwire_work_worker *worker = make_worker(protection->client, endpoint, 64);
    OK(sealwire_work_task_done(take(worker), NULL, 0));
    OK(sealwire_work_distributor_add(distributor, "second", 6, SEALWIRE_WAIT, NULL));
    sealwire_work_task *task = take(worker);
    CHECK(task_says(task, "second"));
    OK(sealwire_work_task_done(task, NULL, 0));
    OK(sealwire_work_distributor_finished(distributor, SEALWIRE_WAIT));
    OK(sealwire_work_distributor_finished(distributor, SEALWIRE_NO_WAIT));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_work_worker_take(worker, SEALWIRE_NO_WAIT, &task));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_work_worker_take(worker, SHORT, &task));
    sealwire_work_worker_free(worker);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

/* Bounds in bytes, of both sides. */
static void bytes_are_bounded(const mechanism *protection) {
    sealwire_work_options *options = distributor_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_BYTES, 2 * (128 + 100)));
    sealwire_work_distributor *distributor = make_distributor(protection, options);
    char *endpoint = bind_distributor(distributor);
    char body[100] = {0};
    for (int i = 0; i < 2; i++) {
        OK(sealwire_work_distributor_add(distributor, body, sizeof body, SEALWIRE_NO_WAIT, NULL));
    }
    RETURNS(SEALWIRE_ERROR_WORK_FULL, sealwire_work_distributor_add(distributor, "", 0, SEALWIRE_NO_WAIT, NULL));
    sealwire_work_worker *worker = NULL;
    options = work_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT_BYTES, 128 + 100));
    OK(sealwire_work_worker_new(endpoint, protection->client, NULL, options, &worker));
    sealwire_work_options_free(options);
    sealwire_work_task *task = take(worker);
    CHECK(counters_of(distributor).out == 1);
    OK(sealwire_work_task_done(task, NULL, 0));
    OK(sealwire_work_task_done(take(worker), NULL, 0));
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    sealwire_work_worker_free(worker);

    /* One that takes smaller tasks than the distributor's is not let in. */
    options = work_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_TASK, 1));
    OK(sealwire_work_worker_new(endpoint, protection->client, NULL, options, &worker));
    sealwire_work_options_free(options);
    EVENTUALLY(counters_of(distributor).violations >= 1);
    CHECK(!sealwire_work_worker_is_connected(worker));
    sealwire_work_worker_free(worker);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

static void *leave(void *user) {
    OK(sealwire_work_worker_leave((sealwire_work_worker *)user, SEALWIRE_WAIT));
    return NULL;
}

static void leaving_repeats_nothing(const mechanism *protection) {
    sealwire_work_distributor *distributor = make_distributor(protection, distributor_options());
    char *endpoint = bind_distributor(distributor);
    sealwire_work_worker *worker = make_worker(protection->client, endpoint, 10);
    sealwire_work_task *task = NULL;
    pthread_t leaving;
    for (int i = 0; i < 20; i++) {
        add_text(distributor, "task");
    }
    sealwire_work_task *begun = take(worker);
    CHECK(sealwire_work_worker_is_connected(worker));
    EVENTUALLY(counters_of(distributor).out == 10);
    /* It may be given back, which counts as no attempt. */
    OK(sealwire_work_task_give_back(take(worker)));
    EVENTUALLY(counters_of(distributor).returned == 1 && counters_of(distributor).out == 10);
    CHECK(pthread_create(&leaving, NULL, leave, worker) == 0);
    EVENTUALLY(counters_of(distributor).returned == 10);
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_worker_take(worker, SEALWIRE_NO_WAIT, &task));
    OK(sealwire_work_task_done(begun, NULL, 0));
    CHECK(pthread_join(leaving, NULL) == 0);
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_worker_take(worker, SEALWIRE_WAIT, &task));
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_worker_leave(worker, SHORT));
    CHECK(worker_counters_of(worker).done == 1 && worker_counters_of(worker).connections == 1);
    CHECK(worker_counters_of(worker).taken == 2);
    sealwire_work_worker_free(worker);

    worker = make_worker(protection->client, endpoint, 10);
    for (int i = 0; i < 19; i++) {
        task = take(worker);
        CHECK(sealwire_work_task_attempt(task) == 1);
        OK(sealwire_work_task_done(task, NULL, 0));
    }
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    sealwire_distributor_counters counters = counters_of(distributor);
    CHECK(counters.done == 20 && counters.lost == 0 && counters.repeated == 0 && counters.handed_out_again == 0);
    /* A task that has no outcome keeps a worker that leaves until its limit. */
    add_text(distributor, "task");
    begun = take(worker);
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_work_worker_leave(worker, SHORT));
    EVENTUALLY(counters_of(distributor).lost == 1);
    sealwire_work_worker_free(worker);
    sealwire_work_task_free(begun);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

static void what_is_left_comes_back(const mechanism *protection) {
    sealwire_work_distributor *distributor = make_distributor(protection, distributor_options());
    char *endpoint = bind_distributor(distributor);
    sealwire_work_unfinished_list *left = NULL;
    sealwire_monitor *monitor = NULL;
    OK(sealwire_work_distributor_monitor(distributor, &monitor));
    sealwire_work_worker *worker = make_worker(protection->client, endpoint, 1);
    sealwire_event_free(await_event(monitor, SEALWIRE_EVENT_READY));
    sealwire_monitor_free(monitor);
    OK(sealwire_work_worker_monitor(worker, &monitor));
    add_text(distributor, "done");
    task_number numbers[2] = {add_text(distributor, "left"), add_text(distributor, "too")};
    OK(sealwire_work_task_done(take(worker), NULL, 0));
    sealwire_work_task *begun = take(worker);
    OK(sealwire_work_distributor_shutdown(distributor, SHORT, &left));
    CHECK(sealwire_work_unfinished_list_size(left) == 2);
    is_unfinished(sealwire_work_unfinished_list_at(left, 0), &numbers[0], "left");
    is_unfinished(sealwire_work_unfinished_list_at(left, 1), &numbers[1], "too");
    CHECK(sealwire_work_unfinished_attempts(sealwire_work_unfinished_list_at(left, 0)) == 1);
    CHECK(!sealwire_work_unfinished_is_set_aside(sealwire_work_unfinished_list_at(left, 1)));
    CHECK(sealwire_work_unfinished_reason(sealwire_work_unfinished_list_at(left, 1)) == NULL);
    CHECK(sealwire_work_unfinished_attempts(sealwire_work_unfinished_list_at(left, 1)) == 0);
    sealwire_work_unfinished_list_free(left);
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_distributor_add(distributor, "x", 1, SEALWIRE_NO_WAIT, NULL));
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_distributor_add(distributor, "x", 1, SEALWIRE_WAIT, NULL));
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_distributor_finished(distributor, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_distributor_bind(distributor, "tcp://127.0.0.1:0", NULL));
    OK(sealwire_work_distributor_shutdown(distributor, 0, &left));
    CHECK(sealwire_work_unfinished_list_size(left) == 0);
    sealwire_work_unfinished_list_free(left);
    /* The connection has ended, and the task outlives the worker's object. */
    sealwire_event_free(await_event(monitor, SEALWIRE_EVENT_DISCONNECTED));
    sealwire_monitor_free(monitor);
    sealwire_work_worker_free(worker);
    CHECK(task_says(begun, "left"));
    OK(sealwire_work_task_done(begun, NULL, 0));
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

static void options_are_checked(const mechanism *protection) {
    sealwire_work_distributor *distributor = NULL;
    sealwire_work_worker *worker = NULL;
    sealwire_work_options *options = NULL;
    OK(sealwire_work_options_new(&options));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_work_options_set(options, 0, 1));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT_BYTES + 1, 1));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT, 0));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT, 65537));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_TASKS, 0));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_TASK, -1));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_KEEP_RESULTS, 2));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS, -2));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS, 0));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT, 65536));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_work_distributor_new(protection->server, NULL, options, &distributor));
    sealwire_work_options_free(options);
    OK(sealwire_work_options_new(&options));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_WORKERS, 1));
    RETURNS(SEALWIRE_ERROR_OPTION,
            sealwire_work_worker_new("tcp://127.0.0.1:1", protection->client, NULL, options, &worker));
    CHECK(distributor == NULL && worker == NULL);
    RETURNS(SEALWIRE_ERROR_ENDPOINT, sealwire_work_worker_new("nowhere", protection->client, NULL, NULL, &worker));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_worker_new("\xFF", protection->client, NULL, NULL, &worker));

    /* -1 is no limit of attempts; one worker is let in, and the next waits for its place. */
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS, -1));
    distributor = make_distributor(protection, options);
    RETURNS(SEALWIRE_ERROR_ENDPOINT, sealwire_work_distributor_bind(distributor, "nowhere", NULL));
    char *endpoint = bind_distributor(distributor);
    worker = make_worker(protection->client, endpoint, 1);
    EVENTUALLY(sealwire_work_worker_is_connected(worker));
    sealwire_work_worker *next = make_worker(protection->client, endpoint, 1);
    add_text(distributor, "first");
    sealwire_work_task *task = take(worker);
    CHECK(!sealwire_work_worker_is_connected(next));
    OK(sealwire_work_task_done(task, NULL, 0));
    OK(sealwire_work_worker_leave(worker, TIMEOUT));
    EVENTUALLY(sealwire_work_worker_is_connected(next));
    sealwire_work_worker_free(worker);
    sealwire_work_worker_free(next);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

static void wrong_arguments(const mechanism *protection) {
    const sealwire_status expected = SEALWIRE_ERROR_NULL;
    sealwire_work_distributor *distributor = make_distributor(protection, distributor_options());
    sealwire_work_worker *worker = make_worker(protection->client, "tcp://127.0.0.1:1", 1);
    sealwire_work_distributor *other = NULL;
    sealwire_work_worker *another = NULL;
    sealwire_work_outcome *outcome = NULL;
    sealwire_work_unfinished_list *list = NULL;
    sealwire_work_task *task = NULL;
    sealwire_monitor *monitor = NULL;
    task_number number;
    memset(&number, 0, sizeof number);
    RETURNS(expected, sealwire_work_options_new(NULL));
    RETURNS(expected, sealwire_work_options_set(NULL, SEALWIRE_WORK_OPTION_CREDIT, 1));
    RETURNS(expected, sealwire_work_distributor_new(NULL, NULL, NULL, &other));
    RETURNS(expected, sealwire_work_distributor_new(protection->server, NULL, NULL, NULL));
    RETURNS(expected, sealwire_work_distributor_bind(NULL, "tcp://127.0.0.1:0", NULL));
    RETURNS(expected, sealwire_work_distributor_bind(distributor, NULL, NULL));
    RETURNS(expected, sealwire_work_distributor_add(NULL, "x", 1, SEALWIRE_NO_WAIT, NULL));
    RETURNS(expected, sealwire_work_distributor_add(distributor, NULL, 1, SEALWIRE_NO_WAIT, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_distributor_add(distributor, "x", 1, -2, NULL));
    RETURNS(expected, sealwire_work_distributor_outcome(NULL, SEALWIRE_NO_WAIT, &outcome));
    RETURNS(expected, sealwire_work_distributor_outcome(distributor, SEALWIRE_NO_WAIT, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_distributor_outcome(distributor, -2, &outcome));
    RETURNS(expected, sealwire_work_distributor_next_result(NULL, &outcome));
    RETURNS(expected, sealwire_work_distributor_next_result(distributor, NULL));
    RETURNS(expected, sealwire_work_distributor_set_aside(NULL, &list));
    RETURNS(expected, sealwire_work_distributor_set_aside(distributor, NULL));
    RETURNS(expected, sealwire_work_distributor_put_back(NULL, number.bytes));
    RETURNS(expected, sealwire_work_distributor_put_back(distributor, NULL));
    RETURNS(SEALWIRE_ERROR_WORK_NOT_SET_ASIDE, sealwire_work_distributor_put_back(distributor, number.bytes));
    RETURNS(expected, sealwire_work_distributor_drop_aside(NULL, number.bytes, NULL));
    RETURNS(expected, sealwire_work_distributor_drop_aside(distributor, NULL, NULL));
    RETURNS(expected, sealwire_work_distributor_finished(NULL, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_distributor_finished(distributor, -2));
    RETURNS(expected, sealwire_work_distributor_counters(NULL, NULL));
    RETURNS(expected, sealwire_work_distributor_counters(distributor, NULL));
    RETURNS(expected, sealwire_work_distributor_monitor(NULL, &monitor));
    RETURNS(expected, sealwire_work_distributor_monitor(distributor, NULL));
    RETURNS(expected, sealwire_work_distributor_shutdown(NULL, 0, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_distributor_shutdown(distributor, -1, NULL));
    RETURNS(expected, sealwire_work_worker_new(NULL, protection->client, NULL, NULL, &another));
    RETURNS(expected, sealwire_work_worker_new("tcp://127.0.0.1:1", NULL, NULL, NULL, &another));
    RETURNS(expected, sealwire_work_worker_new("tcp://127.0.0.1:1", protection->client, NULL, NULL, NULL));
    RETURNS(expected, sealwire_work_worker_take(NULL, SEALWIRE_NO_WAIT, &task));
    RETURNS(expected, sealwire_work_worker_take(worker, SEALWIRE_NO_WAIT, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_worker_take(worker, -2, &task));
    RETURNS(expected, sealwire_work_worker_leave(NULL, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_worker_leave(worker, -2));
    RETURNS(expected, sealwire_work_worker_counters(NULL, NULL));
    RETURNS(expected, sealwire_work_worker_counters(worker, NULL));
    RETURNS(expected, sealwire_work_worker_monitor(NULL, &monitor));
    RETURNS(expected, sealwire_work_worker_monitor(worker, NULL));
    RETURNS(expected, sealwire_work_task_number(NULL, number.bytes));
    RETURNS(expected, sealwire_work_task_done(NULL, NULL, 0));
    RETURNS(expected, sealwire_work_task_fail(NULL, "reason"));
    RETURNS(expected, sealwire_work_task_give_back(NULL));
    RETURNS(expected, sealwire_work_unfinished_number(NULL, number.bytes));
    RETURNS(expected, sealwire_work_outcome_number(NULL, number.bytes));
    CHECK(other == NULL && another == NULL && outcome == NULL && list == NULL && task == NULL && monitor == NULL);
    CHECK(sealwire_work_task_attempt(NULL) == 0 && sealwire_work_task_max_result(NULL) == 0);
    CHECK(sealwire_work_task_data(NULL) == NULL && sealwire_work_task_size(NULL) == 0);
    CHECK(sealwire_work_unfinished_attempts(NULL) == 0 && sealwire_work_unfinished_reason(NULL) == NULL);
    CHECK(sealwire_work_unfinished_data(NULL) == NULL && sealwire_work_unfinished_size(NULL) == 0);
    CHECK(!sealwire_work_unfinished_is_set_aside(NULL));
    CHECK(sealwire_work_unfinished_list_size(NULL) == 0 && sealwire_work_unfinished_list_at(NULL, 0) == NULL);
    CHECK(!sealwire_work_outcome_is_done(NULL) && sealwire_work_outcome_set_aside(NULL) == NULL);
    CHECK(sealwire_work_outcome_data(NULL) == NULL && sealwire_work_outcome_size(NULL) == 0);
    CHECK(!sealwire_work_worker_is_connected(NULL));
    sealwire_work_options_free(NULL);
    sealwire_work_task_free(NULL);
    sealwire_work_unfinished_free(NULL);
    sealwire_work_unfinished_list_free(NULL);
    sealwire_work_outcome_free(NULL);
    sealwire_work_distributor_free(NULL);
    sealwire_work_worker_free(NULL);

    /* What ends a task frees it after wrong arguments too, and the attempt has failed. */
    char *endpoint = bind_distributor(distributor);
    sealwire_work_worker_free(worker);
    worker = make_worker(protection->client, endpoint, 1);
    add_text(distributor, "task");
    RETURNS(expected, sealwire_work_task_done(take(worker), NULL, 1));
    RETURNS(expected, sealwire_work_task_fail(take(worker), NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_work_task_fail(take(worker), "\xFF"));
    task = take(worker);
    CHECK(sealwire_work_task_attempt(task) == 4);
    RETURNS(expected, sealwire_work_task_number(task, NULL));
    OK(sealwire_work_task_done(task, NULL, 0));
    sealwire_string_free(endpoint);
    sealwire_work_worker_free(worker);
    sealwire_work_distributor_free(distributor);
}

int main(void) {
    mechanism protection = make_mechanism("BLAKE3");
    a_full_distributor_says_so(&protection);
    bytes_are_bounded(&protection);
    leaving_repeats_nothing(&protection);
    what_is_left_comes_back(&protection);
    options_are_checked(&protection);
    wrong_arguments(&protection);
    free_mechanism(&protection);
    return 0;
}
