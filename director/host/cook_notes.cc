#include "director/host/cook_notes.h"

#include "absl/time/clock.h"
#include "fmt/format.h"

namespace galley::director {

void CookNotes::OnFailed(const std::string& package, const std::string& platform,
                         const PackageFailed& failed) {
  has_failures_ = true;
  if (!package.empty()) failed_.emplace(package, platform);
  listener_.OnFailed(package, platform, failed);
}

void CookNotes::OnWarning(const std::string& package, const std::string& platform,
                          const std::string& text) {
  listener_.OnWarning(package, platform, text);
}

void CookNotes::OnDone(const StoredResult& result, ResultSource source) {
  const bool is_new =
      done_.insert_or_assign({result.package, result.platform_name}, result.action_key).second;
  if (source == ResultSource::kCooked && first_cooked_ == absl::InfiniteFuture())
    first_cooked_ = absl::Now();
  for (const std::string& warning : result.result.details.warnings) {
    if (is_new) OnWarning(result.package, result.platform_name, warning);
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

Digest CookNotes::DigestOfDone() const {
  std::string text;
  for (const auto& [where, key] : done_)
    text += fmt::format("{}\t{}\t{}\n", where.first, where.second, key.ToString());
  return Digest::Of(text);
}

}  // namespace galley::director
