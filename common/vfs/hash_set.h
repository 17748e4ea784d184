// HashSet: a set of hashes in one array, by their first 16 bytes: at most 32 bytes for each. A hash
// is its own hash value.
//
// Threads: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "common/vfs/sha256.h"

namespace galley::vfs {

class HashSet {
 public:
  bool Contains(const Hash& hash) const { return Has(KeyOf(hash)); }
  void Insert(const Hash& hash) {
    const Key key = KeyOf(hash);
    if (key == kNone || Has(key)) return;
    if (4 * (size_ + 1) > 3 * slots_.size()) Grow();
    slots_[Find(slots_, key)] = key;
    ++size_;
  }
  // Cost: linear in the hashes that lie behind it without a gap.
  void Erase(const Hash& hash) {
    const Key key = KeyOf(hash);
    if (!Has(key)) return;
    size_t at = Find(slots_, key);
    slots_[at] = kNone;
    --size_;
    while (slots_[at = (at + 1) % slots_.size()] != kNone) {
      const Key moved = std::exchange(slots_[at], kNone);
      slots_[Find(slots_, moved)] = moved;
    }
  }
  size_t size() const { return size_; }

 private:
  using Key = std::array<uint8_t, 16>;
  static constexpr Key kNone{};
  static constexpr size_t kSlotsMin = 64;

  static Key KeyOf(const Hash& hash) {
    Key key;
    std::copy_n(hash.begin(), key.size(), key.begin());
    return key;
  }
  bool Has(const Key& key) const {
    return !slots_.empty() && key != kNone && slots_[Find(slots_, key)] == key;
  }
  // The slot of the key, or the free one where it would be.
  static size_t Find(const std::vector<Key>& slots, const Key& key) {
    uint64_t value = 0;
    std::memcpy(&value, key.data(), sizeof value);
    size_t at = static_cast<size_t>(value % slots.size());
    while (slots[at] != kNone && slots[at] != key) at = (at + 1) % slots.size();
    return at;
  }
  void Grow() {
    std::vector<Key> grown(std::max(kSlotsMin, slots_.size() * 3 / 2));
    for (const Key& key : slots_) {
      if (key != kNone) grown[Find(grown, key)] = key;
    }
    slots_ = std::move(grown);
  }

  std::vector<Key> slots_;
  size_t size_ = 0;
};

}  // namespace galley::vfs
