// Warning: something that a person should know and that stops nothing, with its kind. The kind has
// a name, by which a project leaves such warnings out or makes errors of them ([warnings] in
// galley.toml and in rules; docs/warnings.md lists all).
//
// A text that is kept or sent (a result, a standing, an event of a resident director) ends with the
// kind in brackets, as compilers write it: "3 bytes are ignored [mesh-file]". A text without one is
// of an older Galley: its kind is `other`.
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
// A kind of low value is a note: a cook tells its notes in one line a kind, with their number, and
// only those of results that are new: "38 packages have a size that is no multiple of ...". Empty:
// the kind is no note; else the text after the number and its noun.
std::string_view NoteText(WarningKind kind);

struct Warning {
  WarningKind kind = WarningKind::kOther;
  std::string text;  // without the kind

  std::string ToText() const;     // "<text> [<kind>]"
  std::string ErrorText() const;  // the same, of one that is an error by WarningRules
  // The opposite of ToText.
  static Warning Parse(std::string_view told);
  auto operator<=>(const Warning&) const = default;
};

// A cooker's warning in the form that is kept in a result. The kind that `text` itself ends with
// wins over `kind`.
std::string KeptWarning(WarningKind kind, std::string_view text);

// The warnings that a project leaves out, and those that are errors there. A kind is in one of both
// at most.
struct WarningRules {
  std::bitset<kWarningKindCount> off, error;

  bool IsOff(WarningKind kind) const { return off[static_cast<size_t>(kind)]; }
  bool IsError(WarningKind kind) const { return error[static_cast<size_t>(kind)]; }
  bool empty() const { return off.none() && error.none(); }
  // Lays a later layer (a rule, a sidecar) over this one: it has the last word on the kinds that it
  // names, and says nothing of the others.
  void Add(const WarningRules& later);
  bool operator==(const WarningRules&) const = default;
};

}  // namespace galley::record
