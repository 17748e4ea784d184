// LeftBehind: removes files in a store that no index and no process knows: large files that nobody
// adopted, and temporary files, left by killed processes and full disks.
//
// A killed cook, or a full disk, leaves large files in `files` that the index does not know. Such a
// file is adopted only on demand: a process that wants to put its bytes reads the file, finds it
// right, and sets its time to now (blob_file.h); a commit then syncs it. A collection removes a
// file if nothing that stays names it, the index covers all segments, no live process may be about
// to report it, and its writer is known to be dead (writer_note.h) or the file is a day old. The
// file is put aside first, with the writer's lock held, and its time is checked again: so a process
// that found it right in between either finds it gone or keeps it.
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
  bool is_live = false;  // a process with the number in its name lives
  uint64_t size_bytes = 0;
  absl::Time written = absl::InfinitePast();  // last write
};

// Returns the temporary files whose names tell their process.
std::vector<TemporaryLeft> TemporaryFiles(const StoreState& store);
// Returns the large files that the index does not know.
absl::StatusOr<std::vector<LargeFile>> UnadoptedFiles(StoreParts& store);
// Removes the notes of dead writers that name no existing file unknown to the index.
void RemoveOldWriterNotes(StoreParts& store);

// LeftBehind: finds and removes the files for one collection.
// Threads: one, with Maintenance's lock of collections held.
class LeftBehind {
 public:
  LeftBehind(StoreParts& store, const Holders& holders, const Coverage& coverage);

  // `is_needed`: says whether something that stays names the blob.
  absl::Status Find(const std::function<bool(const Digest&)>& is_needed);
  // Removes the found files, except files that somebody began to rely on meanwhile.
  absl::Status Remove(const GcOptions& options);
  // Numbers of found files; after Remove, of removed files.
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
  std::set<Digest> staying_;  // neither adopted nor removed
  std::vector<TemporaryLeft> temporary_;
};

}  // namespace galley::store
