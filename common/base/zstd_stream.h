// Zstandard (RFC 8878) piece by piece, and the bounds without which foreign frames are not read.
//
//   ZstdDecompressor decompressor({.output_bytes_max = digest.size_bytes()});
//   RETURN_IF_ERROR(decompressor.Append(piece, [&](std::string_view bytes) { ... }));
//   RETURN_IF_ERROR(decompressor.Finish());
//
// Frames may follow one another, as REAPI has it: a compressed upload that is resumed goes on with
// a new frame. What is taken and given is not kept: memory is that of one window.
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

  // Appends to `out` what is ready; the rest stays inside until Finish.
  void Append(std::string_view bytes, std::string& out);
  // Ends the frame. What is appended after it begins another.
  void Finish(std::string& out);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

class ZstdDecompressor {
 public:
  struct Options {
    uint64_t output_bytes_max = 0;
    // A frame that wants a larger window is refused. 2^23 is what every decoder should take
    // (RFC 8878, 3.1.1.1.2) and more than levels below 20 ask for.
    int window_log_max = 23;
  };
  // Takes a decompressed piece of at most 128 KiB. Its error ends the stream.
  using Sink = std::function<absl::Status(std::string_view)>;

  explicit ZstdDecompressor(const Options& options);
  ~ZstdDecompressor();

  // INVALID_ARGUMENT: no zstd, wrong bytes (junk after a frame, too), a dictionary, a window that
  // is too large, or more inside than output_bytes_max, of which the sink sees nothing.
  // RESOURCE_EXHAUSTED: no memory. After an error every call answers it.
  absl::Status Append(std::string_view bytes, const Sink& sink);
  // INVALID_ARGUMENT: the stream ends inside a frame. No bytes at all are a whole stream.
  absl::Status Finish();

 private:
  struct State;
  absl::Status Take(std::string_view bytes, const Sink& sink);

  const std::unique_ptr<State> state_;
};

// ZstdCompress makes one frame. ZstdDecompress answers all that is inside, at most
// `output_bytes_max`; errors as above.
std::string ZstdCompress(std::string_view bytes, int level = ZstdCompressor::kLevelDefault);
absl::StatusOr<std::string> ZstdDecompress(std::string_view bytes, uint64_t output_bytes_max);

}  // namespace galley
