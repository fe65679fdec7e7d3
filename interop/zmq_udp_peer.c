/* RADIO, DISH or DGRAM of libzmq over UDP, driven by the tests.
 *
 *   zmq-udp-peer --timeout-s N --type radio --connect ENDPOINT --group GROUP --body TEXT
 *   zmq-udp-peer --timeout-s N --type dish --bind ENDPOINT --group GROUP
 *   zmq-udp-peer --timeout-s N --type dgram --bind ENDPOINT
 *
 * RADIO sends its message every 10 ms; DISH prints what it receives; DGRAM sends each datagram back to where it came from.
 * All go on until standard input ends or the time is over. Built without its drafts, libzmq exports none of the calls that RADIO and
 * DISH need, but its static library has them, as C++ functions. */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

#define ZMQ_RADIO 14
#define ZMQ_DISH 15
#define ZMQ_DGRAM 18
int zmq_join(void *socket, const char *group) __asm__("_Z8zmq_joinPvPKc");
int zmq_msg_set_group(zmq_msg_t *message, const char *group)
    __asm__("_Z17zmq_msg_set_groupP9zmq_msg_tPKc");
const char *zmq_msg_group(zmq_msg_t *message) __asm__("_Z13zmq_msg_groupP9zmq_msg_t");

#define PERIOD_MS 10

static void fail(const char *what)
{
    printf("{\"event\":\"error\",\"what\":\"%s\",\"why\":\"%s\"}\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

/* Waits for a period; true once standard input has ended. */
static int input_ended(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char byte;
    return poll(&input, 1, PERIOD_MS) > 0 && fread(&byte, 1, 1, stdin) == 0;
}

static void send_one(void *socket, const char *group, const char *body)
{
    zmq_msg_t message;
    zmq_msg_init_size(&message, strlen(body));
    memcpy(zmq_msg_data(&message), body, strlen(body));
    if (zmq_msg_set_group(&message, group) != 0 || zmq_msg_send(&message, socket, 0) < 0)
        fail("send");
}

static void print_all(void *socket)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) >= 0) {
        const unsigned char *body = zmq_msg_data(&message);
        printf("{\"event\":\"message\",\"group\":\"%s\",\"body\":\"", zmq_msg_group(&message));
        for (size_t i = 0; i < zmq_msg_size(&message); i++)
            printf("%02x", body[i]);
        printf("\"}\n");
    }
    zmq_msg_close(&message);
}

static void send_back(void *socket)
{
    zmq_msg_t part;
    zmq_msg_init(&part);
    while (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) >= 0)
        if (zmq_msg_send(&part, socket, zmq_msg_more(&part) ? ZMQ_SNDMORE : 0) < 0)
            fail("send");
    zmq_msg_close(&part);
}

int main(int argc, char **argv)
{
    const char *type = "", *endpoint = "", *group = "", *body = "";
    int seconds = 30;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--timeout-s"))
            seconds = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--type"))
            type = argv[i + 1];
        else if (!strcmp(argv[i], "--bind") || !strcmp(argv[i], "--connect"))
            endpoint = argv[i + 1];
        else if (!strcmp(argv[i], "--group"))
            group = argv[i + 1];
        else if (!strcmp(argv[i], "--body"))
            body = argv[i + 1];
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int is_radio = !strcmp(type, "radio"), is_dgram = !strcmp(type, "dgram");
    /* With IPv6 on, libzmq has no multicast over IPv4. */
    int ipv6 = strchr(endpoint, '[') != NULL;
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, is_radio ? ZMQ_RADIO : is_dgram ? ZMQ_DGRAM : ZMQ_DISH);
    if (!socket || zmq_setsockopt(socket, ZMQ_IPV6, &ipv6, sizeof ipv6) != 0)
        fail("socket");
    if (is_radio ? zmq_connect(socket, endpoint) : zmq_bind(socket, endpoint))
        fail("endpoint");
    if (!is_radio && !is_dgram && zmq_join(socket, group) != 0)
        fail("join");
    printf("{\"event\":\"ready\",\"endpoint\":\"%s\"}\n", endpoint);
    time_t end = time(NULL) + seconds;
    do {
        if (is_radio)
            send_one(socket, group, body);
        else if (is_dgram)
            send_back(socket);
        else
            print_all(socket);
    } while (!input_ended() && time(NULL) < end);
    int linger = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(socket);
    zmq_ctx_term(context);
    return 0;
}
