// AttachedWorkers: workers by their names: the id that each has in the core, and what the shell
// knows of it while it is attached.
//
// "local-3" is one that the core asked for on this machine, and has the id 2; "slurm-3" is one on
// the farm. Every other name is that of a worker which came by itself; it has an id from
// kForeignWorkers on, for as long as this object lives. No launcher tells soon, or at all, of the
// end of those that are not local: they are taken for lost when nothing was heard of them for some
// time, whatever has become of their connection. (They speak once a second.) When most of many are
// silent at once, it is rather we who do not come to hear them, as when all attach again; or there
// is nobody who could do their work. Then it takes longer: to hang up on them would have them
// attach once more.
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

// The launcher of those that came by themselves, for people.
inline constexpr const char* kByHand = "hand";

class AttachedWorkers {
 public:
  static constexpr size_t kForeignMax = 65'536;  // names in a director's life
  // `launcher`: the kind of the farm's launcher, as in the names of its workers; empty: none.
  explicit AttachedWorkers(const std::string& launcher = "")
      : launcher_(launcher), launched_(launcher.empty() ? "" : launcher + "-") {}

  // A name that only the launcher of this machine gives.
  static bool IsLocal(std::string_view name);
  // A name that only a launcher of ours gives.
  bool IsOurs(std::string_view name) const;
  // What started the worker, for people: "local", the farm's launcher, or kByHand.
  std::string LauncherOf(std::string_view name) const;

  // False: so many names were met that no further one is taken.
  bool MayTake(std::string_view name) const;
  // REQUIRES: MayTake, or it is ours.
  WorkerId IdOf(std::string_view name);
  // REQUIRES: IdOf gave it, or the core asked for it.
  std::string NameOf(WorkerId worker) const;

  // `segment`: where it writes; none: it reads and writes no file of this machine.
  void Attach(const std::string& name, std::optional<uint64_t> segment, absl::Time now);
  // The worker got another segment to write to.
  void SetSegment(const std::string& name, uint64_t segment);
  std::optional<uint64_t> SegmentOf(std::string_view name) const;
  bool HasFiles(std::string_view name) const;
  // Why its programs can change the project (v1::Hello); empty: they cannot, or it is not attached.
  void SetWallsMissing(const std::string& name, const std::string& why);
  std::string WallsMissingOf(std::string_view name) const;
  std::vector<std::string> Names() const;
  // It said something.
  void Heard(std::string_view name, absl::Time now);
  void Remove(std::string_view name);
  // Removes and returns those that are not local and of which nothing was heard after `since`; or
  // after `long_since`, if the former are more than half of them, and kManySilent at least.
  static constexpr size_t kManySilent = 8;
  std::vector<std::string> RemoveSilentSince(absl::Time since, absl::Time long_since);

 private:
  struct Attached {
    std::optional<uint64_t> segment;
    absl::Time heard;
    std::string walls_missing;
  };

  const std::string launcher_;  // "slurm"; empty: there is none
  const std::string launched_;  // "slurm-"; likewise
  mutable base::Mutex mutex_;
  std::map<std::string, Attached, std::less<>> attached_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, WorkerId, std::less<>> foreign_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> foreign_names_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
