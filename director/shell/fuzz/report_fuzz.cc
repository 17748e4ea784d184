// ReportFuzz: a FromWorker message of any bytes, such as a lying worker may send: every report
// becomes an event that names only attempts that were handed over, and nothing crashes.
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/store/testing/memory_store.h"
#include "director/shell/project_sources.h"
#include "director/shell/report_reader.h"

namespace {

using namespace galley;
using namespace galley::director;

// Fixture: a project of one file, and the attempt 1 at that file on the platforms 0 and 1 of three.
struct Fixture {
  Fixture() {
    folder = MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value();
    GALLEY_CHECK(WriteFileAtomic(JoinPath(folder, "a.txt"), "source").ok());
    auto project = std::make_shared<project::Project>();
    project->root = folder;
    project->mounts = {{.path = "/Game", .directory = folder}};
    project->platforms = {{.name = "windows", .parameters = {{"texture", "bc"}}},
                          {.name = "android"},
                          {.name = "linux"}};
    project->rules.push_back(
        {.match = *content::Glob::Parse("/Game/*.txt"), .body = {.cooker = "copy"}});
    resolver = std::make_shared<project::RecipeResolver>(
        *project, std::vector<record::CookerDescription>{{.name = "copy", .identity = "1"}});
    auto made = std::make_shared<World>();
    made->project = project;
    made->snapshot = content::Snapshot::Scan({.mounts = project->mounts, .threads = 1}).value();
    made->table = ProjectCatalog::Build(made->snapshot, project, resolver, /*threads=*/1).value();
    sources = std::make_shared<ProjectSources>(made, tools);
    info =
        std::make_shared<AttemptInfo>(AttemptInfo{.package = PackageId(0),
                                                  .name = "/Game/a.txt",
                                                  .platforms = 3,
                                                  .numbering = sources->platforms(),
                                                  .recipes = made->table->RecipesOf("/Game/a.txt"),
                                                  .worker = "local-1",
                                                  .hashes_files = true});
    GALLEY_CHECK(info->recipes != nullptr);
  }
  std::string folder;
  std::shared_ptr<const project::RecipeResolver> resolver;
  ToolDigests tools;
  SourcesPtr sources;
  std::shared_ptr<const AttemptInfo> info;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Fixture& fixture = *new Fixture();
  static const bool is_registered = std::atexit([] { (void)RemoveAll(fixture.folder); }) == 0;
  GALLEY_CHECK(is_registered);
  v1::FromWorker message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  store::MemoryStore store;  // new for each input, because stores keep what they get
  ResultTable results;
  Trace trace;
  ReportReader reader({.sources = [] { return fixture.sources; },
                       .store = &store,
                       .results = &results,
                       .trace = &trace},
                      "main", {.memory_bytes = 4 << 20, .timeout = absl::Minutes(1)});
  reader.Register(1, fixture.info);
  for (v1::Report& wire : *message.mutable_reports()) {
    wire.set_attempt(1);
    const WorkerReport report = reader.Read("local-1", wire);
    if (const auto* saved = std::get_if<WorkerReport::Saved>(&report.what)) {
      GALLEY_CHECK(saved->platform < 2);
      for (const record::Output& output : saved->result->outputs)
        GALLEY_CHECK(record::ValidateSuffix(output.suffix).ok());
    } else if (const auto* loaded = std::get_if<WorkerReport::Loaded>(&report.what)) {
      GALLEY_CHECK((loaded->platforms & ~fixture.info->platforms) == 0);
    } else if (const auto* needs = std::get_if<WorkerReport::Needs>(&report.what)) {
      GALLEY_CHECK(needs->platform < 2 && content::ValidateVirtualPath(needs->package).ok());
    } else if (const auto* stale = std::get_if<WorkerReport::Stale>(&report.what)) {
      GALLEY_CHECK(content::ValidateVirtualPath(stale->path).ok());
    }
  }
  return 0;
}
