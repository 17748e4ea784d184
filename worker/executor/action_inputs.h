// ActionInputs: the inputs of a job that runs as a REAPI Action. The job sees the files in the
// Action's input root and the values in the root's file `observations`, and nothing else.
// FAILED_PRECONDITION: the file `observations` does not list the question, the bytes of an input
// differ from the listed digest, or the source has changed.
// Threads: one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/record/recipe.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/scratch.h"
#include "worker/walls/project_walls.h"

namespace galley::worker {

class ActionInputs final : public InputProvider {
 public:
  // `root`: a folder laid out as record/action.h says. INVALID_ARGUMENT: recipe or observations are
  // malformed; NOT_FOUND: they are absent.
  static absl::StatusOr<std::unique_ptr<ActionInputs>> Open(const std::string& root);

  const record::Recipe& recipe() const { return recipe_; }
  const std::vector<record::Observed>& observed() const { return observed_; }

  absl::StatusOr<SourceContent> Source(uint64_t bytes_max) override;
  absl::Status StreamSource(const TakePiece& take) override;
  absl::Status StreamCooked(uint32_t platform, const record::Observation& what,
                            const TakePiece& take) override;
  absl::StatusOr<Look> Observe(uint32_t platform, const record::Observation& what,
                               Want want) override;
  absl::Status ShowMounts(const std::string& directory) override;
  // An input root serves a single run, and nobody else writes to it.
  absl::Status CheckUnchanged(const std::map<record::Observation, std::string>&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<const ChildWalls*> Walls() override;
  absl::StatusOr<std::string> ScratchDirectory() override { return scratch_.Directory(); }
  BytesLoaded bytes_loaded() const override { return bytes_loaded_; }

 private:
  ActionInputs(std::string root, record::Recipe recipe, std::vector<record::Observed> observed);
  absl::StatusOr<Blob> ReadVerified(const std::string& host_path, std::string_view value);
  absl::Status StreamVerified(const std::string& host_path, std::string_view value,
                              const TakePiece& take);
  absl::StatusOr<Look> Tool(const record::Observed& tool, size_t index);

  std::string root_;
  record::Recipe recipe_;
  std::vector<record::Observed> observed_;  // canonical
  Digest source_;                           // the digest that Source returned
  Scratch scratch_;
  std::optional<ProjectWalls> walls_;  // made by the first call of Walls
  BytesLoaded bytes_loaded_;
};

}  // namespace galley::worker
