// MappedFile: the bytes of a regular file, read where they lie.
//
// Whoever cuts the file off meanwhile ends the process (SIGBUS): only for files that are replaced
// by a rename, and never written in place.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

class MappedFile {
 public:
  // Links are not followed. NOT_FOUND: there is none. INVALID_ARGUMENT: it is empty, or no regular
  // file. `is_writable`: its bytes may be changed, in this process alone.
  static absl::StatusOr<MappedFile> Open(const std::string& file, bool is_writable = false);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }
  char* writable() { return const_cast<char*>(bytes_.data()); }  // REQUIRES: Open said so

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  void Unmap();

  std::string_view bytes_;
};

}  // namespace galley
