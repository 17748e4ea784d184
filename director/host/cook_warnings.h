// CookWarnings: tells people about files that cannot be used, patterns that name nothing, lost
// bytes, workers that did not start.
//
// Threads: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "director/shell/active_cook.h"
#include "director/shell/cook_event.h"
#include "director/shell/glob_filter.h"
#include "director/shell/world.h"

namespace galley::director {

// Tells about files and folders that cannot be used and are no packages. A folder is a failure,
// because it may hide packages; a file is a warning.
void TellOddFiles(const World& world, CookEventSink& sink);

// Warns of sidecars without a file, and of sandboxes below the mounts.
void TellLeftOut(const World& world, CookEventSink& sink);

// Warns of patterns of [cook] never and of `filter` that name nothing in both worlds: `before`,
// when the cook began, and `after`, which knows the cook's generated packages. `filter`: null: the
// cook has none. `is_narrow`: the cook did not ask for all packages, so patterns of galley.toml may
// be about other packages, and are skipped.
void TellIdleNever(const World& before, const World& after, const GlobFilter* filter,
                   bool is_narrow, CookEventSink& sink);

// Returns "2 workers of [farm] launcher = \"ssh\" did not start, ..."; nullopt: all workers
// started, or the cook was ended by an interrupt or an error.
std::optional<std::string> UnstartedText(const ShellOutcome& outcome, const std::string& launcher);

// Returns "3 results of workers on other machines were to be made again ..."; nullopt: there is no
// such result.
std::optional<std::string> UnprovenText(const ShellOutcome& outcome);

// Returns "<store>: 2 blobs of 1 package were lost from the store and are made again"; nullopt: no
// blob was lost.
std::optional<std::string> LostText(const ShellOutcome& outcome, const std::string& store);

// Returns the warning for a note of TakeRepairs.
record::Warning RepairWarning(const std::string& text);

}  // namespace galley::director
