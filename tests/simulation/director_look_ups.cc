// SimDirector's look-ups: answers of LookUpRunner, each after a while.

#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

void SimDirector::Do(const LookUp& effect) {
  BeginCook();
  for (const LookUp::Item& item : effect.items) {
    deps_.checks.Trace("look up " + core_->NameOf(item.package), item.platforms, item.generation);
    if (is_forced_)
      deps_.checks.Break("safety: looked up though forced: " + core_->NameOf(item.package));
  }
  // LookUps answers the items that somebody awaits by themselves, too.
  LookUp awaited = effect, others = effect;
  std::erase_if(awaited.items, [](const LookUp::Item& item) { return !item.is_awaited; });
  std::erase_if(others.items, [](const LookUp::Item& item) { return item.is_awaited; });
  if (!awaited.items.empty()) LookUpSoon(awaited);
  if (!others.items.empty()) LookUpSoon(others);
}

// An answer that a new snapshot overtook is not given: the question is asked again.
void SimDirector::LookUpSoon(const LookUp& effect) {
  After(deps_.random.Some(20), [this, effect] {
    const LookedUp answer = LookUpNow(effect);
    // Now and then the store is slow, and much happens meanwhile.
    const int64_t ms_max = deps_.random.Percent(10) ? 1'000 : 60;
    After(deps_.random.Some(ms_max), [this, effect, answer, asked = snapshot_] {
      if (snapshot_ != asked) return LookUpSoon(effect);
      Step(answer);
    });
  });
}

LookedUp SimDirector::LookUpNow(const LookUp& effect) {
  const std::vector<LookUpItem> items = own_->streams.LookUpItemsOf(effect);
  is_looking_up_ = true;
  LookedUp answer = look_ups_.Run(items);
  is_looking_up_ = false;
  for (const LookedUp::Item& one : answer.items) {
    const auto* hit = std::get_if<LookedUp::Hit>(&one.outcome);
    if (hit == nullptr) continue;
    const StoredResultPtr stored = results_.Get(hit->result->id);
    if (stored->is_in_journal) continue;  // the check is made when roots are built
    for (const record::Output& output : stored->result.outputs) {
      if (!store_.LocationOf(output.digest))
        deps_.checks.Break("safety: a result was served whose bytes are gone: " + stored->package);
    }
  }
  return answer;
}

}  // namespace galley::simulation
