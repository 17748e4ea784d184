// InitCommand: init.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/named_file.h"
#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "common/project/state_folder.h"
#include "director/cli/commands.h"
#include "director/cli/init/disk_tree.h"
#include "director/cli/init/plan.h"
#include "director/cli/init/table_text.h"
#include "director/cli/init/worker_looker.h"
#include "director/cli/interrupt.h"
#include "director/cli/print_line.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

// Turns "/home/me/my game" into "my-game".
std::string ProjectName(const std::string& directory) {
  std::string name = directory.substr(directory.rfind('/') + 1);
  std::ranges::replace_if(
      name, [](char c) { return !IsAlphanumericOr(c, "_-"); }, '-');
  return name.empty() ? "game" : name;
}

absl::Status Write(const std::string& directory, const std::string& file, const std::string& toml) {
  RETURN_IF_ERROR(WriteNamedFile(file, toml));
  return project::MakeStateFolder(directory);
}

}  // namespace

int RunInit(const GlobalOptions& options, const std::string& directory) {
  const std::string path = AbsolutePath(directory);
  const std::string file = JoinPath(path, project::kProjectFile);
  if (FileExists(file))
    return Fail(options, kUsage, fmt::format("{} is there already; it was left alone", file));
  const auto stat = StatFile(path);
  if (!stat.ok() || !S_ISDIR(stat->mode))
    return Fail(options, kUsage, fmt::format("{} is not a folder", path));
  const std::string worker = JoinPath(ProgramDirectory(), "galley-worker");
  if (::access(worker.c_str(), X_OK) != 0)
    return Fail(options, kInfrastructure,
                fmt::format("{}: {}; init asks it what the files are. {} was not written", worker,
                            std::strerror(errno), file));
  // Nothing is lost before init writes, so an interrupt may end it anywhere.
  std::atomic<bool> is_ending = false;
  const InterruptWatch interrupts([&] {
    if (is_ending.exchange(true)) return;
    TerminateChildren();
    std::_Exit(Fail(options, kInterrupted, fmt::format("interrupted: {} was not written", file)));
  });
  init::WorkerLooker looker({.directory = path, .program = worker});
  init::Plan plan =
      init::MakePlan(init::DiskTree(path), ProjectName(path), init::kFilesMax, &looker);
  plan.not_looked_at = looker.trouble();
  if (is_ending.exchange(true)) ::pause();  // until the process is gone
  if (const absl::Status written = Write(path, file, plan.toml); !written.ok())
    return Fail(options, kInfrastructure, MessageOf(written));
  if (options.json) {
    nlohmann::json json = init::TableJson(plan);
    json["file"] = file;
    PrintJson(json);
  } else if (!options.quiet) {
    const std::string next =
        plan.is_empty ? "nothing to cook was found: its last lines show how a rule is written"
                      : fmt::format("look through it, then run: galley cook --project {}", path);
    PrintLine("{}wrote {}; {}", init::TableText(plan), file, next);
  }
  return kDone;
}

}  // namespace galley::cli
