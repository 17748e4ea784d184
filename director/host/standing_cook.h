// Cooks of which nothing has changed since the last one: they are answered from what stands, with a
// stat for each file, and no worker, core, journal or scan.
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

// An ask, and all that there is beside the files. All of it outlives the call.
struct StandingAsk {
  const v1::CookAsk& ask;
  const project::Project& project;  // with the cook's own output folder
  const Cookers& cookers;
  const std::map<std::string, std::string>& environment;  // what env(...) observes
  DifferingVariables differing = {};  // of the environment of who asks; none: it is the same
  const std::string& project_id;
  // Opened only when all else stands.
  std::function<absl::StatusOr<store::Store*>()> store;
  WatchedTables* watched = nullptr;  // null: all files are looked at
};

// CheckedSources: the stamps of all sources were checked, and did not hold.
struct CheckedSources {
  std::string stamps;  // the id of their table
  content::StampCheck check;
};

struct StandingAnswer {
  std::optional<CookReport> report;  // as the cook would give it; nullopt: it must run
  std::string difference;            // then: what differs, for people; empty: nothing was known
  std::optional<CheckedSources> checked;  // then: if that was it
};
// Tells `sink` all that the cook would tell, when all stands.
StandingAnswer AnswerFromStanding(const StandingAsk& ask, CookEventSink& sink, Cancellation& stop);

// The standing of the ask, of which all holds but for files, and for [[rule]]s (changed_rules.h):
// sources and sandboxes were not looked at. FAILED_PRECONDITION: what differs.
absl::StatusOr<Standing> FindButFiles(const StandingAsk& ask, Cancellation& stop);

// How the files of its table of stamps are today; the patches of those with other bytes, if these
// are few. `is_kept`: as WatchedTables::Check.
absl::StatusOr<content::StampCheck> CheckSources(const StandingAsk& ask, const Standing& standing,
                                                 Cancellation& stop, bool is_kept);
absl::StatusOr<content::StampCheck> CheckSandbox(const StandingAsk& ask, const Standing& standing,
                                                 const StandingPlatform& platform,
                                                 Cancellation& stop, bool is_kept);
// The names of these tables in StandingAsk::watched.
std::string WatchedSources(const Standing& standing);
std::string WatchedSandbox(const Standing& standing, const std::string& platform);

// The same for a command that has no Director (yet): takes the project's lock meanwhile, and leaves
// it to a Director when another process has it.
struct ColdAsk {
  const v1::CookAsk& ask;
  const project::Project& project;
  const std::string& worker_program;
  const std::map<std::string, std::string>& environment;
};
StandingAnswer AnswerCold(const ColdAsk& ask, CookEventSink& sink, Cancellation& stop);

}  // namespace galley::director
