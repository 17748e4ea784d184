// StandingCook: a cook for which nothing has changed since the last one is answered from what
// stands, with a stat for each file, and no worker, core, journal or scan.
//
// Threads: one, of whoever has the project.
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

// StandingAsk: an ask, and everything beside the files. All of it outlives the call.
struct StandingAsk {
  const v1::CookAsk& ask;
  const project::Project& project;  // with the output folder of the cook
  const Cookers& cookers;
  const std::map<std::string, std::string>& environment;  // what env(...) observes
  DifferingVariables differing = {};  // of the environment of the asker; empty: it is the same
  const std::string& project_id;
  // Opened only when everything else stands.
  std::function<absl::StatusOr<store::Store*>()> store;
  WatchedTables* watched = nullptr;  // null: all files are looked at
};

// CheckedSources: stamps of all sources that were checked and did not hold.
struct CheckedSources {
  std::string stamps;  // the id of their table
  content::StampCheck check;
};

struct StandingAnswer {
  std::optional<CookReport> report;  // as the cook would return it; nullopt: the cook must run
  std::string difference;  // if it must run: what differs, for people; empty: nothing was known
  std::optional<CheckedSources> checked;  // if it must run: set if the stamps differ
};
// Tells `sink` everything that the cook would tell, when all stands.
StandingAnswer AnswerFromStanding(const StandingAsk& ask, CookEventSink& sink, Cancellation& stop);

// Returns the standing of the ask, which holds except for files, and for [[rule]]s
// (changed_rules.h): sources and sandboxes were not looked at. FAILED_PRECONDITION: what differs.
absl::StatusOr<Standing> FindButFiles(const StandingAsk& ask, Cancellation& stop);

// Checks the files of the standing's table of stamps; returns patches for files with other bytes,
// if these are few. `is_kept`: as in WatchedTables::Check.
absl::StatusOr<content::StampCheck> CheckSources(const StandingAsk& ask, const Standing& standing,
                                                 Cancellation& stop, bool is_kept);
absl::StatusOr<content::StampCheck> CheckSandbox(const StandingAsk& ask, const Standing& standing,
                                                 const StandingPlatform& platform,
                                                 Cancellation& stop, bool is_kept);
// The functions return the names of the standing's tables in StandingAsk::watched.
std::string WatchedSources(const Standing& standing);
std::string WatchedSandbox(const Standing& standing, const std::string& platform);

// The same for a command without a Director: takes the project's lock meanwhile, and leaves the
// answer to a Director when another process has the lock.
struct ColdAsk {
  const v1::CookAsk& ask;
  const project::Project& project;
  const std::string& worker_program;
  const std::map<std::string, std::string>& environment;
};
StandingAnswer AnswerCold(const ColdAsk& ask, CookEventSink& sink, Cancellation& stop);

}  // namespace galley::director
