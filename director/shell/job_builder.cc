#include "director/shell/job_builder.h"

#include <algorithm>

#include <utility>

#include "common/record/recipe.h"
#include "common/wire/convert.h"
#include "director/shell/attached_workers.h"
#include "director/shell/likely_reads.h"

namespace galley::director {

std::vector<CookedOutputs> JobBuilder::CookedOf(const std::vector<CookedResult>& cooked) const {
  std::vector<CookedOutputs> outputs;
  for (const CookedResult& one : cooked) {
    const StoredResultPtr stored = deps_.results->Get(one.result);
    if (stored == nullptr) continue;
    if (outputs.size() <= one.platform) outputs.resize(one.platform + 1);
    outputs[one.platform][deps_.core->NameOf(one.package)] = stored->result.outputs;
  }
  return outputs;
}

// A world that came after the package was listed has not heard of it.
RecipesPtr JobBuilder::RecipesOf(const std::string& name,
                                 const record::Generated* generated) const {
  return generated != nullptr ? deps_.sources->RecipesAsListed(name, *generated)
                              : deps_.sources->RecipesOf(name, false);
}

LookUpItem JobBuilder::ItemOf(const LookUp::Item& item) const {
  LookUpItem out{.package = item.package,
                 .name = deps_.core->NameOf(item.package),
                 .platforms = item.platforms,
                 .generation = item.generation,
                 .cooked = CookedOf(item.cooked),
                 .is_awaited = item.is_awaited};
  const record::Generated* generated = deps_.core->GeneratedOf(item.package);
  if (generated != nullptr) out.generated_source = generated->source;
  out.recipes = RecipesOf(out.name, generated);
  return out;
}

// The store's word counts more than a worker's word, which may be wrong about a blob that another
// worker brought as well.
void JobBuilder::AddBlobs(const std::vector<Digest>& digests, v1::Job& job) const {
  if (digests.empty()) return;
  const auto located = deps_.store->Locate(digests);
  for (size_t i = 0; i < digests.size(); ++i) {
    std::optional<store::BlobLocation> location;
    if (located.ok()) location = (*located)[i];
    if (!location) location = deps_.reports->LocationOf(digests[i]);
    if (location) wire::ToProto(digests[i], *location, job.add_blobs());
  }
}

// Returns the last record for the platforms of the attempt, from its look-ups, or from the journal
// where nothing is looked up, as with --force.
PackageRecord JobBuilder::LastReadBy(const AttemptInfo& info) const {
  PackageRecord record;
  bool is_whole = deps_.reads != nullptr;
  for (PlatformIndex platform = 0; is_whole && platform < info.numbering->size(); ++platform) {
    if ((info.platforms & MaskOf(platform)) == 0) continue;
    const std::string& name = (*info.numbering)[platform].name;
    auto observed = deps_.reads->Find(info.name, name);
    is_whole = observed.has_value();
    if (is_whole) record.platforms[name].observed = *std::move(observed);
  }
  if (is_whole) return record;
  auto known = deps_.journal->Find(info.name);
  return known.ok() && known->has_value() ? **std::move(known) : record;
}

// Adds the likely reads for a worker without files, which has them fetched ahead.
void JobBuilder::AddReads(const AttemptInfo& info, v1::Job& job) const {
  if (!info.generated_source.has_value()) {
    if (const auto source = deps_.sources->KnownDigest(info.name))
      wire::ToProto(*source, job.mutable_source());
  }
  for (const LikelyRead& read : LikelyReadsOf(*deps_.sources, info, LastReadBy(info))) {
    v1::LikelyRead* told = job.add_likely_reads();
    told->set_path(read.path);
    if (read.digest.has_value()) wire::ToProto(*read.digest, told->mutable_digest());
  }
}

void JobBuilder::AddTargets(const AttemptInfo& info, BuiltJob& built) const {
  for (PlatformIndex platform = 0; platform < info.recipes->size(); ++platform) {
    if ((info.platforms & MaskOf(platform)) == 0) continue;
    const project::ResolvedRecipe& recipe = (*info.recipes)[platform];
    v1::Target* target = built.job.add_targets();
    target->set_platform(platform);
    target->set_recipe(record::EncodeRecipe(recipe.recipe));
    built.job.set_memory_bytes(recipe.needs.memory_bytes);
    built.job.set_timeout_us(absl::ToInt64Microseconds(recipe.needs.timeout));
    built.record->targets.push_back(
        {.platform = platform, .name = (*info.numbering)[platform].name, .recipe = recipe.digest});
  }
}

BuiltJob JobBuilder::Build(const Desire::Start& start, const std::string& worker,
                           bool has_files) const {
  auto info = std::make_shared<AttemptInfo>();
  info->worker = worker;
  info->hashes_files = has_files;
  info->package = start.package;
  info->name = deps_.core->NameOf(start.package);
  info->platforms = start.platforms;
  info->numbering = deps_.sources->platforms();
  info->cooked = CookedOf(start.cooked);
  const record::Generated* generated = deps_.core->GeneratedOf(start.package);
  if (generated != nullptr) info->generated_source = generated->source;
  info->recipes = RecipesOf(info->name, generated);

  BuiltJob built;
  v1::Job& job = built.job;
  std::vector<Digest> blobs;
  job.set_attempt(start.attempt);
  job.set_package(info->name);
  job.set_snapshot(deps_.sources->number());
  job.set_expected_us(absl::ToInt64Microseconds(start.expected));
  job.set_expected_memory_bytes(start.memory_bytes);
  // A session knows no spare jobs: the core ends them where their slot is wanted.
  // worker.proto tells workers which urgency is Blocking.
  static_assert(static_cast<int>(Urgency::kBlocking) == 4);
  job.set_urgency(static_cast<uint32_t>(std::max(start.urgency, Urgency::kLow)));
  job.set_is_awaited(start.is_awaited);
  job.set_runs_alone(start.runs_alone);
  if (info->generated_source) {
    wire::ToProto(*info->generated_source, job.mutable_generated_source());
    blobs.push_back(*info->generated_source);
  }
  if (info->recipes != nullptr) {
    built.record = AttemptRecord{.attempt = start.attempt,
                                 .worker = worker,
                                 .package = info->name,
                                 .targets = {},
                                 .generated_source = info->generated_source};
    AddTargets(*info, built);
  }
  for (PlatformIndex platform = 0; platform < info->cooked.size(); ++platform) {
    for (const auto& [name, outputs] : info->cooked[platform]) {
      v1::CookedInput* input = job.add_cooked();
      input->set_package(name);
      input->set_platform(platform);
      for (const record::Output& output : outputs) {
        v1::CookedOutput* out = input->add_outputs();
        out->set_suffix(output.suffix);
        wire::ToProto(output.digest, out->mutable_digest());
        blobs.push_back(output.digest);
      }
    }
  }
  if (has_files) {
    AddBlobs(blobs, job);
  } else {
    AddReads(*info, job);
  }
  built.info = std::move(info);
  return built;
}

std::shared_ptr<const AttemptInfo> JobBuilder::InfoOf(const AttemptRecord& given) const {
  auto info = std::make_shared<AttemptInfo>();
  info->worker = given.worker;
  info->hashes_files = AttachedWorkers::IsLocal(given.worker);
  info->package = deps_.core->Find(given.package);
  info->name = given.package;
  info->numbering = deps_.sources->platforms();
  info->generated_source = given.generated_source;
  info->recipes = deps_.sources->RecipesOf(given.package, given.generated_source.has_value());
  if (info->recipes == nullptr) return nullptr;
  for (const AttemptRecord::Target& target : given.targets) {
    if (target.platform >= info->recipes->size() ||
        (*info->numbering)[target.platform].name != target.name ||
        (*info->recipes)[target.platform].digest != target.recipe)
      return nullptr;
    info->platforms |= MaskOf(target.platform);
  }
  return info;
}

}  // namespace galley::director
