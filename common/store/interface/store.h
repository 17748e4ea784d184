// The store's faces. BlobStore and ActionCache are the two small interfaces that local, remote and
// the layers share; Store is what the director needs beside them: segments for local workers, group
// commit, published roots.
//
// Errors: NOT_FOUND absent; DATA_LOSS stored bytes are wrong (they are quarantined, the loss epoch
// rises); RESOURCE_EXHAUSTED no space; PERMISSION_DENIED not writable; UNAVAILABLE the owner is not
// reachable.
// Threads: all methods may be called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/blob.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/record/revocation.h"
#include "common/store/interface/blob_stream.h"

namespace galley::store {

// Checks for implementations of NewWriter (INVALID_ARGUMENT) and NewReader (OUT_OF_RANGE).
absl::Status CheckFits(const Digest& digest, uint64_t written, uint64_t more);
absl::Status CheckOffset(const Digest& digest, uint64_t offset);

struct BlobView {
  Digest digest;
  std::string_view bytes;
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;
  // Those of `digests` that are absent, in the order given. The empty blob is always there.
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) = 0;
  // Whole and verified, or an error.
  virtual absl::StatusOr<Blob> Get(const Digest& digest) = 0;
  // INVALID_ARGUMENT when `bytes` are not what `digest` says. Durable with the next Commit.
  virtual absl::Status Put(const Digest& digest, std::string_view bytes) = 0;
  // Put of each of them, and an outcome for each.
  virtual std::vector<absl::Status> PutMany(std::span<const BlobView> blobs);
  // Get from byte `offset` on, in pieces. OUT_OF_RANGE: beyond the end.
  virtual absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                                uint64_t offset);
  // Put in pieces. Neither may outlive the store.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest);
};

class ActionCache {
 public:
  virtual ~ActionCache() = default;
  // Encoded observation sets seen for each weak key, newest first, at most kSetsMax each.
  static constexpr size_t kSetsMax = 16;
  virtual absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) = 0;
  // Encoded results (record::EncodeResult) for each action key; nullopt: none. The outputs are
  // present.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) = 0;
  // ActionResults of other programs (REAPI), byte for byte as they came, by the instance and the
  // action that they came under; nullopt: none, or something that it names is absent. A store that
  // keeps none has none.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions);
};

// Where a local worker put a blob. A segment has no name beyond its number; a large blob is a file
// named by its digest (segment 0).
struct BlobLocation {
  uint64_t segment = 0;  // 0: a file of its own
  uint64_t offset = 0;   // of the record's header in the segment
  auto operator<=>(const BlobLocation&) const = default;
};

struct PutResult {
  Digest weak_key;              // that of no bytes: no set comes with it
  std::string observation_set;  // encoded
  Digest action_key;
  std::string result;  // encoded
};

struct PutSet {
  Digest weak_key;
  std::string observation_set;  // encoded
};

// A result of another program. The last one that is put stands.
struct PutActionResult {
  std::string instance;
  Digest action;
  std::string result;  // a REAPI ActionResult
  std::string peer;    // who wrote it, for people
};

struct CommitBatch {
  std::vector<std::pair<Digest, BlobLocation>> blobs;  // written by workers, now named by results
  std::vector<PutResult> results;
  std::vector<PutSet> sets;  // without a result
  std::vector<PutActionResult> action_results;
};

struct PublishedRoot {
  std::string project_id;
  std::string platform;
  uint64_t sequence = 0;  // given by Publish, from 1 for each (project, platform)
  Digest root;
  bool by_the_book = false;
  absl::Time time;
  Digest snapshot;
  uint32_t keep_roots = 0;  // so many of the platform's roots by the book stay; 0: not said
};

struct StoreInfo {
  std::string directory;
  std::string store_id;     // random, made once
  uint64_t loss_epoch = 0;  // rises whenever anything is dropped, quarantined or disputed
  // The loss epoch when a result last came to be in dispute or was revoked, or a later one.
  uint64_t disputed_epoch = 0;
  // Rises with everything that Commit, Publish and Forget write, and is as durable as that: a store
  // with a lower number than it had is an older one, restored. The distance between two numbers
  // means nothing.
  uint64_t commits = 0;
};

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

class Store : public BlobStore, public ActionCache {
 public:
  virtual absl::StatusOr<StoreInfo> Info() = 0;

  // A new segment that one local writer appends to (local/segment_writer.h). Its number.
  virtual absl::StatusOr<uint64_t> AllocateSegment() = 0;
  // For a local reader; nullopt: absent.
  virtual absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) = 0;

  // FindMissing, asked of the disk and not of the index, which still lists what somebody deleted:
  // whether the file or the segment of a blob is there, and long enough. What is not there is
  // dropped, so that everybody is told the same from then on, and the loss epoch rises (once). Its
  // bytes are not read. A call for when a loss was seen: it costs a look at each large blob's file,
  // and at each segment. A store without a disk has no other truth than its index.
  virtual absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests);

  // One group: (1) syncs the data that is named, blobs Put before included, (2) appends the results
  // and syncs, (3) indexes. When it returns OK all of it survives a power cut. A result whose key
  // is there with another outcome is not replaced: ALREADY_EXISTS names the key in the message, the
  // rest is committed. But a success replaces a verdict: the judgement was wrong, or not the
  // cooker's alone; and of two successes that differ neither stands: a dispute replaces the one
  // that is there (record/dispute.h). INVALID_ARGUMENT: a location that does not hold what is
  // claimed (nothing of it is committed).
  virtual absl::Status Commit(const CommitBatch& batch) = 0;

  // After the root's Directories were Put: one synced record. Returns the sequence.
  virtual absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) = 0;
  // Newest first. An empty id: those of every project.
  virtual absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) = 0;

  // Forgets results, so that they are cooked again (`galley clean`).
  virtual absl::Status Forget(std::span<const Digest> action_keys) = 0;
  // Forgets all results that the worker made, and keeps for good that it is revoked. Both raise the
  // loss epoch and disputed_epoch, even when there was none. Reads all results. UNIMPLEMENTED: an
  // owner of an older version.
  virtual absl::StatusOr<RevokeReport> Revoke(const RevokeOptions& options);
  // The revocations so far: results that these are about are not to be used, wherever they lie.
  virtual absl::StatusOr<std::vector<record::Revocation>> Revocations();
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
  virtual absl::StatusOr<GcReport> Collect(const GcOptions& options);
  // At most `limit` roots and results. Reads all results, and the folders of all roots; of an
  // absent blob the log.
  virtual absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit);
};

}  // namespace galley::store
