#include "director/host/cook_notes.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

const std::string& PackageOf(const std::pair<std::string, std::string>& failed) {
  return failed.first;
}
const std::string& PackageOf(const DoneKeys::value_type& done) { return done.first.first; }

}  // namespace

void CookNotes::OnFailed(const std::string& package, const std::string& platform,
                         const PackageFailed& failed) {
  has_other_failures_ |= package.empty();
  const bool is_of_all = platform.empty() && !platforms_.empty();
  if (!package.empty() && !is_of_all) failed_.emplace(package, platform);
  for (const std::string& one : platforms_) {
    if (!package.empty() && is_of_all) failed_.emplace(package, one);
  }
  replayed_.Failed(package, platform, failed);
  listener_.OnFailed(package, platform, failed);
}

bool CookNotes::IsWarning(const std::string& package, const std::string& platform,
                          const record::Warning& warning) {
  const record::WarningRules rules = rules_of_(package);
  if (rules.IsError(warning.kind))
    OnFailed(package, platform, {.stage = Stage::kRequest, .error = warning.ErrorText()});
  return !rules.IsError(warning.kind) && !rules.IsOff(warning.kind);
}

void CookNotes::OnWarning(const std::string& package, const std::string& platform,
                          const record::Warning& warning) {
  if (!IsWarning(package, platform, warning)) return;
  replayed_.Warned(package, platform, warning.ToText());
  listener_.OnWarning(package, platform, warning);
}

void CookNotes::OnPassingWarning(const std::string& package, const std::string& platform,
                                 const record::Warning& warning) {
  if (!IsWarning(package, platform, warning)) return;
  replayed_.Passing();
  listener_.OnPassingWarning(package, platform, warning);
}

void CookNotes::WarnOfAsk(record::WarningKind kind, const std::string& text) {
  const record::Warning warning{kind, text};
  if (IsWarning("", "", warning)) {
    listener_.OnWarning("", "", warning);
  } else if (rules_of_("").IsError(kind)) {
    replayed_.Passing();  // (else it would fail each cook from now on)
  }
}

void CookNotes::OnLeft(const std::string& package) {
  const auto forget = [&](auto& of_packages) {
    const auto first = of_packages.lower_bound({package, ""});
    auto last = first;
    while (last != of_packages.end() && PackageOf(*last) == package) ++last;
    of_packages.erase(first, last);
  };
  forget(failed_);
  forget(done_);
  if (sizes_) sizes_->Remove(package);
  replayed_.Passing();  // (what was told of it may have been of another state of the project)
  listener_.OnLeft(package);
}

void CookNotes::OnPlatforms(const std::vector<std::string>& platforms) {
  if (!platforms_.empty() && platforms != platforms_) replayed_.Passing();
  platforms_ = platforms;
  const auto is_other = [&](const std::string& platform) {
    return !platform.empty() &&
           std::find(platforms.begin(), platforms.end(), platform) == platforms.end();
  };
  std::erase_if(failed_, [&](const auto& one) { return is_other(one.second); });
  std::erase_if(done_, [&](const auto& one) { return is_other(one.first.second); });
  listener_.OnPlatforms(platforms);
}

void CookNotes::OnDone(const StoredResult& result, ResultSource source) {
  failed_.erase({result.package, result.platform_name});
  replayed_.Done(result.package, result.platform_name);
  const bool is_new =
      done_.insert_or_assign({result.package, result.platform_name}, result.action_key).second;
  if (sizes_) {
    uint64_t bytes = 0;
    for (const record::Output& output : result.result.outputs) bytes += output.digest.size_bytes();
    sizes_->Add(result.package, result.platform_name, result.source.size_bytes(), bytes);
  }
  if (source == ResultSource::kCooked && first_cooked_ == absl::InfiniteFuture())
    first_cooked_ = absl::Now();
  for (const std::string& kept : result.result.details.warnings) {
    const record::Warning warning = record::Warning::Parse(kept);
    // (One that is an error fails the package when it is judged.)
    if (is_new && !rules_of_(result.package).IsError(warning.kind))
      OnWarning(result.package, result.platform_name, warning);
  }
  listener_.OnDone(result, source);
}

void CookNotes::OnProgress(const Counters& counters, const Progress& progress) {
  listener_.OnProgress(counters, progress);
}

std::vector<std::string> CookNotes::FailedPackages() const {
  std::vector<std::string> packages;
  for (const auto& [package, platform] : failed_) {
    if (packages.empty() || packages.back() != package) packages.push_back(package);
  }
  return packages;
}

uint64_t CookNotes::CountFailedOn(std::string_view platform) const {
  std::set<std::string_view> packages;
  for (const auto& [package, failed_on] : failed_) {
    if (failed_on.empty() || failed_on == platform) packages.insert(package);
  }
  return packages.size();
}

}  // namespace galley::director
