// Warning: something that a person should know and that stops nothing, with its kind. By the name
// of the kind a project turns such warnings off or makes them errors ([warnings] in galley.toml and
// in rules; docs/warnings.md lists all kinds).
//
// A text that is kept or sent (a result, a standing, an event of a resident director) ends with the
// kind in brackets, as compilers write it: "3 bytes are ignored [mesh-file]". A text without a kind
// is of an older Galley: its kind is `other`.
//
// Pure. Threads: any.
#pragma once

#include <bitset>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace galley::record {

// A new kind goes to the end of its group, to the table in warning.cc, and to docs/warnings.md. The
// numbers are in no file and in no message.
enum class WarningKind : uint8_t {
  // Said by cookers about a source.
  kAudioFile,
  kDataReference,
  kMeshExtension,
  kMeshFile,
  kMeshRepaired,
  kProgramWarning,
  kShaderCompiler,
  kTextureAlpha,
  kTextureBlockSize,
  kTextureChannels,
  kTextureColorSpace,
  kTextureFile,
  kTextureNotNormal,
  kOutputGrowth,
  // Packages, and what they refer to.
  kFailedReference,
  kMissingSoftReference,
  kNotDeterministic,
  kReferenceCase,
  kUnsolicitedRead,
  kAskedTooLate,
  // Files of the project.
  kSandboxInContent,
  kStraySidecar,
  kUnusableFile,
  // Names and patterns of galley.toml and of the command line.
  kAllIsNever,
  kCultureUnknown,
  kKeyWithoutEffect,
  kLabelUnknown,
  kMapSectionIdle,
  kMountEmpty,
  kNeverMatchesNothing,
  kResourceUnknown,
  kRuleMatchesNothing,
  // About the tree that a cook publishes and stages.
  kForeignFiles,
  kNothingPublished,
  kRootShrinks,
  // Programs that cooks start.
  kProgramChangedContent,
  kWallsMissing,
  // Machines, workers, stores.
  kCookNotKept,
  kJournal,
  kMachineHeld,
  kProjectCopied,
  kRemoteStore,
  kResultDispute,
  kResultsUnproven,
  kStateRepaired,
  kStore,
  kStoreLost,
  kWorkerEnded,
  kWorkerHeld,
  kWorkerQuarantined,
  kWorkersMissing,
  kVersionControl,
  kOther,
};
inline constexpr size_t kWarningKindCount = static_cast<size_t>(WarningKind::kOther) + 1;

std::string_view WarningKindName(WarningKind kind);  // "texture-block-size"
std::optional<WarningKind> WarningKindNamed(std::string_view name);
std::vector<std::string> WarningKindNames();  // sorted
// Some kinds are notes: a cook prints one line for each such kind, with the number of packages, and
// only for new results: "38 packages have a size that is no multiple of ...". Returns the text
// after the noun; empty: the kind is no note.
std::string_view NoteText(WarningKind kind);

struct Warning {
  WarningKind kind = WarningKind::kOther;
  std::string text;  // without the kind

  std::string ToText() const;     // "<text> [<kind>]"
  std::string ErrorText() const;  // ToText of a warning that is an error by WarningRules
  // The reverse of ToText.
  static Warning Parse(std::string_view told);
  auto operator<=>(const Warning&) const = default;
};

// A cooker's warning in the form that a result keeps. A kind at the end of `text` wins over `kind`.
std::string KeptWarning(WarningKind kind, std::string_view text);

// WarningRules: the kinds that a project turns off, and the kinds that it makes errors. A kind is
// in at most one of the two.
struct WarningRules {
  std::bitset<kWarningKindCount> off, error;

  bool IsOff(WarningKind kind) const { return off[static_cast<size_t>(kind)]; }
  bool IsError(WarningKind kind) const { return error[static_cast<size_t>(kind)]; }
  bool empty() const { return off.none() && error.none(); }
  // Lays a later layer, such as a rule or a sidecar, over this one: `later` decides the kinds that
  // it names; other kinds stay.
  void Add(const WarningRules& later);
  bool operator==(const WarningRules&) const = default;
};

}  // namespace galley::record
