#include "common/content/ignore_rules.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"

namespace galley::content {
namespace {

// Names that a scan never looks at, whatever `[scan] ignore` says (docs/project-file.md).
bool IsAlwaysIgnored(std::string_view name) {
  return name == ".galley" || name == ".git" || name == ".svn" || name == ".hg" ||
         name.starts_with(".p4") || name == "Thumbs.db" || name == ".DS_Store" ||
         name.ends_with('~');
}

}  // namespace

absl::StatusOr<IgnoreRules> IgnoreRules::Create(
    const std::vector<std::string>& patterns,
    const std::vector<std::string>& excluded_directories) {
  IgnoreRules rules;
  for (const std::string& pattern : patterns) {
    const bool is_suffix = !pattern.starts_with('/') && !pattern.starts_with("**/");
    ASSIGN_OR_RETURN(Glob glob, Glob::Parse(is_suffix ? "**/" + pattern : pattern));
    rules.globs_.push_back(std::move(glob));
  }
  for (const std::string& directory : excluded_directories) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(directory, error);
    rules.excluded_.push_back(AbsolutePath(error ? directory : real.string()));
  }
  return rules;
}

IgnoreRules IgnoreRules::Nothing() {
  IgnoreRules rules;
  rules.is_nothing_ = true;
  return rules;
}

bool IgnoreRules::Ignores(std::string_view path, std::string_view name) const {
  if (is_nothing_) return false;
  return IsAlwaysIgnored(name) ||
         std::ranges::any_of(globs_, [&](const Glob& glob) { return glob.Matches(path); });
}

bool IgnoreRules::ExcludesDirectory(std::string_view real_path) const {
  return std::ranges::any_of(
      excluded_, [&](const std::string& excluded) { return IsUnder(real_path, excluded); });
}

}  // namespace galley::content
