// Cook: one request, from when its turn comes until it is published or given up.
//
// A Cook has what is of one request alone, constructed anew for each: its selection, judgement,
// roots and counts. The packages that it wants are in the Graph.
// Threads: none; owned by Cooks.
#pragma once

#include <string>

#include "director/core/cook_core.h"
#include "director/core/judging.h"
#include "director/core/losing.h"
#include "director/core/part.h"
#include "director/core/roots.h"
#include "director/core/selection.h"
#include "director/core/tally.h"

namespace galley::director {

class Cook : Part {
 public:
  enum class Ending : uint8_t { kNone, kInterrupted, kFailFast };

  // Before the first request: a cook of nothing, which is over.
  explicit Cook(Core& core);
  Cook(Core& core, CookRequested request);

  const CookRequested& request() const { return request_; }
  CookRequested& request() { return request_; }
  bool is_over() const { return is_over_; }
  bool is_ending() const { return ending_ != Ending::kNone && !is_over_; }
  // Nothing of it is under way.
  bool IsQuiet() const;
  // Changes reach the cook. Once its roots are being built they do not.
  bool CanStillChange() const { return !is_over_ && !is_ending() && !roots.is_settling(); }
  // Published roots stand: what fails when lost bytes are made again behind them stops nothing.
  bool FailsFast() const { return !is_over_ && request_.fail_fast && !roots.has_published(); }

  // Nothing new begins; what is in hand is cancelled; what is being committed is waited for.
  void Stop(Ending how);
  // At the end of a step: the cook settles when it is quiet, and ends when it is settled.
  void GoOn();
  void End(const std::string& infrastructure_error);
  // CHECKs that the tally is the sum of what the packages add.
  void CheckTally() const;

  Tally tally;
  Selection selection;
  Judging judging;
  Roots roots;
  Losing losing;

 private:
  void CancelAll();

  CookRequested request_;
  bool is_over_ = false;
  Ending ending_ = Ending::kNone;
};

}  // namespace galley::director
