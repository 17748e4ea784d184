// Plan: what staging must do to a sandbox, worked out before anything is touched.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/tree.h"
#include "director/stage/sandbox.h"

namespace galley::director {

using PathSet = std::set<std::string, std::less<>>;

struct Removal {
  std::string path;
  bool is_folder = false;  // what is in it stands before it
};

struct Plan {
  std::vector<tree::TreeFile> writes;  // sorted by path
  std::vector<Removal> removals;
  uint64_t unchanged = 0;
  std::vector<FileStamp> stamps;  // of all the tree's files, sorted by path; those of `writes` are
                                  // still to be filled in
  std::vector<size_t> stamps_to_fill;  // for each of `writes`, where
  PathSet folders;                     // those that the tree wants
  PathSet beside;  // files of ours that stay though the tree does not hold them (narrow cooks)
};

// A file as it was laid there.
struct LaidFile {
  Digest digest;
  FileStamp stamp;
};

struct PlanInput {
  std::vector<tree::TreeFile> wanted;
  bool by_the_book = true;
  std::map<std::string, LaidFile, std::less<>>
      trusted;    // files that lie there whole, unless size or stamp differ
  PathSet known;  // narrow cooks: all files of ours that may lie there
  std::vector<std::string> failed_packages;
  const std::atomic<bool>* interrupted = nullptr;
};

// CANCELLED, INVALID_ARGUMENT and FAILED_PRECONDITION as Stage (stage.h).
absl::StatusOr<Plan> MakePlan(Sandbox& sandbox, PlanInput input);

absl::Status CheckInterrupted(const std::atomic<bool>* interrupted);

}  // namespace galley::director
