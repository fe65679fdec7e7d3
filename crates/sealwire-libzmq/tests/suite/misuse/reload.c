/* The library is loaded and given up again and again, with contexts and threads under way: it stays where it is. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zmq.h>

static void check(int well, const char *what)
{
    if (!well) {
        fprintf(stderr, "reload: %s\n", what);
        exit(1);
    }
}

static int tasks(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    check(folder != NULL, "no tasks");
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

int main(void)
{
    void *(*new_context)(void), *(*new_socket)(void *, int);
    int (*bind)(void *, const char *), (*close_socket)(void *), (*terminate)(void *);
    alarm(60);
    int before = tasks();
    for (int i = 0; i < 200; i++) {
        void *library = dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL);
        check(library != NULL, "dlopen");
        *(void **) &new_context = dlsym(library, "zmq_ctx_new");
        *(void **) &new_socket = dlsym(library, "zmq_socket");
        *(void **) &bind = dlsym(library, "zmq_bind");
        *(void **) &close_socket = dlsym(library, "zmq_close");
        *(void **) &terminate = dlsym(library, "zmq_ctx_term");
        void *context = new_context();
        void *socket = new_socket(context, ZMQ_PULL);
        check(socket != NULL && bind(socket, "tcp://127.0.0.1:*") == 0, "a socket");
        /* Its I/O thread runs. */
        check(dlclose(library) == 0, "dlclose");
        check(close_socket(socket) == 0 && terminate(context) == 0, "the end");
    }
    check(tasks() == before, "threads are left");
    return 0;
}
