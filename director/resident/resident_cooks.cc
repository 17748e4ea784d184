#include "director/resident/resident_cooks.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/resident/asked_environment.h"

namespace galley::director {
namespace {

// Time for readers to hear the reports of cooks that the director's end cancelled.
constexpr absl::Duration kFarewell = absl::Seconds(2);
// Ended cooks whose readers may still come.
constexpr size_t kEndedKept = 4;

}  // namespace

ResidentCooks::ResidentCooks(Deps deps)
    : deps_(std::move(deps)),
      archive_(deps_.director.project().state_directory()),
      last_(deps_.director.project().state_directory()) {}

void ResidentCooks::Open(ResidentDoors& doors) {
  doors_ = &doors;
  base::MutexLock lock(mutex_);
  is_open_ = true;
}

void ResidentCooks::GoOn() {
  base::MutexLock lock(mutex_);
  for (auto& [number, ask] : archive_.Kept()) {
    LogInfo("cook={} goes on: the director before left it", number);
    taken_up_.push_back(number);
    Add(ask, number, archive_.BeginAgain(number));
  }
}

ResidentCook::Deps ResidentCooks::DepsOfOne() {
  return {.director = deps_.director,
          .admission = doors_->admission,
          .meter = doors_->meter,
          .project = deps_.project,
          .archive = archive_,
          .last = last_,
          .trace = deps_.trace,
          .watched = deps_.watched,
          .write_files = deps_.write_files,
          .note_result = deps_.note_result};
}

void ResidentCooks::Add(const v1::CookAsk& ask, uint64_t number, std::shared_ptr<CookLog> log) {
  cooks_[number] = std::make_unique<ResidentCook>(DepsOfOne(), ask, number, std::move(log));
}

absl::StatusOr<uint64_t> ResidentCooks::Begin(const v1::CookAsk& ask) {
  base::MutexLock lock(mutex_);
  if (!is_open_) return absl::UnavailableError("the director is about to end");
  LetGoOfEnded();
  if (cooks_.size() >= kCooksMax) {
    return ResourceExhaustedError("{} cooks run and wait; the director takes no more", kCooksMax);
  }
  CookArchive::Begun begun = archive_.Begin(deps_.director.term());
  if (ask.is_detached()) {
    v1::CookAsk sealed = ask;
    SealEnvironment(sealed);
    if (const absl::Status kept = archive_.Keep(begun.number, sealed); !kept.ok()) {
      return ResourceExhaustedError("--detach: what is asked cannot be kept: {}", MessageOf(kept));
    }
  }
  Add(ask, begun.number, std::move(begun.log));
  return begun.number;
}

CookReport ResidentCooks::RunHosted(const v1::CookAsk& ask, ResidentCook::Host host) {
  auto hosted = std::make_unique<ResidentCook>(DepsOfOne(), ask, std::move(host));
  ResidentCook& cook = *hosted;
  {
    base::MutexLock lock(mutex_);
    cooks_[cook.number()] = std::move(hosted);
  }
  return cook.RunHosted();
}

void ResidentCooks::LetGoOfEnded() {
  auto ended =
      std::ranges::count_if(cooks_, [](const auto& one) { return one.second->has_ended(); });
  for (auto at = cooks_.begin(); at != cooks_.end();) {
    if (at->second->has_ended() && static_cast<size_t>(ended) > kEndedKept) {
      at = cooks_.erase(at);
      --ended;
      ++ended_;
    } else {
      ++at;
    }
  }
}

absl::StatusOr<std::unique_ptr<CookReader>> ResidentCooks::Read(uint64_t cook) {
  {
    base::MutexLock lock(mutex_);
    const auto found = cooks_.find(cook);
    if (found != cooks_.end()) return CookLog::Read(found->second->log());
  }
  ASSIGN_OR_RETURN(std::shared_ptr<CookLog> log, archive_.Find(cook));
  return CookLog::Read(std::move(log));
}

absl::Status ResidentCooks::Cancel(uint64_t cook) {
  base::MutexLock lock(mutex_);
  const auto found = cooks_.find(cook);
  if (found == cooks_.end() || found->second->has_ended())
    return NotFoundError("no cook {} runs or waits", cook);
  LogInfo("cook={} is cancelled", cook);
  found->second->Cancel();
  return absl::OkStatus();
}

bool ResidentCooks::is_open() const {
  base::MutexLock lock(mutex_);
  return is_open_;
}

bool ResidentCooks::IsAnyCooking() const {
  base::MutexLock lock(mutex_);
  return std::ranges::any_of(cooks_, [](const auto& one) { return !one.second->has_ended(); });
}

void ResidentCooks::View(v1::StatusAnswer& answer) const {
  {
    base::MutexLock lock(mutex_);
    answer.set_cooks_ended(ended_);
    for (const auto& [number, cook] : cooks_) {
      if (cook->has_ended()) {
        answer.set_cooks_ended(answer.cooks_ended() + 1);
      } else {
        *answer.add_cooks() = cook->View();
      }
    }
  }
  // Afterwards: a cook that ends meanwhile is in both rather than in neither.
  for (const v1::EndedCook& cook : last_.All()) *answer.add_last_cooks() = cook;
}

std::vector<DirectorMeter::CookUnderWay> ResidentCooks::UnderWay() const {
  std::vector<DirectorMeter::CookUnderWay> cooks;
  base::MutexLock lock(mutex_);
  for (const auto& [number, cook] : cooks_) {
    if (!cook->has_ended()) cooks.push_back(cook->UnderWay());
  }
  return cooks;
}

bool ResidentCooks::Leave(const std::string& why) {
  std::vector<std::shared_ptr<CookLog>> logs;
  {
    base::MutexLock lock(mutex_);
    is_open_ = false;
    for (const auto& [number, cook] : cooks_) {
      if (cook->has_ended()) continue;
      LogInfo("cook={} is left to the next director", number);
      cook->Abandon(why);
      logs.push_back(cook->log());
    }
  }
  if (logs.empty()) return false;
  AwaitReaders(logs);
  return true;
}

void ResidentCooks::End(const std::string& why) {
  std::map<uint64_t, std::unique_ptr<ResidentCook>> cooks;
  {
    base::MutexLock lock(mutex_);
    is_open_ = false;
    cooks.swap(cooks_);
  }
  for (const auto& [number, cook] : cooks) cook->Stop(why);
  std::vector<std::shared_ptr<CookLog>> logs;
  for (auto& [number, cook] : cooks) {
    if (cook->log() != nullptr) logs.push_back(cook->log());
    cook.reset();  // waits
  }
  AwaitReaders(logs);
}

// A slow reader may miss the end.
void ResidentCooks::AwaitReaders(const std::vector<std::shared_ptr<CookLog>>& logs) {
  const absl::Time until = absl::Now() + kFarewell;
  for (const auto& log : logs) {
    while (log->readers() > 0 && absl::Now() < until) absl::SleepFor(absl::Milliseconds(10));
  }
}

}  // namespace galley::director
