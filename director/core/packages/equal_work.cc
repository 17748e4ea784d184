#include "director/core/packages/equal_work.h"

#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {
namespace {

// The room of a larger table is given back when no package leads.
constexpr size_t kKeptMax = 4096;

}  // namespace

void EqualWork::Lead(PackageId package, WorkId work) {
  GALLEY_CHECK(work != 0);
  Leader& leader = leaders_[work];
  GALLEY_CHECK(leader.platforms == 0 || leader.package == package);
  leader.package = package;
  ++leader.platforms;
  ++leading_;
}

PackageId EqualWork::LeaderOf(WorkId work) const {
  const auto found = leaders_.find(work);
  return found == leaders_.end() ? PackageId() : found->second.package;
}

void EqualWork::EndLead(PackageId package, WorkId work, End how) {
  const auto found = leaders_.find(work);
  GALLEY_CHECK(found != leaders_.end() && found->second.package == package);
  Leader& leader = found->second;
  --leading_;
  // A cook that asks for the platform's name has another result for each platform.
  leader.has_result |= how == End::kResult;
  if (--leader.platforms > 0) return;
  if (leader.has_result) how = End::kResult;
  leaders_.erase(found);
  if (leaders_.empty() && leaders_.capacity() > kKeptMax) leaders_ = {};
  const auto followers = followers_.find(work);
  if (followers == followers_.end()) return;
  for (const Follower& follower : followers->second) freed_.push_back({follower, how});
  followers_.erase(followers);
}

void EqualWork::Follow(const Follower& follower) {
  const PackageId leader = LeaderOf(follower.work);
  GALLEY_CHECK(leader.valid() && leader != follower.package);
  followers_[follower.work].push_back(follower);
}

void EqualWork::NoteLeaving(WorkId work) {
  if (const PackageId leader = LeaderOf(work); leader.valid()) left_.insert(leader);
}

EqualWork::Freed EqualWork::TakeFreed() {
  GALLEY_CHECK(has_freed());
  const Freed freed = freed_.front();
  freed_.pop_front();
  return freed;
}

bool EqualWork::HasResultSince(WorkId work, uint32_t noted_when_asked) const {
  const auto found = results_.find(work);
  return found != results_.end() && found->second > noted_when_asked;
}

void EqualWork::ForgetResults() {
  if (results_.capacity() > kKeptMax) results_ = {};
  results_.clear();
}

void EqualWork::Clear() {
  results_ = {};
  leaders_ = {};
  followers_ = {};
  freed_ = {};
  left_ = {};
  leading_ = 0;
}

}  // namespace galley::director
