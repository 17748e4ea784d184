// ByteFetcher: brings the bytes that executors ask for into the cache of this machine, where the
// executors read them. Bytes that the cache lacks come from the director, several files in a call.
//
// If the director's table has no digest of a small file, its digest and bytes are fetched together.
// While the cache turns out to have most of these files already, only the digest is fetched first.
//
// The likely reads of a job are fetched ahead while other jobs run: the source, and the files that
// the director names because the last cook of the package read them. Bytes that an executor waits
// for go first, on a thread of their own if need be.
//
// Tables of snapshots are fetched, too, each with its base table, into a folder of the session.
//
// A call that breaks off is repeated for kPatience. After that, or if the director refuses, the
// answer is an error, and the attempt ends without a fault of its own. ABORTED: the file is no
// longer what the snapshot says.
// Threads: Want and FetchAhead from any; answers come on a thread of the fetcher, or at once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "galley/v1/executor.pb.h"
#include "google/protobuf/repeated_field.h"
#include "worker/session/blob_cache.h"
#include "worker/session/director_bytes.h"

namespace galley::worker {

class ByteFetcher {
 public:
  // The number of calls at a time: a large file does not hold up small files. Exactly one of these
  // threads never fetches ahead.
  static constexpr int kThreads = 4;
  static constexpr size_t kItemsMax = 128;            // per call
  static constexpr uint64_t kCallBytesMax = 8 << 20;  // per call, unless its only file is larger
  // Files of unknown digest come with their bytes if they are no larger than this.
  static constexpr uint64_t kUnaskedBytesMax = 256 << 10;
  static constexpr size_t kAheadMax = 16'384;  // remembered files that were fetched ahead
  static constexpr absl::Duration kPatience = absl::Seconds(60);
  static constexpr absl::Duration kPause = absl::Milliseconds(200);

  using Answer = std::function<void(v1::ExecutorBytes)>;

  // Both outlive the fetcher.
  ByteFetcher(DirectorBytes& director, BlobCache& cache);
  // Calls Close.
  ~ByteFetcher();

  // Sets the folder of tables, which exists; each director has a folder of its own.
  void SetTables(const std::string& directory);
  // Executors look first for files of the project below `path` ([farm] shared_path). So sources are
  // not fetched ahead, and a file that an executor asks for is missing or different there.
  void SetShared(const std::string& path);
  void Want(uint64_t attempt, const v1::ExecutorWant& want, Answer answer);
  // The session has these jobs, and begins them in this order.
  using Jobs = google::protobuf::RepeatedPtrField<v1::Job>;
  void FetchAhead(const Jobs& jobs);
  // The director took these attempts back: drops their requests that were not sent yet.
  void DropAhead(std::span<const uint64_t> attempts);
  // Drops waiting requests; after Close nothing is answered. REQUIRES: the calls of `director` are
  // cancelled.
  void Close();

  // Counts since the start.
  struct Counts {
    uint64_t bytes = 0;  // of files and blobs
    uint64_t table_bytes = 0;
    uint64_t not_shared = 0;  // files that should lie at the shared path, and do not
  };
  Counts counts() const;

 private:
  // A file of a job that is being fetched ahead, or was.
  struct Ahead {
    std::optional<v1::Digest> digest;  // nullopt: on its way
    std::vector<std::pair<v1::ExecutorWant, Answer>> waiting;
  };
  using AheadKey = std::pair<uint64_t, std::string>;  // attempt, path
  struct Item {
    v1::FetchItem item;
    v1::ExecutorWant want;
    std::optional<Digest> digest;  // the digest of `want`, if it is known
    Answer answer;
    absl::Time asked;
    bool is_ahead = false;  // nobody waits for it
  };
  using Items = std::deque<Item>;
  // An item that is being fetched.
  struct Incoming {
    std::optional<store::HashedFile> file;
    std::optional<v1::ExecutorBytes> answer;
    std::string table;
    uint64_t bytes = 0;
    bool is_left_out = false;
  };

  void Run(bool fetches_ahead);
  std::vector<Item> Next(bool fetches_ahead);
  void FetchAll(std::vector<Item> items);
  void TakePiece(const Item& item, const v1::FetchPiece& piece, Incoming& incoming);
  absl::StatusOr<v1::ExecutorBytes> Finish(const Item& item, const v1::FetchPiece& last,
                                           Incoming& incoming);
  absl::Status FinishTable(const std::string& name, const std::string& bytes);
  void RemoveOtherTables(const std::string& name) const;
  void Resolve(Item item, Incoming incoming);
  void Queue(Item item);
  // Moves an item from ahead_items_ to wanted_, because somebody waits for it now.
  void Hasten(const std::function<bool(const Item&)>& is_it) GALLEY_REQUIRES(mutex_);
  // The answer for a blob in the cache, or for a table whose base tables are here, too. nullopt: it
  // must be fetched.
  std::optional<v1::ExecutorBytes> Here(const v1::ExecutorWant& want);
  // The name of the first missing table of the chain that begins with `name`; empty: none is
  // missing.
  std::string MissingTable(const std::string& name) const;
  std::string TablePath(const std::string& name) const;
  uint64_t UnaskedBytes() const;
  void Ask(uint64_t attempt, const v1::ExecutorWant& want, bool is_ahead, Answer answer);
  void FetchFileAhead(uint64_t attempt, const std::string& path, const v1::Digest* digest);
  void CameAhead(const AheadKey& key, const v1::ExecutorBytes& bytes);
  bool IsAwaited(const Item& item) const GALLEY_REQUIRES(mutex_);
  void NoteLuck(bool lay_here);
  void NoteNotShared(const v1::ExecutorWant& want);

  DirectorBytes& director_;
  BlobCache& cache_;
  SystemClock clock_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  Cancellation closing_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  std::string tables_ GALLEY_GUARDED_BY(mutex_);
  std::string shared_path_ GALLEY_GUARDED_BY(mutex_);
  // Running calls of FetchAhead: nothing is fetched ahead until they have queued all their items.
  int held_back_ GALLEY_GUARDED_BY(mutex_) = 0;
  Items wanted_ GALLEY_GUARDED_BY(mutex_), ahead_items_ GALLEY_GUARDED_BY(mutex_);
  // Items that wait for an item with the same bytes, which is being fetched.
  absl::flat_hash_map<Digest, std::vector<Item>> behind_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::vector<Item>> behind_tables_ GALLEY_GUARDED_BY(mutex_);
  Counts counts_ GALLEY_GUARDED_BY(mutex_);
  // Files of unknown digest that the cache did not have, minus files that it had, kept within
  // +-kLuckMax. Below 0, digests are fetched first.
  static constexpr int kLuckMax = 8;
  int luck_ GALLEY_GUARDED_BY(mutex_) = -1;
  std::map<AheadKey, Ahead> ahead_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace galley::worker
