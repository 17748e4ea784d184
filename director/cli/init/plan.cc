#include "director/cli/init/plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "director/cli/init/growth.h"
#include "director/cli/init/judge_file.h"
#include "director/cli/init/make_rules.h"
#include "director/cli/init/name_rules.h"
#include "director/cli/init/project_text.h"
#include "director/cli/init/relate.h"
#include "director/cli/init/survey.h"

namespace galley::init {
namespace {

constexpr size_t kExamples = 3;

class Table {
 public:
  void AddFile(const std::string& extension, const Decision& decision, const std::string& path) {
    Row& row =
        rows_[{decision.action, decision.cooker, extension, decision.settings, decision.reason}];
    row.extension = extension;
    row.decision = decision;
    ++row.files;
    const bool is_guess = !decision.settings.empty();
    if (row.examples.size() < (is_guess ? kGuessesMax : kExamples)) row.examples.push_back(path);
  }

  std::vector<Row> Rows() const {
    std::vector<Row> rows;
    for (const auto& [key, row] : rows_) rows.push_back(row);
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
      return std::tuple(a.decision.action, b.files) < std::tuple(b.decision.action, a.files);
    });
    return rows;
  }

 private:
  using Key = std::tuple<Action, std::string, std::string, std::string, std::string>;
  std::map<Key, Row> rows_;
};

std::string ShownExtension(const std::string& path) {
  const std::string extension = Extension(path);
  return extension.empty() ? "(none)" : "." + extension;
}

std::string ShownKind(const Omission& omission) {
  if (omission.is_folder) return "(folder)";
  return omission.is_hidden ? "(hidden)" : "(odd)";
}

}  // namespace

Plan MakePlan(const Tree& tree, const std::string& name, size_t files_max, Looker* looker) {
  Survey survey = TakeSurvey(tree, files_max);
  std::vector<Judged> files = JudgeFiles(tree, survey.files, looker);
  const std::vector<Root> roots = ChooseRoots(files);
  const Relations relations = Relate(roots, survey.links, files, looker);

  Plan plan{.is_cut = survey.is_cut};
  plan.named_only = relations.named_only;
  plan.may_be_data = relations.may_be_data;
  plan.images = relations.images;
  plan.images_decoded = relations.images_decoded;
  plan.growth = EstimateGrowth(files);
  Table table;
  for (const Root& root : roots) plan.mounts.push_back({root, 0});
  for (const Judged& file : files) {
    table.AddFile(ShownExtension(file.file.path), file.decision, file.file.path);
    const bool is_package = !file.decision.cooker.empty();
    if (file.is_pointer && is_package && plan.lfs_pointers++ == 0)
      plan.lfs_example = file.file.path;
    if (const Root* root = RootOf(roots, file.file.path); root != nullptr && is_package)
      ++plan.mounts[static_cast<size_t>(root - roots.data())].packages;
  }
  for (const Omission& omission : survey.omissions) {
    // A scan names what it meets under a mount.
    const bool fails = omission.has_bad_name && RootOf(roots, omission.path) != nullptr;
    table.AddFile(ShownKind(omission), fails ? Rename(omission.reason) : LeaveOut(omission.reason),
                  omission.path);
  }
  plan.rows = table.Rows();
  ProjectTextOptions text{
      .name = name,
      .roots = roots,
      .rules = MakeRules(roots, files, survey.omissions, relations),
      .wants_late_spirv = relations.wants_late_spirv,
  };
  text.texture_max_size = plan.growth ? plan.growth->max_size : 0;
  plan.not_ignored = text.rules.not_ignored;
  plan.not_ignored_example = text.rules.not_ignored_example;
  plan.is_empty = text.rules.rules.empty();
  plan.toml = ProjectText(text);
  return plan;
}

}  // namespace galley::init
