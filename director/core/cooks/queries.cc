#include "director/core/cooks/queries.h"

#include <algorithm>

namespace galley::director {
void Queries::OnQueryAsked(const QueryAsked& event) {
  const bool is_stale = event.cursor.cook != 0 && event.cursor.cook != graph_.rounds();
  Reply reply;
  if (is_stale) {
    reply.error = "the cook that the cursor is of is over: ask from the beginning";
  } else if (event.about == QueryAsked::About::kInstigators) {
    reply = AnswerInstigators(event);
  } else {
    reply = AnswerPackage(event);
  }
  reply.query = event.query;
  effects_.replies.push_back(std::move(reply));
}

// A package without a reason is an entry, too: a step's work is bounded by the limit.
Reply Queries::AnswerInstigators(const QueryAsked& event) const {
  Reply reply;
  QueryAsked::Cursor at = event.cursor;
  at.cook = graph_.rounds();
  uint32_t room = std::clamp(event.limit, 1u, options_.query_limit_max);
  for (; at.package < packages_.size() && room > 0; ++at.package, at.reason = 0) {
    const PackageId id(at.package);
    const size_t count = graph_.edges().InstigatorCount(id);
    if (count == 0) --room;
    for (; at.reason < count && room > 0; ++at.reason, --room) {
      if (const auto why = graph_.edges().InstigatorAt(id, at.reason))
        reply.reasons.push_back({id, *why});
    }
    if (at.reason < count) break;
  }
  if (at.package < packages_.size()) reply.next = at;
  return reply;
}

bool Queries::IsJudged(PackageId id) const {
  bool is_judged = IsRefused(id);
  const auto look = [&](const Claimant& cook) { is_judged |= cook.JudgedOf(id) != 0; };
  claimants_.ForEachOf(packages_[id].cooks, look);
  if (claimants_.masks().running == 0) look(claimants_.last());
  return is_judged;
}

bool Queries::IsRefused(PackageId id) const {
  bool is_refused = false;
  const auto look = [&](const Claimant& cook) { is_refused |= cook.refused.contains(id); };
  claimants_.ForEachOf(claimants_.masks().running, look);
  if (claimants_.masks().running == 0) look(claimants_.last());
  return is_refused;
}

std::string Queries::StateTextOf(PackageId id) const {
  const PackageData& package = packages_[id];
  const AttemptId attempt = package.work == nullptr ? 0 : package.work->attempt;
  const AssignedJobs* const hand =
      attempt == 0 ? nullptr : &workers_.Find(attempts_.at(attempt).worker)->jobs;
  const bool is_pending = hand != nullptr && hand->IsPending(attempt);
  const bool is_uploading = hand != nullptr && hand->IsUploading(attempt);
  const std::vector<PackageId> leaders =
      package.state == State::kRequest ? urgencies_.LeadersOf(id) : std::vector<PackageId>();
  // A package whose results stand may have failed for how it fits in.
  const bool is_judged = package.state == State::kIdle && IsJudged(id);
  return (is_judged ? "Idle, failed" : director::StateText(package)) +
         (is_pending ? ", pending" : "") + (is_uploading ? ", uploading" : "") +
         (leaders.empty()
              ? ""
              : ", waits for " + packages_.NameOf(leaders[0]) + ", whose work is equal");
}

// The worker or the resources that the package waits for, if any.
std::string Queries::WaitTextOf(PackageId id) const {
  const PackageData& package = packages_[id];
  if (const std::string parked = parked_jobs_.WhyParked(id); !parked.empty())
    return ", waits " + parked;
  if (package.state != State::kSaveStalled) return "";
  return ", waits for " + record::OfferText({}, grants_.WantedBy(package.resource_group)) +
         ", which others hold";
}

Reply Queries::AnswerPackage(const QueryAsked& event) const {
  Reply reply;
  const PackageId id = packages_.Find(event.package);
  if (!id.valid() || (!packages_[id].is_in_cook() && !IsRefused(id))) {
    reply.error = event.package + " is in no cook of this director";
    return reply;
  }
  const PackageData& package = packages_[id];
  const Blame::Faults faults = graph_.blame().Of(id);
  Reply::Package answer{.package = id,
                        .state = StateTextOf(id) + WaitTextOf(id),
                        .urgency = package.urgency,
                        .attempt = 0,
                        .worker = WorkerId(),
                        .attempts = 0,
                        .own_faults = faults.own,
                        .infrastructure_faults = faults.infrastructure};
  if (package.work != nullptr) {
    answer.attempts = package.work->attempts;
    answer.attempt = package.work->attempt;
    if (answer.attempt != 0) answer.worker = attempts_.at(answer.attempt).worker;
  }
  reply.package = std::move(answer);
  QueryAsked::Cursor at = event.cursor;
  at.cook = graph_.rounds();
  const size_t count = graph_.edges().InstigatorCount(id);
  uint32_t room = std::clamp(event.limit, 1u, options_.query_limit_max);
  for (; at.reason < count && room > 0; ++at.reason, --room) {
    if (const auto why = graph_.edges().InstigatorAt(id, at.reason))
      reply.reasons.push_back({id, *why});
  }
  if (at.reason < count) reply.next = at;
  return reply;
}

}  // namespace galley::director
