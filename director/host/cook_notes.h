// CookNotes: passes the events of one cook to its sink, and notes the failed and the done packages
// for the later parts of the cook.
//
// The warnings of a result are told once for each package and platform, before the result. A
// warning that the project turns off is not told; a warning that the project makes an error is told
// as a failure.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/host/package_of_path.h"
#include "director/host/replayed_messages.h"
#include "director/host/size_notes.h"
#include "director/shell/cook_event.h"

namespace galley::director {

class CookNotes final : public CookEventSink {
 public:
  // `sink` outlives CookNotes.
  explicit CookNotes(CookEventSink& sink) : sink_(sink) {}

  void TakeEvent(const CookEvent& event) override;
  // Notes the number of unmatched files that a later cook tells again if everything stands. This
  // cook has told another number.
  void NoteUnmatched(size_t unmatched) {
    CookEvent::Scanned scanned = replayed_.scanned();
    scanned.unmatched = unmatched;
    replayed_.Scanned(scanned);
  }
  // Tells a warning about the ask of this cook. A later answer from the standing does not repeat
  // the warning.
  void WarnOfAsk(record::WarningKind kind, const std::string& text);

  // WarningRulesOf: returns the rules for the warnings of a package; for "": for warnings that
  // concern no package. Until rules are set, every warning is told.
  using WarningRulesOf = std::function<record::WarningRules(const std::string& package)>;
  void SetWarningRules(WarningRulesOf rules) { rules_of_ = std::move(rules); }

  const ReplayedMessages& replayed() const { return replayed_; }
  void SetScanning(bool is_scanning) { replayed_.SetScanning(is_scanning); }
  // Says whether a failure was told and not revoked.
  bool has_failures() const { return has_other_failures_ || !failed_.empty(); }
  // Returns the packages that failed on some platform, sorted.
  std::vector<std::string> FailedPackages() const;
  uint64_t CountFailedOn(std::string_view platform) const;
  // The platforms of the cook, as the last event named them.
  const std::vector<std::string>& platforms() const { return platforms_; }
  const DoneKeys& done() const { return done_; }
  // Starts to note sizes.
  void NoteSizes() { sizes_.emplace(); }
  // nullopt: no sizes were noted.
  const std::optional<SizeNotes>& sizes() const { return sizes_; }
  // When the first result was cooked, not found in a cache; InfiniteFuture: none was cooked.
  absl::Time first_cooked() const { return first_cooked_; }

 private:
  // Notes an event. False: the event is not passed on.
  bool Note(const CookEvent::Said&) { return true; }
  bool Note(const CookEvent::Scanned& scanned);
  bool Note(const CookEvent::Stands&) { return true; }
  bool Note(const CookEvent::Failed& failed);
  bool Note(const CookEvent::Warned& warned);
  bool Note(const CookEvent::Done& done);
  bool Note(const CookEvent::Left& left);
  bool Note(const CookEvent::Platforms& platforms);
  bool Note(const CookEvent::Progressed&) { return true; }
  // False: the warning is turned off, or was told as an error.
  bool IsWarning(const std::string& package, const std::string& platform,
                 const record::Warning& warning);

  CookEventSink& sink_;
  WarningRulesOf rules_of_ = [](const std::string&) { return record::WarningRules(); };
  ReplayedMessages replayed_;
  std::vector<std::string> platforms_;                    // of the cook
  bool has_other_failures_ = false;                       // failures of no package
  std::set<std::pair<std::string, std::string>> failed_;  // package, platform (empty: no platform)
  DoneKeys done_;
  std::optional<SizeNotes> sizes_;
  absl::Time first_cooked_ = absl::InfiniteFuture();
};

}  // namespace galley::director
