// ResidentCook: one cook of a Residence, from when it was asked for until its report is on the
// shelf.
//
// Threads: one of its own, which runs it; methods from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "director/host/director.h"
#include "director/host/environment_difference.h"
#include "director/host/kitchen.h"
#include "director/resident/cook_log.h"
#include "director/resident/cook_wire.h"
#include "director/resident/event_wire.h"
#include "director/resident/project_reader.h"
#include "director/shell/trace.h"

namespace galley::director {

class ResidentCook {
 public:
  struct Deps {
    Director& director;
    Kitchen& kitchen;
    ProjectReader& project;
    Trace& trace;  // of the kitchen
  };
  // Begins. All of `deps` outlives it.
  ResidentCook(const Deps& deps, v1::CookAsk ask, uint64_t number, std::shared_ptr<CookLog> log);
  // Cancels, and waits.
  ~ResidentCook();

  uint64_t number() const { return number_; }
  const std::shared_ptr<CookLog>& log() const { return log_; }
  bool has_ended() const { return state_ == State::kEnded; }
  void Cancel() { stop_.Cancel(); }
  v1::StatusAnswer::Cook View() const;

 private:
  enum class State : uint8_t { kWaiting, kScanning, kCooking, kEnded };

  void Run();
  CookReport Cook(Kitchen::Place& place);
  absl::StatusOr<CookAsk> TakeAsk();
  void TellBegun();
  CookReport Ended(const absl::Status& why) const;

  const Deps deps_;
  const DifferingVariables differing_;  // from the director's environment
  const v1::CookAsk ask_;               // without the client's
  const CookClass class_;
  const uint64_t number_;
  const std::shared_ptr<CookLog> log_;
  const absl::Time started_;
  EventSource listener_;
  Cancellation stop_;
  std::atomic<State> state_ = State::kWaiting;
  std::thread thread_;
};

}  // namespace galley::director
