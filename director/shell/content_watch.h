// ContentWatch: finds changes of the content while programs without walls run (UnwalledRuns). The
// kernel tells in which folders something changed (FolderWatch); only these folders are compared
// with the files at the start of the watch.
//
// A change may have been made by a program or by a person.
// Cost: 2 us for each folder at the start; then linear in the files of changed folders.
// Threads: one owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/content/folder_watch.h"
#include "director/shell/world.h"

namespace galley::director {

struct ContentChange {
  std::string path;  // virtual
  std::string what;  // "changed", "is new", "is gone"
  absl::Time when;   // change time of the file; of its folder if the file is gone
};

class ContentWatch {
 public:
  struct Options {
    std::string cookie_folder;          // FolderWatch
    std::vector<std::string> excluded;  // host folders of Galley, which are no content
  };
  // Starts the watch. UNAVAILABLE, or an error of FolderWatch::Add: the watch would miss changes.
  static absl::StatusOr<std::unique_ptr<ContentWatch>> Begin(WorldPtr world, Options options);

  // Returns all changes from the start to the present state of the files, sorted by path.
  absl::StatusOr<std::vector<ContentChange>> Look();

 private:
  ContentWatch(WorldPtr world, Options options)
      : world_(std::move(world)), options_(std::move(options)) {}
  std::vector<std::string> Folders() const;
  void Compare(const std::string& folder, std::vector<ContentChange>& changes) const;
  std::string VirtualPath(const std::string& host_path) const;

  const WorldPtr world_;
  const Options options_;
  std::unique_ptr<content::FolderWatch> watch_;
  std::vector<std::string> changed_;  // folders, sorted
};

}  // namespace galley::director
