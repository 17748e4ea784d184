// SimDirector's questions to the core: asked as DirectorShell asks them, and checked.

#include <algorithm>

#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

Reply SimDirector::Ask(const QueryAsked& question) {
  std::vector<Effect> effects;
  core_->Step(deps_.schedule.now(), question, effects);
  std::optional<Reply> reply;
  for (const Effect& effect : effects) {
    if (const auto* one = std::get_if<Reply>(&effect)) reply = *one;
  }
  CarryOut(effects);
  if (!reply) deps_.checks.Break("safety: a question without an answer");
  if (reply && reply->reasons.size() > question.limit)
    deps_.checks.Break("safety: more was answered than was asked for");
  return reply.value_or(Reply{.error = "none"});
}

// Asks for all pages of an answer; the graph does not change meanwhile.
std::vector<Reply::Reason> SimDirector::AskAll(QueryAsked question) {
  std::vector<Reply::Reason> told;
  for (bool is_last = false; !is_last && deps_.checks.broken().empty();) {
    const Reply reply = Ask(question);
    told.insert(told.end(), reply.reasons.begin(), reply.reasons.end());
    is_last = !reply.next;
    if (reply.next) question.cursor = *reply.next;
  }
  return told;
}

std::vector<Reply::Reason> SimDirector::Reasons() const {
  std::vector<Reply::Reason> reasons;
  for (uint32_t i = 0; i < core_->package_ids(); ++i) {
    for (const InstigatorView& why : core_->InstigatorsOf(PackageId(i)))
      reasons.push_back({PackageId(i), why});
  }
  return reasons;
}

void SimDirector::Question() {
  Step(Tick{});
  const auto limit = static_cast<uint32_t>(1 + deps_.random.Below(4));
  const std::vector<Reply::Reason> reasons = Reasons();
  if (AskAll({.about = QueryAsked::About::kInstigators, .limit = limit}) != reasons)
    deps_.checks.Break("safety: the pages of an answer are not all that there is");
  const uint32_t ids = core_->package_ids();
  const PackageId package(ids > 0 ? static_cast<uint32_t>(deps_.random.Below(ids)) : 0);
  if (ids > 0 && !core_->NameOf(package).empty()) {
    const QueryAsked question{.package = core_->NameOf(package), .limit = limit};
    std::vector<Reply::Reason> its = reasons;
    std::erase_if(its, [&](const Reply::Reason& one) { return one.package != package; });
    const Reply reply = Ask(question);
    if (reply.package && (!reply.package->state.starts_with(core_->StateText(package)) ||
                          reply.package->package != package || AskAll(question) != its))
      deps_.checks.Break("safety: a wrong answer about " + question.package);
  }
  AskOn();
}

void SimDirector::AskOn() {
  if (!long_question_)
    long_question_ = LongQuestion{.next = {.about = QueryAsked::About::kInstigators, .limit = 3},
                                  .at_first = Reasons()};
  // A root cause may be dropped and found again: it is a different reason then.
  const std::vector<Reply::Reason> now = Reasons();
  std::erase_if(long_question_->at_first, [&](const Reply::Reason& one) {
    return std::find(now.begin(), now.end(), one) == now.end();
  });
  const Reply reply = Ask(long_question_->next);
  std::vector<Reply::Reason>& told = long_question_->told;
  if (!reply.error.empty()) return long_question_.reset();  // a new cook has begun
  for (const Reply::Reason& reason : reply.reasons) {
    if (std::find(told.begin(), told.end(), reason) != told.end())
      deps_.checks.Break("safety: an answer tells a reason twice");
    told.push_back(reason);
  }
  if (reply.next) {
    long_question_->next.cursor = *reply.next;
    return;
  }
  for (const Reply::Reason& reason : long_question_->at_first) {
    if (std::find(told.begin(), told.end(), reason) == told.end())
      deps_.checks.Break("safety: an answer leaves out what was there when it was asked for");
  }
  long_question_.reset();
}

// A package that is Blocking and ready is handed over at once, whatever else the workers have,
// until `blocking_jobs_max` such packages are handed over. A package that was handed over before
// may be backing off; a package that a survivor may bring waits for the survivor.
void SimDirector::CheckUrgent() {
  const auto load = static_cast<size_t>(State::kLoad);
  const auto blocking = static_cast<size_t>(Urgency::kBlocking);
  const bool is_failing = is_fail_fast_ && core_->counters().results_failed > 0;
  if (is_stopped_ || is_ending_ || is_failing || has_survivors_ ||
      core_->counters().workers_attached == 0 || core_->progress().packages[load][blocking] == 0)
    return;
  // Only held workers are there: too much failed on them for the machine's sake.
  if (core_->held_workers() >= core_->counters().workers_attached) return;
  // Workers that were sent away while there was no work take no more jobs.
  if (std::ranges::all_of(streams_,
                          [this](const auto& one) { return draining_.contains(one.first); }))
    return;
  uint32_t in_hand = 0;
  std::string waits;
  for (uint32_t i = 0; i < core_->package_ids(); ++i) {
    const std::string& name = core_->NameOf(PackageId(i));
    if (name.empty()) continue;  // it was forgotten
    const Reply reply = Ask({.package = name, .limit = 1});
    if (!reply.package || reply.package->urgency != Urgency::kBlocking) continue;
    in_hand += reply.package->attempt != 0;
    if (reply.package->state == "Load" && reply.package->attempts == 0 &&
        reply.package->infrastructure_faults == 0 &&
        // The attached workers may all have other cookers for the package.
        !(deps_.world.tells_cookers && World::StartsPrograms(name)))
      waits = name;
  }
  if (!waits.empty() && in_hand < options_.blocking_jobs_max)
    deps_.checks.Break("safety: it is Blocking and ready, and is not handed over: " + waits);
}

}  // namespace galley::simulation
