/* Acknowledged work: a distributor keeps each task until a worker says that it is done. */
#include <sealwire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 60000 /* milliseconds */

static void check(sealwire_status status) {
    if (status != SEALWIRE_OK) {
        fprintf(stderr, "%s\n", sealwire_last_error());
        exit(1);
    }
}

/* What a worker does with a task. It may do it again: work has to be the same when it is repeated. */
static void work(sealwire_work_task *task) {
    size_t size = sealwire_work_task_size(task);
    const char *text = (const char *)sealwire_work_task_data(task);
    if (size == 0) {
        check(sealwire_work_task_fail(task, "nothing to do"));
        return;
    }
    printf("%.*s, attempt %u\n", (int)size, text, (unsigned)sealwire_work_task_attempt(task));
    check(sealwire_work_task_done(task, NULL, 0));
}

int main(void) {
    const char *const tasks[] = {"resize 1.png", "", "resize 2.png"};
    uint8_t key[SEALWIRE_KEY_SIZE];
    sealwire_keys *keys;
    sealwire_authenticator *anyone;
    sealwire_security *of_server, *of_client;
    sealwire_work_options *options;
    sealwire_work_distributor *distributor;
    sealwire_work_worker *worker;
    sealwire_work_task *task;
    sealwire_work_unfinished_list *aside;
    char *endpoint;

    check(sealwire_keys_generate(&keys));
    check(sealwire_keys_public(keys, key));
    check(sealwire_authenticator_anyone(&anyone));
    check(sealwire_security_blake3_server(keys, anyone, &of_server));
    check(sealwire_security_blake3_client(key, NULL, &of_client));

    check(sealwire_work_options_new(&options));
    check(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_MAX_ATTEMPTS, 2));
    check(sealwire_work_options_set(options, SEALWIRE_WORK_OPTION_RETRY_DELAY_MS, 0));
    check(sealwire_work_distributor_new(of_server, NULL, options, &distributor));
    sealwire_work_options_free(options);
    check(sealwire_work_distributor_bind(distributor, "tcp://127.0.0.1:0", &endpoint));
    for (size_t i = 0; i < 3; i++) {
        check(sealwire_work_distributor_add(distributor, tasks[i], strlen(tasks[i]), SEALWIRE_WAIT, NULL));
    }

    check(sealwire_work_worker_new(endpoint, of_client, NULL, NULL, &worker));
    while (sealwire_work_distributor_finished(distributor, SEALWIRE_NO_WAIT) != SEALWIRE_OK) {
        if (sealwire_work_worker_take(worker, 10, &task) == SEALWIRE_OK) {
            work(task);
        }
    }
    check(sealwire_work_worker_leave(worker, LIMIT));

    check(sealwire_work_distributor_set_aside(distributor, &aside));
    for (size_t i = 0; i < sealwire_work_unfinished_list_size(aside); i++) {
        const sealwire_work_unfinished *failed = sealwire_work_unfinished_list_at(aside, i);
        printf("set aside after %u attempts: %s\n", (unsigned)sealwire_work_unfinished_attempts(failed),
               sealwire_work_unfinished_reason(failed));
    }

    sealwire_work_unfinished_list_free(aside);
    sealwire_work_worker_free(worker);
    sealwire_work_distributor_free(distributor);
    sealwire_string_free(endpoint);
    sealwire_security_free(of_server);
    sealwire_security_free(of_client);
    sealwire_authenticator_free(anyone);
    sealwire_keys_free(keys);
    return 0;
}
