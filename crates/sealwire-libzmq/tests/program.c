/* A program for libzmq that needs no socket: says the version and that the library is ours. */
#include <stdio.h>
#include <string.h>
#include <zmq.h>

static void count(int id, void *calls)
{
    (void) id;
    ++*(int *) calls;
}

static void work(void *calls)
{
    ++*(int *) calls;
}

int main(void)
{
    int major, minor, patch, calls = 0;
    char public_key[41], secret_key[41], derived[41];
    uint8_t bytes[32];

    zmq_version(&major, &minor, &patch);
    if (ZMQ_MAKE_VERSION(major, minor, patch) != ZMQ_VERSION)
        return 1;
    if (zmq_curve_keypair(public_key, secret_key) || zmq_curve_public(derived, secret_key))
        return 2;
    if (strcmp(public_key, derived) || !zmq_z85_decode(bytes, public_key))
        return 3;
    if (zmq_z85_encode(derived, bytes, 31) || zmq_errno() != EINVAL)
        return 4;

    void *timers = zmq_timers_new();
    if (zmq_timers_add(timers, 0, count, &calls) != 1 || zmq_timers_execute(timers))
        return 5;
    if (zmq_timers_destroy(&timers) || timers || zmq_timers_execute(timers) != -1 || errno != EFAULT)
        return 6;
    zmq_threadclose(zmq_threadstart(work, &calls));
    if (calls != 2)
        return 7;

    void *counter = zmq_atomic_counter_new();
    if (zmq_atomic_counter_inc(counter) != 0 || zmq_atomic_counter_dec(counter) != 0)
        return 8;
    zmq_atomic_counter_destroy(&counter);
    if (counter || strcmp(zmq_strerror(ETERM), "Context was terminated"))
        return 9;

    printf("%d.%d.%d%s\n", major, minor, patch, zmq_has("sealwire") ? " on Sealwire" : "");
    return 0;
}
