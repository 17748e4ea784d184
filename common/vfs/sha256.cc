#include "common/vfs/sha256.h"

#include <algorithm>
#include <cstring>

#include "common/vfs/sha256_blocks.h"

namespace galley::vfs {
namespace {

AddBlocks BestAddBlocks() {
  static const AddBlocks best = [] {
    const AddBlocks fast = FindFastAddBlocks();
    return fast != nullptr ? fast : &AddBlocksPortably;
  }();
  return best;
}

}  // namespace

void Sha256::Add(const void* bytes, size_t size) {
  const auto* next = static_cast<const uint8_t*>(bytes);
  const size_t held = size_ % kShaBlockBytes;
  size_ += size;
  if (held > 0) {
    const size_t taken = std::min(size, kShaBlockBytes - held);
    std::copy_n(next, taken, rest_.begin() + static_cast<std::ptrdiff_t>(held));
    next += taken;
    size -= taken;
    if (held + taken < kShaBlockBytes) return;
    BestAddBlocks()(state_, rest_.data(), 1);
  }
  BestAddBlocks()(state_, next, size / kShaBlockBytes);
  std::copy_n(next + size / kShaBlockBytes * kShaBlockBytes, size % kShaBlockBytes, rest_.begin());
}

Hash Sha256::Finish() {
  // A one bit, zeros, and the length in bits (5.1.1).
  const uint64_t bits = size_ * 8;
  const size_t held = size_ % kShaBlockBytes;
  std::array<uint8_t, 2 * kShaBlockBytes> end{};
  end[0] = 0x80;
  const size_t padding = (held < kShaBlockBytes - 8 ? kShaBlockBytes : 2 * kShaBlockBytes) - held;
  for (size_t i = 0; i < 8; ++i) end[padding - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  Add(end.data(), padding);
  Hash hash;
  for (size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return hash;
}

Hash Sha256::Of(std::string_view bytes) {
  Sha256 hash;
  hash.Add(bytes.data(), bytes.size());
  return hash.Finish();
}

}  // namespace galley::vfs
