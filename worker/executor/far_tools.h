// FarTools: the programs of jobs on a machine without the project. What tool(path) observes is the
// director's; so that it is true here,
//
//   - a program of the project (relative to galley.toml) comes from the director, by content: from
//     the view, if it lies in a mount, so that it finds there what lies beside it; else as a file
//     alone in a folder of the executor's;
//   - a file of the system must be the same here: else the job cannot be done on this machine
//     (OtherTool).
//
// What the director said is believed for a second: the director itself looks again when the result
// comes. Own files are remembered by their stat (ToolDigests).
// Errors: as ByteSource, OtherTool and StaleFile.
// Threads: one owner.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "worker/executor/fetched_bytes.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/lazy_view.h"
#include "worker/executor/tool_digests.h"

namespace galley::worker {

class FarTools {
 public:
  static constexpr absl::Duration kBelieved = absl::Seconds(1);

  // `directory`: where programs of the project are put; `project_root`: on the director's machine.
  FarTools(std::string directory, std::string project_root)
      : directory_(std::move(directory)), project_root_(std::move(project_root)) {}

  // All are the job's. `path`: in normal form, absolute or relative to galley.toml.
  absl::StatusOr<Look> Find(const std::string& path, const content::Snapshot& snapshot,
                            LazyView& view, FetchedBytes& bytes);

 private:
  struct Known {
    std::string value;
    bool is_executable = false;
    absl::Time asked;
  };
  absl::StatusOr<Known> Directors(const std::string& path, FetchedBytes& bytes);
  absl::StatusOr<Look> OfTheSystem(const std::string& path, FetchedBytes& bytes);
  absl::StatusOr<Look> OfTheProject(const std::string& path, FetchedBytes& bytes);
  // Its virtual path; empty: it lies in no mount.
  std::string InMount(const std::string& path, const content::Snapshot& snapshot) const;

  const std::string directory_, project_root_;
  SystemClock clock_;
  ToolDigests own_;
  std::map<std::string, Known> directors_;
  std::map<std::string, std::string> put_;  // in directory_: its value
};

}  // namespace galley::worker
