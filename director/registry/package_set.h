// PackageSet: a set of packages of a registry by their numbers: one bit for each package.
//
// Cost: operations on two sets, and of all members, O(packages / 64). Threads: none.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace galley::director {

class PackageSet {
 public:
  // An empty set of numbers below `packages`.
  PackageSet() : PackageSet(0) {}
  explicit PackageSet(size_t packages) : packages_(packages), words_((packages + 63) / 64) {}

  size_t packages() const { return packages_; }
  bool Has(size_t package) const { return (words_[package / 64] >> package % 64 & 1) != 0; }
  // False: it was there.
  bool Add(size_t package) {
    uint64_t& word = words_[package / 64];
    const uint64_t bit = uint64_t{1} << package % 64;
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  void Remove(size_t package) { words_[package / 64] &= ~(uint64_t{1} << package % 64); }
  void AddRange(size_t begin, size_t end) {
    for (; begin < end && begin % 64 != 0; ++begin) Add(begin);
    for (; begin + 64 <= end; begin += 64) words_[begin / 64] = ~uint64_t{0};
    for (; begin < end; ++begin) Add(begin);
  }
  size_t size() const {
    size_t size = 0;
    for (const uint64_t word : words_) size += static_cast<size_t>(std::popcount(word));
    return size;
  }
  bool empty() const {
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }

  // REQUIRES, for all: both are of so many packages.
  void Union(const PackageSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void Intersect(const PackageSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  void Subtract(const PackageSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }

  // Calls `visit` with each member, the smallest first, until it returns false.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        if (!visit(i * 64 + static_cast<size_t>(std::countr_zero(word)))) return;
      }
    }
  }
  bool operator==(const PackageSet&) const = default;

 private:
  size_t packages_;
  std::vector<uint64_t> words_;
};

}  // namespace galley::director
