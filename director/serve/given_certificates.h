// GivenCertificates: the certificates (PEM) of one launched worker that are good.
//
//   Enroll   in exchange for the token: the worker's first
//   Renew    in exchange for the present one
//
// Answers may be lost, or come late, so that several may be *offered* of which the worker has at
// most one. Those stay good until one of them is seen in use: that is the *present* one from then
// on, and the others are void but for the one before, whose calls and stream go on. Each ends at
// its own end, too, which TLS sees to.
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
  // Of those that are offered; the oldest is void when there are more.
  static constexpr size_t kOfferedMax = 16;

  // False: another process has asked with the token (its request is another one), and all that were
  // good are void.
  bool Enroll(const std::string& request, std::string certificate) {
    const bool is_same = is_fresh() || request == request_;
    if (!is_same) *this = {};
    request_ = request;
    Offer(std::move(certificate));
    return is_same;
  }
  // A call shows it. False: it is not good.
  bool Use(const std::string& shown) {
    if (shown.empty()) return false;
    if (std::find(offered_.begin(), offered_.end(), shown) != offered_.end()) {
      before_ = std::exchange(present_, shown);
      offered_.clear();
    }
    return shown == present_ || shown == before_;
  }
  // False: what is shown is not the present one. (A request that comes late, when its sender has
  // got another one meanwhile.)
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
  std::string present_;  // empty: none was seen yet
  std::string before_;   // that was present before it; empty: none
  std::deque<std::string> offered_;
};

}  // namespace galley::director
