#include "worker/session/certificate_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/certificates.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

constexpr std::chrono::seconds kLookEach(1);
constexpr absl::Duration kRetryMin = absl::Seconds(1);
constexpr absl::Duration kRetryMax = absl::Minutes(10);
constexpr int kRetriesOfTheRest = 16;  // attempts, each after such a part of the remaining time

bool IsRefusedForGood(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsPermissionDenied(status) ||
         absl::IsUnimplemented(status);
}

}  // namespace

CertificateKeeper::CertificateKeeper(wire::ClientTls present, Deps deps)
    : deps_(std::move(deps)), present_(std::move(present)) {
  Plan();
}

CertificateKeeper::~CertificateKeeper() {
  {
    const base::MutexLock lock(mutex_);
    is_over_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void CertificateKeeper::Plan() {
  const absl::StatusOr<absl::Time> end =
      CheckCertificates({.file = "the director's certificate", .text = present_.certificate});
  end_ = end.value_or(absl::InfiniteFuture());
  const absl::Time now = deps_.clock->Now();
  next_ = end_ == absl::InfiniteFuture() ? end_ : now + (end_ - now) * 2 / 3;
}

void CertificateKeeper::Start() {
  thread_ = std::thread([this] {
    while (!Pause()) Look();
  });
}

// Waits for the next look. True: the keeper ends.
bool CertificateKeeper::Pause() {
  const base::MutexLock lock(mutex_);
  if (!is_over_) changed_.WaitFor(mutex_, kLookEach);
  return is_over_;
}

void CertificateKeeper::Look() {
  const absl::Time now = deps_.clock->Now();
  if (now < next_) return;
  absl::StatusOr<wire::ClientTls> next = deps_.renew(present_);
  if (next.ok()) {
    present_ = *std::move(next);
    Plan();
    LogInfo("another certificate is in use, until {}", absl::FormatTime(end_, absl::UTCTimeZone()));
    return deps_.take(present_);
  }
  const absl::Status& why = next.status();
  if (IsRefusedForGood(why)) {
    LogWarning("the certificate ends at {}, and there is no other: {}",
               absl::FormatTime(end_, absl::UTCTimeZone()), MessageOf(why));
    next_ = absl::InfiniteFuture();
    return;
  }
  next_ = now + std::clamp((end_ - now) / kRetriesOfTheRest, kRetryMin, kRetryMax);
  LogWarning("the certificate ends at {}, and no other could be had yet: {}",
             absl::FormatTime(end_, absl::UTCTimeZone()), MessageOf(why));
}

}  // namespace galley::worker
