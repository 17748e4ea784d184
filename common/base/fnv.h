// Fnv1a: a hash that is the same in every process and build, unlike absl::Hash; for stored orders
// and names. It is not safe against bytes that an attacker chooses.
// Source: RFC draft-eastlake-fnv, FNV-1a with 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace galley {

inline constexpr uint64_t kFnvBasis = 0xcbf29ce484222325;

// `so_far`: the hash of the bytes before `bytes`.
constexpr uint64_t Fnv1a(std::string_view bytes, uint64_t so_far = kFnvBasis) {
  for (const char byte : bytes) so_far = (so_far ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return so_far;
}

// Test vectors of the draft.
static_assert(Fnv1a("") == 0xcbf29ce484222325);
static_assert(Fnv1a("a") == 0xaf63dc4c8601ec8c);
static_assert(Fnv1a("bar", Fnv1a("foo")) == 0x85944171f73967e8);

}  // namespace galley
