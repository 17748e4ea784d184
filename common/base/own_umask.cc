#include "common/base/own_umask.h"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace galley {

mode_t OwnUmask() {
  constexpr std::string_view kKey = "Umask:\t";  // proc(5)
  constexpr mode_t kUsual = 022;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kKey)) continue;
    mode_t mask = kUsual;
    std::from_chars(line.data() + kKey.size(), line.data() + line.size(), mask, 8);
    return mask & 0777;
  }
  return kUsual;
}

}  // namespace galley
