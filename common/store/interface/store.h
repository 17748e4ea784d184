// The interfaces of a store. BlobStore and ActionCache are small, and shared by local and remote
// stores and the layers; Store adds the needs of the director: segments for local workers, group
// commit, published roots. Administration is in StoreAdmin (store_admin.h).
//
// Errors: NOT_FOUND: absent; DATA_LOSS: stored bytes are wrong: they are quarantined, and the loss
// epoch rises; RESOURCE_EXHAUSTED: no space; PERMISSION_DENIED: not writable; UNAVAILABLE: the
// owner is not reachable.
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
#include "common/store/interface/leases.h"

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
  // Returns the whole blob, verified.
  virtual absl::StatusOr<Blob> Get(const Digest& digest) = 0;
  // INVALID_ARGUMENT: `bytes` do not have the digest. Durable with the next Commit.
  virtual absl::Status Put(const Digest& digest, std::string_view bytes) = 0;
  // Puts each blob; returns a status for each.
  virtual std::vector<absl::Status> PutMany(std::span<const BlobView> blobs);
  // Gets a blob in pieces, from byte `offset` on. OUT_OF_RANGE: beyond the end. The reader must not
  // outlive the store.
  virtual absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                                uint64_t offset);
  // Puts a blob in pieces. The writer must not outlive the store.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest);
};

class ActionCache {
 public:
  virtual ~ActionCache() = default;
  // Returns the encoded observation sets of each weak key, newest first, at most kSetsMax each.
  static constexpr size_t kSetsMax = 16;
  virtual absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) = 0;
  // Returns the encoded result (record::EncodeResult) of each action key; nullopt: none. The
  // outputs are present.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) = 0;
  // Returns the same, also for results whose outputs are absent, which may not be used: to make the
  // outputs again. By default only what Results returns.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> RecordedResults(
      std::span<const Digest> action_keys);
  // Returns ActionResults of other programs (REAPI) by instance and action, byte for byte as they
  // were put; nullopt: none, or a named blob is absent. By default all nullopt.
  virtual absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions);
};

// BlobLocation: the place where a local worker put a blob: a segment, which is named by its number,
// or a file of the blob's own, which is named by its digest.
struct BlobLocation {
  uint64_t segment = 0;  // 0: a file of the blob's own
  uint64_t offset = 0;   // of the record's header in the segment
  auto operator<=>(const BlobLocation&) const = default;
};

struct PutResult {
  Digest weak_key;              // digest of the empty blob: no set comes with the result
  std::string observation_set;  // encoded
  Digest action_key;
  std::string result;  // encoded
};

struct PutSet {
  Digest weak_key;
  std::string observation_set;  // encoded
};

// PutActionResult: a result of another program. The last put wins.
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
  uint32_t keep_roots = 0;  // how many of the platform's roots by the book to keep; 0: unknown
};

struct StoreInfo {
  std::string directory;
  std::string store_id;     // random, made once
  uint64_t loss_epoch = 0;  // rises whenever anything is dropped, quarantined or disputed
  // At least the loss epoch at which a result was last disputed or revoked.
  uint64_t disputed_epoch = 0;
  // Rises with every write of Commit, Publish and Forget, and is as durable as the write: a store
  // with a lower number than before is an older store, restored. The difference of two numbers
  // means nothing.
  uint64_t commits = 0;
};

class Store : public BlobStore, public ActionCache {
 public:
  virtual absl::StatusOr<StoreInfo> Info() = 0;

  // Makes a segment for one local writer (local/segment_writer.h); returns its number.
  virtual absl::StatusOr<uint64_t> AllocateSegment() = 0;
  // Returns the locations of blobs, for a local reader; nullopt: absent.
  virtual absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) = 0;

  // Like FindMissing, but looks at the disk: the index still lists files that somebody deleted. A
  // blob is present if its file or segment exists and is long enough; no bytes are read. Drops
  // absent blobs, so that later calls agree, and raises the loss epoch once. Call after a loss was
  // seen: it costs a stat of each large blob's file, and of each segment. A store without a disk
  // asks its index.
  virtual absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests);

  // Commits one group: (1) syncs the named blobs, and all blobs Put before; (2) appends the results
  // and syncs; (3) indexes. After OK the whole group survives a power cut. A key that has a result
  // with another outcome keeps its result: ALREADY_EXISTS names the key, and the rest is committed.
  // There are two exceptions. A success replaces a verdict: the verdict was wrong, or not the
  // cooker's alone. Of two different successes neither stands: a dispute replaces the old result
  // (record/dispute.h). INVALID_ARGUMENT: a location does not hold its blob; nothing of the group
  // is committed.
  virtual absl::Status Commit(const CommitBatch& batch) = 0;

  // Appends and syncs one record; returns its sequence. REQUIRES: the root's Directories were Put.
  virtual absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) = 0;
  // Returns the roots of a project, newest first. An empty id: roots of all projects.
  virtual absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) = 0;

  // Forgets results, so that they are cooked again (`galley clean`).
  virtual absl::Status Forget(std::span<const Digest> action_keys) = 0;
  // Returns all revocations so far: a revoked result must not be used, whatever store holds it.
  virtual absl::StatusOr<std::vector<record::Revocation>> Revocations();

  // Ends leases (leases.h), and takes others in place of older ones with the same names; all or
  // none. Commits what was Put before, so that after OK the leases and the folders that they name
  // survive a power cut; a batch costs one sync more than a commit. REQUIRES: while the call runs,
  // the blobs under each root are kept by another lease or root, or because the caller was told
  // that they are present: a collection that began before does not look at new leases. NOT_FOUND: a
  // root's own folder is absent, and no lease has the root yet: one tree that was lost ends no
  // renewal of others. INVALID_ARGUMENT: ValidateLeaseName refuses a name. RESOURCE_EXHAUSTED: more
  // than kLeasesMax leases. UNIMPLEMENTED: the store keeps no leases, or its owner has an older
  // version.
  virtual absl::Status ChangeLeases(const LeaseChanges& changes);
  // Returns the leases by name. Those whose time has passed may be missing.
  virtual absl::StatusOr<std::vector<RootLease>> Leases();
};

}  // namespace galley::store
