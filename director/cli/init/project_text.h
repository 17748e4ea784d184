// ProjectText: galley.toml as text, commented. Pure.
#pragma once

#include <string>
#include <vector>

#include "director/cli/init/content_roots.h"
#include "director/cli/init/make_rules.h"

namespace galley::init {

struct ProjectTextOptions {
  std::string name;
  std::vector<Root> roots;
  SuggestedRules rules;
  bool wants_late_spirv = false;
};

std::string ProjectText(const ProjectTextOptions& options);

}  // namespace galley::init
