// Standing: the outcome of the last complete cook of an ask, and everything on which the outcome
// depends: while none of that has changed, the same ask is answered without a cook.
//
// A standing rests on (docs/formats.md, "Standings", says who notes each):
//   facts        values that are compared as text: the project file, configuration, cookers, user
//   environment  and tools, as far as results observed them
//   generation   what the journal says of packages (director/journal/generation.h)
//   stamps       of all sources, and of all files in the sandboxes (common/content/stamp_table.h)
//   store        its id, loss epoch and number of commits; the sequence of each root is the last
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"

namespace galley::director {

struct Fact {
  std::string name;
  std::string value;
  bool operator==(const Fact&) const = default;
};
using Facts = std::vector<Fact>;  // sorted by name, each name once

// Returns the name of the first fact that differs; empty: none.
std::string DifferingFact(const Facts& before, const Facts& now);

struct StandingTool {
  std::string path;   // absolute
  std::string value;  // the observed value: "<hex>/<size>" or "absent"
  FileStat stat;      // all zero: the tool was absent
  bool is_racy = false;
};

struct StandingPlatform {
  std::string name;
  Digest root;
  uint64_t sequence = 0;
  std::string sandbox_stamps;  // id of the sandbox's table; empty: the cook did not stage
};

struct StandingWarning {
  std::string package;  // empty: no package
  std::string platform;
  std::string text;
  bool is_of_scan = false;  // about the files that the scan found
  auto operator<=>(const StandingWarning&) const = default;
};

struct StandingFailure {
  std::string package;
  std::string platform;  // empty: all platforms
  uint32_t stage = 0;    // numbers of Stage and FailureCause
  uint32_t cause = 0;
  std::string error;
  std::string log;
  auto operator<=>(const StandingFailure&) const = default;
};

struct StandingCounts {
  uint64_t files = 0, packages = 0, unmatched = 0;  // counts of the scan
  uint64_t in_cook = 0, failed = 0, skipped = 0;    // packages
  uint64_t results = 0, results_failed = 0;         // (package, platform): done, failed
  bool operator==(const StandingCounts&) const = default;
};

// A rule of galley.toml.
struct StandingRule {
  std::string match;  // the glob
  bool ignore_case = false;
  Digest digest;  // of everything that the rule says
  bool operator==(const StandingRule&) const = default;
};

// GitState: the files under the mounts whose bytes may differ from git's.
struct GitState {
  struct Repository {
    std::string top;     // of its work tree
    std::string commit;  // commit of all files that are not dirty
    std::string rules;   // GitRepository::RulesId
    bool operator==(const Repository&) const = default;
  };
  std::vector<Repository> repositories;
  // Sorted virtual paths of files and folders; a folder stands for everything in it. Files outside
  // of all repositories, and files for which git does not answer, are always included.
  std::vector<std::string> dirty;
  std::string why_unknown;  // for people; not empty: the other fields are empty
  bool operator==(const GitState&) const = default;
};
inline constexpr size_t kDirtyMax = 4096;

struct Standing {
  std::string ask;  // the whole ask, as text
  Facts facts;
  std::vector<StandingRule> rules;  // in the order of the file
  Facts environment;                // values as observed: "=..." or "unset"
  std::vector<StandingTool> tools;
  std::string generation;
  std::string source_stamps;  // id of the sources' table
  std::vector<StandingPlatform> platforms;
  std::string store_id;
  uint64_t loss_epoch = 0;
  uint64_t store_commits = 0;
  std::vector<StandingWarning> warnings;  // in the order in which they were told
  std::vector<StandingFailure> failures;
  StandingCounts counts;
  Digest snapshot;
  std::string members;     // id of the table of members (members.h); empty: there is none
  std::string base_table;  // Snapshot::identity of the snapshot table of the files
  // Files (host paths) with other stamps than in the snapshot table, but the same bytes. If there
  // are more than kTouchedMax, the list is empty.
  std::vector<std::string> touched;
  bool has_more_touched = false;
  GitState git;  // state of the files
};
inline constexpr size_t kTouchedMax = 1024;

std::string EncodeStanding(const Standing& standing);
// INVALID_ARGUMENT: damaged, or of another version.
absl::StatusOr<Standing> DecodeStanding(std::string_view bytes);

}  // namespace galley::director
