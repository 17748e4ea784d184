// CookWarnings: what a cook tells people in addition to its results: files that cannot be used,
// patterns that name nothing, bytes that were lost, platforms of which nothing was published.
//
// Threads: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "director/shell/active_cook.h"
#include "director/shell/cook_event.h"
#include "director/shell/world.h"

namespace galley::director {

// Tells files that cannot be used and are no packages: a folder that cannot be read hides packages,
// and so is a failure; other files are worth a warning.
void TellOddFiles(const World& world, CookEventSink& sink);

// Tells sidecars without a file, and sandboxes among the content.
void TellLeftOut(const World& world, CookEventSink& sink);

// Tells patterns of `never` that named nothing when the cook began, and still name nothing now that
// the cook's generated packages are known (`after`). `is_narrow`: the cook did not ask for all
// packages, so patterns of galley.toml may be about other packages.
void TellIdleNever(const World& before, const World& after, bool is_narrow, CookEventSink& sink);

// Returns "2 workers of [farm] launcher = \"ssh\" did not start, ..."; nullopt: all workers came,
// or the cook's error says so.
std::optional<std::string> UnstartedText(const ShellOutcome& outcome, const std::string& launcher);

// Returns "3 results of workers on other machines were to be made again ..."; nullopt: no result
// was.
std::optional<std::string> UnprovenText(const ShellOutcome& outcome);

// Returns "<store>: 2 blobs of 1 package were lost from the store and are made again"; nullopt: no
// blob was.
std::optional<std::string> LostText(const ShellOutcome& outcome, const std::string& store);

// Returns the warning for a note of TakeHealed.
record::Warning HealedWarning(const std::string& text);

}  // namespace galley::director
