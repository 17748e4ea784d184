// Plan: what staging must do to a sandbox, worked out before anything is touched.
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
  bool is_folder = false;  // entries inside it come before it
};

struct Plan {
  std::vector<tree::TreeFile> writes;  // sorted by path
  std::vector<Removal> removals;
  uint64_t unchanged = 0;
  // Stamps of all the tree's files, sorted by path; stamps of `writes` are still to be filled in.
  std::vector<FileStamp> stamps;
  std::vector<size_t> stamps_to_fill;  // for each of `writes`, its index in `stamps`
  PathSet folders;                     // folders that the tree wants
  std::vector<std::string> files;      // Galley's files at the end; sorted
  // Galley's files that may be there until the end; sorted; empty if nothing is written or removed.
  std::vector<std::string> files_meanwhile;
  // The `writes` that go where Galley has nothing and `knows_all`: not in files_meanwhile; sorted.
  std::vector<PlannedFile> planned;
  uint64_t foreign_count = 0;  // by the book: files that Galley never put there, and that stay
  std::vector<std::string> foreign;  // first such files, at most kForeignNamedMax
};
inline constexpr size_t kForeignNamedMax = 5;

// LaidFile: a file as it was staged.
struct LaidFile {
  Digest digest;
  FileStamp stamp;
};

struct PlanInput {
  std::vector<tree::TreeFile> wanted;
  bool by_the_book = true;
  bool exact = false;  // by the book: removes also files that Galley never put there
  // Files that lie there whole, unless size or stamp differ.
  std::map<std::string, LaidFile, std::less<>> trusted;
  std::vector<std::string> known;  // all of Galley's files that may be there, sorted
  // True: a file that is not in `known` is somebody's, even at the path of a file of the tree;
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

// CANCELLED, INVALID_ARGUMENT and FAILED_PRECONDITION as in Stage (stage.h).
absl::StatusOr<Plan> MakePlan(Sandbox& sandbox, PlanInput input);

absl::Status CheckInterrupted(const std::atomic<bool>* interrupted);

}  // namespace galley::director
