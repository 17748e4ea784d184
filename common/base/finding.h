// Finding: something wrong with a file that Galley wrote, found by looking only. As a rule
// the next cook puts it right by itself.
#pragma once

#include <string>

namespace galley {

struct Finding {
  std::string path;
  std::string what;   // "its checksum is wrong"
  bool heals = true;  // false: no cook goes on with it
  std::string healed_by = "the next cook puts it right";
};

}  // namespace galley
