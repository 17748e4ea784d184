// PatchWriter: writes a patch from start to end: first the literals, then the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "director/stage/patch_format.h"

namespace galley::director {

class PatchWriter {
 public:
  // `file` is open and empty, and must outlive the writer; errors name `path`.
  PatchWriter(int file, std::string path);

  // Appends to the literals.
  absl::Status AddLiteral(std::string_view bytes);
  uint64_t literal_bytes() const { return literal_bytes_; }
  // Writes `index`; the writer fills in the frames.
  absl::Status Finish(PatchIndex index);
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  absl::Status Write(std::string_view bytes);
  absl::Status WriteFrame();

  const int file_;
  const std::string path_;
  DigestBuilder hash_;
  std::string pending_;  // literals of the next frame
  uint64_t literal_bytes_ = 0;
  uint64_t bytes_written_ = 0;
  std::vector<LiteralFrame> frames_;
};

}  // namespace galley::director
