#include "director/host/cook_warnings.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "director/host/idle_names.h"
#include "director/host/left_out.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// The place of the patterns of a filter.
constexpr std::string_view kArgument = "--never";

// Returns the patterns that name nothing in the world: those of galley.toml first.
std::vector<project::Pattern> IdlePatterns(const World& world, const GlobFilter* filter) {
  std::vector<project::Pattern> idle = world.table->UnmatchedNeverPatterns();
  if (filter == nullptr) return idle;
  for (const content::Glob& glob : filter->never()) {
    if (!world.table->IsMatchedBy(glob)) idle.emplace_back(glob.pattern(), std::string(kArgument));
  }
  return idle;
}

}  // namespace

void TellOddFiles(const World& world, CookEventSink& sink) {
  for (const content::FileEntry& file : world.snapshot->files()) {
    if (file.error.empty() || world.table->Find(file.path)) continue;
    if (S_ISDIR(file.stat.mode)) {
      sink.Tell(CookEvent::Failed{file.path, "", {.stage = Stage::kRequest, .error = file.error}});
    } else {
      sink.Tell(CookEvent::Warned{file.path, "", {record::WarningKind::kUnusableFile, file.error}});
    }
  }
}

void TellLeftOut(const World& world, CookEventSink& sink) {
  for (const std::string& warning : StraySidecars(*world.table))
    sink.Warn(record::WarningKind::kStraySidecar, warning);
  if (const std::string text = SandboxesAmongContent(*world.snapshot); !text.empty())
    sink.Warn(record::WarningKind::kSandboxInContent, text);
}

void TellIdleNever(const World& before, const World& after, const GlobFilter* filter,
                   bool is_narrow, CookEventSink& sink) {
  const auto named_before = IdlePatterns(before, filter);
  for (const project::Pattern& never : IdlePatterns(after, filter)) {
    const bool is_of_both = std::ranges::any_of(
        named_before, [&](const project::Pattern& other) { return other.text == never.text; });
    const bool is_argument = never.place == kArgument;
    // The pattern may be about generated packages that this cook did not ask for.
    const bool is_unknown =
        is_narrow && (!is_argument || never.text.find("_gen") != std::string::npos);
    if (!is_of_both || is_unknown) continue;
    sink.Tell(CookEvent::Warned{"", "", NeverWarning(never, *before.table)});
  }
}

std::optional<std::string> UnstartedText(const ShellOutcome& outcome, const std::string& launcher) {
  const uint32_t count = outcome.unstarted;
  if (count == 0 || outcome.ended.is_interrupted || !outcome.ended.infrastructure_error.empty())
    return std::nullopt;
  return fmt::format(
      "{} of [farm] launcher = \"{}\" did not start, and the cook went on without {}; {}: {}",
      count == 1 ? "1 worker" : fmt::format("{} workers", count), launcher,
      count == 1 ? "it" : "them", count == 1 ? "it said" : "the last said",
      outcome.unstarted_reason);
}

std::optional<std::string> UnprovenText(const ShellOutcome& outcome) {
  const uint64_t count = outcome.counters.results_unproven;
  if (count == 0) return std::nullopt;
  return fmt::format(
      "{} of workers on other machines {} to be made again on another one ([farm] prove), and {} "
      "used as {}: no other machine was there",
      count == 1 ? "1 result" : fmt::format("{} results", count), count == 1 ? "was" : "were",
      count == 1 ? "was" : "were", count == 1 ? "it is" : "they are");
}

std::optional<std::string> LostText(const ShellOutcome& outcome, const std::string& store) {
  const uint64_t blobs = outcome.lost_blobs, packages = outcome.lost_packages;
  if (blobs == 0) return std::nullopt;
  const CookEnded& ended = outcome.ended;
  const bool is_complete = !ended.is_interrupted && ended.infrastructure_error.empty();
  const std::string_view became = !is_complete ? "; the next cook makes again what it needs"
                                  : blobs == 1 ? " and is made again"
                                               : " and are made again";
  return fmt::format("{}: {} of {} {} lost from the store{}", store,
                     blobs == 1 ? "1 blob" : fmt::format("{} blobs", blobs),
                     packages == 1 ? "1 package" : fmt::format("{} packages", packages),
                     blobs == 1 ? "was" : "were", became);
}

record::Warning RepairWarning(const std::string& text) {
  return record::Warning::Parse(record::KeptWarning(record::WarningKind::kStateRepaired, text));
}

}  // namespace galley::director
