/* Signal handlers end calls that wait, where a socket was made for that. */
#include "test.h"

#include <signal.h>
#include <time.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number) {
    (void)number;
    handled++;
}

/* A signal every so many milliseconds: however late the call begins to sleep, one comes after that. */
static void beat(int milliseconds) {
    struct itimerval every;
    memset(&every, 0, sizeof every);
    every.it_interval.tv_usec = every.it_value.tv_usec = 1000 * milliseconds;
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
}

/* No more signals from here on: one that was sent may not have been handled yet. */
static void stop_beating(void) {
    sigset_t alarm, before;
    struct timespec none = {0, 0};
    CHECK(sigemptyset(&alarm) == 0 && sigaddset(&alarm, SIGALRM) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &alarm, &before) == 0);
    beat(0);
    while (sigtimedwait(&alarm, NULL, &none) == SIGALRM) {
    }
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

int main(void) {
    /* The system would go on with calls that it can go on with. */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);

    sealwire_security *none = no_security();
    sealwire_options *options = NULL;
    sealwire_socket *pull = NULL, *push = NULL, *deaf = NULL;
    sealwire_message *message = NULL;
    sealwire_monitor *monitor = NULL;
    sealwire_event *event = NULL;
    char endpoint[64];
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_INTERRUPTIBLE, 1));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_LINGER_MS, TIMEOUT));
    OK(sealwire_socket_new(SEALWIRE_PULL, none, options, &pull));
    OK(sealwire_socket_new(SEALWIRE_PUSH, none, options, &push));
    sealwire_options_free(options);
    OK(sealwire_monitor_new(pull, &monitor));

    beat(1);
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_socket_send_bytes(push, "x", 1, SEALWIRE_WAIT));
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_monitor_next(monitor, SEALWIRE_WAIT, &event));
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_monitor_next(monitor, TIMEOUT, &event));
    sealwire_poll_item items[2];
    memset(items, 0, sizeof items);
    items[0].socket = pull;
    items[0].events = SEALWIRE_POLL_IN;
    items[1].monitor = monitor;
    items[1].events = SEALWIRE_POLL_IN;
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_poll(items, 2, SEALWIRE_WAIT, NULL));
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_poll(items + 1, 1, TIMEOUT, NULL));
    /* What waits for nothing is not interrupted. */
    for (int times = 0; times < 100; times++)
        OK(sealwire_poll(items, 2, SEALWIRE_NO_WAIT, NULL));
    stop_beating();
    CHECK(handled >= 6 && message == NULL && event == NULL);
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_monitor_next(monitor, 1, &event));

    /* Closing goes on after a signal, and is waited for by another call. */
    snprintf(endpoint, sizeof endpoint, "ipc:///tmp/sealwire-signals-%ld", (long)getpid());
    OK(sealwire_socket_connect(push, endpoint));
    OK(sealwire_socket_send_bytes(push, "late", 4, SEALWIRE_WAIT));
    beat(1);
    RETURNS(SEALWIRE_ERROR_INTERRUPTED, sealwire_socket_close(push));
    stop_beating();
    OK(sealwire_socket_bind(pull, endpoint, NULL));
    OK(sealwire_socket_recv(pull, SEALWIRE_WAIT, &message));
    CHECK(sealwire_message_size(message) == 4);
    sealwire_message_free(message);
    message = NULL;
    OK(sealwire_socket_close(push));
    OK(sealwire_monitor_next(monitor, SEALWIRE_WAIT, &event));
    sealwire_event_free(event);
    sealwire_monitor_free(monitor);

    /* Others wait on: for a tenth of a second, in which signals come. */
    deaf = make_socket(SEALWIRE_PULL, none);
    beat(1);
    RETURNS(SEALWIRE_ERROR_TIMED_OUT, sealwire_socket_recv(deaf, 100, &message));
    stop_beating();

    sealwire_socket_free(deaf);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_security_free(none);
    return 0;
}
