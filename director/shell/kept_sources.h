// KeptSources: puts sources into the store ([store] keep_sources), and what leads from the action
// key of a result to its sources (record/kept_action.h).
//
//   KeepSoon      a file whose digest somebody asked for; a thread of KeptSources puts it
//   KeepRecords   results that are about to be committed: their Actions, and the inputs that the
//                 store lacks; blocks
//   KeepFiles     a portion of the project's files; blocks
//
// A file is read again, and its bytes are put only under the digest that is known of it: a file
// that has changed meanwhile is left alone. Blobs that the store has are not put. A failure fails
// nobody: TakeTrouble tells how many files are not kept, and why.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/record/action.h"
#include "common/store/interface/store.h"
#include "director/shell/result_table.h"
#include "director/shell/world.h"

namespace galley::director {

class KeptSources {
 public:
  struct Options {
    std::vector<std::string> trust_domains;  // of results; our own first
    // Files that wait for the thread. Further ones are kept with the record that names them, or
    // when the director is idle.
    size_t waiting_max = 10'000;
  };
  // `store` outlives KeptSources.
  KeptSources(store::Store& store, Options options);
  // Calls End, and waits for the thread.
  ~KeptSources();

  // `digest`: of the file in the world. Cheap for a file that is kept already, or waits.
  void KeepSoon(WorldPtr world, std::string_view path, const Digest& digest);
  // Waits until no file waits any more, or `stop` is cancelled.
  void AwaitIdle(const Cancellation& stop);

  // Drops the files that wait, and has the file that is being put end soon. Later files are
  // dropped. Does not wait.
  void End();

  // Called before the results are committed, which makes durable what is put. Verdicts are left
  // out.
  void KeepRecords(const World& world, std::span<const StoredResultPtr> results);

  // Kept: files, and the sum of their sizes.
  struct Kept {
    uint64_t files = 0, bytes = 0;
  };
  // Puts the files of the world that the store lacks, hashing those without a digest. Returns how
  // many of them the store has now; fewer once `stop` is cancelled.
  Kept KeepFiles(const World& world, std::span<const std::string> paths, const Cancellation& stop);

  // Trouble: files that could not be put.
  struct Trouble {
    uint64_t files = 0;
    std::string reason;  // of the first one
  };
  // Returns the trouble since the last call; nullopt: there was none.
  std::optional<Trouble> TakeTrouble();

 private:
  // Wanted: a file to be put. Either `path` or `host_path` is set.
  struct Wanted {
    std::string path;       // virtual
    std::string host_path;  // of a tool outside the mounts
    Digest digest;
  };
  struct Waiting {
    WorldPtr world;
    Wanted file;
  };
  // ToPut: bytes that are put with one call.
  struct ToPut {
    std::vector<std::string> bytes;
    std::vector<Digest> digests;
    uint64_t size_bytes = 0;
  };

  void Run();
  std::vector<Waiting> TakeWaiting() GALLEY_REQUIRES(mutex_);
  void KeepWaiting(std::vector<Waiting> waiting);
  // Which digests the store is asked for. It keeps what it told the session of, and a resident
  // director lets go of that when it was idle long: inputs of a record are asked for anew, so that
  // a collection that runs meanwhile does not drop them.
  enum class Ask { kForAll, kForUnknown };
  // Returns those of the digests that the store lacks; all of them when it cannot say.
  absl::flat_hash_set<Digest> Missing(const std::vector<Digest>& digests, Ask ask);
  // False: the store did not take a blob.
  bool PutFiles(const World& world, const std::vector<Wanted>& files, Ask ask,
                const Cancellation& stop);
  absl::Status PutFile(const World& world, const Wanted& file, const Cancellation& stop,
                       ToPut& small);
  static absl::StatusOr<std::string> ReadSmall(const World& world, const Wanted& file);
  absl::Status PutLarge(const World& world, const Wanted& file, const Cancellation& stop);
  absl::Status PutSmall(ToPut& small);
  absl::StatusOr<record::Action> ActionOf(const StoredResult& stored) const;
  static std::vector<Wanted> InputsOf(const World& world, const StoredResult& stored);
  void NoteTrouble(uint64_t files, const absl::Status& why);
  void NoteKept(const Digest& digest);
  void ForgetIfLost();

  store::Store& store_;
  const Options options_;
  Cancellation stop_;

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Waiting> waiting_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> waiting_digests_ GALLEY_GUARDED_BY(mutex_);  // as in known_
  bool is_busy_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  // Blobs that the store has, by eight bytes of their hashes, while it loses none.
  absl::flat_hash_set<uint64_t> known_ GALLEY_GUARDED_BY(mutex_);
  std::pair<std::string, uint64_t> known_in_ GALLEY_GUARDED_BY(mutex_);  // store's id, loss epoch
  std::optional<Trouble> trouble_ GALLEY_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace galley::director
