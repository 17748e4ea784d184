#include "common/base/chunker.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>
#include <string>

namespace galley {
namespace {

using Sizes = std::vector<size_t>;

// A linear congruential generator (Knuth, MMIX), whose output other implementations have cut as
// well.
std::string Stream(size_t size) {
  uint64_t state = 0x4d595df4d0f33173;
  std::string bytes;
  while (bytes.size() < size) {
    state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    bytes.push_back(static_cast<char>(state >> 37));
  }
  return bytes;
}

std::string Random(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::multiset<std::string_view> ChunksOf(const Chunker& chunker, std::string_view bytes) {
  std::multiset<std::string_view> chunks;
  size_t at = 0;
  for (const size_t size : chunker.Sizes(bytes)) {
    chunks.insert(bytes.substr(at, size));
    at += size;
  }
  return chunks;
}

// Published for an implementation that looks at two bytes a round: "ASTRID_V1" of
// https://crates.io/crates/fastcdc's format 1 (16, 64 and 256 KiB, level 1).
TEST(ChunkerTest, CutsAsOthersDo) {
  const Chunker chunker({.average_bytes = 64 << 10, .normalization = 1});
  EXPECT_EQ(chunker.Sizes(Stream(1 << 20)), (Sizes{94129, 73623, 28537, 107508, 87622, 224123,
                                                   45882, 98297, 40690, 69224, 121633, 57308}));
}

// Made by a transcription of that implementation. The cuts must stay, since patches and stores hold
// such chunks.
TEST(ChunkerTest, CutsAsItAlwaysDid) {
  const std::string stream = Stream(1 << 20);
  Sizes sizes = Chunker({}).Sizes(stream);
  ASSERT_EQ(sizes.size(), 58u);
  EXPECT_EQ(sizes.back(), 16723u);
  sizes.resize(8);
  EXPECT_EQ(sizes, (Sizes{10102, 16660, 17047, 19034, 10345, 18919, 9672, 16733}));
  sizes = Chunker({.average_bytes = 1 << 10}).Sizes(std::string_view(stream).substr(0, 100'000));
  ASSERT_EQ(sizes.size(), 87u);
  sizes.resize(8);
  EXPECT_EQ(sizes, (Sizes{1291, 1149, 1410, 1103, 1063, 1219, 1073, 315}));
}

TEST(ChunkerTest, SizesAreWithinTheBoundsAndAddUp) {
  for (uint32_t average = 1 << 10; average <= 1 << 20; average *= 4) {
    const Chunker chunker({.average_bytes = average});
    for (const size_t size : {size_t{0}, size_t{1}, chunker.min_bytes(), chunker.min_bytes() + 1,
                              chunker.max_bytes(), chunker.max_bytes() + 1, size_t{3'000'001}}) {
      const Sizes sizes = chunker.Sizes(Random(size, average));
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), size_t{0}), size);
      for (size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_LE(sizes[i], chunker.max_bytes());
        if (i + 1 < sizes.size()) {
          EXPECT_GE(sizes[i], chunker.min_bytes());
        }
      }
    }
  }
}

TEST(ChunkerTest, TheMeanIsNearTheAverage) {
  const Chunker chunker({});
  const double mean = 16e6 / static_cast<double>(chunker.Sizes(Random(16'000'000, 1)).size());
  EXPECT_GT(mean, 0.8 * (16 << 10));
  EXPECT_LT(mean, 1.3 * (16 << 10));
}

TEST(ChunkerTest, WhatNeverMatchesIsCutAtTheLargestSize) {
  const Chunker chunker({.average_bytes = 1 << 10});
  EXPECT_EQ(chunker.Sizes(std::string(10'000, '\0')), (Sizes{4096, 4096, 1808}));
}

// Implementations that look at two bytes a round do the same.
TEST(ChunkerTest, ALastOddByteIsNotLookedAt) {
  const Chunker chunker({.average_bytes = 1 << 10});
  const std::string third = Stream(5000).substr(1291 + 1149);  // cut after 1410 bytes
  EXPECT_EQ(chunker.Cut(third.substr(0, 1412)), 1410u);
  EXPECT_EQ(chunker.Cut(third.substr(0, 1411)), 1411u);
}

// A cut needs no more than max_bytes() of the bytes that follow.
TEST(ChunkerTest, AWindowIsEnough) {
  const Chunker chunker({.average_bytes = 1 << 10});
  const std::string bytes = Random(200'000, 5);
  std::string_view rest = bytes;
  for (const size_t size : chunker.Sizes(bytes)) {
    EXPECT_EQ(chunker.Cut(rest.substr(0, chunker.max_bytes())), size);
    rest.remove_prefix(size);
  }
}

// Bytes are inserted, removed or replaced anywhere: all chunks but a few stay.
TEST(ChunkerTest, AnEditMovesFewCuts) {
  const Chunker chunker({.average_bytes = 1 << 10});
  size_t all = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::string before = Random(100'000 + random() % 10'000, seed);
    std::string after = before;
    const size_t at = random() % after.size();
    const std::string piece = Random(random() % 100, seed + 1000);
    after.replace(at, random() % 100, piece);
    const auto old_chunks = ChunksOf(chunker, before);
    size_t fresh = 0;
    for (const std::string_view chunk : ChunksOf(chunker, after))
      fresh += !old_chunks.contains(chunk);
    EXPECT_LE(fresh, 30u) << "seed " << seed;  // of about 85 chunks
    all += fresh;
  }
  EXPECT_LE(all, 200u * 5);
}

}  // namespace
}  // namespace galley
