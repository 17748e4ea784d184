// Observation: one thing that a cook looked at. There are no other kinds than these; a cook that
// looks at anything else is not cacheable.
//
//   kind      subject          detail   value (canonical text)
//   file      path as asked    -        "<hex>/<size>" | "absent" | "folder"
//   exists    path as asked    -        "file" | "folder" | "absent"
//   list      folder as asked  -        entry names, one a line, sorted by bytes, folders with '/'
//                                       at the end; "absent"
//   glob      root folder as   pattern  matching paths relative to root, one a line, sorted by
//             asked                     bytes
//   cooked    package as       suffix   "<hex>/<size>" of that output | "absent"
//             asked
//   platform  parameter        -        "=" and its value | "unset". Parameter "name" is the
//             ("texture")               platform's name
//   tool      path             -        "<hex>/<size>" | "absent". Absolute: a system file; else
//                                       relative to galley.toml
//   env       variable         -        "=" and its value | "unset"
//   name      ""               -        the package's own virtual path
//
// Paths are kept as asked, normalised by content::NormalizeAsked: absolute virtual ("/Game/a/b") or
// relative to the source's folder ("../inc/a.glsl", "a.glsl"); no ".", no inner "..", no trailing
// '/'. So no key depends on the place of the project.
//
// An observation *set* is the sorted, duplicate-free list of observations without their values.
// Order: kind, subject, detail, by bytes.
// Encoding of a set (docs/formats.md): protobuf wire format, message { repeated Entry entry = 1 },
// Entry { kind = 1 varint, subject = 2 bytes, detail = 3 bytes }, canonical.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::record {

// The numbers are stored, and never reused.
enum class ObservationKind : uint8_t {
  kFile = 1,
  kExists = 2,
  kList = 3,
  kGlob = 4,
  kCooked = 5,
  kPlatform = 6,
  kTool = 7,
  kEnv = 8,
  kName = 9,
};

std::string_view KindName(ObservationKind kind);  // "file", "exists", ...

struct Observation {
  ObservationKind kind = ObservationKind::kFile;
  std::string subject;
  std::string detail;
  auto operator<=>(const Observation&) const = default;
  // `file(../inc/a.glsl)`, `glob(/Game/x, *.json)`, `cooked(/Game/a.png, .ktx2)`: for people.
  std::string ToString() const;
};

struct Observed {
  Observation what;
  std::string value;
  auto operator<=>(const Observed&) const = default;
};

using ObservationSet = std::vector<Observation>;

inline constexpr std::string_view kAbsent = "absent";
inline constexpr std::string_view kFolder = "folder";
inline constexpr std::string_view kIsFile = "file";
inline constexpr std::string_view kUnset = "unset";
inline std::string SetValue(std::string_view value) { return "=" + std::string(value); }

// Limits of the observations in a set and of its encoding; more is INVALID_ARGUMENT on decoding.
inline constexpr size_t kObservationsMax = 100'000;
inline constexpr size_t kEncodedSetBytesMax = 64 << 20;

// The value of a list or glob: the names, sorted and unique, each followed by a '\n'. So a folder
// with one file named "absent" differs from an absent folder, and the value of an empty folder is
// "".
std::string LinesValue(std::vector<std::string> lines);

// Sorts and removes duplicates. INVALID_ARGUMENT: one observation has two values, since the input
// changed meanwhile.
absl::StatusOr<std::vector<Observed>> Canonical(std::vector<Observed> observed);
ObservationSet SetOf(std::span<const Observed> observed);

// The encoded set, without the values.
// REQUIRES: `observed` is canonical.
std::string EncodeSetOf(std::span<const Observed> observed);
// INVALID_ARGUMENT: EncodeSetOf did not write `bytes` (order, duplicates, unknown kinds or fields).
absl::StatusOr<ObservationSet> DecodeSet(std::string_view bytes);
// The encoded set with the values: Entry gains value = 4. These bytes are the file `observations`
// in an Action's input root.
std::string EncodeObserved(std::span<const Observed> observed);
absl::StatusOr<std::vector<Observed>> DecodeObserved(std::string_view bytes);
// Returns OK if DecodeObserved accepts `bytes`, else its error. For callers that only pass the
// bytes on.
absl::Status CheckObserved(std::string_view bytes);

}  // namespace galley::record
