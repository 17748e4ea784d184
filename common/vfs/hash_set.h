// HashSet: a set of hashes, by their first 16 bytes: at most 32 bytes for each, and 8 KiB. A hash
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
  bool Contains(const Hash& hash) const {
    const Key key = KeyOf(hash);
    return ShardOf(key).Has(key);
  }
  void Insert(const Hash& hash) {
    const Key key = KeyOf(hash);
    if (key != kNone && ShardOf(key).Insert(key)) ++size_;
  }
  // Cost: linear in the hashes that lie behind it without a gap.
  void Erase(const Hash& hash) {
    const Key key = KeyOf(hash);
    if (ShardOf(key).Erase(key)) --size_;
  }
  size_t size() const { return size_; }

 private:
  using Key = std::array<uint8_t, 16>;
  static constexpr Key kNone{};

  // Shard: the hashes with one first byte. They grow one by one, as an allocator keeps what a large
  // array leaves behind.
  class Shard {
   public:
    bool Has(const Key& key) const {
      return !slots_.empty() && key != kNone && slots_[Find(slots_, key)] == key;
    }
    // False: it is there.
    bool Insert(const Key& key) {
      if (Has(key)) return false;
      if (4 * (size_ + 1) > 3 * slots_.size()) Grow();
      slots_[Find(slots_, key)] = key;
      ++size_;
      return true;
    }
    // False: it is not there.
    bool Erase(const Key& key) {
      if (!Has(key)) return false;
      size_t at = Find(slots_, key);
      slots_[at] = kNone;
      --size_;
      while (slots_[at = (at + 1) % slots_.size()] != kNone) {
        const Key moved = std::exchange(slots_[at], kNone);
        slots_[Find(slots_, moved)] = moved;
      }
      return true;
    }

   private:
    static constexpr size_t kSlotsMin = 8;

    // The slot of the key, or the free one where it would be.
    static size_t Find(const std::vector<Key>& slots, const Key& key) {
      uint64_t value = 0;
      std::memcpy(&value, key.data() + 1, sizeof value);
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

  static Key KeyOf(const Hash& hash) {
    Key key;
    std::copy_n(hash.begin(), key.size(), key.begin());
    return key;
  }
  const Shard& ShardOf(const Key& key) const { return shards_[key[0]]; }
  Shard& ShardOf(const Key& key) { return shards_[key[0]]; }

  std::vector<Shard> shards_ = std::vector<Shard>(256);
  size_t size_ = 0;
};

}  // namespace galley::vfs
