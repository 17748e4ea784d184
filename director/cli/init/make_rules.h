// MakeRules: makes the [[rule]]s and the `[scan] ignore` of galley.toml that carry out the
// decisions about files. Pure.
//
// Files of one extension mostly share a rule, `**/*.png`; exceptions follow, for whole folders if
// possible, otherwise by name. If some files of an extension must be scanned but must not be
// packages, such as buffers and includes, there is no such rule, and the packages are named.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "director/cli/init/relate.h"
#include "director/cli/init/survey.h"

namespace galley::init {

struct SuggestedRule {
  std::string match;
  std::string cooker;    // "" for a rule that only sets settings
  std::string settings;  // `usage = "normal"`; "" for none
  std::string comment;
  bool ignore_case = false;
};

struct SuggestedIgnore {
  std::vector<std::string> globs;
  std::string comment;
};

struct SuggestedRules {
  std::vector<SuggestedRule> rules;
  std::vector<SuggestedIgnore> ignores;
  size_t not_ignored = 0;           // files that are left out, but match no ignore pattern
  std::string not_ignored_example;  // a virtual path
};

SuggestedRules MakeRules(const std::vector<Root>& roots, const std::vector<Judged>& files,
                         const std::vector<Omission>& omissions, const Relations& relations);

}  // namespace galley::init
