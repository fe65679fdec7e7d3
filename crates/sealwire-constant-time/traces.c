/*
 * Compares the traces of an AArch64 program that does the same several times with other secrets: the
 * instructions, and the addresses that they read and write, must be the same. A plugin for qemu's
 * user mode, which is handed every instruction that is executed.
 *
 * Where runs begin and end is marked by instructions that do nothing, `src/traces.rs`. What is found
 * is printed on standard error; a difference ends the process with status 99.
 *
 * The functions are those of qemu's plugin interface, version 1 (docs/devel/tcg-plugins).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

typedef void (*on_block)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*on_instruction)(unsigned, void *);
typedef void (*on_memory)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_block);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_instruction, int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_memory, int, int, void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
extern const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *);
extern unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct instruction {
    uint64_t address;
    const char *symbol;
};

/* A step of a trace: an instruction, or an access to memory by the one before. */
struct step {
    const struct instruction *instruction;
    uint64_t detail;
};

static struct step *trace;
static size_t length, capacity, position;
static bool compares;
static enum { OUTSIDE, FIRST, ANOTHER } run;

static const char *name(const struct instruction *instruction) {
    return instruction->symbol ? instruction->symbol : "?";
}

static void differs(const char *what, const struct instruction *now, const struct instruction *before) {
    fprintf(stderr, "traces: %s depends on a secret: 0x%" PRIx64 " in %s", what, now->address, name(now));
    if (before) {
        fprintf(stderr, ", and before 0x%" PRIx64 " in %s", before->address, name(before));
    }
    fputc('\n', stderr);
    fflush(stderr);
    _Exit(99);
}

static void follow(const struct instruction *instruction, uint64_t detail) {
    if (run == FIRST) {
        if (length == capacity) {
            capacity = capacity ? 2 * capacity : 1 << 20;
            trace = realloc(trace, capacity * sizeof *trace);
            if (!trace) {
                fprintf(stderr, "traces: no memory for %zu steps\n", capacity);
                _Exit(98);
            }
        }
        trace[length++] = (struct step){instruction, detail};
        return;
    }
    if (position == length) {
        differs("a branch", instruction, NULL);
    }
    const struct step *before = &trace[position++];
    if (before->instruction->address != instruction->address) {
        differs("a branch", instruction, before->instruction);
    }
    if (before->detail != detail) {
        differs("an address", instruction, NULL);
    }
}

static void executed(unsigned cpu, void *instruction) {
    (void)cpu;
    if (run != OUTSIDE) {
        follow(instruction, 0);
    }
}

static void divided(unsigned cpu, void *instruction) {
    (void)cpu;
    if (run != OUTSIDE) {
        differs("a division, maybe,", instruction, NULL);
    }
}

static void accessed(unsigned cpu, qemu_plugin_meminfo_t access, uint64_t address, void *instruction) {
    (void)cpu;
    if (run != OUTSIDE) {
        uint64_t kind = 2 * qemu_plugin_mem_size_shift(access) + qemu_plugin_mem_is_store(access);
        follow(instruction, address << 8 | kind << 1 | 1);
    }
}

static void check_begins(unsigned cpu, void *instruction) {
    (void)cpu, (void)instruction;
    compares = false;
    length = 0;
}

static void run_begins(unsigned cpu, void *instruction) {
    (void)cpu, (void)instruction;
    position = 0;
    run = compares ? ANOTHER : FIRST;
}

static void run_ends(unsigned cpu, void *instruction) {
    (void)cpu;
    if (run == ANOTHER) {
        if (position != length) {
            differs("a branch", instruction, trace[position].instruction);
        }
        fprintf(stderr, "traces: %zu steps, the same as before\n", length);
    }
    run = OUTSIDE;
    compares = true;
}

static on_instruction what_it_is(uint32_t code) {
    switch (code) {
    case 0xd280001f | 0x5ea1 << 5: return check_begins;
    case 0xd280001f | 0x5ea2 << 5: return run_begins;
    case 0xd280001f | 0x5ea3 << 5: return run_ends;
    }
    /* UDIV and SDIV, of 32 and 64 bits: "Data-processing (2 source)" of the Arm Architecture Reference Manual. */
    return (code & 0x7fe0f800) == 0x1ac00800 ? divided : executed;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        struct instruction *instruction = malloc(sizeof *instruction);
        if (!instruction) {
            fputs("traces: no memory for an instruction\n", stderr);
            _Exit(98);
        }
        /* Kept: a trace may point to it. */
        *instruction = (struct instruction){qemu_plugin_insn_vaddr(insn), qemu_plugin_insn_symbol(insn)};
        uint32_t code = *(const uint32_t *)qemu_plugin_insn_data(insn);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, what_it_is(code), NO_REGISTERS, instruction);
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, NO_REGISTERS, READS_AND_WRITES, instruction);
    }
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
                                                              int count, char **arguments) {
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
