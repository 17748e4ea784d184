// GivenCertificates: the valid certificates (PEM) of one launched worker.
//
//   Enroll   in exchange for the token: the worker's first certificate
//   Renew    in exchange for the present certificate
//
// Answers may be lost, or come late, so several certificates may be *offered*, of which the worker
// has at most one. Offered certificates stay valid until one of them is seen in use: from then on
// that certificate is the *present* certificate, and the others are void, except for the previous
// present certificate, whose calls and stream go on. TLS ends each certificate at its own end as
// well.
// Threads: none; owned by WorkerService.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace galley::director {

class GivenCertificates {
 public:
  // At most so many certificates are offered; beyond this the oldest is void.
  static constexpr size_t kOfferedMax = 16;

  // False: another process has asked with the token (with another request), and the
  // earlier certificates are now void.
  bool Enroll(const std::string& request, std::string certificate) {
    const bool is_same = is_fresh() || request == request_;
    if (!is_same) *this = {};
    request_ = request;
    Offer(std::move(certificate));
    return is_same;
  }
  // A call shows this certificate. False: it is not valid.
  bool Use(const std::string& shown) {
    if (shown.empty()) return false;
    if (std::ranges::find(offered_, shown) != offered_.end()) {
      before_ = std::exchange(present_, shown);
      offered_.clear();
    }
    return shown == present_ || shown == before_;
  }
  // False: the shown certificate is not the present one, because the request came late, and its
  // sender has another certificate meanwhile.
  bool Renew(const std::string& shown, std::string certificate) {
    if (shown.empty() || shown != present_) return false;
    Offer(std::move(certificate));
    return true;
  }

 private:
  bool is_fresh() const { return present_.empty() && offered_.empty(); }
  void Offer(std::string certificate) {
    if (offered_.size() == kOfferedMax) offered_.pop_front();
    offered_.push_back(std::move(certificate));
  }

  std::string request_;  // of the process that enrolled
  std::string present_;  // empty: no certificate was seen yet
  std::string before_;   // the previous present certificate; empty: none
  std::deque<std::string> offered_;
};

}  // namespace galley::director
