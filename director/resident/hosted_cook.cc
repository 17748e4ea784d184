#include "director/resident/hosted_cook.h"

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "director/resident/status_view.h"

namespace galley::director {

HostedCook::HostedCook(Options options)
    : director_(options.director),
      build_(std::move(options.build)),
      started_(absl::Now()),
      project_(std::move(options.load), director_.setup()->project),
      last_(director_.project().state_directory()),
      cook_(std::move(options.cook)) {
  cook_.set_state("scanning");
  cook_.set_started_us(absl::ToUnixMicros(started_));
}

void HostedCook::Enter(const CookAdmission* admission) {
  base::MutexLock lock(mutex_);
  admission_ = admission;
}

void HostedCook::SetNumber(uint64_t cook) {
  base::MutexLock lock(mutex_);
  cook_.set_cook(cook);
}

void HostedCook::SetCooking() {
  base::MutexLock lock(mutex_);
  cook_.set_state("cooking");
}

void HostedCook::SetProgress(v1::CookProgress progress) {
  base::MutexLock lock(mutex_);
  *cook_.mutable_progress() = std::move(progress);
}

void HostedCook::SetEnd(const CookReport& report) {
  v1::EndedCook ended;
  {
    base::MutexLock lock(mutex_);
    has_ended_ = true;
    ended.set_cook(cook_.cook());
    ended.set_urgency_class(cook_.urgency_class());
    ended.set_what(cook_.what());
    ended.set_asked_by(cook_.asked_by());
    ended.set_started_us(cook_.started_us());
  }
  director::SetEnd(report, absl::Now() - started_, ended);
  last_.Add(ended);
}

absl::StatusOr<v1::StatusAnswer> HostedCook::Status(const v1::StatusAsk& ask) {
  v1::StatusAnswer answer;
  answer.set_is_hosted(true);
  ViewProcess(director_, build_, started_, answer);
  std::shared_ptr<DirectorShell> shell;
  {
    base::MutexLock lock(mutex_);
    if (!has_ended_) *answer.add_cooks() = cook_;
    answer.set_cooks_ended(has_ended_ ? 1 : 0);
    if (admission_ != nullptr) shell = admission_->shell();
  }
  if (shell != nullptr) ViewWorkers(*shell, ask, answer);
  ViewStore(director_, 0, answer);
  project_.Renew();
  for (const std::string& note : project_.notes()) answer.add_wrong(note);
  for (const v1::EndedCook& cook : last_.All()) *answer.add_last_cooks() = cook;
  return answer;
}

}  // namespace galley::director
