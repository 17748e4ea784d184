// CleanAsk: how an ask for one package ends in a project that keeps still, when nothing goes wrong.
// The answer follows from the files alone (World), as a package's output does (World::Expected).
#pragma once

#include <set>
#include <string>

#include "tests/simulation/world.h"

namespace galley::simulation {

struct CleanAsk {
  // The beginnings of the errors with which the ask may fail. Which of them is told may depend on
  // what is known of the package.
  std::set<std::string> errors;
  bool is_poison = false;  // the package kills its executors

  bool succeeds() const { return errors.empty() && !is_poison; }
};

// The ask for the package on the platform of this name, in a project with these files.
CleanAsk CleanAskOf(const World& world, const Files& files, const std::string& package,
                    const std::string& platform);

}  // namespace galley::simulation
