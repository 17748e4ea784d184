#include "common/record/observation.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"

namespace galley::record {
namespace {

struct KindInfo {
  ObservationKind kind;
  std::string_view name;
};

constexpr KindInfo kKinds[] = {
    {ObservationKind::kFile, "file"},     {ObservationKind::kExists, "exists"},
    {ObservationKind::kList, "list"},     {ObservationKind::kGlob, "glob"},
    {ObservationKind::kCooked, "cooked"}, {ObservationKind::kPlatform, "platform"},
    {ObservationKind::kTool, "tool"},     {ObservationKind::kEnv, "env"},
    {ObservationKind::kName, "name"},
};

const Observation& WhatOf(const Observation& what) { return what; }
const Observation& WhatOf(const Observed& observed) { return observed.what; }

constexpr auto kLess = [](const auto& a, const auto& b) { return WhatOf(a) < WhatOf(b); };
constexpr auto kSame = [](const auto& a, const auto& b) { return WhatOf(a) == WhatOf(b); };

void Append(WireWriter& writer, const Observation& what, const std::string* value) {
  WireWriter entry;
  entry.Varint(1, static_cast<uint64_t>(what.kind));
  entry.Bytes(2, what.subject);
  entry.Bytes(3, what.detail);
  if (value != nullptr) entry.Bytes(4, *value);
  writer.Element(1, entry.bytes());
}

std::string Encode(std::span<const Observation> set) {
  WireWriter writer;
  for (const Observation& what : set) Append(writer, what, nullptr);
  return writer.Take();
}

std::string Encode(std::span<const Observed> observed) {
  WireWriter writer;
  for (const Observed& one : observed) Append(writer, one.what, &one.value);
  return writer.Take();
}

template <typename T>
std::string EncodeInOrder(std::span<const T> elements) {
  if (std::is_sorted(elements.begin(), elements.end(), kLess)) return Encode(elements);
  std::vector<T> sorted(elements.begin(), elements.end());
  std::sort(sorted.begin(), sorted.end(), kLess);
  return Encode(std::span<const T>(sorted));
}

absl::Status DecodeEntry(std::string_view bytes, bool has_value, Observed& entry) {
  uint64_t kind = 0;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number == 1) {
      ASSIGN_OR_RETURN(kind, tree::VarintOf(field, "kind"));
    } else if (field.number == 2) {
      ASSIGN_OR_RETURN(entry.what.subject, tree::BytesOf(field, "subject"));
    } else if (field.number == 3) {
      ASSIGN_OR_RETURN(entry.what.detail, tree::BytesOf(field, "detail"));
    } else if (field.number == 4 && has_value) {
      ASSIGN_OR_RETURN(entry.value, tree::BytesOf(field, "value"));
    } else {
      return tree::UnknownField(field, "Entry");
    }
  }
  for (const KindInfo& known : kKinds) {
    if (kind != static_cast<uint64_t>(known.kind)) continue;
    entry.what.kind = known.kind;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format("kind {} of observation is not known", kind));
}

absl::StatusOr<std::vector<Observed>> Decode(std::string_view bytes, bool has_values) {
  if (bytes.size() > kEncodedSetBytesMax) {
    return absl::InvalidArgumentError(fmt::format(
        "{} bytes of observations, at most {} are allowed", bytes.size(), kEncodedSetBytesMax));
  }
  std::vector<Observed> entries;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 1) return tree::UnknownField(field, "observation set");
    ASSIGN_OR_RETURN(const std::string_view element, tree::BytesOf(field, "entry"));
    if (entries.size() == kObservationsMax) {
      return absl::InvalidArgumentError(fmt::format("more than {} observations", kObservationsMax));
    }
    Observed entry;
    if (absl::Status status = DecodeEntry(element, has_values, entry); !status.ok()) {
      return Annotate(status, fmt::format("observation {}", entries.size()));
    }
    if (!entries.empty() && !(entries.back().what < entry.what)) {
      return absl::InvalidArgumentError(
          fmt::format("observation {} is not after the one before", entries.size()));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

absl::Status NotCanonical() {
  return absl::InvalidArgumentError("observations are not in canonical form");
}

}  // namespace

std::string_view KindName(ObservationKind kind) {
  for (const KindInfo& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "unknown";
}

std::string Observation::ToString() const {
  const std::string_view name = KindName(kind);
  if (detail.empty()) return fmt::format("{}({})", name, subject);
  return fmt::format("{}({}, {})", name, subject, detail);
}

std::string LinesValue(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string value;
  for (const std::string& line : lines) value += line + "\n";
  return value;
}

absl::StatusOr<std::vector<Observed>> Canonical(std::vector<Observed> observed) {
  std::sort(observed.begin(), observed.end());
  observed.erase(std::unique(observed.begin(), observed.end()), observed.end());
  const auto twice = std::adjacent_find(observed.begin(), observed.end(), kSame);
  if (twice == observed.end()) return observed;
  return absl::InvalidArgumentError(
      fmt::format("{} was seen with two values, \"{}\" and \"{}\": it changed meanwhile",
                  twice->what.ToString(), twice->value, std::next(twice)->value));
}

ObservationSet SetOf(std::span<const Observed> observed) {
  ObservationSet set;
  set.reserve(observed.size());
  for (const Observed& one : observed) set.push_back(one.what);
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

std::string EncodeSet(const ObservationSet& set) {
  return EncodeInOrder(std::span<const Observation>(set));
}

std::string EncodeObserved(std::span<const Observed> observed) { return EncodeInOrder(observed); }

absl::StatusOr<ObservationSet> DecodeSet(std::string_view bytes) {
  ASSIGN_OR_RETURN(std::vector<Observed> entries, Decode(bytes, false));
  ObservationSet set;
  set.reserve(entries.size());
  for (Observed& entry : entries) set.push_back(std::move(entry.what));
  if (EncodeSet(set) != bytes) return NotCanonical();
  return set;
}

absl::StatusOr<std::vector<Observed>> DecodeObserved(std::string_view bytes) {
  ASSIGN_OR_RETURN(std::vector<Observed> entries, Decode(bytes, true));
  if (EncodeObserved(entries) != bytes) return NotCanonical();
  return entries;
}

}  // namespace galley::record
