// Finding: a problem with a file that Galley wrote, found by a look that changes nothing. As a rule
// the next cook repairs the file.
#pragma once

#include <string>

namespace galley {

struct Finding {
  std::string path;
  std::string what;   // "its checksum is wrong"
  bool heals = true;  // false: cooks fail until somebody repairs the file
  std::string healed_by = "the next cook puts it right";
};

}  // namespace galley
