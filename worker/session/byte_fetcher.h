// ByteFetcher: has the bytes that executors ask for in the cache of this machine, from where they
// read them: at once if they lie there, else from the director, several in one call.
//
// Of a file of which the director's table knows no digest, small bytes come unasked; but as long
// as most of what came so lay in the cache already, the digest is asked for first.
//
// What a job reads is fetched ahead, several in a call, while others run: its source, and what the
// director says that the last cook of its package read. What an executor waits for goes before
// that, on a thread of its own if need be.
//
// Also the tables of snapshots, each with the one that it stands on; these are kept in a folder of
// the session's own.
//
// A call that breaks off is made again for kPatience; then, and where the director refuses, the
// answer is an error, and the job's attempt ends by no fault of its own. (ABORTED: the file is no
// longer what the snapshot says.)
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
  // Calls at a time: a large file does not hold up small ones. One of them never fetches ahead.
  static constexpr int kThreads = 4;
  static constexpr size_t kItemsMax = 128;            // of a call
  static constexpr uint64_t kCallBytesMax = 8 << 20;  // likewise, if one file alone is not larger
  // Of a file of which the digest is not known so many bytes come with it.
  static constexpr uint64_t kUnaskedBytesMax = 256 << 10;
  static constexpr size_t kAheadMax = 16'384;  // files of jobs of which the digest is remembered
  static constexpr absl::Duration kPatience = absl::Seconds(60);
  static constexpr absl::Duration kPause = absl::Milliseconds(200);

  using Answer = std::function<void(v1::ExecutorBytes)>;

  // All outlive it.
  ByteFetcher(DirectorBytes& director, BlobCache& cache);
  // Close.
  ~ByteFetcher();

  // Where tables are kept; it is there. Those of another director are forgotten.
  void SetTables(const std::string& directory);
  // Files of the project may lie on this machine, where executors look first ([farm] shared_path).
  // So sources are not fetched ahead; what is asked for all the same differs there, or is missing.
  void SetShared(const std::string& path);
  void Want(uint64_t attempt, const v1::ExecutorWant& want, Answer answer);
  // The session has these jobs, and begins them in this order.
  using Jobs = google::protobuf::RepeatedPtrField<v1::Job>;
  void FetchAhead(const Jobs& jobs);
  // The director took these attempts back: what is not on its way for them is not fetched ahead.
  void DropAhead(std::span<const uint64_t> attempts);
  // What waits is not answered; afterwards nothing is. REQUIRES: the calls of `director` are
  // cancelled.
  void Close();

  // So far.
  struct Counts {
    uint64_t bytes = 0;  // of files and blobs
    uint64_t table_bytes = 0;
    uint64_t not_shared = 0;  // files that should lie at the shared path, and do not
  };
  Counts counts() const;

 private:
  // A file of a job that is fetched ahead, or was.
  struct Ahead {
    std::optional<v1::Digest> digest;  // none yet: it is on its way
    std::vector<std::pair<v1::ExecutorWant, Answer>> waiting;
  };
  using AheadKey = std::pair<uint64_t, std::string>;  // attempt, path
  struct Item {
    v1::FetchItem item;
    v1::ExecutorWant want;
    std::optional<Digest> digest;  // of `want`, if it is known
    Answer answer;
    absl::Time asked;
    bool is_ahead = false;  // nobody waits for it
  };
  using Items = std::deque<Item>;
  // One that is being fetched.
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
  absl::Status Finish(const Item& item, const v1::FetchPiece& last, Incoming& incoming);
  absl::Status FinishTable(const std::string& name, const std::string& bytes);
  void RemoveOtherTables(const std::string& name) const;
  void Resolve(Item item, Incoming incoming);
  void Queue(Item item);
  // Somebody waits for it now.
  void Hasten(const std::function<bool(const Item&)>& is_it) GALLEY_REQUIRES(mutex_);
  // In the cache, or a table that is there with what it stands on. nullopt: it has to be fetched.
  std::optional<v1::ExecutorBytes> Here(const v1::ExecutorWant& want);
  // The name of the first table of those that is not here; empty: all are.
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
  // Calls of FetchAhead under way: nothing is fetched ahead before they have queued all.
  int held_back_ GALLEY_GUARDED_BY(mutex_) = 0;
  Items wanted_ GALLEY_GUARDED_BY(mutex_), ahead_items_ GALLEY_GUARDED_BY(mutex_);
  // Behind one that fetches the same bytes.
  absl::flat_hash_map<Digest, std::vector<Item>> behind_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::vector<Item>> behind_tables_ GALLEY_GUARDED_BY(mutex_);
  Counts counts_ GALLEY_GUARDED_BY(mutex_);
  // Rises with each file of unknown digest that did not lie in the cache, and falls with each that
  // did, between the limits; below 0 digests are asked for first.
  static constexpr int kLuckMax = 8;
  int luck_ GALLEY_GUARDED_BY(mutex_) = -1;
  std::map<AheadKey, Ahead> ahead_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace galley::worker
