// The store's faces. BlobStore and ActionCache are the two small interfaces that local, remote and
// the layers share; Store is what the director needs beside them: segments for local workers, group
// commit, published roots. Whoever looks after a store uses StoreAdmin (store_admin.h).
//
// Errors: NOT_FOUND absent; DATA_LOSS stored bytes are wrong (they are quarantined, the loss epoch
// rises); RESOURCE_EXHAUSTED no space; PERMISSION_DENIED not writable; UNAVAILABLE the owner is not
// reachable.
// Threads: all methods may be called from many threads.
#pragma once

#include <cstdint>
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
  // Returns the digests that are absent, in the order given. The empty blob is always there.
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

// The place where a local worker put a blob. A segment has no name beyond its number; a large blob
// is a file named by its digest (segment 0).
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

  // Commits one group: (1) syncs the data that is named, blobs Put before included, (2) appends the
  // results and syncs, (3) indexes. When it returns OK all of it survives a power cut. A result
  // whose key is there with another outcome is not replaced: ALREADY_EXISTS names the key in the
  // message, the rest is committed. But a success replaces a verdict: the judgement was wrong, or
  // not the cooker's alone; and of two successes that differ neither stands: a dispute replaces the
  // one that is there (record/dispute.h). INVALID_ARGUMENT: a location that does not hold what is
  // claimed (nothing of it is committed).
  virtual absl::Status Commit(const CommitBatch& batch) = 0;

  // After the root's Directories were Put: one synced record. Returns the sequence.
  virtual absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) = 0;
  // Newest first. An empty id: those of every project.
  virtual absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) = 0;

  // Forgets results, so that they are cooked again (`galley clean`).
  virtual absl::Status Forget(std::span<const Digest> action_keys) = 0;
  // The revocations so far: results that these are about are not to be used, wherever they lie.
  virtual absl::StatusOr<std::vector<record::Revocation>> Revocations();
};

}  // namespace galley::store
