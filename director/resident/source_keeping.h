// SourceKeeping: puts all files of the present world into the store while nobody cooks ([store]
// keep_sources), in small portions and at low priority.
//
// A pass goes through the files of one world by path; another world begins another pass. A portion
// ends at once when somebody asks for a cook (Interrupt), and is begun again when nobody has cooked
// for a while. What is put is committed every now and then, so that the next commit of a cook has
// little to sync. After a pass the files are pinned as a tree, since no result need name them: the
// pin "sources/<project id>" is renewed at most once an hour, so that edits all day cost little.
// A blob that was put since then is younger than a collection drops.
//
// Threads: any; the work has a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/shell/kept_sources.h"
#include "director/shell/world.h"

namespace galley::director {

// Returns the name of the pin that keeps the files of a project.
std::string SourcesPinOf(const std::string& project_id);

class SourceKeeping {
 public:
  // Everything in Deps outlives SourceKeeping. The functions are called on its thread.
  struct Deps {
    KeptSources& kept;
    store::Store& store;
    std::string project_id;
    std::function<WorldPtr()> world;  // the present one; null: there is none
    std::function<bool()> is_busy;    // a cook runs or waits
  };
  struct Options {
    absl::Duration quiet = absl::Seconds(2);  // how long nobody must have cooked
    absl::Duration pin_interval = absl::Hours(1);
    size_t portion_files = 64;
    uint64_t portion_bytes = 8 << 20;
    uint64_t commit_bytes = 32 << 20;  // of files that were gone through
  };
  // Progress: of the world of the last pass, the files that can be used.
  struct Progress {
    uint64_t files = 0, files_kept = 0;
    uint64_t bytes = 0, bytes_kept = 0;
    bool is_over = false;  // the pass has reached its end
  };

  explicit SourceKeeping(Deps deps) : SourceKeeping(std::move(deps), Options()) {}
  SourceKeeping(Deps deps, Options options);
  // Calls End.
  ~SourceKeeping();

  // Ends the portion that runs.
  void Interrupt();
  // nullopt: no world was seen yet.
  std::optional<Progress> progress() const;
  // Ends the work, and waits for its thread. Once ended, it stays so.
  void End();

 private:
  void Run();
  bool IsQuiet();
  bool DoPortion();
  bool BeginPassIfDue();
  std::vector<std::string> NextPaths(size_t& next) const;
  bool KeepNext(const Cancellation& stop);
  void CommitKept();
  bool EndPass(const Cancellation& stop);
  absl::Status Pin(const Cancellation& stop);
  absl::StatusOr<Digest> PutTree(const Cancellation& stop);
  std::shared_ptr<Cancellation> BeginPortion();

  const Deps deps_;
  const Options options_;
  Cancellation ending_;

  // Thread of the work only.
  WorldPtr world_;                   // of the pass; null: there is no pass
  std::weak_ptr<const World> done_;  // of the last pass that is over
  size_t next_ = 0;                  // file of world_ with which the next portion begins
  uint64_t uncommitted_bytes_ = 0;   // gone through since the last commit
  absl::Time quiet_from_ = absl::InfinitePast();
  absl::Time pinned_ = absl::InfinitePast();

  mutable base::Mutex mutex_;
  std::shared_ptr<Cancellation> portion_ GALLEY_GUARDED_BY(mutex_);  // null: none runs
  std::optional<Progress> progress_ GALLEY_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace galley::director
