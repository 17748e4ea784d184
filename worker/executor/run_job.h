// RunJob: an attempt at a package: Load, then Cook for each platform. The same code runs live jobs,
// exec-action and galley-cook.
//
// Sharing: a run also serves every remaining platform with an equal recipe for which all recorded
// values are the same (only platform(...) and cooked(...) can differ). A cooker's verdict is a
// result like any other: it carries its observations and serves equal platforms, too. Exceptions
// out of a cooker are verdicts, except for want of memory. Only the time stamps in the reports
// depend on time.
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
  std::vector<uint32_t> platforms;  // the platforms that this load serves
  record::Details details;
  std::vector<Blob> generated;  // sources, in the order of details.generated
  absl::Time started;
  absl::Duration load_time;
};

struct SaveReport {
  std::vector<uint32_t> platforms;  // the first was cooked; its run serves the others
  Digest source;
  std::vector<record::Observed> observed;  // canonical
  record::Details details;
  std::vector<Blob> generated;
  std::vector<CookedFile> outputs;  // sorted by suffix; none for a verdict
  bool is_verdict = false;
  std::string error;  // a verdict's text
  std::string log;
  std::string identity;
  absl::Time started;
  absl::Duration load_time;
  absl::Duration save_time;
  bool is_last = false;  // only the end of the job follows
};

class JobSink {
 public:
  virtual ~JobSink() = default;
  // An error ends the job with Trouble.
  virtual absl::Status Loaded(const LoadReport& report) = 0;
  virtual absl::Status Saved(const SaveReport& report) = 0;
  // The platforms of the job that are not wanted any more; asked before each platform.
  virtual std::vector<uint32_t> LeftOut() { return {}; }
};

enum class TroubleCause {
  kUnknown,
  kMemory,  // the job needs more than it may use (out_of_memory.h), and has no other trouble
  kTimeout,
  kInfrastructure,
  kOtherTool,   // this machine's tool is not the director's: `error` names it
  kNeedsFiles,  // a program did not work here, but may on the project's machine
};
struct Trouble {
  TroubleCause cause = TroubleCause::kUnknown;
  std::string error;
  std::string log;          // the log of the load or cook that failed; may be empty
  bool was_killed = false;  // kInfrastructure: a program was killed (worker/cookers/killed.h)
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

// nullptr: there is no cooker of this name.
Cooker* FindCooker(const Cookers& cookers, std::string_view name);
// FAILED_PRECONDITION: the cooker's identity is not the recipe's.
absl::Status CheckIdentity(const Cooker& cooker, const record::Recipe& recipe);

JobEnd RunJob(const JobSpec& spec, InputProvider& provider, const Cookers& cookers, Clock& clock,
              JobSink& sink);

}  // namespace galley::worker
