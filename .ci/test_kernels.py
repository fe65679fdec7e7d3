#!/usr/bin/env python3
"""What kernels.py sees."""

import unittest

import kernels

KERNELS = "\n".join(
    f"0000000000001000 <{crate}::x86::avx2::Kernels for sealwire_simd::isa::Avx2>::chunk::compiled>:\n"
    "    1000:\tvpaddd %ymm0,%ymm1,%ymm2\n"
    for crate in kernels.CRATES
)
OURS = "0000000000002000 <sealwire_aead::simd::framing::Framing::fill>:\n"
CALL = "    2004:\tcall   9000 <core::core_arch::x86::avx512f::_mm512_storeu_si512>\n"


def report(*parts):
    return kernels.report("".join(parts).splitlines())


class Kernels(unittest.TestCase):
    def test_kernels_with_their_instructions_inside_are_right(self):
        self.assertEqual(report(KERNELS), [])

    def test_a_function_that_calls_an_intrinsic_is_named_with_it(self):
        [fault] = report(KERNELS, "\n", OURS, CALL)
        self.assertIn("Framing::fill calls _mm512_storeu_si512", fault)

    def test_a_jump_at_the_end_is_a_call(self):
        [fault] = report(KERNELS, "\n", OURS, CALL.replace("call", "jmp"))
        self.assertIn("Framing::fill", fault)

    def test_a_branch_of_aarch64_is_a_call(self):
        neon = CALL.replace("call", "bl").replace("x86::avx512f::_mm512_storeu_si512", "arm_shared::neon::vaddq_u32")
        [fault] = report(KERNELS, "\n", OURS, neon)
        self.assertIn("vaddq_u32", fault)

    def test_functions_of_others_may_call_what_they_like(self):
        self.assertEqual(report(KERNELS, "\n", OURS.replace("sealwire_aead", "poly1305"), CALL), [])

    def test_a_build_without_kernels_is_not_taken_for_a_right_one(self):
        self.assertEqual(len(report(OURS)), len(kernels.CRATES))


if __name__ == "__main__":
    unittest.main()
