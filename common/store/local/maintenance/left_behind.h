// LeftBehind: what killed processes and full disks left in a store that no index and no process
// knows: large files that nobody adopted, and temporary ones.
//
// A cook that was killed, or a disk that was full, leaves large files in `files`, and the index
// does not know them. One is adopted only on demand: whoever wants to put its bytes reads it, finds
// that it is right, and sets its time to now (blob_file.h); a commit then syncs it as any other. A
// collection removes one when nothing that stays names it, the index knows what all segments say,
// nobody who lives may be about to report it, and either its writer is known and dead
// (writer_note.h) or it is a day old. Under the writer's lock it is put aside first and its time is
// looked at again: so a process that found it right in between finds that it is gone, or keeps it.
//
// Errors: as Collector's.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/maintenance/holders.h"
#include "common/store/local/store_parts.h"
#include "common/store/local/writer_note.h"

namespace galley::store {

struct LargeFile {
  Digest digest;
  uint64_t size_bytes = 0;
  absl::Time written;
};

struct TemporaryLeft {
  std::string path;
  bool is_live = false;  // a process has the number that its name begins with
  uint64_t size_bytes = 0;
  absl::Time written = absl::InfinitePast();  // the last of it
};

// Temporary files whose names say which process writes them.
std::vector<TemporaryLeft> TemporaryFiles(const StoreState& store);
// Large files that the index does not know.
absl::StatusOr<std::vector<LargeFile>> UnadoptedFiles(StoreParts& store);
// Removes notes of writers that are dead, when they say nothing which the index does not.
void RemoveOldWriterNotes(StoreParts& store);

// LeftBehind: the files of one collection.
// Threads: one, under Maintenance's lock of collections.
class LeftBehind {
 public:
  LeftBehind(StoreParts& store, const Holders& holders, const Coverage& coverage);

  // `is_needed`: something that stays names it.
  absl::Status Find(const std::function<bool(const Digest&)>& is_needed);
  // Removes the files that were found, but for those that somebody came to rely on meanwhile.
  absl::Status Remove(const GcOptions& options);
  // Found; when Remove was called, removed.
  uint64_t files() const { return files_.size() + temporary_.size(); }
  uint64_t bytes() const;

 private:
  bool IsOlderThanAll(absl::Time written) const;
  absl::StatusOr<bool> RemoveUnlessWanted(const LargeFile& file);

  StoreParts& store_;
  const Holders& holders_;
  const Coverage& coverage_;
  const absl::Time day_ago_;
  std::vector<WriterNote> notes_;
  std::vector<LargeFile> files_;
  std::set<Digest> staying_;  // not adopted, and not removed
  std::vector<TemporaryLeft> temporary_;
};

}  // namespace galley::store
