// DirectorMeter: collects a director's figures for metrics: the counts of its shells, its workers,
// the cooks that ended, its stores, its process.
//
// Neither Read nor NoteEnd waits for a disk: figures from files and from the index of the store are
// read on another thread, and are in the next Read.
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/store/interface/store_admin.h"
#include "director/host/cook_admission.h"
#include "director/host/cook_class.h"
#include "director/host/director.h"
#include "director/host/last_success.h"
#include "director/metrics/figures.h"
#include "director/shell/figures_board.h"
#include "director/shell/task_thread.h"

namespace galley::director {

class DirectorMeter {
 public:
  struct Deps {
    Director& director;
    const CookAdmission& admission;
    const FiguresBoard& board;
    std::string version;  // of this build
  };
  // Everything in `deps` outlives the meter.
  explicit DirectorMeter(Deps deps);

  struct EndedCook {
    CookClass urgency_class = CookClass::kNightly;
    bool by_the_book = false;
    int exit_code = 0;
    std::vector<std::string> platforms;  // platforms with a root of the cook, new or unchanged
    absl::Duration took;
  };
  void NoteEnd(const EndedCook& cook);

  struct CookUnderWay {
    CookClass urgency_class = CookClass::kNightly;
    bool is_waiting = false;
  };
  metrics::Figures Read(const std::vector<CookUnderWay>& cooks);

 private:
  struct Looked {  // figures that take time to read
    std::optional<store::StoreStats> stats;
    std::optional<uint64_t> loss_epoch;
    std::optional<absl::Time> certificate_end;
  };
  void Post(std::function<void()> task);
  void LookSoon();
  void Look();
  void ReadCooks(const std::vector<CookUnderWay>& cooks, const CoreFigures& core,
                 metrics::Figures& out);
  void ReadFarm(const CoreFigures& core, metrics::Figures& out) const;
  metrics::Store ReadStore() const;
  metrics::Process ReadProcess() const;

  const Deps deps_;
  const absl::Time started_;
  LastSuccess successes_;
  std::atomic<bool> is_looking_ = false;

  mutable base::Mutex mutex_;
  std::map<std::pair<CookClass, int>, uint64_t> ended_ GALLEY_GUARDED_BY(mutex_);
  std::map<CookClass, absl::Duration> took_ GALLEY_GUARDED_BY(mutex_);  // of the last cook
  Looked looked_ GALLEY_GUARDED_BY(mutex_);
  absl::Time looked_at_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();

  // The thread for files; made on first use. Last, so that it ends before the members that it uses.
  std::optional<TaskThread> files_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
