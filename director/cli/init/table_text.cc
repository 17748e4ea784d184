#include "director/cli/init/table_text.h"

#include <algorithm>

#include "common/base/log.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

// Rows of so few files name them.
constexpr size_t kFilesNamed = 3;

std::string What(const Decision& decision) {
  switch (decision.action) {
    case Action::kCook:
      return decision.settings.empty() ? decision.cooker
                                       : fmt::format("{}, {}", decision.cooker, decision.settings);
    case Action::kCopy:
      return "copy";
    case Action::kRead:
      return "read, no package";
    case Action::kRename:
      return "rename it";
    case Action::kLeaveOut:
      return "left out";
  }
  return "";
}

std::string_view ActionName(Action action) {
  switch (action) {
    case Action::kCook:
      return "cook";
    case Action::kCopy:
      return "copy";
    case Action::kRead:
      return "read";
    case Action::kRename:
      return "rename";
    case Action::kLeaveOut:
      return "leave_out";
  }
  return "";
}

std::string Why(const Row& row) {
  if (row.decision.action == Action::kCook) return row.decision.reason;
  std::string why = row.decision.reason;
  if (row.files <= kFilesNamed) {
    why += fmt::format(" ({})", fmt::join(row.examples, ", "));
  } else {
    why += fmt::format(" ({}, ...)", row.examples[0]);
  }
  return EscapeControl(why);
}

}  // namespace

std::string TableText(const Plan& plan) {
  size_t extension_width = 9;
  size_t what_width = 4;
  for (const Row& row : plan.rows) {
    extension_width = std::max(extension_width, EscapeControl(row.extension).size());
    what_width = std::max(what_width, What(row.decision).size());
  }
  std::string text;
  for (const MountPlan& mount : plan.mounts) {
    text +=
        fmt::format("{} is {}: {} {}\n", mount.root.path,
                    mount.root.folder.empty() ? "this folder" : EscapeControl(mount.root.folder),
                    mount.packages, mount.packages == 1 ? "package" : "packages");
  }
  if (plan.rows.empty()) return text + "no file was found\n";
  text += fmt::format("{:<{}}  {:>7}  {:<{}}  why\n", "extension", extension_width, "files", "what",
                      what_width);
  for (const Row& row : plan.rows) {
    text += fmt::format("{:<{}}  {:>7}  {:<{}}  {}\n", EscapeControl(row.extension),
                        extension_width, row.files, What(row.decision), what_width, Why(row));
  }
  if (plan.lfs_pointers > 0) {
    text += fmt::format(
        "{} {} of Git LFS, whose contents are not here ({}{}): run `git lfs pull` before you cook; "
        "the rules go by the names\n",
        plan.lfs_pointers, plan.lfs_pointers == 1 ? "file is a pointer" : "files are pointers",
        EscapeControl(plan.lfs_example), plan.lfs_pointers == 1 ? "" : ", ...");
  }
  if (plan.is_cut)
    text +=
        fmt::format("only the first {} files were looked at; the rules go by them\n", kFilesMax);
  return text;
}

nlohmann::json TableJson(const Plan& plan) {
  nlohmann::json json = {{"mounts", nlohmann::json::array()},
                         {"table", nlohmann::json::array()},
                         {"lfs_pointers", plan.lfs_pointers},
                         {"cut", plan.is_cut}};
  for (const MountPlan& mount : plan.mounts) {
    json["mounts"].push_back({{"path", mount.root.path},
                              {"dir", mount.root.folder.empty() ? "." : mount.root.folder},
                              {"packages", mount.packages}});
  }
  for (const Row& row : plan.rows) {
    json["table"].push_back({{"extension", row.extension},
                             {"files", row.files},
                             {"action", ActionName(row.decision.action)},
                             {"cooker", row.decision.cooker},
                             {"settings", row.decision.settings},
                             {"reason", row.decision.reason},
                             {"examples", row.examples}});
  }
  return json;
}

}  // namespace galley::init
