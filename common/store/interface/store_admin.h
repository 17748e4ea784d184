// StoreAdmin: looking after a store: its size, its health, what it keeps and why. Only a store
// directory has it; the layers in front of a Store do not.
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
  // Large files that nobody adopted (yet), and what is being written or was left by a process that
  // died while it wrote.
  uint64_t unadopted_files = 0, unadopted_bytes = 0;
  uint64_t temporary_files = 0, temporary_bytes = 0;
};

struct StatsOptions {
  // Also what nobody adopted: it takes a look at each large file. Without it the index has the
  // answer.
  bool counts_unadopted = true;
};

struct VerifyProgress {
  std::string phase;  // what is being read: "blobs", "results", ...
  uint64_t blobs = 0, bytes = 0;
  uint64_t bytes_total = 0;  // of all blobs; 0: not known
  uint64_t problems = 0;
};

struct VerifyOptions {
  uint64_t bytes_per_second = 0;  // that are read; 0: as fast as it goes
  bool restart = false;           // from the beginning; else on from where the last one was cut off
  // Told about once a second; false stops it: ABORTED.
  std::function<bool(const VerifyProgress&)> on_progress;
};

struct VerifyReport {
  uint64_t blobs = 0;
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // one line each: what, where, what was done
  std::optional<absl::Time> resumed;  // when the one began that was gone on with; its counts are in
};

struct GcOptions {
  // Things that nothing needs stay up to this size; the least recently used results go first.
  uint64_t bytes_max = UINT64_MAX;
  // Results that nobody asked for so long go whatever the size.
  absl::Duration age_max = absl::InfiniteDuration();
  bool is_dry = false;  // says what would go
  Cancellation* cancellation = nullptr;
};

struct GcReport {
  uint64_t blobs = 0, bytes = 0, results = 0;  // that stay
  uint64_t dropped_blobs = 0, dropped_bytes = 0, dropped_results = 0;
  // Bytes of segments that went, and of those what was still live and was written again.
  uint64_t freed_bytes = 0, moved_bytes = 0;
  // Files that killed processes left, that nobody adopted, and that went.
  uint64_t left_files = 0, left_bytes = 0;
  // Live sessions for whose sake more stays than the rest asks for, oldest first.
  std::vector<std::string> held_by;
};

// WhyReport: where a blob lies, and what keeps it. Times that are not known are in the infinite
// past.
struct WhyReport {
  struct Root {
    PublishedRoot root;
    bool is_kept = false;  // else it goes when nothing else keeps it
    std::string path;      // where in its tree, one of the places; empty: the tree itself
  };
  struct Result {
    Digest key;
    bool is_ours = true;     // else another program's
    std::string provenance;  // who made it where and when, for people
    absl::Time written, used;
  };
  std::optional<BlobLocation> location;  // none: absent
  absl::Time written = absl::InfinitePast();
  std::vector<Root> roots;  // newest first
  uint64_t roots_more = 0;  // beyond the limit
  std::vector<Result> results;
  uint64_t results_more = 0;
  // Live ones that were told, or may have been, that it is there.
  std::vector<std::string> sessions;
  std::vector<std::string> past;  // what became of it, oldest first
};

struct RevokeOptions {
  record::Revocation what;  // `until` is the time of the call
  bool is_dry = false;      // says what would go
};

struct RevokeReport {
  struct Result {
    Digest key;
    bool is_ours = true;  // else one that a client put, as a store that is served keeps them
    std::string worker, machine;
    absl::Time taken;
    std::string received_from;    // URL of the store that it came from; empty: cooked for this one
    std::vector<Digest> outputs;  // that it names
  };
  std::vector<Result> results;  // by key
};

class StoreAdmin {
 public:
  virtual ~StoreAdmin() = default;

  // Forgets all results that the worker made, and keeps for good that it is revoked. Both raise the
  // loss epoch and disputed_epoch, even when there was none. Reads all results. UNIMPLEMENTED: an
  // owner of an older version.
  virtual absl::StatusOr<RevokeReport> Revoke(const RevokeOptions& options) = 0;
  virtual absl::StatusOr<StoreStats> Stats(const StatsOptions& options) = 0;
  absl::StatusOr<StoreStats> Stats() { return Stats(StatsOptions()); }
  // Reads everything, and holds nobody up meanwhile. Corrupt bytes are quarantined, so that the
  // next Verify is clean of them; the loss epoch rises. FAILED_PRECONDITION: another one runs.
  virtual absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) = 0;
  absl::StatusOr<VerifyReport> Verify() { return Verify(VerifyOptions()); }

  // Drops what is neither needed nor used (GcOptions). Never: what the newest roots of each project
  // and platform need, or what anybody was told is there since the oldest live session began. The
  // loss epoch rises when something goes. Interrupted anywhere it has lost nothing that it should
  // not; CANCELLED: by its cancellation.
  virtual absl::StatusOr<GcReport> Collect(const GcOptions& options) = 0;
  // At most `limit` roots and results. Reads all results, and the folders of all roots; of an
  // absent blob the log.
  virtual absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) = 0;
};

// A store directory with both faces: of its owner, of a client of the owner, or of a process that
// may become either.
class StoreDirectory : public Store, public StoreAdmin {};

}  // namespace galley::store
