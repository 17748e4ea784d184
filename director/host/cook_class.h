// CookClass: how urgent a cook is for whoever asked for it.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace galley::director {

// Order matters: higher overtakes.
enum class CookClass : uint8_t { kAhead, kNightly, kCommit, kNow };

inline constexpr std::string_view kClassNames[] = {"ahead", "nightly", "commit", "now"};

constexpr std::string_view ClassName(CookClass one) {
  return kClassNames[static_cast<uint8_t>(one)];
}

constexpr std::optional<CookClass> ClassOfName(std::string_view name) {
  for (uint8_t i = 0; i < std::size(kClassNames); ++i) {
    if (kClassNames[i] == name) return static_cast<CookClass>(i);
  }
  return std::nullopt;
}

}  // namespace galley::director
