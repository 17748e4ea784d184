#include "director/host/standing_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/record/observation.h"
#include "director/host/answered_variables.h"
#include "director/shell/tool_digests.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Says whether the key decides only how a cook is run, and not its outcome.
bool DecidesNothing(std::string_view key) {
  return key.starts_with("farm.") || key.starts_with("director.");
}

std::string TextOf(const FileStat& stat) {
  return fmt::format("{} {} {} {} {}", stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode,
                     stat.device);
}

std::string UserText() {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<size_t>(std::max(0, count)));
  std::ranges::sort(groups);
  std::string text = fmt::format("{} {}", ::geteuid(), ::getegid());
  for (const gid_t group : groups) text += fmt::format(" {}", group);
  return text;
}

template <typename List>
void PutList(std::string& text, std::string_view name, const List& values) {
  for (const std::string& value : values)
    text += fmt::format("{} {}:{}\n", name, value.size(), value);
}

// "/x" and "x" are two files, also for an ask from another folder.
void PutSelection(std::string& text, const v1::Selection& selection) {
  if (HasSelection(selection)) text += fmt::format("from {}\n", AbsolutePath("."));
  PutList(text, "positional", selection.positional());
  PutList(text, "map", selection.maps());
  PutList(text, "package", selection.packages());
  PutList(text, "directory", selection.directories());
  PutList(text, "section", selection.map_sections());
  PutList(text, "culture", selection.cultures());
  PutList(text, "never", selection.never());
  text += fmt::format("no soft references {}\n", selection.no_soft_references());
}

std::string PathOf(const std::string& tool, const std::string& project_root) {
  return AbsolutePath(tool, project_root);
}

int64_t NowNanos() { return absl::ToUnixNanos(absl::Now()); }

}  // namespace

// A field that decides nothing is in the list of standing_facts_test.cc, which knows all fields:
// how files are found and how urgent the cook is, and `adopt`, which has no effect on a sandbox
// that is ours. The output folder is the project's, or replaces it. The environment is compared by
// itself (StandingAsk::differing).
std::optional<std::string> TextOfAsk(const v1::CookAsk& ask, const project::Project& project) {
  if (ask.force() || ask.retry_failed() || ask.repair()) return std::nullopt;
  std::string text;
  PutSelection(text, ask.selection());
  PutList(text, "platform", ask.platforms());
  text += fmt::format("no stage {}\nexact {}\nfail fast {}\numask {:o}\n", ask.no_stage(),
                      ask.exact(), ask.fail_fast(), ask.umask() & 0777);
  PutList(text, "out", std::vector{project.output_directory});
  return text;
}

absl::StatusOr<Facts> FactsOf(const project::Project& project, const Cookers& cookers) {
  ASSIGN_OR_RETURN(const FileStat program, StatFile("/proc/self/exe"));
  std::map<std::string, std::string> values = {
      {"the program galley", TextOf(program)},
      {"the user", UserText()},
      {"the project's folder", project.root},
      {"the output folder", project.output_directory},
      {std::string(kProjectFileFact), project.file_digest.ToString()},
      {"galley.toml, beside its rules", project.but_rules.ToString()},
      {"the cookers", Digest::Of(cookers.json).ToString() + " " + cookers.build}};
  for (const project::Origin& one : project.origins) {
    if (!DecidesNothing(one.key)) values["the value " + one.key] = one.value;
  }
  Facts facts;
  for (auto& [name, value] : values) facts.push_back({name, std::move(value)});
  return facts;
}

Facts EnvironmentFacts(const ObservedValues& observed) {
  Facts facts;
  for (const auto& [name, value] : observed.environment()) facts.push_back({name, value});
  return facts;
}

Facts EnvironmentNow(const Facts& before, const project::Project& project,
                     const std::map<std::string, std::string>& environment) {
  const std::map<std::string, std::string> answered = AnsweredVariables(project, environment);
  Facts facts;
  for (const Fact& fact : before) {
    const auto found = answered.find(fact.name);
    facts.push_back({fact.name, found == answered.end() ? std::string(record::kUnset)
                                                        : record::SetValue(found->second)});
  }
  return facts;
}

absl::StatusOr<std::vector<StandingTool>> ToolsOf(const ObservedValues& observed,
                                                  const std::string& project_root) {
  std::vector<StandingTool> tools;
  for (const auto& [name, value] : observed.tools()) {
    StandingTool tool{.path = PathOf(name, project_root), .value = value, .is_racy = true};
    if (const std::string differs = LookAgain(tool); !differs.empty())
      return absl::FailedPreconditionError(differs);
    tools.push_back(std::move(tool));
  }
  return tools;
}

std::string LookAgain(StandingTool& tool) {
  const int64_t looked_ns = NowNanos();
  const FileStat stat = StatFile(tool.path).value_or(FileStat());
  if (!tool.is_racy && stat == tool.stat) return "";
  const absl::StatusOr<std::string> value = ToolDigests().ValueOf(tool.path);
  if (!value.ok() || *value != tool.value)
    return fmt::format("the tool {} is another one", tool.path);
  tool.stat = stat;
  tool.is_racy = stat.mode != 0 && IsRacy(stat, looked_ns);
  return "";
}

}  // namespace galley::director
