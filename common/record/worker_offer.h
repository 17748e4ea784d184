// WorkerOffer: what a worker's machine has that jobs may ask for: labels, which it has or has not,
// and resources, of which it has so many for all its jobs at a time. And how people write these.
//
//   "sdk-x"        a label
//   "gpu=2"        two of the resource gpu
//   "gpu"          one, where a job asks for it
//
// Offers place jobs, and are in no key.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::record {

// How many of each; none is 0 in what a job asks for.
using ResourceCounts = std::map<std::string, uint32_t>;

struct WorkerOffer {
  static constexpr size_t kNamesMax = 64;      // labels; and resources
  static constexpr size_t kNameBytesMax = 64;  // of a name
  static constexpr uint32_t kCountMax = 1'000'000;

  std::vector<std::string> labels;  // sorted, each once
  ResourceCounts resources;

  bool empty() const { return labels.empty() && resources.empty(); }
  bool HasLabels(const std::vector<std::string>& sorted) const;
  // Adds everything that `other` has. When both name a resource, this one's count holds.
  void Add(const WorkerOffer& other);
  bool operator==(const WorkerOffer&) const = default;
};

// INVALID_ARGUMENT: no name of a label or a resource: letters, digits and `._+-/:`, of which the
// first is a letter or a digit.
absl::Status CheckOfferName(std::string_view name);
// INVALID_ARGUMENT: too much, or a name that is none; as of what came over the wire.
absl::Status CheckOffer(const WorkerOffer& offer);
// "gpu=2". Without a number it is 1 if `needs_count` is not set. INVALID_ARGUMENT says what was
// expected.
absl::StatusOr<std::pair<std::string, uint32_t>> ParseResource(std::string_view text,
                                                               bool needs_count);
// From the texts of `--label` and `--resource`, or of [farm] labels and resources; a later number
// of a resource replaces an earlier one.
absl::StatusOr<WorkerOffer> ParseOffer(const std::vector<std::string>& labels,
                                       const std::vector<std::string>& resources);
// The texts of the resources of an offer: "gpu=2".
std::vector<std::string> ResourceTexts(const ResourceCounts& resources);
// Sorted, each once.
std::vector<std::string> SortedNames(std::vector<std::string> names);
// For people: "labels sdk-x, win; resources gpu=2"; "nothing".
std::string OfferText(const std::vector<std::string>& labels, const ResourceCounts& resources);

}  // namespace galley::record
