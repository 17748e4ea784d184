#include "director/core/packages/list_pool.h"

#include <algorithm>
#include <bit>

#include "common/base/status_macros.h"

namespace galley::director {

ListPool::ListPool() { outgrown_.fill(kNone); }

uint32_t ListPool::CapacityOf(uint32_t size) {
  if (size <= 16) return size;
  const uint32_t step = std::bit_floor(size - 1) / 8;
  return (size + step - 1) / step * step;
}

uint32_t ListPool::ClassOf(uint32_t size) {
  if (size <= 16) return size;
  const uint32_t below = std::bit_floor(size - 1);
  const uint32_t doublings = static_cast<uint32_t>(std::bit_width(below)) - 5;
  return 16 + doublings * 8 + (size - below + below / 8 - 1) / (below / 8);
}

uint32_t ListPool::Take(uint32_t size) {
  const uint32_t capacity = CapacityOf(size);
  if (size > kLongWords) {
    uint32_t at = static_cast<uint32_t>(long_.size());
    if (long_free_.empty()) {
      long_.emplace_back();
    } else {
      at = long_free_.back();
      long_free_.pop_back();
    }
    long_[at] = std::unique_ptr<uint32_t[]>(new uint32_t[capacity]);
    long_words_ += capacity;
    return at;
  }
  uint32_t& first = outgrown_[ClassOf(size)];
  if (first != kNone) {
    const uint32_t at = first;
    first = chunks_[at / kChunkWords][at % kChunkWords];
    return at;
  }
  if (chunk_used_ + capacity > kChunkWords) {
    GALLEY_CHECK(chunks_.size() < UINT32_MAX / kChunkWords);
    chunks_.emplace_back(new uint32_t[kChunkWords]);
    chunk_used_ = 0;
  }
  const uint32_t at = static_cast<uint32_t>(chunks_.size() - 1) * kChunkWords + chunk_used_;
  chunk_used_ += capacity;
  return at;
}

void ListPool::GiveBack(const List& list) {
  if (list.size == 0) return;
  if (list.size > kLongWords) {
    long_words_ -= CapacityOf(list.size);
    long_[list.at].reset();
    return long_free_.push_back(list.at);
  }
  uint32_t& first = outgrown_[ClassOf(list.size)];
  chunks_[list.at / kChunkWords][list.at % kChunkWords] = first;
  first = list.at;
}

void ListPool::PushBack(List& list, uint32_t word) {
  if (CapacityOf(list.size) == list.size) {
    List longer{.at = Take(list.size + 1), .size = list.size + 1};
    std::copy_n(Block(list), list.size, Block(longer));
    GiveBack(list);
    list = longer;
  } else {
    ++list.size;
  }
  Block(list)[list.size - 1] = word;
}

void ListPool::Assign(List& list, std::span<const uint32_t> words) {
  const uint32_t size = static_cast<uint32_t>(words.size());
  if (size == 0 || ClassOf(size) != ClassOf(list.size)) {
    GiveBack(list);
    list.at = size == 0 ? 0 : Take(size);
  }
  list.size = size;
  std::ranges::copy(words, Block(list));
}

size_t ListPool::bytes() const {
  return (chunks_.size() * kChunkWords + long_words_) * sizeof(uint32_t);
}

}  // namespace galley::director
