// MakeRules: the [[rule]]s and the `[scan] ignore` of galley.toml that do with each file what was
// decided. Pure.
//
// Files of one extension mostly share a rule, `**/*.png`; what differs follows as exceptions, for
// whole folders where that is possible, else by name. An extension of which some files must not be
// packages though a scan must see them (buffers, includes) has no such rule: its packages are
// named.
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
  size_t not_ignored = 0;           // files that are left out, and that no pattern ignores
  std::string not_ignored_example;  // a virtual path
};

SuggestedRules MakeRules(const std::vector<Root>& roots, const std::vector<Judged>& files,
                         const std::vector<Omission>& omissions, const Relations& relations);

}  // namespace galley::init
