// SizeNotes: how large the sources of a cook are and what they became, by kind: what is told at the
// end of a project's first cook.
//
// A kind is what the names of files end with. The source of a generated package is in no file, and
// is not counted.
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
  // What is noted later of the same package and platform counts in place of this.
  void Add(std::string_view package, std::string_view platform, uint64_t source_bytes,
           uint64_t output_bytes);
  void Remove(std::string_view package);

  // A platform for which the cooked files are much larger than their sources: at least four times,
  // and at least a MiB more.
  struct Growth {
    std::string platform;
    uint64_t source_bytes = 0, output_bytes = 0;
    std::string kind;     // that grew most
    std::string package;  // the one of the kind that grew most
  };
  // The one of them that grew most.
  std::optional<Growth> FindGrowth() const;

  // For people: a line for all, and one for each of the five largest kinds. Empty: nothing is
  // noted.
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

// For people. `cooker`: of the growth's package; its settings are named that make less of it.
std::string TextOf(const SizeNotes::Growth& growth, std::string_view cooker);

}  // namespace galley::director
