#include "director/devices/static_entry.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "common/tree/path_limits.h"
#include "common/tree/tree.h"
#include "director/devices/generated_list.h"

namespace galley::devices {
namespace {

constexpr std::string_view kMoreSuffix = ".d";

bool FitsTree(std::string_view path) {
  // Folders above `static` and in the node count, too; so does the folder of the file itself.
  constexpr size_t kOtherFolders = 8;
  const auto folders = static_cast<size_t>(std::ranges::count(path, '/'));
  return tree::PathFault(path).empty() && folders + kOtherFolders <= tree::kTreeDepthMax;
}

void AppendFitting(std::string path, std::variant<StaticFile, StaticLink> shown,
                   std::vector<StaticEntry>& entries) {
  if (FitsTree(path)) entries.push_back({std::move(path), std::move(shown)});
}

}  // namespace

bool IsNamedMore(std::string_view name) { return name.ends_with(kMoreSuffix) || name == kListName; }

void AppendStaticEntries(const ShownPackage& package, std::vector<StaticEntry>& entries) {
  const record::OutputNames& outputs = package.outputs;
  if (package.file && package.file->digest.size_bytes() <= kStaticFileBytesMax) {
    GALLEY_CHECK(outputs.always.size() == 1);
    return AppendFitting(package.stage_path + outputs.always[0], *package.file, entries);
  }
  const NodeKey node = NodeKeyOf(package.package);
  for (const std::string& suffix : outputs.always) {
    // The link to the folder leads to these outputs, too.
    if (outputs.has_more && suffix.starts_with(".d/")) continue;
    const auto folders = static_cast<uint32_t>(std::ranges::count(suffix, '/'));
    AppendFitting(package.stage_path + suffix,
                  StaticLink{.end = {.node = node, .names = folders + 1}}, entries);
  }
  const StaticLink more{.end = {.node = node, .names = 1}, .is_more = true};
  if (outputs.has_more) AppendFitting(package.stage_path + std::string(kMoreSuffix), more, entries);
  if (!outputs.may_generate || GeneratedListName(LastName(package.package)) != kListName) return;
  AppendFitting(package.stage_path + "/" + std::string(kListName), more, entries);
}

}  // namespace galley::devices
