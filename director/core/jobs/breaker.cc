#include "director/core/jobs/breaker.h"

#include <algorithm>

namespace galley::director {

bool Breaker::AddFault(const Fault& fault, absl::Duration awake) {
  if (is_open_) {
    if (awake < paused_until_) return false;  // of a job from before
    pause_ = std::min(2 * pause_, kLongestPause);
    paused_until_ = awake + pause_;
    return false;
  }
  if (faults_++ == 0) {
    worker_ = fault.worker;
    package_ = fault.package;
    are_of_several_workers_ = are_of_several_packages_ = false;
  }
  are_of_several_workers_ |= fault.worker != worker_;
  are_of_several_packages_ |= !fault.package.valid() || fault.package != package_;
  const bool is_of_packages = are_of_several_packages_ || !has_succeeded_;
  const bool is_of_workers = are_of_several_workers_ || fault.is_only;
  if (faults_ < kFaultsMax || !is_of_packages || !is_of_workers) return false;
  return Open(awake);
}

bool Breaker::Open(absl::Duration awake) {
  if (is_open_) return false;
  is_open_ = true;
  pause_ = kFirstPause;
  paused_until_ = awake + pause_;
  return true;
}

bool Breaker::AddSuccess(absl::Duration awake) {
  has_succeeded_ = true;
  faults_ = 0;
  if (!is_open_ || awake < paused_until_) return false;
  is_open_ = false;
  trial_ = 0;
  return true;
}

void Breaker::EndPause(absl::Duration awake) {
  paused_until_ = std::min(paused_until_, awake);
  pause_ = kFirstPause;
}

bool Breaker::NoteGiven(AttemptId attempt) {
  if (!is_open_ || trial_ != 0) return false;
  trial_ = attempt;
  return true;
}

bool Breaker::NoteEnded(AttemptId attempt) {
  if (trial_ != attempt) return false;
  trial_ = 0;
  return true;
}

}  // namespace galley::director
