#include "director/shell/limit_answers.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/record/recipe.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

const char* SettingOf(KeptLimit::Kind kind) {
  return kind == KeptLimit::Kind::kMemory ? "memory" : "timeout_s";
}

std::string WhatTriesAgain(KeptLimit::Kind kind) {
  return fmt::format("`galley cook --retry-failed`, or another `{}` in its rule, tries it again",
                     SettingOf(kind));
}

}  // namespace

// nullopt, with names in `needs`: the attempt looked at cooked inputs whose results are not known
// yet, and nothing else speaks against the answer.
std::optional<LookedUp::Kept> LimitAnswers::Judge(const Sources& sources, const LookUpItem& item,
                                                  PlatformIndex platform, const KeptLimit& kept,
                                                  std::vector<std::string>& needs) const {
  const project::ResolvedRecipe& recipe = (*item.recipes)[platform];
  if (kept.limit != LimitOf(kept.kind, recipe.needs, options_.defaults)) return std::nullopt;
  const PlatformsPtr platforms = sources.platforms();
  std::vector<std::string> wanted;
  for (const record::Observed& seen : kept.observed) {
    std::string needed;
    const auto value = ValueOf(sources, seen.what,
                               {.package = item.name,
                                .platform = (*platforms)[platform],
                                .cooked = CookedFor(item.cooked, platform)},
                               &needed);
    if (!value.ok()) return std::nullopt;
    if (!needed.empty()) {
      wanted.push_back(std::move(needed));
    } else if (*value != seen.value) {
      return std::nullopt;
    }
  }
  needs.insert(needs.end(), wanted.begin(), wanted.end());
  if (!wanted.empty()) return std::nullopt;
  return LookedUp::Kept{
      .stage = kept.stage == static_cast<uint8_t>(Stage::kSave) ? Stage::kSave : Stage::kLoad,
      .error = fmt::format("{}; seen in a cook on {}, and {}", kept.error,
                           absl::FormatTime("%Y-%m-%d %H:%M", kept.since, absl::LocalTimeZone()),
                           WhatIsKept(kept.kind)),
      .log = kept.log};
}

void LimitAnswers::AnswerOne(const Sources& sources, const LookUpItem& item, absl::Time now,
                             LookedUp::Item& one) const {
  const absl::StatusOr<Digest> source = SourceOf(sources, item);
  if (!source.ok() || one.platform >= item.recipes->size() ||
      one.platform >= sources.platforms()->size())
    return;
  const Digest weak_key =
      record::WeakKey(*source, (*item.recipes)[one.platform].digest, options_.trust_domain);
  std::vector<std::string> needs;
  for (const KeptLimit& kept : deps_.kept->Of(weak_key, options_.machine, now)) {
    if (is_retried_ && !kept.is_new) continue;
    if (auto answer = Judge(sources, item, one.platform, kept, needs)) {
      one.outcome = *std::move(answer);
      return;
    }
  }
  if (needs.empty()) return;
  SortUnique(needs);
  one.outcome = LookedUp::NeedsCooked{std::move(needs)};
}

void LimitAnswers::Answer(const std::vector<LookUpItem>& items, absl::Time now,
                          LookedUp& answer) const {
  if (deps_.kept->empty()) return;
  const SourcesPtr sources = deps_.sources();
  absl::flat_hash_map<PackageId, const LookUpItem*> asked;  // filled when needed
  for (LookedUp::Item& one : answer.items) {
    if (!std::holds_alternative<LookedUp::Miss>(one.outcome)) continue;
    if (asked.empty()) {
      for (const LookUpItem& item : items) asked.emplace(item.package, &item);
    }
    if (const auto item = asked.find(one.package); item != asked.end())
      AnswerOne(*sources, *item->second, now, one);
  }
}

absl::Status LimitAnswers::Keep(KeptLimit seen, const PackageFailed& failed, absl::Time now) const {
  seen.since = now;
  seen.stage = static_cast<uint8_t>(failed.stage);
  seen.error = failed.error;
  seen.log = failed.log;
  seen.machine = options_.machine;
  return deps_.kept->Keep(std::move(seen));
}

std::string LimitAnswers::WhatIsKept(KeptLimit::Kind kind) {
  return fmt::format("kept for {} days: {}", KeptLimits::kKeptFor / absl::Hours(24),
                     WhatTriesAgain(kind));
}

}  // namespace galley::director
