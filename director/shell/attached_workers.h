// AttachedWorkers: workers by their names: the id that each has in the core, and what the shell
// knows of it while it is attached.
//
// "local-3" is one that the core asked for, and has the id 2. Every other name is that of a worker
// which came by itself; it has an id from kForeignWorkers on, for as long as this object lives. No
// launcher tells of its end: it is taken for lost when it has been away for some time.
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/core/ids.h"

namespace galley::director {

class AttachedWorkers {
 public:
  static constexpr size_t kForeignMax = 65'536;  // names in a director's life
  // A name that only the launcher of this machine gives.
  static bool IsLocal(std::string_view name);

  // False: so many names were met that no further one is taken.
  bool MayTake(std::string_view name) const;
  // REQUIRES: MayTake, or it is local.
  WorkerId IdOf(std::string_view name);
  // REQUIRES: IdOf gave it, or the core asked for it.
  std::string NameOf(WorkerId worker) const;

  // `segment`: where it writes; none: it reads and writes no file of this machine.
  void Attach(const std::string& name, std::optional<uint64_t> segment);
  // The worker got another segment to write to.
  void SetSegment(const std::string& name, uint64_t segment);
  std::optional<uint64_t> SegmentOf(std::string_view name) const;
  bool HasFiles(std::string_view name) const;
  std::vector<std::string> Names() const;
  // The worker's stream ended.
  void Detach(std::string_view name, absl::Time now);
  void Remove(std::string_view name);
  // Those that came by themselves and have been away since that time: they are removed, but for
  // those that are back: a stream's end may be told after the beginning of the next one.
  std::vector<std::string> RemoveAwaySince(
      absl::Time since, const std::function<bool(const std::string& name)>& is_back);

 private:
  struct Attached {
    std::optional<uint64_t> segment;
    absl::Time away_since = absl::InfiniteFuture();
  };

  mutable base::Mutex mutex_;
  std::map<std::string, Attached, std::less<>> attached_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, WorkerId, std::less<>> foreign_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::string> foreign_names_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
