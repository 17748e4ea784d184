// FarTools: the programs of jobs on a machine without the project. An observation tool(path)
// records the director's tool. To make the observation true on this machine, FarTools ensures that
//
//   - a program of the project (relative to galley.toml) comes from the director, by content: in a
//     mount it is taken from the view, so that it finds the files beside it; elsewhere it is put
//     alone into a folder of the executor's;
//   - a file of the system is the same on both machines; if it is not, the job cannot run on this
//     machine (OtherTool);
//   - everything else that a program found outside of the view is the same on the director's
//     machine (Compare), though it is not observed; otherwise the output must not be used.
//
// An answer of the director is reused for a second, or from Compare to the end of the job: the
// director looks at tools again when the result comes. An answer that only Compare uses is reused
// for ten seconds. Digests of our own files are remembered by their stat (ToolDigests).
// Errors: as ByteSource, OtherTool and StaleFile. FAILED_PRECONDITION: the project's files are
// needed, or the director does not answer for such a path.
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
  static constexpr size_t kFindsMax = 200'000;  // the most answers that are remembered

  // `directory`: the folder for programs of the project. `project_root`: the project's path on the
  // director's machine, without links.
  FarTools(std::string directory, std::string project_root)
      : directory_(std::move(directory)), project_root_(std::move(project_root)) {}

  // The arguments are the present job's. `path`: in normal form, absolute or relative to
  // galley.toml.
  absl::StatusOr<Look> Find(const std::string& path, const content::Snapshot& snapshot,
                            LazyView& view, FetchedBytes& bytes);
  // Called when a job begins.
  void BeginJob() { compared_ = absl::InfiniteFuture(); }
  // Compares what a program that ran in `own` looked for with the same paths on the director's
  // machine. Asks the director at most once, about all paths that are not known.
  absl::Status Compare(const Looks& looks, const std::string& own, const LazyView& view,
                       FetchedBytes& bytes);
  const std::string& directory() const { return directory_; }

 private:
  struct Known {
    std::string value;
    bool is_executable = false;
    absl::Time asked;
  };
  // The director's answer for a path, and the time when it was asked.
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
  absl::StatusOr<Look> FindSystemTool(const std::string& path, FetchedBytes& bytes);
  absl::StatusOr<Look> OfTheProject(const std::string& path, FetchedBytes& bytes);
  // The virtual path of a file; empty: the file lies in no mount.
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
  std::map<std::string, Put> put_;  // files in directory_
};

}  // namespace galley::worker
