// SimDirector::Owners: the shell's owners of effects, over the simulation's ports.
#pragma once

#include "tests/simulation/sim_director.h"

namespace galley::simulation {

struct SimDirector::Owners {
  director::ActiveCooks active;
  director::Commits commits;
  director::Roots roots;
  director::Cooks cooks;
  director::Notices notices;
  director::Streams streams;
  director::InputRepair repair;

  explicit Owners(SimDirector& of);
};

}  // namespace galley::simulation
