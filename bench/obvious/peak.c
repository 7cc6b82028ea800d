/*
 * What this machine's SIMD unit does at most, as WebAssembly's fixed-width instructions reach it: eight
 * multiply-adds of 16-bit numbers an instruction, on registers alone, in chains that do not wait for
 * each other. Figures of engines are set against it.
 */
#include <stdint.h>
#include <wasm_simd128.h>

#define CHAINS 10
#define ADDS_A_DOT 8

static v128_t chain(v128_t sum, v128_t a, v128_t b) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b));
}

/* Run `rounds` rounds; *multiply-adds done* is rounds * peak_adds(). The result depends on each. */
__attribute__((export_name("peak"))) int32_t peak(int rounds) {
  v128_t b = wasm_i16x8_const(1, -2, 3, -4, 5, -6, 7, -8), step = wasm_i16x8_splat(1);
  v128_t s0 = b, s1 = b, s2 = b, s3 = b, s4 = b, s5 = b, s6 = b, s7 = b, s8 = b, s9 = b;
  for (int i = 0; i < rounds; i++) {
    b = wasm_i16x8_add(b, step); /* else the products would be taken out of the loop */
    s0 = chain(s0, b, s1);
    s1 = chain(s1, b, s2);
    s2 = chain(s2, b, s3);
    s3 = chain(s3, b, s4);
    s4 = chain(s4, b, s5);
    s5 = chain(s5, b, s6);
    s6 = chain(s6, b, s7);
    s7 = chain(s7, b, s8);
    s8 = chain(s8, b, s9);
    s9 = chain(s9, b, b);
  }
  v128_t sum = s0;
  const v128_t rest[] = {s1, s2, s3, s4, s5, s6, s7, s8, s9};
  for (int i = 0; i < 9; i++) sum = wasm_i32x4_add(sum, rest[i]);
  return wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) +
         wasm_i32x4_extract_lane(sum, 2) + wasm_i32x4_extract_lane(sum, 3);
}

/* Multiply-adds of a round. */
__attribute__((export_name("peak_adds"))) int peak_adds(void) { return CHAINS * ADDS_A_DOT; }
