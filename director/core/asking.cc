// Questions about a running cook: answered from what is there, a page at a time.
#include <algorithm>

#include "director/core/cook_core_impl.h"

namespace galley::director {

void CookCore::Impl::OnQueryAsked(const QueryAsked& event) {
  const bool is_stale = event.cursor.cook != 0 && event.cursor.cook != cooks_begun;
  Reply reply;
  if (is_stale) {
    reply.error = "the cook that the cursor is of is over: ask from the beginning";
  } else if (event.about == QueryAsked::About::kInstigators) {
    reply = AnswerInstigators(event);
  } else {
    reply = AnswerPackage(event);
  }
  reply.query = event.query;
  turn.replies.push_back(std::move(reply));
}

// A package without a reason is an entry, too: a step's work is bounded by the limit.
Reply CookCore::Impl::AnswerInstigators(const QueryAsked& event) const {
  Reply reply;
  QueryAsked::Cursor at = event.cursor;
  at.cook = cooks_begun;
  uint32_t room = std::clamp(event.limit, 1u, options.query_limit_max);
  for (; at.package < packages.size() && room > 0; ++at.package, at.reason = 0) {
    const PackageId id(at.package);
    const size_t count = edges.InstigatorCount(id);
    if (count == 0) --room;
    for (; at.reason < count && room > 0; ++at.reason, --room) {
      if (const auto why = edges.InstigatorAt(id, at.reason)) reply.reasons.push_back({id, *why});
    }
    if (at.reason < count) break;
  }
  if (at.package < packages.size()) reply.next = at;
  return reply;
}

std::string CookCore::Impl::StateTextOf(PackageId id) const {
  const PackageData& package = packages[id];
  const bool is_pending = package.work != nullptr && package.work->attempt != 0 &&
                          workers.Find(attempts.at(package.work->attempt).worker)
                              ->hand.IsPending(package.work->attempt);
  const std::vector<PackageId> leaders =
      package.state == State::kRequest ? LeadersOf(id) : std::vector<PackageId>();
  return director::StateText(package) + (is_pending ? ", pending" : "") +
         (leaders.empty() ? "" : ", waits for " + NameOf(leaders[0]) + ", whose work is equal");
}

Reply CookCore::Impl::AnswerPackage(const QueryAsked& event) const {
  Reply reply;
  const PackageId id = packages.Find(event.package);
  if (!id.valid() || !packages[id].is_in_cook) {
    reply.error = event.package + " is in no cook of this director";
    return reply;
  }
  const PackageData& package = packages[id];
  const Blame::Faults faults = blame.Of(id);
  Reply::Package answer{.package = id,
                        .state = StateTextOf(id),
                        .urgency = package.urgency,
                        .attempt = 0,
                        .worker = WorkerId(),
                        .attempts = 0,
                        .own_faults = faults.own,
                        .infrastructure_faults = faults.infrastructure};
  if (package.work != nullptr) {
    answer.attempts = package.work->attempts;
    answer.attempt = package.work->attempt;
    if (answer.attempt != 0) answer.worker = attempts.at(answer.attempt).worker;
  }
  reply.package = std::move(answer);
  QueryAsked::Cursor at = event.cursor;
  at.cook = cooks_begun;
  const size_t count = edges.InstigatorCount(id);
  uint32_t room = std::clamp(event.limit, 1u, options.query_limit_max);
  for (; at.reason < count && room > 0; ++at.reason, --room) {
    if (const auto why = edges.InstigatorAt(id, at.reason)) reply.reasons.push_back({id, *why});
  }
  if (at.reason < count) reply.next = at;
  return reply;
}

}  // namespace galley::director
