#include "common/record/warning.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"

namespace galley::record {
namespace {

struct KindRow {
  WarningKind kind;
  std::string_view name;
  std::string_view note = {};
};

// In the order of the enum.
constexpr std::array<KindRow, kWarningKindCount> kKindRows = {{
    {WarningKind::kAudioFile, "audio-file"},
    {WarningKind::kDataReference, "data-reference"},
    {WarningKind::kMeshExtension, "mesh-extension"},
    {WarningKind::kMeshFile, "mesh-file"},
    {WarningKind::kMeshRepaired, "mesh-repaired"},
    {WarningKind::kProgramWarning, "program-warning"},
    {WarningKind::kShaderCompiler, "shader-compiler"},
    {WarningKind::kTextureAlpha, "texture-alpha"},
    {WarningKind::kTextureBlockSize, "texture-block-size",
     "have a size that is no multiple of their format's blocks"},
    {WarningKind::kTextureChannels, "texture-channels"},
    {WarningKind::kTextureColorSpace, "texture-color-space"},
    {WarningKind::kTextureFile, "texture-file"},
    {WarningKind::kTextureNotNormal, "texture-not-normal"},
    {WarningKind::kOutputGrowth, "output-growth"},
    {WarningKind::kFailedReference, "failed-reference"},
    {WarningKind::kMissingSoftReference, "missing-soft-reference"},
    {WarningKind::kNotDeterministic, "not-deterministic"},
    {WarningKind::kReferenceCase, "reference-case"},
    {WarningKind::kUnsolicitedRead, "unsolicited-read"},
    {WarningKind::kAskedTooLate, "asked-too-late"},
    {WarningKind::kSandboxInContent, "sandbox-in-content"},
    {WarningKind::kStraySidecar, "stray-sidecar"},
    {WarningKind::kUnusableFile, "unusable-file"},
    {WarningKind::kAllIsNever, "all-is-never"},
    {WarningKind::kCultureUnknown, "culture-unknown"},
    {WarningKind::kKeyWithoutEffect, "key-without-effect"},
    {WarningKind::kLabelUnknown, "label-unknown"},
    {WarningKind::kMapSectionIdle, "map-section-matches-nothing"},
    {WarningKind::kMountEmpty, "mount-empty"},
    {WarningKind::kNeverMatchesNothing, "never-matches-nothing"},
    {WarningKind::kResourceUnknown, "resource-unknown"},
    {WarningKind::kRuleMatchesNothing, "rule-matches-nothing"},
    {WarningKind::kForeignFiles, "foreign-files"},
    {WarningKind::kNothingPublished, "nothing-published"},
    {WarningKind::kRootShrinks, "root-shrinks"},
    {WarningKind::kProgramChangedContent, "program-changed-content"},
    {WarningKind::kWallsMissing, "walls-missing"},
    {WarningKind::kCookNotKept, "cook-not-kept"},
    {WarningKind::kJournal, "journal"},
    {WarningKind::kMachineHeld, "machine-held"},
    {WarningKind::kProjectCopied, "project-copied"},
    {WarningKind::kRemoteStore, "remote-store"},
    {WarningKind::kResultDispute, "result-dispute"},
    {WarningKind::kResultsUnproven, "results-unproven"},
    {WarningKind::kStateRepaired, "state-repaired"},
    {WarningKind::kStore, "store"},
    {WarningKind::kStoreLost, "store-lost"},
    {WarningKind::kWorkerEnded, "worker-ended"},
    {WarningKind::kWorkerHeld, "worker-held"},
    {WarningKind::kWorkerQuarantined, "worker-quarantined"},
    {WarningKind::kWorkersMissing, "workers-missing"},
    {WarningKind::kVersionControl, "version-control"},
    {WarningKind::kOther, "other"},
}};

constexpr bool AreKindRowsInOrder() {
  for (size_t i = 0; i < kKindRows.size(); ++i) {
    if (kKindRows[i].kind != static_cast<WarningKind>(i) || kKindRows[i].name.empty()) return false;
  }
  return true;
}
static_assert(AreKindRowsInOrder(), "each kind has its row, in the order of the enum");

const KindRow& KindRowOf(WarningKind kind) { return kKindRows[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view WarningKindName(WarningKind kind) { return KindRowOf(kind).name; }

std::string_view NoteText(WarningKind kind) { return KindRowOf(kind).note; }

std::optional<WarningKind> WarningKindNamed(std::string_view name) {
  for (const KindRow& row : kKindRows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::vector<std::string> WarningKindNames() {
  std::vector<std::string> names;
  for (const KindRow& row : kKindRows) names.emplace_back(row.name);
  std::ranges::sort(names);
  return names;
}

std::string Warning::ToText() const { return fmt::format("{} [{}]", text, WarningKindName(kind)); }

std::string Warning::ErrorText() const {
  return ToText() + ", which is an error here ([warnings] error)";
}

Warning Warning::Parse(std::string_view told) {
  const size_t begin = told.rfind(" [");
  if (begin != std::string_view::npos && told.ends_with(']')) {
    const std::string_view name = told.substr(begin + 2, told.size() - begin - 3);
    if (const auto kind = WarningKindNamed(name))
      return {*kind, std::string(told.substr(0, begin))};
  }
  return {WarningKind::kOther, std::string(told)};
}

std::string KeptWarning(WarningKind kind, std::string_view text) {
  const Warning own = Warning::Parse(text);
  return own.kind != WarningKind::kOther ? std::string(text) : Warning{kind, own.text}.ToText();
}

void WarningRules::Add(const WarningRules& later) {
  off = (off & ~later.error) | later.off;
  error = (error & ~later.off) | later.error;
}

}  // namespace galley::record
