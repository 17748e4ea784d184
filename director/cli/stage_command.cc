// StageCommand: stage --check: compares the sandboxes with their roots.

#include <algorithm>
#include <cstdio>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/open_store.h"
#include "director/cli/package_record.h"
#include "director/cli/print_line.h"
#include "director/stage/check_stage.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::StageCheck;
using State = StageCheck::State;

const char* NameOf(State state) {
  static constexpr const char* kNames[] = {"staged", "absent", "busy", "interrupted", "unknown"};
  return kNames[static_cast<int>(state)];
}

// Returns the text for a sandbox of which nothing is known.
std::string WhyUnknown(State state) {
  switch (state) {
    case State::kStaged:
      return {};
    case State::kAbsent:
      return "nothing was staged there: `galley cook` does";
    case State::kBusy:
      return "a cook stages there now: ask again when it is done";
    case State::kInterrupted:
      return "a stage was interrupted there: the next `galley cook` completes it";
    case State::kUnknown:
      return "it does not say what it holds (its .galley-root is damaged, or gone): the next "
             "`galley cook` compares its files";
  }
  return {};
}

void PrintNames(std::string_view what, const std::vector<std::string>& names) {
  for (const std::string& name : names) PrintLine("  {:<8} {}", what, EscapeControl(name));
}

void Print(const GlobalOptions& options, const std::string& platform, const std::string& directory,
           const StageCheck& check, const std::string& last) {
  if (options.json) {
    return PrintJson({{"platform", platform},
                      {"directory", directory},
                      {"state", NameOf(check.state)},
                      {"equal", check.IsEqual() && last.empty()},
                      {"root", check.root ? check.root->ToString() : ""},
                      {"last_root", last},
                      {"files_equal", check.equal},
                      {"missing", check.missing},
                      {"changed", check.changed},
                      {"foreign", check.foreign}});
  }
  if (check.state != State::kStaged) {
    PrintLine("{}: {}: {}", platform, EscapeControl(directory), WhyUnknown(check.state));
    return;
  }
  if (!options.quiet || !check.IsEqual() || !last.empty()) {
    PrintLine(
        "{}: root {}: {} equal, {} missing, {} changed, {} not put there by "
        "Galley",
        platform, check.root->ToString(), check.equal, check.missing.size(), check.changed.size(),
        check.foreign.size());
  }
  if (!last.empty()) {
    std::puts(
        fmt::format("  the last root is {}, which was not staged: `galley cook` stages it", last)
            .c_str());
  }
  PrintNames("missing", check.missing);
  PrintNames("changed", check.changed);
  if (!options.quiet) PrintNames("foreign", check.foreign);
}

// Returns the platform's last root, if the sandbox says that it holds another root. A narrow cook
// whose packages all failed publishes nothing, and leaves a root without a file.
std::string OtherLastRoot(const std::vector<store::PublishedRoot>& roots,
                          const std::string& platform, const StageCheck& check) {
  if (!check.root.has_value() || *check.root == Digest()) return {};
  const auto last =
      std::ranges::find_if(roots, [&](const auto& one) { return one.platform == platform; });
  return last == roots.end() || last->root == *check.root ? std::string() : last->root.ToString();
}

}  // namespace

int RunStageCheck(const GlobalOptions& options, const std::string& platform) {
  const auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  if (const std::string unknown = UnknownPlatform(*project, platform); !unknown.empty())
    return Fail(options, kUsage, unknown);
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto roots = opened->store->Roots(opened->project_id);
  if (!roots.ok()) return Fail(options, kInfrastructure, MessageOf(roots.status()));
  bool is_equal = true;
  for (const project::Platform& one : project->platforms) {
    if (!platform.empty() && one.name != platform) continue;
    const std::string directory = JoinPath(project->output_directory, one.name);
    const auto check = director::CheckStage(*opened->store, directory);
    if (!check.ok()) return Fail(options, kInfrastructure, MessageOf(check.status()));
    const std::string last = OtherLastRoot(*roots, one.name, *check);
    Print(options, one.name, directory, *check, last);
    is_equal &= check->IsEqual() && last.empty();
  }
  return is_equal ? kDone : kFailed;
}

}  // namespace galley::cli
