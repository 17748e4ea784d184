// LeftBehind: what killed processes and full disks left in a store that no index and no process
// knows: large files that nobody adopted, and temporary ones (local_unadopted.cc says which go).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/store/local/local_store.h"
#include "common/store/local/writer_note.h"

namespace galley::store {

struct LocalStore::LargeFile {
  Digest digest;
  uint64_t size_bytes = 0;
  absl::Time written;
};

struct LocalStore::TemporaryLeft {
  std::string path;
  bool is_live = false;  // a process has the number that its name begins with
  uint64_t size_bytes = 0;
  absl::Time written = absl::InfinitePast();  // the last of it
};

// LeftBehind: the files of one collection.
// Threads: one.
class LocalStore::LeftBehind {
 public:
  LeftBehind(LocalStore& store, const Holders& holders, const Coverage& coverage);

  // `is_needed`: something that stays names it.
  absl::Status Find(const std::function<bool(const Digest&)>& is_needed);
  // Those that were found, but for what somebody came to rely on meanwhile.
  absl::Status Remove(const GcOptions& options);
  // Found; when Remove was called, removed.
  uint64_t files() const { return files_.size() + temporary_.size(); }
  uint64_t bytes() const;

 private:
  bool IsOlderThanAll(absl::Time written) const;
  absl::StatusOr<bool> RemoveUnlessWanted(const LargeFile& file);

  LocalStore& store_;
  const Holders& holders_;
  const Coverage& coverage_;
  const absl::Time day_ago_;
  std::vector<WriterNote> notes_;
  std::vector<LargeFile> files_;
  std::set<Digest> staying_;  // not adopted, and not removed
  std::vector<TemporaryLeft> temporary_;
};

}  // namespace galley::store
