// Chunker: cuts bytes into content-defined chunks, so that an insertion or a removal moves only the
// cuts near it. FastCDC of 2020, which REAPI names.
//
// A rolling hash h = 2h + GEAR[byte] (mod 2^64) runs over a chunk from min_bytes() on. The chunk
// ends before the byte at which all bits of a mask are zero in the hash. The mask has more bits up
// to the average size, and fewer from there on. GEAR[i] is the first 8 bytes, big-endian, of the
// MD5 of 64 bytes i.
// Sources: W. Xia et al., "The Design of Fast Content-Defined Chunking for Data Deduplication Based
// Storage Systems" (2020); masks and table: https://docs.rs/fastcdc (v2020), which takes two bytes
// a round and makes the same cuts.
//
// Pure and constant: may be shared by threads.
// Cost: one pass, about 1 GB/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace galley {

class Chunker {
 public:
  struct Options {
    uint32_t average_bytes = 16 << 10;  // a power of two from 1 KiB to 1 MiB
    uint32_t normalization = 2;         // 0 to 3: higher, closer to the average size
  };
  explicit Chunker(const Options& options);

  size_t min_bytes() const { return average_bytes_ / 4; }
  size_t max_bytes() const { return average_bytes_ * 4; }

  // The size of the first chunk of `rest`, from min_bytes() to max_bytes(); the last chunk may be
  // smaller. REQUIRES: `rest` has at least max_bytes(), or all bytes that are left.
  size_t Cut(std::string_view rest) const;
  // The size of each chunk of `bytes`, in order; empty when there are no bytes.
  std::vector<size_t> Sizes(std::string_view bytes) const;

 private:
  size_t average_bytes_;
  uint64_t mask_below_ = 0;  // until the average
  uint64_t mask_above_ = 0;
};

}  // namespace galley
