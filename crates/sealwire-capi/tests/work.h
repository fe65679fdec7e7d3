/* Distributors and workers, for the tests of acknowledged work. */
#ifndef SEALWIRE_WORK_TEST_H
#define SEALWIRE_WORK_TEST_H

#include "test.h"

#include <poll.h>

/* Milliseconds, for waits that end without what they wait for. */
#define SHORT 5

typedef struct {
    uint8_t bytes[SEALWIRE_WORK_NUMBER_SIZE];
} task_number;

static inline int is_same(const task_number *one, const task_number *other) {
    return memcmp(one->bytes, other->bytes, sizeof one->bytes) == 0;
}

static inline sealwire_work_options *work_options(void) {
    sealwire_work_options *options = NULL;
    OK(sealwire_work_options_new(&options));
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS, TIMEOUT));
    return options;
}

static inline sealwire_work_options *distributor_options(void) {
    sealwire_work_options *options = work_options();
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_RETRY_DELAY_MS, 0));
    return options;
}

/* Frees the options. */
static inline sealwire_work_distributor *make_distributor(const mechanism *protection, sealwire_work_options *options) {
    sealwire_work_distributor *distributor = NULL;
    OK(sealwire_work_distributor_new(protection->server, NULL, options, &distributor));
    sealwire_work_options_free(options);
    return distributor;
}

static inline char *bind_distributor(const sealwire_work_distributor *distributor) {
    char *endpoint = NULL;
    OK(sealwire_work_distributor_bind(distributor, "tcp://127.0.0.1:0", &endpoint));
    return endpoint;
}

static inline sealwire_work_worker *make_worker(const sealwire_security *security, const char *endpoint, int64_t credit) {
    sealwire_options *sockets = options_with_timeouts();
    sealwire_work_options *options = work_options();
    sealwire_work_worker *worker = NULL;
    OK(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_CREDIT, credit));
    OK(sealwire_work_worker_new(endpoint, security, sockets, options, &worker));
    sealwire_work_options_free(options);
    sealwire_options_free(sockets);
    return worker;
}

static inline sealwire_distributor_counters counters_of(const sealwire_work_distributor *distributor) {
    sealwire_distributor_counters counters;
    OK(sealwire_work_distributor_counters(distributor, &counters));
    return counters;
}

static inline sealwire_worker_counters worker_counters_of(const sealwire_work_worker *worker) {
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

static inline task_number add_text(const sealwire_work_distributor *distributor, const char *text) {
    task_number number;
    OK(sealwire_work_distributor_add(distributor, text, strlen(text), TIMEOUT, number.bytes));
    return number;
}

static inline sealwire_work_task *take(const sealwire_work_worker *worker) {
    sealwire_work_task *task = NULL;
    OK(sealwire_work_worker_take(worker, TIMEOUT, &task));
    return task;
}

static inline int task_says(const sealwire_work_task *task, const char *text) {
    return sealwire_work_task_size(task) == strlen(text)
        && memcmp(sealwire_work_task_data(task), text, strlen(text)) == 0;
}

static inline void has_number(const sealwire_work_task *task, const task_number *expected) {
    task_number number;
    OK(sealwire_work_task_number(task, number.bytes));
    CHECK(is_same(&number, expected));
}

/* A task without an outcome is this one. */
static inline void is_unfinished(const sealwire_work_unfinished *task, const task_number *number, const char *text) {
    task_number told;
    OK(sealwire_work_unfinished_number(task, told.bytes));
    CHECK(is_same(&told, number));
    CHECK(sealwire_work_unfinished_size(task) == strlen(text));
    CHECK(memcmp(sealwire_work_unfinished_data(task), text, strlen(text)) == 0);
}

#endif
