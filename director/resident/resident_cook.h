// ResidentCook: one cook of a ResidentDirector, from the request until its report is in the
// archive.
//
// Threads: methods from any. The cook runs on a thread of its own, or on its host's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "director/host/cook_admission.h"
#include "director/host/director.h"
#include "director/host/director_meter.h"
#include "director/host/environment_difference.h"
#include "director/host/standing_cook.h"
#include "director/resident/cook_archive.h"
#include "director/resident/cook_log.h"
#include "director/resident/cook_wire.h"
#include "director/resident/last_cooks.h"
#include "director/resident/project_reader.h"
#include "director/shell/cook_event.h"
#include "director/shell/trace.h"
#include "director/standing/watched_tables.h"

namespace galley::director {

class ResidentCook final : public CookEventSink {
 public:
  struct Deps {
    Director& director;
    CookAdmission& admission;
    DirectorMeter& meter;
    ProjectReader& project;
    const CookArchive& archive;
    LastCooks& last;
    Trace& trace;                      // trace of the admission
    WatchedTables* watched = nullptr;  // null: all files are looked at
    // ResidentDirector::Options::write_files.
    const std::function<void(uint64_t cook, const v1::CookAsk& ask)>& write_files;
    // Called with each result of the cook, on its thread. Null: nobody wants to know.
    std::function<void(const StoredResultPtr& result)> note_result = nullptr;
  };
  // Host: the command that hosts the director for its own cook. `sink` and `stop` outlive the cook.
  struct Host {
    CookEventSink& sink;                         // takes the events of the cook
    Cancellation& stop;                          // lets a person end the cook
    std::string what;                            // describes the ask, for the status
    std::optional<CheckedSources> checked = {};  // sources that the host has just checked
  };
  // Starts the cook on a thread of its own. Everything in `deps` outlives the cook.
  ResidentCook(const Deps& deps, v1::CookAsk ask, uint64_t number, std::shared_ptr<CookLog> log);
  // Makes the cook of `host`, for RunHosted. The cook gets its number when it has its permit.
  ResidentCook(const Deps& deps, v1::CookAsk ask, Host host);
  // Cancels the cook, and waits for its end.
  ~ResidentCook() override;

  // Runs the cook on this thread, and then ends the workers and closes the director. Called once.
  // REQUIRES: a host.
  CookReport RunHosted();
  // Cancels the cook, because a person asked for that.
  void Cancel();
  // Cancels the cook, because the director ends. Unless the cook is done, its report says `why`,
  // with exit code 3, and the ask of a detached cook stays in the archive.
  void Stop(const std::string& why);
  // Tells readers at once the report of a stopped cook, because the process is about to end and
  // leaves its jobs to the next director. The cook's thread goes on.
  void Abandon(const std::string& why);

  uint64_t number() const { return number_; }
  const std::shared_ptr<CookLog>& log() const { return log_; }  // null: the cook has a host
  bool has_ended() const { return state_ == State::kEnded; }
  v1::StatusAnswer::Cook View() const;
  DirectorMeter::CookUnderWay UnderWay() const {
    return {.urgency_class = class_, .is_waiting = state_ == State::kWaiting};
  }

 private:
  enum class State : uint8_t { kWaiting, kScanning, kCooking, kEnded };

  void TakeEvent(const CookEvent& event) override;  // on the thread that runs the cook
  void TakeProgress(CookEvent::Progressed progressed);
  void Run();
  CookReport CookAndSettle();
  // Taken: the ask, resolved with the present project file.
  struct Taken {
    DifferingVariables differing;
    CookAdmission::Needs needs;
  };
  absl::StatusOr<Taken> TakeAsk();
  // Waits for a permit. Resolves the ask again if the cook had to wait.
  absl::StatusOr<std::unique_ptr<CookPermit>> Enter(Taken& taken);
  std::optional<CookReport> AskStanding(const Taken& taken);
  CookReport Cook();
  void TellBegun();
  void NoteAmongLast(const CookReport& report);
  bool TellEnd(const CookReport& report);
  bool IsLeft(const CookReport& report);
  absl::Status Stopped();
  void NoteEnd(const CookReport& report);

  const Deps deps_;
  const DifferingVariables differing_;  // variables that the client and the director differ in
  const v1::CookAsk ask_;               // without the client's environment
  const CookClass class_;
  const std::string what_;  // describes the ask, for people
  std::atomic<uint64_t> number_;
  const std::shared_ptr<CookLog> log_;
  std::optional<Host> host_;  // nullopt: the director is resident
  const absl::Time started_;
  bool by_the_book_ = false;  // set by the cook's thread once the ask is resolved
  Cancellation stop_;
  std::atomic<State> state_ = State::kWaiting;
  std::atomic<bool> is_cancelled_ = false;  // by a person
  mutable base::Mutex mutex_;
  v1::CookProgress progress_ GALLEY_GUARDED_BY(mutex_);
  bool has_told_end_ GALLEY_GUARDED_BY(mutex_) = false;
  std::string stopped_ GALLEY_GUARDED_BY(mutex_);  // why the director ends; empty: it does not
  std::thread thread_;
};

}  // namespace galley::director
