#include "worker/session/blob_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"

namespace galley::worker {
namespace {

namespace fs = std::filesystem;

// Parts of the quota: what tidying leaves, and what may be added before the next tidying.
constexpr uint64_t kTidyTo = 10;     // a tenth less
constexpr uint64_t kTidyAfter = 16;  // a sixteenth more

struct Held {
  absl::Time used;
  uint64_t bytes = 0;
  std::string path;
};

absl::Time TimeOf(const struct stat& info) { return absl::TimeFromTimespec(info.st_mtim); }

}  // namespace

absl::StatusOr<BlobCache> BlobCache::Open(std::string directory, uint64_t bytes_max) {
  BlobCache cache(std::move(directory), bytes_max);
  RETURN_IF_ERROR(cache.MakeFolders());
  cache.Tidy(absl::Now());
  return cache;
}

absl::Status BlobCache::MakeFolders() const {
  return CreateDirectories(store::TemporaryDirectory(directory_));
}

absl::StatusOr<store::HashedFile> BlobCache::Create() const {
  absl::StatusOr<store::HashedFile> file = store::HashedFile::Create(directory_);
  if (!absl::IsNotFound(file.status())) return file;
  RETURN_IF_ERROR(MakeFolders());
  return store::HashedFile::Create(directory_);
}

bool BlobCache::Use(const Digest& digest) const {
  if (digest.size_bytes() == 0) return true;
  return ::utimensat(AT_FDCWD, store::BlobFilePath(directory_, digest).c_str(), nullptr, 0) == 0;
}

void BlobCache::Distrust(const Digest& digest) const {
  const std::string path = store::BlobFilePath(directory_, digest);
  if (!Use(digest) || store::CheckBlobFile(directory_, digest).ok()) return;
  LogWarning("blob={} its file {} is wrong, and was removed", digest.ToString(), path);
  ::unlink(path.c_str());
}

absl::Status BlobCache::Put(const Digest& digest, std::string_view bytes) {
  const auto put = [&]() -> absl::Status {
    RETURN_IF_ERROR(store::CheckFreeSpace(directory_, bytes.size(), store::kFreeBytesMargin));
    return store::WriteBlobFile(directory_, digest, bytes);
  };
  absl::Status status = put();
  if (absl::IsNotFound(status)) {
    RETURN_IF_ERROR(MakeFolders());
    status = put();
  }
  RETURN_IF_ERROR(status);
  Added(bytes.size());
  return absl::OkStatus();
}

void BlobCache::Added(uint64_t bytes) {
  if (added_.fetch_add(bytes) + bytes < bytes_max_ / kTidyAfter) return;
  added_ = 0;
  Tidy(absl::Now());
}

void BlobCache::Tidy(absl::Time now) const {
  const FileDescriptor lock(
      ::open(JoinPath(directory_, "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  // Another process holds the lock, and tidies.
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::vector<Held> held;
  uint64_t sum = 0;
  const std::string temporary = store::TemporaryDirectory(directory_);
  const std::string notes = JoinPath(directory_, "writers");
  const std::string views =
      JoinPath(directory_, "views");  // the executors' views have a quota of their own
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    struct stat info {};
    const std::string path = at->path().string();
    if (path == views) at.disable_recursion_pending();
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    // Besides temporary files, old notes of store writers go, too; nobody reads them here.
    if (path.starts_with(temporary + "/") || path.starts_with(notes + "/")) {
      if (TimeOf(info) < now - kLeftBehind) ::unlink(path.c_str());
      continue;
    }
    // A file that is no blob's file was put there by somebody, and is none of our business.
    const auto digest = store::ParseBlobFileName(at->path().filename().string());
    if (!digest.has_value() || store::BlobFilePath(directory_, *digest) != path) continue;
    const auto bytes = static_cast<uint64_t>(info.st_size);
    sum += bytes;
    held.push_back({TimeOf(info), bytes, path});
  }
  if (sum <= bytes_max_) return;
  std::ranges::sort(held, [](const Held& a, const Held& b) { return a.used < b.used; });
  uint64_t gone = 0;
  for (const Held& one : held) {
    if (sum - gone <= bytes_max_ - bytes_max_ / kTidyTo || one.used > now - kInUse) break;
    if (::unlink(one.path.c_str()) == 0) gone += one.bytes;
  }
  LogInfo("cache={} bytes={} limit={} removed={}", directory_, sum, bytes_max_, gone);
}

}  // namespace galley::worker
