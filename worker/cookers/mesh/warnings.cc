#include "worker/cookers/mesh/warnings.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>

#include "fmt/format.h"

namespace galley::worker::mesh {
namespace {

struct Warning {
  std::string_view pointer;  // empty: the warning names no place
  std::string_view text;     // the text behind the count
  uint64_t count = 0;        // 0: the warning has no count
};

Warning Parse(std::string_view warning) {
  const size_t colon = warning.find(": ");
  if (!warning.starts_with('/') || colon == std::string_view::npos)
    return {.pointer = {}, .text = warning};
  Warning parsed{.pointer = warning.substr(0, colon), .text = warning.substr(colon + 2)};
  const char* const end = parsed.text.data() + parsed.text.size();
  const auto [after, error] = std::from_chars(parsed.text.data(), end, parsed.count);
  if (error == std::errc() && after != end && *after == ' ' && parsed.count > 0) {
    parsed.text.remove_prefix(static_cast<size_t>(after - parsed.text.data()) + 1);
  } else {
    parsed.count = 0;
  }
  return parsed;
}

}  // namespace

std::vector<std::string> Grouped(const std::vector<std::string>& warnings) {
  struct Group {
    Warning first;
    size_t places = 0;
    uint64_t count = 0;
  };
  std::vector<Group> groups;
  std::map<std::pair<std::string_view, bool>, size_t> places;  // text, whether it has a count
  for (const std::string& each : warnings) {
    const Warning warning = Parse(each);
    const auto [place, is_new] =
        places.try_emplace({warning.text, warning.count > 0}, groups.size());
    if (is_new) groups.push_back({.first = warning});
    Group& group = groups[place->second];
    ++group.places;
    group.count += warning.count;
  }
  std::vector<std::string> grouped;
  for (const Group& group : groups) {
    const std::string count = group.count > 0 ? fmt::format("{} ", group.count) : "";
    const std::string text = count + std::string(group.first.text);
    if (group.first.pointer.empty()) {
      grouped.push_back(text);
    } else if (group.places == 1) {
      grouped.push_back(fmt::format("{}: {}", group.first.pointer, text));
    } else {
      grouped.push_back(fmt::format("{} and {} other place{}: {}", group.first.pointer,
                                    group.places - 1, group.places == 2 ? "" : "s", text));
    }
  }
  return grouped;
}

}  // namespace galley::worker::mesh
