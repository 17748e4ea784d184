// ResidentCooks: the cooks of a ResidentDirector: those that run or wait, the logs of those that
// are over, and those that the director before left.
//
// Threads: Open: one, before all other calls; End and Leave: one; others: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "director/host/director.h"
#include "director/resident/cook_archive.h"
#include "director/resident/cook_log.h"
#include "director/resident/last_cooks.h"
#include "director/resident/project_reader.h"
#include "director/resident/resident_cook.h"
#include "director/resident/resident_doors.h"
#include "director/shell/trace.h"
#include "director/standing/watched_tables.h"

namespace galley::director {

class ResidentCooks {
 public:
  static constexpr size_t kCooksMax = 1'000;  // running and waiting cooks

  // Everything in Deps outlives this object.
  struct Deps {
    Director& director;
    ProjectReader& project;
    Trace& trace;
    WatchedTables* watched = nullptr;  // null: all files are looked at
    // ResidentDirector::Options::write_files.
    std::function<void(uint64_t cook, const v1::CookAsk& ask)> write_files;
    // ResidentCook::Deps::note_result.
    std::function<void(const StoredResultPtr& result)> note_result;
  };
  explicit ResidentCooks(Deps deps);

  // Cooks may begin from now on. `doors` outlive them.
  void Open(ResidentDoors& doors);
  // Goes on with the detached cooks that the director before left. Called once, after Open.
  void GoOn();
  // The numbers of the cooks that GoOn went on with. Any thread after GoOn.
  const std::vector<uint64_t>& taken_up() const { return taken_up_; }

  // Begins a cook, and returns its number. UNAVAILABLE: the director is about to end.
  // RESOURCE_EXHAUSTED: too many cooks run and wait, or a detached cook's ask cannot be kept.
  absl::StatusOr<uint64_t> Begin(const v1::CookAsk& ask);
  // Runs the cook of the command that hosts the director, on this thread.
  CookReport RunHosted(const v1::CookAsk& ask, ResidentCook::Host host);
  absl::StatusOr<std::unique_ptr<CookReader>> Read(uint64_t cook);
  // NOT_FOUND: no such cook runs or waits.
  absl::Status Cancel(uint64_t cook);

  // True: from Open until End or Leave.
  bool is_open() const;
  bool IsAnyCooking() const;
  // Fills in the cooks that run and wait, the last ones that are over, and how many are.
  void View(v1::StatusAnswer& answer) const;
  std::vector<DirectorMeter::CookUnderWay> UnderWay() const;

  // Leaves the cooks to the next director; their threads go on until the process ends. Clients are
  // told `why`. False: there was no cook, and End is to be called.
  bool Leave(const std::string& why);
  // Ends all cooks. Clients are told `why`.
  void End(const std::string& why);

 private:
  ResidentCook::Deps DepsOfOne();
  void Add(const v1::CookAsk& ask, uint64_t number, std::shared_ptr<CookLog> log)
      GALLEY_REQUIRES(mutex_);
  void LetGoOfEnded() GALLEY_REQUIRES(mutex_);
  static void AwaitReaders(const std::vector<std::shared_ptr<CookLog>>& logs);

  const Deps deps_;
  CookArchive archive_;
  LastCooks last_;
  ResidentDoors* doors_ = nullptr;  // from Open on
  std::vector<uint64_t> taken_up_;  // changed by GoOn only

  mutable base::Mutex mutex_;
  bool is_open_ GALLEY_GUARDED_BY(mutex_) = false;
  uint64_t ended_ GALLEY_GUARDED_BY(mutex_) = 0;  // that were let go
  std::map<uint64_t, std::unique_ptr<ResidentCook>> cooks_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
