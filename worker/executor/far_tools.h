// FarTools: the programs of jobs on a machine without the project. What tool(path) observes is the
// director's; so that it is true here,
//
//   - a program of the project (relative to galley.toml) comes from the director, by content: from
//     the view, if it lies in a mount, so that it finds there what lies beside it; else as a file
//     alone in a folder of the executor's;
//   - a file of the system must be the same here: else the job cannot be done on this machine
//     (OtherTool);
//   - whatever else a program found outside of the view must be what it would have found on the
//     director's machine (Compare), though nobody observes it: else what it made is of no use.
//
// What the director said is believed for a second, or from Compare to the end of the job: the
// director itself looks again at tools when the result comes. Of what is only compared it is
// believed for ten. Own files are remembered by their stat (ToolDigests).
// Errors: as ByteSource, OtherTool and StaleFile. FAILED_PRECONDITION: the project's files are
// needed, or the director does not tell.
// Threads: one owner.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "worker/executor/fetched_bytes.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/lazy_view.h"
#include "worker/executor/tool_digests.h"
#include "worker/walls/looks.h"

namespace galley::worker {

class FarTools {
 public:
  static constexpr absl::Duration kBelieved = absl::Seconds(1);
  static constexpr absl::Duration kFindsBelieved = absl::Seconds(10);
  static constexpr size_t kFindsMax = 200'000;  // remembered

  // `directory`: where programs of the project are put; `project_root`: on the director's machine.
  // It has no links.
  FarTools(std::string directory, std::string project_root)
      : directory_(std::move(directory)), project_root_(std::move(project_root)) {}

  // All are the job's. `path`: in normal form, absolute or relative to galley.toml.
  absl::StatusOr<Look> Find(const std::string& path, const content::Snapshot& snapshot,
                            LazyView& view, FetchedBytes& bytes);
  // A job begins.
  void BeginJob() { compared_ = absl::InfiniteFuture(); }
  // What a program found that ran in `own`. Asks the director once for all that is not known.
  absl::Status Compare(const Looks& looks, const std::string& own, const LazyView& view,
                       FetchedBytes& bytes);
  const std::string& directory() const { return directory_; }

 private:
  struct Known {
    std::string value;
    bool is_executable = false;
    absl::Time asked;
  };
  // What there is on the director's machine.
  struct Answer {
    v1::FoundThere there;
    absl::Time asked;
  };
  struct Question;
  absl::StatusOr<std::vector<Question>> QuestionsOf(const Looks& looks, const std::string& own,
                                                    const LazyView& view) const;
  absl::Status Ask(const std::vector<Question>& questions, FetchedBytes& bytes);
  absl::Status Judge(const Question& question, const v1::FoundThere& there);
  absl::StatusOr<Known> Directors(const std::string& path, FetchedBytes& bytes);
  absl::StatusOr<Look> OfTheSystem(const std::string& path, FetchedBytes& bytes);
  absl::StatusOr<Look> OfTheProject(const std::string& path, FetchedBytes& bytes);
  // Its virtual path; empty: it lies in no mount.
  std::string InMount(const std::string& path, const content::Snapshot& snapshot) const;

  const std::string directory_, project_root_;
  absl::Time compared_ = absl::InfiniteFuture();
  std::map<std::pair<std::string, bool>, Answer> finds_;  // by path, and whether it was opened
  SystemClock clock_;
  ToolDigests own_;
  std::map<std::string, Known> directors_;
  struct Put {
    std::string value;
    FileStat stat;
  };
  std::map<std::string, Put> put_;  // in directory_
};

}  // namespace galley::worker
