#include "common/record/worker_offer.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "common/base/errors.h"
#include "common/base/parse_whole.h"
#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::record {

bool WorkerOffer::HasLabels(const std::vector<std::string>& sorted) const {
  return std::ranges::includes(labels, sorted);
}

void WorkerOffer::Add(const WorkerOffer& other) {
  labels.insert(labels.end(), other.labels.begin(), other.labels.end());
  labels = SortedNames(std::move(labels));
  resources.insert(other.resources.begin(), other.resources.end());
}

absl::Status CheckOfferName(std::string_view name) {
  const bool is_name = !name.empty() && name.size() <= WorkerOffer::kNameBytesMax &&
                       IsAlphanumericOr(name.front(), "") && IsAlphanumericOr(name, "._+-/:");
  if (is_name) return absl::OkStatus();
  return InvalidArgumentError(
      "\"{}\" is no name of a label or a resource: expected at most {} letters, digits and "
      "`._+-/:`, beginning with a letter or a digit",
      absl::CHexEscape(std::string(name.substr(0, WorkerOffer::kNameBytesMax))),
      WorkerOffer::kNameBytesMax);
}

absl::Status CheckOffer(const WorkerOffer& offer) {
  if (offer.labels.size() > WorkerOffer::kNamesMax ||
      offer.resources.size() > WorkerOffer::kNamesMax)
    return InvalidArgumentError("{} labels and {} resources: expected at most {} of each",
                                offer.labels.size(), offer.resources.size(),
                                WorkerOffer::kNamesMax);
  for (const std::string& label : offer.labels) RETURN_IF_ERROR(CheckOfferName(label));
  for (const auto& [name, count] : offer.resources) {
    RETURN_IF_ERROR(CheckOfferName(name));
    if (count > WorkerOffer::kCountMax)
      return InvalidArgumentError("{} of the resource {}: expected at most {}", count, name,
                                  WorkerOffer::kCountMax);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<std::string, uint32_t>> ParseResource(std::string_view text,
                                                               bool needs_count) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  RETURN_IF_ERROR(CheckOfferName(name));
  if (equals == text.npos && !needs_count) return std::pair(std::string(name), uint32_t{1});
  const auto count = ParseWhole<uint32_t>(equals == text.npos ? "" : text.substr(equals + 1));
  const uint32_t least = needs_count ? 0 : 1;  // a worker may say that it has none
  if (!count || *count < least || *count > WorkerOffer::kCountMax)
    return InvalidArgumentError("\"{}\": expected NAME=N with N from {} to {}, as \"{}=1\"", text,
                                least, WorkerOffer::kCountMax, name);
  return std::pair(std::string(name), *count);
}

absl::StatusOr<WorkerOffer> ParseOffer(const std::vector<std::string>& labels,
                                       const std::vector<std::string>& resources) {
  WorkerOffer offer{.labels = SortedNames(labels), .resources = {}};
  for (const std::string& text : resources) {
    ASSIGN_OR_RETURN(const auto resource, ParseResource(text, /*needs_count=*/true));
    offer.resources[resource.first] = resource.second;
  }
  RETURN_IF_ERROR(CheckOffer(offer));
  return offer;
}

std::vector<std::string> ResourceTexts(const ResourceCounts& resources) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : resources) texts.push_back(fmt::format("{}={}", name, count));
  return texts;
}

std::vector<std::string> SortedNames(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string OfferText(const std::vector<std::string>& labels, const ResourceCounts& resources) {
  std::string text;
  if (!labels.empty()) text = fmt::format("labels {}", fmt::join(labels, ", "));
  if (resources.empty()) return text.empty() ? "nothing" : text;
  return fmt::format("{}{}resources {}", text, text.empty() ? "" : "; ",
                     fmt::join(ResourceTexts(resources), ", "));
}

}  // namespace galley::record
