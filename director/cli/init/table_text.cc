#include "director/cli/init/table_text.h"

#include <algorithm>

#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "director/cli/init/data_images.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

// Rows of so few files name them.
constexpr size_t kFilesNamed = 3;
// So many files of a guess are named.
constexpr size_t kGuessesNamed = 12;
// The lines of guesses have the settings in full.
constexpr size_t kSettingsShown = 30;

std::string Shortened(const std::string& settings) {
  if (settings.size() <= kSettingsShown) return settings;
  const size_t comma = settings.rfind(", ", kSettingsShown);
  return comma == std::string::npos ? settings : settings.substr(0, comma) + ", ...";
}

std::string What(const Decision& decision) {
  switch (decision.action) {
    case Action::kCook:
      return decision.settings.empty()
                 ? decision.cooker
                 : fmt::format("{}, {}", decision.cooker, Shortened(decision.settings));
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

// "a, b, c and 7 more".
std::string NamesText(const std::vector<std::string>& names, size_t count) {
  const size_t shown = std::min(names.size(), kGuessesNamed);
  const auto end = names.begin() + static_cast<ptrdiff_t>(shown);
  std::string text = EscapeControl(fmt::format("{}", fmt::join(names.begin(), end, ", ")));
  if (count > shown) text += fmt::format(" and {} more (--json names them)", count - shown);
  return text;
}

std::string GuessesText(const Plan& plan) {
  std::string text;
  for (const Row& row : plan.rows) {
    if (row.decision.action != Action::kCook || row.decision.settings.empty()) continue;
    text += fmt::format("  {}: {}\n", row.decision.settings, NamesText(row.examples, row.files));
  }
  if (!plan.named_only.empty())
    text += fmt::format("  named like a normal map, with the pixels of a picture: {}\n",
                        NamesText(plan.named_only, plan.named_only.size()));
  if (!plan.may_be_data.empty())
    text += fmt::format(
        "  may be data and no pictures (few colours with hard edges, or heights): {}\n"
        "    if the game reads their values, give them `settings = {{ {} }}`\n",
        NamesText(plan.may_be_data, plan.may_be_data.size()), kDataSettings);
  return text.empty() ? "" : "guesses about the use of images, for you to look through:\n" + text;
}

std::string GrowthText(const Plan& plan) {
  if (!plan.growth) return "";
  const Growth& growth = *plan.growth;
  std::string text =
      fmt::format("the textures grow {} times: {} of images take about {} cooked (BC, with mips); ",
                  growth.cooked_bytes / std::max<uint64_t>(growth.source_bytes, 1),
                  HumanBytes(growth.source_bytes), HumanBytes(growth.cooked_bytes));
  if (growth.max_size > 0)
    text += fmt::format("`settings = {{ max_size = {} }}` in their rule makes that about {}, and ",
                        growth.max_size, HumanBytes(growth.cooked_bytes_bounded));
  return text + "`zstd = 9` packs what is staged (docs/cookers/texture.md)\n";
}

std::string RestText(const Plan& plan) {
  std::string text;
  if (plan.images_decoded > 0 && plan.images_decoded < plan.images)
    text += fmt::format(
        "{} of {} images were decoded for the guesses; of the others, the names decide\n",
        plan.images_decoded, plan.images);
  if (plan.not_ignored > 0)
    text += fmt::format(
        "{} of the files that are left out would need too many patterns, and are not in `[scan] "
        "ignore` ({}, ...): a cook counts them as files without a rule\n",
        plan.not_ignored, EscapeControl(plan.not_ignored_example));
  if (!plan.not_looked_at.empty())
    text += fmt::format("not all files were looked into, and their names decide: {}\n",
                        EscapeControl(plan.not_looked_at));
  return text;
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
  text += GuessesText(plan) + GrowthText(plan) + RestText(plan);
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
                         {"named_only", plan.named_only},
                         {"may_be_data", plan.may_be_data},
                         {"images", plan.images},
                         {"images_decoded", plan.images_decoded},
                         {"not_ignored", plan.not_ignored},
                         {"cut", plan.is_cut}};
  if (plan.growth)
    json["growth"] = {{"images", plan.growth->images},
                      {"source_bytes", plan.growth->source_bytes},
                      {"cooked_bytes", plan.growth->cooked_bytes},
                      {"max_size", plan.growth->max_size}};
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
