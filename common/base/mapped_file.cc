#include "common/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace galley {

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& file, bool is_writable) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.valid()) return ErrnoStatus(errno, "open", file);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(opened.get(), file));
  if (!S_ISREG(stat.mode)) return absl::InvalidArgumentError("it is no regular file");
  if (stat.size_bytes == 0) return absl::InvalidArgumentError("it is empty");
  const int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const address =
      ::mmap(nullptr, stat.size_bytes, protection, MAP_PRIVATE | MAP_NORESERVE, opened.get(), 0);
  if (address == MAP_FAILED) return ErrnoStatus(errno, "map", file);
  return MappedFile({static_cast<const char*>(address), stat.size_bytes});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    Unmap();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() { Unmap(); }

void MappedFile::Unmap() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace galley
