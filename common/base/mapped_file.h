// MappedFile: a regular file, mapped into memory.
//
// Reading ends the process (SIGBUS) if somebody has truncated the file: only for files that are
// replaced by a rename, and never written in place.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

class MappedFile {
 public:
  // Links are not followed. NOT_FOUND: absent. INVALID_ARGUMENT: the file is empty or not regular.
  // `is_writable`: the bytes may be changed, in this process alone.
  static absl::StatusOr<MappedFile> Open(const std::string& file, bool is_writable = false);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }
  char* writable() { return const_cast<char*>(bytes_.data()); }  // REQUIRES: Open with is_writable

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  void Unmap();

  std::string_view bytes_;
};

}  // namespace galley
