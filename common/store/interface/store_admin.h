// StoreAdmin: administers a store: its size, its health, what it keeps and why. Only a store
// directory has this interface; the layers in front of a Store do not.
//
// Errors and threads: those of Store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/record/revocation.h"
#include "common/store/interface/store.h"

namespace galley::store {

struct StoreStats {
  uint64_t blobs = 0;
  uint64_t blob_bytes = 0;
  uint64_t results = 0;
  uint64_t observation_sets = 0;
  uint64_t segments = 0;
  uint64_t segment_bytes = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t roots = 0;
  uint64_t quarantined = 0;
  // Large files that no commit has adopted yet, and files that are being written, or that a process
  // left when it died.
  uint64_t unadopted_files = 0, unadopted_bytes = 0;
  uint64_t temporary_files = 0, temporary_bytes = 0;
};

struct StatsOptions {
  // Counts also unadopted files, at the cost of a stat of each large file; the other numbers come
  // from the index.
  bool counts_unadopted = true;
};

struct VerifyProgress {
  std::string phase;  // kind of records that is being read: "blobs", "results", ...
  uint64_t blobs = 0, bytes = 0;
  uint64_t bytes_total = 0;  // of all blobs; 0: not known
  uint64_t problems = 0;
};

struct VerifyOptions {
  uint64_t bytes_per_second = 0;  // of reading; 0: no limit
  bool restart = false;           // from the beginning; else from where the last run stopped
  // Called about once a second; false stops the run: ABORTED.
  std::function<bool(const VerifyProgress&)> on_progress;
};

struct VerifyReport {
  uint64_t blobs = 0;
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // one line each: the fault, its place, the action taken
  // Start of the earlier run that this run continued; its counts are included.
  std::optional<absl::Time> resumed;
};

struct GcOptions {
  // Unneeded blobs and results stay up to this size; the least recently used results go first.
  uint64_t bytes_max = UINT64_MAX;
  // Results that were not read for this long go, whatever the size.
  absl::Duration age_max = absl::InfiniteDuration();
  bool is_dry = false;  // only reports what would go
  Cancellation* cancellation = nullptr;
};

struct GcReport {
  uint64_t blobs = 0, bytes = 0, results = 0;  // that stayed
  uint64_t dropped_blobs = 0, dropped_bytes = 0, dropped_results = 0;
  // freed_bytes: of removed segments; moved_bytes: live bytes of these, written again.
  uint64_t freed_bytes = 0, moved_bytes = 0;
  // Removed files that killed processes left and no commit adopted.
  uint64_t left_files = 0, left_bytes = 0;
  // Live sessions that keep more than the options ask for, oldest first.
  std::vector<std::string> held_by;
};

// WhyReport: where a blob lies, and what keeps it. Unknown times are InfinitePast.
struct WhyReport {
  struct Root {
    PublishedRoot root;
    bool is_kept = false;  // false: this root keeps nothing
    std::string path;      // a path of the blob in the root's tree; empty: the tree itself
  };
  struct Lease {
    RootLease lease;
    std::string path;  // as in Root
  };
  struct Result {
    Digest key;
    bool is_ours = true;     // false: another program's
    std::string provenance;  // who made the result, where and when, for people
    absl::Time written, used;
    // True: the blob is no output, but an input that was kept ([store] keep_sources), or leads to
    // the inputs.
    bool is_input = false;
  };
  std::optional<BlobLocation> location;  // nullopt: absent
  absl::Time written = absl::InfinitePast();
  std::vector<Root> roots;    // newest first
  uint64_t roots_more = 0;    // number beyond the limit
  std::vector<Lease> leases;  // that hold, by name
  uint64_t leases_more = 0;
  std::vector<Result> results;
  uint64_t results_more = 0;
  // Live sessions that were told, or may have been told, that the blob is present.
  std::vector<std::string> sessions;
  std::vector<std::string> past;  // history of the blob, oldest first
};

struct RevokeOptions {
  record::Revocation what;  // `until` is the time of the call
  bool is_dry = false;      // only reports what would go
};

struct RevokeReport {
  struct Result {
    Digest key;
    bool is_ours = true;  // false: put by a REAPI client of a served store
    std::string worker, machine;
    absl::Time taken;
    std::string received_from;    // URL of the store that sent it; empty: cooked here
    std::vector<Digest> outputs;  // that the result names
  };
  std::vector<Result> results;  // sorted by key
};

class StoreAdmin {
 public:
  virtual ~StoreAdmin() = default;

  // Forgets all results that the worker made, and records for good that the worker is revoked.
  // Raises the loss epoch and disputed_epoch, even if there was no result. Reads all results.
  // UNIMPLEMENTED: the owner has an older version.
  virtual absl::StatusOr<RevokeReport> Revoke(const RevokeOptions& options) = 0;
  virtual absl::StatusOr<StoreStats> Stats(const StatsOptions& options) = 0;
  absl::StatusOr<StoreStats> Stats() { return Stats(StatsOptions()); }
  // Reads and verifies everything; other calls go on meanwhile. Corrupt bytes are quarantined, so
  // that the next Verify does not report them; the loss epoch rises. FAILED_PRECONDITION: another
  // Verify runs.
  virtual absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) = 0;
  absl::StatusOr<VerifyReport> Verify() { return Verify(VerifyOptions()); }

  // Drops unneeded and unused blobs and results (GcOptions), but never what the newest roots of
  // each project and platform need, nor what leases hold (leases.h), nor what anybody was told is
  // present since the oldest live session began. The loss epoch rises when something goes. An
  // interrupt at any point loses nothing that had to stay. CANCELLED: by GcOptions::cancellation.
  virtual absl::StatusOr<GcReport> Collect(const GcOptions& options) = 0;
  // Returns at most `limit` roots, leases and results. Reads all results and the folders of all
  // roots and leases; for an absent blob also the log.
  virtual absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) = 0;
};

// StoreDirectory: both interfaces of a store directory: of its owner, of a client of the owner, or
// of a process that may become either.
class StoreDirectory : public Store, public StoreAdmin {};

}  // namespace galley::store
