// ListPool: very many short lists of 32-bit words, with neither a header nor a heap block for each.
//
// The owner of a list keeps the list's place, in 8 bytes. The capacity follows from the size: exact
// up to 16 words, then eight classes for each doubling, so that on average a sixteenth is unused.
// Blocks that lists have outgrown are reused. Each long list has a heap block.
//
// Cost: PushBack O(1) amortized.
// Threads: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace galley::director {

class ListPool {
 public:
  struct List {
    uint32_t at = 0;
    uint32_t size = 0;
  };

  ListPool();

  // Valid until the next change of any list.
  std::span<const uint32_t> Words(const List& list) const { return {Block(list), list.size}; }
  std::span<uint32_t> Words(const List& list) { return {Block(list), list.size}; }
  void PushBack(List& list, uint32_t word);
  // REQUIRES: `words` is no part of this pool.
  void Assign(List& list, std::span<const uint32_t> words);
  // The bytes of all lists, with unused words and outgrown blocks.
  size_t bytes() const;

 private:
  static constexpr uint32_t kChunkWords = 1u << 16;
  static constexpr uint32_t kLongWords = 1u << 12;  // more: a heap block
  static constexpr uint32_t kNone = UINT32_MAX;

  static uint32_t ClassOf(uint32_t size);
  static uint32_t CapacityOf(uint32_t size);
  uint32_t* Block(const List& list) const {
    if (list.size > kLongWords) return long_[list.at].get();
    return list.size == 0 ? nullptr : chunks_[list.at / kChunkWords].get() + list.at % kChunkWords;
  }
  // Returns the place of a block for `size` words.
  uint32_t Take(uint32_t size);
  void GiveBack(const List& list);

  std::vector<std::unique_ptr<uint32_t[]>> chunks_;
  uint32_t chunk_used_ = kChunkWords;     // of the last chunk
  std::array<uint32_t, 128> outgrown_{};  // by class: the first block; each block names the next
  std::vector<std::unique_ptr<uint32_t[]>> long_;
  std::vector<uint32_t> long_free_;  // places in long_
  size_t long_words_ = 0;
};

}  // namespace galley::director
