// DigestCache: digests of files, by host path, size, mtime, ctime and inode. The device is left
// out, since its number may change with each boot.
//
// A digest is kept only if the file was not racy (common/base/racy.h) when its hashing began.
//
// Threads: any, while nobody calls Add.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/file.h"

namespace galley::content {

class DigestCache {
 public:
  // INVALID_ARGUMENT: the file is damaged, unreadable or of another version, or was no regular file
  // and was moved aside. An absent file is an empty cache.
  static absl::StatusOr<DigestCache> Load(const std::string& file);
  static absl::StatusOr<DigestCache> Decode(std::string_view payload);

  // nullopt: the path is unknown, or the file has changed.
  std::optional<Digest> Find(std::string_view host_path, const FileStat& stat) const;
  // False: not added: the file is racy or has another size.
  bool Add(std::string_view host_path, const FileStat& stat, const Digest& digest,
           int64_t hashed_ns);
  // Replaces `file` by a rename.
  absl::Status Save(const std::string& file) const;
  size_t size() const { return versions_.size(); }

 private:
  struct Version {
    uint64_t size_bytes = 0;
    int64_t mtime_ns = 0;
    int64_t ctime_ns = 0;
    uint64_t inode = 0;
    Digest digest;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Version, Hash, std::equal_to<>> versions_;
};

}  // namespace galley::content
