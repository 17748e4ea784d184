#include "worker/session/job_targets.h"

#include <algorithm>

#include "common/record/programs.h"
#include "common/record/recipe.h"

namespace galley::worker {

void StrikeTargets(const v1::JobPart& part, v1::Job& job) {
  auto& targets = *job.mutable_targets();
  const auto is_struck = [&](const v1::Target& target) {
    return std::ranges::find(part.platforms(), target.platform()) != part.platforms().end();
  };
  targets.erase(std::remove_if(targets.begin(), targets.end(), is_struck), targets.end());
}

bool StartsPrograms(const v1::Job& job) {
  return std::ranges::any_of(job.targets(), [](const v1::Target& target) {
    const auto recipe = record::DecodeRecipe(target.recipe());
    return recipe.ok() && recipe->cooker == record::kProgramCooker;
  });
}

}  // namespace galley::worker
