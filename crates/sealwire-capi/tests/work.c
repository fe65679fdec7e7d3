/* Acknowledged work: nothing is lost, whatever becomes of workers. */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 3000
#define TASK_SIZE 1000
/* Tasks that a process has taken when it is killed. */
#define DOOMED_TASKS 5

static const char *program;

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
    free_mechanism(&protection);
    return 0;
}
