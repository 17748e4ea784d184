// ProjectCommands: cook, doctor.

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/memory_limit.h"
#include "common/base/status_macros.h"
#include "common/record/programs.h"
#include "common/store/layers/empty_store.h"
#include "common/store/local/look.h"
#include "common/store/reapi/client/open_remote.h"
#include "director/cli/commands.h"
#include "director/cli/cook_session.h"
#include "director/cli/farm_doctor.h"
#include "director/cli/limits.h"
#include "director/cli/look_at_state.h"
#include "director/cli/print_line.h"
#include "director/host/idle_names.h"
#include "director/host/left_out.h"
#include "director/host/project_stores.h"
#include "director/host/scanned_project.h"
#include "director/journal/journal.h"
#include "director/shell/describe.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

int RunCook(const CookCommandOptions& options) {
  Report report(options.global);
  return CookSession(options, report).Run();
}

namespace {

struct Check {
  std::string name;
  bool ok = true;
  std::string text;
  bool heals = false;  // wrong, and repaired by the next cook: not BAD
  bool warns = false;  // a person should know of it: not BAD either
};

void AddFarm(const project::Project& project, const std::vector<record::CookerDescription>& own,
             std::vector<Check>& checks) {
  for (FarmFinding& one : LookAtFarm(project, own)) {
    checks.push_back({.name = std::move(one.name),
                      .ok = one.level != FarmFinding::Level::kError,
                      .text = std::move(one.text),
                      .warns = one.level == FarmFinding::Level::kWarning});
  }
}

void AddFindings(const std::string& name, const std::vector<Finding>& findings,
                 std::vector<Check>& checks) {
  for (const Finding& one : findings) {
    std::string text = EscapeControl(one.what);
    // A Status names the file as well.
    if (text.find(one.path) == std::string::npos) text = fmt::format("{}: {}", one.path, text);
    if (one.heals) {
      checks.push_back({name, true, fmt::format("{}; {}", text, one.healed_by), true});
    } else {
      checks.push_back({name, false, std::move(text)});
    }
  }
}

void AddStore(const std::string& directory, std::vector<Check>& checks) {
  const auto look = store::LookAtStore(directory);
  if (absl::IsNotFound(look.status())) {
    checks.push_back({"store", true, MessageOf(look.status()) + "; the first cook makes it"});
  } else if (!look.ok()) {
    checks.push_back({"store", false, MessageOf(look.status())});
  } else if (!look->refusal.empty()) {
    checks.push_back({"store", false, EscapeControl(look->refusal)});
  } else if (look->findings.empty()) {
    checks.push_back(
        {"store", true,
         look->is_owned
             ? fmt::format("{} is open in another process, its index was not looked at", directory)
             : fmt::format("{} opens", directory)});
  } else {
    AddFindings("store", look->findings, checks);
  }
}

void AddState(const project::Project& project, std::vector<Check>& checks) {
  std::vector<std::string> sandboxes;
  for (const auto& platform : project.platforms)
    sandboxes.push_back(JoinPath(project.output_directory, platform.name));
  const StateLook look = LookAtState(project.state_directory(), sandboxes);
  if (look.is_cooking) {
    checks.push_back({"state", true, "a cook is running, so its state was not looked at"});
  } else {
    AddFindings("state", look.findings, checks);
  }
}

Check CheckSpace(const std::string& name, const std::string& directory) {
  std::string existing = directory;
  while (existing.size() > 1 && !FileExists(existing))
    existing = existing.substr(0, std::max<size_t>(1, existing.rfind('/')));
  struct statvfs space {};
  if (::statvfs(existing.c_str(), &space) != 0)
    return {name, false, fmt::format("{}: cannot be looked at", directory)};
  if (::access(existing.c_str(), W_OK) != 0)
    return {name, false,
            fmt::format("{}: is not writable; choose another or fix its permissions", directory)};
  const uint64_t free_bytes = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
  const bool ok = free_bytes > (1ull << 30);
  return {name, ok,
          fmt::format("{}: {} free{}", directory, HumanBytes(free_bytes),
                      ok ? "" : "; make room, a cook stops cleanly before the disk is full")};
}

// Checks the memory for cooks here: the machine's, or the limit of the control groups around this
// process.
Check CheckMemory() {
  const MemoryRoom room = MemoryLimits().Sample();
  if (room.limit_bytes == 0) return {"memory", true, "unknown: /proc/meminfo does not say"};
  constexpr uint64_t kMiB = 1 << 20;
  std::string text =
      fmt::format("{} MiB ({})", room.limit_bytes / kMiB, EscapeControl(room.limit_source));
  if (room.left_bytes.has_value())
    text +=
        fmt::format(", {} MiB left ({})", *room.left_bytes / kMiB, EscapeControl(room.left_source));
  return {"memory", true, text};
}

// Checks what keeps the programs of `command` from changing the project, on this machine.
Check CheckWalls(const std::string& worker_program, const project::Project* project) {
  const project::Walls walls = project != nullptr ? project->cook.walls : project::Walls::kBest;
  if (walls == project::Walls::kOff)
    return {"walls", true,
            "none: [cook] walls = \"off\", so that programs of `command` can change the project"};
  const absl::StatusOr<std::string> missing = director::WallsMissing(worker_program);
  if (!missing.ok()) return {"walls", false, MessageOf(missing.status())};
  if (missing->empty())
    return {"walls", true, "the project is read-only for programs of `command`"};
  const auto names_programs = [](const project::Rule& rule) {
    return rule.body.cooker == record::kProgramCooker;
  };
  const bool matters = walls == project::Walls::kRequire || project == nullptr ||
                       std::ranges::any_of(project->rules, names_programs);
  return {"walls", !matters,
          fmt::format("programs of `command` could change the project: {}", *missing)};
}

constexpr std::string_view kProbe = "galley doctor";

class ProbeStore final : public store::EmptyStore {
 public:
  ProbeStore() : EmptyStore(absl::UnimplementedError("it holds a probe")) {}
  absl::StatusOr<Blob> Get(const Digest&) override { return MakeBlob(std::string(kProbe)); }
};

// Writes as a cook in read-write would, with a blob that names its owner.
absl::Status TryToWrite(store::RemoteCache& remote) {
  const store::RemoteLimits limits{.patience = absl::Seconds(10)};
  ProbeStore store;
  const std::vector<Digest> probes = {Digest::Of(kProbe)};
  RETURN_IF_ERROR(remote.Send(probes, store, limits));
  if (!remote.State().takes_results)
    return absl::PermissionDeniedError("the server lets us only read results");
  return absl::OkStatus();
}

// Checks whether the remote answers, lets us in, and lets us do what is configured. One further
// check for each warning.
std::vector<Check> CheckRemote(const project::RemoteSection& section) {
  const auto remote = store::OpenRemote(director::RemoteConfigOf(section));
  if (!remote.ok()) return {{"remote", false, MessageOf(remote.status())}};
  std::vector<Check> checks;
  const std::vector<Digest> nothing = {Digest::Of("galley doctor")};
  const auto asked = remote->cache->FindMissing(nothing, {.patience = absl::Seconds(10)});
  if (!asked.ok()) {
    checks.push_back(
        {"remote", false, fmt::format("{}: {}", section.url, MessageOf(asked.status()))});
  } else if (!section.is_written) {
    checks.push_back({"remote", true, fmt::format("{} answers", section.url)});
  } else if (const absl::Status written = TryToWrite(*remote->cache); written.ok()) {
    checks.push_back({"remote", true, fmt::format("{} answers, and can be written", section.url)});
  } else {
    checks.push_back(
        {"remote", false,
         fmt::format("{} answers, but remote_mode = \"read-write\" cannot be done with these "
                     "credentials: {}; set it to \"read\", or ask for the right",
                     section.url, MessageOf(written))});
  }
  for (const std::string& warning : remote->warnings)
    checks.push_back({"credentials", false, warning});
  return checks;
}

// Checks rules and sidecars, as a cook would judge them.
std::vector<Check> CheckRules(const project::Project& project) {
  const auto scanned = director::ScanProject(project);
  if (!scanned.ok()) return {{"rules", false, MessageOf(scanned.status())}};
  if (const absl::Status recipes = director::CheckRecipes(*scanned->table); !recipes.ok())
    return {{"rules", false, MessageOf(recipes)}};
  const auto opened = director::Journal::Open(project.state_directory(), /*read_only=*/true);
  director::Journal* const journal = opened.ok() ? opened->get() : nullptr;
  const size_t packages = scanned->table->names().size();
  const size_t unmatched = director::UnmatchedFiles(project, *scanned->table, journal).size();
  std::vector<Check> checks = {
      {"rules", packages > 0,
       fmt::format("{}, {} no rule{}", Counted(packages, "package"),
                   unmatched == 1 ? "1 file matches" : fmt::format("{} files match", unmatched),
                   unmatched > 0 ? " (galley ls --unmatched lists them)" : "")}};
  const auto generated = director::GeneratedIn(*scanned->table, journal);
  std::vector<record::Warning> idle = director::IdleNames(project, *scanned->table, generated);
  for (record::Warning& one : director::IdleNever(*scanned->table, generated))
    idle.push_back(std::move(one));
  for (const record::Warning& one : idle) {
    if (!project.warnings.IsOff(one.kind))
      checks.push_back({"names", true, one.ToText(), false, true});
  }
  return checks;
}

}  // namespace

namespace {

std::string_view LevelOf(const Check& check) {
  if (!check.ok) return "BAD";
  return check.heals ? "heal" : check.warns ? "warn" : "ok";
}

}  // namespace

int RunDoctor(const GlobalOptions& options) {
  std::vector<Check> checks;
  const std::string worker = JoinPath(ProgramDirectory(), "galley-worker");
  const auto cookers = director::DescribeCookers(worker, "", false);
  if (cookers.ok()) {
    std::string names;
    for (const auto& one : cookers->descriptions)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", one.name, one.identity);
    checks.push_back({"cookers", true, names});
  } else {
    checks.push_back({"cookers", false, MessageOf(cookers.status())});
  }
  checks.push_back({"cores", true, fmt::format("{}", std::thread::hardware_concurrency())});
  checks.push_back(CheckMemory());
  for (LimitFinding& one : LookAtLimits())
    checks.push_back({std::move(one.name), one.ok, std::move(one.text)});
  const auto project = OpenProject(options);
  if (cookers.ok()) checks.push_back(CheckWalls(worker, project.ok() ? &*project : nullptr));
  std::vector<project::Origin> origins;
  if (!project.ok()) {
    checks.push_back({"project", false, MessageOf(project.status())});
  } else {
    origins = project->origins;
    checks.push_back({"project", true, fmt::format("{} in {}", project->name, project->root)});
    if (cookers.ok()) {
      for (Check& check : CheckRules(*project)) checks.push_back(std::move(check));
    }
    checks.push_back(CheckSpace("state", project->state_directory()));
    checks.push_back(CheckSpace("output", project->output_directory));
    checks.push_back(CheckSpace("store space", project->store.directory));
    AddStore(project->store.directory, checks);
    AddState(*project, checks);
    std::vector<record::CookerDescription> own;
    if (cookers.ok()) own = cookers->descriptions;
    AddFarm(*project, own, checks);
  }
  if (project.ok() && !project->store.remote.url.empty()) {
    for (Check& check : CheckRemote(project->store.remote)) checks.push_back(std::move(check));
  }
  bool ok = true;
  nlohmann::json json = {{"checks", nlohmann::json::array()}, {"values", nlohmann::json::array()}};
  for (const Check& check : checks) {
    ok = ok && check.ok;
    json["checks"].push_back({{"name", check.name},
                              {"ok", check.ok},
                              {"heals", check.heals},
                              {"warns", check.warns},
                              {"text", check.text}});
    if (!options.json) PrintLine("{:<4} {:<12} {}", LevelOf(check), check.name, check.text);
  }
  for (const project::Origin& origin : origins) {
    json["values"].push_back(
        {{"key", origin.key}, {"value", origin.value}, {"source", origin.source}});
    if (!options.json) PrintLine("     {} = {}  ({})", origin.key, origin.value, origin.source);
  }
  if (options.json) PrintJson(json);
  return ok ? kDone : kFailed;
}

}  // namespace galley::cli
