#include "director/core/packages/effect_batch.h"

#include <utility>

namespace galley::director {

void EffectBatch::Flush(std::vector<Effect>& effects) {
  for (Reply& reply : replies) effects.push_back(std::move(reply));
  if (!persist.empty() || is_persist_urgent)
    effects.push_back(Persist{std::move(persist), is_persist_urgent});
  if (!rescans.empty()) effects.push_back(Rescan{std::move(rescans)});
  for (const Stop& stop : stops) effects.push_back(stop);
  for (auto& [worker, desire] : desires) effects.push_back(std::move(desire));
  for (const Spawn& spawn : spawns) effects.push_back(spawn);
  for (Notify& notice : notices) effects.push_back(std::move(notice));
  // A limit is kept when it is told, and equal work may be looked up in the same step.
  if (!look_ups.empty()) effects.push_back(LookUp{std::move(look_ups)});
  for (Effect& root : roots) effects.push_back(std::move(root));
  *this = EffectBatch();
}

}  // namespace galley::director
