// AttachedWorkers: maps names of workers to ids of the core, and keeps the shell's state of each
// attached worker.
//
// "local-3" is a worker that the core asked for on this machine, and has the id 2; "slurm-3" is a
// worker that the core asked for on the farm. Any other name belongs to a worker that no launcher
// started. Its id is kForeignWorkers or higher, and stays the same while this object lives.
//
// A launcher may tell late, or never, that a worker of another machine ended. Workers send a
// message each second, so a worker that is not local and was silent for some time is lost, even if
// its connection is open. If more than half of many workers are silent at once, the director is
// probably too busy to hear them, for example because all attach again. Then it waits longer:
// workers whose connections are cut would only attach once more.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/core/ids.h"

namespace galley::director {

// LauncherOf a worker that no launcher started.
inline constexpr const char* kByHand = "hand";

class AttachedWorkers {
 public:
  static constexpr size_t kForeignMax = 65'536;  // names in a director's life
  // `launcher`: the kind of the farm's launcher, as in the names of its workers; empty: there is no
  // farm.
  explicit AttachedWorkers(const std::string& launcher = "")
      : launcher_(launcher), launched_(launcher.empty() ? "" : launcher + "-") {}

  // Says whether the name is reserved for the launcher of this machine.
  static bool IsLocal(std::string_view name);
  // Says whether the name is reserved for one of our launchers.
  bool IsOurs(std::string_view name) const;
  // Returns for people what started the worker: "local", the farm's launcher, or kByHand.
  std::string LauncherOf(std::string_view name) const;

  // False: the name is new, and kForeignMax names are taken.
  bool MayTake(std::string_view name) const;
  // REQUIRES: MayTake, or the name is ours.
  WorkerId IdOf(std::string_view name);
  // REQUIRES: IdOf returned the id, or the core asked for the worker.
  std::string NameOf(WorkerId worker) const;

  // Adds the worker. `segment`: the segment to which the worker writes; nullopt: the worker reads
  // and writes no files of this machine.
  void Attach(const std::string& name, std::optional<uint64_t> segment, absl::Time now);
  // Notes that the worker got another segment to write to.
  void SetSegment(const std::string& name, uint64_t segment);
  std::optional<uint64_t> SegmentOf(std::string_view name) const;
  bool HasFiles(std::string_view name) const;
  // Notes why programs of the worker can change the project (v1::Hello). Empty: they cannot.
  void SetWallsMissing(const std::string& name, const std::string& why);
  // Empty: programs cannot change the project, or the worker is not attached.
  std::string WallsMissingOf(std::string_view name) const;
  std::vector<std::string> Names() const;
  // Notes that the worker sent a message.
  void Heard(std::string_view name, absl::Time now);
  void Remove(std::string_view name);
  // Removes and returns the workers that are not local and were silent since `since`. When more
  // than half of these workers, and at least kManySilent, were silent: returns the workers that
  // were silent since `long_since` instead.
  static constexpr size_t kManySilent = 8;
  std::vector<std::string> RemoveSilentSince(absl::Time since, absl::Time long_since);

 private:
  struct Attached {
    std::optional<uint64_t> segment;
    absl::Time heard;
    std::string walls_missing;
  };

  const std::string launcher_;  // "slurm"; empty: there is no farm
  const std::string launched_;  // "slurm-"; empty: there is no farm
  mutable base::Mutex mutex_;
  std::map<std::string, Attached, std::less<>> attached_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, WorkerId, std::less<>> foreign_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> foreign_names_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
