// WorkerOffer: the labels and resources of a worker's machine, which jobs may ask for, and their
// form as text. A machine has a label or has not. A resource has a number, which the jobs that run
// on the machine at one time share.
//
//   "sdk-x"        a label
//   "gpu=2"        two of the resource gpu
//   "gpu"          one, where a job asks for it
//
// Offers decide where jobs run, and are in no key.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::record {

// The number of each resource. The numbers that a job asks for are above 0.
using ResourceCounts = std::map<std::string, uint32_t>;

struct WorkerOffer {
  static constexpr size_t kNamesMax = 64;      // of labels, and of resources
  static constexpr size_t kNameBytesMax = 64;  // of a name
  static constexpr uint32_t kCountMax = 1'000'000;

  std::vector<std::string> labels;  // sorted, each once
  ResourceCounts resources;

  bool empty() const { return labels.empty() && resources.empty(); }
  bool HasLabels(const std::vector<std::string>& sorted) const;
  // Adds everything that `other` has. If both have a resource, this offer's count stays.
  void Add(const WorkerOffer& other);
  bool operator==(const WorkerOffer&) const = default;
};

// INVALID_ARGUMENT: `name` is no name of a label or a resource: letters, digits and `._+-/:`, the
// first a letter or a digit.
absl::Status CheckOfferName(std::string_view name);
// Checks an offer that came over the wire. INVALID_ARGUMENT: too many names, too high a count, or a
// bad name.
absl::Status CheckOffer(const WorkerOffer& offer);
// Parses "gpu=2". Without `needs_count`, "gpu" means 1. INVALID_ARGUMENT says what was expected.
absl::StatusOr<std::pair<std::string, uint32_t>> ParseResource(std::string_view text,
                                                               bool needs_count);
// Parses the texts of `--label` and `--resource`, or of [farm] labels and resources; a later number
// of a resource replaces an earlier one.
absl::StatusOr<WorkerOffer> ParseOffer(const std::vector<std::string>& labels,
                                       const std::vector<std::string>& resources);
// The texts of the resources of an offer: "gpu=2".
std::vector<std::string> ResourceTexts(const ResourceCounts& resources);
// Sorts names and removes duplicates.
std::vector<std::string> SortedNames(std::vector<std::string> names);
// For people: "labels sdk-x, win; resources gpu=2"; "nothing".
std::string OfferText(const std::vector<std::string>& labels, const ResourceCounts& resources);

}  // namespace galley::record
