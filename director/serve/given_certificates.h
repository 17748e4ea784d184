// GivenCertificates: the valid certificates (PEM) of one launched worker.
//
//   Enroll   offers the first certificate, in exchange for the token
//   Renew    offers another certificate, in exchange for the present certificate
//
// Answers may be lost or late, so several certificates may be *offered*, and the worker may have
// none of them. The first offered certificate that a call shows becomes the *present* certificate,
// and the other offered certificates are void. The previous present certificate stays valid, so
// that its calls and its stream go on. TLS enforces the expiry of each certificate.
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
  // At most this many certificates are offered at a time; beyond this the oldest is void.
  static constexpr size_t kOfferedMax = 16;

  // Offers `certificate`. False: the request differs, so another process has the token; the earlier
  // certificates are now void.
  bool Enroll(const std::string& request, std::string certificate) {
    const bool is_same = is_fresh() || request == request_;
    if (!is_same) *this = {};
    request_ = request;
    Offer(std::move(certificate));
    return is_same;
  }
  // Called when a call shows a certificate. False: the certificate is not valid.
  bool Use(const std::string& shown) {
    if (shown.empty()) return false;
    if (std::ranges::find(offered_, shown) != offered_.end()) {
      before_ = std::exchange(present_, shown);
      offered_.clear();
    }
    return shown == present_ || shown == before_;
  }
  // Offers `certificate`. False: the shown certificate is not the present one, because the request
  // came late and the worker uses another certificate by now.
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
