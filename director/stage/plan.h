// Plan: the changes that staging must make to a sandbox, worked out before anything is touched.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/tree.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"

namespace galley::director {

using PathSet = std::set<std::string, std::less<>>;

struct Removal {
  std::string path;
  bool is_folder = false;  // its entries come before it
};

struct Plan {
  std::vector<tree::TreeFile> writes;  // sorted by path
  std::vector<Removal> removals;
  uint64_t unchanged = 0;
  // Stamps of all files of the tree, sorted by path; the stamps of `writes` are not filled in yet.
  std::vector<FileStamp> stamps;
  std::vector<size_t> stamps_to_fill;  // the index in `stamps` of each of `writes`
  PathSet folders;                     // folders that the tree wants
  std::vector<std::string> files;      // Galley's files at the end; sorted
  // Galley's files that may exist while the plan is carried out; sorted; empty if nothing is
  // written or removed.
  std::vector<std::string> files_meanwhile;
  // With `knows_all`: the `writes` at paths where Galley has no file, so not in files_meanwhile;
  // sorted.
  std::vector<PlannedFile> planned;
  uint64_t foreign_count = 0;        // by the book: files that Galley never put there, and stay
  std::vector<std::string> foreign;  // first such files, at most kForeignNamedMax
};
inline constexpr size_t kForeignNamedMax = 5;

// LaidFile: the digest and stamp of a staged file.
struct LaidFile {
  Digest digest;
  FileStamp stamp;
};

struct PlanInput {
  std::vector<tree::TreeFile> wanted;
  bool by_the_book = true;
  bool exact = false;  // by the book: removes also files that Galley never put there
  // Files that are whole if their size and stamp are equal.
  std::map<std::string, LaidFile, std::less<>> trusted;
  std::vector<std::string> known;  // all of Galley's files that may be there, sorted
  // True: a file that is not in `known` is not Galley's, even at the path of a file of the tree;
  // false: such a file is replaced.
  bool knows_all = false;
  std::vector<std::string> failed_packages;
  std::vector<std::string> packages_beside;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<std::string(std::string_view path)> package_of = nullptr;
};

// Returns "<path> of <package>", or the path alone.
std::string NameWithPackage(std::string_view path,
                            const std::function<std::string(std::string_view path)>& package_of);

// CANCELLED, INVALID_ARGUMENT, FAILED_PRECONDITION: as Stage (stage.h).
absl::StatusOr<Plan> MakePlan(Sandbox& sandbox, PlanInput input);

absl::Status CheckInterrupted(const std::atomic<bool>* interrupted);

}  // namespace galley::director
