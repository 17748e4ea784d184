// PathIndexFuzz: a path of any bytes, as a device may ask for it: every owner that is found has the
// path by the names that staging gives, every twin has another one that folds to it, and the number
// of look-ups is bounded by the path's own segments and dots.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/result.h"
#include "director/shell/path_index.h"
#include "director/shell/stage_path.h"

namespace {

using namespace galley;
using namespace galley::director;

// Fixture: a project whose paths meet in several ways.
struct Fixture {
  Fixture() {
    folder = MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value();
    auto project = std::make_shared<project::Project>();
    project->root = folder;
    project->mounts = {
        {.path = "/Game", .directory = folder + "/game"},
        {.path = "/Game/dlc", .directory = folder + "/dlc", .stage_as = "/Game/dlc1"}};
    for (const char* file : {"game/a.txt", "game/a.png", "game/a.png.ktx2.txt", "game/m.glb",
                             "game/t.level", "game/dlc1/b.txt", "dlc/b.txt", "dlc/B.txt.txt"}) {
      const std::string path = JoinPath(folder, file);
      GALLEY_CHECK(CreateDirectories(path.substr(0, path.rfind('/'))).ok());
      GALLEY_CHECK(WriteFileAtomic(path, "source").ok());
    }
    project->platforms = {{.name = "windows", .parameters = {{"os", "windows"}}}};
    for (const auto& [extension, cooker] : std::map<std::string, std::string>{
             {"txt", "copy"}, {"png", "texture"}, {"glb", "mesh"}, {"level", "level"}}) {
      project->rules.push_back(
          {.match = *content::Glob::Parse("/**/*." + extension), .body = {.cooker = cooker}});
    }
    const auto resolver = std::make_shared<project::RecipeResolver>(
        *project,
        std::vector<record::CookerDescription>{
            {.name = "copy", .identity = "1", .outputs = {{.suffix = ""}}},
            {.name = "texture", .identity = "1", .outputs = {{.suffix = ".ktx2"}}},
            {.name = "mesh", .identity = "1", .outputs = {{.suffix = ".glb"}}, .has_more = true},
            {.name = "level",
             .identity = "1",
             .outputs = {{.suffix = ".bin"}},
             .may_generate = true}});
    SnapshotPtr snapshot =
        content::Snapshot::Scan({.mounts = project->mounts, .threads = 1}).value();
    of_project = project;
    index = std::make_unique<PathIndex>(
        ProjectCatalog::ByNeed(snapshot, project, resolver, nullptr, {}).value(), 0);
  }
  std::string folder;
  std::shared_ptr<const project::Project> of_project;
  std::unique_ptr<PathIndex> index;
};

void CheckOwner(const PathOwner& owner, const project::Project& project) {
  GALLEY_CHECK(record::ValidateSuffix(owner.suffix).ok());
  GALLEY_CHECK(StagePath(project, owner.package) + owner.suffix == owner.path);
  GALLEY_CHECK(owner.generators.empty() == owner.generated_name.empty());
  if (owner.generators.empty()) return;
  GALLEY_CHECK(owner.generators.back() + "/" + owner.generated_name == owner.package);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Fixture& fixture = *new Fixture();
  static const bool is_registered = std::atexit([] { (void)RemoveAll(fixture.folder); }) == 0;
  GALLEY_CHECK(is_registered);
  const std::string_view path(reinterpret_cast<const char*>(data), size);
  const PathOwners found = fixture.index->OwnersOf(path);
  const auto dots = static_cast<size_t>(std::ranges::count(path, '.'));
  GALLEY_CHECK(found.look_ups <= (dots + 1) * 2 * fixture.of_project->mounts.size());
  for (const PathOwner& owner : found.owners) {
    CheckOwner(owner, *fixture.of_project);
    GALLEY_CHECK(owner.path == path);
  }
  for (const PathOwner& twin : found.twins) {
    CheckOwner(twin, *fixture.of_project);
    GALLEY_CHECK(twin.path != path && content::FoldName(twin.path) == content::FoldName(path));
  }
  return 0;
}
