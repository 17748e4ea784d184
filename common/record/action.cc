#include "common/record/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/base/errors.h"
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

// The files of the input root, sorted by path.
absl::StatusOr<std::vector<tree::TreeFile>> InputFiles(const ActionParts& parts) {
  std::vector<tree::TreeFile> files;
  files.push_back({std::string(kRecipePath), parts.recipe});
  files.push_back({std::string(kObservationsPath), Digest::Of(parts.encoded_observed)});
  files.push_back({std::string(kSourcePath), parts.source});
  for (size_t i = 0; i < parts.observed.size(); ++i) {
    const Observed& one = parts.observed[i];
    ASSIGN_OR_RETURN(const std::optional<Digest> present, CheckValue(one));
    if (!present) continue;
    std::string path = InputPath(one.what, i);
    if (path.empty()) continue;
    if (!tree::IsPlainPath(path)) {
      return InvalidArgumentError("{}: not a path in normal form", one.what.ToString());
    }
    files.push_back({std::move(path), *present, one.what.kind == ObservationKind::kTool});
  }
  std::ranges::sort(
      files, [](const tree::TreeFile& a, const tree::TreeFile& b) { return a.path < b.path; });
  return files;
}

absl::StatusOr<tree::BuiltTree> BuildInputRoot(const std::vector<tree::TreeFile>& files) {
  // Sources may differ in case only as far as a key is concerned.
  tree::BuiltTree built = tree::BuildTree(files, nullptr);
  if (built.conflicts.empty()) return built;
  const tree::Conflict& conflict = built.conflicts.front();
  return InvalidArgumentError("observations contradict each other: {} and {} ({})",
                              files[conflict.first].path, files[conflict.second].path,
                              conflict.reason);
}

// Assembled: an Action without its directories and without the bytes of files.
struct Assembled {
  std::vector<tree::TreeFile> files;
  tree::BuiltTree root;
  std::string command;
  std::string action;
};

absl::StatusOr<Assembled> Assemble(const ActionParts& parts) {
  if (!IsStrictlySorted(parts.observed))
    return absl::InvalidArgumentError("observations are not in canonical order");
  Assembled made;
  ASSIGN_OR_RETURN(made.files, InputFiles(parts));
  ASSIGN_OR_RETURN(made.root, BuildInputRoot(made.files));
  made.command = EncodeCommand(parts.cooker);
  made.action = EncodeAction(Digest::Of(made.command), made.root.root, parts.trust_domain);
  return made;
}

}  // namespace

absl::StatusOr<Action> BuildAction(const ActionInputs& inputs) {
  const std::string recipe = EncodeRecipe(inputs.recipe);
  const std::string observed = EncodeObserved(inputs.observed);
  ASSIGN_OR_RETURN(Assembled made, Assemble({.cooker = inputs.recipe.cooker,
                                             .recipe = Digest::Of(recipe),
                                             .source = inputs.source,
                                             .observed = inputs.observed,
                                             .encoded_observed = observed,
                                             .trust_domain = inputs.trust_domain}));
  Action action{.key = Digest::Of(made.action),
                .action = std::move(made.action),
                .command = std::move(made.command)};
  for (tree::TreeFile& file : made.files) {
    std::optional<std::string> bytes;
    if (file.path == kRecipePath) bytes = recipe;
    if (file.path == kObservationsPath) bytes = observed;
    action.files.push_back(
        {std::move(file.path), file.digest, file.is_executable, std::move(bytes)});
  }
  for (const Digest& folder : tree::ChildrenFirst(made.root))
    action.directories.push_back(made.root.directories.at(folder));
  return action;
}

absl::StatusOr<Digest> ActionKey(const ActionInputs& inputs) {
  const std::string observed = EncodeObserved(inputs.observed);
  return ActionKeyOf({.cooker = inputs.recipe.cooker,
                      .recipe = RecipeDigest(inputs.recipe),
                      .source = inputs.source,
                      .observed = inputs.observed,
                      .encoded_observed = observed,
                      .trust_domain = inputs.trust_domain});
}

absl::StatusOr<Digest> ActionKeyOf(const ActionParts& parts) {
  ASSIGN_OR_RETURN(const Assembled made, Assemble(parts));
  return Digest::Of(made.action);
}

absl::StatusOr<ActionMessage> DecodeAction(std::string_view bytes) {
  std::optional<Digest> command, input_root;
  std::string_view trust_domain;
  RETURN_IF_ERROR(tree::ReadAllFields(
      bytes, "a Galley Action", tree::FieldTo(1, "command_digest", command),
      tree::FieldTo(2, "input_root_digest", input_root), tree::FieldTo(9, "salt", trust_domain)));
  if (!command.has_value() || !input_root.has_value())
    return absl::InvalidArgumentError("expected a command digest and an input root digest");
  return ActionMessage{
      .command = *command, .input_root = *input_root, .trust_domain = std::string(trust_domain)};
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
