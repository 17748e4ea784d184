#include "director/stage/place_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "common/base/log.h"
#include "common/base/racy.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"

namespace galley::director {
namespace {

constexpr mode_t kReadOnly = 0444;
constexpr size_t kCopiedAtOnce = 1 << 20;
constexpr size_t kKeptMax = 1'000'000;

// Leaves out the change time, because another name changes it.
bool IsUntouched(const FileStat& before, const FileStat& after) {
  return before.inode == after.inode && before.device == after.device &&
         before.size_bytes == after.size_bytes && before.mtime_ns == after.mtime_ns;
}

bool HoldsBytesOf(int fd, const Digest& digest) {
  DigestBuilder builder;
  std::string buffer(kCopiedAtOnce, '\0');
  for (uint64_t at = 0;;) {
    const ssize_t count = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) return builder.Finish() == digest;
    builder.Add(std::string_view(buffer.data(), static_cast<size_t>(count)));
    at += static_cast<uint64_t>(count);
  }
}

}  // namespace

bool VerifiedFiles::Holds(const Digest& digest, const FileStat& stat) const {
  const base::MutexLock lock(mutex_);
  const auto found = files_.find(digest);
  if (found != files_.end()) return found->second == stat;
  return loaded_.Find(digest.ToString(), stat) == digest;
}

void VerifiedFiles::Note(const Digest& digest, const FileStat& stat) {
  const base::MutexLock lock(mutex_);
  files_[digest] = stat;
}

void VerifiedFiles::Load(const std::string& file) {
  absl::StatusOr<content::DigestCache> loaded = content::DigestCache::Load(file);
  if (loaded.ok()) {
    loaded_ = *std::move(loaded);
  } else {
    LogWarning("verified_files=dropped reason=\"{}\"", MessageOf(loaded.status()));
  }
}

absl::Status VerifiedFiles::Save(const std::string& file, int64_t now_ns) const {
  const base::MutexLock lock(mutex_);
  // Nobody reports files that are gone: now and then the cache begins anew.
  content::DigestCache kept = loaded_.size() < kKeptMax ? loaded_ : content::DigestCache();
  bool is_new = false;
  for (const auto& [digest, stat] : files_) {
    if (stat.mtime_ns > now_ns - kRacyWindowNanos) continue;
    is_new |= kept.Add(digest.ToString(), stat, digest,
                       std::max(stat.mtime_ns, stat.ctime_ns) + kRacyWindowNanos);
  }
  if (!is_new) return absl::OkStatus();
  RETURN_IF_ERROR(CreateDirectories(file.substr(0, file.rfind('/'))));
  return kept.Save(file);
}

int CloneFile(int to, int from) { return ::ioctl(to, FICLONE, from); }

absl::StatusOr<StoreFiles> StoreFiles::Find(store::Store& store,
                                            const std::vector<tree::TreeFile>& files,
                                            VerifiedFiles& verified, Sandbox::CloneFunction clone) {
  StoreFiles found(verified, clone);
  std::vector<Digest> digests;
  for (const tree::TreeFile& file : files) {
    if (file.digest.size_bytes() > store::kSmallBlobBytesMax) digests.push_back(file.digest);
  }
  SortUnique(digests);
  const auto locations = store.Locate(digests);
  if (absl::IsUnimplemented(locations.status())) return found;
  RETURN_IF_ERROR(locations.status());
  ASSIGN_OR_RETURN(const store::StoreInfo info, store.Info());
  for (size_t i = 0; i < digests.size(); ++i) {
    const std::optional<store::BlobLocation>& location = (*locations)[i];
    if (!location || location->segment != 0) continue;
    found.paths_.emplace(digests[i], store::BlobFilePath(info.directory, digests[i]));
  }
  return found;
}

bool StoreFiles::IsWhole(int fd, const Digest& digest) const {
  const absl::StatusOr<FileStat> before = StatDescriptor(fd, "");
  if (!before.ok() || !S_ISREG(before->mode) || before->size_bytes != digest.size_bytes())
    return false;
  if (verified_->Holds(digest, *before)) return true;
  if (!HoldsBytesOf(fd, digest)) return false;
  const absl::StatusOr<FileStat> after = StatDescriptor(fd, "");
  if (!after.ok() || *after != *before) return false;
  verified_->Note(digest, *after);
  return true;
}

absl::StatusOr<bool> StoreFiles::Link(int fd, Sandbox& sandbox, const tree::TreeFile& file) const {
  ASSIGN_OR_RETURN(const FileStat before, StatDescriptor(fd, file.path));
  ASSIGN_OR_RETURN(const bool is_linked, sandbox.LinkIn(fd, file.path));
  if (!is_linked) return false;
  // The new name changed the file's change time: the file is still the verified file.
  ASSIGN_OR_RETURN(const FileStat after, StatDescriptor(fd, file.path));
  if (IsUntouched(before, after) && verified_->Holds(file.digest, before))
    verified_->Note(file.digest, after);
  return true;
}

absl::StatusOr<bool> StoreFiles::LinkVerified(const std::string& path, Sandbox& sandbox,
                                              const tree::TreeFile& file) const {
  const absl::StatusOr<FileStat> before = StatFile(path, /*follow_links=*/false);
  if (!before.ok() || !S_ISREG(before->mode) || (before->mode & 0777) != kReadOnly ||
      !verified_->Holds(file.digest, *before))
    return false;
  ASSIGN_OR_RETURN(const bool is_linked, sandbox.LinkFrom(path, file.path));
  if (!is_linked) return false;
  // Another file may have come to that path meanwhile, or other bytes into this file.
  ASSIGN_OR_RETURN(const Node node, sandbox.Look(file.path));
  FileStat after = *before;
  after.ctime_ns = node.stamp.ctime_ns;
  if (node.kind == NodeKind::kFile && node.size_bytes == before->size_bytes &&
      node.stamp.inode == before->inode && node.stamp.mtime_ns == before->mtime_ns) {
    verified_->Note(file.digest, after);
    return true;
  }
  RETURN_IF_ERROR(sandbox.RemoveFile(file.path));
  return false;
}

absl::StatusOr<StoreFiles::Placed> StoreFiles::Place(Sandbox& sandbox,
                                                     const tree::TreeFile& file) const {
  const auto path = paths_.find(file.digest);
  if (path == paths_.end()) return Placed::kNot;
  const base::MutexLock lock(verified_->LockOf(file.digest));
  if (!file.is_executable) {
    ASSIGN_OR_RETURN(const bool is_linked, LinkVerified(path->second, sandbox, file));
    if (is_linked) return Placed::kLinked;
  }
  const FileDescriptor from(::open(path->second.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat s {};
  if (!from.valid() || ::fstat(from.get(), &s) != 0) return Placed::kNot;
  // The file is made read-only, so that nobody writes to the store by another name.
  const bool is_read_only = (s.st_mode & 0777) == kReadOnly || ::fchmod(from.get(), kReadOnly) == 0;
  if (!IsWhole(from.get(), file.digest)) return Placed::kNot;
  if (is_read_only && !file.is_executable) {
    ASSIGN_OR_RETURN(const bool is_linked, Link(from.get(), sandbox, file));
    if (is_linked) return Placed::kLinked;
  }
  ASSIGN_OR_RETURN(const bool is_cloned,
                   sandbox.CloneIn(from.get(), file.path, file.is_executable, clone_));
  return is_cloned ? Placed::kCloned : Placed::kNot;
}

}  // namespace galley::director
