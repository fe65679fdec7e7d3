/* What the system takes for the round trips of local_lat and remote_lat, without a library: two processes with nothing
   but send(2) and recv(2). bare_lat SIZE COUNT. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void move(ssize_t (*call)(int, char *, size_t), int peer, char *body, size_t size)
{
    for (size_t moved = 0; moved < size;) {
        ssize_t now = call(peer, body + moved, size - moved);
        assert(now > 0);
        moved += (size_t) now;
    }
}

static ssize_t to(int peer, char *body, size_t size)
{
    return send(peer, body, size, 0);
}

static ssize_t from(int peer, char *body, size_t size)
{
    return recv(peer, body, size, 0);
}

int main(int count_of_arguments, char **arguments)
{
    assert(count_of_arguments == 3);
    size_t size = strtoul(arguments[1], NULL, 10);
    long count = strtol(arguments[2], NULL, 10);
    char *body = malloc(size);
    assert(body);
    memset(body, 1, size);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    assert(bind(listener, (struct sockaddr *) &address, length) == 0 && listen(listener, 1) == 0);
    assert(getsockname(listener, (struct sockaddr *) &address, &length) == 0);
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        int peer = socket(AF_INET, SOCK_STREAM, 0);
        assert(connect(peer, (struct sockaddr *) &address, length) == 0);
        assert(setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
        for (long trip = 0; trip < count; trip++) {
            move(from, peer, body, size);
            move(to, peer, body, size);
        }
        return 0;
    }
    int peer = accept(listener, NULL, NULL);
    assert(peer >= 0 && setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long trip = 0; trip < count; trip++) {
        move(to, peer, body, size);
        move(from, peer, body, size);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double elapsed = (ended.tv_sec - begun.tv_sec) * 1e6 + (ended.tv_nsec - begun.tv_nsec) / 1e3;
    printf("average latency: %.3f [us]\n", elapsed / (2.0 * count));
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
