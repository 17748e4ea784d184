// CookNotes: what the parts of one cook ask about its past: what failed, and what is done. It
// stands between the cook and its listener, who is told everything.
//
// The warnings of a result are told once for each package and platform, before the result itself.
// A warning that a project leaves out is not told; one that is an error there is told as a failure.
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
#include "director/host/cook_listener.h"
#include "director/host/package_of_path.h"
#include "director/host/replayed_messages.h"
#include "director/host/size_notes.h"

namespace galley::director {

class CookNotes final : public CookListener {
 public:
  // `listener` outlives it.
  explicit CookNotes(CookListener& listener) : listener_(listener) {}

  void Say(std::string_view text) override { listener_.Say(text); }
  void SayAlways(std::string_view text) override { listener_.SayAlways(text); }
  void Scanned(const ScanCounts& counts) override {
    replayed_.Scanned(counts);
    listener_.Scanned(counts);
  }
  // What the next cook tells, when all stands; people were told another number before.
  void NoteUnmatched(size_t unmatched) {
    ScanCounts counts = replayed_.scanned();
    counts.unmatched = unmatched;
    replayed_.Scanned(counts);
  }
  void Stands(const StandCounts& counts) override { listener_.Stands(counts); }
  void OnFailed(const std::string& package, const std::string& platform,
                const PackageFailed& failed) override;
  void OnWarning(const std::string& package, const std::string& platform,
                 const record::Warning& warning) override;
  void OnPassingWarning(const std::string& package, const std::string& platform,
                        const record::Warning& warning) override;
  // A warning of what this cook was asked for, which is nothing of what it finds: it is told, and
  // the next cook of the same does not tell it again.
  void WarnOfAsk(record::WarningKind kind, const std::string& text);
  void OnDone(const StoredResult& result, ResultSource source) override;
  void OnLeft(const std::string& package) override;
  void OnPlatforms(const std::vector<std::string>& platforms) override;
  void OnProgress(const Counters& counters, const Progress& progress) override;

  // The rules of the warnings of a package; of "": those of what is about no package. Until it is
  // set, nothing is left out.
  using WarningRulesOf = std::function<record::WarningRules(const std::string& package)>;
  void SetWarningRules(WarningRulesOf rules) { rules_of_ = std::move(rules); }

  const ReplayedMessages& replayed() const { return replayed_; }
  void SetScanning(bool is_scanning) { replayed_.SetScanning(is_scanning); }
  // Some failure was told, and not taken back.
  bool has_failures() const { return has_other_failures_ || !failed_.empty(); }
  // The packages that failed on some platform, sorted.
  std::vector<std::string> FailedPackages() const;
  uint64_t CountFailedOn(std::string_view platform) const;
  // The platforms of the cook, as it was told last.
  const std::vector<std::string>& platforms() const { return platforms_; }
  const DoneKeys& done() const { return done_; }
  // Sizes are noted from here on.
  void NoteSizes() { sizes_.emplace(); }
  // nullopt: none were noted.
  const std::optional<SizeNotes>& sizes() const { return sizes_; }
  // When the first result was cooked, and not found; InfiniteFuture: none was.
  absl::Time first_cooked() const { return first_cooked_; }

 private:
  // False: the warning is left out, or an error, as which it was told.
  bool IsWarning(const std::string& package, const std::string& platform,
                 const record::Warning& warning);

  CookListener& listener_;
  WarningRulesOf rules_of_ = [](const std::string&) { return record::WarningRules(); };
  ReplayedMessages replayed_;
  std::vector<std::string> platforms_;                    // of the cook
  bool has_other_failures_ = false;                       // of no package
  std::set<std::pair<std::string, std::string>> failed_;  // package, platform (empty: of none)
  DoneKeys done_;
  std::optional<SizeNotes> sizes_;
  absl::Time first_cooked_ = absl::InfiniteFuture();
};

}  // namespace galley::director
