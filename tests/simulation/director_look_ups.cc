// SimDirector's look-ups: as LookUpRunner, asking World for the content of files.

#include "common/record/action.h"
#include "director/shell/known_result.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

SimDirector::Inputs SimDirector::InputsOf(PackageId package,
                                          const std::vector<CookedResult>& cooked) const {
  Inputs inputs;
  for (const CookedResult& one : cooked) {
    const StoredResultPtr stored = results_.Get(one.result);
    if (stored != nullptr && !stored->result.outputs.empty())
      inputs.cooked[{core_->NameOf(one.package), one.platform}] = stored->result.outputs[0].digest;
  }
  if (const record::Generated* generated = core_->GeneratedOf(package))
    inputs.generated_source = generated->source;
  return inputs;
}

Digest SimDirector::SourceOf(const Snapshot& snapshot, const std::string& name,
                             const Inputs& inputs) const {
  if (inputs.generated_source) return *inputs.generated_source;
  const auto file = snapshot.files.find(name);
  return Digest::Of(file == snapshot.files.end() ? "" : file->second);
}

std::optional<std::string> SimDirector::ValueOf(const Snapshot& snapshot, const std::string& name,
                                                const record::Observation& what, uint32_t platform,
                                                const std::string& platform_name,
                                                const Inputs& inputs, std::string* needs) const {
  switch (what.kind) {
    case record::ObservationKind::kFile: {
      const auto file = snapshot.files.find(World::FileOf(name, what.subject));
      return file == snapshot.files.end() ? "absent" : Digest::Of(file->second).ToString();
    }
    case record::ObservationKind::kPlatform:
      return "=" + platform_name;
    case record::ObservationKind::kCooked: {
      const auto found = inputs.cooked.find({what.subject, platform});
      if (found != inputs.cooked.end()) return found->second.ToString();
      *needs = what.subject;
      return std::nullopt;
    }
    default:
      return "";
  }
}

std::optional<PlatformRecord> SimDirector::RecordOf(const std::string& name,
                                                    const std::string& platform_name) {
  const auto package = journal_.Find(name);
  if (!package.ok() || !package->has_value()) return std::nullopt;
  const auto found = (*package)->platforms.find(platform_name);
  return found == (*package)->platforms.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LookedUp::Item> SimDirector::FromJournal(const LookUp::Item& item, uint32_t platform,
                                                       const std::string& platform_name,
                                                       const Inputs& inputs,
                                                       const PlatformRecord& record) {
  const std::string& name = core_->NameOf(item.package);
  JournalAnswer known = AskJournal(
      record, {.package = name,
               .platform = static_cast<PlatformIndex>(platform),
               .platform_name = platform_name,
               .recipe = World::recipe_digest(),
               .generated_source = inputs.generated_source,
               .value_of = [&](const record::Observation& what,
                               std::string* needed) -> absl::StatusOr<std::string> {
                 return ValueOf(*snapshot_, name, what, platform, platform_name, inputs, needed)
                     .value_or("");
               }});
  LookedUp::Item answer{item.package, static_cast<PlatformIndex>(platform), item.generation,
                        LookedUp::Miss{}};
  if (auto* needs = std::get_if<LookedUp::NeedsCooked>(&known)) {
    answer.outcome = std::move(*needs);
    return answer;
  }
  auto* stored = std::get_if<std::shared_ptr<StoredResult>>(&known);
  if (stored == nullptr) return std::nullopt;
  const bool is_published = (*stored)->is_published;
  answer.outcome = LookedUp::Hit{results_.Add(std::move(*stored)), is_published};
  return answer;
}

LookedUp::Item SimDirector::LookUpOne(const LookUp::Item& item, uint32_t platform,
                                      const std::string& platform_name) {
  const Inputs inputs = InputsOf(item.package, item.cooked);
  const std::string& name = core_->NameOf(item.package);
  const std::optional<PlatformRecord> record = RecordOf(name, platform_name);
  if (record) {
    if (auto known = FromJournal(item, platform, platform_name, inputs, *record))
      return *std::move(known);
  }
  LookedUp::Miss miss = MissOf(name, record ? &*record : nullptr);
  LookedUp::Item answer{item.package, static_cast<PlatformIndex>(platform), item.generation,
                        LookedUp::Miss{}};
  if (!inputs.generated_source && !snapshot_->files.contains(name)) {
    answer.outcome = LookedUp::Error{"it is no package any more"};
    return answer;
  }
  const Digest source = SourceOf(*snapshot_, name, inputs);
  const Digest weak = record::WeakKey(source, World::recipe_digest(), World::kTrustDomain);
  LookedUp::NeedsCooked needs;
  const auto sets = store_.ObservationSets(std::span(&weak, 1));
  if (!sets.ok()) kept_.clear();  // what cannot be found is cooked again
  for (const std::string& encoded : sets.ok() ? (*sets)[0] : std::vector<std::string>()) {
    std::vector<record::Observed> observed;
    const record::ObservationSet set = *record::DecodeSet(encoded);
    for (const record::Observation& what : set) {
      std::string need;
      const auto value = ValueOf(*snapshot_, name, what, platform, platform_name, inputs, &need);
      if (!value) needs.packages.push_back(need);
      observed.push_back({what, value.value_or("")});
    }
    if (!needs.packages.empty()) continue;
    if (miss.last_read.empty()) miss.last_read = FilesRead(name, observed);
    const Digest key = *record::ActionKey({.recipe = World::recipe(),
                                           .source = source,
                                           .observed = observed,
                                           .trust_domain = World::kTrustDomain});
    const auto results = store_.Results(std::span(&key, 1));
    if (!results.ok()) kept_.clear();
    const std::optional<std::string> held = results.ok() ? (*results)[0] : std::nullopt;
    if (!held) continue;
    auto stored = std::make_shared<StoredResult>();
    stored->package = name;
    stored->platform = platform;
    stored->platform_name = platform_name;
    stored->result = *record::DecodeResult(*held);
    stored->encoded = *held;
    stored->recipe = World::recipe_digest();
    stored->recipe_bytes = record::EncodeRecipe(World::recipe());
    stored->source = source;
    stored->weak_key = weak;
    stored->action_key = key;
    stored->observed = std::move(observed);
    stored->last_cook.source = "cached";
    for (const record::Output& output : stored->result.outputs) {
      if (!store_.LocationOf(output.digest))
        deps_.checks.Break("safety: a result was served whose bytes are gone: " + name);
    }
    answer.outcome = LookedUp::Hit{results_.Add(std::move(stored)), false};
    return answer;
  }
  miss.work = WorkOf(weak, {{"name", platform_name}});
  answer.outcome = std::move(miss);
  if (!needs.packages.empty()) answer.outcome = needs;
  return answer;
}

void SimDirector::Do(const LookUp& effect) {
  BeginCook();
  for (const LookUp::Item& item : effect.items) {
    deps_.checks.Trace("look up " + core_->NameOf(item.package), item.platforms, item.generation);
    if (is_forced_)
      deps_.checks.Break("safety: looked up though forced: " + core_->NameOf(item.package));
  }
  LookUpSoon(effect, snapshot_->platforms);
}

// An answer that a new snapshot overtook is not given: the question is asked again.
void SimDirector::LookUpSoon(const LookUp& effect, const std::vector<std::string>& platforms) {
  After(deps_.random.Some(20), [this, effect, platforms] {
    LookedUp answer;
    for (const LookUp::Item& item : effect.items) {
      for (PlatformIndex p = 0; p < platforms.size(); ++p) {
        if (item.platforms & MaskOf(p)) answer.items.push_back(LookUpOne(item, p, platforms[p]));
      }
    }
    // Now and then the store is slow, and much happens meanwhile.
    const int64_t ms_max = deps_.random.Percent(10) ? 1'000 : 60;
    After(deps_.random.Some(ms_max), [this, effect, platforms, answer, asked = snapshot_] {
      if (snapshot_ != asked) return LookUpSoon(effect, platforms);
      Step(answer);
    });
  });
}

}  // namespace galley::simulation
