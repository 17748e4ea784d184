#include "common/vfs/sha256_blocks.h"

#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace galley::vfs {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2).
alignas(16) constexpr std::array<uint32_t, 64> kConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t WordAt(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

#if defined(__x86_64__)

// Four rounds: the lower two words of `words` with the state, then the upper two.
__attribute__((target("sha,sse4.1"))) inline void FourRounds(__m128i& abef, __m128i& cdgh,
                                                             __m128i words, size_t round) {
  const auto* constants = reinterpret_cast<const __m128i*>(&kConstants[round]);
  const __m128i sum = _mm_add_epi32(words, _mm_load_si128(constants));
  cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
  abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

// The next four words of the schedule, from the last sixteen.
__attribute__((target("sha,sse4.1"))) inline __m128i NextWords(__m128i a, __m128i b, __m128i c,
                                                               __m128i d) {
  const __m128i shifted = _mm_alignr_epi8(d, c, 4);
  return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(a, b), shifted), d);
}

// The instructions want the state as {A B E F} and {C D G H}, the highest word first.
__attribute__((target("sha,sse4.1"))) void AddBlocksByX86(std::array<uint32_t, 8>& state,
                                                          const uint8_t* blocks, size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i abef = _mm_set_epi32(static_cast<int>(state[0]), static_cast<int>(state[1]),
                               static_cast<int>(state[4]), static_cast<int>(state[5]));
  __m128i cdgh = _mm_set_epi32(static_cast<int>(state[2]), static_cast<int>(state[3]),
                               static_cast<int>(state[6]), static_cast<int>(state[7]));
  for (; count > 0; --count, blocks += kShaBlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (size_t i = 0; i < 4; ++i) {
      const auto* at = reinterpret_cast<const __m128i*>(blocks + 16 * i);
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128(at), swap);
      FourRounds(abef, cdgh, words[i], 4 * i);
    }
    for (size_t round = 16; round < 64; round += 4) {
      const __m128i next = NextWords(words[0], words[1], words[2], words[3]);
      words[0] = words[1];
      words[1] = words[2];
      words[2] = words[3];
      words[3] = next;
      FourRounds(abef, cdgh, next, round);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  alignas(16) std::array<uint32_t, 8> out;  // F E B A, H G D C
  _mm_store_si128(reinterpret_cast<__m128i*>(&out[0]), abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(&out[4]), cdgh);
  state = {out[3], out[2], out[7], out[6], out[1], out[0], out[5], out[4]};
}

bool HasX86() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0)
    return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

#elif defined(__aarch64__) && defined(__linux__)

__attribute__((target("+crypto"))) void AddBlocksByArm(std::array<uint32_t, 8>& state,
                                                       const uint8_t* blocks, size_t count) {
  uint32x4_t abcd = vld1q_u32(&state[0]), efgh = vld1q_u32(&state[4]);
  for (; count > 0; --count, blocks += kShaBlockBytes) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t words[4];
    for (size_t i = 0; i < 4; ++i)
      words[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16 * i)));
    for (size_t round = 0; round < 64; round += 4) {
      const uint32x4_t sum = vaddq_u32(words[0], vld1q_u32(&kConstants[round]));
      const uint32x4_t next =
          vsha256su1q_u32(vsha256su0q_u32(words[0], words[1]), words[2], words[3]);
      const uint32x4_t abcd_now = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, abcd_now, sum);
      words[0] = words[1];
      words[1] = words[2];
      words[2] = words[3];
      words[3] = next;
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(&state[0], abcd);
  vst1q_u32(&state[4], efgh);
}

#endif

}  // namespace

void AddBlocksPortably(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count) {
  for (; count > 0; --count, blocks += kShaBlockBytes) {
    std::array<uint32_t, 64> words;
    for (size_t i = 0; i < 16; ++i) words[i] = WordAt(blocks + 4 * i);
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t early = words[i - 15], late = words[i - 2];
      const uint32_t sigma0 = std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3;
      const uint32_t sigma1 = std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10;
      words[i] = words[i - 16] + sigma0 + words[i - 7] + sigma1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t choice = (e & f) ^ (~e & g);
      const uint32_t t1 = h + sum1 + choice + kConstants[i] + words[i];
      const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + sum0 + majority;
    }
    const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
  }
}

AddBlocks FindFastAddBlocks() {
#if defined(__x86_64__)
  return HasX86() ? &AddBlocksByX86 : nullptr;
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0 ? &AddBlocksByArm : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace galley::vfs
