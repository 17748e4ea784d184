// Finding: something wrong with a file that Galley wrote, found by looking only, which the next
// cook puts right by itself.
#pragma once

#include <string>

namespace galley {

struct Finding {
  std::string path;
  std::string what;  // "its checksum is wrong"
};

}  // namespace galley
