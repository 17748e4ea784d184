// RunJob: one attempt at a package: Load, then Cook for each platform. The same code runs live
// jobs, exec-action and galley-cook.
//
// Sharing: when a platform is done, every platform left with an equal recipe for which all recorded
// values are the same (only platform(...) and cooked(...) can differ) is served by that run. A
// cooker's verdict is a result like any other: it carries its observations and serves equal
// platforms too. Exceptions out of a cooker are verdicts, but for a lack of memory. Nothing here
// depends on time but the time stamps in the reports.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/record/recipe.h"
#include "worker/cookers/cooker.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/recording_context.h"

namespace galley::worker {

struct JobTarget {
  uint32_t platform = 0;
  record::Recipe recipe;
};

struct JobSpec {
  std::vector<JobTarget> targets;
  uint64_t memory_bytes_max = 0;
  OpenedNotes* notes = nullptr;  // see ContextOptions
};

struct LoadReport {
  std::vector<uint32_t> platforms;  // for which this load holds
  record::Details details;
  std::vector<Blob> generated;  // sources, in the order of details.generated
  absl::Time started;
  absl::Duration load_time;
};

struct SaveReport {
  std::vector<uint32_t> platforms;  // the first was cooked, the others are served by the same run
  Digest source;
  std::vector<record::Observed> observed;  // canonical
  record::Details details;
  std::vector<Blob> generated;
  std::vector<CookedFile> outputs;  // sorted by suffix; none for a verdict
  bool is_verdict = false;
  std::string error;  // of a verdict
  std::string log;
  std::string identity;
  absl::Time started;
  absl::Duration load_time;
  absl::Duration save_time;
  bool is_last = false;  // nothing but the end of the job follows
};

class JobSink {
 public:
  virtual ~JobSink() = default;
  // An error ends the job as trouble.
  virtual absl::Status Loaded(const LoadReport& report) = 0;
  virtual absl::Status Saved(const SaveReport& report) = 0;
  // Platforms that are not wanted any more, of a job for several: asked before each.
  virtual std::vector<uint32_t> LeftOut() { return {}; }
};

enum class TroubleCause {
  kUnknown,
  kMemory,  // what the job needs is more than it may use (out_of_memory.h), and nothing else
  kTimeout,
  kInfrastructure,
  kOtherTool,   // the machine has another tool than the director: `error` says which
  kNeedsFiles,  // a program did not work here, but may where the project's files are
};
struct Trouble {
  TroubleCause cause = TroubleCause::kUnknown;
  std::string error;
  std::string log;          // of the load or cook that it ended; may be empty
  bool was_killed = false;  // kInfrastructure: its program (worker/cookers/killed.h)
};
struct JobDone {};
struct JobNeeds {
  std::string package;
  uint32_t platform = 0;
};
struct JobStale {
  std::string path;
};
using JobEnd = std::variant<JobDone, JobNeeds, JobStale, Trouble>;

using Cookers = std::vector<std::unique_ptr<Cooker>>;

// nullptr when there is none of that name.
Cooker* FindCooker(const Cookers& cookers, std::string_view name);
// FAILED_PRECONDITION unless this program's cooker has the recipe's identity.
absl::Status CheckIdentity(const Cooker& cooker, const record::Recipe& recipe);

JobEnd RunJob(const JobSpec& spec, InputProvider& provider, const Cookers& cookers, Clock& clock,
              JobSink& sink);

}  // namespace galley::worker
