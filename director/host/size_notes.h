// SizeNotes: collects the sizes of a cook's sources and outputs by kind, the extension of the
// files. They are told at the end of a project's first cook.
//
// The source of a generated package is not a file, and does not count.
//
// Threads: one. Memory: some 100 bytes for each package.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

class SizeNotes {
 public:
  // A later call for the same package and platform replaces an earlier call.
  void Add(std::string_view package, std::string_view platform, uint64_t source_bytes,
           uint64_t output_bytes);
  void Remove(std::string_view package);

  // Growth: a platform whose cooked files are at least four times as large as their sources, and at
  // least 1 MiB larger.
  struct Growth {
    std::string platform;
    uint64_t source_bytes = 0, output_bytes = 0;
    std::string kind;     // the kind that grew most
    std::string package;  // the package of that kind that grew most
  };
  // Returns the growth of the platform that grew most.
  std::optional<Growth> FindGrowth() const;

  // Returns lines for people: a line for the total, and a line for each of the five largest kinds.
  // Empty: nothing is noted.
  std::vector<std::string> Lines() const;

 private:
  struct Package {
    std::string kind;  // "png"
    bool is_generated = false;
    uint64_t source_bytes = 0;
    std::map<uint32_t, uint64_t> outputs;  // by platform number
  };
  struct Sum {
    uint64_t packages = 0;
    uint64_t source_bytes = 0;
    std::vector<uint64_t> outputs;  // by platform number
    uint64_t largest() const;
  };
  void AddTo(Sum& sum, const Package& package) const;
  std::string TextOf(const Sum& sum) const;

  std::vector<std::string> platforms_;                    // by number
  std::map<std::string, Package, std::less<>> packages_;  // by name
};

// Returns a text for people, with the settings that make outputs smaller. `cooker`: the cooker of
// the growth's package.
std::string TextOf(const SizeNotes::Growth& growth, std::string_view cooker);

}  // namespace galley::director
