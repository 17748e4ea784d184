// Cook endings: compares what cooks came to.

#include <set>
#include <string>

#include "tests/simulation/cooks_stage.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

std::string Lines(const std::set<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

// A reason stays for the cook even if an edit removed the reference that gave it: the ends of such
// packages are told, but are in no root. Lines begin with a package, and may name another.
std::set<std::string> Of(const std::set<std::string>& members, const std::set<std::string>& lines) {
  std::set<std::string> kept;
  for (const std::string& line : lines) {
    const std::string name = line.substr(0, line.find_first_of(": "));
    const size_t at = line.find("refers to /");
    const size_t from = at + std::string("refers to ").size();
    const bool is_of_other = at != std::string::npos &&
                             !members.contains(line.substr(from, line.find(',', from) - from));
    if (members.contains(name) && !is_of_other) kept.insert(line);
  }
  return kept;
}

}  // namespace

std::string DifferenceOf(const CookEnding& alone, const CookEnding& among,
                         const CookRequested& request) {
  const std::string of = "cook " + std::to_string(request.request);
  for (const auto& [platform, root] : alone.roots) {
    const auto found = among.roots.find(platform);
    if (found == among.roots.end()) return "safety: " + of + " lacks a root";
    if (found->second != root)
      return "safety: " + of + ": another root than alone, for platform " +
             std::to_string(platform) + ": " + found->second + ", alone: " + root;
  }
  // Published roots stand, and a later failure stops nothing (Claimant::FailsFast).
  const bool may_fail_slowly = request.fail_fast && among.was_opened_after_publishing;
  if (may_fail_slowly && alone.roots.empty() && !alone.failures.empty())
    return among.failures.empty() ? "safety: " + of + " should have failed" : "";
  if (alone.roots.size() != among.roots.size()) return "safety: " + of + " has a root too many";
  const std::set<std::string> failures = Of(alone.members, among.failures);
  const std::set<std::string> warnings = Of(alone.members, among.warnings);
  if (alone.failures != failures)
    return "safety: " + of + ": other failures than alone:\n" + Lines(failures) + "alone:\n" +
           Lines(alone.failures);
  const std::set<std::string> expected = Of(alone.members, alone.warnings);
  if (warnings != expected)
    return "safety: " + of + ": other warnings than alone:\n" + Lines(warnings) + "alone:\n" +
           Lines(alone.warnings);
  return "";
}

}  // namespace galley::simulation
