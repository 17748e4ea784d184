// What a cook tells people beside its results: files that cannot be used, patterns that name
// nothing, bytes that were lost, platforms of which nothing was published.
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

// Files that cannot be used and are no packages: a folder that cannot be read hides packages, so it
// fails; the rest is worth a warning.
void TellOddFiles(const World& world, CookEventSink& sink);

// Sidecars without a file, sandboxes among the content.
void TellLeftOut(const World& world, CookEventSink& sink);

// Patterns of `never` that named nothing when the cook began, and nothing either now that its
// generated packages are known (`after`). `is_narrow`: the cook did not ask for all packages, so
// that patterns of galley.toml may be about others.
void TellIdleNever(const World& before, const World& after, bool is_narrow, CookEventSink& sink);

// "2 workers of [farm] launcher = \"ssh\" did not start, ..."; nullopt: all came, or that is the
// cook's error.
std::optional<std::string> UnstartedText(const ShellOutcome& outcome, const std::string& launcher);

// "3 results of workers on other machines were to be made again ..."; nullopt: none were.
std::optional<std::string> UnprovenText(const ShellOutcome& outcome);

// "<store>: 2 blobs of 1 package were lost from the store and are made again"; nullopt: none were.
std::optional<std::string> LostText(const ShellOutcome& outcome, const std::string& store);

// A note of TakeHealed.
record::Warning HealedWarning(const std::string& text);

}  // namespace galley::director
