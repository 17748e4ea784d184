// Digest: SHA-256 and size, the name of a blob. Valid by construction: Parse at the edge, never
// checked again.
//
// Text form: 64 lower-case hex digits, '/', the size in decimal without leading zeros. As in REAPI
// v2, the size is part of the identity.
// Order: by hash bytes, then size.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

class Digest {
 public:
  static constexpr size_t kHashSize = 32;
  // REAPI carries the size as int64.
  static constexpr uint64_t kSizeMax = INT64_MAX;

  // The digest of no bytes at all.
  Digest();
  static Digest Of(std::string_view bytes);
  // INVALID_ARGUMENT says what is wrong with `text`.
  static absl::StatusOr<Digest> Parse(std::string_view text);
  // `hash` is 32 raw bytes.
  static absl::StatusOr<Digest> FromHash(std::string_view hash, uint64_t size_bytes);
  // `hex` is 64 lower-case hex digits.
  static absl::StatusOr<Digest> FromHex(std::string_view hex, int64_t size_bytes);

  std::string_view hash() const {
    return {reinterpret_cast<const char*>(hash_.data()), hash_.size()};
  }
  uint64_t size_bytes() const { return size_bytes_; }
  std::string hex() const;
  std::string ToString() const;

  auto operator<=>(const Digest&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const Digest& digest) {
    return H::combine(std::move(h), digest.hash_, digest.size_bytes_);
  }

 private:
  friend class DigestBuilder;
  std::array<uint8_t, kHashSize> hash_{};
  uint64_t size_bytes_ = 0;
};

struct DigestHash {
  size_t operator()(const Digest& digest) const noexcept;
};

// DigestBuilder: computes a Digest of bytes that come in pieces. Finish is called once.
class DigestBuilder {
 public:
  DigestBuilder();
  ~DigestBuilder();
  DigestBuilder(DigestBuilder&&) noexcept;
  DigestBuilder& operator=(DigestBuilder&&) noexcept;

  void Add(std::string_view bytes);
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace galley
