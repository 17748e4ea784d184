// EffectBatch: the effects of one step, gathered so that each kind goes out as one batch.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/effects.h"

namespace galley::director {

struct EffectBatch {
  std::vector<Persist::Item> persist;
  bool is_persist_urgent = false;
  std::vector<LookUp::Item> look_ups;
  std::vector<std::string> rescans;
  absl::btree_map<WorkerId, Desire> desires;
  std::vector<Spawn> spawns;
  std::vector<Stop> stops;
  std::vector<Effect> roots;
  std::vector<Reply> replies;
  std::vector<Notify> notices;

  Desire& DesireFor(WorkerId worker) {
    Desire& desire = desires[worker];
    desire.worker = worker;
    return desire;
  }
  // Tells the notice to these cooks. No cooks: it is for no running cook. Asks hear only AskEnded:
  // a notice about a package for which only asks wait is told to nobody.
  template <typename T>
  void Note(T notice, CookMask cooks) {
    constexpr bool is_of_package =
        std::is_same_v<T, PackageDone> || std::is_same_v<T, PackageFailed> ||
        std::is_same_v<T, PackageLeft> || std::is_same_v<T, PackageWarned>;
    if (is_of_package && cooks == kAsksBit) return;
    notices.push_back({std::move(notice), cooks & kCooksBits});
  }
  // Moves all effects to the end of `effects`; the batch is empty then.
  void Flush(std::vector<Effect>& effects);
};

}  // namespace galley::director
