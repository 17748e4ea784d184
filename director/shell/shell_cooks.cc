// DirectorShell's cooks: how one begins, what it is told, how it ends.

#include <future>
#include <utility>

#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "fmt/format.h"

namespace galley::director {

absl::StatusOr<ShellOutcome> DirectorShell::Cook(CookOrder order, ShellListener& listener) {
  const auto seat = std::make_shared<CookSeat>(std::move(order));
  Post(Internal([this, seat] { Begin(seat); }));
  return seat->told.Hear(listener);
}

void DirectorShell::Cancel(uint64_t cook) {
  Post(Internal([this, cook] {
    const auto found = seats_.find(cook);
    if (found != seats_.end() && !found->second->ended) StepCore(CancelRequested{cook});
  }));
}

void DirectorShell::Begin(const std::shared_ptr<CookSeat>& seat) {
  if (seats_.empty()) {
    // The machine may be another one by now: a disk that was full has room again.
    commit_thread_.Post([this] { commit_error_.clear(); });
  }
  GALLEY_CHECK(seats_.emplace(seat->number(), seat).second);
  last_cook_ = seat->number();
  is_forced_ = seat->order.request.force;
  look_ups_.RetryFailed(seat->order.retry_failed);
  limit_answers_.RetryFailed(seat->order.retry_failed);
  if (seat->order.retry_failed) {
    results_.ForgetVerdicts();
    kept_limits_.NoneIsNew();
  }
  StepCore(seat->order.request);
  fence_checked_ = absl::InfinitePast();  // what was seen between two cooks ended none
  CheckFence();
}

// The cook that the core is at; null: none. (The core takes one after another.)
CookSeat* DirectorShell::Running() {
  for (const auto& [number, seat] : seats_) {
    if (!seat->ended) return seat.get();
  }
  return nullptr;
}

CookSeat* DirectorShell::SeatOf(uint64_t cook) {
  const auto found = seats_.find(cook);
  return found == seats_.end() ? nullptr : found->second.get();
}

void DirectorShell::TellAll(const ToldInOrder::Tell& tell) {
  for (const auto& [number, seat] : seats_) seat->told.Add(tell);
}

void DirectorShell::TellProgress() {
  for (const auto& [number, seat] : seats_) {
    if (!seat->ended) seat->told.SetProgress(core_->counters(), core_->progress());
  }
}

void DirectorShell::Do(const Notify& effect) {
  CookSeat* const seat = Running();
  if (seat == nullptr) return;
  if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
    PackageFailed told = *failed;
    if (failed->cause == FailureCause::kLimit) told.error += KeepLimit(*failed);
    if (failed->package.valid()) NoteFailure(*seat, told);
    seat->told.Add([package = failed->package.valid() ? core_->NameOf(failed->package) : "",
                    platform = failed->platform ? PlatformName(*failed->platform) : "",
                    told](ShellListener& one) { one.OnFailed(package, platform, told); });
    if (failed->verdict.valid()) LookAtResult(*seat, results_.Get(failed->verdict));
  } else if (const auto* warned = std::get_if<PackageWarned>(&effect.notice)) {
    seat->told.Add(
        [package = core_->NameOf(warned->package),
         platform = warned->platform ? PlatformName(*warned->platform) : "",
         text = warned->text](ShellListener& one) { one.OnWarning(package, platform, text); });
  } else if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
    if (StoredResultPtr stored = results_.Get(done->result)) {
      seat->failures.Done({stored->package, stored->platform_name}, stored->has_failed_before);
      LookAtResult(*seat, stored);
      seat->told.Add([stored = std::move(stored), source = done->source](ShellListener& one) {
        one.OnDone(*stored, source);
      });
    }
  } else if (const auto* blamed = std::get_if<PackageBlamed>(&effect.notice)) {
    notes_.NoteBlame(core_->NameOf(blamed->package), *blamed);
  } else if (std::holds_alternative<CookBegan>(effect.notice)) {
    seat->has_begun = true;
  } else if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
    if (const auto found = seats_.find(ended->request); found != seats_.end())
      End(found->second, *ended);
  }
}

// A cook that refuses a result ends. (The loop hears that before it hears of roots that are built.)
void DirectorShell::LookAtResult(CookSeat& seat, const StoredResultPtr& result) {
  if (!seat.order.refuses || !seat.refusal.empty() || result == nullptr) return;
  seat.refusal = seat.order.refuses(*result);
  if (seat.refusal.empty()) return;
  Post(Internal([this, number = seat.number()] {
    const CookSeat* const found = SeatOf(number);
    if (found != nullptr && !found->ended) StepCore(CancelRequested{number});
  }));
}

// The cook is over when its last group is committed, which may still fail.
void DirectorShell::End(const std::shared_ptr<CookSeat>& seat, const CookEnded& ended) {
  if (seat->has_begun) {
    seat->counters = core_->counters(seat->number());
    seat->told.SetProgress(seat->counters, core_->progress(seat->number()));
  }
  CommitPending();
  seat->ended = ended;
  commit_thread_.Post([this, seat] { OnLoop([this, seat] { Finish(seat); }); });
}

// Commit thread: has the loop run `task`, and waits, so that nothing else is written meanwhile.
void DirectorShell::OnLoop(Internal task) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ran = done->get_future();
  Post(Internal([task = std::move(task), done = std::move(done)] {
    task();
    done->set_value();
  }));
  ran.wait();  // (it ends, too, when the message is dropped)
}

void DirectorShell::Finish(const std::shared_ptr<CookSeat>& seat) {
  ShellOutcome outcome{.ended = *seat->ended,
                       .counters = seat->counters,
                       .roots = seat->roots,
                       .bytes_stored = seat->bytes_stored,
                       .bytes_deduplicated = seat->bytes_deduplicated,
                       .lost_blobs = seat->lost_blobs.size(),
                       .lost_packages = seat->lost_packages.size(),
                       .collections = SumOfCollections(),
                       .world = world_.Get(),
                       .refusal = seat->refusal};
  outcome.remembered = RecordInstigators(*seat);
  seats_.erase(seat->number());
  seat->told.End(std::move(outcome));
}

}  // namespace galley::director
