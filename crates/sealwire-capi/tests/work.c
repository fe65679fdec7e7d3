/* Acknowledged work: nothing is lost, whatever becomes of workers. */
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds, for waits that end without what they wait for. */
#define SHORT 5
#define TASKS 3000
#define TASK_SIZE 1000
/* Tasks that a process has taken when it is killed. */
#define DOOMED_TASKS 5

static const char *program;

typedef struct {
    uint8_t bytes[SEALWIRE_WORK_NUMBER_SIZE];
} task_number;

static int is_same(const task_number *one, const task_number *other) {
    return memcmp(one->bytes, other->bytes, sizeof one->bytes) == 0;
}

static sealwire_work_options *work_options(void) {
    sealwire_work_options *options = NULL;
    OK(sealwire_work_options_new(&options));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS, TIMEOUT));
    return options;
}

static sealwire_work_options *distributor_options(void) {
    sealwire_work_options *options = work_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_RETRY_DELAY_MS, 0));
    return options;
}

/* Frees the options. */
static sealwire_work_distributor *make_distributor(const mechanism *protection, sealwire_work_options *options) {
    sealwire_work_distributor *distributor = NULL;
    OK(sealwire_work_distributor_new(protection->server, NULL, options, &distributor));
    sealwire_work_options_free(options);
    return distributor;
}

static char *bind_distributor(const sealwire_work_distributor *distributor) {
    char *endpoint = NULL;
    OK(sealwire_work_distributor_bind(distributor, "tcp://127.0.0.1:0", &endpoint));
    return endpoint;
}

static sealwire_work_worker *make_worker(const sealwire_security *security, const char *endpoint, int64_t credit) {
    sealwire_options *sockets = options_with_timeouts();
    sealwire_work_options *options = work_options();
    sealwire_work_worker *worker = NULL;
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT, credit));
    OK(sealwire_work_worker_new(endpoint, security, sockets, options, &worker));
    sealwire_work_options_free(options);
    sealwire_options_free(sockets);
    return worker;
}

static sealwire_distributor_counters counters_of(const sealwire_work_distributor *distributor) {
    sealwire_distributor_counters counters;
    OK(sealwire_work_distributor_counters(distributor, &counters));
    return counters;
}

static sealwire_worker_counters worker_counters_of(const sealwire_work_worker *worker) {
    sealwire_worker_counters counters;
    OK(sealwire_work_worker_counters(worker, &counters));
    return counters;
}

/* Waits until a counter of a distributor or worker is so. */
#define EVENTUALLY(condition)                                                                      \
    do {                                                                                           \
        int left_ = TIMEOUT;                                                                       \
        while (!(condition) && left_-- > 0) {                                                      \
            poll(NULL, 0, 1);                                                                      \
        }                                                                                          \
        CHECK(left_ > 0);                                                                          \
    } while (0)

static task_number add_text(const sealwire_work_distributor *distributor, const char *text) {
    task_number number;
    OK(sealwire_work_distributor_add(distributor, text, strlen(text), TIMEOUT, number.bytes));
    return number;
}

static sealwire_work_task *take(const sealwire_work_worker *worker) {
    sealwire_work_task *task = NULL;
    OK(sealwire_work_worker_take(worker, TIMEOUT, &task));
    return task;
}

static int task_says(const sealwire_work_task *task, const char *text) {
    return sealwire_work_task_size(task) == strlen(text)
        && memcmp(sealwire_work_task_data(task), text, strlen(text)) == 0;
}

static void has_number(const sealwire_work_task *task, const task_number *expected) {
    task_number number;
    OK(sealwire_work_task_number(task, number.bytes));
    CHECK(is_same(&number, expected));
}

/* A task without an outcome is this one. */
static void is_unfinished(const sealwire_work_unfinished *task, const task_number *number, const char *text) {
    task_number told;
    OK(sealwire_work_unfinished_number(task, told.bytes));
    CHECK(is_same(&told, number));
    CHECK(sealwire_work_unfinished_size(task) == strlen(text));
    CHECK(memcmp(sealwire_work_unfinished_data(task), text, strlen(text)) == 0);
}

/* A worker on a thread, and how often it did which task. */
typedef struct {
    pthread_t thread;
    sealwire_work_worker *worker;
    unsigned times[TASKS];
} working;

/* Takes tasks until its worker leaves. */
static void *work(void *user) {
    working *here = (working *)user;
    sealwire_work_task *task = NULL;
    sealwire_status status;
    while ((status = sealwire_work_worker_take(here->worker, SEALWIRE_WAIT, &task)) == SEALWIRE_OK) {
        uint32_t number;
        CHECK(sealwire_work_task_size(task) == TASK_SIZE);
        memcpy(&number, sealwire_work_task_data(task), sizeof number);
        CHECK(number < TASKS);
        here->times[number]++;
        OK(sealwire_work_task_done(task, NULL, 0));
    }
    CHECK(status == SEALWIRE_ERROR_WORK_SHUT_DOWN);
    return NULL;
}

static void begin_work(working *here, const sealwire_security *security, const char *endpoint) {
    memset(here, 0, sizeof *here);
    here->worker = make_worker(security, endpoint, 64);
    CHECK(pthread_create(&here->thread, NULL, work, here) == 0);
}

static void end_work(working *here) {
    OK(sealwire_work_worker_leave(here->worker, TIMEOUT));
    CHECK(pthread_join(here->thread, NULL) == 0);
    sealwire_work_worker_free(here->worker);
}

/* This program as another process: it takes tasks, ends none and waits to be killed. */
static int doomed(const char *endpoint, const char *key_text) {
    uint8_t key[SEALWIRE_KEY_SIZE];
    sealwire_security *security = NULL;
    sealwire_work_worker *worker;
    OK(sealwire_public_key_from_text(key_text, key));
    OK(sealwire_security_blake3_client(key, NULL, &security));
    worker = make_worker(security, endpoint, 64);
    for (int i = 0; i < DOOMED_TASKS; i++) {
        take(worker);
    }
    CHECK(write(STDOUT_FILENO, "t", 1) == 1);
    /* Longer than its parent waits for anything. */
    sleep(2 * TIMEOUT / 1000);
    return 1;
}

static pid_t begin_doomed(const char *endpoint, const char *key_text, int *output) {
    int pipe_ends[2];
    pid_t pid;
    CHECK(pipe(pipe_ends) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char *arguments[] = {(char *)program, (char *)endpoint, (char *)key_text, NULL};
        dup2(pipe_ends[1], STDOUT_FILENO);
        execv(program, arguments);
        _exit(1);
    }
    close(pipe_ends[1]);
    *output = pipe_ends[0];
    return pid;
}

static void add_numbers(const sealwire_work_distributor *distributor, uint32_t from, uint32_t to) {
    uint8_t body[TASK_SIZE];
    memset(body, 7, sizeof body);
    for (uint32_t number = from; number < to; number++) {
        memcpy(body, &number, sizeof number);
        OK(sealwire_work_distributor_add(distributor, body, sizeof body, TIMEOUT, NULL));
    }
}

static void of_three_workers_one_is_killed(void) {
    sealwire_keys *keys = NULL;
    sealwire_authenticator *anyone = NULL;
    mechanism protection = {"BLAKE3", NULL, NULL};
    uint8_t key[SEALWIRE_KEY_SIZE];
    char key_text[SEALWIRE_KEY_TEXT_SIZE];
    OK(sealwire_keys_generate(&keys));
    OK(sealwire_keys_public(keys, key));
    OK(sealwire_public_key_to_text(key, key_text));
    OK(sealwire_authenticator_anyone(&anyone));
    OK(sealwire_security_blake3_server(keys, anyone, &protection.server));
    OK(sealwire_security_blake3_client(key, NULL, &protection.client));
    sealwire_authenticator_free(anyone);
    sealwire_keys_free(keys);

    sealwire_work_distributor *distributor = make_distributor(&protection, distributor_options());
    char *endpoint = bind_distributor(distributor);
    static working alive[2];
    int output = -1, status = 0;
    char taken = 0;
    begin_work(&alive[0], protection.client, endpoint);
    begin_work(&alive[1], protection.client, endpoint);
    pid_t pid = begin_doomed(endpoint, key_text, &output);
    EVENTUALLY(counters_of(distributor).workers == 3);
    add_numbers(distributor, 0, TASKS / 3);
    CHECK(read(output, &taken, 1) == 1);
    /* With those that it took, and with those in its buffers. */
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    close(output);
    add_numbers(distributor, TASKS / 3, TASKS);
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    end_work(&alive[0]);
    end_work(&alive[1]);

    uint64_t repeated = 0;
    for (size_t i = 0; i < TASKS; i++) {
        unsigned times = alive[0].times[i] + alive[1].times[i];
        CHECK(times >= 1);
        repeated += times - 1;
    }
    sealwire_distributor_counters counters = counters_of(distributor);
    CHECK(counters.added == TASKS && counters.done == TASKS);
    CHECK(counters.pending == 0 && counters.set_aside == 0 && counters.out == 0 && counters.held_bytes == 0);
    CHECK(counters.lost >= DOOMED_TASKS);
    CHECK(counters.handed_out_again == counters.lost && counters.repeated == repeated);
    CHECK(counters.handed_out == TASKS + counters.handed_out_again + counters.returned);
    CHECK(counters.failed == 0 && counters.overdue == 0 && counters.foreign == 0 && counters.violations == 0);

    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
    free_mechanism(&protection);
}

/* An attempt that is overdue goes to another worker; both say that it is done. */
static void repetitions_are_counted(const mechanism *protection) {
    sealwire_work_options *options = distributor_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS, 20));
    sealwire_work_distributor *distributor = make_distributor(protection, options);
    char *endpoint = bind_distributor(distributor);
    sealwire_work_worker *slow = make_worker(protection->client, endpoint, 1);
    task_number number = add_text(distributor, "task");
    sealwire_work_task *first = take(slow);
    EVENTUALLY(counters_of(distributor).overdue == 1);
    sealwire_work_worker *other = make_worker(protection->client, endpoint, 1);
    sealwire_work_task *second = take(other);
    has_number(first, &number);
    has_number(second, &number);
    CHECK(sealwire_work_task_attempt(first) == 1 && sealwire_work_task_attempt(second) == 2);
    OK(sealwire_work_task_done(first, NULL, 0));
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    OK(sealwire_work_task_done(second, NULL, 0));
    EVENTUALLY(counters_of(distributor).repeated == 1);
    CHECK(counters_of(distributor).done == 1 && counters_of(distributor).late >= 1);
    sealwire_work_worker_free(slow);
    sealwire_work_worker_free(other);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

static void what_fails_is_set_aside(const mechanism *protection) {
    sealwire_work_options *options = distributor_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_ATTEMPTS, 2));
    sealwire_work_distributor *distributor = make_distributor(protection, options);
    char *endpoint = bind_distributor(distributor);
    sealwire_work_worker *worker = make_worker(protection->client, endpoint, 64);
    sealwire_work_unfinished_list *list = NULL;
    sealwire_work_unfinished *dropped = NULL;
    task_number number = add_text(distributor, "task");
    for (uint32_t round = 1; round <= 2; round++) {
        OK(sealwire_work_task_fail(take(worker), "no such file"));
        /* A task that is freed has failed. */
        if (round == 1) {
            OK(sealwire_work_task_fail(take(worker), "no such file"));
        } else {
            sealwire_work_task_free(take(worker));
        }
        OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
        OK(sealwire_work_distributor_set_aside(distributor, &list));
        CHECK(sealwire_work_unfinished_list_size(list) == 1);
        const sealwire_work_unfinished *aside = sealwire_work_unfinished_list_at(list, 0);
        is_unfinished(aside, &number, "task");
        CHECK(sealwire_work_unfinished_list_at(list, 1) == NULL);
        CHECK(sealwire_work_unfinished_attempts(aside) == 2 * round);
        CHECK(sealwire_work_unfinished_is_set_aside(aside));
        const char *reason = round == 1 ? "no such file" : "dropped without an outcome";
        CHECK(strcmp(sealwire_work_unfinished_reason(aside), reason) == 0);
        sealwire_work_unfinished_list_free(list);
        if (round == 1) {
            OK(sealwire_work_distributor_put_back(distributor, number.bytes));
            RETURNS(SEALWIRE_ERROR_WORK_NOT_SET_ASIDE, sealwire_work_distributor_put_back(distributor, number.bytes));
        }
    }
    CHECK(counters_of(distributor).set_aside == 1 && counters_of(distributor).failed == 4);
    CHECK(worker_counters_of(worker).failed == 4 && worker_counters_of(worker).done == 0);
    OK(sealwire_work_distributor_drop_aside(distributor, number.bytes, &dropped));
    is_unfinished(dropped, &number, "task");
    sealwire_work_unfinished_free(dropped);
    RETURNS(SEALWIRE_ERROR_WORK_NOT_SET_ASIDE, sealwire_work_distributor_drop_aside(distributor, number.bytes, NULL));
    OK(sealwire_work_distributor_set_aside(distributor, &list));
    CHECK(sealwire_work_unfinished_list_size(list) == 0);
    sealwire_work_unfinished_list_free(list);
    sealwire_work_worker_free(worker);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

static void is_outcome(sealwire_work_outcome *outcome, const task_number *number, const char *result) {
    task_number told;
    OK(sealwire_work_outcome_number(outcome, told.bytes));
    CHECK(is_same(&told, number) && sealwire_work_outcome_is_done(outcome));
    CHECK(sealwire_work_outcome_size(outcome) == strlen(result));
    CHECK(memcmp(sealwire_work_outcome_data(outcome), result, strlen(result)) == 0);
    CHECK(sealwire_work_outcome_set_aside(outcome) == NULL);
    sealwire_work_outcome_free(outcome);
}

static void outcomes_come_one_by_one(const mechanism *protection) {
    sealwire_work_options *options = distributor_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_ATTEMPTS, 2));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_KEEP_RESULTS, 1));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_RESULT, 8));
    sealwire_work_distributor *distributor = make_distributor(protection, options);
    char *endpoint = bind_distributor(distributor);
    sealwire_work_worker *worker = make_worker(protection->client, endpoint, 1);
    sealwire_work_outcome *outcome = NULL;
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_work_distributor_outcome(distributor, SEALWIRE_NO_WAIT, &outcome));
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_work_distributor_outcome(distributor, SHORT, &outcome));
    RETURNS(SEALWIRE_ERROR_WOULD_BLOCK, sealwire_work_distributor_next_result(distributor, &outcome));
    CHECK(outcome == NULL);

    task_number first = add_text(distributor, "first"), second, third;
    sealwire_work_task *task = take(worker);
    CHECK(sealwire_work_task_max_result(task) == 8);
    RETURNS(SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE, sealwire_work_task_done(task, "123456789", 9));
    task = take(worker);
    CHECK(sealwire_work_task_attempt(task) == 2);
    OK(sealwire_work_task_done(task, "12345678", 8));
    OK(sealwire_work_distributor_outcome(distributor, TIMEOUT, &outcome));
    is_outcome(outcome, &first, "12345678");

    second = add_text(distributor, "second");
    OK(sealwire_work_task_fail(take(worker), "no"));
    OK(sealwire_work_task_fail(take(worker), "never"));
    OK(sealwire_work_distributor_outcome(distributor, SEALWIRE_WAIT, &outcome));
    CHECK(!sealwire_work_outcome_is_done(outcome) && sealwire_work_outcome_size(outcome) == 0);
    const sealwire_work_unfinished *aside = sealwire_work_outcome_set_aside(outcome);
    is_unfinished(aside, &second, "second");
    CHECK(strcmp(sealwire_work_unfinished_reason(aside), "never") == 0);
    task_number told;
    OK(sealwire_work_outcome_number(outcome, told.bytes));
    CHECK(is_same(&told, &second));
    sealwire_work_outcome_free(outcome);

    third = add_text(distributor, "third");
    OK(sealwire_work_task_done(take(worker), NULL, 0));
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    OK(sealwire_work_distributor_next_result(distributor, &outcome));
    is_outcome(outcome, &third, "");
    third = add_text(distributor, "third");
    OK(sealwire_work_task_done(take(worker), "late", 4));
    OK(sealwire_work_distributor_finished(distributor, TIMEOUT));
    OK(sealwire_work_distributor_shutdown(distributor, 0, NULL));
    OK(sealwire_work_distributor_outcome(distributor, SEALWIRE_NO_WAIT, &outcome));
    is_outcome(outcome, &third, "late");
    RETURNS(SEALWIRE_ERROR_WORK_SHUT_DOWN, sealwire_work_distributor_outcome(distributor, SEALWIRE_NO_WAIT, &outcome));
    sealwire_work_worker_free(worker);
    sealwire_string_free(endpoint);
    sealwire_work_distributor_free(distributor);
}

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

int main(int count, char **arguments) {
    program = arguments[0];
    if (count == 3) {
        return doomed(arguments[1], arguments[2]);
    }
    mechanism protection = make_mechanism("BLAKE3");
    of_three_workers_one_is_killed();
    repetitions_are_counted(&protection);
    what_fails_is_set_aside(&protection);
    outcomes_come_one_by_one(&protection);
    a_full_distributor_says_so(&protection);
    bytes_are_bounded(&protection);
    leaving_repeats_nothing(&protection);
    what_is_left_comes_back(&protection);
    options_are_checked(&protection);
    wrong_arguments(&protection);
    free_mechanism(&protection);
    return 0;
}
