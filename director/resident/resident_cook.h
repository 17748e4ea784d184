// ResidentCook: one cook of a ResidentDirector, from when it was asked for until its report is in
// the archive.
//
// Threads: one of its own, which runs it; methods from any.
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
    Trace& trace;  // of the admission
    WatchedTables& watched;
    // ResidentDirector::Options::write_files.
    const std::function<void(uint64_t cook, const v1::CookAsk& ask)>& write_files;
  };
  // Begins. All of `deps` outlives it.
  ResidentCook(const Deps& deps, v1::CookAsk ask, uint64_t number, std::shared_ptr<CookLog> log);
  // Cancels, and waits.
  ~ResidentCook() override;

  // A person ends it.
  void Cancel();
  // The director ends, and says why: cancels the cook, whose report is then that `why` (exit 3),
  // unless it was done before. What was asked of a detached one stays there.
  void Stop(const std::string& why);
  // The process is about to end, and leaves its jobs to the next director: tells at once what Stop
  // tells in the end. The thread goes on.
  void Abandon(const std::string& why);

  uint64_t number() const { return number_; }
  const std::shared_ptr<CookLog>& log() const { return log_; }
  bool has_ended() const { return state_ == State::kEnded; }
  v1::StatusAnswer::Cook View() const;
  DirectorMeter::CookUnderWay UnderWay() const {
    return {.urgency_class = class_, .is_waiting = state_ == State::kWaiting};
  }

 private:
  enum class State : uint8_t { kWaiting, kScanning, kCooking, kEnded };

  void TakeEvent(const CookEvent& event) override;  // the cook's own thread
  void Run();
  // An ask as the director understands it, with the project file as it is at that moment.
  struct Taken {
    DifferingVariables differing;
    CookAdmission::Needs needs;
  };
  absl::StatusOr<Taken> TakeAsk();
  // A permit for it; the project file may be another by then.
  absl::StatusOr<std::unique_ptr<CookPermit>> Enter(Taken& taken);
  std::optional<CookReport> AskWhatStands(const Taken& taken);
  CookReport Cook();
  void TellBegun();
  void NoteAmongLast(const ReportOnWire& report);
  bool TellEnd(ReportOnWire report, std::string trace);
  bool IsLeft(const CookReport& report);
  absl::Status Stopped();
  void NoteEnd(const CookReport& report);

  const Deps deps_;
  const DifferingVariables differing_;  // from the director's environment
  const v1::CookAsk ask_;               // without the client's
  const CookClass class_;
  const uint64_t number_;
  const std::shared_ptr<CookLog> log_;
  const absl::Time started_;
  bool by_the_book_ = false;  // the cook's thread, once the ask was understood
  Cancellation stop_;
  std::atomic<State> state_ = State::kWaiting;
  std::atomic<bool> is_cancelled_ = false;  // by a person
  base::Mutex mutex_;
  bool has_told_end_ GALLEY_GUARDED_BY(mutex_) = false;
  std::string stopped_ GALLEY_GUARDED_BY(mutex_);  // why; empty: it was not
  std::thread thread_;
};

}  // namespace galley::director
