#include "director/devices/static_tree_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/parse_whole.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "fmt/format.h"

namespace galley::devices {
namespace {

constexpr std::string_view kStaticKind = "galley-static";

SealedLine LineOf(const StaticEntry& entry) {
  if (const auto* file = std::get_if<StaticFile>(&entry.shown)) {
    return {"file", fmt::format("{} {} {}", file->digest.ToString(),
                                file->is_executable ? 'x' : '-', entry.path)};
  }
  const StaticLink& link = std::get<StaticLink>(entry.shown);
  return {link.is_more ? "more" : "link",
          fmt::format("{} {} {}", link.end.node.hex(), link.end.names, entry.path)};
}

// Removes the text before the first blank, and returns it.
std::string_view TakeField(std::string_view& text) {
  const std::string_view field = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), field.size() + 1));
  return field;
}

std::optional<StaticEntry> FileEntryIn(std::string_view value) {
  const absl::StatusOr<Digest> digest = Digest::Parse(TakeField(value));
  const std::string_view mode = TakeField(value);
  if (!digest.ok() || (mode != "x" && mode != "-")) return std::nullopt;
  return StaticEntry{std::string(value), StaticFile{*digest, mode == "x"}};
}

std::optional<StaticEntry> LinkEntryIn(std::string_view value, bool is_more) {
  const std::optional<NodeKey> node = ParseNodeKey(TakeField(value));
  const std::optional<uint32_t> names = ParseWhole<uint32_t>(TakeField(value));
  const auto names_max = std::ranges::count(value, '/') + 1;
  if (!node || !names || *names == 0 || *names > names_max) return std::nullopt;
  return StaticEntry{std::string(value),
                     StaticLink{.end = {.node = *node, .names = *names}, .is_more = is_more}};
}

std::optional<StaticEntry> EntryIn(const SealedLine& line) {
  std::optional<StaticEntry> entry =
      line.key == "file" ? FileEntryIn(line.value) : LinkEntryIn(line.value, line.key == "more");
  return entry && tree::IsPlainPath(entry->path) ? std::move(entry) : std::nullopt;
}

}  // namespace

std::string EncodeStaticTree(const StaticTree& tree) {
  std::vector<SealedLine> lines = {{"root", tree.root.ToString()}};
  for (const std::string& path : tree.outputs_named_more) lines.push_back({"named_more", path});
  for (const StaticEntry& entry : tree.hidden) lines.push_back(LineOf(entry));
  return Seal(kStaticKind, kStaticTreeVersion, lines);
}

absl::StatusOr<StaticTree> DecodeStaticTree(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<SealedLine> lines,
                   Unseal(kStaticKind, kStaticTreeVersion, text));
  const absl::StatusOr<Digest> root = Digest::Parse(ValueOf(lines, "root"));
  if (!root.ok()) return absl::DataLossError("a static tree without a root");
  StaticTree tree{.root = *root};
  for (const SealedLine& line : lines) {
    if (line.key == "named_more") tree.outputs_named_more.push_back(line.value);
    if (line.key != "file" && line.key != "link" && line.key != "more") continue;
    std::optional<StaticEntry> entry = EntryIn(line);
    if (!entry) return DataLossError("a static tree with the line `{} {}`", line.key, line.value);
    tree.hidden.push_back(*std::move(entry));
  }
  return tree;
}

}  // namespace galley::devices
