#include "common/record/dispute.h"

#include <algorithm>

#include "fmt/format.h"

namespace galley::record {
namespace {

const Output* Find(const Result& result, const std::string& suffix) {
  const auto found =
      std::ranges::find_if(result.outputs, [&](const Output& one) { return one.suffix == suffix; });
  return found == result.outputs.end() ? nullptr : &*found;
}

std::string NameOf(const std::string& suffix) {
  return suffix.empty() ? "its output" : "its output " + suffix;
}

// The first difference.
std::string DifferenceOf(const Result& a, const Result& b) {
  for (const Output& one : a.outputs) {
    const Output* other = Find(b, one.suffix);
    if (other == nullptr) return NameOf(one.suffix) + " was made once and not again";
    if (other->digest != one.digest) {
      return fmt::format("{} was {} and then {}", NameOf(one.suffix), one.digest.ToString(),
                         other->digest.ToString());
    }
    if (other->is_executable != one.is_executable)
      return NameOf(one.suffix) + " was executable only once";
  }
  for (const Output& one : b.outputs) {
    if (Find(a, one.suffix) == nullptr)
      return NameOf(one.suffix) + " was made only the second time";
  }
  if (a.details.references != b.details.references) return "its references were others";
  if (a.details.generated != b.details.generated) return "what it generated was other";
  return "its tags were others";
}

std::string MakerOf(const Result& result) {
  const Provenance& by = result.provenance;
  return fmt::format("{} on {} at {}", by.worker.empty() ? "a worker" : by.worker,
                     by.machine.empty() ? "some machine" : by.machine,
                     absl::FormatTime(absl::RFC3339_sec, by.started, absl::UTCTimeZone()));
}

}  // namespace

Standing JudgeDispute(const Result& stored, const Result& given) {
  if (stored.is_disputed) return Standing::kStored;
  if (given.is_disputed) return Standing::kDispute;
  if (stored.is_verdict) return given.is_verdict ? Standing::kStored : Standing::kGiven;
  if (given.is_verdict) return Standing::kStored;
  // Warnings may say how long it took: nobody loads them.
  Result as_given = stored;
  as_given.details.warnings = given.details.warnings;
  return SameOutcome(as_given, given) ? Standing::kStored : Standing::kDispute;
}

Result DisputeOf(const Result& stored, const Result& given) {
  if (given.is_disputed) return given;
  return {
      .is_verdict = true,
      .is_disputed = true,
      .error = fmt::format(
          "two cooks of the very same inputs came out different, so neither is used: {} ({}; "
          "{}). Its cooker is not deterministic, reads what it does not declare, or was changed "
          "without a new revision; or a machine is broken. Fix that, and `galley clean` the "
          "package (docs/operating.md, \"Disputes\")",
          DifferenceOf(stored, given), MakerOf(stored), MakerOf(given)),
      .provenance = given.provenance};  // with the weak key, too
}

}  // namespace galley::record
