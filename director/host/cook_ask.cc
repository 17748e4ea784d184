#include "director/host/cook_ask.h"

#include <algorithm>

#include "common/base/errors.h"
#include "director/host/near_names.h"
#include "director/host/outcome_status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {

std::vector<std::string> ListOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return {names.begin(), names.end()};
}

bool HasSelection(const v1::Selection& selection) {
  return selection.positional_size() + selection.maps_size() + selection.packages_size() +
             selection.directories_size() + selection.map_sections_size() >
         0;
}

bool IsByTheBook(const v1::Selection& selection) {
  return !HasSelection(selection) && selection.never().empty() && selection.cultures().empty() &&
         !selection.no_soft_references();
}

CookClass ClassOf(const v1::CookAsk& ask) {
  return ClassOfName(ask.urgency_class()).value_or(CookClass::kNightly);
}

absl::StatusOr<GlobFilterPtr> FilterOf(const v1::CookAsk& ask) {
  const v1::Selection& selection = ask.selection();
  return GlobFilter::Make(ListOf(selection.never()), ListOf(selection.cultures()));
}

std::string WhatIsAsked(const v1::CookAsk& ask) {
  std::vector<std::string> named;
  const v1::Selection& selection = ask.selection();
  for (const auto* list : {&selection.positional(), &selection.maps(), &selection.packages(),
                           &selection.directories(), &selection.map_sections()})
    named.insert(named.end(), list->begin(), list->end());
  if (named.empty()) return "by the book";
  return named.size() == 1 ? named[0] : fmt::format("{} and {} more", named[0], named.size() - 1);
}

absl::Status CheckAsk(const v1::CookAsk& ask, const project::Project& project) {
  if (!ClassOfName(ask.urgency_class()).has_value())
    return WrongUse(fmt::format("--class {}: there is no such class", ask.urgency_class()));
  if (const auto filter = FilterOf(ask); !filter.ok()) return WrongUse(filter.status());
  const auto known = PlatformsIn(project, ListOf(ask.platforms()));
  return known.ok() ? absl::OkStatus() : WrongUse(known.status());
}

absl::StatusOr<PlatformMask> PlatformsIn(const project::Project& project,
                                         const std::vector<std::string>& asked) {
  PlatformMask mask = 0;
  for (PlatformIndex p = 0; p < project.platforms.size(); ++p) {
    const std::string& name = project.platforms[p].name;
    if (asked.empty() || std::ranges::find(asked, name) != asked.end()) mask |= MaskOf(p);
  }
  const std::vector<std::string> known = PlatformNames(project, {});
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return InvalidArgumentError("--platform {}: galley.toml has no such platform (it has {}){}",
                                name, fmt::join(known, ", "), NearText(NearNames(name, known)));
  }
  return mask;
}

std::vector<std::string> PlatformNames(const project::Project& project,
                                       const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const project::Platform& platform : project.platforms) {
    if (asked.empty() || std::ranges::find(asked, platform.name) != asked.end())
      names.push_back(platform.name);
  }
  return names;
}

}  // namespace galley::director
