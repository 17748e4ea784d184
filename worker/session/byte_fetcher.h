// ByteFetcher: has the bytes that executors ask for in the cache of this machine, from where they
// read them: at once if they lie there, else from the director, several in one call.
//
// Of a file of which the director's table knows no digest, small bytes come unasked; but as long
// as most of what came so lay in the cache already, the digest is asked for first.
//
// What a job reads for sure, its source above all, is fetched ahead: several in a call, while
// others run.
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
#include "worker/session/blob_cache.h"
#include "worker/session/director_bytes.h"

namespace galley::worker {

class ByteFetcher {
 public:
  static constexpr int kThreads = 3;  // calls at a time: a large file does not hold up small ones
  static constexpr size_t kItemsMax = 64;             // of a call
  static constexpr uint64_t kCallBytesMax = 8 << 20;  // likewise, if one file alone is not larger
  // Of a file of which the digest is not known so many bytes come with it.
  static constexpr uint64_t kUnaskedBytesMax = 256 << 10;
  static constexpr uint64_t kAheadBytesMax = 1 << 20;  // of a blob that a job may not need at all
  static constexpr size_t kAheadMax = 8'192;           // jobs of which that is remembered
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
  // The session has the job.
  void FetchAhead(const v1::Job& job);
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
  // The source of a job, which is fetched ahead, or was.
  struct Ahead {
    std::string path;
    std::optional<v1::Digest> digest;  // none yet: it is on its way
    std::vector<std::pair<v1::ExecutorWant, Answer>> waiting;
  };
  struct Item {
    v1::FetchItem item;
    v1::ExecutorWant want;
    Answer answer;
    absl::Time asked;
  };
  // One that is being fetched.
  struct Incoming {
    std::optional<store::HashedFile> file;
    std::optional<v1::ExecutorBytes> answer;
    std::string table;
    uint64_t bytes = 0;
    bool is_left_out = false;
  };

  void Run();
  std::vector<Item> Next();
  void FetchAll(std::vector<Item> items);
  void TakePiece(const Item& item, const v1::FetchPiece& piece, Incoming& incoming);
  absl::Status Finish(const Item& item, const v1::FetchPiece& last, Incoming& incoming);
  absl::Status FinishTable(const std::string& name, const std::string& bytes);
  void RemoveOtherTables(const std::string& name) const;
  void Resolve(Item item, Incoming incoming);
  void Queue(Item item);
  // In the cache, or a table that is there with what it stands on. nullopt: it has to be fetched.
  std::optional<v1::ExecutorBytes> Here(const v1::ExecutorWant& want);
  // The name of the first table of those that is not here; empty: all are.
  std::string MissingTable(const std::string& name) const;
  std::string TablePath(const std::string& name) const;
  uint64_t UnaskedBytes() const;
  void Ask(uint64_t attempt, const v1::ExecutorWant& want, Answer answer);
  void FetchSourceAhead(const v1::Job& job);
  void CameAhead(uint64_t attempt, const v1::ExecutorBytes& bytes);
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
  std::deque<Item> queue_ GALLEY_GUARDED_BY(mutex_);
  // Behind one that fetches the same bytes.
  absl::flat_hash_map<Digest, std::vector<Item>> behind_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::vector<Item>> behind_tables_ GALLEY_GUARDED_BY(mutex_);
  Counts counts_ GALLEY_GUARDED_BY(mutex_);
  // Rises with each file of unknown digest that did not lie in the cache, and falls with each that
  // did, between the limits; below 0 digests are asked for first.
  static constexpr int kLuckMax = 8;
  int luck_ GALLEY_GUARDED_BY(mutex_) = -1;
  std::map<uint64_t, Ahead> ahead_ GALLEY_GUARDED_BY(mutex_);  // by attempt
  std::vector<std::thread> threads_;
};

}  // namespace galley::worker
