// ReplayedMessages: collects the messages of a cook that still hold at its end, for later answers
// from its standing.
//
// Threads: one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "director/core/effects.h"
#include "director/shell/cook_event.h"
#include "director/standing/standing.h"

namespace galley::director {

class ReplayedMessages {
 public:
  void Scanned(const CookEvent::Scanned& counts) { scanned_ = counts; }
  void Failed(const std::string& package, const std::string& platform, const PackageFailed& failed);
  void Warned(const std::string& package, const std::string& platform, const std::string& text);
  void Done(const std::string& package, const std::string& platform);
  // Sets whether later messages belong to the scan.
  void SetScanning(bool is_scanning) { is_scanning_ = is_scanning; }
  // Notes that this cook told a message that another cook of the same ask would not tell.
  void Passing() { is_passing_ = true; }

  const CookEvent::Scanned& scanned() const { return scanned_; }
  const std::vector<StandingWarning>& warnings() const { return warnings_; }
  std::vector<StandingFailure> failures() const { return {failures_.begin(), failures_.end()}; }
  // True: another cook of the same ask would tell the same messages.
  bool stands() const { return !is_passing_; }

 private:
  CookEvent::Scanned scanned_;
  std::vector<StandingWarning> warnings_;
  std::set<StandingFailure> failures_;
  bool is_passing_ = false;
  bool is_scanning_ = false;
};

// Tells the failures and warnings of a standing again.
void TellAgain(const Standing& standing, CookEventSink& sink);

}  // namespace galley::director
