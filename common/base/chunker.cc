#include "common/base/chunker.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>

#include "common/base/status_macros.h"

namespace galley {
namespace {

// kMasks[i] cuts chunks of 2^(i + kMaskFirst) bytes on average. Its bits are spread, so that a cut
// depends on as many bytes before it as the hash remembers.
constexpr uint32_t kMaskFirst = 7;
constexpr std::array<uint64_t, 17> kMasks = {
    0x0000000018035100, 0x0000001800035300, 0x0000019000353000, 0x0000590003530000,
    0x0000d90003530000, 0x0000d90103530000, 0x0000d90303530000, 0x0000d90313530000,
    0x0000d90f03530000, 0x0000d90303537000, 0x0000d90703537000, 0x0000d90707537000,
    0x0000d91707537000, 0x0000d91747537000, 0x0000d91767537000, 0x0000d93767537000,
    0x0000d93777537000};

using Gear = std::array<uint64_t, 256>;

Gear MakeGear() {
  Gear gear{};
  for (size_t i = 0; i < gear.size(); ++i) {
    std::array<uint8_t, 64> seed;
    seed.fill(static_cast<uint8_t>(i));
    std::array<uint8_t, EVP_MAX_MD_SIZE> hash{};
    GALLEY_CHECK(EVP_Digest(seed.data(), seed.size(), hash.data(), nullptr, EVP_md5(), nullptr) ==
                 1);
    for (size_t byte = 0; byte < 8; ++byte) gear[i] = gear[i] << 8 | hash[byte];
  }
  return gear;
}

const Gear& TheGear() {
  static const Gear gear = MakeGear();
  return gear;
}

}  // namespace

Chunker::Chunker(const Options& options) : average_bytes_(options.average_bytes) {
  GALLEY_CHECK(std::has_single_bit(options.average_bytes) && options.average_bytes >= 1 << 10 &&
               options.average_bytes <= 1 << 20 && options.normalization <= 3);
  const auto bits = static_cast<uint32_t>(std::countr_zero(options.average_bytes)) - kMaskFirst;
  mask_below_ = kMasks[bits + options.normalization];
  mask_above_ = kMasks[bits - options.normalization];
}

size_t Chunker::Cut(std::string_view rest) const {
  if (rest.size() <= min_bytes()) return rest.size();
  const Gear& gear = TheGear();
  const size_t end = std::min(rest.size(), max_bytes());
  const size_t middle = std::min(end, average_bytes_);
  uint64_t hash = 0;
  size_t at = min_bytes();
  // The implementation that this has to agree with takes bytes in pairs: a last odd one is not
  // looked at.
  const auto find = [&](size_t until, uint64_t mask) {
    for (; at < until / 2 * 2; ++at) {
      hash = (hash << 1) + gear[static_cast<uint8_t>(rest[at])];
      if ((hash & mask) == 0) return true;
    }
    return false;
  };
  return find(middle, mask_below_) || find(end, mask_above_) ? at : end;
}

std::vector<size_t> Chunker::Sizes(std::string_view bytes) const {
  std::vector<size_t> sizes;
  while (!bytes.empty()) {
    sizes.push_back(Cut(bytes));
    bytes.remove_prefix(sizes.back());
  }
  return sizes;
}

}  // namespace galley
