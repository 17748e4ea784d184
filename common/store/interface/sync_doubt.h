// The rules of a store about syncs that failed, in its own life and in its owners' before it. The
// same code in LocalStore and in the simulation's store.
//
// After a failed sync the kernel takes the pages for written: a read returns the right bytes, a
// second sync succeeds, and a power cut loses the bytes
// (https://wiki.postgresql.org/wiki/Fsync_Errors). So every later owner has to know of the failure,
// even if the process that called sync was killed before the answer:
//   * a mark lies in the store while a sync runs, and stays if the sync fails. It names the files
//     that are synced. The mark itself is not synced, since it need not outlive the page cache: a
//     power cut takes both. A mark that comes back from the disk after a good sync costs a copy;
//   * an owner that finds the mark copies the log's end, and those marked files that the log does
//     not name: a copy has pages of its own, so its sync can be trusted;
//   * a blob that was in a worker's segment before this owner came, and that no owner adopted, is
//     copied, never adopted in place, with or without a mark: its writer may have outlived owners.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "common/store/interface/store.h"

namespace galley::store {

// Returns the bytes of a mark: a line with the digest of each file, then a line with the checksum
// of these lines. A mark holds a sequence of such lists.
std::string EncodeSyncMark(std::span<const Digest> files);
struct DecodedSyncMark {
  bool is_marked = false;   // there is a whole list, perhaps empty, or a damaged list
  bool is_damaged = false;  // a line is wrong: the files of a list are unknown
  std::vector<Digest> files;
};
// A torn list says nothing: its sync had not begun, or the caches are gone. A list with whole lines
// that are wrong was damaged later: it counts as a mark.
DecodedSyncMark DecodeSyncMark(std::string_view bytes);

// SyncMark: one owner's use of the mark. The owner raises the mark before anything is synced, and
// lowers the mark after success. Raise while the mark is up means that the sync before failed: then
// the mark stays for this owner's life, and names the files of every Raise.
class SyncMark {
 public:
  struct File {
    // Appends `bytes` to the file.
    std::function<absl::Status(const std::string& bytes)> append;
    std::function<absl::Status()> remove;
  };
  explicit SyncMark(File file) : file_(std::move(file)) {}

  // Call before any of `files`, or the log, is synced. After an error nothing may be synced.
  absl::Status Raise(std::span<const Digest> files) {
    is_final_ |= is_up_;
    RETURN_IF_ERROR(file_.append(EncodeSyncMark(files)));
    is_up_ = true;
    return absl::OkStatus();
  }
  absl::Status Lower() {
    if (is_final_) return absl::OkStatus();
    RETURN_IF_ERROR(file_.remove());
    is_up_ = false;
    return absl::OkStatus();
  }

 private:
  const File file_;
  bool is_up_ = false, is_final_ = false;
};

// OpeningSteps: the steps of an owner that opens a store, in their order.
struct OpeningSteps {
  bool is_marked = false;  // by an earlier owner
  std::function<absl::Status()> raise_mark;
  // Copies those of the owners' segments that may hold unsynced bytes.
  std::function<absl::Status()> write_log_anew;
  std::function<absl::Status()> sync_and_read_log;
  // Copies the files that the mark names and the log, which was just read, does not.
  std::function<absl::Status()> write_files_anew;
  std::function<absl::Status()> settle;  // the rest of the opening
  std::function<absl::Status()> lower_mark;
};

inline absl::Status OpenInOrder(const OpeningSteps& steps) {
  const bool is_in_doubt = steps.is_marked && !IsSabotaged(Sabotage::kForgetFailedSync);
  RETURN_IF_ERROR(steps.raise_mark());
  if (is_in_doubt) RETURN_IF_ERROR(steps.write_log_anew());
  RETURN_IF_ERROR(steps.sync_and_read_log());
  if (is_in_doubt) RETURN_IF_ERROR(steps.write_files_anew());
  RETURN_IF_ERROR(steps.settle());
  return steps.lower_mark();
}

// DoubtfulSegments: the doubtful beginnings of workers' segments: each up to its length when the
// owner came, or when a sync of the segment failed.
class DoubtfulSegments {
 public:
  void Note(uint64_t segment, uint64_t end_bytes) {
    uint64_t& end = ends_[segment];
    end = std::max(end, end_bytes);
  }
  // True: the location is in doubt, so the blob is copied.
  bool Hold(const BlobLocation& location) const {
    if (IsSabotaged(Sabotage::kForgetFailedSync)) return false;
    const auto found = ends_.find(location.segment);
    return found != ends_.end() && location.offset < found->second;
  }

 private:
  std::map<uint64_t, uint64_t> ends_;
};

}  // namespace galley::store
