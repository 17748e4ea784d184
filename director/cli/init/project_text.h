// ProjectText: galley.toml as text, commented. Pure.
#pragma once

#include <cstdint>
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
  uint32_t texture_max_size = 0;  // a bound that would shrink the textures much; 0: none
};

std::string ProjectText(const ProjectTextOptions& options);

}  // namespace galley::init
