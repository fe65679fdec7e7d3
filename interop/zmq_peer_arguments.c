/* The libzmq peer's command line. */

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "zmq_peer.h"

static const struct {
    const char *name;
    int type;
} KINDS[] = {
    { "pair", ZMQ_PAIR },     { "pub", ZMQ_PUB },       { "sub", ZMQ_SUB },
    { "xpub", ZMQ_XPUB },     { "xsub", ZMQ_XSUB },     { "req", ZMQ_REQ },
    { "rep", ZMQ_REP },       { "dealer", ZMQ_DEALER }, { "router", ZMQ_ROUTER },
    { "push", ZMQ_PUSH },     { "pull", ZMQ_PULL },     { "stream", ZMQ_STREAM },
#ifdef ZMQ_BUILD_DRAFT_API
    { "client", ZMQ_CLIENT }, { "server", ZMQ_SERVER }, { "radio", ZMQ_RADIO },
    { "dish", ZMQ_DISH },     { "gather", ZMQ_GATHER }, { "scatter", ZMQ_SCATTER },
    { "peer", ZMQ_PEER },     { "channel", ZMQ_CHANNEL },
#endif
};

struct arguments args = {
    .type = -1, .size = { 16 }, .sizes = 1, .parts = 1, .timeout_s = 30, .identity = "", .topic = "",
};

static int number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < 0 || value > 1 << 30)
        fail("%s is not a count", text);
    return (int) value;
}

/* Counts separated by commas. */
static void parse_sizes(const char *text)
{
    for (args.sizes = 0; text; args.sizes++) {
        char count[16] = "";
        const char *comma = strchr(text, ',');
        size_t len = comma ? (size_t) (comma - text) : strlen(text);
        if (args.sizes == MAX_SIZES || len >= sizeof count)
            fail("--size: at most %d counts", MAX_SIZES);
        memcpy(count, text, len);
        args.size[args.sizes] = number(count);
        text = comma ? comma + 1 : NULL;
    }
}

void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--echo")) {
            args.echo = 1;
            continue;
        }
        if (!strcmp(name, "--cancel")) {
            args.cancel = 1;
            continue;
        }
        if (!strcmp(name, "--delimiter")) {
            args.delimiter = 1;
            continue;
        }
        if (!strcmp(name, "--lockstep")) {
            args.lockstep = 1;
            continue;
        }
        if (!strcmp(name, "--monitor")) {
            args.monitor = 1;
            continue;
        }
        if (!strcmp(name, "--handover")) {
            args.handover = 1;
            continue;
        }
        if (!strcmp(name, "--server")) {
            args.server = 1;
            continue;
        }
        if (i + 1 == argc)
            fail("%s: unknown, or its value is missing", name);
        const char *value = argv[++i];
        if (!strcmp(name, "--type")) {
            for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
                if (!strcmp(value, KINDS[k].name))
                    args.type = KINDS[k].type;
        } else if (!strcmp(name, "--mechanism")) {
            if (!strcmp(value, "curve"))
                args.mechanism = CURVE;
            else if (!strcmp(value, "plain"))
                args.mechanism = PLAIN;
            else if (strcmp(value, "null"))
                fail("this peer speaks NULL, PLAIN and CURVE");
        } else if (!strcmp(name, "--bind"))
            args.bind = value;
        else if (!strcmp(name, "--connect"))
            args.connect = value;
        else if (!strcmp(name, "--next"))
            args.next = value;
        else if (!strcmp(name, "--identity"))
            args.identity = value;
        else if (!strcmp(name, "--topic"))
            args.topic = value;
        else if (!strcmp(name, "--subscribe") && args.topics < MAX_TOPICS)
            args.subscribe[args.topics++] = value;
        else if (!strcmp(name, "--send"))
            args.send = number(value);
        else if (!strcmp(name, "--size"))
            parse_sizes(value);
        else if (!strcmp(name, "--parts"))
            args.parts = number(value);
        else if (!strcmp(name, "--recv"))
            args.recv = number(value);
        else if (!strcmp(name, "--heartbeat-ms"))
            args.heartbeat_ms = number(value);
        else if (!strcmp(name, "--secret-key"))
            args.secret_key = value;
        else if (!strcmp(name, "--server-key"))
            args.server_key = value;
        else if (!strcmp(name, "--allow"))
            args.allow = value;
        else if (!strcmp(name, "--username"))
            args.username = value;
        else if (!strcmp(name, "--password"))
            args.password = value;
        else if (!strcmp(name, "--zap"))
            args.zap = value;
        else if (!strcmp(name, "--high-water-mark"))
            args.high_water_mark = number(value);
        else if (!strcmp(name, "--receive-buffer"))
            args.receive_buffer = number(value);
        else if (!strcmp(name, "--timeout-s"))
            args.timeout_s = number(value);
        else
            fail("%s: unknown", name);
    }
    if (args.type < 0)
        fail("--type: a socket type that this libzmq has is needed");
    if (!args.bind == !args.connect)
        fail("one of --bind and --connect is needed");
    if (args.parts < 1 || args.parts >= MAX_PARTS)
        fail("--parts: 1 to %d", MAX_PARTS - 1);
    if (args.zap && strlen(args.zap) != 3)
        fail("--zap: a status has three digits");
    if (args.mechanism == PLAIN && (!args.username || !args.password))
        fail("PLAIN needs --username and --password");
    if (args.topics == 0)
        args.subscribe[args.topics++] = "";
}
