// TargetFolder: the folder that a sync fills, with its list. Files are put there whole, by a
// rename. What no sync put there is left alone.
//
// Threads: any, after Open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/temporary_folder.h"
#include "director/cli/device/sync_list.h"

namespace galley::device {

class TargetFolder {
 public:
  // Makes the folder if it is absent. FAILED_PRECONDITION: another sync has it, its list is
  // damaged, or it is a copy of another platform.
  static absl::StatusOr<std::unique_ptr<TargetFolder>> Open(const std::string& path,
                                                            const SyncedFrom& from);

  // The root that the folder is a whole copy of; empty: of none, or of other scopes or cultures.
  const std::string& root_before() const { return root_before_; }
  const std::string& path() const { return path_; }

  // Returns what a sync put there; nullopt: nothing, or it was changed since, by its size and time.
  std::optional<SyncedFile> FindAsPut(const std::string& path) const;
  // The paths that syncs put there.
  std::vector<std::string> ListPaths() const;
  // Gives the bytes to a file, piece by piece.
  using Write = std::function<absl::Status(const std::function<absl::Status(std::string_view)>&)>;
  enum class Put {
    kWritten,
    kAdopted,  // a file with these bytes lay there
    kBlocked   // something lies there, or on the way, that no sync put there
  };
  absl::StatusOr<Put> PutFile(const std::string& path, const Digest& digest, const Write& write);

  // Removes a file that a sync put there, and the folders that are empty then. False: it was
  // changed since, and stays; the list forgets it.
  absl::StatusOr<bool> RemoveFile(const std::string& path);

  // Rewrites the list. `root`: empty: the copy is not whole.
  absl::Status Finish(const std::string& root);
  // How many files lie there that the list does not name.
  uint64_t CountForeign() const;

 private:
  TargetFolder(std::string path, FileDescriptor lock, TemporaryFolder parts)
      : path_(std::move(path)), lock_(std::move(lock)), parts_(std::move(parts)) {}
  std::string At(const std::string& path) const { return JoinPath(path_, path); }
  absl::Status Begin(const SyncedFrom& from);
  absl::StatusOr<bool> MakeFoldersTo(const std::string& path);
  absl::Status Note(const std::string& path, const SyncedFile& file);
  absl::Status Append(const std::string& line) GALLEY_REQUIRES(mutex_);
  absl::StatusOr<Put> PutOver(const std::string& path, const Digest& digest, const Write& write);
  std::optional<SyncedFile> Find(const std::string& path) const;

  const std::string path_;
  const FileDescriptor lock_;
  const TemporaryFolder parts_;
  std::string root_before_;
  mutable base::Mutex mutex_;
  FileDescriptor list_file_ GALLEY_GUARDED_BY(mutex_);
  SyncList now_ GALLEY_GUARDED_BY(mutex_);
  std::set<std::string> real_folders_ GALLEY_GUARDED_BY(mutex_);  // looked at in this sync
  uint64_t last_part_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace galley::device
