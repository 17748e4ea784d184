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

void CookNotes::TakeEvent(const CookEvent& event) {
  if (std::visit([this](const auto& what) { return Note(what); }, event.what))
    sink_.TakeEvent(event);
}

bool CookNotes::Note(const CookEvent::Scanned& scanned) {
  replayed_.Scanned(scanned);
  return true;
}

bool CookNotes::Note(const CookEvent::Failed& failed) {
  const auto& [package, platform, failure] = failed;
  has_other_failures_ |= package.empty();
  const bool is_of_all = platform.empty() && !platforms_.empty();
  if (!package.empty() && !is_of_all) failed_.emplace(package, platform);
  for (const std::string& one : platforms_) {
    if (!package.empty() && is_of_all) failed_.emplace(package, one);
  }
  replayed_.Failed(package, platform, failure);
  return true;
}

bool CookNotes::IsWarning(const std::string& package, const std::string& platform,
                          const record::Warning& warning) {
  const record::WarningRules rules = rules_of_(package);
  if (rules.IsError(warning.kind)) {
    Tell(CookEvent::Failed{
        package, platform, {.stage = Stage::kRequest, .error = warning.ErrorText()}});
  }
  return !rules.IsError(warning.kind) && !rules.IsOff(warning.kind);
}

bool CookNotes::Note(const CookEvent::Warned& warned) {
  const auto& [package, platform, warning, is_passing] = warned;
  if (!IsWarning(package, platform, warning)) return false;
  if (is_passing) {
    replayed_.Passing();
  } else {
    replayed_.Warned(package, platform, warning.ToText());
  }
  return true;
}

void CookNotes::WarnOfAsk(record::WarningKind kind, const std::string& text) {
  const record::Warning warning{kind, text};
  if (IsWarning("", "", warning)) {
    sink_.Warn(kind, text);
  } else if (rules_of_("").IsError(kind)) {
    replayed_.Passing();  // otherwise it would fail each cook from now on
  }
}

bool CookNotes::Note(const CookEvent::Left& left) {
  const auto forget = [&](auto& of_packages) {
    const auto first = of_packages.lower_bound({left.package, ""});
    auto last = first;
    while (last != of_packages.end() && PackageOf(*last) == left.package) ++last;
    of_packages.erase(first, last);
  };
  forget(failed_);
  forget(done_);
  if (sizes_) sizes_->Remove(left.package);
  replayed_.Passing();  // the messages may have been about another state of the project
  return true;
}

bool CookNotes::Note(const CookEvent::Platforms& platforms) {
  const std::vector<std::string>& names = platforms.names;
  if (!platforms_.empty() && names != platforms_) replayed_.Passing();
  platforms_ = names;
  const auto is_other = [&](const std::string& platform) {
    return !platform.empty() && std::ranges::find(names, platform) == names.end();
  };
  std::erase_if(failed_, [&](const auto& one) { return is_other(one.second); });
  std::erase_if(done_, [&](const auto& one) { return is_other(one.first.second); });
  return true;
}

bool CookNotes::Note(const CookEvent::Done& done) {
  const StoredResult& result = *done.result;
  failed_.erase({result.package, result.platform_name});
  replayed_.Done(result.package, result.platform_name);
  const bool is_new =
      done_.insert_or_assign({result.package, result.platform_name}, result.action_key).second;
  if (sizes_) {
    uint64_t bytes = 0;
    for (const record::Output& output : result.result.outputs) bytes += output.digest.size_bytes();
    sizes_->Add(result.package, result.platform_name, result.source.size_bytes(), bytes);
  }
  if (done.source == ResultSource::kCooked && first_cooked_ == absl::InfiniteFuture())
    first_cooked_ = absl::Now();
  for (const std::string& kept : result.result.details.warnings) {
    const record::Warning warning = record::Warning::Parse(kept);
    // A warning that counts as an error fails the package when the package is judged.
    if (is_new && !rules_of_(result.package).IsError(warning.kind))
      Tell(CookEvent::Warned{result.package, result.platform_name, warning});
  }
  return true;
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
