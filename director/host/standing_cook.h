// StandingCook: answers a cook from its standing if nothing has changed since the last cook of the
// same ask, with a stat for each file, and without worker, core, journal or scan.
//
// Threads: one, of the process that holds the project.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/project/project.h"
#include "common/store/interface/store.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_notes.h"
#include "director/host/cook_report.h"
#include "director/host/environment_difference.h"
#include "director/journal/journal.h"
#include "director/shell/describe.h"
#include "director/standing/watched_tables.h"

namespace galley::director {

// StandingAsk: an ask, and everything except files that decides whether its standing holds. All of
// it outlives the call.
struct StandingAsk {
  const v1::CookAsk& ask;
  const project::Project& project;  // with the output folder of the cook
  const Cookers& cookers;
  const std::map<std::string, std::string>& environment;  // what env(...) observes
  DifferingVariables differing = {};  // variables that the asker and the director differ in
  const std::string& project_id;
  // Opened only when everything else stands.
  std::function<absl::StatusOr<store::Store*>()> store;
  WatchedTables* watched = nullptr;  // null: nothing is watched
};

// CheckedSources: a check of the stamps of all sources that found a difference.
struct CheckedSources {
  std::string stamps;  // the id of their table
  content::StampCheck check;
};

struct StandingAnswer {
  std::optional<CookReport> report;  // the report of the cook; nullopt: the cook must run
  // If the cook must run:
  std::string difference;                 // what differs, for people; empty: there is no standing
  std::optional<CheckedSources> checked;  // set if stamps of sources differ
};
// Answers the ask from its standing, if the standing holds, and tells `sink` the messages of the
// cook.
StandingAnswer AnswerFromStanding(const StandingAsk& ask, CookEventSink& sink, Cancellation& stop);

// Returns the standing of the ask, if it holds except for sources, sandboxes and [[rule]]s
// (changed_rules.h), which are not checked. FAILED_PRECONDITION: says what differs.
absl::StatusOr<Standing> FindButFiles(const StandingAsk& ask, Cancellation& stop);

// Checks the files of the standing's table of stamps. The check has patches for files with other
// bytes, if these are few. `is_kept`: as in WatchedTables::Check.
absl::StatusOr<content::StampCheck> CheckSources(const StandingAsk& ask, const Standing& standing,
                                                 Cancellation& stop, bool is_kept);
absl::StatusOr<content::StampCheck> CheckSandbox(const StandingAsk& ask, const Standing& standing,
                                                 const StandingPlatform& platform,
                                                 Cancellation& stop, bool is_kept);
// Return the names of the standing's tables in StandingAsk::watched.
std::string WatchedSources(const Standing& standing);
std::string WatchedSandbox(const Standing& standing, const std::string& platform);

// ColdAsk: an ask of a command that has no Director.
struct ColdAsk {
  const v1::CookAsk& ask;
  const project::Project& project;
  const std::string& worker_program;
  const std::map<std::string, std::string>& environment;
};
// Answers like AnswerFromStanding, and holds the project's lock meanwhile. If another process has
// the lock, there is no report.
StandingAnswer AnswerCold(const ColdAsk& ask, CookEventSink& sink, Cancellation& stop);

}  // namespace galley::director
