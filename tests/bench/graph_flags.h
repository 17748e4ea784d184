// GraphFlags: the flags of benchmarks over a graph of packages: --packages N --references N --runs
// N --json
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace galley::bench {

struct GraphFlags {
  uint32_t packages = 1'000'000;
  uint32_t references = 8;  // of each package
  uint32_t runs = 5;
  bool json = false;
  std::string dir;  // --dir; for benchmarks with files
};

// Reads the flags over the defaults in `flags`.
inline GraphFlags ReadGraphFlags(int argc, char** argv, GraphFlags flags) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    flags.json |= flag == "--json";
    if (i + 1 == argc) break;
    if (flag == "--dir") flags.dir = argv[++i];
    uint32_t* const value = flag == "--packages"     ? &flags.packages
                            : flag == "--references" ? &flags.references
                            : flag == "--runs"       ? &flags.runs
                                                     : nullptr;
    if (value == nullptr) continue;
    ++i;
    std::from_chars(argv[i], argv[i] + std::strlen(argv[i]), *value);
  }
  return flags;
}

}  // namespace galley::bench
