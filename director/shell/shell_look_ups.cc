// DirectorShell's look-ups: the questions, and answers that a new snapshot overtook.

#include "director/shell/director_shell.h"

namespace galley::director {

RecipesPtr DirectorShell::RecipesOf(PackageId package) const {
  const WorldPtr world = world_.Get();
  const std::string& name = core_->NameOf(package);
  return core_->GeneratedOf(package) != nullptr ? world->table->GeneratedRecipesOf(name)
                                                : world->table->RecipesOf(name);
}

std::vector<CookedOutputs> DirectorShell::CookedOf(const std::vector<CookedResult>& cooked) const {
  std::vector<CookedOutputs> outputs;
  for (const CookedResult& one : cooked) {
    const StoredResultPtr stored = results_.Get(one.result);
    if (stored == nullptr) continue;
    if (outputs.size() <= one.platform) outputs.resize(one.platform + 1);
    outputs[one.platform][core_->NameOf(one.package)] = stored->result.outputs;
  }
  return outputs;
}

void DirectorShell::Do(const LookUp& effect) {
  std::vector<LookUpItem> items;
  LookedUp refused;
  for (const LookUp::Item& item : effect.items) {
    LookUpItem out{.package = item.package,
                   .name = core_->NameOf(item.package),
                   .platforms = item.platforms,
                   .generation = item.generation,
                   .recipes = RecipesOf(item.package),
                   .cooked = CookedOf(item.cooked)};
    if (const record::Generated* generated = core_->GeneratedOf(item.package))
      out.generated_source = generated->source;
    if (out.recipes == nullptr) {
      for (PlatformIndex platform = 0; platform < options_.core.platform_count; ++platform) {
        if ((item.platforms & MaskOf(platform)) == 0) continue;
        refused.items.push_back({item.package, platform, item.generation,
                                 LookedUp::Error{"it is no package any more"}});
      }
      continue;
    }
    items.push_back(std::move(out));
  }
  if (!refused.items.empty()) Post(Event(std::move(refused)));
  if (items.empty()) return;
  RunLookUps(std::move(items));
}

// An answer that a new snapshot overtook is not given: the question is asked again.
void DirectorShell::RunLookUps(std::vector<LookUpItem> items) {
  look_up_thread_.Post([this, items = std::move(items)]() mutable {
    const uint64_t number = world_.Get()->number;
    LookedUp answer = look_ups_.Run(items);
    Post(Internal([this, number, items = std::move(items), answer = std::move(answer)]() mutable {
      if (world_.Get()->number != number) return RunLookUps(std::move(items));
      StepCore(std::move(answer));
    }));
  });
}

}  // namespace galley::director
