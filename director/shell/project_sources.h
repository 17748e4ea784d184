// ProjectSources: the product's Sources, which reads a World and the digests of tools.
#pragma once

#include "director/shell/kept_sources.h"
#include "director/shell/sources.h"
#include "director/shell/tool_digests.h"
#include "director/shell/world.h"

namespace galley::director {

class ProjectSources final : public Sources {
 public:
  // `tools` and `kept` outlive ProjectSources. `kept` takes the files whose digests are asked for;
  // null: sources are not kept.
  ProjectSources(WorldPtr world, ToolDigests& tools, KeptSources* kept = nullptr)
      : world_(std::move(world)), tools_(tools), kept_(kept) {}

  uint64_t number() const override { return world_->number; }
  PlatformsPtr platforms() const override { return {world_->project, &world_->project->platforms}; }
  RecipesPtr RecipesOf(std::string_view package, bool is_generated) const override;
  RecipesPtr RecipesAsListed(std::string_view package,
                             const record::Generated& generated) const override;
  uint64_t SizeOf(std::string_view path) const override;
  absl::StatusOr<Digest> DigestOf(std::string_view path, const Cancellation* stop) const override;
  std::optional<Digest> KnownDigest(std::string_view path) const override {
    return world_->snapshot->KnownDigest(path);
  }
  absl::Status LearnDigest(std::string_view path, const Digest& digest) const override;
  absl::StatusOr<std::string> Look(const record::Observation& what,
                                   std::string_view package) const override;
  std::string StagePath(std::string_view package) const override;

 private:
  absl::StatusOr<std::string> FileValue(std::string_view asked, std::string_view package,
                                        bool with_digest) const;

  const WorldPtr world_;
  ToolDigests& tools_;
  KeptSources* const kept_;
};

}  // namespace galley::director
