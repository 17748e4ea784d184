#include "director/devices/ahead_plan.h"

#include <iterator>
#include <utility>

namespace galley::devices {
namespace {

// Removes the keys of the package, on all platforms, from a set or map.
template <typename Keys>
void ForgetPackage(Keys& keys, const std::string& package) {
  auto at = keys.lower_bound(AheadKey{package, ""});
  const auto package_of = [](const auto& one) -> const std::string& {
    if constexpr (requires { one.first; }) {
      return one.first.package;
    } else {
      return one.package;
    }
  };
  while (at != keys.end() && package_of(*at) == package) at = keys.erase(at);
}

}  // namespace

// ------------------------------------------------------------------ what comes in

void AheadPlan::Ask(const Asked& asked) {
  --age_;
  Drop(asked.key);
  if (asked_.size() >= options_.remembered_max) asked_.clear();
  asked_.insert(asked.key);
  const bool is_new = NoteExpanded(asked.key, 0);
  // Whoever asks again and again for the same makes no work.
  if (!is_new && waiting_.empty()) return;
  const auto take = [&](const AheadKey& key, const Rank& rank) {
    is_new ? Add(key, rank) : Hasten(key, rank);
  };
  for (const std::string& package : asked.references)
    take({package, asked.key.platform}, RankOf(Kind::kReference, age_, 1));
  for (const std::string& platform : asked.platforms) {
    if (platform != asked.key.platform)
      take({asked.key.package, platform}, RankOf(Kind::kPlatform, age_, 0));
  }
}

bool AheadPlan::IsIdleFor(const AheadKey& key) const {
  const auto known = expanded_.find(key);
  return waiting_.empty() && known != expanded_.end() && known->second == 0 &&
         !candidates_.contains(key);
}

void AheadPlan::AddStale(const std::vector<AheadKey>& keys) {
  --age_;
  for (const AheadKey& key : keys)
    Add(key, RankOf(asked_.contains(key) ? Kind::kStaleAsked : Kind::kStale, age_, 0));
}

void AheadPlan::Add(const AheadKey& key, const Rank& rank) {
  if (failed_.contains(key)) return;
  const auto [at, is_new] = candidates_.try_emplace(key);
  if (is_new) {
    at->second.rank = rank;
    waiting_.emplace(rank, &at->first);
    Shrink();
  } else if (rank < at->second.rank) {
    SetRank(at, rank);
  }
}

// Only a candidate gets the rank.
void AheadPlan::Hasten(const AheadKey& key, const Rank& rank) {
  const auto at = candidates_.find(key);
  if (at != candidates_.end() && rank < at->second.rank) SetRank(at, rank);
}

void AheadPlan::SetRank(Candidates::iterator at, const Rank& rank) {
  Candidate& candidate = at->second;
  if (!candidate.is_open) {
    waiting_.erase(candidate.rank);
    waiting_.emplace(rank, &at->first);
  }
  candidate.rank = rank;
}

void AheadPlan::Shrink() {
  while (candidates_.size() > options_.candidates_max && !waiting_.empty()) {
    const auto last = std::prev(waiting_.end());
    const auto at = candidates_.find(*last->second);
    waiting_.erase(last);
    candidates_.erase(at);
  }
}

// ------------------------------------------------------------------ candidates in their order

std::optional<AheadKey> AheadPlan::TakeNext(const Judge& judge) {
  for (size_t judged = 0; judged < options_.judged_max && !waiting_.empty(); ++judged) {
    const auto at = candidates_.find(*waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    const Judgement judgement = judge(at->first);
    if (judgement.kind == Judgement::Kind::kCook) {
      at->second.is_open = true;
      return at->first;
    }
    const AheadKey key = at->first;
    const Rank rank = at->second.rank;
    candidates_.erase(at);
    if (judgement.kind == Judgement::Kind::kKnown) Expand(key, rank, judgement.references);
  }
  return std::nullopt;
}

bool AheadPlan::NoteExpanded(const AheadKey& key, int depth) {
  if (expanded_.size() >= options_.remembered_max) expanded_.clear();
  const auto [at, is_new] = expanded_.try_emplace(key, depth);
  if (!is_new && at->second <= depth) return false;
  at->second = depth;
  return true;
}

// Only references lead further: what is cooked for another platform, or again, stands alone.
void AheadPlan::Expand(const AheadKey& key, const Rank& rank,
                       const std::vector<std::string>& references) {
  if (rank.kind != Kind::kReference || rank.depth >= options_.depth_max) return;
  if (!NoteExpanded(key, rank.depth)) return;
  for (const std::string& package : references)
    Add({package, key.platform}, RankOf(Kind::kReference, rank.age, rank.depth + 1));
}

std::optional<AheadPlan::Rank> AheadPlan::TakeOpen(const AheadKey& key) {
  const auto at = candidates_.find(key);
  if (at == candidates_.end() || !at->second.is_open) return std::nullopt;
  const Rank rank = at->second.rank;
  candidates_.erase(at);
  return rank;
}

void AheadPlan::Succeed(const AheadKey& key, const std::vector<std::string>& references) {
  if (const std::optional<Rank> rank = TakeOpen(key)) Expand(key, *rank, references);
}

void AheadPlan::Fail(const AheadKey& key) {
  if (!TakeOpen(key)) return;
  if (failed_.size() >= options_.remembered_max) failed_.clear();
  failed_.insert(key);
}

void AheadPlan::PutBack(const AheadKey& key) {
  const auto at = candidates_.find(key);
  if (at == candidates_.end() || !at->second.is_open) return;
  at->second.is_open = false;
  waiting_.emplace(at->second.rank, &at->first);
}

void AheadPlan::Drop(const AheadKey& key) {
  const auto at = candidates_.find(key);
  if (at == candidates_.end()) return;
  if (!at->second.is_open) waiting_.erase(at->second.rank);
  candidates_.erase(at);
}

// ------------------------------------------------------------------ worlds

void AheadPlan::Change(std::span<const std::string> packages) {
  for (const std::string& package : packages) {
    ForgetPackage(expanded_, package);
    ForgetPackage(failed_, package);
  }
}

void AheadPlan::ChangeAll() {
  expanded_.clear();
  failed_.clear();
  AddStale(std::vector<AheadKey>(asked_.begin(), asked_.end()));
}

}  // namespace galley::devices
