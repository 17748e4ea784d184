// RegistryRow: what the registry knows of one package.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "director/core/ids.h"
#include "director/registry/query_syntax.h"

namespace galley::director {

inline constexpr size_t kRegistryPlatformsMax = 32;

struct RegistryRow {
  struct Tag {
    std::string name;
    std::variant<std::string, double, bool> value;
    PlatformMask platforms = 0;
    bool operator==(const Tag&) const = default;
  };
  struct Edge {
    std::string target;
    EdgeKind kind = EdgeKind::kHard;
    PlatformMask platforms = 0;
    bool operator==(const Edge&) const = default;
  };
  struct Output {
    uint32_t platform = 0;  // its number
    std::string suffix;
    uint64_t size = 0;
    bool operator==(const Output&) const = default;
  };
  struct Reason {
    uint8_t category = 0;    // InstigatorCategory
    std::string referencer;  // empty: a root cause
    bool operator==(const Reason&) const = default;
  };

  std::string package;
  std::string cooker;  // the package's class; empty: not known
  bool is_never = false;
  bool is_generated = false;
  bool is_broken = false;    // its file itself has an error
  uint64_t source_size = 0;  // 0 also for a generated package
  PlatformMask known = 0;    // there was a result, so that tags, references and outputs are known
  PlatformMask in_cook = 0;  // the platform's last root has it
  PlatformMask failed = 0;
  std::vector<Tag> tags;        // by name
  std::vector<Edge> edges;      // to packages of the registry; others are left out
  std::vector<Output> outputs;  // by platform, suffix
  std::vector<Reason> reasons;
  bool operator==(const RegistryRow&) const = default;
};

}  // namespace galley::director
