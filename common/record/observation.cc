#include "common/record/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "common/base/errors.h"
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

constexpr auto kLess = [](const Observed& a, const Observed& b) { return a.what < b.what; };
constexpr auto kSame = [](const Observed& a, const Observed& b) { return a.what == b.what; };

// EntryView: one entry of an encoded set; views into it, or into what is to be encoded.
struct EntryView {
  ObservationKind kind = ObservationKind::kFile;
  std::string_view subject;
  std::string_view detail;
  std::string_view value;  // of sets with values
  // The place of an observation in a set: by all but the value.
  std::strong_ordering operator<=>(const EntryView& other) const {
    return std::tie(kind, subject, detail) <=> std::tie(other.kind, other.subject, other.detail);
  }
};

EntryView ViewOf(const Observation& what) { return {what.kind, what.subject, what.detail, {}}; }
EntryView ViewWithValue(const Observed& one) {
  return {one.what.kind, one.what.subject, one.what.detail, one.value};
}

size_t SizeOf(const EntryView& entry) {
  return WireWriter::SizeOfVarint(1, static_cast<uint64_t>(entry.kind)) +
         WireWriter::SizeOfBytes(2, entry.subject) + WireWriter::SizeOfBytes(3, entry.detail) +
         WireWriter::SizeOfBytes(4, entry.value);
}

// `view`: makes an EntryView of an observation.
template <typename View>
std::string Encode(std::span<const Observed> observed, const View& view) {
  size_t size = 0;
  for (const Observed& one : observed) size += WireWriter::SizeOfElement(1, SizeOf(view(one)));
  WireWriter writer;
  writer.Reserve(size);
  for (const Observed& one : observed) {
    const EntryView entry = view(one);
    writer.ElementHead(1, SizeOf(entry));
    writer.Varint(1, static_cast<uint64_t>(entry.kind));
    writer.Bytes(2, entry.subject);
    writer.Bytes(3, entry.detail);
    writer.Bytes(4, entry.value);
  }
  return writer.Take();
}

absl::Status NotCanonical() {
  return absl::InvalidArgumentError("observations are not in canonical form");
}

// Fields that ascend, and no byte more than they need: the one encoding of its entry.
absl::StatusOr<EntryView> DecodeEntry(std::string_view bytes, bool has_value) {
  EntryView entry;
  uint64_t kind = 0;
  uint32_t before = 0;
  bool ascends = true;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    ascends = ascends && field.number > before;
    before = field.number;
    if (field.number == 1) {
      ASSIGN_OR_RETURN(kind, tree::VarintOf(field, "kind"));
    } else if (field.number == 2) {
      ASSIGN_OR_RETURN(entry.subject, tree::BytesOf(field, "subject"));
    } else if (field.number == 3) {
      ASSIGN_OR_RETURN(entry.detail, tree::BytesOf(field, "detail"));
    } else if (field.number == 4 && has_value) {
      ASSIGN_OR_RETURN(entry.value, tree::BytesOf(field, "value"));
    } else {
      return tree::UnknownField(field, "Entry");
    }
  }
  const auto known = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindInfo& one) {
    return kind == static_cast<uint64_t>(one.kind);
  });
  if (known == std::end(kKinds))
    return InvalidArgumentError("kind {} of observation is not known", kind);
  entry.kind = known->kind;
  if (!ascends || SizeOf(entry) != bytes.size()) return NotCanonical();
  return entry;
}

// Calls `take` with each entry, in their order.
template <typename Take>
absl::Status Decode(std::string_view bytes, bool has_values, const Take& take) {
  if (bytes.size() > kEncodedSetBytesMax) {
    return InvalidArgumentError("{} bytes of observations, at most {} are allowed", bytes.size(),
                                kEncodedSetBytesMax);
  }
  size_t count = 0;
  size_t size = 0;
  EntryView before;
  for (WireReader reader(bytes); !reader.AtEnd(); ++count) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 1) return tree::UnknownField(field, "observation set");
    ASSIGN_OR_RETURN(const std::string_view element, tree::BytesOf(field, "entry"));
    if (count == kObservationsMax)
      return InvalidArgumentError("more than {} observations", kObservationsMax);
    const absl::StatusOr<EntryView> entry = DecodeEntry(element, has_values);
    if (!entry.ok()) return Annotate(entry.status(), fmt::format("observation {}", count));
    if (count > 0 && !(before < *entry)) {
      return InvalidArgumentError("observation {} is not after the one before", count);
    }
    size += WireWriter::SizeOfElement(1, element.size());
    take(*entry);
    before = *entry;
  }
  return size == bytes.size() ? absl::OkStatus() : NotCanonical();
}

Observation ObservationOf(const EntryView& entry) {
  return {entry.kind, std::string(entry.subject), std::string(entry.detail)};
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
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string value;
  for (const std::string& line : lines) value += line + "\n";
  return value;
}

absl::StatusOr<std::vector<Observed>> Canonical(std::vector<Observed> observed) {
  std::ranges::sort(observed);
  observed.erase(std::unique(observed.begin(), observed.end()), observed.end());
  const auto twice = std::ranges::adjacent_find(observed, kSame);
  if (twice == observed.end()) return observed;
  return InvalidArgumentError(
      "{} was seen with two values, \"{}\" and \"{}\": it changed meanwhile",
      twice->what.ToString(), twice->value, std::next(twice)->value);
}

ObservationSet SetOf(std::span<const Observed> observed) {
  ObservationSet set;
  set.reserve(observed.size());
  for (const Observed& one : observed) set.push_back(one.what);
  std::ranges::sort(set);
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

std::string EncodeObserved(std::span<const Observed> observed) {
  if (std::ranges::is_sorted(observed, kLess)) return Encode(observed, &ViewWithValue);
  std::vector<Observed> sorted(observed.begin(), observed.end());
  std::ranges::sort(sorted, kLess);
  return Encode(sorted, &ViewWithValue);
}

std::string EncodeSetOf(std::span<const Observed> observed) {
  return Encode(observed, [](const Observed& one) { return ViewOf(one.what); });
}

absl::StatusOr<ObservationSet> DecodeSet(std::string_view bytes) {
  ObservationSet set;
  RETURN_IF_ERROR(
      Decode(bytes, false, [&](const EntryView& entry) { set.push_back(ObservationOf(entry)); }));
  return set;
}

absl::StatusOr<std::vector<Observed>> DecodeObserved(std::string_view bytes) {
  std::vector<Observed> observed;
  RETURN_IF_ERROR(Decode(bytes, true, [&](const EntryView& entry) {
    observed.push_back({ObservationOf(entry), std::string(entry.value)});
  }));
  return observed;
}

absl::Status CheckObserved(std::string_view bytes) {
  return Decode(bytes, true, [](const EntryView&) {});
}

}  // namespace galley::record
