// Zstandard (RFC 8878) in pieces, with limits for untrusted frames.
//
//   ZstdDecompressor decompressor({.output_bytes_max = digest.size_bytes()});
//   RETURN_IF_ERROR(decompressor.Append(piece, [&](std::string_view bytes) { ... }));
//   RETURN_IF_ERROR(decompressor.Finish());
//
// Several frames may follow each other, as REAPI allows: a resumed compressed upload goes on with a
// new frame. Input and output are not kept: memory is one window.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

class ZstdCompressor {
 public:
  static constexpr int kLevelDefault = 3;

  explicit ZstdCompressor(int level = kLevelDefault);
  ~ZstdCompressor();

  // Appends finished output to `out`; the rest is kept until Finish.
  void Append(std::string_view bytes, std::string& out);
  // Ends the frame. A later Append begins another frame.
  void Finish(std::string& out);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

class ZstdDecompressor {
 public:
  struct Options {
    uint64_t output_bytes_max = 0;
    // A frame with a larger window is refused. Every decoder should support 2^23 (RFC 8878,
    // 3.1.1.1.2); levels below 20 need no more.
    int window_log_max = 23;
  };
  // Takes a decompressed piece of at most 128 KiB. Its error ends the stream.
  using Sink = std::function<absl::Status(std::string_view)>;

  explicit ZstdDecompressor(const Options& options);
  ~ZstdDecompressor();

  // INVALID_ARGUMENT: not zstd, wrong bytes, junk after a frame, a dictionary, too large a window,
  // or more output than output_bytes_max; the sink never gets more. RESOURCE_EXHAUSTED: no memory.
  // After an error every call returns the error.
  absl::Status Append(std::string_view bytes, const Sink& sink);
  // INVALID_ARGUMENT: the stream ends inside a frame. An empty stream is whole.
  absl::Status Finish();

 private:
  struct State;
  absl::Status Take(std::string_view bytes, const Sink& sink);

  const std::unique_ptr<State> state_;
};

// ZstdCompress makes one frame. ZstdDecompress returns the contents of all frames, at most
// `output_bytes_max` bytes; errors as above.
std::string ZstdCompress(std::string_view bytes, int level = ZstdCompressor::kLevelDefault);
absl::StatusOr<std::string> ZstdDecompress(std::string_view bytes, uint64_t output_bytes_max);

}  // namespace galley
