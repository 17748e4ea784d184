#include "common/record/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/record/observed_value.h"
#include "common/tree/plain_name.h"
#include "common/tree/tree.h"
#include "common/tree/wire_fields.h"

namespace galley::record {
namespace {

// "../../a/b" -> "2/a/b"; "a/b" -> "0/a/b".
std::string CountUps(std::string_view path) {
  size_t ups = 0;
  while (path.substr(0, 3) == "../") {
    path.remove_prefix(3);
    ++ups;
  }
  return fmt::format("{}/{}", ups, path);
}

std::string EncodeEnvironmentVariable(std::string_view name, std::string_view value) {
  WireWriter writer;
  writer.Bytes(1, name);
  writer.Bytes(2, value);
  return writer.Take();
}

std::string EncodeCommand(std::string_view cooker) {
  WireWriter writer;
  writer.Element(1, "galley-cook");
  writer.Element(1, cooker);
  writer.Element(2, EncodeEnvironmentVariable("LANG", "C.UTF-8"));
  writer.Element(2, EncodeEnvironmentVariable("TZ", "UTC"));
  writer.Element(7, "out");
  return writer.Take();
}

std::string EncodeAction(const Digest& command, const Digest& input_root,
                         std::string_view trust_domain) {
  WireWriter writer;
  writer.Element(1, tree::EncodeDigest(command));
  writer.Element(2, tree::EncodeDigest(input_root));
  writer.Bytes(9, trust_domain);
  return writer.Take();
}

absl::StatusOr<std::vector<InputFile>> InputFiles(const ActionInputs& inputs) {
  std::vector<InputFile> files;
  std::string recipe = EncodeRecipe(inputs.recipe);
  std::string observed = EncodeObserved(inputs.observed);
  files.push_back({"recipe", Digest::Of(recipe), false, std::move(recipe)});
  files.push_back({"observations", Digest::Of(observed), false, std::move(observed)});
  files.push_back({"source", inputs.source, false, std::nullopt});
  for (size_t i = 0; i < inputs.observed.size(); ++i) {
    const Observed& one = inputs.observed[i];
    ASSIGN_OR_RETURN(const std::optional<Digest> present, CheckValue(one));
    if (!present) continue;
    std::string path = InputPath(one.what, i);
    if (path.empty()) continue;
    if (!tree::IsPlainPath(path)) {
      return absl::InvalidArgumentError(
          fmt::format("{}: not a path in normal form", one.what.ToString()));
    }
    files.push_back(
        {std::move(path), *present, one.what.kind == ObservationKind::kTool, std::nullopt});
  }
  std::sort(files.begin(), files.end(),
            [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
  return files;
}

absl::StatusOr<tree::BuiltTree> BuildInputRoot(const std::vector<InputFile>& files) {
  std::vector<tree::TreeFile> tree_files;
  tree_files.reserve(files.size());
  for (const InputFile& file : files)
    tree_files.push_back({file.path, file.digest, file.is_executable});
  // Sources may differ in case only as far as a key is concerned.
  tree::BuiltTree built =
      tree::BuildTree(tree_files, [](std::string_view path) { return std::string(path); });
  if (built.conflicts.empty()) return built;
  const tree::Conflict& conflict = built.conflicts.front();
  return absl::InvalidArgumentError(
      fmt::format("observations contradict each other: {} and {} ({})", files[conflict.first].path,
                  files[conflict.second].path, conflict.reason));
}

// Appends the folders below `digest` and then itself; each once.
void AppendChildrenFirst(const Digest& digest, const std::map<Digest, std::string>& folders,
                         std::set<Digest>& seen, std::vector<std::string>& out) {
  if (!seen.insert(digest).second) return;
  const std::string& bytes = folders.at(digest);
  const absl::StatusOr<tree::Directory> directory = tree::DecodeDirectory(bytes);
  GALLEY_CHECK(directory.ok());
  for (const tree::DirectoryNode& child : directory->directories) {
    AppendChildrenFirst(child.digest, folders, seen, out);
  }
  out.push_back(bytes);
}

// Without `directories`, which the key alone does not need.
absl::StatusOr<Action> Assemble(const ActionInputs& inputs, tree::BuiltTree& root) {
  if (!IsStrictlySorted(inputs.observed)) {
    return absl::InvalidArgumentError("observations are not in canonical order");
  }
  Action action;
  ASSIGN_OR_RETURN(action.files, InputFiles(inputs));
  ASSIGN_OR_RETURN(root, BuildInputRoot(action.files));
  action.command = EncodeCommand(inputs.recipe.cooker);
  action.action = EncodeAction(Digest::Of(action.command), root.root, inputs.trust_domain);
  action.key = Digest::Of(action.action);
  return action;
}

}  // namespace

absl::StatusOr<Action> BuildAction(const ActionInputs& inputs) {
  tree::BuiltTree root;
  ASSIGN_OR_RETURN(Action action, Assemble(inputs, root));
  std::set<Digest> seen;
  AppendChildrenFirst(root.root, root.directories, seen, action.directories);
  return action;
}

absl::StatusOr<Digest> ActionKey(const ActionInputs& inputs) {
  tree::BuiltTree root;
  ASSIGN_OR_RETURN(const Action action, Assemble(inputs, root));
  return action.key;
}

std::string InputPath(const Observation& what, size_t index) {
  const std::string& subject = what.subject;
  const bool is_absolute = subject.starts_with('/');
  switch (what.kind) {
    case ObservationKind::kFile:
      return is_absolute ? "abs" + subject : "rel/" + CountUps(subject);
    case ObservationKind::kCooked:
      return fmt::format("cooked/{}", index);
    case ObservationKind::kTool:
      if (is_absolute) return "";
      return subject.starts_with("../") ? "tools-up/" + CountUps(subject) : "tools/" + subject;
    case ObservationKind::kExists:
    case ObservationKind::kList:
    case ObservationKind::kGlob:
    case ObservationKind::kPlatform:
    case ObservationKind::kEnv:
    case ObservationKind::kName:
      return "";
  }
  return "";
}

}  // namespace galley::record
