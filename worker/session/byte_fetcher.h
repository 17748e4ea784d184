// ByteFetcher: gets the bytes that executors ask for into the cache of this machine, from which the
// executors read them: at once if the cache has them, else from the director, several files in a
// call.
//
// Small files whose digest the director's table does not know come with their bytes, unasked. But
// as long as most of these bytes were in the cache already, the digest is asked for first.
//
// The likely reads of a job are fetched ahead while other jobs run, several in a call: its source,
// and the files that, says the director, the last cook of its package read. Bytes that an executor
// waits for go first, on a thread of their own if need be.
//
// Tables of snapshots are fetched, too, each with the table that it stands on; they are kept in a
// folder of the session's own.
//
// A call that breaks off is repeated for kPatience. Then, and when the director refuses, the answer
// is an error, and the job's attempt ends without its own fault. ABORTED: the file is no longer
// what the snapshot says.
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
  // The number of calls at a time: a large file does not hold up small ones. A single one of these
  // threads never fetches ahead.
  static constexpr int kThreads = 4;
  static constexpr size_t kItemsMax = 128;            // of a call
  static constexpr uint64_t kCallBytesMax = 8 << 20;  // of a call, unless its only file is larger
  // Files of unknown digest come with their bytes up to this size.
  static constexpr uint64_t kUnaskedBytesMax = 256 << 10;
  static constexpr size_t kAheadMax = 16'384;  // files of jobs whose digest is remembered
  static constexpr absl::Duration kPatience = absl::Seconds(60);
  static constexpr absl::Duration kPause = absl::Milliseconds(200);

  using Answer = std::function<void(v1::ExecutorBytes)>;

  // Both outlive the fetcher.
  ByteFetcher(DirectorBytes& director, BlobCache& cache);
  // Calls Close.
  ~ByteFetcher();

  // Sets the folder of tables, which exists. Tables of another director are forgotten.
  void SetTables(const std::string& directory);
  // Files of the project may lie on this machine below `path` ([farm] shared_path), where executors
  // look first. So sources are not fetched ahead; files that are asked for differ there, or are
  // missing.
  void SetShared(const std::string& path);
  void Want(uint64_t attempt, const v1::ExecutorWant& want, Answer answer);
  // The session has these jobs, and begins them in this order.
  using Jobs = google::protobuf::RepeatedPtrField<v1::Job>;
  void FetchAhead(const Jobs& jobs);
  // The director took these attempts back: requests that are not on their way are dropped.
  void DropAhead(std::span<const uint64_t> attempts);
  // Requests that wait are not answered; after Close nothing is answered. REQUIRES: the calls of
  // `director` are cancelled.
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
  absl::Status Finish(const Item& item, const v1::FetchPiece& last, Incoming& incoming);
  absl::Status FinishTable(const std::string& name, const std::string& bytes);
  void RemoveOtherTables(const std::string& name) const;
  void Resolve(Item item, Incoming incoming);
  void Queue(Item item);
  // Fetches an item at once that was to be fetched ahead, because somebody waits for it now.
  void Hasten(const std::function<bool(const Item&)>& is_it) GALLEY_REQUIRES(mutex_);
  // The answer for a blob in the cache, or for a table that is there with the tables it stands on.
  // nullopt: it must be fetched.
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
  // Calls of FetchAhead under way: nothing is fetched ahead before they have queued all their
  // items.
  int held_back_ GALLEY_GUARDED_BY(mutex_) = 0;
  Items wanted_ GALLEY_GUARDED_BY(mutex_), ahead_items_ GALLEY_GUARDED_BY(mutex_);
  // Items that wait for an item with the same bytes, which is being fetched.
  absl::flat_hash_map<Digest, std::vector<Item>> behind_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::vector<Item>> behind_tables_ GALLEY_GUARDED_BY(mutex_);
  Counts counts_ GALLEY_GUARDED_BY(mutex_);
  // Rises with each file of unknown digest that was not in the cache, and falls with each that was,
  // between the limits; below 0 digests are asked for first.
  static constexpr int kLuckMax = 8;
  int luck_ GALLEY_GUARDED_BY(mutex_) = -1;
  std::map<AheadKey, Ahead> ahead_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace galley::worker
